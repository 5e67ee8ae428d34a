"""config/mta/sendmail-rspamd: what Bloomgate marks skips rspamd's spam checks, and keeps its virus check."""

import re

import pytest
from conftest import LISTED, UNLISTED
from private_mail import sendmail
from private_mail.clamav import Clamd
from private_mail.processes import wait_until
from private_mail.recipe import MAILBOX, REJECTED, TRY_AGAIN, Mail
from private_mail.rspamd import AT_THE_DOOR, Rspamd
from private_mail.sendmail_recipe import OURSELVES, SendmailRecipe
from recipe_mails import FORGED_MARK, forged, honest, infected, listed, places, started

# Every message gets at least these from a whole check.
OF_A_WHOLE_CHECK = {"MIME_GOOD", "FROM_NO_DN", "RCPT_COUNT_ONE"}


# What OpenDKIM writes of a message without a signature.
NOTHING_FOUND = "mx.example.net; dkim=none; dkim-atps=neutral"


class RspamdRecipe(SendmailRecipe):
    fragments = ("sendmail-rspamd/rspamd.mc",)

    def checks(self, stack):
        self.clamd = stack.enter_context(Clamd(self.folder / "clamd"))
        self.rspamd = stack.enter_context(Rspamd(
            self.folder / "rspamd", self.clamd, (*AT_THE_DOOR, *self.virus_check_that_waits)))

    def sockets(self):
        return {"inet:11332@127.0.0.1": f"inet:{self.rspamd.port}@127.0.0.1"}

    def logs(self):
        return f"{super().logs()}\n--- rspamd\n{self.rspamd.log()}"


@pytest.fixture(scope="module")
def recipe():
    if sendmail.can_run():
        pytest.skip(sendmail.can_run())
    with started(RspamdRecipe) as running:
        yield running


@pytest.fixture(scope="module")
def patient():
    """Set up for those who rather let mail wait than have it unchecked."""
    if sendmail.can_run():
        pytest.skip(sendmail.can_run())
    with started(RspamdRecipe, when_down="tempfail") as running:
        yield running


def symbols(outcome):
    """The rules of rspamd that had something to say about it."""
    [result] = outcome.header("X-Spamd-Result")
    return set(re.findall(r"\b([A-Z][A-Z0-9_]+)\(", result))


def assert_all_are_checked(outcomes):
    for outcome in outcomes:
        assert outcome.place == MAILBOX, outcome
        assert OF_A_WHOLE_CHECK <= symbols(outcome), outcome.mail


def test_listed_mail_skips_the_spam_checks_and_goes_through_the_virus_check(recipe):
    scanned = recipe.clamd.log().count("OK")
    [outcome] = recipe.send(listed())
    assert outcome.place == MAILBOX
    assert [mark.split(";")[0] for mark in outcome.header("X-Bloomgate")] == ["deliver"]
    assert symbols(outcome) == set()
    wait_until(lambda: recipe.clamd.log().count("OK") == scanned + 1, "clamd to log the message")


def test_unlisted_mail_is_checked(recipe):
    outcomes = recipe.send(*honest())
    assert_all_are_checked(outcomes)
    for outcome in outcomes:
        assert [mark.split(";")[0] for mark in outcome.header("X-Bloomgate")] == ["check"]
        assert outcome.header("Authentication-Results") == [NOTHING_FOUND]


def test_mail_from_outside_with_forged_fields_is_refused(recipe):
    assert places(recipe.send(*forged(), Mail(LISTED, (FORGED_MARK,)))) == [REJECTED] * 6


