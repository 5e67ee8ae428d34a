"""Debian's packages in a clean Debian under a real systemd: what the script `checks.sh` finds there, one test a check.

The programs in them are those of the build folder; with --all the packages are built from the sources alone.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from private_mail.filter import REPOSITORY, build_folder

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "systemd"))

import container  # noqa: E402

pytestmark = [pytest.mark.all_only, pytest.mark.boots_containers]
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


def test_the_version_and_the_description_of_each_package_name_the_release(packages):
    release = platform.freedesktop_os_release()["VERSION_ID"]
    for package in packages.glob("*.deb"):
        described = subprocess.run(["dpkg-deb", "-f", package, "Version", "Description"], check=True, capture_output=True,
                                   text=True).stdout
        assert re.search(rf"(?m)^Version: \S+~deb{release}u\d+$", described), package
        assert f"made on Debian {release}, and is for that release alone" in described, package


def test_the_units_are_where_the_packages_of_both_releases_have_them(packages):
    files = files_of(packages, "bloomgate-milter")
    assert "/usr/lib/systemd/system/bloomgate-milter.service" in files
    assert not [name for name in files if name.startswith("/lib/")]


@pytest.mark.all_only
def test_packages_that_lintian_finds_fault_with_are_kept_and_the_last_line_says_what_to_do(tmp_path):
    checker = tmp_path / "bin/lintian"
    checker.parent.mkdir()
    checker.write_text("#!/bin/sh\necho 'E: bloomgate: a-fault'\nexit 2\n")
    checker.chmod(0o755)
    done = subprocess.run([REPOSITORY / "scripts/build-packages", "--from", build_folder(), "--output", tmp_path / "made"],
                          capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{checker.parent}:{os.environ['PATH']}"})
    assert done.returncode == 1
    assert "E: bloomgate: a-fault\n" in done.stdout
    assert len(list((tmp_path / "made").glob("*.deb"))) == 6
    assert re.search(r"complete and can be installed.*correct \.debian/, then run this again$",
                     done.stderr.splitlines()[-1])


def test_the_library_its_header_its_python_module_and_the_builder_by_mpi_are_in_packages_of_their_own(packages):
    assert any(name.endswith("/libbloomgate.so.1") for name in files_of(packages, "libbloomgate1"))
    development = files_of(packages, "libbloomgate-dev")
    assert "/usr/include/bloomgate.h" in development
    assert "/usr/share/libbloomgate/corpus/bad/expected.tsv" in development
    assert "/usr/bin/bloomgate-mpi" in files_of(packages, "bloomgate-mpi")
    assert "/usr/lib/python3/dist-packages/bloomgate/py.typed" in files_of(packages, "python3-bloomgate")


@pytest.mark.parametrize("check", container.names_of_checks(SCRIPT))
def test_package(outcome, check):
    outcome.require(check)
