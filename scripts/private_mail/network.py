"""A network of its own, for programs that ask the domain name system.

Such programs ask the servers in /etc/resolv.conf, at port 53, and cannot be told otherwise. In this network the
loopback device has those addresses, and every port is free, so our own name server answers there. Unix sockets in
the file system work across networks: Postfix stays outside and talks to the milters inside.
"""

import functools
import os
import subprocess
from pathlib import Path

from .processes import Program, temporary_folder

# Brings the loopback device up, with these addresses too. `ip` is not on every machine.
BRING_UP = """\
import fcntl, ipaddress, socket, struct, sys
SIOCSIFFLAGS, SIOCSIFADDR, IFF_UP = 0x8914, 0x8916, 1
with socket.socket() as ipv4:
    fcntl.ioctl(ipv4, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
    for number, word in enumerate(sys.argv[1:]):
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
"""

# The second is for a container that may unshare a network and not set it up (no CAP_NET_ADMIN): in a user
# namespace of its own it may.
WAYS = (("--net",), ("--user", "--net"))


class NotPossible(Exception):
    """This machine gives nobody a network of their own."""


class PrivateNetwork:
    def __init__(self, folder):
        self.folder = Path(folder)

    def __enter__(self):
        """Raises NotPossible."""
        reasons = []
        for way in WAYS:
            log = self.folder / f"network{''.join(way)}.log"
            self._holder = Program(["unshare", *way, "sleep", "infinity"], log)
            try:
                self._set_up(way)
                return self
            except (RuntimeError, OSError) as error:
                self._holder.kill()
                reasons.append(f"unshare {' '.join(way)}: {str(error).rpartition(': ')[2].strip()}")
        raise NotPossible("; ".join(reasons))

    def __exit__(self, *_):
        self._holder.kill()

    def start(self, command, log_file, user=None):
        """Starts a program inside."""
        return Program(command, log_file, user, prefix=self._enter)

    def _set_up(self, way):
        self._holder.wait_until_ready(lambda: network_of(self._holder.pid) not in (None, network_of("self")),
                                      "the private network")
        if "--user" in way:
            keep_users_and_groups(self._holder.pid)
        self._enter = ["nsenter", "--target", str(self._holder.pid), *way, "--"]
        done = subprocess.run([*self._enter, "/usr/bin/python3", "-c", BRING_UP, *name_servers()],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"its loopback device stays down:\n{done.stderr}")


def network_of(process):
    """What tells it from other networks; None where the process has ended."""
    try:
        return os.readlink(f"/proc/{process}/ns/net")
    except OSError:
        return None


def keep_users_and_groups(pid):
    """Every user has the same ID in the user namespace of that process as here."""
    for name in ("uid_map", "gid_map"):
        here = [line.split() for line in Path(f"/proc/self/{name}").read_text().splitlines()]
        Path(f"/proc/{pid}/{name}").write_text("".join(f"{first} {first} {count}\n" for first, _, count in here))


@functools.cache
def why_not():
    """Why this machine gives nobody a network of their own; '' where it does."""
    with temporary_folder("network") as folder:
        try:
            with PrivateNetwork(folder):
                return ""
        except NotPossible as error:
            return f"a name server of ours needs a network of its own, which nobody gets here ({error})"


def name_servers():
    """Whom programs on this machine ask; without a word about it they ask 127.0.0.1."""
    try:
        lines = Path("/etc/resolv.conf").read_text().splitlines()
    except FileNotFoundError:
        return []
    return [words[1] for words in map(str.split, lines) if words[:1] == ["nameserver"] and len(words) > 1]
