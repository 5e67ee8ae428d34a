"""scripts/setup-sendmail on private configurations: what it understands and refuses, how it is undone."""

import json
import os
import re
import subprocess
from contextlib import ExitStack

import pytest
from conftest import LISTED, UNLISTED, first_of
from private_mail import sendmail
from private_mail.client import Client, Message
from private_mail.daemon import Daemon, DaemonConfig
from private_mail.filter import REPOSITORY, build_filter_of
from private_mail.opendkim import OpenDkimConfig
from private_mail.processes import temporary_folder
from private_mail.sendmail import Sendmail, SendmailConfig
from private_mail.sink import Sink

SCRIPT = REPOSITORY / "scripts/setup-sendmail"
OPENDKIM = "INPUT_MAIL_FILTER(`opendkim', `S=local:/run/opendkim/opendkim.sock, F=T')dnl\n"
OPENDMARC = "INPUT_MAIL_FILTER(`dmarc', `S=inet:8893@127.0.0.1')dnl\n"
CLAMAV = "INPUT_MAIL_FILTER(`clmilter', `S=local:/run/clamav/milter.ctl, F=T')dnl\n"
RSPAMD = "INPUT_MAIL_FILTER(`filter', `S=inet:11332@127.0.0.1, F=T')dnl\n"
OTHER = "INPUT_MAIL_FILTER(`mine', `S=local:/run/mine.sock')dnl\n"


@pytest.fixture(scope="module", autouse=True)
def launcher():
    if sendmail.can_run():
        pytest.skip(sendmail.can_run())
    with temporary_folder("launcher") as folder:
        yield sendmail.write_launcher(folder / "sendmail")


@pytest.fixture
def setup(launcher):
    """setup(fragment) -> the folder of a configuration with those lines, and run(*options) on it."""
    with ExitStack() as stack:

        def start(fragment="", change=lambda text: text):
            folder = stack.enter_context(temporary_folder("setup")) / "mail"
            folder.mkdir()
            for other in ("rspamd/local.d", "spamassassin", "bloomgate"):
                (folder.parent / "mail-other" / other).mkdir(parents=True)
            (folder.parent / "mail-other/bloomgate/bloomgate-milter.conf").write_text("#deep-check = none\n")
            Sendmail(folder, SendmailConfig(9, fragment)).write_files()
            source = folder / "sendmail.mc"
            source.write_text(change(source.read_text()))
            (folder / "sendmail.cf").write_text(sendmail.compiled(source))
            return folder, lambda *options, **more: run(folder, launcher, *options, **more)

        yield start


def run(folder, launcher, *options):
    command = [SCRIPT, "-c", folder, "--cf-dir", sendmail.cf_folder(), "--sendmail", launcher,
               "--parts-come-later", "--files-only", "--etc", folder.parent / f"{folder.name}-other", *options]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def files_of(folder):
    """Those of the configuration, and of the programs beside it."""
    return {path.relative_to(folder.parent): path.read_bytes() if path.is_file() else None
            for place in (folder, folder.parent / f"{folder.name}-other") if place.exists()
            for path in place.rglob("*")}


def milters_of(folder):
    text = (folder / "sendmail.cf").read_text()
    return re.search(r"(?m)^O InputMailFilters=(.*)$", text).group(1).split(", ")


def debians_own(text):
    """Debian's sendmail.mc, but for the places of its files."""
    source = sendmail.cf_folder() / "debian/sendmail.mc"
    text = re.sub(r"(?m)^include\(`/etc/mail/.*\n", "", source.read_text())
    version = "include(`/usr/share/sendmail/cf/debian/autoconf.m4')dnl\nOSTYPE("
    return text.replace("OSTYPE(", version).replace("/usr/share/sendmail/cf", str(sendmail.cf_folder()))


UNDERSTOOD = {
    "rspamd to come": ("", ["--recipe", "rspamd"], ["bloomgate", "rspamd"]),
    "SpamAssassin and ClamAV, and mail that waits": (
        "", ["--recipe", "spamassassin", "--with-clamav", "--when-down", "tempfail"],
        ["bloomgate", "clamav", "spamassassin"]),
    "Bloomgate asks the checker itself": ("", ["--recipe", "deep-check"], ["bloomgate"]),
    "OpenDKIM to come": ("", ["--with-opendkim"], ["opendkim", "bloomgate"]),
    "what authenticates": (OPENDKIM + OPENDMARC, [], ["opendkim", "dmarc", "bloomgate"]),
    "a virus check": (CLAMAV, ["--recipe", "spamassassin"],
                      ["bloomgate", "spamassassin", "clmilter"]),
    "all of them": (OPENDKIM + "dnl a comment\n" + RSPAMD, ["--recipe", "rspamd"],
                    ["opendkim", "bloomgate", "filter"]),
    "a milter that is not known, and where it stands": (
        OTHER + RSPAMD, ["--after-milter", "mine"], ["mine", "bloomgate", "filter"]),
    "one that is commented out, and a daemon on a port": (
        "dnl " + OTHER, ["--socket", "inet:127.0.0.1:8895"], ["bloomgate"]),
}


