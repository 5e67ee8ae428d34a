"""A listed sender and a neighbour at the same domain cannot be told apart from outside by a message that proves nothing:
the name server is asked for the same keys, and the body is hashed. Here the domain is known by the operator's list `extra`;
the whitelist keeps no domains of its addresses."""

import pytest
from dkim_world import ATTACKER, key, names
from mail_world import content
from private_mail.client import RawMessage
from private_mail.filter import build_filter_of
from private_mail.gateway import GatewayConfig
from private_mail.processes import temporary_folder

LISTED, NEIGHBOUR, REVOKED = "listed@example.org", "neighbour@example.org", "revoked@example.org"
ELSEWHERE = "somebody@other.example"


class World:
    def __init__(self, gateways):
        folder = gateways.enter(temporary_folder("neighbours"))
        self.names, network = gateways.enter(names(folder))
        build_filter_of(folder / "whitelist.bloom", ["somebody@else.example"], "--bits-per-entry", "32")
        (folder / "extra").write_text(f"{LISTED}\n")
        (folder / "revoked").write_text(f"{REVOKED}\n")
        self.gateway = gateways.start(folder, GatewayConfig(folder / "whitelist.bloom", network=network, settings={
            "authentication": "required", "dns-servers": self.names.option, "mark-tells-why": "no",
            "extra": folder / "extra", "revoked": folder / "revoked"}))
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
