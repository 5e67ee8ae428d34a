"""Debian's packages in a clean Debian under a real systemd: what the script `checks.sh` finds there, one test a check.

The programs in them are those of the build folder; with --all the packages are built from the sources alone.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from private_mail.filter import REPOSITORY

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "systemd"))

import container  # noqa: E402

SCRIPT = HERE / "checks.sh"
OLDER = "0.0.9-1"


@pytest.fixture(scope="module")
def outcome(packages):
    with container.checked(SCRIPT, lambda root: prepare(root / "checks", packages)) as found:
        yield found


def prepare(checks, packages):
    # The container has no NumPy for the Python module.
    shutil.copytree(packages, checks / "new",
                    ignore=shutil.ignore_patterns("*.log", "debugging-symbols", "python3-bloomgate_*", "bloomgate-mpi_*"))
    (checks / "old").mkdir()
    for package in sorted((checks / "new").glob("*.deb")):
        make_older(package, checks / "old")
    (checks / "old/version").write_text(OLDER)


def make_older(package, output):
    """The same package of an older version, which ships other configuration files."""
    tree = output / "tree"
    subprocess.run(["dpkg-deb", "-R", package, tree], check=True)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^Version: (.*)$", f"Version: {OLDER}", control.read_text())
                       .replace(f"(= {package.name.split('_')[1]})", f"(= {OLDER})"))
    conffiles = tree / "DEBIAN/conffiles"
    for name in conffiles.read_text().split() if conffiles.exists() else []:
        file = tree / name.lstrip("/")
        file.write_text("# Of an older version.\n" + file.read_text())
    subprocess.run(["dpkg-deb", "-Zgzip", "-z1", "-b", "--root-owner-group", tree, output], check=True, capture_output=True)
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
    assert found == {"bloomgate-dbgsym", "bloomgate-milter-dbgsym", "bloomgate-mpi-dbgsym", "libbloomgate1-dbgsym"}


def test_the_version_of_the_packages_is_that_of_the_project(packages):
    version = re.search(r"project\(bloomgate VERSION (\S+)", (REPOSITORY / "CMakeLists.txt").read_text()).group(1)
    for package in packages.glob("*.deb"):
        assert package.name.split("_")[1].rsplit("-", 1)[0] == version


def test_the_library_its_header_its_python_module_and_the_builder_by_mpi_are_in_packages_of_their_own(packages):
    assert any(name.endswith("/libbloomgate.so.1") for name in files_of(packages, "libbloomgate1"))
    development = files_of(packages, "libbloomgate-dev")
    assert "/usr/include/bloomgate.h" in development
    assert "/usr/share/libbloomgate/corpus/bad/expected.tsv" in development
    assert "/usr/bin/bloomgate-mpi" in files_of(packages, "bloomgate-mpi")
    assert "/usr/lib/python3/dist-packages/bloomgate.py" in files_of(packages, "python3-bloomgate")


@pytest.mark.parametrize("check", container.names_of_checks(SCRIPT))
def test_package(outcome, check):
    outcome.require(check)
