"""The unit under a real systemd: what the script `checks.sh` finds in a booted container, one test a check."""

import shutil
from pathlib import Path

import container
import pytest
from private_mail.filter import REPOSITORY

pytestmark = [pytest.mark.all_only, pytest.mark.boots_containers]
SCRIPT = Path(__file__).parent / "checks.sh"


@pytest.fixture(scope="module")
def outcome():
    with container.checked(SCRIPT, prepare) as found:
        yield found


def prepare(root):
    container.install_as_a_package_would(root)
    shutil.copytree(REPOSITORY / "config/mta/postfix", root / "checks/mta")
    if not container.may_lock_memory():
        (root / "checks/no-mlock").touch()


@pytest.mark.parametrize("check", container.names_of_checks(SCRIPT))
def test_systemd(outcome, check):
    outcome.require(check)
