"""config/mta/postfix-spamass-milter: for mail that Bloomgate marks, SpamAssassin stops after the first rule,
which sends no query."""

import re
import socketserver
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import LISTED, UNLISTED
from private_mail.postfix_recipes import SpamassMilterRecipe
from private_mail.processes import wait_until
from private_mail.recipe import HELD, MAILBOX, REJECTED, TRY_AGAIN, Mail
from private_mail.spamassassin import GTUBE
from recipe_mails import infected, listed, places, started, unlisted


class NameServer(socketserver.ThreadingUDPServer):
    """Knows no name, and counts the questions."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Question)
        self.questions = 0

    class Question(socketserver.BaseRequestHandler):
        def handle(self):
            packet, answering = self.request
            self.server.questions += 1
            no_such_name = b"\x81\x83"  # RFC 1035, section 4.1.1: a response, recursion, RCODE 3
            answering.sendto(packet[:2] + no_such_name + packet[4:], self.client_address)

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


@pytest.fixture(scope="module")
def name_server():
    with NameServer() as running:
        yield running


@pytest.fixture(scope="module")
def recipe(name_server):
    with started(SpamassMilterRecipe, name_server=name_server.server_address) as running:
        yield running


@pytest.fixture(scope="module")
def patient(name_server):
    """Set up for those who rather let mail wait than have it unchecked."""
    with started(SpamassMilterRecipe, when_down="tempfail", name_server=name_server.server_address) as running:
        yield running


def spam(sender):
    return Mail(sender, body=GTUBE + b"\r\n")


def rules(outcome):
    """The rules of SpamAssassin that matched it."""
    [status] = outcome.header("X-Spam-Status")
    return set(re.search(r"tests=([\w,\s]*?)\s*(?:\w+=|$)", status).group(1).replace(",", " ").split())


def spamc_runs(milter):
    """Whether the milter has started one, and waits for it."""
    try:
        children = [child for task in Path(f"/proc/{milter.program.pid}/task").iterdir()
                    for child in (task / "children").read_text().split()]
        return any(Path(f"/proc/{child}/comm").read_text() == "spamc\n" for child in children)
    except OSError:
        return False  # it has just ended


def assert_all_are_checked(outcomes):
    for outcome in outcomes:
        assert outcome.place == MAILBOX, outcome
        assert rules(outcome) and "BLOOMGATE_DELIVER" not in rules(outcome), outcome.mail


def test_listed_mail_is_done_after_one_rule_and_no_name_server_is_asked(recipe, name_server):
    recipe.send(listed())  # by its end, spamd has started wholly, and asked what it asks then
    before = name_server.questions
    for outcome in recipe.send(listed(), spam(LISTED)):
        assert outcome.place == MAILBOX
        assert rules(outcome) == {"BLOOMGATE_DELIVER", "SHORTCIRCUIT"}
        assert outcome.header("X-Virus-Scanned") != []
    assert name_server.questions == before


def test_unlisted_and_forged_mail_is_checked_and_name_servers_are_asked(recipe, name_server):
    before = name_server.questions
    outcomes = recipe.send(*unlisted().values())
    assert_all_are_checked(outcomes)
    for outcome in outcomes:
        assert [mark.split(";")[0] for mark in outcome.header("X-Bloomgate")] == ["check"]
    assert name_server.questions > before


def test_unlisted_spam_is_rejected(recipe):
    assert places(recipe.send(spam(UNLISTED))) == [REJECTED]


def test_infected_mail_is_held_whoever_sends_it(recipe):
    assert places(recipe.send(infected(LISTED), infected(UNLISTED), listed())) == [HELD, HELD, MAILBOX]


def test_all_is_checked_when_bloomgate_is_down(recipe):
    with recipe.without_bloomgate():
        assert_all_are_checked(recipe.send(listed(), *unlisted().values()))
        assert places(recipe.send(spam(LISTED), infected(LISTED))) == [REJECTED, HELD]


def test_all_is_checked_when_bloomgate_hangs(recipe):
    with recipe.with_bloomgate_hung():
        *mails, spam_mail, infected_mail = recipe.send(
            listed(), *unlisted().values(), spam(LISTED), infected(LISTED), address=None)
    assert_all_are_checked(mails)
    assert places([spam_mail, infected_mail]) == [REJECTED, HELD]


@pytest.mark.parametrize("part", ["spamass_milter", "clamav_milter", "clamd"])
def test_all_mail_waits_at_its_sender_while_a_check_is_down(patient, part):
    checker = getattr(patient, part)
    checker.stop()
    assert places(patient.send(listed(), Mail(UNLISTED))) == [TRY_AGAIN] * 2
    checker.start()
    # clamav-milter looks for clamd again only when a message comes that it cannot have scanned.
    wait_until(lambda: places(patient.send(listed(), Mail(UNLISTED))) == [MAILBOX] * 2, "mail to arrive again")


def test_mail_that_comes_while_spamd_is_down_waits_for_it(patient):
    patient.spamd.stop()
    with ThreadPoolExecutor() as background:
        waiting = background.submit(patient.send, Mail(UNLISTED))
        wait_until(lambda: spamc_runs(patient.spamass_milter), "spamc to try")
        patient.spamd.start()
    assert_all_are_checked(waiting.result())


@pytest.mark.all_only
def test_mail_waits_at_its_sender_when_spamd_stays_down(patient):
    patient.spamd.stop()
    assert places(patient.send(Mail(UNLISTED), patience_seconds=200)) == [TRY_AGAIN]
    patient.spamd.start()


@pytest.mark.parametrize("part", ["spamass_milter", "clamav_milter", "clamd", "spamd"])
def test_mail_goes_on_without_the_check_that_is_down(recipe, part):
    checker = getattr(recipe, part)
    checker.stop()
    assert places(recipe.send(listed(), Mail(UNLISTED))) == [MAILBOX] * 2
    checker.start()
    wait_until(lambda: places(recipe.send(infected(LISTED), spam(UNLISTED))) == [HELD, REJECTED], "the checks to go on")
