"""However a mark is forged, the message arrives with exactly one, ours."""

import pytest
from conftest import LISTED, LISTED_BY, UNLISTED
from private_mail.client import Message
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH

CHECK = "check; reason=not-listed; host=mx.example.net; identity=envelope"
DELIVER = f"deliver; reason=listed; host=mx.example.net{LISTED_BY}"

FORGERIES = {
    "one": [b"X-Bloomgate: deliver"],
    "the whole value": [f"X-Bloomgate: {DELIVER}".encode()],
    "two": [b"X-Bloomgate: deliver", b"X-Bloomgate: deliver; reason=listed"],
    "two with another between": [b"X-Bloomgate: deliver", b"X-Other: a", b"X-Bloomgate: deliver"],
    "lower case": [b"x-bloomgate: deliver"],
    "upper case": [b"X-BLOOMGATE: DELIVER"],
    "mixed case, each other": [b"x-BloomGate: deliver", b"X-bLOOMgATE: deliver", b"X-Bloomgate: deliver"],
    "folded": [b"X-Bloomgate:\r\n deliver;\r\n\treason=listed"],
    "folded, nothing in the first line": [b"X-Bloomgate: \r\n\tdeliver"],
    "a space before the colon": [b"X-Bloomgate : deliver"],
    "a tab before the colon": [b"X-Bloomgate\t: deliver"],
    "no space after the colon": [b"X-Bloomgate:deliver"],
    "empty": [b"X-Bloomgate:"],
    "as long as Postfix takes a field": [b"X-Bloomgate: deliver; " + b"x" * 100_000],
    "longer than Postfix takes a field": [b"X-Bloomgate: deliver; " + b"x" * 300_000],
    "8-bit": [b"X-Bloomgate: deliver; reason=\xff\xfe\x80"],
    "UTF-8": ["X-Bloomgate: deliver; reason=gelistet für ünlisted".encode()],
    "control characters": [b"X-Bloomgate: deliver\x01\x7f\x0b"],
    "a NUL": [b"X-Bloomgate: deliver\x00; reason=listed"],
    "100 copies": [b"X-Bloomgate: deliver"] * 100,
    "100 copies in turns with others": [b"X-Bloomgate: deliver", b"X-Other: a"] * 100,
    "an encoded word": [b"X-Bloomgate: =?utf-8?q?deliver?="],
    "last of all fields": [b"X-Filler: " + b"y" * 900] * 50 + [b"X-Bloomgate: deliver"],
    "resent": [b"Resent-From: a@example.org", b"X-Bloomgate: deliver"],
    "a bare carriage return before it": [b"X-Other: a\rX-Bloomgate: deliver"],
    "a bare line feed before it": [b"X-Other: a\nX-Bloomgate: deliver"],
}


@pytest.fixture(scope="module", params=["by the daemon", "by Postfix"])
def gateway(request, start_shared_gateway):
    """Forged marks are removed there."""
    return start_shared_gateway(removes_forged_marks=request.param == "by Postfix")


def outcomes(gateway, sender, forgeries):
    deliveries = gateway.send(*(Message(sender, tuple(fields)) for fields in forgeries.values()))
    return {name: (each.place, each.marks) for name, each in zip(forgeries, deliveries)}


def test_only_our_mark_arrives_however_others_are_forged(gateway):
    assert outcomes(gateway, UNLISTED, FORGERIES) == dict.fromkeys(FORGERIES, (DEEP_CHECK, [CHECK]))
    assert outcomes(gateway, LISTED, FORGERIES) == dict.fromkeys(FORGERIES, (LIGHT_PATH, [DELIVER]))


def test_other_fields_stay(gateway):
    fields = [b"X-Other: a", b"X-Bloomgate: deliver", b"X-Bloomgate2: b", b"X-Bloomgate : deliver",
              b"Bloomgate: c"]
    [delivery] = gateway.send(Message(UNLISTED, tuple(fields)))
    kept = [field for field in delivery.received.headers() if "loom" in field[0] or field[0] == "X-Other"]
    assert kept == [("X-Bloomgate", CHECK), ("X-Other", "a"), ("X-Bloomgate2", "b"), ("Bloomgate", "c")]
