"""The pages of config/mta, taken at their word: the lines under "Setting it up" are run as they stand there, in a clean
Debian under a real systemd, with the programs of Debian's packages. Then mail is sent. So is what setup-postfix and
setup-sendmail do instead, and its undo."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from private_mail.clamav import EICAR
from private_mail.filter import REPOSITORY
from test_asking_recipes_as_written import PAGES as PAGES_THAT_ASK
from test_sendmail_recipes_as_written import CASES as SENDMAIL_CASES
from written_pages import container, lines_of, put_recipes, put_signature, steps_of

SCRIPT = Path(__file__).parent / "steps.sh"
RSPAMD = "rspamd"
SPAMD = "spamd spamass-milter"
CLAMD = "clamav-daemon"
CLAMD_AND_SOCKET = "clamav-daemon.socket clamav-daemon"
PORTS = {RSPAMD: "11332 11333", SPAMD: "783", "spampd": "10024"}


@dataclass(frozen=True)
class Case:
    root: str
    folder: str
    check: str  # the services that check mail
    checked: str  # what a message that was checked has in its header
    kind: str = "milter"
    steps: str = ""  # where they are not the page's
    before: str = ""  # the folder of a page that comes first
    also: str = ""  # the title of the section whose lines come next
    beside: str = ""  # a service that checks all mail
    waits_for: str = ""  # the service, where it is not that of the check, without which mail waits if so configured
    whose: str = "other"  # the senders whose mail it is
    everywhere: str = ""  # what every message has that came through
    spared: str = ""  # what listed mail has, where the check sees it; else it has nothing of checked


CASES = {
    "deep-check": Case("rspamd", "deep-check", RSPAMD, "^X-Spam-Status: No, "),
    "postfix-rspamd-after-queue": Case("rspamd", "postfix-rspamd-after-queue", RSPAMD, "^X-Spamd-Result: ",
                                       "content-filter"),
    "postfix-rspamd, virus check": Case("clamav", "postfix-rspamd", RSPAMD, "^X-Spamd-Result: .*MIME_GOOD|^\\s.*MIME_GOOD",
                                        also="With a virus check", beside=CLAMD, waits_for=CLAMD_AND_SOCKET),
    "postfix-spamass-milter": Case("spamassassin", "postfix-spamass-milter", SPAMD,
                                   "^X-Spam-Status: |^X-Spam-Checker", beside=CLAMD, everywhere="^X-Virus-Scanned: ",
                                   spared="BLOOMGATE_DELIVER"),
    "postfix-clamav-milter": Case("spamassassin", "postfix-clamav-milter", "spampd", "^X-Spam-Status: ",
                                  "content-filter", before="postfix-spampd", also="With spampd", beside=CLAMD,
                                  waits_for="clamav-milter", everywhere="^X-Virus-Scanned: "),
    # Of the two virus checks clamav-milter names itself, and rspamd does not.
    "postfix-clamav-milter, rspamd": Case("clamav", "postfix-clamav-milter", RSPAMD, "^X-Spamd-Result: ",
                                          "content-filter", before="postfix-rspamd-after-queue",
                                          also="With rspamd after the queue", beside=CLAMD,
                                          waits_for="clamav-milter", whose="listed",
                                          everywhere="^X-Virus-Scanned: |^X-Spamd-Result: "),
    # Its other recipes: packages/test_first_day.py.
    "setup-postfix deep-check": Case("rspamd", "deep-check", RSPAMD, "^X-Spam-Status: No, ", "script",
                                     "setup-postfix --recipe deep-check"),
}


@pytest.fixture(scope="module")
def outcome(request):
    case = CASES[request.param]
    name = f"recipe-root-{case.root}"
    with container.checked(SCRIPT, lambda root: prepare(root, case), container.RECIPE_PACKAGES[name], name) as found:
        yield found


def prepare(root, case):
    put_recipes(root)
    checks = root / "checks"
    is_script = case.kind == "script"
    script = f"/root/bloomgate/scripts/{case.steps}"
    steps = f"{script}\n{script} --apply\n" if is_script else steps_of(case.folder)
    if case.also:
        steps += steps_of(case.folder, case.also)
    if case.before:
        steps = f"cd ../{case.before}\n{steps_of(case.before)}cd ../{case.folder}\n{steps}"
    (checks / "steps").write_text(steps)
    (checks / "waiting").write_text("" if is_script else steps_of(case.folder, "When a part is down"))
    if case.beside == CLAMD:
        put_signature(root)
        (checks / "infected").write_bytes(b"From: joe@example.org\nTo: root@localhost\nSubject: infected\n\n" + EICAR + b"\n")
    (checks / "recipe.sh").write_text(
        f"recipe={case.folder} kind={case.kind} checked='{case.checked}' spared='{case.spared}' "
        f"everywhere='{case.everywhere}' virus_check='{case.beside}' whose={case.whose} script=({script})\n"
        f"before_the_steps() {{ systemctl start {case.beside} {case.check} || true; }}\n"
        f"stop_what_mail_waits_for() {{ systemctl stop {case.waits_for or case.check}; }}\n"
        f"check_listens() {{ for port in {PORTS[case.check]}; do await listens $port; done; }}\n")


@pytest.mark.all_only  # test_recipe_*.py have each recipe with its servers
@pytest.mark.parametrize("check", ["prepare", *container.names_of_checks(SCRIPT)])
@pytest.mark.parametrize("outcome", CASES, indirect=True)
def test_the_steps_of_a_recipe_do_what_its_page_says(outcome, check):
    outcome.require(check)


def test_every_page_of_a_mail_server_has_steps_that_can_be_run():
    for page in sorted((REPOSITORY / "config/mta").glob("*/README.md")):
        steps = lines_of(page.read_text(), "Setting it up(?: in Postfix)?")
        assert steps, page
        done = subprocess.run(["bash", "-n"], input=steps, text=True, capture_output=True)
        assert done.returncode == 0, (page, done.stderr)


def test_the_steps_of_every_page_are_run_by_a_test():
    run = {case.folder for case in (*CASES.values(), *SENDMAIL_CASES.values())} | {case.before for case in CASES.values()} - {""}
    run |= {"authentication", "dovecot", *PAGES_THAT_ASK}
    assert run == {page.parent.name for page in (REPOSITORY / "config/mta").glob("*/README.md")}
