"""How well our units are protected, and that the system-call filter under which BLOOMGATE_UNIT_FILTER=yes runs every test
is the one that they ask for."""

import subprocess
from pathlib import Path

import pytest
from conftest import LISTED, UNLISTED, assert_it_serves
from private_mail import unit_filter
from private_mail.client import Message
from private_mail.daemon import RELOADED
from private_mail.filter import build_filter_of
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH

UNITS = sorted(path.name.removesuffix(".service.in") for path in unit_filter.UNITS.glob("*.service.in"))
WORST_RATING = 1.5  # 0 is best, 10 is worst; most services of Debian are above 9


def test_every_unit_is_rated():
    assert UNITS == ["bloomgate-milter", "bloomgate-pull@", "bloomgate-share", "bloomgate-update"]


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_is_rated_as_well_protected(unit, tmp_path):
    service = tmp_path / f"{unit}.service"
    service.write_text(unit_filter.unit_text(unit))
    done = subprocess.run(["systemd-analyze", "security", "--no-pager", "--offline=true",
                           f"--threshold={WORST_RATING * 10:.0f}", service], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("lines, let_through, refused", [
    (["getpid"], ["getpid", "execve"], ["kill", "chown"]),  # execve is in @default, which is always let through
    (["@system-service"], ["chown", "socket", "mprotect"], ["mount", "reboot", "ptrace"]),  # sets within sets
    (["@system-service", "~@privileged"], ["socket"], ["chown", "setuid"]),
    (["@system-service", "~@privileged @resources", "@chown"], ["chown", "fchown"], ["setuid", "setpriority"]),
    (["@chown", "~chown @default", "getpid"], ["fchown", "getpid"], ["chown", "execve"]),
], ids=str)
def test_the_lines_of_a_unit_add_and_take_away_in_their_order(lines, let_through, refused):
    allowed = unit_filter.allowed_calls("\n".join(f"SystemCallFilter={line}" for line in lines))
    assert allowed.issuperset(let_through)
    assert not allowed.intersection(refused)


def test_a_unit_without_a_list_of_what_is_allowed_is_refused():
    for text in ("", "#SystemCallFilter=@chown", "SystemCallFilter=~@privileged"):
        with pytest.raises(ValueError):
            unit_filter.allowed_calls(text)


# Calls with what must come of them: nothing, or Python's name for EPERM.
CALLS = {
    "socket.socket(socket.AF_INET6)": "done",
    "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)": "PermissionError",
    "mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE)": "done",
    "mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)": "done",
    "mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC)": "PermissionError",
    "os.chown('probe', os.getuid(), os.getgid())": "done",
    "os.nice(1)": "PermissionError",
    "os.sched_setaffinity(0, {0})": "PermissionError",
    "os.setuid(os.getuid())": "PermissionError",
    "os.chroot('.')": "PermissionError",
}
TRY = """\
import mmap, os, socket, sys
for call in sys.argv[1:]:
    try:
        eval(call)
        print("done")
    except OSError as error:
        print(type(error).__name__)
"""


def test_what_a_unit_does_not_need_is_refused_and_the_rest_is_done(tmp_path):
    (tmp_path / "probe").touch()
    filtered = [unit_filter.__file__, unit_filter.unit_file("bloomgate-milter")]
    done = subprocess.run([*filtered, "/usr/bin/python3", "-c", TRY, *CALLS], cwd=tmp_path, capture_output=True, text=True)
    assert dict(zip(CALLS, done.stdout.split())) == CALLS, done.stderr


def has_a_filter(process):
    return "\nSeccomp:\t2\n" in Path(f"/proc/{process}/status").read_text()


def test_under_the_filter_of_its_unit_the_daemon_decides_and_reloads(monkeypatch, start_gateway):
    monkeypatch.setenv("BLOOMGATE_UNIT_FILTER", "yes")
    gateway = start_gateway()
    assert has_a_filter(gateway.daemon.program.pid)
    assert_it_serves(gateway)
    build_filter_of(gateway.config.whitelist, [UNLISTED])
    gateway.daemon.reload(RELOADED)
    assert [delivery.place for delivery in gateway.send(Message(LISTED), Message(UNLISTED))] == [DEEP_CHECK, LIGHT_PATH]
