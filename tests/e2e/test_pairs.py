"""Entries for one recipient: a sender is listed for the recipients that an entry names, and for a message to only them."""

import re

import pytest
from conftest import LISTED
from private_mail import sendmail
from private_mail.client import Message
from private_mail.filter import build_filter_of
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH
from private_mail.processes import temporary_folder, wait_until
from private_mail.sendmail_gateway import SendmailGateway, SendmailGatewayConfig

JOE, EVERYBODY, STRANGER = "joe@example.org", LISTED, "stranger@example.org"
ANN, BOB, EVE = "ann@example.net", "bob@example.net", "eve@example.net"
PAT = "pat@partner.example"
LIST = (EVERYBODY, f"{JOE} > {ANN}", f"{JOE} > {BOB}", f"{PAT} > @example.net")
BY = "; host=mx.example.net; identity=envelope; authentication=none; whitelist=whitelist"
FOR_RECIPIENTS = f"deliver; reason=listed-for-recipients{BY}"
NOT_LISTED = "check; reason=not-listed; host=mx.example.net; identity=envelope"


def sent_to(client, sender, recipients):
    """Sends a message to several recipients."""
    client.send(Message(sender, recipient=recipients[0], more_recipients=tuple(recipients[1:])))


def decisions(gateway):
    return [line for line in gateway.daemon.log().splitlines() if "queue_id=" in line]


def reasons_of(gateway, messages):
    """What the log says of messages, given as (sender, recipients): decision, reason, and for how many of how many
    recipients pairs list the sender."""
    with gateway.connect() as client:
        before = len(decisions(gateway))
        for sender, recipients in messages:
            sent_to(client, sender, recipients)
    # The log is written by a thread of its own.
    wait_until(lambda: len(decisions(gateway)) == before + len(messages), "every message to be logged")
    return [re.search(r"decision=(\w+) reason=(\S+)(?:.* recipients=(\d+) listed_for=(\d+))?", line).groups()
            for line in decisions(gateway)[before:]]


EXPECTED = (
    (JOE, (ANN,), ("deliver", "listed-for-recipients", "1", "1")),
    (JOE, (ANN, BOB), ("deliver", "listed-for-recipients", "2", "2")),
    (PAT, (ANN, "anybody@example.net"), ("deliver", "listed-for-recipients", "2", "2")),
    (JOE, (ANN, EVE), ("check", "not-listed-for-all", "2", "1")),
    (JOE, (EVE, ANN), ("check", "not-listed-for-all", "2", "1")),
    (JOE, (EVE,), ("check", "not-listed", "1", "0")),
    (STRANGER, (ANN,), ("check", "not-listed", "1", "0")),
    (EVERYBODY, (EVE, ANN), ("deliver", "listed", None, None)),
    (JOE, ("Ann@Example.NET",), ("deliver", "listed-for-recipients", "1", "1")),
    (JOE, ("ann+shop@example.net",), ("deliver", "listed-for-recipients", "1", "1")),
)


def expect_all(gateway):
    messages = [(sender, recipients) for sender, recipients, _ in EXPECTED]
    assert reasons_of(gateway, messages) == [want for _, _, want in EXPECTED]


def test_behind_postfix_a_message_is_delivered_to_recipients_with_an_entry_for_its_sender(start_gateway):
    gateway = start_gateway(LIST, settings={"recipient-delimiter": "+"})
    expect_all(gateway)
    known, unknown = gateway.send(Message(JOE, recipient=ANN), Message(JOE, recipient=EVE))
    assert (known.place, known.marks) == (LIGHT_PATH, [FOR_RECIPIENTS])
    assert (unknown.place, unknown.marks) == (DEEP_CHECK, [NOT_LISTED])


def test_postfix_names_the_recipient_before_its_aliases_and_with_its_tag(start_gateway):
    gateway = start_gateway(LIST, main_cf="virtual_alias_maps = inline:{ info@example.net=ann@example.net, "
                            "ann@example.net=eve@example.net }\nrecipient_delimiter = +\n")
    assert reasons_of(gateway, [(JOE, (ANN,)), (JOE, ("info@example.net",)), (JOE, ("ann+shop@example.net",))]) == [
        ("deliver", "listed-for-recipients", "1", "1"), ("check", "not-listed", "1", "0"),
        ("check", "not-listed", "1", "0")]


def test_a_recipient_that_postfix_refuses_does_not_count(start_gateway):
    gateway = start_gateway(LIST)
    with gateway.connect() as client:
        client.command(f"MAIL FROM:<{JOE}>")
        client.command("RCPT TO:<eve@elsewhere.example>", expected=554)
        client.command(f"RCPT TO:<{ANN}>")
        client.begin_data(Message(JOE))
        client.end()
    gateway.daemon.logged("reason=listed-for-recipients .* recipients=1 listed_for=1")


def test_a_new_list_with_pairs_serves_the_next_connection(start_gateway):
    gateway = start_gateway((EVERYBODY,), settings={"burst-limit": 0, "suspend": "no"})  # which ask for them
    with gateway.connect() as client:
        client.command("MAIL FROM:<x@example.org>")  # so that Postfix has begun to talk with the daemon
        build_filter_of(gateway.config.whitelist, LIST)
        gateway.daemon.reload("loaded .* with pairs")
        client.command("RSET")
        sent_to(client, JOE, (ANN,))
        gateway.daemon.logged("reason=recipients-unknown")
    assert reasons_of(gateway, [(JOE, (ANN,))]) == [("deliver", "listed-for-recipients", "1", "1")]


def test_behind_sendmail_a_message_is_delivered_to_recipients_with_an_entry_for_its_sender():
    if sendmail.can_run():
        pytest.skip(sendmail.can_run())
    with temporary_folder("pairs") as folder:
        whitelist = folder / "whitelist.bloom"
        build_filter_of(whitelist, LIST)
        config = SendmailGatewayConfig(whitelist, settings={"recipient-delimiter": "+"})
        with SendmailGateway(folder, config) as gateway:
            expect_all(gateway)
