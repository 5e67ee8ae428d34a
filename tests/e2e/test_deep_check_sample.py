"""deep-check-sample: some of the delivered mail is shown to a real rspamd, or spamd, after it was delivered."""

import re
import socket
import subprocess
import time

import pytest
from conftest import LISTED, UNLISTED
from private_mail.filter import built
from private_mail.postfix_recipes import DeepCheckRecipe
from private_mail.processes import free_port, wait_until
from private_mail.recipe import MAILBOX, Mail
from private_mail.spamassassin import GTUBE
from recipe_mails import started
from test_monitoring import figures, get

RSPAMD_SPAM = b"Y" + GTUBE[1:]
ALL = "100%"


@pytest.fixture(scope="module")
def recipe():
    with started(DeepCheckRecipe) as running:
        yield running


@pytest.fixture(params=["rspamd", "spamd"])
def checker(request):
    return request.param


def spam(checker, sender=LISTED):
    return Mail(sender, body=(RSPAMD_SPAM if checker == "rspamd" else GTUBE) + b"\r\n")


def ask(recipe, checker, **settings):
    """Restarts the daemon with all delivered mail sampled; the port of its figures."""
    port = free_port()
    recipe.ask(checker, **{"deep_check_sample": ALL, "metrics": f"127.0.0.1:{port}", **settings})
    return port


def sample_line(recipe, outcome):
    """Waits until the daemon says what became of the sample."""
    return recipe.daemon.logged(rf"(?m)^.* queue_id={outcome.queue_id} sender=\S+ sample=.*$").group()


def samples(port):
    """{answer: count}"""
    return {labels.partition('"')[2].rstrip('"'): int(value) for (name, labels), value in figures(port).items()
            if name == "bloomgate_delivery_samples_total"}


def is_delivered_as_ever(outcome):
    return (outcome.place == MAILBOX and outcome.header("X-Bloomgate")[0].startswith("deliver; ")
            and not [name for name, _ in outcome.received.headers() if name.lower().startswith("x-spam")])


def test_a_listed_sender_who_turns_bad_is_delivered_and_named(recipe, checker):
    before = len(recipe.daemon.log())
    port = ask(recipe, checker)
    bad, good, other = recipe.send(spam(checker), Mail(LISTED), Mail(UNLISTED))
    assert is_delivered_as_ever(bad) and is_delivered_as_ever(good)
    named = sample_line(recipe, bad)
    assert "warning" in named
    assert re.search(rf"sender=<{LISTED}> sample=spam score=\S+ identity=envelope whitelist=whitelist ", named)
    assert " sample=ham " in sample_line(recipe, good)
    assert samples(port) == {"ham": 1, "spam": 1, "failed": 0, "dropped": 0}
    found = figures(port)
    assert found["bloomgate_delivered_spam_ratio", ""] == 0.5
    assert 0 < found["bloomgate_delivered_spam_lower_ratio", ""] < 0.5 < found["bloomgate_delivered_spam_upper_ratio", ""] < 1
    assert "the checker calls 1 spam" in get(port, "/")[1]
    assert " sample=" not in "".join(recipe.daemon.lines_of(other.queue_id))
    report = subprocess.run([built("filter/cli/bloomgate"), "report", "--since", "1h", "-"], input=recipe.daemon.log()[before:],
                            capture_output=True, text=True, check=True).stdout
    assert re.search(rf"(?m)^ *{LISTED} .* 1$", report), report


def test_nothing_of_an_answer_and_of_a_long_message_comes_back(recipe, checker):
    ask(recipe, checker, deep_check_max_size="2K", deep_check_memory="1K")
    [long] = recipe.send(Mail(LISTED, body=b"a line of text\r\n" * 30_000))
    assert is_delivered_as_ever(long)
    assert long.received.content.count(b"a line of text") == 30_000
    assert " sample=ham " in sample_line(recipe, long)


def test_listed_mail_waits_for_no_checker_that_hangs_and_neither_does_a_stop(recipe):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = ask(recipe, "spamd", deep_check=f"spamd:inet:{silent.getsockname()[1]}@127.0.0.1", deep_check_timeout="600")
        outcomes = recipe.send(*[Mail(LISTED) for _ in range(25)])
        assert all(map(is_delivered_as_ever, outcomes))
        # One is asked about, 16 wait.
        wait_until(lambda: samples(port)["dropped"] == 8, "the samples that do not fit to be counted")
        begin = time.monotonic()
        assert recipe.daemon.stop() == 0
        assert time.monotonic() - begin < 60
        assert " sample=" not in recipe.daemon.log().rpartition("stopping")[2]
    recipe.daemon.start()
