"""A whitelist whose hits a store confirms: no false positive is delivered, and nothing that goes wrong with the store
delivers anybody either."""

import re
import subprocess
import threading

import pytest
from conftest import UNLISTED
from private_mail.client import Message
from private_mail.filter import build_filter, built
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH, GatewayConfig
from private_mail.processes import temporary_folder, wait_until

# So few bits that one unlisted sender in seven is a false positive.
SHAPE = ("--bits-per-entry", "2", "--hashes", "1", "--no-sender-domains")
ADDRESSES = [f"listed{number}@example.org" for number in range(5000)]
LISTED = ADDRESSES[0]
STRANGERS = [f"stranger{number}@example.net" for number in range(400)]
HEADER_BYTES = PAGE_BYTES = 4096  # FORMAT.md
LOADED = "loaded .* confirmed by"
MARK = "; host=mx.example.net; identity=envelope; authentication=none; whitelist=whitelist"


class Pair:
    """A filter and its store, in a folder of their own."""

    def __init__(self, folder):
        self.filter, self.store = folder / "whitelist.bloom", folder / "whitelist.store"

    def build(self):
        """Both anew, as an operator does it, with a seed of their own."""
        listed = self.filter.with_suffix(".txt")
        listed.write_text("".join(f"{address}\n" for address in ADDRESSES), encoding="utf-8")
        build_filter(self.filter, listed, *SHAPE, "--store", self.store)
        self.store.chmod(0o644)

    def found_by_bits(self, addresses):
        listed = self.filter.with_suffix(".queried")
        listed.write_text("".join(f"{address}\n" for address in addresses), encoding="utf-8")
        done = subprocess.run([built("filter/cli/bloomgate"), "query", self.filter, "--list", listed, "--listed"],
                              capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
        return [word for word in done.stdout.split() if "@" in word]


@pytest.fixture
def start(start_gateway):
    """gateway, pair = start(is_confirmed=…, **settings)"""
    def start_with_pair(is_confirmed=True, **settings):
        folder = start_gateway.enter(temporary_folder("confirm"))
        pair = Pair(folder)
        pair.build()
        if is_confirmed:
            settings["confirm"] = pair.store
        return start_gateway.start(folder, GatewayConfig(pair.filter, settings=settings)), pair
    return start_with_pair


def places_and_marks(deliveries):
    return [(delivery.place, delivery.marks[0]) for delivery in deliveries]


def test_false_positives_are_delivered_without_a_store_and_checked_with_it(start):
    gateway, pair = start(is_confirmed=False)
    false_positives = pair.found_by_bits(STRANGERS)
    assert 20 < len(false_positives) < 120
    messages = [Message(sender) for sender in [LISTED, *false_positives[:10]]]
    assert {place for place, _ in places_and_marks(gateway.send(*messages))} == {LIGHT_PATH}

    gateway.daemon.restart({"confirm": pair.store})
    deliveries = gateway.send(*messages, Message(UNLISTED))
    listed, *others = places_and_marks(deliveries)
    assert listed == (LIGHT_PATH, f"deliver; reason=listed{MARK}; confirmed=yes")
    assert {place for place, _ in others} == {DEEP_CHECK}
    assert {mark for _, mark in others} == {"check; reason=not-listed; host=mx.example.net; identity=envelope"}
    lines = [gateway.daemon.lines_of(delivery.queue_id)[0] for delivery in deliveries]
    assert re.search("reason=listed .* confirmed=yes confirm_us=[0-9.]+$", lines[0])
    for line in lines[1:11]:
        assert re.search("reason=not-listed .* confirmed=no confirm_us=[0-9.]+$", line)


def test_with_a_damaged_page_or_a_store_that_is_cut_off_no_mail_is_delivered(start):
    gateway, pair = start()
    # Before the daemon opens it, so that the file is not written to in place.
    with pair.store.open("r+b") as file:
        file.seek(HEADER_BYTES + 100)
        byte = file.read(1)[0]
        file.seek(HEADER_BYTES + 100)
        file.write(bytes([byte ^ 1]))
    gateway.daemon.restart({"confirm": pair.store})
    deliveries = places_and_marks(gateway.send(*(Message(sender) for sender in ADDRESSES[:60])))
    good, bad = (LIGHT_PATH, f"deliver; reason=listed{MARK}; confirmed=yes"), (
        DEEP_CHECK, f"check; reason=confirm-damaged{MARK}")
    assert set(deliveries) == {good, bad}
    gateway.daemon.logged("damaged: .* has a bad page")

    # What is written to in place while it is in use is damaged as a whole.
    with pair.store.open("r+b") as file:
        file.truncate(HEADER_BYTES + PAGE_BYTES)
    gateway.daemon.logged("has a store that was changed in place")
    deliveries = places_and_marks(gateway.send(Message(LISTED), Message(ADDRESSES[7])))
    assert deliveries == [(DEEP_CHECK, "check; reason=whitelist-damaged; host=mx.example.net")] * 2

    pair.build()
    gateway.daemon.reload(LOADED)
    assert places_and_marks(gateway.send(Message(LISTED))) == [good]


def test_a_pair_is_swapped_under_mail_and_never_one_of_the_two(start):
    """Each build has another seed, so that a filter beside another's store would find no sender."""
    gateway, pair = start()
    messages, errors, ending = [], [], threading.Event()

    def send():
        try:
            with gateway.connect() as client:
                while not ending.is_set():
                    sender = ADDRESSES[len(messages) % 100] if len(messages) % 2 else STRANGERS[len(messages) % 100]
                    messages.append((Message(sender), client.send(Message(sender))))
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        for _ in range(6):
            pair.build()
            gateway.daemon.reload(LOADED)
        wait_until(lambda: len(messages) > 200 or errors, "200 messages to be sent")
    finally:
        ending.set()
        thread.join()
    assert errors == []
    for delivery in gateway.deliveries(messages):
        is_listed = delivery.message.path in ADDRESSES
        assert delivery.place == (LIGHT_PATH if is_listed else DEEP_CHECK), delivery.marks
    assert "refused" not in gateway.daemon.log()
