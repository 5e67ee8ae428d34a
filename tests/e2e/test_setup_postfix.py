"""scripts/setup-postfix on private configurations: what it understands, what it refuses, how it is undone."""

import itertools
import os
import re
import subprocess
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from conftest import LISTED, UNLISTED
from private_mail.client import Client, Message
from private_mail.daemon import Daemon, DaemonConfig
from private_mail.filter import REPOSITORY, build_filter_of
from private_mail.gateway import DEEP_CHECK, MAILBOX
from private_mail.postfix import Postfix, PostfixConfig
from private_mail.processes import free_port, temporary_folder, wait_until
from private_mail.sink import Sink

SCRIPT = REPOSITORY / "scripts/setup-postfix"
OPENDKIM = "unix:/run/opendkim/opendkim.sock"
CLAMAV = "{ inet:127.0.0.1:7357, connect_timeout = 5s, default_action=accept }"
BLOOMGATE = "unix:/run/bloomgate/milter.sock"
AMAVIS_RETURN = """\
127.0.0.1:10025 inet n - n - - smtpd
  -o content_filter=
  -o smtpd_milters=
  -o mynetworks=127.0.0.0/8
"""


@pytest.fixture(scope="module")
def deep_check():
    with Sink(DEEP_CHECK) as sink:
        yield sink


@pytest.fixture
def setup(deep_check):
    """setup(main_cf, master_cf) -> a configuration of Postfix, not running, and run(*options) on it."""
    if os.geteuid() != 0:
        pytest.skip("Postfix needs root")
    with ExitStack() as stack:

        def start(main_cf="", master_cf="", change=lambda text: text):
            folder = stack.enter_context(temporary_folder("setup"))
            postfix = Postfix(folder, PostfixConfig("[127.0.0.1]:9", main_cf, master_cf))
            postfix.write_files()
            etc = folder / "etc"
            master = etc / "master.cf"
            # What listens on the port None is not important: nothing is started.
            master.write_text(change(master.read_text().replace("127.0.0.1:None", "smtp")))
            return SimpleNamespace(
                etc=etc, run=lambda *options, **more: run(etc, deep_check, *options, **more))

        yield start


def run(etc, deep_check, *options, environment=None):
    command = [SCRIPT, "-c", etc, "--deep-check", f"127.0.0.1:{deep_check.port}", *options]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env={**os.environ, **(environment or {})})


def files_of(folder):
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


def value_of(etc, name):
    return subprocess.run(["postconf", "-c", etc, "-h", name], check=True, capture_output=True,
                          text=True).stdout


