"""The recipes of config/mta that put Bloomgate before a spam check and a virus check, each with its real servers: what
Bloomgate marks is spared the spam check and not the virus check, all other mail gets both, and what a part that is down or
hangs costs. recipe_kinds.py has how they differ."""

import re
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from conftest import LISTED, UNLISTED
from private_mail.clamav import EICAR
from private_mail.processes import wait_until
from private_mail.recipe import HELD, MAILBOX, REJECTED, STRANGER, TRY_AGAIN, Mail
from private_mail.sendmail_recipe import OURSELVES
from private_mail.spamassassin import GTUBE
from recipe_kinds import KINDS, OF_A_WHOLE_CHECK, OnSendmail, symbols
from recipe_mails import FORGED_MARK, OWN_MEMBER, forged, infected, listed, places, started

all_only = pytest.mark.all_only


@pytest.fixture(scope="module")
def start():
    """start(name, **options): the recipe of that name, which stays to the end for the tests that come."""
    with ExitStack() as stack:
        running = {}

        def start(name, **options):
            kind = KINDS[name]()
            if kind.why_not():
                pytest.skip(kind.why_not())
            key = (name, *options.values())
            if key not in running:
                options |= stack.enter_context(kind.options())
                running[key] = stack.enter_context(started(kind.recipe, **options))
                running[key].kind = kind
            return running[key]

        yield start


@pytest.fixture(params=KINDS)
def recipe(request, start):
    """As shipped: mail continues while a part is down."""
    return start(request.param)


@pytest.fixture
def patient(request, start):
    """Set up for operators who let mail wait rather than have it unchecked."""
    return start(request.param, when_down="tempfail")


def assert_all_are_checked(recipe, outcomes):
    assert outcomes
    for outcome in outcomes:
        assert outcome.place == MAILBOX, outcome
        recipe.kind.assert_is_checked(outcome)


def verdicts(outcomes):
    return [mark.split(";")[0] for outcome in outcomes for mark in outcome.header("X-Bloomgate")]


def test_listed_mail_is_spared_the_spam_check_and_gets_the_virus_check(recipe):
    scanned = recipe.clamd.log().count("OK")
    mails = [listed(), recipe.kind.spam(LISTED)] if recipe.kind.spares_spam else [listed()]
    outcomes = recipe.send(*mails)
    assert places(outcomes) == [MAILBOX] * len(mails)
    assert verdicts(outcomes) == ["deliver"] * len(mails)
    for outcome in outcomes:
        recipe.kind.assert_is_spared(outcome)
        assert bool(outcome.header("X-Virus-Scanned")) == recipe.kind.names_the_virus_check
    wait_until(lambda: recipe.clamd.log().count("OK") >= scanned + len(mails), "clamd to log the messages")


def test_unlisted_and_forged_mail_is_checked_and_spam_is_caught(recipe):
    *outcomes, caught = recipe.send(*recipe.kind.unlisted_mail(), recipe.kind.spam(UNLISTED))
    assert_all_are_checked(recipe, outcomes)
    assert verdicts(outcomes) == ["check"] * len(outcomes)
    for outcome in outcomes:
        assert outcome.header("Authentication-Results") == recipe.kind.results, outcome.mail
    if recipe.kind.spam_goes:
        assert caught.place == recipe.kind.spam_goes
    else:
        assert_all_are_checked(recipe, [caught])


def test_infected_mail_is_stopped_whether_its_sender_is_listed_or_not(recipe):
    stopped = recipe.kind.infected_goes
    assert places(recipe.send(infected(LISTED), infected(UNLISTED), listed())) == [stopped, stopped, MAILBOX]


def assert_all_mail_is_checked_without_bloomgate(recipe, **options):
    *outcomes, spam, infected_mail = recipe.send(
        listed(), *recipe.kind.unlisted_mail(), recipe.kind.spam(LISTED), infected(LISTED), **options)
    assert_all_are_checked(recipe, outcomes if recipe.kind.spam_goes else [*outcomes, spam])
    assert (spam.place, infected_mail.place) == (recipe.kind.spam_goes or MAILBOX, recipe.kind.infected_goes)


def test_all_mail_is_checked_while_bloomgate_is_down(recipe):
    with recipe.without_bloomgate():
        assert_all_mail_is_checked_without_bloomgate(recipe)
        if isinstance(recipe.kind, OnSendmail):
            assert set(places(recipe.send(*forged()))) == {REJECTED}


def hangs(names):
    """A mail server waits some seconds for a daemon that hangs: once for each recipe is enough in scripts/test."""
    return [pytest.param(name, marks=[] if name == "postfix-rspamd" else all_only) for name in names]


@pytest.mark.parametrize("recipe", hangs(KINDS), indirect=True)
def test_all_mail_is_checked_while_bloomgate_hangs(recipe):
    on_sendmail = isinstance(recipe.kind, OnSendmail)
    with recipe.with_bloomgate_hung():
        # Without an address from XCLIENT, Postfix asks each milter once less.
        assert_all_mail_is_checked_without_bloomgate(recipe, **({} if on_sendmail else {"address": None}))


