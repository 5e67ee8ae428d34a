"""Honest mail of listed senders is delivered, in all its forms. Mail that is still checked has its documented
reason here."""

import pytest
from mail_world import (LISTED, LISTED_WITHOUT_DMARC, SENDER, STRANGER, Keys, Mail, content, send_all,
                        start_world)
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH

WHITELIST = [LISTED, LISTED_WITHOUT_DMARC, "info@bücher.example", '"two words"@example.org',
             "jörg@example.org", "@partner.example", "@.tree.example", "docomo.@example.org", "j..doe@example.org",
             "list-return-1680-some-reader-with-quite-a-long-name=mailbox.example.org@example.org"]

keys = Keys()


def signed(from_value=LISTED, *fields, domain="example.org", path="bounce-17@mailer.example", above=b"", **options):
    """Signed by its author's domain, sent with an envelope of a mailing service's, from its server. above: what that
    server has put on top of it."""
    return Mail(path, above + keys[domain].sign(content(from_value, *fields), **options), client=SENDER)


def by_spf(path, from_value=None, **options):
    """Not signed: the client may send for the domain of the envelope."""
    return Mail(path, content(from_value or "Anna <anna@mailer.example>"), client=SENDER, **options)


def both(path, from_value, **options):
    return Mail(path, keys["example.org"].sign(content(from_value)), client=SENDER, **options)


DELIVERED = {
    # The envelope sender, authenticated by SPF
    "the envelope sender as listed": by_spf(LISTED),
    "in mixed case": by_spf("Listed@Example.Org"),
    "in quotes that are needed": by_spf('"two words"@example.org'),
    "with a dot before the at sign, in From too": by_spf("docomo.@example.org", "Anna <docomo.@example.org>"),
    "with two dots in a row": by_spf("j..doe@example.org"),
    "with more than 64 octets before the at sign": by_spf(
        "list-return-1680-some-reader-with-quite-a-long-name=mailbox.example.org@example.org"),
    "with a tag": by_spf("listed+news@example.org"),
    "with a tag of BATV": by_spf("prvs=1234abcdef=listed@example.org"),
    "with BATV and a tag": by_spf("prvs=1234abcdef=listed+news@example.org"),
    "international, as xn--": by_spf("info@xn--bcher-kva.example"),
    "international, as XN--": by_spf("info@XN--BCHER-KVA.EXAMPLE"),
    "of a listed domain": by_spf("anyone@partner.example"),
    "below a listed domain": by_spf("anyone@sub.tree.example"),
    "forwarded by whom we trust": by_spf("SRS0=abcd=EF=nodmarc.example=listed@forwarder.example",
                                         LISTED_WITHOUT_DMARC),
    "forwarded by two whom we trust": by_spf(
        "SRS1=abcd=forwarder.example==ghij=KL=nodmarc.example=listed@forwarder.example",
        LISTED_WITHOUT_DMARC),
    "forwarded by whom we trust, with its signature": both(
        "SRS0=abcd=EF=example.org=listed@forwarder.example", LISTED),

    # The From field, authenticated by a signature. Its forms are in tests/milter/fields/header_from_test.cpp.
    "a mailing service": signed(),
    "from any client at all": Mail(
        "x@attacker.example", keys["example.org"].sign(content(LISTED)), client=STRANGER),
    "a From in capitals": signed("LISTED@EXAMPLE.ORG"),
    "a name in quotes, with another address": signed(f'"anna@example.com" <{LISTED}>'),
    "an encoded name in Latin 1": signed(f"=?iso-8859-1?q?J=F6rg?= <{LISTED}>"),
    "a name in plain UTF-8": signed(f"Jörg Müller <{LISTED}>"),
    "comments within comments": signed(f"Anna (of (the) sales) <{LISTED}> (office)"),
    "a tag in From": signed("Anna <listed+news@example.org>"),
    "a From field in lower case": Mail("bounce@mailer.example", keys["example.org"].sign(
        content(LISTED).replace(b"From:", b"from:", 1)), client=SENDER),
    "a From of a listed domain": signed("Sales <sales@partner.example>", domain="partner.example"),
    "a From below a listed domain": signed("a@sub.tree.example", domain="sub.tree.example"),
    "an international From as xn--": signed("info@xn--bcher-kva.example", domain="xn--bcher-kva.example"),
    "an international From in UTF-8": signed("Info <info@bücher.example>", domain="xn--bcher-kva.example",
                                             path="bounce@mailer.example"),
    "a signature of a domain below": signed(LISTED_WITHOUT_DMARC, domain="nodmarc.example"),
    "an identity in the signature": signed(identity=b"anna@lists.example.org"),
    "signed by the author and by the service": Mail("bounce@mailer.example", keys["mailer.example"].sign(
        keys["example.org"].sign(content(LISTED))), client=SENDER),
    "a good signature beside a broken one of the same domain": Mail(
        "bounce@mailer.example", keys["example.org"].sign(keys["attacker.example"].sign(
            content(LISTED), domain="example.org")), client=SENDER),

    # The way here
    "a mailing list with a From of its own": signed(
        "Anna via Talk <talk@partner.example>", b"List-Id: <talk.partner.example>", domain="partner.example",
        path="talk-bounces@partner.example"),
    "a mailing list that changes nothing": signed(
        LISTED, b"List-Id: <talk.mailer.example>", path="talk@mailer.example"),
    "results of servers on the way": signed(
        LISTED, b"Authentication-Results: mx.other.example; spf=none smtp.mailfrom=example.org; dkim=fail",
        b"Received-SPF: fail"),
    "a sealed chain": signed(LISTED, b"ARC-Authentication-Results: i=1; mx.other.example; dkim=pass"),
    "a mark of another gateway": signed(
        LISTED, b"X-Bloomgate: check; reason=not-listed; host=mx.other.example"),
    "40 Received fields": Mail(
        "bounce@mailer.example", b"Received: from a by b; Sat, 21 Nov 2026 10:00:00 +0000\r\n" * 40 +
        keys["example.org"].sign(content(LISTED)), client=SENDER),
    "a long list of references": signed(
        LISTED, b"References: " + b"\r\n ".join([b"<1234@sender.example>"] * 400)),
    "a body in 8 bits": Mail("bounce@mailer.example", keys["example.org"].sign(
        content(LISTED, body="Grüße\r\n".encode())), client=SENDER),
}

