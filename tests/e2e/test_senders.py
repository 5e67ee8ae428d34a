"""One mailbox has many spellings; an MTA may send any of them."""

import pytest
from private_mail.client import Message
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH

WHITELIST = ["joe.doe@example.org", "info@bücher.example", "jörg@example.org", '"two words"@example.org',
             "user@[192.0.2.1]", "tag+one@example.org", "j..doe@example.org", '".anna"@example.org', "docomo.@example.org",
             "list-return-1680-some-reader-with-quite-a-long-name=mailbox.example.org@example.org"]

LISTED = {
    "as listed": Message("joe.doe@example.org"),
    "upper case": Message("JOE.DOE@EXAMPLE.ORG"),
    "mixed case": Message("Joe.Doe@Example.Org"),
    "quotes that are not needed": Message('"joe.doe"@example.org'),
    "an escaped character in quotes": Message('"j\\oe.doe"@example.org'),
    "a source route": Message("@relay.example,@other.example:joe.doe@example.org"),
    "international domain in UTF-8": Message("info@bücher.example", smtputf8=True),
    "international domain in capitals": Message("info@BÜCHER.example", smtputf8=True),
    "international domain as xn--": Message("info@xn--bcher-kva.example"),
    "international domain as XN--": Message("info@XN--BCHER-KVA.example"),
    "international domain, decomposed": Message("info@bu\u0308cher.example", smtputf8=True),
    "international local part": Message("jörg@example.org", smtputf8=True),
    "international local part, decomposed": Message("jo\u0308rg@example.org", smtputf8=True),
    "a local part that needs quotes": Message('"two words"@example.org'),
    "an address literal": Message("user@[192.0.2.1]"),
    "a tag": Message("tag+one@example.org"),
    "two dots in a row": Message("j..doe@example.org"),
    "two dots in a row, in quotes": Message('"J..Doe"@example.org'),
    "a dot first, listed in quotes": Message(".anna@example.org"),
    "a dot before the at sign": Message("DOCOMO.@example.org"),
    "a dot before the at sign, behind a source route": Message("@relay.example:docomo.@example.org"),
    "more than 64 octets before the at sign": Message(
        "List-Return-1680-Some-Reader-with-quite-a-long-name=Mailbox.example.org@example.org"),
}

UNLISTED = {
    "another local part": Message("jane.doe@example.org"),
    "another domain": Message("joe.doe@example.com"),
    "a domain below": Message("joe.doe@mail.example.org"),
    "a domain above": Message("joe.doe@org"),
    "a domain that only ends alike": Message("joe.doe@notexample.org"),
    "the listed address as a local part": Message('"joe.doe@example.org"@example.com'),
    "a listed address in the source route only": Message("@example.org:joe.doe@example.com"),
    "a dot less": Message("joedoe@example.org"),
    "a dot less of two": Message("j.doe@example.org"),
    "a dot more": Message("j...doe@example.org"),
    "without the dot before the at sign": Message("docomo@example.org"),
    "a comment beside dots": Message("j..doe(c)@example.org"),
    "another tag": Message("tag+two@example.org"),
    "a look-alike of another script": Message("jоe.doe@example.org", smtputf8=True),
    "without a domain": Message("joe.doe"),
    "another address literal": Message("user@[192.0.2.2]"),
    "longer than an address may be": Message("a" * 64 + "@" + ".".join(["b" * 60] * 4) + ".example"),
}


@pytest.fixture(scope="module")
def gateway(start_shared_gateway):
    return start_shared_gateway(WHITELIST, "--bits-per-entry", "32")


@pytest.mark.parametrize("spelling", LISTED)
def test_a_listed_mailbox_is_found_in_every_spelling(gateway, spelling):
    [delivery] = gateway.send(LISTED[spelling])
    assert delivery.place == LIGHT_PATH, delivery.marks


@pytest.mark.parametrize("sender", UNLISTED)
def test_nothing_else_is_found(gateway, sender):
    [delivery] = gateway.send(UNLISTED[sender])
    assert delivery.place == DEEP_CHECK, delivery.marks


def test_a_sender_cannot_write_lines_of_the_log(gateway):
    [delivery] = gateway.send(Message('"a\\\x1b[2J\x07 decision=deliver"@example.org'))
    [line] = gateway.daemon.lines_of(delivery.queue_id)
    assert delivery.place == DEEP_CHECK
    assert line.isprintable()
