"""A private Postfix on loopback, beside any other on this machine. Needs root, as Postfix does."""

import os
import re
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

from .processes import PATIENCE_SECONDS, Program, accepts_connections, free_port, wait_until

# Not chrooted, and only what a relay needs. The first line is where mail comes in.
MASTER_CF = """\
127.0.0.1:{port} inet n - n - - smtpd
pickup    unix  n  -  n  60    1  pickup
cleanup   unix  n  -  n  -     0  cleanup
qmgr      unix  n  -  n  300   1  qmgr
rewrite   unix  -  -  n  -     -  trivial-rewrite
bounce    unix  -  -  n  -     0  bounce
defer     unix  -  -  n  -     0  bounce
trace     unix  -  -  n  -     0  bounce
proxymap  unix  -  -  n  -     -  proxymap
smtp      unix  -  -  n  -     -  smtp
showq     unix  n  -  n  -     -  showq
error     unix  -  -  n  -     -  error
retry     unix  -  -  n  -     -  error
discard   unix  -  -  n  -     -  discard
anvil     unix  -  -  n  -     1  anvil
scache    unix  -  -  n  -     1  scache
postlog   unix-dgram n - n -   1  postlogd
"""

MAIN_CF = """\
compatibility_level = 3.6
queue_directory = {folder}/queue
data_directory = {folder}/data
maillog_file = {folder}/mail.log
maillog_file_prefixes = {folder}
myhostname = {host_name}
mydestination =
relay_domains = example.net
relay_transport = smtp:{next_hop}
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks =
smtpd_relay_restrictions = reject_unauth_destination
smtpd_peername_lookup = no
smtpd_client_connection_count_limit = 0
smtpd_authorized_xclient_hosts = 127.0.0.1
local_header_rewrite_clients =
smtp_dns_support_level = disabled
alias_maps =
alias_database =
local_recipient_maps =
notify_classes =
enable_long_queue_ids = yes
in_flow_delay = 0
"""

# What Postfix expects below its queue directory, with the rights it expects (as in its own postfix-files).
ROOT_FOLDERS = {"pid": 0o755}
MAIL_OWNER_FOLDERS = {
    "active": 0o700, "bounce": 0o700, "corrupt": 0o700, "defer": 0o700, "deferred": 0o700, "flush": 0o700,
    "hold": 0o700, "incoming": 0o700, "private": 0o700, "saved": 0o700, "trace": 0o700}
SETGID_FOLDERS = {"maildrop": 0o730, "public": 0o710}


# Ends Postfix when this process dies. The kernel forgets the death signal of a process that changes its user,
# as Postfix's master does, so a shell that stays as it is gets the signal and passes it on.
GUARD = """\
trap 'kill "$master" 2>/dev/null' TERM
"$@" & master=$!
while kill -0 "$master" 2>/dev/null; do wait "$master"; done
"""


def without_overridden(main_cf):
    """The last entry of each parameter. Postfix takes the last one anyhow, but every process that starts warns of the
    earlier ones, postlogd too, before it reads what the others log. The kernel's queue for that may have room for ten
    lines: if they fill it first, postlogd waits for itself, and so does all of Postfix."""
    entries = {}
    for line in main_cf.splitlines(keepends=True):
        if line.startswith("#") or not line.strip():
            continue
        if line[0].isspace():  # goes on
            entries[name] += line
            continue
        name = line.split("=")[0].strip()
        entries.pop(name, None)
        entries[name] = line
    return "".join(entries.values())


@dataclass(frozen=True)
class PostfixConfig:
    next_hop: str  # [address]:port for mail that has been checked
    main_cf: str = ""  # further lines
    master_cf: str = ""
    host_name: str = "mx.example.net"
    sasl: str = ""  # how passwords are checked: the text of smtpd.conf


class Postfix:
    def __init__(self, folder, config):
        self.folder = Path(folder)
        self.config = config
        self.port = None
        self.log_file = self.folder / "mail.log"

    def __enter__(self):
        self.port = free_port()
        self.write_files()
        master = program_folder() / "master"
        self.program = Program(["bash", "-c", GUARD, "postfix", master, "-c", self.folder / "etc"],
                               self.folder / "postfix.out", death_signal="TERM")
        try:
            self.program.wait_until_ready(lambda: accepts_connections(("127.0.0.1", self.port)), "Postfix",
                                          lambda: self.program.log() + self.log())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        # SIGTERM makes master end its process group. Whatever is left after that is killed.
        self.program.stop(10)
        pid_file = self.folder / "queue/pid/master.pid"
        try:
            os.killpg(int(pid_file.read_text()), signal.SIGKILL)
        except (FileNotFoundError, ProcessLookupError):
            pass

    def log(self):
        return self.log_file.read_text(encoding="utf-8", errors="replace") if self.log_file.exists() else ""

    def removed(self):
        """The queue IDs of all messages that have left the queue."""
        return set(re.findall(r"qmgr\[\d+\]: (\w+): removed", self.log()))

    def wait_until_removed(self, queue_ids, seconds=PATIENCE_SECONDS):
        wait_until(lambda: self.removed().issuperset(queue_ids), "messages to leave Postfix's queue", seconds)

    def write_files(self):
        """The configuration and the queue's folders. Does not start Postfix."""
        etc, queue, data = (self.folder / name for name in ("etc", "queue", "data"))
        for folder in (etc, queue, data):
            folder.mkdir()
        shutil.chown(data, "postfix")
        data.chmod(0o700)
        for name, mode in {**ROOT_FOLDERS, **MAIL_OWNER_FOLDERS, **SETGID_FOLDERS}.items():
            path = queue / name
            path.mkdir()
            if name not in ROOT_FOLDERS:
                shutil.chown(path, "postfix", "postdrop" if name in SETGID_FOLDERS else None)
            path.chmod(mode)
        values = dict(folder=self.folder, port=self.port, host_name=self.config.host_name,
                      next_hop=self.config.next_hop)
        (etc / "master.cf").write_text(MASTER_CF.format(**values) + self.config.master_cf)
        further = self.config.main_cf
        if self.config.sasl:
            (etc / "sasl").mkdir()
            (etc / "sasl/smtpd.conf").write_text(self.config.sasl)
            # Postfix of Debian 13 no longer looks beside its own configuration.
            further += f"\ncyrus_sasl_config_path = {etc}/sasl\n"
        main_cf = etc / "main.cf"
        main_cf.write_text(without_overridden(MAIN_CF.format(**values) + further))
        os.utime(main_cf, (0, 0))  # Postfix reads a new file again and again until it is a second old


def program_folder():
    """Where the distribution keeps Postfix's daemons."""
    for folder in ("/usr/lib/postfix/sbin", "/usr/libexec/postfix"):
        if os.access(f"{folder}/master", os.X_OK):
            return Path(folder)
    raise RuntimeError("Postfix is not installed: run scripts/install-dependencies quickstart")
