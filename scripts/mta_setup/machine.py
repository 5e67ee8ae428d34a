"""What the set-up needs of the machine: that sockets may be used, that programs listen, that services start again."""

import grp
import os
import pwd
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from .changes import Refused
from .edits import Group

DAEMON_GROUP = "bloomgate"  # of the daemon's socket
RESTART_SECONDS = 60


def wait_until_listening(places):
    """A program that has just been started again takes some seconds to listen."""
    deadline = time.monotonic() + RESTART_SECONDS
    for place in places:
        while not listens(place):
            if time.monotonic() > deadline:
                raise Refused(f"nothing listens on {place} since then")
            time.sleep(0.1)


def listens(place):
    """place: unix:/PATH or inet:HOST:PORT, or HOST:PORT."""
    kind, _, address = place.partition(":") if place.startswith(("unix:", "inet:")) else ("inet", "", place)
    host, _, port = address.rpartition(":")
    try:
        if kind == "unix":
            with socket.socket(socket.AF_UNIX) as probe:
                probe.settimeout(5)
                probe.connect(address)
        else:
            socket.create_connection((host.strip("[]"), int(port)), timeout=5).close()
    except PermissionError:
        return True  # somebody does, for others
    except (OSError, ValueError):
        return False
    return True


def fault_of_daemon(conf):
    """What bloomgate-milter has against its configuration, with which it is to start again; empty: nothing."""
    program = shutil.which("bloomgate-milter")
    if program is None or not Path(conf).is_file():
        return ""
    done = subprocess.run([program, "--config", str(conf), "check-config"], capture_output=True, text=True)
    return done.stderr.strip() if done.returncode == os.EX_CONFIG else ""


def group_to_join(user, path, expected=None):
    """The Group that the user must join to use the socket at path; None if it needs none, or none would help.
    expected: the group that the socket will have, if it is not there yet."""
    try:
        owner = pwd.getpwnam(user)
    except KeyError:
        return None
    members = os.getgrouplist(user, owner.pw_gid)
    group = None
    for place, needed in [*((parent, 0o1) for parent in reversed(Path(path).parents)), (Path(path), 0o2)]:
        try:
            found = place.stat()
        except OSError:
            group = group or expected
            break
        if not allows(found, needed, owner.pw_uid, members) and found.st_mode & needed << 3:
            group = grp.getgrgid(found.st_gid).gr_name
    if group is None or not group_exists(group) or grp.getgrnam(group).gr_gid in members or user == "root":
        return None
    return Group(user, group, f"only this group may use {path}")


def allows(found, needed, uid, members):
    if found.st_uid == uid:
        return bool(found.st_mode & needed << 6)
    if found.st_gid in members:
        return bool(found.st_mode & needed << 3)
    return bool(found.st_mode & needed)


def group_exists(name):
    try:
        grp.getgrnam(name)
    except KeyError:
        return False
    return True


def leave(group):
    try:
        if group.user in grp.getgrnam(group.group).gr_mem:
            run(["gpasswd", "-d", group.user, group.group])
    except KeyError:
        pass  # the group is gone, and its members with it


def drop_folder(folder):
    """What others have put there stays, and the folder with it."""
    try:
        for left in Path(folder.path).iterdir():
            if left.is_socket():
                left.unlink()
        Path(folder.path).rmdir()
    except OSError:
        pass


def run(command):
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True)
    except OSError as error:
        raise Refused(f"{' '.join(words)} failed: {error.strerror}") from None
    if done.returncode != 0:
        raise Refused(f"{' '.join(words)} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def put_into_use(command):
    try:
        run(command)
    except Refused:
        if "try-reload-or-restart" not in command:
            raise
        run(["systemctl", "try-restart", command[-1]])  # a unit may have a way to reload that does not work here


@dataclass(frozen=True)
class Doing:
    """by_hand: piece -> the words of a command; do: what is done instead of it, if that is not the command itself."""

    by_hand: object
    do: object = None

    def run(self, piece):
        return self.do(piece) if self.do else run(self.by_hand(piece))


# By the kind of a piece: when it is put in; when it is taken out, before what it was for is gone, and after that.
# The socket's own mode says who may use it, so the folder is open to all.
TO_MAKE = {"group": Doing(lambda piece: ["usermod", "-a", "-G", piece.group, piece.user]),
           "folder": Doing(lambda piece: ["install", "-d", "-o", piece.user, "-g", piece.user, "-m", "755", piece.path])}
TO_LEAVE = {"group": Doing(lambda piece: ["gpasswd", "-d", piece.user, piece.group], leave)}
TO_DROP = {"folder": Doing(lambda piece: ["rm", "-r", piece.path], drop_folder)}


def can_run(command):
    """Whether a Command has something to act on: systemd is there, or that Postfix runs."""
    if command[0] == "systemctl":
        return os.path.isdir("/run/systemd/system")
    return subprocess.run([*command[:3], "status"], capture_output=True).returncode == 0
