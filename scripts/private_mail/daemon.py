"""One bloomgate-milter, as an unprivileged user, with its own configuration file and log."""

import re
import shutil
import signal
from dataclasses import dataclass, field, replace
from pathlib import Path

from .filter import built
from .network import PrivateNetwork
from .processes import Program, accepts_connections, free_port, runs_as, wait_until
from .unit_filter import starter

USER = "nobody"

# What it logs of a whitelist, for Daemon.reload() and logged().
RELOADED = "loaded .* entr(y|ies)"
REFUSED = "(?i)refused"


@dataclass(frozen=True)
class DaemonConfig:
    whitelist: Path
    inet: bool = False  # listens on 127.0.0.1 instead of a unix socket
    host_name: str = "mx.example.net"
    settings: dict = field(default_factory=dict)  # further lines of the configuration: key -> value, or list
    network: PrivateNetwork = None  # that it is in; it then listens on a unix socket


class Daemon:
    def __init__(self, folder, config):
        self.config = config
        self.folder = Path(folder)
        self.config_file = self.folder / "bloomgate-milter.conf"
        self.log_file = self.folder / "daemon.log"
        self.program = None

    def __enter__(self):
        self.folder.mkdir()
        shutil.chown(self.folder, USER)  # it makes its socket there
        self.folder.chmod(0o755)
        self.binary = self._reachable_binary()
        if self.config.inet:
            port = free_port()
            self.address, self.socket = ("127.0.0.1", port), f"inet:{port}@127.0.0.1"
            self.mta_socket = f"inet:127.0.0.1:{port}"  # Postfix has the two the other way round
        else:
            self.address = self.folder / "milter.sock"
            self.socket = self.mta_socket = f"unix:{self.address}"
        self.write_config()
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        """Fails if the daemon has died or ended badly without being asked to."""
        if self.program is None:
            return
        exit_code = self.stop()
        if exit_code != 0 and not self.may_fail:
            raise RuntimeError(f"the daemon ended with exit code {exit_code}:\n{self.log()}")

    def write_config(self):
        # Without milters that authenticate, nothing could be authenticated.
        settings = {"socket": self.socket, "whitelist": self.config.whitelist,
                    "authentication": "off", "dmarc-fail-veto": "no",
                    "mark-tells-why": "yes",  # tests and people read the reason there
                    "host-name": self.config.host_name, "log-target": "stderr", "log-level": "info",
                    "burst-file": self.folder / "habits", "history-file": self.folder / "history",
                    "suspend-file": self.folder / "suspended", "taken-manifests": self.folder / "manifests",
                    **self.config.settings}
        if not self.config.inet:
            settings.setdefault("socket-mode", "0666")  # Postfix is another user
        lines = [f"{key} = {value}\n" for key, values in settings.items()
                 for value in (values if isinstance(values, list) else [values])]
        self.config_file.write_text("".join(lines))

    def command(self, *options):
        return [self.binary, "--config", self.config_file, *options]

    def _reachable_binary(self):
        """The program, or a copy of it if its user may not read the original: a clone in /root, say."""
        program = built("milter/bloomgate-milter")
        return program if runs_as(USER, "test", "-x", program) else shutil.copy2(program, self.folder)

    def launch(self):
        """Starts the program and waits for nothing. It may fail."""
        self.may_fail = True
        start = self.config.network.start if self.config.network else Program
        self.program = start([*starter(folder=self.folder), *self.command()], self.log_file, user=USER)
        return self.program

    def start(self):
        self.launch()
        addresses = [self.address, *self._further_addresses()]
        self.program.wait_until_ready(lambda: all(map(accepts_connections, addresses)), "the daemon")
        self.may_fail = False

    def _further_addresses(self):
        """The ports of this machine and the unix sockets at which it listens beside its own, a little later."""
        given = [str(self.config.settings.get(option, "")) for option in ("metrics", "lookup-socket")]
        ports = [("127.0.0.1", int(address.rpartition(":")[2])) for address in given
                 if address.startswith("127.0.0.1:") and not self.config.network]
        return ports + [path for path in given if path.startswith("/")]

    def stop(self):
        """SIGTERM, as systemd does. Returns the exit code."""
        return self.program.stop()

    def restart(self, settings):
        """Restarts it with these settings instead of the old ones."""
        self.stop()
        self.config = replace(self.config, settings=settings)
        self.write_config()
        self.start()

    def kill(self):
        """SIGKILL: a crash."""
        self.may_fail = True
        return self.program.kill()

    def reload(self, expected):
        """Sends SIGUSR1 and waits until the log has a new line that matches the regular expression."""
        before = len(self.log())
        self.program.signal(signal.SIGUSR1)
        self.logged(expected, before)

    def replace_list(self, path, text):
        """Replaces one of the lists `revoked` and `extra`, and waits until it is in use."""
        before = len(self.log())
        new = Path(f"{path}.new")
        new.write_text(text)
        new.chmod(0o644)
        new.rename(path)
        self.logged("entries of", before)

    def log(self):
        """What is written so far, to a file. A line may come a little after what it tells of: see logged()."""
        return self.log_file.read_text(encoding="utf-8", errors="replace") if self.log_file.is_file() else ""

    def logged(self, expected, since=0):
        """Waits until the log has, behind `since` characters, what matches the regular expression. Returns the match."""
        return wait_until(lambda: re.search(expected, self.log()[since:]), f"the daemon to log '{expected}'")

    def lines_of(self, queue_id):
        """Waits until the log has the line of a message, and returns all such lines."""
        return wait_until(lambda: re.findall(rf"(?m)^.* queue_id={queue_id} .*$", self.log()),
                          f"the daemon to log the message {queue_id}")
