"""The pages of config/mta, taken at their word: the lines under "Setting it up" are run as they stand there, in a clean
Debian under a real systemd, with the programs of Debian's packages. Then mail is sent. So is what setup-postfix and
setup-sendmail do instead, and its undo."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from private_mail.filter import REPOSITORY, build_folder, built
from private_mail.processes import temporary_folder

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "systemd"))
import container  # noqa: E402

RSPAMD = "rspamd"
SPAMD = "spamd spamass-milter"
PORTS = {RSPAMD: "11332 11333", SPAMD: "783", "spampd": "10024"}


@dataclass(frozen=True)
class Case:
    root: str
    folder: str
    check: str  # the services that check mail
    checked: str  # what a message that was checked has in its header
    kind: str = "milter"
    steps: str = ""  # where they are not the page's


CASES = {
    "deep-check": Case("rspamd", "deep-check", RSPAMD, "^X-Spam-Status: No, "),
    "postfix-rspamd": Case("rspamd", "postfix-rspamd", RSPAMD, "^X-Spamd-Result: .*MIME_GOOD|^\\s.*MIME_GOOD"),
    "postfix-rspamd-after-queue": Case("rspamd", "postfix-rspamd-after-queue", RSPAMD, "^X-Spamd-Result: ",
                                       "content-filter"),
    "postfix-spampd": Case("spamassassin", "postfix-spampd", "spampd", "^X-Spam-Status: ", "spampd"),
    "postfix-spamass-milter": Case("spamassassin", "postfix-spamass-milter", SPAMD,
                                   "^X-Spam-Status: |^X-Spam-Checker"),
    "setup-postfix deep-check": Case("rspamd", "deep-check", RSPAMD, "^X-Spam-Status: No, ", "script",
                                     "setup-postfix --recipe deep-check"),
    "setup-postfix rspamd": Case("rspamd", "postfix-rspamd", RSPAMD, "MIME_GOOD", "script",
                                 "setup-postfix --recipe rspamd"),
    "setup-postfix spamassassin": Case("spamassassin", "postfix-spamass-milter", SPAMD, "^X-Spam-Checker", "script",
                                       "setup-postfix --recipe spamassassin"),
}
QUICK = {"deep-check", "setup-postfix rspamd"}


def lines_of(page, title):
    """The indented lines of that section: the commands, and nothing else."""
    found = re.search(rf"(?ms)^## {title}$(.*?)(?=^## |\Z)", page)
    return "".join(line[4:] + "\n" for line in (found.group(1) if found else "").splitlines()
                   if line.startswith("    "))


@pytest.fixture
def run_case(request):
    if os.geteuid() != 0:
        pytest.skip("booting a container needs root")
    if reason := container.can_start():
        pytest.skip(reason)

    def run(case):
        build = build_folder()
        programs = [built("milter/bloomgate-milter"), built("filter/cli/bloomgate")]
        name = f"recipe-root-{case.root}"
        with temporary_folder("recipe", build) as folder:
            root = folder / "root"
            container.new_root(root, build, programs, container.RECIPE_PACKAGES[name], name)
            install(build, root, case)
            console = container.boot(root, folder / "console.log")
            return results(root / "checks", console)

    return run


def install(build, root, case):
    subprocess.run(["cmake", "--install", build, "--prefix", "/usr"], check=True, capture_output=True,
                   env={**os.environ, "DESTDIR": str(root)})
    ours = root / "root/bloomgate"
    shutil.copytree(REPOSITORY / "config/mta", ours / "config/mta")
    shutil.copytree(REPOSITORY / "scripts", ours / "scripts")
    (root / "etc/resolv.conf").write_text("nameserver 127.0.0.1\n")
    checks = root / "checks"
    checks.mkdir()
    page = (REPOSITORY / "config/mta" / case.folder / "README.md").read_text()
    is_script = case.kind == "script"
    script = f"/root/bloomgate/scripts/{case.steps}"
    (checks / "steps").write_text(f"{script}\n{script} --apply\n" if is_script else lines_of(page, "Setting it up"))
    (checks / "waiting").write_text("" if is_script else lines_of(page, "When a part is down"))
    (checks / "recipe.sh").write_text(
        f"recipe={case.folder} kind={case.kind} checked='{case.checked}' script=({script})\n"
        f"before_the_steps() {{ systemctl start {case.check} || true; }}\n"
        f"stop_the_check() {{ systemctl stop {case.check}; }}\n"
        f"start_the_check() {{ systemctl start {case.check}; check_listens; }}\n"
        f"check_listens() {{ for port in {PORTS[case.check]}; do await listens $port; done; }}\n")
    shutil.copy(HERE / "steps.sh", checks)
    units = root / "etc/systemd/system"
    shutil.copy(HERE / "steps.service", units)
    (units / "multi-user.target.wants").mkdir(exist_ok=True)
    (units / "multi-user.target.wants/steps.service").symlink_to("../steps.service")


def results(checks, console):
    """Name of each check that failed -> its log."""
    if not (checks / "results").exists():
        raise RuntimeError(f"the container did not come as far as the checks:\n{console}")
    journal = (checks / "journal").read_text() if (checks / "journal").exists() else console
    found = [line.split() for line in (checks / "results").read_text().splitlines()]
    failed = {name: (checks / f"log-{name}").read_text() for code, name in found if code != "0"}
    return len(found), failed, journal


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[] if name in QUICK else pytest.mark.all_only) for name in CASES])
def test_the_steps_of_a_recipe_do_what_its_page_says(run_case, name):
    number, failed, journal = run_case(CASES[name])
    assert number == len(re.findall(r"(?m)^check_", (HERE / "steps.sh").read_text())) + 1, journal[-5000:]
    assert not failed, "\n".join(f"--- {check}\n{log[-3000:]}" for check, log in failed.items()) + journal[-8000:]


def test_every_page_of_a_mail_server_has_steps_that_can_be_run():
    for page in sorted((REPOSITORY / "config/mta").glob("*/README.md")):
        steps = lines_of(page.read_text(), "Setting it up(?: in Postfix)?")
        assert steps, page
        done = subprocess.run(["bash", "-n"], input=steps, text=True, capture_output=True)
        assert done.returncode == 0, (page, done.stderr)
