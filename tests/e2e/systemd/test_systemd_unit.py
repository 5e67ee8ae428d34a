"""The unit under a real systemd: what scripts `checks.sh` finds in a booted container, one test a check."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import container
import pytest
from private_mail.filter import REPOSITORY, build_folder, built
from private_mail.processes import temporary_folder

HERE = Path(__file__).parent
CHECKS = re.findall(r"(?m)^check_(\w+)\(\)", (HERE / "checks.sh").read_text())


@pytest.fixture(scope="module")
def results():
    """Name of the check -> (exit code, log)."""
    if os.geteuid() != 0:
        pytest.skip("booting a container needs root")
    if reason := container.can_start():
        pytest.skip(reason)
    build = build_folder()
    programs = [built("milter/bloomgate-milter"), built("filter/cli/bloomgate")]
    with temporary_folder("container", build) as folder:
        root = folder / "root"
        container.new_root(root, build, programs)
        install(build, root)
        console = container.boot(root, folder / "console.log")
        yield read_results(root / "checks", console)


def read_results(checks, console):
    if not (checks / "results").exists():
        raise RuntimeError(f"the container did not come as far as the checks:\n{console}")
    journal = (checks / "journal").read_text() if (checks / "journal").exists() else console
    ours = "\n".join(line for line in journal.splitlines() if "bloomgate" in line)
    found = {}
    for line in (checks / "results").read_text().splitlines():
        code, name = line.split()
        found[name] = (int(code), (checks / f"log-{name}").read_text() + "\n--- journal\n" + ours)
    return found


def install(build, root):
    """As a package would: the programs, the unit, user and folder. And the checks."""
    subprocess.run(["cmake", "--install", build, "--prefix", "/usr"], check=True, capture_output=True,
                   env={**os.environ, "DESTDIR": str(root)})
    checks = root / "checks"
    checks.mkdir()
    shutil.copy(HERE / "checks.sh", checks)
    shutil.copytree(REPOSITORY / "config/mta/postfix", checks / "mta")
    if not container.may_lock_memory():
        (checks / "no-mlock").touch()
    units = root / "etc/systemd/system"
    shutil.copy(HERE / "checks.service", units)
    (units / "multi-user.target.wants/checks.service").symlink_to("../checks.service")


@pytest.mark.parametrize("check", CHECKS)
def test_systemd(results, check):
    assert check in results, "the container powered off before it came to this check"
    code, log = results[check]
    if reason := re.search("(?m)^skipped: (.*)", log):
        pytest.skip(reason.group(1))
    assert code == 0, log
