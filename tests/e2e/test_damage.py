"""A whitelist whose file changes under the daemon, while mail flows: what is left of it delivers no unlisted mail."""

import itertools
import mmap
import os
import re
import time

import pytest
from conftest import LISTED, assert_it_serves
from private_mail.client import Message
from private_mail.daemon import REFUSED, RELOADED
from private_mail.filter import build_filter_of
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH
from private_mail.processes import wait_until
from traffic import Traffic

HEADER_BYTES = 4096  # FORMAT.md
DAMAGED = "check; reason=whitelist-damaged"


def in_place(path, offset, content):
    with path.open("r+b", buffering=0) as file:
        file.seek(offset)
        file.write(content)


def all_ones(path):
    in_place(path, 0, b"\xff" * path.stat().st_size)


def one_bit(path):
    with path.open("rb") as file:
        file.seek(HEADER_BYTES + 10_000)
        byte = file.read(1)[0]
    in_place(path, HEADER_BYTES + 10_000, bytes([byte ^ 1]))


def through_a_mapping(path):
    """As a program does that has the file mapped for writing: inotify does not report that."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[HEADER_BYTES:] = b"\xff" * (len(mapped) - HEADER_BYTES)


# Others: tests/milter/lists/filter_guard_test.cpp.
KINDS = [one_bit, through_a_mapping, pytest.param(all_ones, marks=pytest.mark.all_only)]


CONNECTIONS = 2


def unlisted_and_listed(number):
    """LISTED is one of five. The others are unlisted senders, each another, so that each looks at other spoiled bits."""
    return (LISTED if count % 5 == 0 else f"unlisted{count}@example.net"
            for count in itertools.count(number, CONNECTIONS))


def flow(gateway):
    return Traffic(gateway, unlisted_and_listed, CONNECTIONS)


def place_and_mark(delivery):
    return delivery.place, (delivery.marks or [""])[0]


@pytest.mark.parametrize("spoil", KINDS, ids=lambda kind: kind.__name__)
def test_a_whitelist_written_to_in_place_lists_no_sender_from_then_on(start_gateway, record_property, spoil):
    # 2 MB. Without rechecks: what is seen here is seen at once.
    gateway = start_gateway([LISTED], "--expected-entries", "2000000", settings={"recheck-rate": "0"})
    with flow(gateway) as flowing:
        flowing.wait_for_more(20)
        written = time.monotonic()
        spoil(gateway.config.whitelist)
        done = time.monotonic()
        gateway.daemon.logged("damaged: ")
        noticed = time.monotonic()
        flowing.wait_for_more(40)
        gateway.daemon.reload(REFUSED)
        flowing.wait_for_more(40)
    deliveries = gateway.deliveries(flowing.sent)
    waved_through = [delivery for delivery in deliveries
                     if delivery.message.path != LISTED and delivery.place != DEEP_CHECK]
    begun_after = {queue_id for _, queue_id in flowing.sent_since(done)}
    after = [delivery for delivery in deliveries if delivery.queue_id in begun_after]
    record_property("sent", len(deliveries))
    record_property("strangers_delivered", len(waved_through))
    print(f"{spoil.__name__}: {len(deliveries)} messages, {len(waved_through)} strangers delivered; "
          f"written in {(done - written) * 1000:.1f} ms, in the log {(noticed - done) * 1000:.1f} ms later")
    assert waved_through == []
    assert len(after) >= 80
    assert {delivery.place for delivery in after} == {DEEP_CHECK}
    assert all(delivery.marks[0].startswith(DAMAGED) for delivery in after)

    # A good file in its place ends the fault. 'bloomgate build' refuses to replace a file that is no longer a filter.
    good = gateway.config.whitelist.with_name("good.bloom")
    build_filter_of(good, [LISTED])
    os.replace(good, gateway.config.whitelist)
    gateway.daemon.reload(RELOADED)
    assert_it_serves(gateway)


def test_a_renamed_or_removed_whitelist_serves_until_another_in_its_place_is_loaded(start_gateway):
    gateway = start_gateway([LISTED], "--expected-entries", "2000000", settings={"recheck-rate": "100G"})
    whitelist = gateway.config.whitelist
    with flow(gateway) as flowing:
        flowing.wait_for_more(10)
        whitelist.chmod(0o600)
        whitelist.rename(whitelist.with_suffix(".old"))
        flowing.wait_for_more(10)
        whitelist.with_suffix(".old").unlink()
        flowing.wait_for_more(10)
        before = len(gateway.daemon.log())
        build_filter_of(whitelist, [LISTED, "other@example.org"])
        gateway.daemon.logged(RELOADED, before)
        flowing.wait_for_more(10)
    deliveries = gateway.deliveries(flowing.sent)
    for delivery in deliveries:
        assert delivery.place == (LIGHT_PATH if delivery.message.path == LISTED else DEEP_CHECK)
    assert gateway.send(Message("other@example.org"))[0].place == LIGHT_PATH
    assert "damaged" not in gateway.daemon.log()


def test_a_bit_that_goes_bad_without_a_sign_is_found_in_the_background(start_gateway, silent_writer):
    # A MiB each 36 ms.
    gateway = start_gateway([LISTED], "--expected-entries", "8000000", settings={"recheck-rate": "100G"})
    flip = silent_writer(gateway.config.whitelist, HEADER_BYTES + 7_000_000)
    gateway.daemon.restart({"recheck-rate": "100G"})
    assert gateway.send(Message(LISTED))[0].place == LIGHT_PATH
    flip()
    start = time.monotonic()
    wait_until(lambda: re.search("damaged: .* is not what it was", gateway.daemon.log()),
               "the daemon to find the bit")
    print(f"found after {time.monotonic() - start:.2f} s")
    place, mark = place_and_mark(gateway.send(Message(LISTED))[0])
    assert place == DEEP_CHECK and mark.startswith(DAMAGED)


@pytest.fixture
def silent_writer():
    """flip = silent_writer(path, offset): flips a bit of the file when called, and changes neither its times nor
    wakes a program that watches it: its page is mapped for writing, and has been written to before."""
    mapped = []

    def start(path, offset):
        with path.open("r+b") as file:
            memory = mmap.mmap(file.fileno(), 0)
        mapped.append(memory)

        def flip():
            memory[offset] ^= 1
        flip()
        flip()
        return flip
    yield start
    for memory in mapped:
        memory.close()
