"""A network of its own, for programs that ask the domain name system.

Such programs ask the servers that /etc/resolv.conf names, at port 53, and can be told nothing else. In here
those addresses are the loopback device's, and every port is free: a name server of ours answers at them. Unix
sockets in the file system work across: Postfix stays outside and talks to the milters inside.
"""

import subprocess
from pathlib import Path

from .processes import Program

# Holds the network open. `ip` is not on every machine.
HOLD = """\
import fcntl, ipaddress, pathlib, signal, socket, struct, sys
SIOCSIFFLAGS, SIOCSIFADDR, IFF_UP = 0x8914, 0x8916, 1
with socket.socket() as ipv4:
    fcntl.ioctl(ipv4, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
    for number, word in enumerate(sys.argv[2:]):
        address = ipaddress.ip_address(word.partition("%")[0])
        if address.is_loopback:
            continue
        if address.version == 4:
            label = f"lo:{number}".encode()
            fcntl.ioctl(ipv4, SIOCSIFADDR, struct.pack("16sH2x4s8x", label, socket.AF_INET, address.packed))
        else:
            with socket.socket(socket.AF_INET6) as ipv6:
                index = socket.if_nametoindex("lo")
                fcntl.ioctl(ipv6, SIOCSIFADDR, struct.pack("16sIi", address.packed, 128, index))
pathlib.Path(sys.argv[1]).touch()
signal.pause()
"""


class PrivateNetwork:
    def __init__(self, folder):
        self.folder = Path(folder)

    def __enter__(self):
        ready = self.folder / "network-is-ready"
        self._holder = Program(["unshare", "--net", "/usr/bin/python3", "-c", HOLD, ready, *name_servers()],
                               self.folder / "network.log")
        self._holder.wait_until_ready(ready.exists, "the private network")
        return self

    def __exit__(self, *_):
        self._holder.kill()

    def start(self, command, log_file, user=None):
        """Starts a program inside."""
        return Program(command, log_file, user,
                       prefix=["nsenter", "--target", str(self._holder.pid), "--net", "--"])


def is_possible():
    """Whether this machine lets us have one."""
    return subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode == 0


def name_servers():
    """Whom programs on this machine ask; without a word about it they ask 127.0.0.1."""
    try:
        lines = Path("/etc/resolv.conf").read_text().splitlines()
    except FileNotFoundError:
        return []
    return [words[1] for words in map(str.split, lines) if words[:1] == ["nameserver"] and len(words) > 1]
