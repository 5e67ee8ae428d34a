"""The machine fails Bloomgate: memory, descriptors, threads, clock, log, files, and mail servers that misbehave.

At worst, mail gets a deep check. As soon as the fault is over, the daemon does again what it could not do.
"""

import os
import re
import shutil
import signal
import struct
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from conftest import LISTED, UNLISTED, assert_it_serves, places
from private_mail.client import Message
from private_mail.daemon import REFUSED, RELOADED, USER
from private_mail.filter import REPOSITORY, build_filter_of
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH
from private_mail.processes import output_as, run_as, wait_until
from raw_connection import CLIENT, NEGOTIATION, MilterConnection, frame


@pytest.fixture
def gateway(start_gateway):
    return start_gateway()


def put_in_place(path, make):
    """make(new) makes the new file or folder, which then takes the place of path in one step."""
    new = path.with_name("new")
    make(new)
    path.rename(path.with_name(f"before-{path.stat().st_ino}"))
    new.rename(path)


def assert_refused_and_served_from_before(gateway, make, why):
    put_in_place(gateway.config.whitelist, make)
    gateway.daemon.reload(f"{REFUSED}.*{why}")
    assert_it_serves(gateway)


# Files


def unreadable(path):
    build_filter_of(path, ["other@example.org"])
    path.chmod(0)


def folder(path):
    path.mkdir()


def newer_version(path):
    shutil.copy(REPOSITORY / "tests/bad/version-2.bloom", path)


def fifo(path):
    os.mkfifo(path, 0o644)


def damaged(change):
    """Makes a whitelist that has the bytes that `change` makes of a good one's."""
    def make(path):
        build_filter_of(path, ["other@example.org"])
        path.write_bytes(change(path.read_bytes()))
    return make


# What takes the place of a whitelist, and what the log says of it.
NO_WHITELIST = [(unreadable, "Permission denied"), (folder, "without a layer"), (newer_version, "version"),
                (fifo, "not a regular file"), (damaged(lambda good: b""), ""),
                (damaged(lambda good: b"listed@example.org\n"), ""), (damaged(lambda good: good[:-1]), ""),
                (damaged(lambda good: good[:5000] + bytes([good[5000] ^ 1]) + good[5001:]), "")]


def test_an_invalid_whitelist_is_refused_and_the_old_one_serves(gateway):
    for make, why in NO_WHITELIST:
        assert_refused_and_served_from_before(gateway, make, why)
    gateway.config.whitelist.unlink()
    gateway.daemon.reload(REFUSED)
    assert_it_serves(gateway)


def test_with_an_invalid_whitelist_the_daemon_does_not_start_and_says_why(gateway):
    gateway.daemon.kill()
    for make, why in NO_WHITELIST:
        put_in_place(gateway.config.whitelist, make)
        before = len(gateway.daemon.log())
        assert gateway.daemon.launch().wait() != 0
        said = gateway.daemon.log()[before:]
        assert why in said and str(gateway.config.whitelist) in said
    gateway.config.whitelist.unlink()
    before = len(gateway.daemon.log())
    assert gateway.daemon.launch().wait() != 0
    assert str(gateway.config.whitelist) in gateway.daemon.log()[before:]


# Memory, descriptors, threads: the limits of a process, taken away from the running daemon and given back


def limit(gateway, kind, value):
    """kind: an option of prlimit(1). The limit can be raised again: only the soft one is lowered."""
    # As the daemon's own user: in a container root may not change the limits of others.
    done = run_as(USER, "prlimit", "--pid", gateway.daemon.program.pid, f"--{kind}={value}:")
    assert done.returncode == 0, done.stderr


def unlimited(gateway, kind):
    limit(gateway, kind, run_as(USER, "prlimit", "--pid", gateway.daemon.program.pid, "--noheadings", "--raw",
                                "--output", "HARD", f"--{kind}").stdout.strip())


def status_bytes(pid, key):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(f"{key}:"))


def larger_whitelist(path):
    build_filter_of(path, [LISTED, "new@example.org"], "--expected-entries", "100000000")


