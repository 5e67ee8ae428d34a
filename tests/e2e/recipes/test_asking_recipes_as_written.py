"""The pages of config/mta whose programs ask for senders without a milter, taken at their word: see
test_recipes_as_written.py."""

from pathlib import Path

import pytest
from written_pages import container, put_recipes, steps_of

SCRIPT = Path(__file__).parent / "asking.sh"
ROOT = "recipe-root-exim"
PAGES = ("exim", "rspamd-lookup")


@pytest.fixture(scope="module")
def outcome():
    with container.checked(SCRIPT, prepare, container.RECIPE_PACKAGES[ROOT], ROOT) as found:
        yield found


def prepare(root):
    put_recipes(root)
    for page in PAGES:
        (root / f"checks/steps-{page}").write_text(steps_of(page))


@pytest.mark.all_only
@pytest.mark.parametrize("check", ["prepare", *container.names_of_checks(SCRIPT)])
def test_the_steps_of_a_page_that_only_asks_do_what_it_says(outcome, check):
    outcome.require(check)
