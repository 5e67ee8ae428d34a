"""config/mta/postfix-rspamd-after-queue: mail that Bloomgate marks reaches the virus check, but not rspamd."""

import re

import pytest
from conftest import LISTED, UNLISTED
from private_mail.postfix_recipes import RspamdAfterQueueRecipe
from private_mail.recipe import DEFERRED, HELD, MAILBOX, STRANGER, Mail
from private_mail.spamassassin import GTUBE
from recipe_mails import infected, listed, places, started, unlisted

DEEP = ("deep-check", "smtp")
LIGHT = ("light-path", "smtp")


@pytest.fixture(scope="module")
def recipe():
    with started(RspamdAfterQueueRecipe) as running:
        yield running


@pytest.fixture(scope="module")
def patient():
    """Set up for those who rather let mail wait than have it unchecked."""
    with started(RspamdAfterQueueRecipe, when_down="tempfail") as running:
        yield running


def assert_all_are_checked(outcomes):
    for outcome in outcomes:
        assert (outcome.place, outcome.route) == (MAILBOX, DEEP), outcome
        [result] = outcome.header("X-Spamd-Result")
        assert "MIME_GOOD" in result and "FROM_NO_DN" in result, outcome.mail


def test_listed_mail_does_not_reach_rspamd(recipe):
    [outcome] = recipe.send(listed())
    assert (outcome.place, outcome.route) == (MAILBOX, LIGHT)
    assert outcome.header("X-Spamd-Result") == []
    assert outcome.header("X-Virus-Scanned") != []


def test_unlisted_and_forged_mail_is_checked_as_coming_from_its_client(recipe):
    outcomes = recipe.send(*unlisted().values())
    assert_all_are_checked(outcomes)
    for outcome in outcomes:
        [message_id] = outcome.header("Message-ID")
        [client] = re.findall(rf"id: {re.escape(message_id)}, .*?\bip: (\S+),", recipe.rspamd.log())
        assert client == STRANGER


def test_what_rspamd_would_reject_is_held(recipe):
    spam = Mail(UNLISTED, body=GTUBE + b"\r\n")
    assert places(recipe.send(spam, infected(UNLISTED), infected(LISTED), listed())) == [HELD] * 3 + [MAILBOX]


def test_all_is_checked_when_bloomgate_is_down(recipe):
    with recipe.without_bloomgate():
        assert_all_are_checked(recipe.send(listed(), *unlisted().values()))
        assert places(recipe.send(infected(LISTED))) == [HELD]


def test_all_is_checked_when_bloomgate_hangs(recipe):
    with recipe.with_bloomgate_hung():
        outcomes = recipe.send(listed(), *unlisted().values(), infected(LISTED), address=None)
    assert_all_are_checked(outcomes[:-1])
    assert outcomes[-1].place == HELD


def test_unlisted_mail_waits_while_rspamd_is_down_and_listed_mail_arrives(patient):
    patient.rspamd.stop()
    good, *waiting = patient.send(listed(), *unlisted().values())
    assert good.place == MAILBOX
    assert set(places(waiting)) == {DEFERRED}
    patient.rspamd.start()
    assert_all_are_checked(patient.retry(*waiting))


def test_all_mail_waits_while_the_virus_check_is_down(patient):
    patient.clamd.stop()
    waiting = patient.send(listed(), Mail(UNLISTED), infected(LISTED), infected(UNLISTED))
    assert places(waiting) == [DEFERRED] * 4
    patient.clamd.start()
    assert places(patient.retry(*waiting)) == [MAILBOX, MAILBOX, HELD, HELD]


def test_mail_goes_on_unchecked_while_rspamd_is_down(recipe):
    recipe.rspamd.stop()
    outcomes = recipe.send(listed(), *unlisted().values())
    recipe.rspamd.start()
    assert set(places(outcomes)) == {MAILBOX}
    assert_all_are_checked(recipe.send(Mail(UNLISTED)))
