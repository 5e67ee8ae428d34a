"""Many connections, slow ones, and ones too many: those that behave go on, and what the others took comes back."""

import os
import resource
import time
from contextlib import ExitStack, closing

import pytest
from conftest import LISTED, UNLISTED, assert_it_serves, places, skip_without_root
from private_mail.daemon import Daemon, DaemonConfig
from private_mail.filter import build_filter_of
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH
from private_mail.processes import temporary_folder, wait_until
from raw_connection import (CONNECTION_STEPS, END, HEADER, NEGOTIATION, SENDER, MilterConnection, descriptors,
                            frame, has_sanitizer, resident_bytes, served_connection, threads)

pytestmark = pytest.mark.usefixtures("many_descriptors")

MANY = 2000


@pytest.fixture(scope="module")
def many_descriptors():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, before[1]), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def connect(gateway, count):
    return [MilterConnection(gateway.daemon.address) for _ in range(count)]


def close(connections):
    for connection in connections:
        connection.close()


def decided(connection):
    """The mark that a message gets on it."""
    connection.put(END)
    return connection.mark()


def test_two_thousand_connections_within_a_message_are_served_and_leave_nothing_behind(start_gateway):
    # The real Postfix beside them needs a few of its own.
    gateway = start_gateway(settings={"max-connections": MANY + 50})
    pid = gateway.daemon.program.pid
    assert_it_serves(gateway)
    before = {"descriptors": descriptors(pid), "threads": threads(pid), "resident": resident_bytes(pid)}
    bounds_memory = not has_sanitizer(gateway.daemon.binary)
    assert not bounds_memory or before["resident"] <= 32 << 20
    connections = connect(gateway, MANY)
    for connection in connections:
        connection.put(NEGOTIATION)
    for connection in connections:
        assert connection.answer() == b"O"
    for connection in connections:
        connection.put(CONNECTION_STEPS + SENDER + HEADER)
    wait_until(lambda: threads(pid) <= before["threads"] + 50, "the steps to be taken in")
    assert not bounds_memory or resident_bytes(pid) - before["resident"] <= MANY * (64 << 10)
    assert_it_serves(gateway)
    for connection in connections:
        assert decided(connection).startswith(b"deliver; reason=listed")
    close(connections)
    wait_until(lambda: descriptors(pid) <= before["descriptors"] and threads(pid) <= before["threads"] + 8,
               "their descriptors and threads to come back")
    assert_it_serves(gateway)


def test_past_max_connections_mail_goes_to_the_deep_check_and_back_when_there_is_room(start_gateway):
    gateway = start_gateway(settings={"max-connections": 20})
    assert_it_serves(gateway)
    # Those of Postfix may still be among the twenty.
    connections = [wait_until(lambda: served_connection(gateway.daemon.address), "a place") for _ in range(20)]
    assert places(gateway, LISTED, UNLISTED) == [DEEP_CHECK, DEEP_CHECK]
    gateway.daemon.logged(r"max-connections: \d+ connections? (was|were) turned away, since 20 were open")
    close(connections)
    wait_until(lambda: places(gateway, LISTED) == [LIGHT_PATH], "there to be room again")
    assert_it_serves(gateway)


def open_ones(connections):
    return sum(connection.is_open() for connection in connections)


# Before the first step, after it, before a message, and within one.
SLOW_AFTER = [b"", NEGOTIATION, NEGOTIATION + CONNECTION_STEPS, NEGOTIATION + CONNECTION_STEPS + SENDER]


def test_clients_that_send_a_byte_a_second_are_ended_and_hold_up_no_other(start_gateway):
    gateway = start_gateway(settings={"connection-timeout": 8})  # longer than Postfix ever takes for a step here
    pid = gateway.daemon.program.pid
    assert_it_serves(gateway)
    before = descriptors(pid), threads(pid)
    slow = connect(gateway, 25 * len(SLOW_AFTER))
    for number, connection in enumerate(slow):
        connection.put(SLOW_AFTER[number % len(SLOW_AFTER)])
    deadline = time.monotonic() + 60
    # libmilter waits anew after each byte: a field of a thousand would take it a quarter of an hour.
    trickle = b"\x00\x00\x03\xe8L" + b"X" * 1000
    for number in range(len(trickle)):
        for connection in slow:
            connection.put(trickle[number:number + 1])
        if not any(connection.is_open() for connection in slow):
            break
        assert time.monotonic() < deadline, f"{open_ones(slow)} are open"
        if number == 1:
            assert_it_serves(gateway)
        time.sleep(1)  # what is tested is a client that sends so slowly
    gateway.daemon.logged("connections? (was|were) ended, since no(thing)? ")
    close(slow)
    wait_until(lambda: (descriptors(pid), threads(pid)) <= (before[0], before[1] + 8),
               "descriptors and threads to come back")
    assert_it_serves(gateway)


def test_a_reload_loads_another_limit(start_gateway):
    gateway = start_gateway(settings={"max-connections": 1})
    gateway.daemon.config.settings["max-connections"] = 100
    gateway.daemon.write_config()
    gateway.daemon.reload("configuration loaded")
    connections = connect(gateway, 50)
    for connection in connections:
        connection.put(NEGOTIATION)
    assert [connection.answer() for connection in connections] == [b"O"] * 50
    close(connections)