# main.cf, master.cf, options, and what stands in which parameter in this order afterwards.
UNDERSTOOD = {
    "nothing yet": ("", "", [], {"smtpd_milters": [BLOOMGATE], "content_filter": ["deep-check:"]}),
    "no line end at the end of the file": ("notify_classes = bounce", "", [], {"smtpd_milters": [BLOOMGATE]}),
    "a milter that authenticates": (
        f"smtpd_milters = {OPENDKIM}\n", "", [], {"smtpd_milters": [OPENDKIM, BLOOMGATE]}),
    "a virus check": (f"smtpd_milters = {CLAMAV}\n", "", ["--after-milter", ""],
                      {"smtpd_milters": [BLOOMGATE, CLAMAV]}),
    "both, over several lines with a comment": (
        f"smtpd_milters =\n  {OPENDKIM}\n# the next one\n  inet:127.0.0.1:8893\n"
        "  unix:/run/clamav/milter.ctl\n", "", [],
        {"smtpd_milters": [OPENDKIM, "inet:127.0.0.1:8893", BLOOMGATE, "unix:/run/clamav/milter.ctl"]}),
    "a milter that is not known, and where it stands": (
        "smtpd_milters = unix:/a.sock unix:/b.sock\n", "", ["--after-milter", "/a.sock"],
        {"smtpd_milters": ["unix:/a.sock", BLOOMGATE, "unix:/b.sock"]}),
    "other header checks": (
        "milter_header_checks = regexp:/etc/hostname\nheader_checks = regexp:/etc/hostname\n", "", [],
        {"milter_header_checks": ["/bloomgate_header_checks", "regexp:/etc/hostname"],
         "header_checks": ["/authentication_header_checks", "/forged_mark_header_checks", "regexp:/etc/hostname"],
         "nested_header_checks": ["regexp:/etc/hostname"]}),
    "a spam check behind Postfix already": (
        "content_filter = smtp-amavis:[127.0.0.1]:10024\n", AMAVIS_RETURN, ["--keep-content-filter"],
        {"content_filter": ["smtp-amavis:[127.0.0.1]:10024"], "smtpd_milters": [BLOOMGATE]}),
    "rspamd as a milter": ("", "", ["--recipe", "rspamd"], {
        "smtpd_milters": [BLOOMGATE, "inet:127.0.0.1:11332"], "non_smtpd_milters": ["inet:127.0.0.1:11332"],
        "header_checks": ["/authentication_header_checks", "/forged_mark_header_checks"],
        "content_filter": []}),
    "rspamd as a milter already": (
        f"smtpd_milters = {OPENDKIM}, inet:localhost:11332\n", "", ["--recipe", "rspamd"],
        {"smtpd_milters": [OPENDKIM, BLOOMGATE, "inet:localhost:11332"]}),
    "a virus check already, and SpamAssassin to come": (
        "smtpd_milters = unix:/x/clamav.ctl\n", "", ["--recipe", "spamass-milter"],
        {"smtpd_milters": [BLOOMGATE, "unix:/x/clamav.ctl", "spamass.sock"]}),
    "a daemon on a port": ("", "", ["--socket", "inet:127.0.0.1:8895"],
                           {"smtpd_milters": ["inet:127.0.0.1:8895"]}),
}


# Those that scripts/test runs without --all.
QUICK = {"both, over several lines with a comment", "a spam check behind Postfix already",
         "another content filter", "a milter that is not known", "a service with milters of its own",
         "a deep check that is not there"}


@pytest.mark.parametrize("case", [
    pytest.param(case, marks=[] if case in QUICK else pytest.mark.all_only) for case in UNDERSTOOD])
def test_a_configuration_that_is_understood_is_changed_once_and_given_back_byte_for_byte(setup, case):
    main_cf, master_cf, options, want = UNDERSTOOD[case]
    postfix = setup(main_cf, master_cf)
    before = files_of(postfix.etc)

    shown = postfix.run(*options)
    assert (shown.returncode, files_of(postfix.etc)) == (0, before), shown.stderr
    applied = postfix.run("--apply", *options)
    assert applied.returncode == 0, applied.stderr
    assert shown.stdout.partition("\nNothing was changed")[0] == applied.stdout.partition("\nDone")[0]
    for name, words in want.items():
        value = value_of(postfix.etc, name)
        places = [value.find(word) for word in words]
        assert -1 not in places and places == sorted(places), (name, value)
        assert [value.count(word) for word in words] == [1] * len(words), (name, value)
    after = files_of(postfix.etc)

    again = postfix.run("--apply", *options)
    assert (again.returncode, files_of(postfix.etc)) == (0, after)
    assert "nothing to change" in again.stdout
    undone = postfix.run("--undo")
    assert (undone.returncode, files_of(postfix.etc)) == (0, before), undone.stderr
    assert "nothing to undo" in postfix.run("--undo").stdout


