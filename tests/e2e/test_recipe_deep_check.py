"""config/mta/deep-check: Bloomgate itself asks rspamd, or spamd, about mail that its lists do not deliver."""

import re
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from select import select

import pytest
from conftest import LISTED, UNLISTED
from private_mail.daemon import USER
from private_mail.postfix_recipes import DeepCheckRecipe
from private_mail.processes import PATIENCE_SECONDS, free_port, output_as, wait_until
from private_mail.recipe import HELD, MAILBOX, REJECTED, TRY_AGAIN, Mail
from private_mail.spamassassin import GTUBE
from recipe_mails import listed, places, started

# rspamd's own patterns: the first letter says what it is to answer.
RSPAMD_SPAM = b"Y" + GTUBE[1:]
FORGED_RESULTS = (b"X-Spam-Flag: NO", b"X-Spam-Status: No, score=-9 required=5", b"x-spam-flag: no",
                  b"X-Spamd-Result: default: False [-9.00 / 15.00]", b"X-Spam-Status: No",
                  b"X-SPAM-Of-Our-Own-Making: x", b"X-Spam-Flag : NO", b"X-Spam-Status: No,\r\n\tscore=-9")


@pytest.fixture(scope="module")
def recipe():
    """Mail waits at its sender while a part is down, so that what is not checked can be seen to wait."""
    with started(DeepCheckRecipe, when_down="tempfail") as running:
        yield running


@pytest.fixture(scope="module")
def as_shipped():
    with started(DeepCheckRecipe) as running:
        yield running


@pytest.fixture(params=["rspamd", "spamd"])
def checker(request):
    return request.param


def spam(checker, sender=UNLISTED, headers=()):
    """What the checker calls spam; rspamd wants to reject what SpamAssassin's pattern is in."""
    return Mail(sender, headers, body=(RSPAMD_SPAM if checker == "rspamd" else GTUBE) + b"\r\n")


def results(outcome):
    """All its fields whose names begin with X-Spam: name in lower case -> values."""
    fields = {}
    for name, value in outcome.received.headers():
        if name.lower().startswith("x-spam"):
            fields.setdefault(name.lower(), []).append(value)
    return fields


def log_lines(recipe, outcome):
    return recipe.daemon.lines_of(outcome.queue_id)


def test_listed_mail_is_not_seen_by_the_checker_and_its_body_is_skipped(recipe, checker):
    recipe.ask(checker)
    before = bytes_read(recipe.daemon)
    mail = Mail(LISTED, body=b"a line of text\r\n" * 300_000)
    [outcome] = recipe.send(mail)
    assert outcome.place == MAILBOX
    assert outcome.header("X-Bloomgate")[0].startswith("deliver; ")
    assert results(outcome) == {}
    assert outcome.received.content.endswith(b"a line of text\r\n")
    assert bytes_read(recipe.daemon) - before < len(mail.body) / 10
    assert "deep_check=" not in log_lines(recipe, outcome)[0]
    assert not seen(recipe, checker, mail)
    [checked] = recipe.send(Mail(UNLISTED))
    assert seen(recipe, checker, checked.mail)


def bytes_read(daemon):
    counted = output_as(USER, "cat", f"/proc/{daemon.program.pid}/io")
    return int(re.search(r"rchar: (\d+)", counted).group(1))


def seen(recipe, checker, mail):
    message_id = f"{mail.subject.replace(' ', '.')}@example.org"
    if checker == "rspamd":
        return message_id in [entry["id"] for entry in recipe.rspamd.history()]
    return message_id in recipe.spamd.log()


