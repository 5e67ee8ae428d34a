"""config/mta/postfix with postfix-spampd and postfix-clamav-milter: what Bloomgate marks takes the light path,
past SpamAssassin and through the virus check."""

import pytest
from conftest import LISTED, UNLISTED
from private_mail.clamav import ClamavMilter, Clamd
from private_mail.processes import free_port
from private_mail.recipe import (DEFERRED, HELD, MAILBOX, Mail, Recipe, with_header_checks, with_milters)
from private_mail.shipped import adapted
from private_mail.spamassassin import GTUBE, Spampd
from recipe_mails import infected, listed, places, started, unlisted

DEEP = ("deep-check", "smtp")
LIGHT = ("light-path", "smtp")


class SpampdRecipe(Recipe):
    def checks(self, stack):
        self.virus_port = free_port()
        self.clamd = stack.enter_context(Clamd(self.folder / "clamd"))
        self.clamav_milter = stack.enter_context(ClamavMilter(self.folder / "clamav-milter", self.clamd))
        self.spampd = stack.enter_context(Spampd(self.folder / "spampd", self.virus_port))

    def files(self):
        main_cf = with_milters(adapted("postfix/main.cf", {
            "[127.0.0.1]:10024": f"[127.0.0.1]:{self.spampd.port}"}), {
                "unix:/run/bloomgate/milter.sock": self.daemon.mta_socket})
        virus_check = adapted("postfix-clamav-milter/master.cf", {
            "127.0.0.1:10026": f"127.0.0.1:{self.virus_port}",
            "unix:/run/clamav/clamav-milter.ctl": self.clamav_milter.mta_socket})
        return {
            "main_cf": with_header_checks(main_cf, self.folder, {
                "bloomgate_header_checks": {"[127.0.0.1]:10026": f"[127.0.0.1]:{self.virus_port}"},
                "authentication_header_checks": {r"mx\.example\.org": r"mx\.example\.net"}}),
            "master_cf": adapted("postfix/master.cf", {
                "127.0.0.1:10025": f"127.0.0.1:{free_port()}"}) + virus_check}

    def logs(self):
        return f"{super().logs()}\n--- spampd\n{self.spampd.log()}\n--- clamav\n{self.clamav_milter.log()}"


@pytest.fixture(scope="module")
def recipe():
    with started(SpampdRecipe) as running:
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
def test_all_mail_waits_while_the_virus_check_is_down(recipe, part):
    checker = getattr(recipe, part)
    checker.stop()
    waiting = recipe.send(listed(), Mail(UNLISTED), infected(LISTED))
    assert places(waiting) == [DEFERRED] * 3
    checker.start()
    assert places(recipe.retry(*waiting)) == [MAILBOX, MAILBOX, HELD]