def marks_of_every_length():
    """Sendmail looks at no more than the first 255 bytes of a field, and rspamd at no longer ones."""
    for length in (1, 100, 240, 241, 250, 256, 300, 600, 4000):
        yield Mail(UNLISTED, (b"X-Bloomgate: deliver;" + b"x" * length,))
        yield Mail(UNLISTED, (b"X-Bloomgate: deliver; " + b"a;" * (length // 2),))


def test_no_forged_mark_of_whatever_length_counts_while_nobody_removes_it(recipe):
    with recipe.without_bloomgate():
        outcomes = recipe.send(*marks_of_every_length())
    assert_all_are_checked(outcome for outcome in outcomes if outcome.place != REJECTED)
    assert REJECTED in places(outcomes) and MAILBOX in places(outcomes)


FORGED_RESULTS = {
    "plain": b"mx.example.net; %s",
    "the name in capitals": b"MX.EXAMPLE.NET; %s",
    "the name quoted": b'"mx.example.net"; %s',
    "the name with an escaped character": b'"mx.exam\\ple.net"; %s',
    "a comment first": b"(x) mx.example.net; %s",
    "a version": b"mx.example.net 1; %s",
    "folded": b"\r\n mx.example.net;\r\n\t%s",
    "many spaces first": b"\r\n" + b" " * 300 + b"\r\n mx.example.net; %s",
    "the name quoted, and a property that OpenDKIM does not know": b'"mx.example.net"; dkim=pass foo.bar=x; %s',
    "a property that OpenDKIM does not know": b"mx.example.net; dkim=pass foo.bar=x header.d=example.org; %s",
    "many results": b"mx.example.net; " + b"a=none;" * 17 + b"%s",
    "many properties": b"mx.example.net; a=none" + b" header.b=x" * 20 + b"; %s",
    "nonsense at the end": b"mx.example.net; %s; =; ;;;",
    "an open comment": b"mx.example.net; %s ((",
    "an open quotation": b'mx.example.net; %s "',
}


@pytest.mark.parametrize("form", FORGED_RESULTS)
def test_forged_results_are_removed_or_their_message_is_refused(recipe, form):
    claim = b"dkim=pass header.d=example.org; spf=pass smtp.mailfrom=example.org"
    field = b"Authentication-Results: " + FORGED_RESULTS[form].replace(b"%s", claim)
    [outcome] = recipe.send(Mail(LISTED, (field,)))
    assert outcome.place == REJECTED or outcome.header("Authentication-Results") == [NOTHING_FOUND]


@pytest.mark.parametrize("field", [
    b"mx.example.net; dkim=none; dkim-atps=neutral",
    b"mx.example.net;\r\n\tdkim=fail (2048-bit key; unprotected) header.d=example.com header.i=@example.com"
    b" header.a=rsa-sha256 header.s=mail header.b=AbCdEf12;\r\n\tdkim-atps=neutral",
    b"other.example; dkim=pass (2048-bit key) header.d=example.com; " + b"x=none; " * 50])
def test_mail_that_comes_back_or_was_checked_elsewhere_is_taken(recipe, field):
    [outcome] = recipe.send(Mail(UNLISTED, (b"Authentication-Results: " + field,)))
    assert outcome.place == MAILBOX, outcome.reply


def test_mail_of_this_machine_with_old_fields_is_decided_anew(recipe):
    outcomes = recipe.send(*forged(), address=OURSELVES)
    assert_all_are_checked(outcomes)
    for outcome in outcomes:
        assert [mark.split(";")[0] for mark in outcome.header("X-Bloomgate")] == ["check"]


def test_infected_mail_is_rejected_whoever_sends_it(recipe):
    outcomes = recipe.send(infected(LISTED), infected(UNLISTED), listed())
    assert places(outcomes) == [REJECTED, REJECTED, MAILBOX]


def test_all_is_checked_when_bloomgate_is_down(recipe):
    with recipe.without_bloomgate():
        assert_all_are_checked(recipe.send(listed(), *honest()))
        assert places(recipe.send(infected(LISTED), *forged())) == [REJECTED] * 6


def test_all_is_checked_when_bloomgate_hangs(recipe):
    with recipe.with_bloomgate_hung():
        outcomes = recipe.send(listed(), *honest(), infected(LISTED), *forged())
    assert_all_are_checked(outcomes[:3])
    assert places(outcomes[3:]) == [REJECTED] * 6


@pytest.mark.parametrize("part", ["rspamd", "clamd"])
def test_all_mail_waits_at_its_sender_while_a_check_is_down(patient, part):
    checker = getattr(patient, part)
    checker.stop()
    assert places(patient.send(listed(), Mail(UNLISTED), infected(LISTED))) == [TRY_AGAIN] * 3
    checker.start()
    assert places(patient.send(listed(), Mail(UNLISTED))) == [MAILBOX] * 2


def test_all_mail_waits_at_its_sender_while_nobody_removes_forged_results(recipe):
    recipe.opendkim.kill()
    assert places(recipe.send(listed(), *honest())) == [TRY_AGAIN] * 3
    recipe.opendkim.start()
    assert places(recipe.send(listed(), Mail(UNLISTED))) == [MAILBOX] * 2


@pytest.mark.parametrize("part", ["rspamd", "clamd"])
def test_mail_goes_on_without_the_check_that_is_down(recipe, part):
    checker = getattr(recipe, part)
    checker.stop()
    assert places(recipe.send(listed(), Mail(UNLISTED))) == [MAILBOX] * 2
    checker.start()
    assert places(recipe.send(infected(LISTED))) == [REJECTED]