def test_other_mail_is_tagged_with_what_the_checker_says(recipe, checker):
    recipe.ask(checker)
    [ham, junk] = recipe.send(Mail(UNLISTED), spam(checker))
    assert places([ham, junk]) == [MAILBOX] * 2
    assert ham.header("X-Spam-Status")[0].startswith("No, score=")
    assert ham.header("X-Spam-Flag") == []
    assert junk.header("X-Spam-Status")[0].startswith("Yes, score=")
    assert junk.header("X-Spam-Flag") == ["YES"]
    for outcome in (ham, junk):
        assert [mark.split(";")[0] for mark in outcome.header("X-Bloomgate")] == ["check"]
        assert float(outcome.header("X-Spam-Score")[0]) < 2000
        assert len(outcome.header("X-Spamd-Result")) == (1 if checker == "rspamd" else 0)
        names = [name for name, _ in outcome.received.headers()]
        assert names.index("X-Bloomgate") < names.index("X-Spam-Status") < names.index("From")
    assert re.search(r" deep_check=spam score=[\d.]+/[\d.]+ action=tag server=\S+ check_ms=\d+$",
                     log_lines(recipe, junk)[0])
    assert " deep_check=ham " in log_lines(recipe, ham)[0]


# What the daemon does with an answer is the same whichever checker gave it: rspamd here, spamd in test_deep_check_sendmail.py.


def test_results_from_outside_are_removed_on_both_verdicts_and_change_nothing(recipe):
    recipe.ask("rspamd")
    [delivered, ham, junk] = recipe.send(Mail(LISTED, FORGED_RESULTS), Mail(UNLISTED, FORGED_RESULTS),
                                         spam("rspamd", headers=FORGED_RESULTS))
    assert results(delivered) == {}
    ours = {"x-spam-status", "x-spam-score", "x-spamd-result"}
    for outcome, names, verdict in ((ham, ours, "No, "), (junk, ours | {"x-spam-flag"}, "Yes, ")):
        found = results(outcome)
        assert set(found) == names
        assert [len(values) for values in found.values()] == [1] * len(found)
        assert found["x-spam-status"][0].startswith(verdict)


def test_any_number_of_results_from_outside_is_removed(recipe):
    recipe.ask("rspamd")
    [outcome] = recipe.send(Mail(LISTED, (b"X-Spam-Flag: NO", b"X-Spam-Status: No") * 50_000))
    assert (outcome.place, results(outcome)) == (MAILBOX, {})


@pytest.mark.parametrize("action, place, reply", [
    ("quarantine", HELD, ""), ("reject", REJECTED, "550 5.7.1 "), ("tempfail", TRY_AGAIN, "451 4.7.1 ")])
def test_spam_is_held_or_refused_as_configured(recipe, action, place, reply):
    recipe.ask("rspamd", deep_check_spam=action)
    [junk, ham, delivered] = recipe.send(spam("rspamd"), Mail(UNLISTED), spam("rspamd", LISTED))
    assert places([junk, ham, delivered]) == [place, MAILBOX, MAILBOX]
    assert junk.reply.startswith(reply)


def test_what_rspamd_wants_rejected_or_put_off_is_so_in_its_own_words(recipe):
    recipe.ask("rspamd")
    [rejected, put_off] = recipe.send(Mail(UNLISTED, body=GTUBE + b"\r\n"),
                                      Mail(UNLISTED, (b"X-Put-Off: come back 50% later",)))
    assert places([rejected, put_off]) == [REJECTED, TRY_AGAIN]
    assert rejected.reply.startswith("550 5.7.1 Gtube pattern")
    assert put_off.reply.startswith("451 4.7.1 come back 50% later")
    recipe.ask("rspamd", deep_check_reject="tag", deep_check_soft_reject="quarantine")
    assert places(recipe.send(Mail(UNLISTED, body=GTUBE + b"\r\n"),
                              Mail(UNLISTED, (b"X-Put-Off: later",)))) == [MAILBOX, HELD]


def test_where_the_first_checker_is_down_the_next_one_is_asked(recipe):
    dead = f"rspamd:http://127.0.0.1:{free_port()}"
    recipe.ask("spamd", deep_check=[dead, f"spamd:inet:{recipe.spamd.address[1]}@127.0.0.1"])
    outcomes = recipe.send(Mail(UNLISTED), spam("spamd"))
    assert [outcome.header("X-Spam-Status")[0].split(",")[0] for outcome in outcomes] == ["No", "Yes"]
    recipe.daemon.lines_of(outcomes[-1].queue_id)
    assert recipe.daemon.log().count(f"deeper check: {dead}: ") == 1, "what failed is left alone for a while"


