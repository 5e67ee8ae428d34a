"""The page of config/mta/authentication, taken at its word: see test_recipes_as_written.py."""

import re
from pathlib import Path

import pytest
from written_pages import container, put_recipes, steps_of

import signed_mail

SCRIPT = Path(__file__).parent / "authentication.sh"
ROOT = "recipe-root-spamassassin"


@pytest.fixture(scope="module")
def outcome():
    with container.checked(SCRIPT, prepare, container.RECIPE_PACKAGES[ROOT], ROOT) as found:
        yield found


def prepare(root):
    put_recipes(root)
    name_the_resolver(root / "root/bloomgate/config/mta/authentication/opendkim.conf")
    (root / "checks/steps").write_text(steps_of("authentication", "Setting it up in Postfix"))
    signed_mail.put(root / "checks")


def name_the_resolver(configuration):
    """As the page says it of a firewall: here, too, OpenDKIM gets no answer from the name servers of the Internet, and it
    does not read /etc/resolv.conf. The name server that is here signs no zone."""
    text, count = re.subn(r"(?m)^TrustAnchorFile .*$", "Nameservers         127.0.0.1", configuration.read_text())
    assert count == 1
    configuration.write_text(text)


@pytest.mark.all_only
@pytest.mark.parametrize("check", ["prepare", *container.names_of_checks(SCRIPT)])
def test_the_steps_of_the_page_about_authentication_do_what_it_says(outcome, check):
    outcome.require(check)