def parts(attribute):
    return [pytest.param(name, part, id=f"{name}-{part}") for name, kind in KINDS.items() for part in getattr(kind, attribute)]


@all_only
@pytest.mark.parametrize("patient, part", parts("that_wait"), indirect=["patient"])
def test_all_mail_waits_while_a_check_is_down_where_the_operator_wants_that(patient, part):
    checker, kind = getattr(patient, part), patient.kind
    checker.stop()
    waiting = patient.send(listed(), Mail(UNLISTED), infected(LISTED))
    assert places(waiting) == [kind.waits_as] * 3
    checker.start()
    # clamav-milter looks for clamd again only when a message comes that it cannot have scanned.
    wait_until(lambda: TRY_AGAIN not in places(patient.send(listed(), Mail(UNLISTED))), "mail to arrive again")
    assert places(kind.back(patient, waiting)) == [MAILBOX, MAILBOX, kind.infected_goes]


@all_only
@pytest.mark.parametrize("recipe, part", parts("that_go_on"), indirect=["recipe"])
def test_mail_goes_on_without_the_check_that_is_down(recipe, part):
    checker = getattr(recipe, part)
    checker.stop()
    outcomes = recipe.send(listed(), *recipe.kind.unlisted_mail())
    checker.start()
    assert set(places(outcomes)) == {MAILBOX}
    # What a message claims is removed by the mail server and by Bloomgate all the same.
    assert verdicts(outcomes) == ["deliver"] + ["check"] * (len(outcomes) - 1)
    if part == "clamd" and recipe.kind.infected_goes == REJECTED:
        assert all("CLAM_VIRUS_FAIL" in symbols(outcome) for outcome in outcomes)
        assert "clamav" in recipe.rspamd.log()
    if part == "rspamd" and not isinstance(recipe.kind, OnSendmail) and recipe.kind.waits_as == TRY_AGAIN:
        assert f"warning: connect to Milter service {recipe.rspamd.mta_socket}" in recipe.postfix.log()
    wait_until(lambda: places(recipe.send(infected(LISTED))) == [recipe.kind.infected_goes], "the virus check to go on")
    wait_until(lambda: recipe.send(recipe.kind.spam(UNLISTED))[0].place == (recipe.kind.spam_goes or MAILBOX),
               "the spam check to go on")


# What only some of them have.


def only(fixture, *names):
    return pytest.mark.parametrize(fixture, names, indirect=True)


@all_only
@pytest.mark.parametrize("patient, part", [("postfix-rspamd-after-queue", "rspamd"), ("postfix-spampd", "spampd")],
                         indirect=["patient"])
def test_unlisted_mail_waits_while_the_spam_check_is_down_and_listed_mail_arrives(patient, part):
    checker = getattr(patient, part)
    checker.stop()
    good, *waiting = patient.send(listed(), *patient.kind.unlisted_mail())
    assert good.place == MAILBOX
    assert set(places(waiting)) == {patient.kind.waits_as}
    checker.start()
    assert_all_are_checked(patient, patient.retry(*waiting))


@only("recipe", "postfix-rspamd")
def test_rspamd_has_listed_mail_in_its_history_and_signs_our_own_mail(recipe):
    outcomes = recipe.send(listed(), Mail(UNLISTED))
    history = {entry["id"]: entry for entry in recipe.rspamd.history()}
    for outcome in outcomes:
        [message_id] = outcome.header("Message-ID")
        findings = history[message_id.strip("<>")]["symbols"]  # of many, some
        assert (len(findings) > 0) == (outcome.mail.path == UNLISTED)
    [own] = recipe.send(Mail(OWN_MEMBER), address="127.0.0.1")
    assert "d=example.net" in own.header("DKIM-Signature")[0]
    assert not OF_A_WHOLE_CHECK & symbols(own)


@only("recipe", "postfix-rspamd-after-queue")
def test_rspamd_after_the_queue_sees_the_address_of_the_client(recipe):
    [outcome] = recipe.send(Mail(UNLISTED))
    [message_id] = outcome.header("Message-ID")
    assert re.findall(rf"id: {re.escape(message_id)}, .*?\bip: (\S+),", recipe.rspamd.log()) == [STRANGER]


@only("recipe", "postfix-rspamd-after-queue")
def test_rspamd_after_the_queue_lets_no_virus_through_where_it_does_not_quarantine(recipe):
    outcomes = recipe.send(infected(UNLISTED), Mail(UNLISTED, body=EICAR + b"\r\n" + GTUBE + b"\r\n"))
    assert places(outcomes) == [HELD] * 2
    by_the_field = f" {outcomes[0].queue_id}: milter-header-hold: header X-Spamd-Result: default: True "
    assert by_the_field in recipe.postfix.log()
    claimed = recipe.send(Mail(UNLISTED, (b"X-Spamd-Result: default: True [99.00 / 15.00]",)))
    assert_all_are_checked(recipe, claimed)