REFUSED = {
    "another content filter": (
        "content_filter = scan:[127.0.0.1]:10024\n", "", [],
        "--keep-content-filter"),
    "a milter that is not known": (
        "smtpd_milters = unix:/x.sock\n", "", [],
        "unix:/x.sock\n.*--after-milter"),
    "a place that is not there": (
        f"smtpd_milters = {OPENDKIM}\n", "", ["--after-milter", "/x.sock"],
        "found it in 0"),
    "a place that is there twice": (
        "smtpd_milters = unix:/x.sock unix:/x.sock2\n", "", ["--after-milter", "/x.sock"],
        "found it in 2"),
    "a spam check as a milter": (
        "smtpd_milters = inet:127.0.0.1:11332\n", "", [],
        "still ask"),
    "a check before what authenticates": (
        f"smtpd_milters = unix:/run/clamav/milter.ctl {OPENDKIM}\n", "", [],
        "Change their order"),
    "milters by way of another parameter": (
        "mine = unix:/x.sock\nsmtpd_milters = $mine\n", "", [],
        "another parameter"),
    "tables by way of another parameter": (
        "mine = regexp:/x\nmilter_header_checks = $mine\n", "", [],
        "another parameter"),
    "Bloomgate set up by hand": (
        f"smtpd_milters = {BLOOMGATE}\n", "", [],
        "did not put it there"),
    "a service with milters of its own": (
        "", "submission inet n - n - - smtpd\n  -o smtpd_milters=unix:/x.sock\n", [],
        "submission/inet.*settings of its own"),
    "another service of that name": (
        "", "light-path unix - - n - 3 lmtp\n", [],
        "the service light-path/unix"),
    "another use of the port": (
        "", "127.0.0.1:10025 inet n - n - - smtpd\n", [],
        "the service 127.0.0.1:10025"),
    "a configuration that is not good": (
        "mydestination = ${x\n", "", [],
        "."),
    "a deep check that is not there": (
        "", "", ["--deep-check", "127.0.0.1:9"],
        "nothing listens on 127.0.0.1:9"),
}


@pytest.mark.parametrize("case", [
    pytest.param(case, marks=[] if case in QUICK else pytest.mark.all_only) for case in REFUSED])
def test_a_configuration_that_is_not_understood_is_left_alone(setup, case):
    main_cf, master_cf, options, reason = REFUSED[case]
    postfix = setup(main_cf, master_cf)
    before = files_of(postfix.etc)
    refused = postfix.run("--apply", *options)
    assert refused.returncode == 78, refused.stdout
    assert "nothing was changed" in refused.stderr
    assert re.search(f"(?s){reason}", refused.stderr), refused.stderr
    assert files_of(postfix.etc) == before


@pytest.mark.all_only
def test_a_service_that_could_not_see_the_socket_leaves_its_chroot(setup):
    chrooted = "smtp inet n - y - - smtpd"
    postfix = setup(change=lambda text: text.replace("smtp inet n - n - - smtpd", chrooted))
    before = files_of(postfix.etc)
    assert postfix.run("--apply", "--socket", "inet:127.0.0.1:8895").returncode == 0
    assert chrooted in (postfix.etc / "master.cf").read_text()
    assert postfix.run("--apply").returncode == 0
    assert chrooted not in (postfix.etc / "master.cf").read_text()
    assert postfix.run("--undo").returncode == 0
    assert files_of(postfix.etc) == before


@pytest.mark.all_only
def test_other_options_take_the_place_of_the_first_ones(setup):
    postfix = setup()
    before = files_of(postfix.etc)
    for socket in ("inet:127.0.0.1:8895", "inet:127.0.0.1:8896"):
        assert postfix.run("--apply", "--socket", socket).returncode == 0
    assert "8895" not in value_of(postfix.etc, "smtpd_milters")
    assert postfix.run("--undo").returncode == 0
    assert files_of(postfix.etc) == before


@pytest.mark.all_only
def test_what_was_edited_since_is_kept_and_what_is_ours_is_taken_out(setup):
    postfix = setup()
    main_cf = postfix.etc / "main.cf"
    before = main_cf.read_text()
    assert postfix.run("--apply").returncode == 0
    main_cf.write_text("# mine\n" + main_cf.read_text() + "bounce_queue_lifetime = 1d\n")
    assert postfix.run("--undo").returncode == 0
    assert main_cf.read_text() == "# mine\n" + before + "bounce_queue_lifetime = 1d\n"