DESCRIPTORS = 80


class FewDescriptors(Daemon):
    """It may have so many, and cannot ask for more."""

    def command(self, *options):
        return ["prlimit", f"--nofile={DESCRIPTORS}:{DESCRIPTORS}", *super().command(*options)]


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def is_turned_away(daemon, served):
    """Whether the daemon refuses one more connection; one that it serves is kept open, in `served`."""
    connection = MilterConnection(daemon.address)
    connection.put(NEGOTIATION)
    if connection.answer() is not None:
        served.append(connection)
        return False
    connection.close()
    return True


@pytest.mark.all_only
def test_connections_past_the_descriptors_are_ended_at_once_and_no_thread_spins():
    skip_without_root()
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder("descriptors"))
        build_filter_of(folder / "whitelist.bloom", [LISTED])
        daemon = stack.enter_context(FewDescriptors(folder / "daemon", DaemonConfig(
            folder / "whitelist.bloom", settings={"connection-timeout": 15})))
        pid = daemon.program.pid
        silent = [MilterConnection(daemon.address) for _ in range(DESCRIPTORS + 20)]
        # A quarter is for messages.
        wait_until(lambda: open_ones(silent) < DESCRIPTORS * 3 // 4, "those past the limit to be ended")
        # The daemon accepts connections in order. Once it refuses this one, it has decided about all others.
        # Some may have the places of files that the daemon had open until now.
        wait_until(lambda: is_turned_away(daemon, silent), "the daemon to refuse a connection")
        are_open = open_ones(silent)
        assert are_open >= 20
        late = []
        for _ in range(300):
            is_turned_away(daemon, late)
            # On a busy machine the silent ones may reach their time-out before this loop ends.
            if open_ones(silent) < are_open:
                break
        assert len(late) <= 3
        silent += late
        # The daemon has nothing to do until they are late. A thread that spins has all of that time, but for what a busy
        # machine gives to others.
        used, since = processor_seconds(pid), time.monotonic()
        wait_until(lambda: open_ones(silent) == 0, "the silent ones to be late")
        assert processor_seconds(pid) - used < 0.2 + 0.1 * (time.monotonic() - since)
        daemon.logged("connections? (was|were) turned away, since too few descriptors are left")
        with closing(wait_until(lambda: served_connection(daemon.address), "there to be room again")) as connection:
            connection.put(CONNECTION_STEPS + SENDER + HEADER)
            assert decided(connection).startswith(b"deliver")
        close(silent)


def read_calls(pid):
    with open(f"/proc/{pid}/io", encoding="ascii") as io:
        return int(dict(line.split(": ") for line in io.read().splitlines())["syscr"])


def test_what_a_mail_server_sends_in_one_piece_is_read_in_one_piece(start_gateway):
    gateway = start_gateway()
    with closing(wait_until(lambda: served_connection(gateway.daemon.address), "a place")) as connection:
        connection.put(CONNECTION_STEPS)
        before = read_calls(gateway.daemon.program.pid)
        for _ in range(50):
            connection.put(SENDER + HEADER + END)
            assert connection.mark().startswith(b"deliver")
        # A step has two parts; a message here has twenty steps. Other threads read now and then.
        assert read_calls(gateway.daemon.program.pid) - before < 50 * 5


def test_messages_are_decided_alike_wherever_what_brings_them_is_cut(start_gateway):
    gateway = start_gateway()
    with closing(wait_until(lambda: served_connection(gateway.daemon.address), "a place")) as connection:
        connection.put(CONNECTION_STEPS)
        message = SENDER + HEADER + END
        for place in range(1, len(message), 37):
            connection.put(message[:place])
            connection.put(message[place:] + SENDER)  # the next message begins in the same piece
            assert connection.mark().startswith(b"deliver")
            connection.put(HEADER + END)
            assert connection.mark().startswith(b"deliver")


# A name without its value, for each step; the strings that libmilter had of others before may lie behind it.
UNPAIRED = [frame(b"D", stage + b"x\x00" * count) for stage in (b"C", b"M", b"N", b"E") for count in (1, 3, 5, 7, 9, 11)]
PAIRED = [frame(b"D", b"M" + b"x\x00" * count) for count in (2, 4, 6, 8, 10)]


def test_a_macro_without_a_value_ends_its_connection_and_no_other(start_gateway):
    gateway = start_gateway()
    first = wait_until(lambda: served_connection(gateway.daemon.address), "a place")
    first.put(CONNECTION_STEPS + SENDER + b"".join(PAIRED))
    for _ in range(20):
        for macros in UNPAIRED:
            with closing(MilterConnection(gateway.daemon.address)) as connection:
                connection.put(NEGOTIATION + b"".join(PAIRED) + CONNECTION_STEPS + SENDER + macros + HEADER + frame(b"E"))
                connection.answer()
                assert connection.answer() is None
    first.put(HEADER)
    assert decided(first).startswith(b"deliver")
    first.close()
    gateway.daemon.logged("connections? (was|were) ended, since a mail server sent the name of a macro without its value")
    assert_it_serves(gateway)
