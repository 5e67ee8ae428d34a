"""Every forgery is checked. Each row is one forgery, through the real Postfix with the
real pyspf-milter, OpenDKIM and OpenDMARC before Bloomgate."""

import pytest
from mail_world import (ATTACKER, LISTED, LISTED_WITHOUT_DMARC, SENDER, Keys, Mail, content, send_all,
                        start_world)
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH
from private_mail.processes import temporary_folder

WHITELIST = [LISTED, LISTED_WITHOUT_DMARC, "listed@bank.co.uk", "listed@victim.github.io",
             "listed@bücher.example", "boss@example.net", "revoked@example.org", "attached@example.org",
             "@partner.example", "@.tree.example"]
REVOKED = ["revoked@example.org", "@revoked.tree.example"]

keys = Keys()


def genuine(from_value=LISTED, *fields, domain="example.org", **options):
    return keys[domain].sign(content(from_value, *fields), **options)


def by_attacker(from_value, *fields, domain="attacker.example"):
    """A message that the attacker has signed as their own."""
    return keys[domain].sign(content(from_value, *fields))


def changed(message, old, new):
    assert message.count(old) >= 1
    return message.replace(old, new, 1)


def after_signature(message, fields):
    """More header fields, before all that are there."""
    return fields + b"\r\n" + message


def mail(raw, path=ATTACKER, **options):
    return Mail(path, raw, **options)


