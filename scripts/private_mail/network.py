"""A network of its own, with a resolver of its own, for programs that ask the domain name system.

Such programs ask the server that /etc/resolv.conf names, at port 53, and can be told nothing else. Here both
are private: a loopback device of which every port is free, and a file of ours in the place of that one. Unix
sockets in the file system work across: Postfix stays outside and talks to the milters inside.
"""

import subprocess
from pathlib import Path

from .processes import Program, wait_until

NAME_SERVER = "127.0.0.1"

# The shell holds the two name spaces open. `ip` is not everywhere: the loopback device is raised by hand.
HOLD = """\
set -e
mount --bind "$1" "$(realpath /etc/resolv.conf)"
/usr/bin/python3 -c '
import fcntl, socket, struct
with socket.socket() as any_socket:
    # SIOCSIFFLAGS with IFF_UP and IFF_RUNNING
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH", b"lo", 0x1 | 0x40))
'
touch "$2"
exec sleep infinity
"""


class PrivateNetwork:
    def __init__(self, folder):
        self.folder = Path(folder)

    def __enter__(self):
        resolver = self.folder / "resolv.conf"
        resolver.write_text(f"nameserver {NAME_SERVER}\noptions timeout:2 attempts:1\n")
        ready = self.folder / "network-is-ready"
        self._holder = Program(["unshare", "--net", "--mount", "sh", "-c", HOLD, "hold", resolver, ready],
                               self.folder / "network.log")
        wait_until(lambda: ready.exists() or not self._holder.alive(), "the private network")
        if not self._holder.alive():
            raise RuntimeError(f"no network of its own on this machine:\n{self._holder.log()}")
        return self

    def __exit__(self, *_):
        self._holder.kill()

    def start(self, command, log_file, user=None):
        """Starts a program inside."""
        return Program(command, log_file, user, prefix=[
            "nsenter", "--target", str(self._holder.pid), "--net", "--mount", "--"])


def is_possible():
    """Whether this machine lets us have one."""
    return subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True).returncode == 0
