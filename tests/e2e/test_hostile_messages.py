"""Messages that are made to cost: each is over in seconds, and all other mail continues meanwhile."""

import itertools
import re
import threading
import time

import pytest
from conftest import LISTED, LISTED_BY, UNLISTED
from private_mail import sendmail
from private_mail.client import Message, Rejected
from private_mail.filter import build_filter_of
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH
from private_mail.processes import temporary_folder, wait_until
from private_mail.sendmail_gateway import SendmailGateway, SendmailGatewayConfig

MANY = 100_000  # Postfix's cleanup panicked at some 10,500
MOST = 100  # that the daemon removes
MARK = b"X-Bloomgate: deliver"
MARKS = {LISTED: f"deliver; reason=listed; host=mx.example.net{LISTED_BY}",
         UNLISTED: "check; reason=not-listed; host=mx.example.net; identity=envelope"}
PLACES = {LISTED: LIGHT_PATH, UNLISTED: DEEP_CHECK}
REFUSAL = "550 5.7.1 The message has too many X-Bloomgate or X-Spam header fields"


class OtherMail:
    """Ordinary mail on a connection of its own, one message after the other, until its block ends. Then all of it
    has arrived, and some of it was taken while the block ran."""

    def __init__(self, gateway):
        self.gateway = gateway
        self.sent = []
        self.error = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._send)

    def __enter__(self):
        self._thread.start()
        self._wait_for_another()
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self._wait_for_another()
        self._over.set()
        self._thread.join()
        if kind is None:
            assert self.error is None
            for delivery in self.gateway.deliveries(self.sent):
                assert delivery.marks == [MARKS[delivery.message.path]]

    def _wait_for_another(self):
        count = len(self.sent)
        wait_until(lambda: self.error or len(self.sent) > count, "other mail to be taken")

    def _send(self):
        try:
            with self.gateway.connect() as client:
                for sender in itertools.cycle(MARKS):
                    if self._over.is_set():
                        return
                    self.sent.append((Message(sender), client.send(Message(sender))))
                    time.sleep(0.02)  # enough to see whether it goes on, and no load of its own
        except Exception as error:
            self.error = error


@pytest.fixture(scope="module")
def with_checks(start_shared_gateway):
    return start_shared_gateway()


@pytest.fixture(scope="module")
def without_checks(start_shared_gateway):
    """Nothing but the daemon removes forged fields."""
    return start_shared_gateway(removes_forged_marks=False)


def refused(gateway, *fields, sender=LISTED):
    """The message is refused, and logged once, with its queue ID. Returns the reply."""
    before = len(gateway.daemon.log())
    with pytest.raises(Rejected) as refusal, gateway.connect() as client:
        client.send(Message(sender, fields))
    refusal_line = (r"queue_id=(\S+) sender=<%s> decision=refuse reason=forged-fields forged_headers=(\d+)\n"
                    % re.escape(sender))
    gateway.daemon.logged(refusal_line, before)
    lines = re.findall(refusal_line, gateway.daemon.log()[before:])
    assert len(lines) == 1
    return str(refusal.value).partition("got ")[2], *lines[0]


def assert_postfix_is_well(gateway):
    log = gateway.postfix.log()
    assert not re.search(r"\b(panic|fatal|killed by|throttling)\b", log), log[-3000:]


@pytest.mark.parametrize("sender", [LISTED, UNLISTED])
def test_the_header_checks_of_the_recipe_remove_any_number_of_forged_marks(with_checks, sender):
    with OtherMail(with_checks):
        [delivery] = with_checks.send(Message(sender, (MARK,) * MANY))
    assert (delivery.place, delivery.marks) == (PLACES[sender], [MARKS[sender]])
    assert_postfix_is_well(with_checks)


def test_without_them_a_message_with_many_forged_marks_is_refused_once_and_for_all(without_checks):
    with OtherMail(without_checks):
        reply, queue_id, count = refused(without_checks, *(MARK,) * MANY)
    assert reply == REFUSAL
    assert count == str(MANY)
    assert f"{queue_id}: milter-reject: END-OF-MESSAGE" in without_checks.postfix.log()
    assert_postfix_is_well(without_checks)


def test_a_hundred_are_removed_and_one_more_is_refused(without_checks):
    [delivery] = without_checks.send(Message(LISTED, (MARK,) * MOST))
    assert delivery.marks == [MARKS[LISTED]]
    assert refused(without_checks, *(MARK,) * (MOST + 1))[0] == REFUSAL


def test_forged_marks_among_very_many_other_fields_are_refused_before_postfix_searches_for_each(without_checks):
    with OtherMail(without_checks):
        assert refused(without_checks, *(b"A: b",) * MANY, *(MARK,) * MOST)[0] == REFUSAL
    assert_postfix_is_well(without_checks)


@pytest.fixture(scope="module")
def sendmail_gateway():
    if sendmail.can_run():
        pytest.skip(sendmail.can_run())
    with temporary_folder("hostile") as folder:
        build_filter_of(folder / "whitelist.bloom", [LISTED])
        with SendmailGateway(folder, SendmailGatewayConfig(folder / "whitelist.bloom")) as gateway:
            yield gateway


# As short as they can be, as many as Sendmail takes.
def test_behind_sendmail_more_than_a_hundred_forged_marks_are_refused(sendmail_gateway):
    with OtherMail(sendmail_gateway):
        assert refused(sendmail_gateway, *(b"X-Bloomgate:",) * 2000)[0] == REFUSAL
    [delivery] = sendmail_gateway.send(Message(LISTED, (MARK,) * MOST))
    assert delivery.marks == [MARKS[LISTED]]
