"""The mail part of scripts/quickstart: its exit code, its table, and that nothing stays behind."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import skip_without_root
from private_mail.filter import REPOSITORY
from private_mail.processes import temporary_folder, wait_until


@pytest.fixture
def temporary():
    skip_without_root()
    with temporary_folder("quickstart-test") as folder:
        yield folder


def quickstart(temporary, *options):
    command = [sys.executable, "-B", REPOSITORY / "scripts/quickstart.py", *options]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def processes_that_mention(folder):
    found = []
    for command_line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in command_line.read_bytes():
                found.append(command_line)
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def test_it_shows_where_seven_messages_went_and_leaves_nothing(temporary):
    done = quickstart(temporary)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line for line in done.stdout.splitlines() if line.endswith(" ok")]
    assert [re.search("light path|deep check", row).group() for row in rows] == [
        "light path", *["deep check"] * 6]
    assert list(temporary.iterdir()) == []
    assert processes_that_mention(temporary) == []


def test_keep_serves_on_until_it_is_stopped_as_it_says(temporary):
    done = quickstart(temporary, "--keep")
    assert done.returncode == 0, done.stdout + done.stderr
    server = int(re.search(r"kill (\d+)", done.stdout).group(1))
    try:
        light_path = Path(re.search(r"(?m)^  (/.*/light-path)$", done.stdout).group(1))
        send = re.search(r"(?m)^  (swaks .*)$", done.stdout).group(1)
        before = len(list(light_path.iterdir()))
        subprocess.run(send.split(), check=True, capture_output=True)
        wait_until(lambda: len(list(light_path.iterdir())) == before + 1, "the message in the light path")
    finally:
        os.kill(server, 15)
    wait_until(lambda: not processes_that_mention(temporary), "all processes to end")
    wait_until(lambda: not list(temporary.iterdir()), "the temporary folder to be removed")