# Those that scripts/test runs without --all.
QUICK = {"Bloomgate asks the checker itself", "an unknown milter", "an order of its own"}


@pytest.mark.parametrize("case", [
    pytest.param(case, marks=[] if case in QUICK else pytest.mark.all_only) for case in UNDERSTOOD])
def test_a_configuration_that_is_understood_is_changed_once_and_restored_byte_for_byte(setup, case):
    fragment, options, milters = UNDERSTOOD[case]
    folder, run_script = setup(fragment)
    before = files_of(folder)

    shown = run_script(*options)
    assert (shown.returncode, files_of(folder)) == (0, before), shown.stderr
    as_json = run_script("--json", *options)
    applied = run_script("--apply", *options)
    assert applied.returncode == 0, applied.stderr
    assert milters_of(folder) == milters
    cf = (folder / "sendmail.cf").read_text()
    assert "SCheckBloomgateMark" in cf and "SCheckResults" in cf
    waiting = re.findall(r"(?m)^X(\w+), S=[^,]*, F=T", cf)
    assert ("spamassassin" in waiting) == ("tempfail" in options), waiting
    assert json.loads(run_script("--list", "--json").stdout)["edits"] == json.loads(as_json.stdout)["edits"]
    if "--socket" in options:
        assert "S=inet:8895@127.0.0.1," in (folder / "sendmail.cf").read_text()
    after = files_of(folder)

    again = run_script("--apply", *options)
    assert (again.returncode, files_of(folder)) == (0, after)
    assert "nothing to change" in again.stdout
    undone = run_script("--undo")
    assert (undone.returncode, files_of(folder)) == (0, before), undone.stderr
    assert "nothing to undo" in run_script("--undo").stdout


def test_debians_own_configuration_is_understood(setup):
    # Shown only: Sendmail takes it on machines alone where Debian's package has made its users.
    folder, run_script = setup(change=debians_own)
    shown = run_script("--recipe", "rspamd")
    assert shown.returncode == 0, shown.stderr
    block = shown.stdout.partition("dnl Bloomgate: begin")[2].partition("dnl Bloomgate: end")
    assert re.findall(r"INPUT_MAIL_FILTER\(`(\w+)'", block[0]) == ["bloomgate", "rspamd"]
    assert block[2].splitlines()[1].strip() == "MAILER_DEFINITIONS"


REFUSED = {
    "an unknown milter": (OTHER, [], "mine.*--after-milter"),
    "a missing place": (OPENDKIM, ["--after-milter", "yours"], "found it in 0"),
    "a check before what authenticates": (CLAMAV + OPENDKIM, [], "Change their order"),
    "an order of its own": (OPENDKIM + "define(`confINPUT_MAIL_FILTERS', `opendkim')dnl\n", [],
                            "confINPUT_MAIL_FILTERS"),
    "milters declared elsewhere": ("MAIL_FILTER(`mine', `S=local:/x')dnl\n", [], "MAIL_FILTER"),
    "a port with milters of its own": ("DAEMON_OPTIONS(`Name=MSA, Port=9, InputMailFilters=')dnl\n", [],
                                       "milters of its own"),
    "a milter over two lines": ("INPUT_MAIL_FILTER(`opendkim',\n`S=local:/x')dnl\n", [],
                                "not written on one line"),
    "Bloomgate set up by hand": ("INPUT_MAIL_FILTER(`bloomgate', `S=local:/x')dnl\n", [],
                                 "did not put it there"),
    "a rule for the field already": (
        "LOCAL_RULESETS\nHAuthentication-Results: $>Mine\nSMine\nR$*\t$@ $1\ndivert(0)dnl\n", [],
        "rule of its own"),
    "local rules before the milters": ("LOCAL_CONFIG\nD{x}y\ndivert(0)dnl\n", [], "LOCAL_CONFIG"),
}


@pytest.mark.parametrize("case", [
    pytest.param(case, marks=[] if case in QUICK else pytest.mark.all_only) for case in REFUSED])
def test_a_configuration_that_is_not_understood_is_left_alone(setup, case):
    fragment, options, reason = REFUSED[case]
    folder, run_script = setup(fragment)
    before = files_of(folder)
    refused = run_script("--apply", *options)
    assert refused.returncode == 78, refused.stdout
    assert re.search(f"(?s){reason}", refused.stderr), refused.stderr
    assert files_of(folder) == before


def test_a_sendmail_cf_that_was_edited_by_hand_is_left_alone(setup):
    folder, run_script = setup()
    with open(folder / "sendmail.cf", "a", encoding="utf-8") as file:
        file.write("O MaxMessageSize=1000\n")
    before = files_of(folder)
    refused = run_script("--apply")
    assert (refused.returncode, files_of(folder)) == (78, before)
    assert "edited by hand" in refused.stderr


