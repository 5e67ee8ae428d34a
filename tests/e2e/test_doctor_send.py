"""bloomgate-milter doctor --send: messages go through a real Postfix with OpenDKIM, and the doctor says what
became of each."""

import json
import subprocess

import pytest
from mail_world import LISTED_WITHOUT_DMARC, Keys, content, start_world
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH

RECIPIENT = "postmaster@example.net"
DOMAIN = LISTED_WITHOUT_DMARC.partition("@")[2]


@pytest.fixture(scope="module")
def gateway(start_shared_gateway):
    """It trusts OpenDKIM, whose keys are those of the senders."""
    keys = Keys()
    started = start_world(start_shared_gateway, [LISTED_WITHOUT_DMARC], keys=keys, milters=("dkim",))
    started.message = started.folder / "message.eml"
    signed = keys[DOMAIN].sign(content(f"<{LISTED_WITHOUT_DMARC}>"))
    # As a mailbox keeps it: with what the delivery has put in, and with this machine's line ends.
    saved = b"Return-Path: <" + LISTED_WITHOUT_DMARC.encode() + b">\r\nX-Bloomgate: check\r\n" + signed
    started.message.write_bytes(saved.replace(b"\r\n", b"\n"))
    return started


def sent(gateway, *options, port=None):
    command = gateway.daemon.command(
        "--doctor", "--json", "--postfix-config", gateway.postfix.folder / "etc", "--send", RECIPIENT,
        "--smtp", f"127.0.0.1:{port or gateway.port}", "--log", gateway.daemon.log_file,
        "--log", gateway.postfix.log_file, *options)
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    return [finding for finding in json.loads(done.stdout) if finding["subject"] == "send"]


def test_a_listed_message_is_delivered_and_a_forged_and_an_unlisted_one_are_checked(gateway):
    unlisted, genuine, forged = sent(gateway, "--signed-message", gateway.message)
    assert [finding["level"] for finding in (unlisted, genuine, forged)] == ["ok"] * 3
    assert "decision=check reason=not-listed" in unlisted["text"] and "status=sent" in unlisted["text"]
    assert "decision=deliver reason=listed" in genuine["text"] and "status=sent" in genuine["text"]
    assert "decision=check" in forged["text"] and "status=sent" in forged["text"]
    deep, light, _ = gateway.sinks
    assert (len(deep.messages()), len(light.messages())) == (2, 1)
    assert (deep.name, light.name) == (DEEP_CHECK, LIGHT_PATH)


def test_a_broken_chain_is_reported_with_the_reason(gateway):
    gateway.milters[0].kill()
    unlisted, genuine, forged = sent(gateway, "--signed-message", gateway.message)
    assert genuine["level"] == "problem" and "reason=not-authenticated" in genuine["text"]
    assert "OpenDKIM" in genuine["remedy"]
    assert unlisted["level"] == forged["level"] == "ok"
    gateway.milters[0].start()


def test_without_a_signed_message_the_doctor_says_what_it_could_not_try(gateway):
    unlisted, rest = sent(gateway)
    assert unlisted["level"] == "ok"
    assert rest["level"] == "warning" and "--signed-message" in rest["remedy"]


def test_no_mail_server_no_message_and_no_log_are_problems(gateway):
    [silence] = sent(gateway, port=9)
    assert silence["level"] == "problem" and "no mail server can be reached at 127.0.0.1:9" in silence["text"]
    _, missing = sent(gateway, "--signed-message", gateway.folder / "nothing")
    assert missing["level"] == "problem" and "is no message with a sender" in missing["text"]


@pytest.mark.all_only
def test_a_daemon_that_the_mail_server_cannot_reach_is_named(gateway):
    gateway.daemon.kill()
    unlisted, *_ = sent(gateway)
    gateway.daemon.start()
    assert unlisted["level"] == "problem" and "bloomgate report" in unlisted["remedy"]
    assert f"could not reach a milter, so it accepted the mail without asking it: {gateway.daemon.mta_socket}: " in unlisted["text"]


def test_forgeries_that_pass_are_a_problem(gateway):
    """Where senders are taken at their word, the doctor shows what that means."""
    settings = gateway.daemon.config.settings
    gateway.daemon.restart({"authentication": "off", "dmarc-fail-veto": "no"})
    *_, forged = sent(gateway, "--signed-message", gateway.message)
    gateway.daemon.restart(settings)
    assert forged["level"] == "problem" and "this message is delivered as if its sender were listed" in forged["text"]
