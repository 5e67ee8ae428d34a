"""A listed account that was taken over, from its first message to the end of its suspension: real Postfix, real rspamd."""

import json
import subprocess
from dataclasses import replace

import pytest
from conftest import LISTED, UNLISTED
from private_mail.filter import built
from private_mail.postfix_recipes import DeepCheckRecipe
from private_mail.processes import free_port, wait_until
from private_mail.recipe import MAILBOX, Mail
from recipe_mails import started
from test_deep_check_sample import spam
from test_monitoring import figures, get

# What the mail server's own filter would write; the recipe's client does so here.
PROVEN = b"Authentication-Results: mx.test; spf=pass smtp.mailfrom=example.org"


@pytest.fixture(scope="module")
def recipe():
    with started(DeepCheckRecipe) as running:
        yield running


def proven(mail):
    return replace(mail, headers=(*mail.headers, PROVEN))


def marks(*outcomes):
    return [outcome.header("X-Bloomgate")[0].split("; host=")[0] for outcome in outcomes]


def suspended(recipe, *words, status=0):
    done = subprocess.run([built("milter/bloomgate-milter"), "--config", recipe.daemon.config_file, "suspended", *words],
                          capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout


def explained(recipe):
    words = ["--explain", "--from", f"<{LISTED}>", "--header-from", LISTED, "--authentication-results",
             "mx.test; spf=pass smtp.mailfrom=example.org"]
    return subprocess.run([built("milter/bloomgate-milter"), "--config", recipe.daemon.config_file, *words],
                          capture_output=True, text=True, check=True).stdout


def test_spam_of_a_listed_sender_suspends_it_until_a_person_clears_it(recipe):
    port = free_port()
    recipe.ask("rspamd", deep_check_sample="100%", metrics=f"127.0.0.1:{port}", authentication="required",
               spf_proves="address", trusted_authserv_id="mx.test")
    [first] = recipe.send(proven(Mail(LISTED)))
    [bad] = recipe.send(proven(spam("rspamd")))
    assert marks(first, bad) == ["deliver; reason=listed"] * 2 and bad.place == MAILBOX
    recipe.daemon.logged(rf"warning: suspended={LISTED} queue_id={bad.queue_id} sender=<{LISTED}>: ")
    [held] = recipe.send(proven(Mail(LISTED)))
    assert marks(held) == ["check; reason=suspended"]
    assert figures(port)["bloomgate_suspended_senders", ""] == 1
    assert "1 senders are suspended" in get(port, "/")[1]
    assert f"{LISTED}: until 20" in suspended(recipe, "list")

    assert "decision: check reason=suspended" in explained(recipe)
    assert f"bloomgate-milter suspended clear {LISTED} would change that" in explained(recipe)

    # Mail that is not proven, or of a sender who is not listed, suspends no sender.
    recipe.send(spam("rspamd", UNLISTED), proven(spam("rspamd", UNLISTED)))
    assert [each["entry"] for each in json.loads(suspended(recipe, "list", "--json"))["suspended"]] == [LISTED]

    assert suspended(recipe, "clear", LISTED) == f"{LISTED}: is no longer suspended\n"
    wait_until(lambda: figures(port)["bloomgate_suspended_senders", ""] == 0, "the daemon to see that it is cleared")
    [again] = recipe.send(proven(Mail(LISTED)))
    assert marks(again) == ["deliver; reason=listed"]
    assert suspended(recipe, "clear", LISTED, status=1) == f"{LISTED}: was not suspended\n"

    # A domain covers its addresses, whatever lists them.
    assert "decision: deliver" in explained(recipe)
    suspended(recipe, "add", "@example.org")
    assert "decision: check reason=suspended" in explained(recipe)
    wait_until(lambda: figures(port)["bloomgate_suspended_senders", ""] == 1, "the daemon to see the domain")
    assert marks(*recipe.send(proven(Mail(LISTED)))) == ["check; reason=suspended"]