def test_a_whitelist_that_memory_has_no_room_for_is_refused_and_comes_once_it_has(gateway):
    # Room for work, and none for the 100 MB, nor for the 64 MiB that malloc(3) reserves for a thread: these would take all
    # of a larger room.
    limit(gateway, "as", status_bytes(gateway.daemon.program.pid, "VmSize") + (32 << 20))
    assert_refused_and_served_from_before(gateway, larger_whitelist, "(Cannot allocate memory|bad_alloc)")
    unlimited(gateway, "as")
    gateway.daemon.reload(RELOADED)
    assert places(gateway, "new@example.org", UNLISTED) == [LIGHT_PATH, DEEP_CHECK]


@pytest.fixture
def memory_limit():
    """memory_limit(pid, bytes) puts a process under that limit, as MemoryMax= of its unit does, and returns a function that
    counts how often one was killed for it."""
    made = []

    def limited(pid, size):
        old = Path("/sys/fs/cgroup/memory")  # of its own, or one with the other controllers
        parent, limit, events = ((old, "memory.limit_in_bytes", "memory.oom_control") if old.is_dir() else
                                 (old.parent, "memory.max", "memory.events"))
        group = parent / f"bloomgate-test-{pid}"
        try:
            group.mkdir()
            made.append(group)
            (group / limit).write_text(str(size))
            (group / "cgroup.procs").write_text(str(pid))
        except OSError as error:
            pytest.skip(f"no memory can be limited here: {error}")
        return lambda: int(re.search(r"(?m)^oom_kill (\d+)$", (group / events).read_text()).group(1))

    yield limited
    for group in made:
        for pid in (group / "cgroup.procs").read_text().split():
            (group.parent / "cgroup.procs").write_text(pid)
        group.rmdir()


def whitelist_on_the_disk(path):
    """Larger than the limit below, and no page of it in memory."""
    build_filter_of(path, [LISTED, "new@example.org"], "--expected-entries", "200000000")
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@pytest.mark.all_only  # not every machine lets memory be limited
def test_a_whitelist_larger_than_the_memory_limit_is_served_from_the_disk(gateway, memory_limit):
    killed = memory_limit(gateway.daemon.program.pid, 64 << 20)
    put_in_place(gateway.config.whitelist, whitelist_on_the_disk)
    gateway.daemon.reload(RELOADED)
    assert places(gateway, "new@example.org", LISTED, UNLISTED) == [LIGHT_PATH, LIGHT_PATH, DEEP_CHECK]
    assert killed() == 0


def open_descriptors(pid):
    return {int(name) for name in output_as(USER, "ls", f"/proc/{pid}/fd").split()}


def sessions_under_way(gateway):
    """How many connections the daemon has accepted at its socket: each has the path of the one that listens."""
    sockets = Path("/proc/net/unix").read_text(encoding="ascii", errors="replace").splitlines()
    return sum(line.endswith(f" {gateway.daemon.address}") for line in sockets) - 1


def no_more_descriptors(gateway, sessions=0):
    """The limit is one of numbers. The standard streams are open, so whichever is given next is past it."""
    wait_until(lambda: sessions_under_way(gateway) == sessions, "the other sessions to end")
    limit(gateway, "nofile", 3)


def test_without_descriptors_mail_is_checked_and_decided_again_when_there_are_some(gateway):
    no_more_descriptors(gateway)
    assert places(gateway, LISTED, UNLISTED) == [DEEP_CHECK, DEEP_CHECK]
    assert gateway.daemon.program.alive()
    unlimited(gateway, "nofile")
    # libmilter waits a little longer after each failure to take a connection.
    wait_until(lambda: places(gateway, LISTED) == [LIGHT_PATH], "the daemon to take connections again")
    assert_it_serves(gateway)


def test_without_descriptors_a_reload_is_refused_and_the_old_whitelist_serves(gateway):
    with gateway.connect() as client:
        client.send(Message(LISTED))  # its connection to the daemon stays
        no_more_descriptors(gateway, sessions=1)
        put_in_place(gateway.config.whitelist, lambda path: build_filter_of(path, ["new@example.org"]))
        gateway.daemon.reload(f"{REFUSED}.*Too many open files")
        sent = [(message, client.send(message)) for message in (Message(LISTED), Message(UNLISTED))]
    assert [delivery.place for delivery in gateway.deliveries(sent)] == [LIGHT_PATH, DEEP_CHECK]
    unlimited(gateway, "nofile")
    gateway.daemon.reload(RELOADED)