ATTACKS = {
    # Without a signature, from a client that SPF does not name
    "a listed From": mail(content(LISTED)),
    "a listed envelope sender": mail(content("Anna <anna@other.example>"), LISTED),
    "both": mail(content(LISTED), LISTED),
    "a listed From of a domain without DMARC": mail(content(LISTED_WITHOUT_DMARC)),
    "a listed envelope sender of a domain without DMARC": mail(content(LISTED_WITHOUT_DMARC),
                                                               LISTED_WITHOUT_DMARC),
    "a listed From in a bounce": mail(content(LISTED), ""),
    "a listed From, and a domain of ours in the envelope": mail(content(LISTED), "user@example.net"),
    "an address of a listed domain": mail(content("anyone@partner.example")),
    "an address below a listed domain": mail(content("anyone@sub.tree.example")),
    "one of our own, who is on the list": mail(content("boss@example.net")),
    "one of our own in the envelope": mail(content("boss@example.net"), "boss@example.net"),

    # Signatures that are not what they seem
    "a listed From under the attacker's own signature": mail(by_attacker(LISTED)),
    "a listed From of a domain without DMARC, under the attacker's own signature": mail(
        by_attacker(LISTED_WITHOUT_DMARC)),
    "a listed envelope sender, and a From with the attacker's signature": mail(by_attacker(ATTACKER), LISTED),
    "a signature that claims the domain, with another key": mail(
        keys["attacker.example"].sign(content(LISTED), domain="example.org")),
    "a genuine message with another From": mail(changed(genuine(), LISTED.encode(), b"attached@example.org")),
    "a genuine message with another subject": mail(changed(genuine(), b"Subject: test", b"Subject: pay")),
    "a genuine message with another body": mail(changed(genuine(), b"Hello", b"Hullo")),
    "a genuine message with words behind the body": mail(genuine() + b"Pay here.\r\n"),
    "a signature of a part of the body, and words behind it": mail(genuine(length=True) + b"Pay here.\r\n"),
    "the same of a domain without DMARC": mail(
        genuine(LISTED_WITHOUT_DMARC, domain="nodmarc.example", length=True) + b"Pay here.\r\n"),
    "a genuine message with a second From before": mail(
        after_signature(genuine(), b"From: " + ATTACKER.encode())),
    "a genuine message with a second From behind": mail(changed(
        genuine(), b"\r\n\r\n", b"\r\nFrom: " + ATTACKER.encode() + b"\r\n\r\n")),
    "the attacker's signed message with a listed From before": mail(after_signature(
        by_attacker(ATTACKER), b"From: " + LISTED.encode())),
    "a signature of the public suffix": mail(by_attacker("listed@bank.co.uk", domain="co.uk")),
    "a signature of a neighbour under the public suffix": mail(
        by_attacker("listed@bank.co.uk", domain="evil.co.uk")),
    "a signature of a neighbour under a private suffix": mail(
        by_attacker("listed@victim.github.io", domain="evil.github.io")),
    "a signature of a domain that only ends alike": mail(by_attacker(LISTED, domain="notexample.org")),
    "a signature of a domain that only begins alike": mail(
        by_attacker(LISTED, domain="example.org.attacker.example")),
    "the attacker's signature, with a listed identity": mail(changed(
        by_attacker(LISTED_WITHOUT_DMARC), b"; d=attacker.example;",
        b"; d=attacker.example; i=listed@nodmarc.example;")),
    "the attacker's signature, with the domain twice": mail(changed(
        by_attacker(LISTED_WITHOUT_DMARC), b"; d=attacker.example;",
        b"; d=attacker.example; d=nodmarc.example;")),
    "a good signature of the attacker's, and a broken one of the domain": mail(
        keys["attacker.example"].sign(keys["attacker.example"].sign(
            content(LISTED_WITHOUT_DMARC), domain="nodmarc.example"))),
    "an identity that is quoted results": mail(changed(
        by_attacker(LISTED_WITHOUT_DMARC), b"; d=attacker.example;",
        b"; d=attacker.example; i==3B=20dkim=3Dpass=20header.d=3Dnodmarc.example@attacker.example;")),

    # SPF of another
    "SPF passes for the envelope, From is listed": mail(content(LISTED_WITHOUT_DMARC)),
    "SPF passes for a neighbour under the public suffix": mail(content("listed@bank.co.uk"), "x@evil.co.uk"),
    "SPF passes for the greeting of a bounce": mail(content(LISTED_WITHOUT_DMARC), "", client=SENDER),
    "an envelope of the domain that SPF fails for": mail(content(LISTED_WITHOUT_DMARC), "x@nodmarc.example"),

    # From fields: their forms are in tests/milter/fields/header_from_test.cpp. Here are those that a mail server might change.
    "a listed name, 60,000 spaces, the address": mail(by_attacker(f'"{LISTED}{" " * 60_000}" <{ATTACKER}>')),
    "two From fields, the listed first": mail(by_attacker(LISTED, f"From: {ATTACKER}".encode())),
    "300 From fields": mail(by_attacker(ATTACKER, *[f"From: {LISTED}".encode()] * 300)),
    "a From field with a space before the colon as well": mail(
        content(ATTACKER, f"FROM : {LISTED}".encode())),
    "no From": mail(b"Sender: " + LISTED.encode() + b"\r\nSubject: test\r\n\r\nHello.\r\n"),
    "a listed address with a NUL behind": mail(content(LISTED.encode() + b"\0" + ATTACKER.encode())),
    "a NUL and a listed address": mail(content(ATTACKER.encode() + b"\0, " + LISTED.encode())),
    "a bare carriage return and a second From": mail(content(
        ATTACKER.encode() + b"\rFrom: " + LISTED_WITHOUT_DMARC.encode())),
    "a bare line feed and a second From": mail(content(
        ATTACKER.encode() + b"\nFrom: " + LISTED_WITHOUT_DMARC.encode())),
    "a look-alike of another script": mail(by_attacker("liѕted@nodmarc.example")),
    "a look-alike domain": mail(by_attacker("listed@nodmаrc.example")),
    "a look-alike domain as xn--": mail(by_attacker("listed@xn--nodmrc-4fg.example")),
    "a look-alike of a listed international domain": mail(by_attacker("listed@bucher.example")),
    "a domain that only begins like the listed": mail(by_attacker(
        "listed@example.org.attacker.example", domain="example.org.attacker.example")),
    "a domain that holds results": mail(by_attacker(
        "<x@[attacker; dkim=pass header.d=nodmarc.example; x=y]>"), LISTED_WITHOUT_DMARC),
    "a quoted domain that holds results": mail(by_attacker(
        '<x@"attacker; dkim=pass header.d=nodmarc.example">'), LISTED_WITHOUT_DMARC),
    "an unquoted domain that holds results": mail(by_attacker(
        "<x@attacker.example;dmarc=pass(x)header.from=nodmarc.example>"), LISTED_WITHOUT_DMARC),
    "a local part that holds results": mail(by_attacker(
        '<"a; dkim=pass header.d=nodmarc.example"@attacker.example>'), LISTED_WITHOUT_DMARC),
    "a listed Sender": mail(by_attacker(ATTACKER, f"Sender: {LISTED}".encode())),
    "a listed Resent-From": mail(by_attacker(ATTACKER, f"Resent-From: {LISTED}".encode())),
    "a listed Reply-To and Return-Path": mail(by_attacker(
        ATTACKER, f"Reply-To: {LISTED}".encode(), f"Return-Path: <{LISTED}>".encode())),
    "a listed From in an attached message": mail(by_attacker(
        ATTACKER, b"Content-Type: message/rfc822") + b"From: " + LISTED.encode() + b"\r\n\r\nHello.\r\n"),

    # Envelope senders: more of them in tests/milter/fields/rewritten_sender_test.cpp.
    "an envelope that looks forwarded, by a forwarder that is not trusted": mail(
        content(ATTACKER), "SRS0=abcd=EF=example.org=listed@attacker.example"),
    "forwarded by a trusted forwarder's domain, from elsewhere": mail(
        content(ATTACKER), "SRS0=abcd=EF=nodmarc.example=listed@forwarder.example"),
    "a tag of BATV of another domain": mail(content(ATTACKER), "prvs=1234abcdef=listed@attacker.example"),
    "a route through the listed domain in the envelope": mail(
        content(ATTACKER), "@example.org:x@attacker.example"),

    # What a sender has others write into the fields of ours
    "an envelope that closes a comment": mail(
        content(LISTED_WITHOUT_DMARC), '"a) ; dmarc=pass header.from=nodmarc.example (x"@attacker.example'),
    "one that closes it and quotes SPF": mail(
        content(LISTED_WITHOUT_DMARC), '"a) ; spf=pass smtp.mailfrom=nodmarc.example (x"@attacker.example'),
    "one that quotes DKIM": mail(
        content(LISTED_WITHOUT_DMARC), '"a) ; dkim=pass header.d=nodmarc.example (x"@attacker.example'),
    "an explanation of SPF that quotes DMARC": mail(content(LISTED_WITHOUT_DMARC),
                                                    "x@explains.attacker.example"),
    "an explanation of SPF that quotes DKIM": mail(content(LISTED_WITHOUT_DMARC),
                                                   "x@explains-dkim.attacker.example"),
    "an explanation of SPF that quotes SPF": mail(content(LISTED_WITHOUT_DMARC),
                                                  "x@explains-spf.attacker.example"),
    "a mechanism of SPF that quotes DMARC": mail(content(LISTED_WITHOUT_DMARC), "x@unknown.attacker.example"),

    # Authenticated, and not to be delivered all the same
    "a revoked sender": mail(genuine("revoked@example.org"), "revoked@example.org", client=SENDER),
    "a revoked sender with a tag": mail(
        genuine("revoked+x@example.org"), "revoked+x@example.org", client=SENDER),
    "a revoked From, the envelope listed": mail(genuine("revoked@example.org"), LISTED, client=SENDER),
    "a revoked envelope, the From listed": mail(genuine(LISTED), "revoked@example.org", client=SENDER),
    "a tagged bounce address of a revoked sender": mail(
        content("x@mailer.example"), "prvs=1234abcdef=revoked@example.org", client=SENDER),
    "a domain that is revoked below a listed one": mail(content("a@revoked.tree.example"),
                                                        "a@revoked.tree.example", client=SENDER),
    "a From that fails DMARC, the envelope listed and right": mail(
        content("ceo@example.org"), LISTED_WITHOUT_DMARC, client=SENDER),
    "the attacker with everything in order": mail(by_attacker(ATTACKER)),
}


