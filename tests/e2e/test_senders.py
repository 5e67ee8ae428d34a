"""One mailbox has many spellings, and the mail server may change a path before the daemon sees it. The spellings
themselves are in tests/filter/address: here is one of each kind that a mail server could treat in its own way."""

import pytest
from private_mail.client import Message
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH

WHITELIST = ["joe.doe@example.org", "info@bücher.example", "jörg@example.org", '"two words"@example.org',
             "user@[192.0.2.1]", "j..doe@example.org", "docomo.@example.org",
             "list-return-1680-some-reader-with-quite-a-long-name=mailbox.example.org@example.org"]

LISTED = {
    "mixed case": Message("Joe.Doe@Example.Org"),
    "an escaped character in quotes": Message('"j\\oe.doe"@example.org'),
    "a source route": Message("@relay.example,@other.example:joe.doe@example.org"),
    "an international domain in UTF-8": Message("info@BÜCHER.example", smtputf8=True),
    "an international domain as XN--": Message("info@XN--BCHER-KVA.example"),
    "an international local part, decomposed": Message("jo\u0308rg@example.org", smtputf8=True),
    "a local part that needs quotes": Message('"two words"@example.org'),
    "an address literal": Message("user@[192.0.2.1]"),
    "two dots in a row": Message("j..doe@example.org"),
    "two dots in a row, in quotes": Message('"J..Doe"@example.org'),
    "a dot before the at sign, behind a source route": Message("@relay.example:docomo.@example.org"),
    "more than 64 octets before the at sign": Message(
        "List-Return-1680-Some-Reader-with-quite-a-long-name=Mailbox.example.org@example.org"),
}

UNLISTED = {
    "another local part": Message("jane.doe@example.org"),
    "a domain below": Message("joe.doe@mail.example.org"),
    "the listed address as a local part": Message('"joe.doe@example.org"@example.com'),
    "a listed address in the source route only": Message("@example.org:joe.doe@example.com"),
    "a dot less": Message("j.doe@example.org"),
    "a dot more": Message("j...doe@example.org"),
    "a look-alike of another script": Message("jоe.doe@example.org", smtputf8=True),
    "without a domain": Message("joe.doe"),
    "longer than an address may be": Message("a" * 64 + "@" + ".".join(["b" * 60] * 4) + ".example"),
}
WANTED = {**dict.fromkeys(LISTED, LIGHT_PATH), **dict.fromkeys(UNLISTED, DEEP_CHECK)}


@pytest.fixture(scope="module")
def gateway(start_shared_gateway):
    return start_shared_gateway(WHITELIST, "--bits-per-entry", "32")


def test_postfix_hands_on_every_spelling_so_that_the_mailbox_is_found_and_no_other(gateway):
    deliveries = gateway.send(*LISTED.values(), *UNLISTED.values())
    assert dict(zip(WANTED, (delivery.place for delivery in deliveries))) == WANTED


def test_a_sender_cannot_write_lines_of_the_log(gateway):
    [delivery] = gateway.send(Message('"a\\\x1b[2J\x07 decision=deliver"@example.org'))
    [line] = gateway.daemon.lines_of(delivery.queue_id)
    assert delivery.place == DEEP_CHECK
    assert line.isprintable()
