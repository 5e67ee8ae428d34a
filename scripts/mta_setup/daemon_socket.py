"""Where bloomgate-milter listens. Postfix's services run in a chroot, Debian's do so by default, and one that is enabled
later would not see a socket elsewhere. A socket below Postfix's queue, which each of them takes for the current folder,
is seen from a chroot and from outside."""

import re
from pathlib import Path

from .changes import Refused
from .edits import Block, Command, Folder

USUAL = "unix:/run/bloomgate/milter.sock"
QUEUE = Path("/var/spool/postfix")  # below it bloomgate-milter.service lets the daemon listen
SOCKET = "bloomgate/milter.sock"


class DaemonSocket:
    """place: where the daemon is to listen, unix:/PATH or inet:HOST:PORT. before: where it listens now. name: as Postfix
    calls the place. pieces: what moves it there."""

    def __init__(self, options, daemon_conf, present):
        self.before = self.place = self.name = options.socket or in_force(daemon_conf, present)
        self.pieces = []
        self._daemon_conf = daemon_conf
        self._may_move = not options.socket and present is not None and configured(present) is None

    def move_below(self, queue):
        """The usual socket goes there, unless somebody has chosen one."""
        if not self._may_move or queue != QUEUE:
            return
        self.place, self.name = f"unix:{queue / SOCKET}", f"unix:{SOCKET}"
        line = f"socket = {self.place}"
        self.pieces = [Folder(str((queue / SOCKET).parent), "bloomgate"),
                       Block(self._daemon_conf, f"{line}\n", f"{line}: seen from Postfix's chroot, too"),
                       Command(("systemctl", "try-restart", "bloomgate-milter"))]


def configured(present):
    found = re.findall(rb"(?m)^[ \t]*socket[ \t]*=[ \t]*([^\r\n#]*?)[ \t]*(?:#.*)?\r?$", present or b"")
    return found[-1].decode("utf-8", "replace") if found else None


def in_force(daemon_conf, present):
    """As the mail server's side writes it: the daemon's own file has the port before the host."""
    socket = configured(present)
    if socket is None:
        return USUAL
    if port := re.fullmatch(r"inet:([0-9]+)@(.+)", socket):
        return f"inet:{port[2]}:{port[1]}"
    if re.fullmatch(r"(unix|local):/\S+", socket):
        return "unix:" + socket.partition(":")[2]
    raise Refused(f"{daemon_conf} has socket = {socket}: say how the mail server is to reach it (--socket)")
