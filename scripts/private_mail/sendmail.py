"""A private Sendmail on loopback. Needs root, and the right to have its own host name.

Its packages cannot be installed beside Postfix: scripts/install-dependencies unpacks them into
build/unpacked, and it runs from there.
"""

import os
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from .filter import REPOSITORY
from .own_mounts import may_unshare, own_mounts
from .processes import PATIENCE_SECONDS, Program, accepts_connections, free_port, wait_until

PACKAGES = REPOSITORY / "build/unpacked/sendmail"

# What an operator's sendmail.mc would say about itself; the fragment under test comes in before the mailers.
SENDMAIL_MC = """\
include(`{cf}/m4/cf.m4')dnl
VERSIONID(`a private Sendmail')dnl
OSTYPE(`linux')dnl
define(`confSERVICE_SWITCH_FILE', `{folder}/service.switch')dnl
define(`confHOSTS_FILE', `{folder}/hosts')dnl
define(`QUEUE_DIR', `{folder}/queue')dnl
define(`ALIAS_FILE', `')dnl
define(`STATUS_FILE', `')dnl
define(`HELP_FILE', `')dnl
define(`confPID_FILE', `{folder}/sendmail.pid')dnl
define(`confCW_FILE', `-o {folder}/local-host-names')dnl
define(`confCT_FILE', `-o {folder}/trusted-users')dnl
define(`confCR_FILE', `-o {folder}/relay-domains')dnl
define(`confDONT_PROBE_INTERFACES', `True')dnl
define(`confTO_IDENT', `0')dnl
define(`confQUEUE_LA', `10000')dnl
define(`confREFUSE_LA', `10000')dnl
define(`confMIN_QUEUE_AGE', `0')dnl
define(`confLOG_LEVEL', `0')dnl
FEATURE(`nocanonify')dnl
FEATURE(`accept_unresolvable_domains')dnl
FEATURE(`accept_unqualified_senders')dnl
FEATURE(`no_default_msa')dnl
DAEMON_OPTIONS(`Name=MTA, Family=inet, Addr=127.0.0.1, Port={port}')dnl
RELAY_DOMAIN(`example.net')dnl
define(`SMART_HOST', `relay:[127.0.0.1]')dnl
define(`RELAY_MAILER_ARGS', `TCP $h {next_hop_port}')dnl
{fragment}
MAILER_DEFINITIONS
MAILER(`smtp')dnl
"""

# If the machine's name has no dot, Sendmail waits for a minute in vain, so it gets its own host name. The folders
# of sockets are where an operator has them, since Sendmail accepts no socket below a folder that everybody may
# write to.
START = """\
set -e
hostname "$1"
shift
mount -t tmpfs -o mode=0755 tmpfs /run
while [ "$1" != -- ]; do
  mkdir -p "$2"
  mount --bind "$1" "$2"
  shift 2
done
shift
exec "$@"
"""


@dataclass(frozen=True)
class SendmailConfig:
    next_hop_port: int  # on 127.0.0.1: for mail that has been checked
    fragment: str = ""  # further lines of sendmail.mc
    host_name: str = "mx.example.net"
    folders: dict = field(default_factory=dict)  # folder -> its path below /run, as Sendmail sees it


class Sendmail:
    def __init__(self, folder, config):
        self.folder = Path(folder)
        self.config = config
        self.queue = self.folder / "queue"
        self.port = None

    def write_files(self):
        """The configuration and the queue's folder. Does not start Sendmail."""
        self.port = free_port()
        self.folder.mkdir(exist_ok=True)
        self.queue.mkdir(mode=0o700)
        (self.folder / "service.switch").write_text("hosts files\naliases files\npasswd files\n")
        (self.folder / "hosts").write_text(f"127.0.0.1 localhost {self.config.host_name}\n")
        self.cf_file = self.folder / "sendmail.cf"
        self.cf_file.write_text(self._compiled())

    def __enter__(self):
        if self.port is None:
            self.write_files()
        self._open = ExitStack()
        words = self._open.enter_context(own_mounts("--uts"))
        self.program = Program([*words, *self._command()], self.folder / "sendmail.log")
        try:
            self.program.wait_until_ready(lambda: accepts_connections(("127.0.0.1", self.port)), "Sendmail")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.program.stop(10)
        self.program.kill()  # those of its processes that serve a connection
        self._open.close()

    def log(self):
        return self.program.log()

    def wait_until_removed(self, queue_ids, seconds=PATIENCE_SECONDS):
        """Waits until the queue has none of these messages."""
        wait_until(lambda: not self.queued().intersection(queue_ids),
                   "messages to leave Sendmail's queue", seconds)

    def wait_until_done(self, queue_ids, seconds=PATIENCE_SECONDS):
        """Waits until each of these messages has gone or is in quarantine."""
        wait_until(lambda: not (self.queued() - self.quarantined()).intersection(queue_ids),
                   "messages to be dealt with by Sendmail", seconds)

    def queued(self):
        """The queue IDs of the messages in the queue, including those in quarantine."""
        return {name[2:] for name in os.listdir(self.queue) if name[:2] in ("qf", "hf")}

    def quarantined(self):
        return {name[2:] for name in os.listdir(self.queue) if name[:2] == "hf"}

    def _compiled(self):
        source = self.folder / "sendmail.mc"
        source.write_text(SENDMAIL_MC.format(
            cf=cf_folder(), folder=self.folder, port=self.port, next_hop_port=self.config.next_hop_port,
            fragment=self.config.fragment))
        return compiled(source)

    def _command(self):
        folders = [str(word) for pair in self.config.folders.items() for word in pair]
        return ["sh", "-c", START, "sendmail", self.config.host_name, *folders, "--",
                *program("sendmail"), "-C", self.cf_file, "-bD", "-q1s"]


def cf_folder():
    return unpacked() / "usr/share/sendmail/cf"


def compiled(source):
    """The text of sendmail.cf that an .mc file makes."""
    done = subprocess.run(["m4", f"-D_CF_DIR_={cf_folder()}/", str(source)], capture_output=True, text=True)
    if done.returncode != 0 or done.stderr:
        raise RuntimeError(f"m4 {source} failed:\n{done.stderr}")
    return done.stdout


def program(name):
    """The command line of one of Sendmail's programs."""
    libraries = {path.parent for path in unpacked().glob("**/libwrap.so.0")}
    return ["env", f"LD_LIBRARY_PATH={':'.join(map(str, libraries))}",
            unpacked() / "usr/libexec/sendmail" / name]


def unpacked():
    if not PACKAGES.exists():
        raise RuntimeError(f"{PACKAGES} is not there: run scripts/install-dependencies unpacked")
    return PACKAGES


def can_run():
    """Why no Sendmail can be started here; '' where it can."""
    if os.geteuid() != 0:
        return "Sendmail needs root"
    if not may_unshare("--uts"):
        return ("Sendmail needs a host name and mounts of its own, and cannot have them here "
                "(unshare --uts --mount)")
    return ""


def write_launcher(path, host_name="mx.example.net"):
    """A script that starts Sendmail's program as if it were installed, on a machine of that name."""
    command = " ".join(str(word) for word in program("sendmail"))
    path.write_text(f"#!/bin/sh\nexec unshare --uts sh -c 'hostname {host_name}; exec {command} \"$@\"' \\\n"
                    "  sendmail \"$@\"\n")
    path.chmod(0o755)
    return path