# name -> message, reason, and why that is as it should be
CHECKED = {
    "a mailing list that changes the subject and keeps From": (
        Mail("talk@mailer.example", keys["example.org"].sign(content(LISTED)).replace(
            b"Subject: test", b"Subject: [talk] test"), client=SENDER), "dmarc-fail",
        "the author's signature is broken, and nobody else can say that the author wrote this"),
    "the same without DMARC": (
        Mail("talk@mailer.example", keys["nodmarc.example"].sign(content(LISTED_WITHOUT_DMARC)).replace(
            b"Subject: test", b"Subject: [talk] test"), client=SENDER), "not-authenticated",
        "the same, but the author's domain has no policy"),
    "a mailing list that adds a Sender": (
        signed(LISTED, path="talk@mailer.example", above=b"Sender: talk@mailer.example\r\n"), "not-authenticated",
        "readers show it beside From, and the author has not signed that there is none or whose it is"),
    "forwarded without SRS, without a signature": (
        Mail(LISTED_WITHOUT_DMARC, content(LISTED_WITHOUT_DMARC), client=STRANGER), "not-authenticated",
        "the forwarder may not send for the domain: nothing tells it from a forger"),
    "forwarded by whom we trust, without the signature that DMARC wants": (
        by_spf("SRS0=abcd=EF=example.org=listed@forwarder.example", LISTED), "dmarc-fail",
        "the author's domain asks that such mail be refused"),
    "a listed sender of a domain that authenticates nothing": (
        Mail("a@unknown.tree.example", content("a@unknown.tree.example"), client=SENDER), "not-authenticated",
        "anybody could have sent it"),
    "a bounce": (
        Mail("", content("MAILER-DAEMON@partner.example"), client=SENDER), "null-sender",
        "bounces are forged most of all"),
    "a bounce that its server has signed": (
        signed(path=""), "null-sender", "who sent the message that bounced wrote what is in it"),
    "a signature of the department's domain": (
        signed(LISTED, domain="news.example.org"), "not-authenticated", "a domain below may be anybody's"),
    "a From with two authors": (
        signed(f"{LISTED}, sales@partner.example"), "several-from-mailboxes",
        "mail programs show either of them"),
    "an international envelope sender in UTF-8": (
        by_spf("info@bücher.example", smtputf8=True), "not-authenticated",
        "pyspf-milter and OpenDMARC do not find the records of such a name; a signature is understood"),
}


@pytest.fixture(scope="module")
def gateway(start_shared_gateway):
    return start_world(start_shared_gateway, WHITELIST, "--tag-separators", "+", keys=keys, settings={
        "trusted-forwarders": "forwarder.example", "own-domains": "example.net", "spf-proves": "address"})


@pytest.fixture(scope="module")
def deliveries(gateway):
    return send_all(gateway, {**DELIVERED, **{name: mail for name, (mail, _, _) in CHECKED.items()}})


def outcomes(deliveries, names, mark):
    """name -> where it went, and as much of its mark as mark has."""
    return {name: (deliveries[name].place, [each[:len(mark(name))] for each in deliveries[name].marks]) for name in names}


def test_honest_mail_of_listed_senders_is_delivered(deliveries):
    mark = "deliver; reason=listed"  # or listed-domain, …
    assert outcomes(deliveries, DELIVERED, lambda _: mark) == dict.fromkeys(DELIVERED, (LIGHT_PATH, [mark]))


def test_honest_mail_that_is_checked_has_its_documented_reason(deliveries):
    marks = {name: f"check; reason={reason};" for name, (_, reason, _) in CHECKED.items()}
    assert outcomes(deliveries, CHECKED, marks.get) == {name: (DEEP_CHECK, [mark]) for name, mark in marks.items()}


def test_results_of_other_servers_stay_in_the_message(deliveries):
    values = [value for _, value in deliveries["results of servers on the way"].received.headers(
        "Authentication-Results")]
    assert any(value.startswith("mx.other.example;") for value in values)
