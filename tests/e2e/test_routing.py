"""Where mail goes, and what it carries when it gets there."""

import smtplib

import pytest
from conftest import LISTED, LISTED_BY, UNLISTED
from private_mail.client import Message
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH, MAILBOX
from private_mail.processes import wait_until

FORGED = (b"X-Bloomgate: deliver; reason=listed; host=mx.example.net",)

DELIVER = f"deliver; reason=listed; host=mx.example.net{LISTED_BY}"
CHECK = "check; reason=not-listed; host=mx.example.net; identity=envelope"
CASES = {
    "a listed sender": (Message(LISTED), LIGHT_PATH, DELIVER),
    "an unlisted sender": (Message(UNLISTED), DEEP_CHECK, CHECK),
    "the null sender": (Message(""), DEEP_CHECK, "check; reason=null-sender; host=mx.example.net; identity=envelope"),
    "a listed sender with a forged mark": (Message(LISTED, FORGED), LIGHT_PATH, DELIVER),
    "an unlisted sender with a forged mark": (Message(UNLISTED, FORGED), DEEP_CHECK, CHECK),
}


@pytest.fixture(scope="module", params=["unix", "inet"])
def gateway(request, start_shared_gateway):
    return start_shared_gateway(inet=request.param == "inet")


def test_mail_goes_where_its_sender_says(gateway):
    deliveries = gateway.send(*(message for message, _, _ in CASES.values()))
    assert {name: (each.place, each.marks) for name, each in zip(CASES, deliveries)} == {
        name: (place, [mark]) for name, (_, place, mark) in CASES.items()}


def test_the_message_itself_is_not_touched(gateway):
    message = Message(LISTED, (b"X-Other: kept", b"X-Bloomgate-Like: kept too"))
    [delivery] = gateway.send(message)
    sent_fields, sent_body = message.content().split(b"\r\n\r\n", 1)
    assert sent_fields in delivery.received.content
    assert delivery.received.content.endswith(b"\r\n\r\n" + sent_body)


def test_mail_that_comes_back_from_a_check_is_not_decided_again(gateway):
    with smtplib.SMTP("127.0.0.1", gateway.reinjection_port) as client:
        content = f"X-Bloomgate: {DELIVER}\r\nSubject: back\r\n\r\nHello.\r\n"
        client.sendmail(UNLISTED, ["user@example.net"], content)
    back = wait_until(lambda: [message for message in gateway.sinks[2].messages()
                               if message.headers("Subject") == [("Subject", "back")]], "it in the mailbox")
    gateway.sinks[2].received.clear()
    assert [message.sink for message in back] == [MAILBOX]
    assert back[0].headers("X-Bloomgate") == [("X-Bloomgate", DELIVER)]
