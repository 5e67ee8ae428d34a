"""The pages of config/mta for Sendmail, taken at their word: see test_recipes_as_written.py. And what setup-sendmail does instead."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from private_mail.faulty_name_server import Record
from written_pages import container, put_recipes, put_signature, steps_of

import signed_mail

SCRIPT = Path(__file__).parent / "sendmail_steps.sh"
ROOT = "recipe-root-sendmail"
HOST_NAME = "mx.example.net"


@dataclass(frozen=True)
class Case:
    folder: str
    services: str  # what checks mail, and what the operator has beside it
    ports: str  # where these listen
    milter: str  # the service that Sendmail asks
    checked: str  # what a message that was checked has in its header
    spared: str = ""  # what listed mail has, where the check sees it; else it has nothing of checked
    script: str = ""  # what is run in place of the page's lines


SPAMASSASSIN = Case("sendmail-spamassassin", "clamav-daemon clamav-milter spamd spamass-milter", "783", "spamass-milter",
                    "^X-Spam-Status: |^X-Spam-Checker", spared="BLOOMGATE_DELIVER")
CASES = {
    "sendmail-rspamd": Case("sendmail-rspamd", "rspamd", "11332 11333", "rspamd",
                            "^X-Spamd-Result: .*MIME_GOOD|^\\s.*MIME_GOOD"),
    "sendmail-spamassassin": SPAMASSASSIN,
    "setup-sendmail": replace(SPAMASSASSIN, script="/root/bloomgate/scripts/setup-sendmail --recipe spamassassin --with-clamav"),
}


@pytest.fixture(scope="module")
def outcome(request):
    with container.checked(SCRIPT, lambda root: prepare(root, CASES[request.param]), container.RECIPE_PACKAGES[ROOT],
                           ROOT) as found:
        yield found


def prepare(root, case):
    put_recipes(root)
    put_signature(root)
    # Without a name that has a dot, Sendmail waits for one.
    (root / "etc/hostname").write_text(f"{HOST_NAME}\n")
    (root / "etc/hosts").write_text(f"127.0.0.1 localhost {HOST_NAME}\n")
    checks = root / "checks"
    (checks / "steps").write_text(f"{case.script}\n{case.script} --apply\n" if case.script else steps_of(case.folder))
    (checks / "waiting").write_text(f"{case.script} --when-down tempfail --apply\n" if case.script
                                    else steps_of(case.folder, "When a part is down"))
    (checks / "recipe.sh").write_text(
        f"recipe={case.folder} services='{case.services}' ports='{case.ports}' milter={case.milter} "
        f"checked='{case.checked}' spared='{case.spared}' script=({case.script})\n")
    signed_mail.put(checks)
    give_the_sender_an_address(checks / "records.json")


def give_the_sender_an_address(records):
    """Sendmail takes no mail from a domain that has none."""
    known = json.loads(records.read_text())
    known["example.org"] = Record(others=(("A", "192.0.2.1"),)).for_program()
    records.write_text(json.dumps(known))


@pytest.mark.all_only
@pytest.mark.parametrize("check", ["prepare", *container.names_of_checks(SCRIPT)])
@pytest.mark.parametrize("outcome", CASES, indirect=True)
def test_the_steps_of_a_recipe_for_sendmail_do_what_its_page_says(outcome, check):
    outcome.require(check)
