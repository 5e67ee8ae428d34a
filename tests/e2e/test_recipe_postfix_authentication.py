"""The whole chain of a recipe, with Bloomgate as it is shipped: OpenDKIM, Bloomgate, rspamd. Only a sender who is
listed and authenticated skips the spam checks."""

from functools import cache

import pytest
from conftest import LISTED
from private_mail.client import RawMessage
from private_mail.opendkim import OpenDkimConfig
from private_mail.postfix_recipes import RspamdRecipe
from private_mail.recipe import MAILBOX, Mail
from private_mail.signing import SigningKey
from recipe_mails import FORGED_MARK, FORGED_RESULT, started

OWN = "example.org"  # the listed sender's domain
OTHER = "example.com"


@cache
def key(domain):
    return SigningKey(domain)


@pytest.fixture(scope="module")
def recipe():
    opendkim = OpenDkimConfig((key(OWN), key(OTHER)))
    with started(RspamdRecipe, {"authentication": "required", "verify-dkim": "no"}, (opendkim,)) as running:
        yield running


def signed(domain, headers=()):
    mail = Mail(LISTED, headers)
    return RawMessage(LISTED, subject=mail.subject, raw=key(domain).sign(mail.content()))


def skipped(outcome):
    assert outcome.place == MAILBOX
    [result] = outcome.header("X-Spamd-Result")
    return "MIME_GOOD" not in result


FORGERIES = {
    "without a signature": Mail(LISTED),
    "with another domain's signature": signed(OTHER),
    "with forged results": Mail(LISTED, (FORGED_RESULT,)),
    "with forged results and another's signature": signed(OTHER, (FORGED_RESULT,)),
    "with a forged mark": Mail(LISTED, (FORGED_MARK,)),
}


def test_a_listed_sender_with_its_own_signature_skips_the_spam_checks(recipe):
    [outcome] = recipe.send(signed(OWN))
    assert skipped(outcome)


def test_a_listed_sender_that_is_forged_is_checked(recipe):
    outcomes = recipe.send(*FORGERIES.values())
    assert {name: (skipped(outcome), [mark.split(";")[0] for mark in outcome.header("X-Bloomgate")])
            for name, outcome in zip(FORGERIES, outcomes)} == dict.fromkeys(FORGERIES, (False, ["check"]))


def test_every_sender_is_checked_while_opendkim_is_down(recipe):
    [opendkim] = recipe.milters
    opendkim.kill()
    [outcome] = recipe.send(signed(OWN))
    opendkim.start()
    assert not skipped(outcome)
