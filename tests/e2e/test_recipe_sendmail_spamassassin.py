"""config/mta/sendmail-spamassassin: for mail that Bloomgate marks, SpamAssassin stops after its first
rule."""

import re

import pytest
from conftest import LISTED, UNLISTED
from private_mail import sendmail
from private_mail.clamav import ClamavMilter, Clamd
from private_mail.processes import wait_until
from private_mail.recipe import HELD, MAILBOX, REJECTED, TRY_AGAIN, Mail
from private_mail.sendmail_recipe import OURSELVES, SendmailRecipe
from private_mail.spamassassin import GTUBE, Spamd, SpamassMilter
from recipe_mails import forged, honest, infected, listed, places, started


class SpamAssassinRecipe(SendmailRecipe):
    fragments = ("sendmail/clamav-milter.mc", "sendmail-spamassassin/spamass-milter.mc")

    def checks(self, stack):
        self.clamd = stack.enter_context(Clamd(self.folder / "clamd"))
        self.clamav_milter = stack.enter_context(ClamavMilter(
            self.folder / "clamav-milter", self.clamd, self.waits))
        self.spamd = stack.enter_context(Spamd(self.folder / "spamd"))
        self.spamass_milter = stack.enter_context(SpamassMilter(
            self.folder / "spamass-milter", self.spamd, self.waits))

    def sockets(self):
        return {"/run/clamav/clamav-milter.ctl": self.clamav_milter.address,
                "/run/spamass/spamass.sock": self.spamass_milter.address}

    def logs(self):
        return f"{super().logs()}\n--- spamd\n{self.spamd.log()}\n--- milter\n{self.spamass_milter.log()}"


@pytest.fixture(scope="module")
def recipe():
    if sendmail.can_run():
        pytest.skip(sendmail.can_run())
    with started(SpamAssassinRecipe) as running:
        yield running


@pytest.fixture(scope="module")
def patient():
    """Set up for those who rather let mail wait than have it unchecked."""
    if sendmail.can_run():
        pytest.skip(sendmail.can_run())
    with started(SpamAssassinRecipe, when_down="tempfail") as running:
        yield running


def spam(sender):
    return Mail(sender, body=GTUBE + b"\r\n")


def rules(outcome):
    """The rules of SpamAssassin that matched it."""
    [status] = outcome.header("X-Spam-Status")
    return set(re.search(r"tests=([\w,\s]*?)\s*(?:\w+=|$)", status).group(1).replace(",", " ").split())


def assert_all_are_checked(outcomes):
    for outcome in outcomes:
        assert outcome.place == MAILBOX, outcome
        assert rules(outcome) and "BLOOMGATE_DELIVER" not in rules(outcome), outcome.mail


def test_listed_mail_is_done_after_one_rule_and_checked_for_viruses(recipe):
    for outcome in recipe.send(listed(), spam(LISTED)):
        assert outcome.place == MAILBOX
        assert rules(outcome) == {"BLOOMGATE_DELIVER", "SHORTCIRCUIT"}
        assert outcome.header("X-Virus-Scanned") != []


def test_unlisted_mail_is_checked_and_spam_rejected(recipe):
    *outcomes, spam_mail = recipe.send(*honest(), spam(UNLISTED))
    assert_all_are_checked(outcomes)
    for outcome in outcomes:
        assert [mark.split(";")[0] for mark in outcome.header("X-Bloomgate")] == ["check"]
    assert spam_mail.place == REJECTED


@pytest.mark.all_only
def test_forged_marks_are_refused_from_outside_and_old_ones_of_this_machine_count_for_nothing(recipe):
    assert places(recipe.send(*forged())) == [REJECTED] * 5
    assert_all_are_checked(recipe.send(*forged(), address=OURSELVES))


def test_infected_mail_is_held_whoever_sends_it(recipe):
    assert places(recipe.send(infected(LISTED), infected(UNLISTED), listed())) == [HELD, HELD, MAILBOX]


def test_all_is_checked_when_bloomgate_is_down(recipe):
    with recipe.without_bloomgate():
        assert_all_are_checked(recipe.send(listed(), *honest()))
        assert places(recipe.send(spam(LISTED), infected(LISTED), *forged())) == [
            REJECTED, HELD, *[REJECTED] * 5]


@pytest.mark.all_only
def test_all_is_checked_when_bloomgate_hangs(recipe):
    with recipe.with_bloomgate_hung():
        *mails, spam_mail, infected_mail = recipe.send(
            listed(), *honest(), spam(LISTED), infected(LISTED))
    assert_all_are_checked(mails)
    assert places([spam_mail, infected_mail]) == [REJECTED, HELD]


@pytest.mark.parametrize("part", ["spamass_milter", pytest.param("clamav_milter", marks=pytest.mark.all_only),
                                  pytest.param("clamd", marks=pytest.mark.all_only)])
def test_all_mail_waits_at_its_sender_while_a_check_is_down(patient, part):
    checker = getattr(patient, part)
    checker.stop()
    assert places(patient.send(listed(), Mail(UNLISTED))) == [TRY_AGAIN] * 2
    checker.start()
    # clamav-milter looks for clamd again only when a message comes that it cannot have scanned.
    wait_until(lambda: places(patient.send(listed(), Mail(UNLISTED))) == [MAILBOX] * 2, "mail to arrive again")


@pytest.mark.all_only
def test_mail_waits_at_its_sender_when_spamd_stays_down(patient):
    patient.spamd.stop()
    assert places(patient.send(Mail(UNLISTED), patience_seconds=200)) == [TRY_AGAIN]
    patient.spamd.start()
    assert places(patient.send(Mail(UNLISTED))) == [MAILBOX]


@pytest.mark.parametrize("part", ["spamass_milter", "clamav_milter", "clamd", "spamd"])
def test_mail_goes_on_without_the_check_that_is_down(recipe, part):
    checker = getattr(recipe, part)
    checker.stop()
    assert places(recipe.send(listed(), Mail(UNLISTED))) == [MAILBOX] * 2
    checker.start()
    wait_until(lambda: places(recipe.send(infected(LISTED), spam(UNLISTED))) == [HELD, REJECTED], "the checks to go on")
