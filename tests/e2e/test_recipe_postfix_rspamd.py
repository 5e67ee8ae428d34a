"""config/mta/postfix-rspamd: what Bloomgate marks skips rspamd's spam checks, and keeps its virus check."""

import re
import signal

import pytest
from conftest import LISTED, UNLISTED
from private_mail.postfix_recipes import RspamdRecipe
from private_mail.processes import wait_until
from private_mail.recipe import MAILBOX, REJECTED, TRY_AGAIN, Mail
from recipe_mails import OWN_MEMBER, infected, listed, places, started, unlisted


@pytest.fixture(scope="module")
def recipe():
    with started(RspamdRecipe) as running:
        yield running


def symbols(outcome):
    """The rules of rspamd that had something to say about it."""
    [result] = outcome.header("X-Spamd-Result")
    return set(re.findall(r"\b([A-Z][A-Z0-9_]+)\(", result))


# Every message gets at least these from a whole check.
OF_A_WHOLE_CHECK = {"MIME_GOOD", "FROM_NO_DN", "RCPT_COUNT_ONE"}


def assert_all_are_checked(outcomes):
    for outcome in outcomes:
        assert outcome.place == MAILBOX, outcome
        assert OF_A_WHOLE_CHECK <= symbols(outcome), outcome.mail


def test_listed_mail_skips_the_spam_checks_and_goes_through_the_virus_check(recipe):
    scanned = recipe.clamd.log().count("OK")
    [outcome] = recipe.send(listed())
    assert outcome.place == MAILBOX
    assert symbols(outcome) == set()
    wait_until(lambda: recipe.clamd.log().count("OK") == scanned + 1, "clamd to log the message")


def test_unlisted_and_forged_mail_is_checked(recipe):
    mails = unlisted()
    for name, outcome in zip(mails, recipe.send(*mails.values())):
        assert_all_are_checked([outcome])
        assert [mark.split(";")[0] for mark in outcome.header("X-Bloomgate")] == ["check"], name
        assert outcome.header("Authentication-Results") == [], name


def test_infected_mail_is_rejected_whoever_sends_it(recipe):
    outcomes = recipe.send(infected(LISTED), infected(UNLISTED), listed())
    assert places(outcomes) == [REJECTED, REJECTED, MAILBOX]


def test_the_history_has_listed_mail_too(recipe):
    outcomes = recipe.send(listed(), Mail(UNLISTED))
    history = {entry["id"]: entry for entry in recipe.rspamd.history()}
    for outcome in outcomes:
        [message_id] = outcome.header("Message-ID")
        findings = history[message_id.strip("<>")]["symbols"]  # of many, some
        assert (len(findings) > 0) == (outcome.mail.path == UNLISTED)


def test_our_own_mail_is_signed_though_it_is_listed(recipe):
    [outcome] = recipe.send(Mail(OWN_MEMBER), address="127.0.0.1")
    assert "d=example.net" in outcome.header("DKIM-Signature")[0]
    assert not OF_A_WHOLE_CHECK & symbols(outcome)


def test_all_is_checked_when_bloomgate_is_down(recipe):
    with recipe.without_bloomgate():
        assert_all_are_checked(recipe.send(listed(), *unlisted().values()))
        assert places(recipe.send(infected(LISTED))) == [REJECTED]


def test_all_is_checked_when_bloomgate_hangs(recipe):
    with recipe.with_bloomgate_hung():
        outcomes = recipe.send(listed(), *unlisted().values(), infected(LISTED), address=None)
    assert_all_are_checked(outcomes[:-1])
    assert outcomes[-1].place == REJECTED


def test_all_mail_waits_at_its_sender_while_rspamd_is_down(recipe):
    recipe.rspamd.stop()
    assert set(places(recipe.send(listed(), *unlisted().values(), infected(LISTED)))) == {TRY_AGAIN}
    recipe.rspamd.start()
    assert places(recipe.send(listed(), Mail(UNLISTED))) == [MAILBOX] * 2


def test_all_mail_waits_at_its_sender_while_the_virus_check_is_down(recipe):
    recipe.clamd.stop()
    assert places(recipe.send(listed(), Mail(UNLISTED), infected(LISTED))) == [TRY_AGAIN] * 3
    recipe.clamd.start()
    assert places(recipe.send(listed(), Mail(UNLISTED))) == [MAILBOX] * 2


@pytest.mark.all_only
def test_all_mail_waits_at_its_sender_when_rspamd_hangs(recipe):
    recipe.rspamd.program.signal_all(signal.SIGSTOP)
    try:
        outcomes = recipe.send(listed(), address=None, patience_seconds=200)
    finally:
        recipe.rspamd.program.signal_all(signal.SIGCONT)
    assert places(outcomes) == [TRY_AGAIN]
    assert places(recipe.send(listed(), Mail(UNLISTED))) == [MAILBOX] * 2
