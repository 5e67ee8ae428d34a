"""A private Exim on loopback, with the shipped files of config/mta/exim. Needs root.

Its package cannot be installed beside Postfix: scripts/install-dependencies unpacks it into build/unpacked, and it
runs from there.
"""

import shutil
from contextlib import ExitStack

from .own_mounts import own_mounts
from .processes import Program, accepts_connections, free_port
from .sendmail import unpacked
from .shipped import adapted

USER = "Debian-exim"  # that Debian's program insists on
NUMBER = 65533

CONFIGURATION = """\
primary_hostname = mx.example.net
exim_user = {user}
deliver_drop_privilege
spool_directory = {folder}/spool
log_file_path = {folder}/log/%s
pid_file_path = {folder}/log/pid
daemon_smtp_ports = {port}
local_interfaces = 127.0.0.1
keep_environment =
tls_advertise_hosts =
rfc1413_hosts =
queue_only = false
acl_smtp_rcpt = rcpt
acl_smtp_data = data
begin acl
rcpt:
.include {folder}/bloomgate_rcpt.acl
  accept
data:
.include {folder}/bloomgate_data.acl
  accept
begin routers
sink:
  driver = manualroute
  route_list = * 127.0.0.1
  self = send
  transport = sink
begin transports
sink:
  driver = smtp
  port = {sink_port}
  allow_localhost
"""

# It looks its user up by name.
START = """\
set -e
cat /etc/passwd "$0/passwd" > "$0/all.passwd"; mount --bind "$0/all.passwd" /etc/passwd
cat /etc/group "$0/group" > "$0/all.group"; mount --bind "$0/all.group" /etc/group
exec "$@"
"""


class Exim:
    """lookup_port: where the daemon answers. sink: all mail goes there."""

    def __init__(self, folder, lookup_port, sink):
        self.folder = folder
        self.lookup_port = lookup_port
        self.sink = sink
        self.port = free_port()

    def __enter__(self):
        with ExitStack() as stack:
            self._prepare()
            words = stack.enter_context(own_mounts())
            self.program = Program([*words, "sh", "-c", START, self.folder, *command(), "-C", self.folder / "exim.conf",
                                    "-bdf", "-q1s"], self.folder / "output")
            stack.callback(self.program.kill)
            self.program.wait_until_ready(lambda: accepts_connections(("127.0.0.1", self.port)), "Exim")
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _prepare(self):
        self.folder.mkdir()
        for name in ("spool", "log"):
            (self.folder / name).mkdir()
            shutil.chown(self.folder / name, NUMBER, NUMBER)
        (self.folder / "passwd").write_text(f"{USER}:x:{NUMBER}:{NUMBER}::/:/bin/false\n")
        (self.folder / "group").write_text(f"{USER}:x:{NUMBER}:\n")
        (self.folder / "exim.conf").write_text(CONFIGURATION.format(
            user=USER, folder=self.folder, port=self.port, sink_port=self.sink.port))
        (self.folder / "bloomgate_rcpt.acl").write_text(
            adapted("exim/bloomgate_rcpt.acl", {"inet:127.0.0.1:9813": f"inet:127.0.0.1:{self.lookup_port}"}))
        (self.folder / "bloomgate_data.acl").write_text(adapted("exim/bloomgate_data.acl", {}))

    def log(self):
        return "".join(path.read_text(errors="replace") for path in
                       [self.folder / "output", *sorted((self.folder / "log").glob("*log"))])


def command():
    packages = unpacked() / "exim"
    if not packages.exists():
        raise RuntimeError(f"{packages} is not there: run scripts/install-dependencies unpacked")
    libraries = ":".join(sorted({str(path.parent) for path in packages.glob("usr/lib/*/*.so.*")}))
    return ["env", f"LD_LIBRARY_PATH={libraries}", packages / "usr/sbin/exim4"]
