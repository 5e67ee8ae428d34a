#!/usr/bin/python3
"""The system-call filter of a systemd unit, without a systemd to put it up.

As a program it puts the filter of one of our units up for itself, and becomes another program:

    unit_filter.py systemd/bloomgate-milter.service.in COMMAND...

The unit's lines are read, and its sets of calls are spelt out by `systemd-analyze syscall-filter`, so what is tried is
what is shipped. Beside SystemCallFilter it holds to two settings that systemd turns into a filter of arguments:
RestrictAddressFamilies and MemoryDenyWriteExecute. With BLOOMGATE_UNIT_FILTER=yes every daemon of the tests starts so,
and bloomgate-update.
"""

import errno
import mmap
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

UNITS = Path(__file__).resolve().parents[2] / "systemd"
SHM_EXEC = 0o100000  # <sys/shm.h>


def starter(unit="bloomgate-milter", folder=None):
    """What stands before the command of the unit's program: words, or nothing. folder: where to copy this file and the unit
    to, for a program whose user may not read the originals: a clone in /root, say."""
    if os.environ.get("BLOOMGATE_UNIT_FILTER") != "yes":
        return []
    files = [Path(__file__), unit_file(unit)]
    return [shutil.copy(file, folder) for file in files] if folder else files


def unit_file(unit):
    return UNITS / f"{unit}.service.in"


def unit_text(unit):
    return unit_file(unit).read_text(encoding="utf-8")


def values(name, text):
    """What the lines of a unit say of a setting, in their order."""
    return [line.partition("=")[2].strip() for line in text.splitlines() if line.startswith(f"{name}=")]


def known_sets():
    """The sets of system calls that systemd knows: name -> members, which may be sets."""
    shown = subprocess.run(["systemd-analyze", "--no-pager", "syscall-filter"], check=True, capture_output=True, text=True)
    sets = {}
    for line in shown.stdout.splitlines():
        word = line.strip()
        if line.startswith("@"):
            members = sets.setdefault(word, [])
        elif word and not word.startswith("#"):
            members.append(word)
    return sets


def allowed_calls(text):
    """What the lines SystemCallFilter of a unit let through: @default, and what each adds or takes away, one after the
    other (systemd.exec(5))."""
    sets = known_sets()

    def calls(word):
        return set().union(*map(calls, sets[word])) if word.startswith("@") else {word}

    lines = values("SystemCallFilter", text)
    if not lines or lines[0].startswith("~"):
        raise ValueError(f"expected a first SystemCallFilter= that says what is allowed, got {lines[:1]}")
    allowed = calls("@default")
    for line in lines:
        named = set().union(*map(calls, line.removeprefix("~").split()))
        allowed = allowed - named if line.startswith("~") else allowed | named
    return allowed


def put_up(text):
    """The filter of a unit, from here on, for this process and all that it starts. It cannot be taken down."""
    import seccomp  # Debian's python3-seccomp

    # A call of another architecture kills: SystemCallArchitectures=native.
    calls = seccomp.SyscallFilter(seccomp.ERRNO(getattr(errno, values("SystemCallErrorNumber", text)[-1])))
    conditions = {}
    if families := " ".join(values("RestrictAddressFamilies", text)).split():
        conditions["socket"] = [seccomp.Arg(0, seccomp.EQ, getattr(socket, family)) for family in families]
    if values("MemoryDenyWriteExecute", text) == ["yes"]:
        both = mmap.PROT_WRITE | mmap.PROT_EXEC
        conditions["mmap"] = [seccomp.Arg(2, seccomp.MASKED_EQ, both, one)
                              for one in (0, mmap.PROT_WRITE, mmap.PROT_EXEC)]
        conditions["mprotect"] = conditions["pkey_mprotect"] = [seccomp.Arg(2, seccomp.MASKED_EQ, mmap.PROT_EXEC, 0)]
        conditions["shmat"] = [seccomp.Arg(2, seccomp.MASKED_EQ, SHM_EXEC, 0)]
    for name in allowed_calls(text):
        if not is_known_here(name):
            continue
        for condition in conditions.get(name, [None]):
            calls.add_rule(seccomp.ALLOW, name, *([condition] if condition else []))
    calls.load()


def is_known_here(call):
    """The sets have the calls of all architectures, and of kernels that libseccomp may not know yet."""
    import seccomp

    try:
        return seccomp.resolve_syscall(seccomp.Arch(), call) >= 0
    except (ValueError, RuntimeError):
        return False


if __name__ == "__main__":
    put_up(Path(sys.argv[1]).read_text(encoding="utf-8"))
    os.execvp(sys.argv[2], sys.argv[2:])
