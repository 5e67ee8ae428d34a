"""config/mta/postfix with postfix-spampd and postfix-clamav-milter: what Bloomgate marks takes the light
path, past SpamAssassin and through the virus check."""

import pytest
from conftest import LISTED, UNLISTED
from private_mail.postfix_recipes import SpampdRecipe
from private_mail.processes import wait_until
from private_mail.recipe import DEFERRED, HELD, MAILBOX, Mail
from private_mail.spamassassin import GTUBE
from recipe_mails import infected, listed, places, started, unlisted

DEEP = ("deep-check", "smtp")
LIGHT = ("light-path", "smtp")


@pytest.fixture(scope="module")
def recipe():
    with started(SpampdRecipe) as running:
        yield running


@pytest.fixture(scope="module")
def patient():
    """Set up for those who rather let mail wait than have it unchecked."""
    with started(SpampdRecipe, when_down="tempfail") as running:
        yield running


def spam(sender):
    return Mail(sender, body=GTUBE + b"\r\n")


def assert_all_are_checked(outcomes):
    for outcome in outcomes:
        assert (outcome.place, outcome.route) == (MAILBOX, DEEP), outcome
        [status] = outcome.header("X-Spam-Status")
        assert status.startswith("Yes" if GTUBE in outcome.mail.body else "No"), outcome.mail


def test_listed_mail_is_not_seen_by_the_spam_checker(recipe):
    for outcome in recipe.send(listed(), spam(LISTED)):
        assert (outcome.place, outcome.route) == (MAILBOX, LIGHT)
        assert outcome.header("X-Spam-Status") == []
        assert outcome.header("X-Virus-Scanned") != []


def test_unlisted_and_forged_mail_is_checked(recipe):
    *outcomes, caught = recipe.send(*unlisted().values(), spam(UNLISTED))
    assert_all_are_checked([*outcomes, caught])
    for outcome in outcomes:
        assert [mark.split(";")[0] for mark in outcome.header("X-Bloomgate")] == ["check"]
        assert outcome.header("X-Virus-Scanned") != []


def test_infected_mail_is_held_whoever_sends_it(recipe):
    outcomes = recipe.send(infected(LISTED), infected(UNLISTED), listed())
    assert places(outcomes) == [HELD, HELD, MAILBOX]


def test_all_is_checked_when_bloomgate_is_down(recipe):
    with recipe.without_bloomgate():
        assert_all_are_checked(recipe.send(listed(), spam(LISTED), *unlisted().values()))
        assert places(recipe.send(infected(LISTED))) == [HELD]


def test_all_is_checked_when_bloomgate_hangs(recipe):
    with recipe.with_bloomgate_hung():
        outcomes = recipe.send(listed(), spam(LISTED), *unlisted().values(), infected(LISTED), address=None)
    assert_all_are_checked(outcomes[:-1])
    assert outcomes[-1].place == HELD


def test_unlisted_mail_waits_while_the_spam_check_is_down_and_listed_mail_arrives(recipe):
    recipe.spampd.stop()
    good, *waiting = recipe.send(listed(), *unlisted().values())
    assert good.place == MAILBOX
    assert set(places(waiting)) == {DEFERRED}
    recipe.spampd.start()
    assert_all_are_checked(recipe.retry(*waiting))


@pytest.mark.parametrize("part", ["clamd", "clamav_milter"])
def test_all_mail_waits_while_the_virus_check_is_down(patient, part):
    checker = getattr(patient, part)
    checker.stop()
    waiting = patient.send(listed(), Mail(UNLISTED), infected(LISTED))
    assert places(waiting) == [DEFERRED] * 3
    checker.start()
    assert places(patient.retry(*waiting)) == [MAILBOX, MAILBOX, HELD]


@pytest.mark.parametrize("part", ["clamav_milter", "clamd"])
def test_mail_goes_on_without_the_virus_check_while_it_is_down(recipe, part):
    checker = getattr(recipe, part)
    checker.stop()
    assert places(recipe.send(listed(), Mail(UNLISTED))) == [MAILBOX] * 2
    checker.start()
    wait_until(lambda: places(recipe.send(infected(LISTED))) == [HELD], "the virus check to go on")
