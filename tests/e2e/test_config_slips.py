"""Slips that show only on the machine: which file, folder, group or port the daemon's configuration names, as the program says it."""
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile

import pytest
from private_mail.filter import built

USAGE, DATA, NO_INPUT, UNAVAILABLE, NO_HOST, CANNOT_CREATE, NO_PERMISSION, CONFIG = 64, 65, 66, 69, 68, 73, 77, 78
NOBODY = 65534

# The lines beside a good whitelist, where {} is the folder of the test, the exit code and what is said. CHECKED is said by
# --check-config, STARTED only by the start itself.
CHECKED = {
    "a folder that is not there": ("socket = unix:{}/none/s", CANNOT_CREATE, "No such file or directory; make the folder {}/none"),
    "a file for the socket": ("socket = unix:{}/list", CANNOT_CREATE, "there is something at this path that is not a socket"),
    "a folder for the socket": ("socket = unix:{}/folder", CANNOT_CREATE, "remove it, or name another path"),
    "a group that is not there": ("socket-group = potsfix", CONFIG, "there is no group 'potsfix' on this machine; getent group lists them"),
    "a folder of the other socket": ("metrics = {}/none/s", CANNOT_CREATE, "make the folder {}/none"),
    "a store for a whitelist": ("whitelist = other={}/store", DATA, "store is a store, and a filter is wanted here"),
    "a list for a whitelist": ("whitelist = other={}/list", DATA, "list is not a filter of Bloomgate: it has"),
    "a filter for a store": ("confirm = {}/filter", DATA, "filter is a filter, and a store is wanted here"),
    "a filter for a list": ("revoked = {}/filter", DATA, "filter is a filter, and an exact list is a text file"),
    "a store for a list": ("extra = {}/store", DATA, "store is a store, and an exact list is a text file"),
    "a folder for a list": ("extra = {}/folder", DATA, "an exact list is a text file with one entry per line"),
    "a list that is not there": ("extra = {}/none", NO_INPUT, "open {}/none: No such file or directory"),
    "a list in a folder that is not there": ("extra = {}/none/x", NO_INPUT, "there is no folder {}/none"),
    "a link that leads nowhere": ("revoked = {}/dangling", NO_INPUT, "it is a link to nowhere, which is not there"),
}
STARTED = {
    "a host that is not there": ("socket = inet:8899@no.such.host.invalid", NO_HOST, "the host is not known"),
    "an address of another machine": ("socket = inet:8899@192.0.2.1", CANNOT_CREATE, "this machine has no such address (ip address"),
    "a port that is taken": ("socket = inet:{port}@127.0.0.1", UNAVAILABLE, "another program has that port (ss -tlnp names it)"),
    "a trust anchor that is not there": ("dns-trust-anchor = /none", CONFIG, "dns-trust-anchor: /none: No such file"),
}


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory(prefix="bloomgate-test-") as name:  # not pytest's, which other users may not enter
        yield made(pathlib.Path(name))


def made(folder):
    os.chmod(folder, 0o755)
    (folder / "list").write_text("joe@example.org\n")
    (folder / "folder").mkdir()
    (folder / "dangling").symlink_to("nowhere")
    subprocess.run([built("filter/cli/bloomgate"), "build", "--quiet", "-o", "filter", "--store", "store", "list"], cwd=folder,
                   check=True, stdout=subprocess.DEVNULL)
    return folder


def run(folder, line, *words, **settings):
    config = folder / "test.conf"
    given = line if line.startswith("socket =") else f"socket = unix:{folder}/s\n{line}"
    config.write_text(f"whitelist = {folder}/filter\nlog-target = stderr\n{given}\n")
    program = built("milter/bloomgate-milter")
    with tempfile.TemporaryDirectory(prefix="bloomgate-test-") as open_folder:
        if "user" in settings:  # whom the folder of the build may be closed to
            os.chmod(open_folder, 0o755)
            program = shutil.copy(program, open_folder)
        return subprocess.run([program, "--config", config, *words], capture_output=True, text=True, timeout=60, **settings)


@pytest.mark.parametrize("case", CHECKED)
def test_check_config_names_what_the_configuration_names_in_vain(folder, case):
    line, status, says = CHECKED[case]
    done = run(folder, line.replace("{}", str(folder)), "--check-config")
    assert done.returncode == status, done.stderr
    assert says.replace("{}", str(folder)) in done.stderr


@pytest.mark.parametrize("case", STARTED)
def test_the_start_names_what_it_does_not_get(folder, case):
    line, status, says = STARTED[case]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run(folder, line.replace("{port}", str(taken.getsockname()[1])))
    assert done.returncode == status, done.stderr
    assert says in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_is_told_what_is_closed_to_him(folder):
    os.chmod(folder / "filter", 0o600)
    nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    try:
        for line, status, says in [
                ("", NO_INPUT, f"open {folder}/filter: Permission denied; the user nobody may not "),
                ("allow-missing-whitelist = yes", CANNOT_CREATE, f"the daemon's user must be able to write to {folder}"),
                ("socket = inet:25@127.0.0.1\nallow-missing-whitelist = yes", CANNOT_CREATE, "ports below 1024 are for root")]:
            done = run(folder, line, **nobody)
            assert done.returncode == status, done.stderr
            assert says in done.stderr
        os.chmod(folder, 0o700)
        done = run(folder, "", **nobody)
        assert done.returncode == CONFIG
        assert f"Permission denied; the user nobody may not enter the folder {folder}; name another with --config" in done.stderr
    finally:
        os.chmod(folder / "filter", 0o644)
        os.chmod(folder, 0o755)


def test_all_that_stands_in_the_way_is_told_at_once_each_with_its_option(folder):
    done = run(folder, "metrics = {0}/none/m\nsocket-group = potsfix\nrevoked = {0}/none/r".format(folder), "--check-config")
    assert done.returncode == CONFIG
    faults = done.stderr.splitlines()
    assert len(faults) == 2 and ": socket: " in faults[0] and ": metrics: " in faults[1]
    assert "the list revoked cannot be read" in done.stdout