def test_milters_for_which_all_mail_would_wait_must_be_there(setup, launcher):
    folder, _ = setup()
    before = files_of(folder)
    command = [SCRIPT, "-c", folder, "--cf-dir", sendmail.cf_folder(), "--sendmail", launcher, "--apply",
               "--with-opendkim", "--files-only", "--etc", folder.parent / "mail-other"]
    refused = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert (refused.returncode, files_of(folder)) == (78, before)
    assert "local:/run/opendkim/opendkim.sock" in refused.stderr


def test_when_sendmail_finds_fault_afterwards_everything_is_as_it_was(setup, tmp_path, launcher):
    folder, _ = setup()
    before = files_of(folder)
    # The real program, but that it reads a line more once the milter is there.
    strict = tmp_path / "sendmail"
    strict.write_text(f'#!/bin/sh\nif grep -q ^Xbloomgate "$2"; then echo "O NoSuchOption=1" >> "$2"; fi\n'
                      f'exec {launcher} "$@"\n')
    strict.chmod(0o755)
    refused = run(folder, strict, "--apply")
    assert refused.returncode == 78
    assert re.search(r"sendmail.cf: line \d+: .*NoSuchOption", refused.stderr)
    assert files_of(folder) == before


@pytest.mark.parametrize("makes", first_of([True, False]))
def test_later_edits_are_kept_and_all_of_our_lines_are_removed(setup, makes):
    folder, run_script = setup()
    source, made = folder / "sendmail.mc", folder / "sendmail.cf"
    before = source.read_text()
    theirs = before.replace("MAILER(`smtp')dnl", "dnl mine\ndefine(`confMAX_HOP', `7')dnl\nMAILER(`smtp')dnl")
    assert run_script("--apply", "--recipe", "deep-check").returncode == 0
    source.write_text(source.read_text().replace("MAILER(`smtp')dnl", "dnl mine\ndefine(`confMAX_HOP', `7')dnl\n"
                                                                      "MAILER(`smtp')dnl"))
    if makes:
        made.write_text(sendmail.compiled(source))
    undone = run_script("--undo")
    assert undone.returncode == 0, undone.stderr
    assert source.read_text() == theirs
    assert "Xbloomgate" not in made.read_text() and "CheckBloomgateMark" not in made.read_text()
    assert ("O MaxHopCount=7" in made.read_text()) == makes
    conf = folder.parent / "mail-other/bloomgate/bloomgate-milter.conf"
    assert conf.read_text() == "#deep-check = none\n"


def test_a_checker_stays_until_a_recipe_is_named(setup):
    folder, run_script = setup()
    assert run_script("--apply", "--recipe", "rspamd").returncode == 0
    assert run_script("--apply").stdout == "nothing to change: the configuration is as the recipe rspamd wants it\n"
    shown = run_script("--recipe", "none").stdout
    assert f"  - this takes rspamd out of {folder}/sendmail.mc, where an earlier --apply has put it" in shown
    assert "  - nothing checks the mail that is not listed: " in shown


def test_lines_that_were_edited_inside_our_block_go_with_it(setup):
    folder, run_script = setup()
    before = (folder / "sendmail.mc").read_text()
    assert run_script("--apply").returncode == 0
    source = folder / "sendmail.mc"
    source.write_text(source.read_text().replace("E:10s", "E:11s"))
    (folder / "sendmail.cf").write_text(sendmail.compiled(source))
    assert run_script("--undo").returncode == 0
    assert source.read_text() == before
    assert "Xbloomgate" not in (folder / "sendmail.cf").read_text()


def test_mail_is_marked_after_it_and_not_after_undo(launcher):
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder("setup"))
        build_filter_of(folder / "whitelist.bloom", [LISTED])
        mailbox = stack.enter_context(Sink("mailbox"))
        daemon = stack.enter_context(Daemon(folder / "daemon", DaemonConfig(
            folder / "whitelist.bloom", settings={"authentication": "off"})))
        opendkim = stack.enter_context(OpenDkimConfig().part(folder / "opendkim"))
        etc = folder / "sendmail"
        server = Sendmail(etc, SendmailConfig(mailbox.port, folders={
            daemon.folder: "/run/bloomgate", opendkim.folder: "/run/opendkim"}))
        server.write_files()
        os.rename(opendkim.socket, opendkim.folder / "opendkim.sock")
        before = {name: (etc / name).read_bytes() for name in ("sendmail.mc", "sendmail.cf")}

        def marks(*paths):
            received = len(mailbox.messages())
            with server, Client(server.port) as client:
                for path in paths:
                    client.send(Message(path))
                mailbox.wait_for(received + len(paths))
            new = sorted(mailbox.messages()[received:], key=lambda message: paths.index(message.sender))
            return [[value.split(";")[0] for _, value in message.headers("X-Bloomgate")] for message in new]

        assert run(etc, launcher, "--apply").returncode == 0
        assert marks(LISTED, UNLISTED) == [["deliver"], ["check"]]
        assert run(etc, launcher, "--undo").returncode == 0
        assert {name: (etc / name).read_bytes() for name in before} == before
        assert marks(LISTED, UNLISTED) == [[], []]
