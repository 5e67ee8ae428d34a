"""Debian's packages in a clean Debian under a real systemd: what the script `checks.sh` finds there, one test a check.

The programs in them are those of the build folder; with --all the packages are built from the sources alone.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from private_mail.filter import REPOSITORY, build_folder, built
from private_mail.processes import temporary_folder

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "systemd"))

import container  # noqa: E402

CHECKS = re.findall(r"(?m)^check_(\w+)\(\)", (HERE / "checks.sh").read_text())
OLDER = "0.0.9-1"


@pytest.fixture(scope="module")
def results(packages):
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
        prepare(root, packages)
        console = container.boot(root, folder / "console.log")
        yield read_results(root / "checks", console)


def read_results(checks, console):
    assert (checks / "results").exists(), f"the container did not come as far as the checks:\n{console}"
    journal = (checks / "journal").read_text() if (checks / "journal").exists() else console
    ours = "\n".join(line for line in journal.splitlines() if "bloomgate" in line)
    return {name: (int(code), (checks / f"log-{name}").read_text() + "\n--- journal\n" + ours)
            for code, name in map(str.split, (checks / "results").read_text().splitlines())}


def prepare(root, packages):
    checks = root / "checks"
    checks.mkdir()
    shutil.copy(HERE / "checks.sh", checks)
    shutil.copytree(packages, checks / "new", ignore=shutil.ignore_patterns("*.log", "debugging-symbols"))
    (checks / "old").mkdir()
    for package in sorted((checks / "new").glob("*.deb")):
        make_older(package, checks / "old")
    (checks / "old/version").write_text(OLDER)
    units = root / "etc/systemd/system"
    shutil.copy(HERE / "checks.service", units)
    (units / "multi-user.target.wants/checks.service").symlink_to("../checks.service")


def make_older(package, output):
    """The same package of an older version, which ships other configuration files."""
    tree = output / "tree"
    subprocess.run(["dpkg-deb", "-R", package, tree], check=True)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^Version: (.*)$", f"Version: {OLDER}", control.read_text())
                       .replace(f"(= {package.name.split('_')[1]})", f"(= {OLDER})"))
    for name in (tree / "DEBIAN/conffiles").read_text().split():
        file = tree / name.lstrip("/")
        file.write_text("# Of an older version.\n" + file.read_text())
    subprocess.run(["dpkg-deb", "-b", "--root-owner-group", tree, output], check=True, capture_output=True)
    shutil.rmtree(tree)


def files_of(packages, name):
    package, = packages.glob(f"{name}_*.deb")
    listed = subprocess.run(["dpkg-deb", "-c", package], check=True, capture_output=True, text=True).stdout
    return {line.split()[5][1:]: int(line.split()[2]) for line in listed.splitlines()}


def test_the_programs_in_the_packages_are_stripped(packages):
    assert files_of(packages, "bloomgate")["/usr/bin/bloomgate"] < 4_000_000
    assert files_of(packages, "bloomgate-milter")["/usr/sbin/bloomgate-milter"] < 4_000_000


def test_the_debugging_symbols_are_packages_of_their_own(packages):
    found = {package.name.split("_")[0] for package in packages.glob("debugging-symbols/*.deb")}
    assert found == {"bloomgate-dbgsym", "bloomgate-milter-dbgsym"}


def test_the_version_of_the_packages_is_that_of_the_project(packages):
    version = re.search(r"project\(bloomgate VERSION (\S+)", (REPOSITORY / "CMakeLists.txt").read_text()).group(1)
    for package in packages.glob("*.deb"):
        assert package.name.split("_")[1].rsplit("-", 1)[0] == version


@pytest.mark.parametrize("check", CHECKS)
def test_package(results, check):
    assert check in results, "the container powered off before it came to this check"
    code, log = results[check]
    assert code == 0, log