def test_while_no_checker_answers_mail_waits_at_its_sender_or_goes_on_as_unknown(recipe):
    recipe.ask("rspamd")
    recipe.rspamd.stop()
    try:
        assert places(recipe.send(listed(), Mail(UNLISTED), Mail(""))) == [MAILBOX, TRY_AGAIN, TRY_AGAIN]
        recipe.ask("rspamd", deep_check_failure="tag")
        [delivered, unchecked] = recipe.send(listed(), Mail(UNLISTED, FORGED_RESULTS))
        assert results(delivered) == {}
        assert list(results(unchecked)) == ["x-spam-status"]
        assert unchecked.header("X-Spam-Status")[0].startswith("Unknown, ")
        assert "deep_check=failed action=tag " in log_lines(recipe, unchecked)[0]
    finally:
        recipe.rspamd.start()
    assert recipe.send(Mail(UNLISTED))[0].header("X-Spam-Status")[0].startswith("No, ")


class HungChecker:
    """Takes connections and never answers. taken: how many there are."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.name = "rspamd:http://127.0.0.1:{}".format(self.listener.getsockname()[1])
        self.connections = set()
        self.stopped, self.stop = socket.socketpair()
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    @property
    def taken(self):
        return len(self.connections)

    def _serve(self):
        while True:
            ready = select([self.listener, self.stopped, *self.connections], [], [])[0]
            if self.stopped in ready:
                return
            self._read(self.connections.intersection(ready))
            if self.listener in ready:
                self.connections.add(self.listener.accept()[0])

    def _read(self, ready):
        for connection in ready:
            if not self._reads(connection):
                self.connections.remove(connection)
                connection.close()

    @staticmethod
    def _reads(connection):
        try:
            return connection.recv(65536)
        except OSError:
            return b""

    def close(self):
        self.stop.close()
        self.thread.join()
        for each in (self.listener, self.stopped, *self.connections):
            each.close()


@contextmanager
def hung_checker():
    hung = HungChecker()
    try:
        yield hung
    finally:
        hung.close()


def test_listed_mail_passes_while_many_other_messages_wait_for_a_checker_that_hangs(recipe):
    with ThreadPoolExecutor(24) as clients:
        with hung_checker() as hung:
            recipe.ask("rspamd", deep_check=hung.name, deep_check_timeout=200, deep_check_connections=50)
            waiting = [clients.submit(recipe.send, Mail(UNLISTED)) for _ in range(24)]

            def all_are_at_the_checker():
                assert places(recipe.send(listed())) == [MAILBOX]
                assert [each.result() for each in waiting if each.done()] == []
                return hung.taken == 24

            wait_until(all_are_at_the_checker, "all messages to be under way to the checker", 180)
            assert places(recipe.send(listed(), listed())) == [MAILBOX] * 2
            assert not any(each.done() for each in waiting)
        outcomes = [each.result()[0] for each in waiting]
    assert set(places(outcomes)) == {TRY_AGAIN}


def test_a_checker_that_hangs_is_waited_for_as_long_as_configured(recipe):
    with hung_checker() as hung:
        recipe.ask("rspamd", deep_check=hung.name, deep_check_timeout=1)
        started_at = time.monotonic()
        [outcome] = recipe.send(Mail(UNLISTED))
        assert 1 <= time.monotonic() - started_at < PATIENCE_SECONDS
    assert outcome.reply.startswith("451 4.7.1 ")


def test_what_does_not_fit_into_memory_is_checked_from_a_temporary_file_that_goes_with_the_message(recipe):
    folder = recipe.folder / "spool"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    filling = b"a line of text\r\n" * 20_000
    settings = dict(deep_check_memory="64K", deep_check_folder=folder)
    with ThreadPoolExecutor(1) as clients:
        with hung_checker() as hung:
            recipe.ask("rspamd", deep_check=hung.name, **settings)
            waiting = clients.submit(recipe.send, Mail(UNLISTED, body=filling))
            wait_until(lambda: hung.taken == 1, "the message to be under way to the checker")
            assert [path for path in open_files(recipe.daemon) if path.startswith(str(folder))]
        assert places(waiting.result()) == [TRY_AGAIN]
    recipe.ask("rspamd", **settings)
    [outcome] = recipe.send(Mail(UNLISTED, body=filling))
    assert len(filling) < bytes_checked(outcome) < len(outcome.received.content)
    assert not [path for path in open_files(recipe.daemon) if path.startswith(str(folder))]
    assert list(folder.iterdir()) == []


def bytes_checked(outcome):
    return int(re.search(r"MESSAGE_BYTES\(0\.00\)\[(\d+)\]", outcome.header("X-Spamd-Result")[0]).group(1))


def open_files(daemon):
    command = ["find", f"/proc/{daemon.program.pid}/fd", "-type", "l", "-printf", "%l\\n"]
    return output_as(USER, *command).splitlines()


def test_a_message_that_cannot_be_kept_waits_at_its_sender(recipe):
    folder = recipe.folder / "gone"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    before = len(recipe.daemon.log())
    recipe.ask("rspamd", deep_check_memory="1K", deep_check_folder=folder)
    # It takes connections before it has looked at the folder.
    recipe.daemon.logged("listening on", before)
    folder.rmdir()
    long = Mail(UNLISTED, body=b"a line of text\r\n" * 1000)
    assert places(recipe.send(long, listed())) == [TRY_AGAIN, MAILBOX]
    recipe.daemon.logged(f"temporary file in {folder}: ")


def test_mail_waits_at_its_sender_while_bloomgate_is_down(recipe):
    recipe.ask("rspamd")
    with recipe.without_bloomgate():
        assert places(recipe.send(listed(), Mail(UNLISTED))) == [TRY_AGAIN] * 2
    assert places(recipe.send(listed(), Mail(UNLISTED))) == [MAILBOX] * 2


def test_the_doctor_finds_checkers_that_answer(recipe):
    recipe.ask("rspamd", deep_check=[recipe.settings(name)["deep-check"] for name in ("rspamd", "spamd")])
    command = recipe.daemon.command("--doctor", "--postfix-config", recipe.postfix.folder / "etc")
    found = subprocess.run(list(map(str, command)), capture_output=True, text=True).stdout.splitlines()
    assert len([line for line in found if line.startswith("ok       deep-check: ")]) == 2, found
    assert not [line for line in found if "nothing checks" in line or (
        "Bloomgate is down" in line and not line.startswith("ok"))]


def test_as_shipped_mail_goes_on_as_unknown_while_no_checker_answers(as_shipped):
    as_shipped.spam_checkers[0].stop()
    [good, other] = as_shipped.send(listed(), Mail(UNLISTED))
    as_shipped.spam_checkers[0].start()
    assert places([good, other]) == [MAILBOX] * 2
    assert other.header("X-Spam-Status")[0].startswith("Unknown")
    as_shipped.daemon.logged("warning|error")
    assert as_shipped.send(Mail(UNLISTED))[0].header("X-Spam-Status")[0].startswith("No, ")


def test_as_shipped_mail_goes_on_unmarked_while_bloomgate_is_down_and_postfix_says_so(as_shipped):
    with as_shipped.without_bloomgate():
        outcomes = as_shipped.send(listed(), Mail(UNLISTED, FORGED_RESULTS))
        assert places(outcomes) == [MAILBOX] * 2
        assert [(each.header("X-Bloomgate"), results(each)) for each in outcomes] == [([], {})] * 2
        assert "warning: connect to Milter service" in as_shipped.postfix.log()
