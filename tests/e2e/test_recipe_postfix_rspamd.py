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


@pytest.fixture(scope="module")
def patient():
    """Set up for those who rather let mail wait than have it unchecked."""
    with started(RspamdRecipe, when_down="tempfail") as running:
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


def test_all_mail_waits_at_its_sender_while_rspamd_is_down(patient):
    patient.rspamd.stop()
    assert set(places(patient.send(listed(), *unlisted().values(), infected(LISTED)))) == {TRY_AGAIN}
    patient.rspamd.start()
    assert places(patient.send(listed(), Mail(UNLISTED))) == [MAILBOX] * 2


def test_all_mail_waits_at_its_sender_while_the_virus_check_is_down(patient):
    patient.clamd.stop()
    assert places(patient.send(listed(), Mail(UNLISTED), infected(LISTED))) == [TRY_AGAIN] * 3
    patient.clamd.start()
    assert places(patient.send(listed(), Mail(UNLISTED))) == [MAILBOX] * 2


@pytest.mark.all_only
def test_all_mail_waits_at_its_sender_when_rspamd_hangs(patient):
    patient.rspamd.program.signal_all(signal.SIGSTOP)
    try:
        outcomes = patient.send(listed(), address=None, patience_seconds=200)
    finally:
        patient.rspamd.program.signal_all(signal.SIGCONT)
    assert places(outcomes) == [TRY_AGAIN]
    assert places(patient.send(listed(), Mail(UNLISTED))) == [MAILBOX] * 2


def test_mail_goes_on_unchecked_and_the_log_says_so_while_rspamd_is_down(recipe):
    recipe.rspamd.stop()
    outcomes = recipe.send(listed(), *unlisted().values())
    recipe.rspamd.start()
    assert set(places(outcomes)) == {MAILBOX}
    # What a message claims is taken out by the header checks and by Bloomgate all the same.
    assert [mark.split(";")[0] for each in outcomes for mark in each.header("X-Bloomgate")] == (
        ["deliver"] + ["check"] * (len(outcomes) - 1))
    assert f"warning: connect to Milter service {recipe.rspamd.mta_socket}" in recipe.postfix.log()
    assert_all_are_checked(recipe.send(*unlisted().values()))


def test_mail_goes_on_without_the_virus_check_and_rspamd_says_so_while_clamd_is_down(recipe):
    recipe.clamd.stop()
    [good, other] = recipe.send(listed(), Mail(UNLISTED))
    recipe.clamd.start()
    assert places([good, other]) == [MAILBOX] * 2
    assert "CLAM_VIRUS_FAIL" in symbols(good) & symbols(other)
    assert "clamav" in recipe.rspamd.log()
    assert places(recipe.send(infected(LISTED))) == [REJECTED]