def test_where_our_own_lines_were_edited_undo_says_where_the_backup_is(setup):
    postfix = setup()
    main_cf = postfix.etc / "main.cf"
    before = main_cf.read_text()
    assert postfix.run("--apply").returncode == 0
    main_cf.write_text(main_cf.read_text().replace("deep-check:", "deeper-check:"))
    edited = files_of(postfix.etc)
    refused = postfix.run("--undo")
    assert (refused.returncode, files_of(postfix.etc)) == (78, edited)
    assert (postfix.etc / "bloomgate-setup/before/main.cf").read_text() == before
    assert str(postfix.etc / "bloomgate-setup/before/main.cf") in refused.stderr


def test_when_postfix_finds_fault_afterwards_everything_is_as_it_was(setup, tmp_path):
    postfix = setup()
    before = files_of(postfix.etc)
    # The real program, but that it is not content once the milter is there.
    (tmp_path / "postfix").write_text(
        '#!/bin/sh\n/usr/sbin/postfix "$@" && ! grep -q bloomgate "$2/main.cf" || { echo no >&2; exit 1; }\n')
    (tmp_path / "postfix").chmod(0o755)
    refused = postfix.run("--apply", environment={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert refused.returncode == 78
    assert "postfix reports an error in the configuration:\nno" in refused.stderr
    assert files_of(postfix.etc) == before


@pytest.mark.all_only
@pytest.mark.parametrize("option", [["--socket", "unix:/x, inet:y:1"], ["--socket", "/x"],
                                    ["--light-path", "a b:1"], ["--deep-check", "127.0.0.1"],
                                    ["--reinjection", "127.0.0.1:1 inet"], ["--recipe", "none"]],
                         ids=" ".join)
def test_nothing_from_the_command_line_breaks_out_of_its_place(setup, option):
    assert setup().run("--apply", *option).returncode in (2, 64)


def test_mail_takes_its_way_after_it_and_none_after_undo(deep_check):
    if os.geteuid() != 0:
        pytest.skip("Postfix needs root")
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder("setup"))
        build_filter_of(folder / "whitelist.bloom", [LISTED])
        mailbox = stack.enter_context(Sink(MAILBOX))
        daemon = stack.enter_context(Daemon(folder / "daemon", DaemonConfig(folder / "whitelist.bloom")))
        (folder / "postfix").mkdir()
        postfix = stack.enter_context(Postfix(folder / "postfix", PostfixConfig(mailbox.address)))
        etc = folder / "postfix/etc"
        before = files_of(etc)

        numbers = itertools.count()

        def place_of(subject):
            # Not by queue ID: the light path hands mail to Postfix once more.
            return [sink.name for sink in (deep_check, mailbox) for message in sink.messages()
                    if message.headers("Subject") == [("Subject", subject)]]

        def places(*paths):
            sent = {f"message {next(numbers)}": path for path in paths}
            with Client(postfix.port) as client:
                for subject, path in sent.items():
                    client.send(Message(path, subject=subject))
            for subject in sent:
                wait_until(lambda: place_of(subject), f"{subject} to arrive")
            return [place for subject in sent for place in place_of(subject)]

        def do(*options):
            done = run(etc, deep_check, "--socket", daemon.mta_socket,
                       "--reinjection", f"127.0.0.1:{free_port()}", *options)
            assert done.returncode == 0, done.stderr
            [step] = [line for line in done.stdout.splitlines() if line.startswith("  postfix ")]
            servers = re.findall(r"smtpd\[(\d+)\]", postfix.log())
            reloads = postfix.log().count("reload -- version")
            subprocess.run(step.split(), check=True, capture_output=True)
            # A server of before the reload would still take the next client.
            wait_until(lambda: postfix.log().count("reload -- version") > reloads and
                       not any(os.path.exists(f"/proc/{pid}") for pid in servers), "Postfix to reload")

        do("--apply")
        assert places(LISTED, UNLISTED, "") == [MAILBOX, DEEP_CHECK, DEEP_CHECK]
        daemon.kill()
        assert places(LISTED) == [DEEP_CHECK]
        do("--undo")
        assert places(LISTED, UNLISTED) == [MAILBOX, MAILBOX]
        assert files_of(etc) == before