def test_without_threads_no_unlisted_mail_is_delivered_and_it_serves_when_there_are_some(gateway):
    limit(gateway, "nproc", 0)
    # Several at once: each would want a worker of its own.
    clients = [gateway.connect() for _ in range(8)]
    try:
        for client in clients:
            client.begin(Message(UNLISTED))
        sent = [(Message(UNLISTED), client.end()) for client in clients]
    finally:
        for client in clients:
            client.__exit__()
    assert {delivery.place for delivery in gateway.deliveries(sent)} == {DEEP_CHECK}
    assert gateway.daemon.program.alive()
    unlimited(gateway, "nproc")
    assert_it_serves(gateway)


def test_a_daemon_that_was_stopped_for_a_while_continues_where_it_was(gateway):
    with gateway.connect() as client:
        first = Message(LISTED), client.send(Message(LISTED))
        with gateway.daemon.program.standing_still():
            client.begin(Message(LISTED))
        second = Message(LISTED), client.end()
    assert [delivery.place for delivery in gateway.deliveries([first, second])] == [LIGHT_PATH, LIGHT_PATH]


# The clock

LIBFAKETIME = "/usr/$LIB/faketime/libfaketime.so.1"


@pytest.fixture
def set_clock(gateway):
    """set_clock(offset) sets the daemon's clock, while it runs, back (`-2d`) or ahead (`+400d`) of the machine's.
    The clock
    that only counts on and the times of files are the kernel's, as they are wherever a clock is set."""
    offset = gateway.folder / "offset"
    offset.write_text("+0")
    wrapper = gateway.folder / "daemon-of-another-time"
    wrapper.write_text(f"#!/bin/sh\nLD_PRELOAD='{LIBFAKETIME}' FAKETIME_TIMESTAMP_FILE={offset} FAKETIME_NO_CACHE=1 "
                       f"FAKETIME_DONT_FAKE_MONOTONIC=1 NO_FAKE_STAT=1 exec {gateway.daemon.binary} \"$@\"\n")
    wrapper.chmod(0o755)
    gateway.daemon.stop()
    gateway.daemon.binary = wrapper
    gateway.daemon.start()

    def set_to(value):
        new = offset.with_suffix(".new")
        new.write_text(value)
        new.rename(offset)

    return set_to


def test_a_clock_that_is_set_changes_no_decision_and_no_reload(gateway, set_clock):
    for offset in ("-400d", "-1h", "+1h", "+400d"):
        assert_it_serves(gateway)
        set_clock(offset)
        assert_it_serves(gateway)
        build_filter_of(gateway.config.whitelist, ["new@example.org"])
        gateway.daemon.reload(RELOADED)
        assert places(gateway, "new@example.org", LISTED) == [LIGHT_PATH, DEEP_CHECK], offset
        set_clock("+0")
        assert places(gateway, "new@example.org", LISTED) == [LIGHT_PATH, DEEP_CHECK], offset
        build_filter_of(gateway.config.whitelist, [LISTED])
        gateway.daemon.reload(RELOADED)


# The log


def start_with_log(gateway, log_file):
    """Starts the daemon anew, with its log in the file (or device) that is open."""
    gateway.daemon.stop()
    gateway.daemon.log_file = log_file
    gateway.daemon.start()


def test_a_log_on_a_full_disk_costs_its_lines_and_no_mail(gateway):
    before = gateway.daemon.log_file
    start_with_log(gateway, "/dev/full")
    assert_it_serves(gateway)
    assert gateway.daemon.stop() == 0
    gateway.daemon.log_file = before


def test_a_log_whose_reader_is_gone_costs_its_lines_and_no_mail(gateway):
    before = gateway.daemon.log_file
    pipe = gateway.folder / "pipe"
    os.mkfifo(pipe)
    shutil.chown(pipe, USER)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    start_with_log(gateway, pipe)
    os.close(reader)  # from now on a write is SIGPIPE, or EPIPE
    assert_it_serves(gateway)
    assert gateway.daemon.stop() == 0
    gateway.daemon.log_file = before


