"""A listed sender and a neighbour at the same domain cannot be told apart from outside by a message that proves nothing:
the name server is asked for the same keys, and the body is hashed. The domain is known by the whitelist, which keeps the
domains of its senders."""

import subprocess

import pytest
from dkim_world import ATTACKER, key, names
from mail_world import content
from private_mail.client import RawMessage
from private_mail.filter import build_filter_of, built
from private_mail.gateway import GatewayConfig
from private_mail.processes import temporary_folder

LISTED, NEIGHBOUR, REVOKED = "listed@example.org", "neighbour@example.org", "revoked@example.org"
ELSEWHERE = "somebody@other.example"


class World:
    def __init__(self, gateways):
        folder = gateways.enter(temporary_folder("neighbours"))
        self.names, network = gateways.enter(names(folder))
        build_filter_of(folder / "whitelist.bloom", [LISTED], "--bits-per-entry", "32")
        (folder / "revoked").write_text(f"{REVOKED}\n")
        self.gateway = gateways.start(folder, GatewayConfig(folder / "whitelist.bloom", network=network, settings={
            "authentication": "required", "dns-servers": self.names.option, "mark-tells-why": "no",
            "revoked": folder / "revoked"}))
        self.numbers = iter(range(1000))

    def worthless(self, sender):
        """What follows from a message with a worthless signature of the sender's domain: the names that are asked, less
        its number, the outcome that the log has, and the mark."""
        domain = sender.partition("@")[2]
        selector = f"never-heard-of-{next(self.numbers)}"
        before = len(self.names.questions())
        raw = key(selector, domain, ATTACKER.private).sign(content(sender))
        [delivery] = self.gateway.send(RawMessage(sender, raw=raw))
        [line] = self.gateway.daemon.lines_of(delivery.queue_id)
        found = line.partition(" dkim=")[2].partition(" ")[0]
        asked = [name.replace(selector, "selector") for name in self.names.questions()[before:]]
        return asked, found, delivery.marks


@pytest.fixture(scope="module")
def world(start_shared_gateway):
    return World(start_shared_gateway)


def test_a_worthless_signature_of_a_listed_domain_has_its_key_looked_up_whoever_the_sender_is(world):
    asked, found, [mark] = world.worthless(LISTED)
    assert (asked, found) == (["selector._domainkey.example.org"], "key-not-found")
    assert mark.startswith("check; reason=not-proven;")
    assert world.worthless(NEIGHBOUR) == (asked, found, [mark])
    asked_for_revoked, found_for_revoked, _ = world.worthless(REVOKED)
    assert (asked_for_revoked, found_for_revoked) == (asked, found)


def test_no_key_is_looked_up_of_a_domain_without_a_listed_address(world):
    asked, found, _ = world.worthless(ELSEWHERE)
    assert (asked, found) == ([], "")


TRIES = 150


@pytest.fixture(scope="module")
def stranger(start_shared_gateway):
    """The attacker's own domain is unlisted, and the bits have one address of seven by chance."""
    folder = start_shared_gateway.enter(temporary_folder("stranger"))
    their_names, network = start_shared_gateway.enter(names(folder))
    listed = [f"user{i}@domain{i % 20}.example" for i in range(20_000)]
    for name, options in {"whitelist.bloom": [], "bits-alone.bloom": ["--no-sender-domains"]}.items():
        build_filter_of(folder / name, listed, "--bits-per-entry", "4", *options)
    gateway = start_shared_gateway.start(folder, GatewayConfig(folder / "whitelist.bloom", network=network, settings={
        "authentication": "required", "dns-servers": their_names.option, "mark-tells-why": "no"}))
    return folder, their_names, gateway


def found_in(filter_file, addresses):
    command = [built("filter/cli/bloomgate"), "query", filter_file, "--listed", *addresses]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return [line.partition("\t")[2] for line in done.stdout.splitlines()]


def test_the_owner_of_an_unlisted_domain_is_never_asked_and_never_delivered_however_often_he_tries(stranger):
    folder, their_names, gateway = stranger
    tries = [f"try{i}@attacker.example" for i in range(TRIES)]
    by_chance = found_in(folder / "bits-alone.bloom", tries)
    assert len(by_chance) > 5  # he would have drawn these
    assert found_in(folder / "whitelist.bloom", tries) == []
    before = len(their_names.questions())
    worthless = [RawMessage(sender, raw=key(f"s{i}", "attacker.example").sign(content(sender)))
                 for i, sender in enumerate(tries)]
    signed = [RawMessage(sender, raw=ATTACKER.sign(content(sender))) for sender in by_chance]
    deliveries = gateway.send(*worthless, *signed)
    assert {delivery.marks[0].partition(";")[0] for delivery in deliveries} == {"check"}
    assert len({delivery.marks[0] for delivery in deliveries}) == 1
    assert their_names.questions()[before:] == []