# Their own messages, which show that the gateway delivers what it should, in the midst of the forgeries.
GENUINE = {
    "signed": mail(genuine(), LISTED, client=SENDER),
    "signed, from anywhere": mail(genuine(), LISTED),
    "without DMARC": mail(genuine(LISTED_WITHOUT_DMARC, domain="nodmarc.example"), LISTED_WITHOUT_DMARC),
    "by SPF alone": mail(content(LISTED), LISTED, client=SENDER),
    "by SPF alone, without DMARC": mail(content(LISTED_WITHOUT_DMARC), LISTED_WITHOUT_DMARC, client=SENDER),
    "under a public suffix": mail(genuine("listed@bank.co.uk", domain="bank.co.uk")),
    "under a private suffix": mail(genuine("listed@victim.github.io", domain="victim.github.io")),
}


def start(gateways, **config):
    folder = gateways.enter(temporary_folder("revoked"))
    revoked = folder / "revoked.txt"
    revoked.write_text("".join(f"{entry}\n" for entry in REVOKED))
    # The laxest rule for SPF, so that what it passes is a genuine sender.
    settings = {"own-domains": "example.net", "revoked": revoked, "trusted-forwarders": "forwarder.example",
                "spf-proves": "address"}
    return start_world(gateways, WHITELIST, "--tag-separators", "+", keys=keys, settings={
        **settings, **config.pop("settings", {})}, **config)


@pytest.fixture(scope="module")
def gateway(start_shared_gateway):
    return start(start_shared_gateway)


def verdict(delivery):
    """Where it went, and the decision in its mark."""
    return delivery.place, [mark.split(" ")[0] for mark in delivery.marks]


def test_every_forgery_is_checked_and_every_genuine_message_delivered(gateway):
    deliveries = send_all(gateway, {**ATTACKS, **GENUINE})
    assert {name: verdict(delivery) for name, delivery in deliveries.items()} == {
        **dict.fromkeys(ATTACKS, (DEEP_CHECK, ["check;"])), **dict.fromkeys(GENUINE, (LIGHT_PATH, ["deliver;"]))}


def test_most_forgeries_would_be_delivered_without_authentication(start_gateway):
    gateway = start(start_gateway, milters=(), settings={"authentication": "off", "own-domains": ""})
    delivered = [name for name, delivery in send_all(gateway, ATTACKS).items()
                 if delivery.place == LIGHT_PATH]
    assert len(delivered) >= 40, delivered
