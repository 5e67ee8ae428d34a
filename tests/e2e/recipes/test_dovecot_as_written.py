"""The page of config/mta for Dovecot, taken at its word: see test_recipes_as_written.py."""

from pathlib import Path

import pytest
from private_mail.dovecot import MAILBOXES
from written_pages import container, put_recipes, steps_of

SCRIPT = Path(__file__).parent / "dovecot.sh"
ROOT = "recipe-root-dovecot"


@pytest.fixture(scope="module")
def outcome():
    with container.checked(SCRIPT, prepare, container.RECIPE_PACKAGES[ROOT], ROOT) as found:
        yield found


def prepare(root):
    put_recipes(root)
    (root / "checks/steps-dovecot").write_text(steps_of("dovecot"))
    for version, mailboxes in MAILBOXES.items():
        (root / f"checks/{version}.conf").write_text(mailboxes.format(folder="/var/vmail", owner="vmail"))


@pytest.mark.all_only  # test_suspensions.py has the recipe with its servers
@pytest.mark.parametrize("check", ["prepare", *container.names_of_checks(SCRIPT)])
def test_the_steps_of_the_page_for_dovecot_do_what_it_says(outcome, check):
    outcome.require(check)
