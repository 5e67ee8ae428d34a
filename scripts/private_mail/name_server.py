"""A name server with records of our own. Other names do not exist for it."""

from dataclasses import dataclass

from .network import PrivateNetwork
from .processes import Program, free_port


@dataclass(frozen=True)
class NameServerConfig:
    texts: dict  # name -> the text of its TXT record, of any length
    network: PrivateNetwork = None  # where it has port 53; without one, it has a free port of 127.0.0.1


class NameServer:
    """dnsmasq, which needs no zone files."""

    def __init__(self, folder, config):
        self.folder = folder
        self.config = config
        self.port = 53 if config.network else free_port()

    def __enter__(self):
        self.folder.mkdir()
        configuration = self.folder / "dnsmasq.conf"
        configuration.write_text(self._text())
        start = self.config.network.start if self.config.network else Program
        self.program = start(["dnsmasq", "--conf-file=" + str(configuration)], self.folder / "log")
        self.program.wait_until_ready(lambda: "started" in self.program.log(), "dnsmasq")
        return self

    def __exit__(self, *_):
        self.program.kill()

    @property
    def option(self):
        """As in Bloomgate's `dns-servers`."""
        return f"127.0.0.1@{self.port}"

    def _text(self):
        lines = ["keep-in-foreground", "log-facility=-", "user=root", "no-resolv", "no-hosts", "pid-file=",
                 "local=/#/", f"port={self.port}"]
        if not self.config.network:
            lines += ["listen-address=127.0.0.1", "bind-interfaces"]
        for name, text in self.config.texts.items():
            strings = ",".join(f'"{text[start:start + 255]}"' for start in range(0, len(text), 255))
            lines.append(f"txt-record={name},{strings}")
        return "\n".join(lines) + "\n"
