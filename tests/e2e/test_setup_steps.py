"""scripts/setup-postfix after it has changed the files: a step that fails, what is left to do, an output that takes nothing."""

import json
import os
import subprocess
from types import SimpleNamespace

import pytest
from conftest import first_of
from mta_setup import command, machine
from mta_setup.changes import Refused
from mta_setup.edits import Command, Group
from private_mail.filter import REPOSITORY
from test_setup_postfix import SCRIPT, deep_check, files_of, setup  # noqa: F401

POSTFIX = """\
#!/bin/sh
case $3 in
  status) exit 0 ;;
  reload) echo reload >>{calls}; {reload} ;;
  check) {check} ;;
esac
exec /usr/sbin/postfix "$@"
"""


@pytest.fixture
def world(setup, tmp_path):  # noqa: F811
    """A configuration of Postfix, and a daemon's socket that only a group may use. run(*options) does all steps, with the
    programs that replace() puts before those of the machine; reload and check: what `postfix` does then."""
    postfix = setup()
    socket, calls, bin_folder = tmp_path / "milter.sock", tmp_path / "calls", tmp_path / "bin"
    socket.touch()
    os.chown(socket, 0, 1)
    socket.chmod(0o660)
    calls.touch()
    bin_folder.mkdir()
    group = socket.group()

    def replace(name, text):
        (bin_folder / name).write_text(text)
        (bin_folder / name).chmod(0o755)

    def replace_postfix(reload="exit 0", check=":"):
        replace("postfix", POSTFIX.format(calls=calls, reload=reload, check=check))

    def run(*options, stdout=subprocess.PIPE):
        words = [SCRIPT, "-c", postfix.etc, "--etc", postfix.other, "--recipe", "none", "--socket", f"unix:{socket}", *options]
        return subprocess.run([str(word) for word in words], stdout=stdout, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"})

    for name in ("usermod", "gpasswd", "systemctl"):
        replace(name, "#!/bin/sh\n")
    replace_postfix()
    return SimpleNamespace(
        etc=postfix.etc, run=run, replace=replace, replace_postfix=replace_postfix, calls=calls.read_text, bin=bin_folder,
        join=f"usermod -a -G {group} postfix", leave=f"gpasswd -d postfix {group}", reload=f"postfix -c {postfix.etc} reload")


def is_set_up(world):
    return "milter.sock" in (world.etc / "main.cf").read_text()


def test_when_all_steps_are_done_only_the_doctor_is_left(world):
    done = world.run("--apply")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("\nWhat is left to do:\n  bloomgate-milter doctor\n")
    assert world.calls() == "reload\n"


@pytest.mark.all_only
def test_if_a_user_cannot_join_a_group_the_files_stay_changed_and_no_program_is_reloaded(world):
    before = files_of(world.etc)
    world.replace("usermod", "#!/bin/sh\necho cannot lock /etc/group >&2; exit 10\n")
    done = world.run("--apply")
    reason = "cannot lock /etc/group"
    assert done.returncode == os.EX_UNAVAILABLE
    assert done.stderr == (
        f"setup-postfix: the files are changed, but {world.join} failed: {reason}, so no program was reloaded. Do the steps that "
        "are left to do, in their order, or restore the files with --undo\n")
    assert done.stdout.partition("\nThe files are changed, but a step after that has failed.\n")[2] == (
        f"The backup is in {world.etc}/bloomgate-setup.\nWhat is left to do:\n  {world.join}  ({world.join} failed: {reason})\n"
        f"  {world.reload}\n  bloomgate-milter doctor\n")
    assert is_set_up(world) and world.calls() == ""
    assert world.run("--undo").returncode == 0
    assert files_of(world.etc) == before and world.calls() == "reload\n"


def test_a_step_that_failed_is_done_by_the_next_apply(world):
    world.replace("usermod", "#!/bin/sh\nexit 10\n")
    assert world.run("--apply").returncode == os.EX_UNAVAILABLE
    title = "nothing to change in the files: they are as the recipe none wants them. Steps of the last --apply are left:\n"
    steps = [world.join, world.reload]
    shown, again = world.run(), world.run("--apply")
    assert shown.returncode == 0 and shown.stdout.startswith(title) and "\nTo do them: " in shown.stdout
    assert json.loads(world.run("--json").stdout)["left_to_do"] == [{"step": step} for step in steps]
    assert again.returncode == os.EX_UNAVAILABLE and again.stdout.startswith(title) and world.calls() == ""
    world.replace("usermod", f"#!/bin/sh\necho \"$@\" >>{world.bin}/joined\n")
    done = world.run("--apply")
    assert (done.returncode, world.calls()) == (0, "reload\n"), done.stderr
    assert (world.bin / "joined").read_text() == world.join.removeprefix("usermod ") + "\n"
    assert done.stdout.startswith(title) and "\nDone.\n" in done.stdout
    assert world.run("--apply").stdout == "nothing to change: the configuration is as the recipe none wants it\n"


def test_a_program_that_is_not_installed_is_a_step_that_fails():
    with pytest.raises(Refused, match="^/nonexistent/usermod -a failed: No such file or directory$"):
        machine.run(["/nonexistent/usermod", "-a"])


@pytest.mark.all_only
def test_if_a_reload_fails_the_json_has_it_among_what_is_left_to_do(world):
    world.replace_postfix(reload="echo no >&2; exit 1")
    done = world.run("--apply", "--json")
    assert done.returncode == os.EX_UNAVAILABLE
    assert done.stderr.startswith(f"setup-postfix: the files are changed, but {world.reload} failed: no. ")
    said = json.loads(done.stdout)
    assert said["left_to_do"] == [{"step": world.reload, "failed": f"{world.reload} failed: no"},
                                  {"step": "bloomgate-milter doctor"}]
    assert said["edits"] == json.loads(world.run("--list", "--json").stdout)["edits"] and said["in_the_way"] == []

    undone = world.run("--undo", "--json")
    assert (undone.returncode, is_set_up(world)) == (os.EX_UNAVAILABLE, False)
    assert "--undo" not in undone.stderr
    assert [step["step"] for step in json.loads(undone.stdout)["left_to_do"]] == [world.reload]


def test_with_files_only_the_json_has_all_other_steps(world):
    steps = [[world.join, world.reload, "bloomgate-milter doctor"], [world.leave, world.reload]]
    for action, wanted in zip(("--apply", "--undo"), steps):
        done = world.run(action, "--json", "--files-only")
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["left_to_do"] == [{"step": step} for step in wanted]
    assert world.calls() == ""


def test_if_postfix_refuses_the_result_the_json_has_the_reason_and_no_step(world):
    before = files_of(world.etc)
    world.replace_postfix(check="! grep -q milter.sock \"$2/main.cf\" || { echo no >&2; exit 1; }")
    done = world.run("--apply", "--json")
    assert (done.returncode, files_of(world.etc)) == (78, before)
    said = json.loads(done.stdout)
    assert said["in_the_way"] == ["postfix reports an error in the configuration:\nno"] and "left_to_do" not in said


def test_if_a_user_cannot_leave_a_group_programs_are_reloaded_all_the_same(world, monkeypatch, capsys):
    world.replace("gpasswd", "#!/bin/sh\necho locked; exit 1\n")
    monkeypatch.setenv("PATH", f"{world.bin}:{os.environ['PATH']}")
    monkeypatch.setattr(machine.grp, "getgrnam", lambda name: SimpleNamespace(gr_mem=["ann"]))
    options = SimpleNamespace(apply=False, json=False, files_only=False)
    pieces = [Group("ann", "ours", "why"), Command(("postfix", "-c", str(world.etc), "reload"))]
    with pytest.raises(command.Unfinished) as found:
        command.finish(options, None, "Removed.", SimpleNamespace(checks=[], left_to_do=[]), pieces, machine.TO_LEAVE,
                       machine.TO_DROP)
    assert (found.value.status, world.calls()) == (os.EX_UNAVAILABLE, "reload\n")
    assert capsys.readouterr().out.endswith("left to do:\n  gpasswd -d ann ours  (gpasswd -d ann ours failed: locked)\n")


def closed_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    return os.fdopen(writer, "w")


OUTPUTS = {"/dev/full": (lambda: open("/dev/full", "w"), "the output cannot be written: No space left on device"),
           "a closed pipe": (closed_pipe, "the reader of the output has gone")}


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("options", first_of([["--apply"], [], ["--json"], ["--help"]]))
def test_an_output_that_takes_nothing_is_one_sentence_and_nothing_is_changed(world, output, options):
    make, words = OUTPUTS[output]
    before = files_of(world.etc)
    with make() as stdout:
        done = world.run(*options, stdout=stdout)
    assert (done.returncode, files_of(world.etc)) == (os.EX_IOERR, before)
    assert done.stderr == f"setup-postfix: nothing was changed: {words}\n"


@pytest.mark.all_only
def test_if_the_output_takes_nothing_once_the_files_are_changed_what_is_left_to_do_is_said_elsewhere(world):
    with OUTPUTS["/dev/full"][0]() as stdout:
        done = world.run("--apply", "--json", stdout=stdout)
    assert (done.returncode, is_set_up(world)) == (os.EX_IOERR, True)
    assert done.stderr == ("setup-postfix: the files are changed, but the output cannot be written: No space left on device. What "
                           "is left to do: bloomgate-milter doctor\n")


def test_a_line_that_is_not_utf_8_is_shown_as_it_is(setup):  # noqa: F811
    postfix = setup()
    with (postfix.etc / "main.cf").open("ab") as main_cf:
        main_cf.write(b"# caf\xe9\n")
    done = subprocess.run([SCRIPT, "-c", postfix.etc, "--etc", postfix.other, "--recipe", "none"], capture_output=True,
                          env=os.environ | {"PYTHONIOENCODING": "utf-8:strict"})
    assert done.returncode == 0 and b"# caf\xe9" in done.stdout, done.stderr


def test_the_dry_run_says_which_parts_do_not_run_yet_and_that_mail_passes_without_them(setup):  # noqa: F811
    postfix = setup()
    shown = postfix.run("--recipe", "rspamd", "--socket", "unix:/nonexistent/milter.sock")
    assert shown.returncode == 0
    assert "nothing listens on unix:/nonexistent/milter.sock: until bloomgate-milter does, mail passes without a mark" in shown.stdout
    assert ("nothing listens on inet:127.0.0.1:11332: until something does, mail passes without this check. Install and "
            f"start rspamd; the recipe is in {REPOSITORY}/config/mta/postfix-rspamd\n") in shown.stdout
    waits = postfix.run("--recipe", "rspamd", "--when-down", "tempfail")
    assert waits.returncode == 78
    assert "asked to try again later" in waits.stderr and "Install and start rspamd; " in waits.stderr
