"""Postfix, OpenDKIM and Bloomgate: the signer decides, and only OpenDKIM can write what it found."""

import pytest
from forged_results import FIELD, FORGED_RESULTS
from mail_world import (ATTACKER, HOST, LISTED, LISTED_WITHOUT_DMARC, SENDER, STRANGER, Keys, Mail, content,
                        send_all, start_world)
from private_mail.client import Client, Message, RawMessage
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH
from private_mail.opendkim import OpenDkimConfig
from private_mail.postfix import Postfix, PostfixConfig
from private_mail.processes import temporary_folder
from private_mail.sink import Sink

UNLISTED = "unlisted@example.org"

keys = Keys()


@pytest.fixture(scope="module")
def gateway(start_shared_gateway):
    return start_world(start_shared_gateway, [LISTED, LISTED_WITHOUT_DMARC], keys=keys, milters=("dkim",))


def outcome(delivery):
    """Where it went, and its mark without what follows the reason."""
    [mark] = delivery.marks
    return delivery.place, ";".join(mark.split(";")[:2])


OUTCOMES = {
    "an aligned signature": (keys["example.org"].sign(content(LISTED)), LIGHT_PATH, "deliver; reason=listed"),
    "an aligned signature of one who is not listed": (
        keys["example.org"].sign(content(UNLISTED)), DEEP_CHECK, "check; reason=not-listed"),
    "no signature": (content(LISTED), DEEP_CHECK, "check; reason=not-authenticated"),
    "a signature of another domain": (
        keys["attacker.example"].sign(content(LISTED)), DEEP_CHECK, "check; reason=not-authenticated"),
    "a broken signature": (keys["example.org"].sign(content(LISTED)).replace(b"Hello", b"Hullo"),
                           DEEP_CHECK, "check; reason=not-authenticated"),
    "a signature of a part of the body": (
        keys["example.org"].sign(content(LISTED), length=True),
        DEEP_CHECK, "check; reason=not-authenticated"),
    "a signature that does not cover From": (
        keys["example.org"].sign(content(LISTED)).replace(b"h=from :", b"h=").replace(b"h=from:", b"h="),
        DEEP_CHECK, "check; reason=not-authenticated"),
}


def test_the_signature_decides(gateway):
    deliveries = send_all(gateway, {name: Mail(ATTACKER, raw) for name, (raw, _, _) in OUTCOMES.items()})
    assert {name: outcome(delivery) for name, delivery in deliveries.items()} == {
        name: (place, mark) for name, (_, place, mark) in OUTCOMES.items()}


def test_mail_that_a_real_opendkim_signed_at_its_sender_is_delivered(gateway):
    message = Message(LISTED, subject="signed on the way out").content().replace(
        b"From: <sender@example.com>", b"From: " + LISTED.encode())
    with temporary_folder("sender") as folder, Sink("out") as out:
        with OpenDkimConfig((keys["example.org"],), signs=True).part(folder / "opendkim") as signer:
            (folder / "postfix").mkdir()
            config = PostfixConfig(out.address, f"smtpd_milters = {signer.mta_socket}\n",
                                   host_name="mx.example.org")
            with Postfix(folder / "postfix", config) as postfix, Client(postfix.port) as client:
                client.send(RawMessage(LISTED, raw=message))
                [sent] = out.wait_for(1)
    assert sent.headers("DKIM-Signature")
    [delivery] = gateway.send(RawMessage(LISTED, raw=sent.content))
    assert outcome(delivery) == (LIGHT_PATH, "deliver; reason=listed")


def forged(fields):
    return Mail(LISTED_WITHOUT_DMARC, content(LISTED_WITHOUT_DMARC, *fields))


def test_forged_results_count_for_nothing(gateway):
    deliveries = send_all(gateway, {name: forged(fields) for name, fields in FORGED_RESULTS.items()})
    assert {name: outcome(delivery) for name, delivery in deliveries.items()} == dict.fromkeys(
        FORGED_RESULTS, (DEEP_CHECK, "check; reason=not-authenticated"))


def test_forged_results_count_for_nothing_in_any_position(gateway):
    unsigned = content(LISTED_WITHOUT_DMARC)
    positions = {"first": FIELD + b"\r\n" + unsigned,
                 "under a signature": keys["attacker.example"].sign(FIELD + b"\r\n" + unsigned),
                 "last": content(LISTED_WITHOUT_DMARC, FIELD)}
    deliveries = send_all(gateway, {name: Mail(LISTED_WITHOUT_DMARC, raw) for name, raw in positions.items()})
    assert {name: outcome(delivery) for name, delivery in deliveries.items()} == dict.fromkeys(
        positions, (DEEP_CHECK, "check; reason=not-authenticated"))
    assert not any("dmarc" in value for delivery in deliveries.values()
                   for _, value in delivery.received.headers("Authentication-Results"))


def test_without_the_shipped_header_checks_they_would_be_believed(start_gateway):
    gateway = start_world(start_gateway, [LISTED_WITHOUT_DMARC], keys=keys, milters=("dkim",),
                          removes_forged_results=False, settings={"spf-proves": "address"})
    deliveries = send_all(gateway, {name: forged(fields) for name, fields in FORGED_RESULTS.items()})
    believed = {name for name, delivery in deliveries.items() if delivery.place == LIGHT_PATH}
    assert {"a results field of ours", "one in upper case", "one that is folded before the name",
            "one with the name in quotes", "one with a comment before the name", "two of them"} <= believed


def test_without_opendkim_all_mail_is_checked(start_gateway):
    gateway = start_world(start_gateway, [LISTED], keys=keys, milters=("dkim",))
    signed = RawMessage(LISTED, raw=keys["example.org"].sign(content(LISTED)))
    assert gateway.send(signed)[0].place == LIGHT_PATH
    gateway.milters[0].kill()
    forgery = RawMessage(LISTED, raw=FIELD + b"\r\n" + signed.raw)
    assert [outcome(delivery) for delivery in gateway.send(signed, forgery)] == [
        (DEEP_CHECK, "check; reason=not-authenticated")] * 2


def test_a_sender_is_authenticated_by_spf_and_dmarc_too(start_gateway):
    """The real pyspf-milter and OpenDMARC; OpenDKIM is there, and nothing is signed."""
    gateway = start_world(start_gateway, [LISTED, LISTED_WITHOUT_DMARC], keys=keys, settings={"spf-proves": "address"})
    deliveries = send_all(gateway, {
        "dmarc": Mail(LISTED, content(LISTED), client=SENDER),
        "dmarc, from elsewhere": Mail(LISTED, content(LISTED), client=STRANGER),
        "spf": Mail(LISTED_WITHOUT_DMARC, content(LISTED_WITHOUT_DMARC), client=SENDER),
        "spf, from elsewhere": Mail(LISTED_WITHOUT_DMARC, content(LISTED_WITHOUT_DMARC), client=STRANGER)})
    assert {name: outcome(delivery) for name, delivery in deliveries.items()} == {
        "dmarc": (LIGHT_PATH, "deliver; reason=listed"),
        "dmarc, from elsewhere": (DEEP_CHECK, "check; reason=dmarc-fail"),
        "spf": (LIGHT_PATH, "deliver; reason=listed"),
        "spf, from elsewhere": (DEEP_CHECK, "check; reason=not-authenticated")}
    fields = [value for _, value in deliveries["dmarc"].received.headers("Authentication-Results")]
    assert all(value.startswith(HOST) for value in fields)
    for method in ("spf=pass", "dkim=none", "dmarc=pass"):
        assert any(method in value for value in fields)
