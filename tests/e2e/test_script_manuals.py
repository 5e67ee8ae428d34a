"""The scripts for the mail server: what --help prints and what the manual has agree."""

import re
import subprocess

import pytest
from private_mail.filter import REPOSITORY

SCRIPTS = ("setup-postfix", "setup-sendmail", "bloomgate-update")


def help_of(script):
    return subprocess.run([REPOSITORY / "scripts" / script, "--help"], check=True, capture_output=True, text=True).stdout


def manual_of(script):
    return (REPOSITORY / f"scripts/{script}.8").read_text(encoding="utf-8")


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_help_and_the_manual_have_the_same_exit_statuses(script):
    of_help = re.findall(r"(?m)^  (\d+) ", help_of(script).partition("exit status:")[2])
    of_manual = re.findall(r"(?m)^\.It (\d+)$", manual_of(script).partition(".Sh EXIT STATUS")[2])
    assert of_help == of_manual and len(of_help) > 4


@pytest.mark.parametrize("script", SCRIPTS[:2])
def test_the_help_and_the_manual_have_the_same_options(script):
    of_help = re.findall(r"(?m)^  (?:-h, )?(--[a-z-]+)", help_of(script))
    of_manual = re.findall(r"(?m)^\.It Fl Fl ([a-z-]+)", manual_of(script))
    assert sorted(set(of_help) - {"--help"}) == sorted(f"--{name}" for name in of_manual)