# Mail servers that misbehave, beside the real one


STEPS = [NEGOTIATION, CLIENT, frame(b"H", b"client.example\x00"), frame(b"M", b"<" + LISTED.encode() + b">\x00"),
         frame(b"R", b"<user@example.net>\x00"), frame(b"T"), frame(b"L", b"Subject\x00test\x00"), frame(b"N"),
         frame(b"B", b"Hello.\r\n")]

WRONG_FRAMES = {
    "of no length": struct.pack(">I", 0),
    "of the largest length": struct.pack(">I", 0xFFFFFFFF) + b"O",
    "of a negative length": struct.pack(">i", -1) + b"L",
    "of a gigabyte": struct.pack(">I", 1 << 30) + b"B" + bytes(65536),
    "longer than a step may be": struct.pack(">I", (1 << 20) + 2) + b"M" + bytes(65536),
    "of an unknown step": frame(b"\x00"),
    "of another": frame(b"z", bytes(100)),
    "a sender without an end": frame(b"M", b"<listed@example.org>"),
    "a field without a value": frame(b"L", b"Subject"),
    "a field without a name": frame(b"L", b"\x00\x00"),
    "macros without an end": frame(b"D", b"Mi"),
    "a client without an address": frame(b"C", b"client.example\x004"),
    "a negotiation that is too short": frame(b"O", b"\x00"),
    "a second negotiation": NEGOTIATION,
    "text": b"EHLO client.example\r\n" * 100,
}


def test_a_wrong_frame_at_each_step_ends_that_connection_and_holds_up_no_other(gateway):
    for name, wrong in WRONG_FRAMES.items():
        for steps in range(len(STEPS) + 1):
            with closing(MilterConnection(gateway.daemon.address)) as connection:
                connection.put(b"".join(STEPS[:steps]) + wrong)
        assert_it_serves(gateway), name
        assert gateway.daemon.program.alive(), name


def test_a_mail_server_that_vanishes_at_each_step_leaves_nothing_behind(gateway):
    assert_it_serves(gateway)
    descriptors = len(open_descriptors(gateway.daemon.program.pid))
    for steps in range(len(STEPS) + 1):
        for cut in (0, 3):  # between two frames, and within one
            with closing(MilterConnection(gateway.daemon.address)) as connection:
                content = b"".join(STEPS[:steps])
                connection.put(content[:len(content) - cut])
    assert_it_serves(gateway)
    wait_until(lambda: len(open_descriptors(gateway.daemon.program.pid)) <= descriptors,
               "their descriptors to be closed")


def test_connections_that_say_nothing_or_a_byte_hold_up_no_other(gateway):
    # Several times: libmilter forgets a session only now and then (milter/glue/pool_waker.hpp).
    for _ in range(5):
        with closing_all([MilterConnection(gateway.daemon.address) for _ in range(100)]) as silent:
            for number, connection in enumerate(silent):
                connection.put(b"".join(STEPS)[:number])
            for _ in range(3):
                assert_it_serves(gateway)
            for connection in silent:
                connection.put(b"\x00")
            assert_it_serves(gateway)


@contextmanager
def closing_all(connections):
    try:
        yield connections
    finally:
        for connection in connections:
            connection.close()


def test_a_mail_server_that_dies_within_a_message_costs_that_message_only(start_gateway):
    # Postfix waits so long after the death of a process that has not yet served.
    gateway = start_gateway(main_cf="service_throttle_time = 1s\n")
    with gateway.connect() as client:
        client.command(f"MAIL FROM:<{LISTED}>")
        client.command("RCPT TO:<user@example.net>")
        # Its client is told nothing, so it tries again, as the protocol has it.
        for pid in smtpd_processes(gateway):
            os.kill(pid, signal.SIGKILL)
    assert_it_serves(gateway)


def smtpd_processes(gateway):
    """Of this Postfix: children of its master."""
    master = int((gateway.postfix.folder / "data/master.lock").read_text())
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
                name, rest = stat.read().split(") ", 1)
        except OSError:
            continue
        if name.endswith("(smtpd") and int(rest.split()[1]) == master:
            found.append(int(pid))
    assert found
    return found