@all_only
@only("patient", "postfix-rspamd")
def test_all_mail_waits_at_its_sender_while_rspamd_hangs(patient):
    patient.rspamd.program.signal_all(signal.SIGSTOP)
    try:
        outcomes = patient.send(listed(), address=None, patience_seconds=200)
    finally:
        patient.rspamd.program.signal_all(signal.SIGCONT)
    assert places(outcomes) == [TRY_AGAIN]
    assert places(patient.send(listed(), Mail(UNLISTED))) == [MAILBOX] * 2


@only("recipe", "postfix-spamass-milter")
def test_no_name_server_is_asked_about_listed_mail(recipe):
    recipe.send(listed())  # by its end, spamd has started wholly, and asked what it asks then
    before = recipe.kind.name_server.questions
    recipe.send(listed(), recipe.kind.spam(LISTED))
    assert recipe.kind.name_server.questions == before
    recipe.send(Mail(UNLISTED))
    assert recipe.kind.name_server.questions > before


def spamc_runs(milter):
    """Whether the milter has started one, and waits for it."""
    try:
        children = [child for task in Path(f"/proc/{milter.program.pid}/task").iterdir()
                    for child in (task / "children").read_text().split()]
        return any(Path(f"/proc/{child}/comm").read_text() == "spamc\n" for child in children)
    except OSError:
        return False  # it has just ended


@all_only
@only("patient", "postfix-spamass-milter")
def test_mail_waits_for_spamd_and_at_its_sender_when_spamd_stays_down(patient):
    patient.spamd.stop()
    with ThreadPoolExecutor() as background:
        waiting = background.submit(patient.send, Mail(UNLISTED))
        wait_until(lambda: spamc_runs(patient.spamass_milter), "spamc to try")
        patient.spamd.start()
    assert_all_are_checked(patient, waiting.result())
    patient.spamd.stop()
    assert places(patient.send(Mail(UNLISTED), patience_seconds=200)) == [TRY_AGAIN]
    patient.spamd.start()


# Fields that a message came with, on Sendmail, which cannot remove them.

# It looks at no more than the first 255 bytes of a field, and rspamd at no longer ones.
MARKS_OF_EVERY_LENGTH = [Mail(UNLISTED, (field,)) for length in (1, 100, 240, 241, 250, 256, 300, 600, 4000) for field in (
    b"X-Bloomgate: deliver;" + b"x" * length, b"X-Bloomgate: deliver; " + b"a;" * (length // 2))]

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
CLAIM = b"dkim=pass header.d=example.org; spf=pass smtp.mailfrom=example.org"

OLD_RESULTS = [
    b"mx.example.net; dkim=none; dkim-atps=neutral",
    b"mx.example.net;\r\n\tdkim=fail (2048-bit key; unprotected) header.d=example.com header.i=@example.com"
    b" header.a=rsa-sha256 header.s=mail header.b=AbCdEf12;\r\n\tdkim-atps=neutral",
    b"other.example; dkim=pass (2048-bit key) header.d=example.com; " + b"x=none; " * 50]


@only("recipe", "sendmail-rspamd", pytest.param("sendmail-spamassassin", marks=all_only))
def test_sendmail_refuses_forged_fields_from_outside_and_those_of_this_machine_count_for_nothing(recipe):
    assert set(places(recipe.send(*forged(), Mail(LISTED, (FORGED_MARK,))))) == {REJECTED}
    outcomes = recipe.send(*forged(), address=OURSELVES)
    assert_all_are_checked(recipe, outcomes)
    assert verdicts(outcomes) == ["check"] * len(outcomes)


@only("recipe", "sendmail-rspamd")
def test_sendmail_refuses_forged_results_or_opendkim_removes_them(recipe):
    def harmless(value):
        [outcome] = recipe.send(Mail(LISTED, (b"Authentication-Results: " + value,)))
        return outcome.place == REJECTED or outcome.header("Authentication-Results") == recipe.kind.results

    assert [name for name, value in FORGED_RESULTS.items() if not harmless(value.replace(b"%s", CLAIM))] == []
    taken = recipe.send(*(Mail(UNLISTED, (b"Authentication-Results: " + value,)) for value in OLD_RESULTS))
    assert places(taken) == [MAILBOX] * len(OLD_RESULTS), "mail that comes back or was checked elsewhere is accepted"


@only("recipe", "sendmail-rspamd")
def test_no_forged_mark_of_any_length_counts_while_bloomgate_is_down(recipe):
    with recipe.without_bloomgate():
        outcomes = recipe.send(*MARKS_OF_EVERY_LENGTH)
    assert_all_are_checked(recipe, [outcome for outcome in outcomes if outcome.place != REJECTED])
    assert REJECTED in places(outcomes)


@only("recipe", "sendmail-rspamd")
def test_all_mail_waits_at_its_sender_while_opendkim_cannot_remove_forged_results(recipe):
    recipe.opendkim.kill()
    assert places(recipe.send(listed(), *recipe.kind.unlisted_mail())) == [TRY_AGAIN] * 3
    recipe.opendkim.start()
    assert places(recipe.send(listed(), Mail(UNLISTED))) == [MAILBOX] * 2
