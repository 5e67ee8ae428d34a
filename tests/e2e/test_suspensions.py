"""A listed account that was taken over, from its first message to the end of its suspension: real Postfix, real rspamd."""

import json
import os
import subprocess
from dataclasses import replace

import pytest
from conftest import LISTED, UNLISTED
from private_mail.dovecot import Dovecot
from private_mail.filter import built
from private_mail.postfix_recipes import DeepCheckRecipe
from private_mail.processes import free_port, temporary_folder, wait_until
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
    assert status is None or done.returncode == status, done.stderr
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
    assert "1 sender is suspended" in get(port, "/")[1]
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


ANN, PAM = "ann@example.net", "pam@example.net"  # users of ours
FRIEND = "ann@friend.example"  # whom no list has
FRIEND_PROVEN = b"Authentication-Results: mx.test; spf=pass smtp.mailfrom=friend.example"


@pytest.fixture(scope="module")
def dovecot(recipe):
    if os.geteuid() != 0:
        pytest.skip("Dovecot needs root")
    command = [recipe.daemon.binary, "--config", recipe.daemon.config_file, "moved"]
    with temporary_folder("dovecot") as folder, Dovecot(folder / "dovecot", command) as running:
        yield running


def test_what_a_user_moves_into_junk_and_out_of_it_counts_for_that_user_alone(recipe, dovecot):
    suspended(recipe, "clear", "@example.org", status=None)  # of the test before
    recipe.ask("rspamd", authentication="required", spf_proves="address", trusted_authserv_id="mx.test", learn="outbound",
               learn_file=recipe.folder / "daemon/learned.db", own_domains="example.net")

    def mail(sender, user, proof=PROVEN):
        return replace(Mail(sender), headers=(proof,), recipient=user)

    def arrive(sender, user, proof=PROVEN):
        """Through the mail server, and into the user's mailbox."""
        [outcome] = recipe.send(mail(sender, user, proof))
        dovecot.deliver(sender, user, outcome.received.content)
        return marks(outcome)

    def becomes(mark, sender, user, proof=PROVEN):
        wait_until(lambda: marks(*recipe.send(mail(sender, user, proof))) == [mark], f"{mark} from {sender} to {user}")

    # Into Junk: the listed sender is checked for ann, and for pam is not.
    assert arrive(LISTED, ANN) == ["deliver; reason=listed"]
    assert dovecot.move(ANN, "INBOX", "Junk") == 1
    wait_until(lambda: f"{LISTED} > {ANN}: until 20" in suspended(recipe, "list"), "the suspension")
    becomes("check; reason=suspended", LISTED, ANN)
    assert marks(*recipe.send(mail(LISTED, PAM))) == ["deliver; reason=listed"]
    assert f"suspended clear '{LISTED} > {ANN}'" in suspended(recipe, "clear", LISTED, status=1)

    # Out of Junk into Trash: nothing changes. Out of Junk into the inbox: it is over.
    assert dovecot.move(ANN, "Junk", "Trash") == 1
    assert dovecot.move(ANN, "Trash", "Junk") == 1
    assert f"{LISTED} > {ANN}" in suspended(recipe, "list")
    assert dovecot.move(ANN, "Junk", "INBOX") == 1
    becomes("deliver; reason=listed", LISTED, ANN)

    # A stranger who proves who he is is listed for who takes a message of his out of Junk.
    assert arrive(FRIEND, ANN, FRIEND_PROVEN) == ["check; reason=not-listed"]
    dovecot.move(ANN, "INBOX", "Trash")
    assert arrive(FRIEND, PAM, FRIEND_PROVEN) == ["check; reason=not-listed"]
    assert dovecot.move(PAM, "INBOX", "Junk") == 1
    assert dovecot.move(PAM, "Junk", "INBOX") == 1
    becomes("deliver; reason=learned", FRIEND, PAM, FRIEND_PROVEN)
    assert marks(*recipe.send(mail(FRIEND, ANN, FRIEND_PROVEN))) == ["check; reason=not-listed"]

    # One who proves nothing is not listed, and not suspended.
    unproven = b"X-Nothing: here"
    arrive(LISTED, ANN, unproven)
    assert dovecot.move(ANN, "INBOX", "Junk") == 1
    assert dovecot.move(ANN, "Junk", "INBOX") == 1
    assert f"{LISTED} > {ANN}" not in suspended(recipe, "list")

    # The command takes in all of a message, however long, so Dovecot does not take it for one that has failed.
    fields = PROVEN + f"\r\nFrom: <{LISTED}>\r\nSubject: long\r\n\r\n".encode()
    dovecot.deliver(LISTED, PAM, fields + (b"x" * 76 + b"\r\n") * 40_000)
    dovecot.move(PAM, "INBOX", "Junk")
    wait_until(lambda: f"{LISTED} > {PAM}" in suspended(recipe, "list"), "the suspension")
    assert "rror" not in dovecot.log()
