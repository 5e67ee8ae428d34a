"""scripts/setup-postfix on private configurations: what it understands, what it refuses, how it is undone."""

import itertools
import json
import os
import re
import subprocess
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from conftest import LISTED, UNLISTED, first_of, skip_without_root
from mta_setup.edits import Folder, Group
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
    skip_without_root()
    with ExitStack() as stack:

        def start(main_cf="", master_cf="", change=lambda text: text):
            folder = stack.enter_context(temporary_folder("setup"))
            postfix = Postfix(folder, PostfixConfig("[127.0.0.1]:9", main_cf, master_cf))
            postfix.write_files()
            etc = folder / "etc"
            master = etc / "master.cf"
            # What listens on the port None is not important: nothing is started.
            master.write_text(change(master.read_text().replace("127.0.0.1:None", "smtp")))
            for other in ("rspamd/local.d", "spamassassin", "bloomgate"):
                (folder / "other" / other).mkdir(parents=True)
            (folder / "other/bloomgate/bloomgate-milter.conf").write_text("#deep-check = none\n")
            return SimpleNamespace(
                etc=etc, other=folder / "other", run=lambda *options, **more: run(etc, deep_check, *options, **more),
                run_plain=lambda *options: run(etc, None, *options))

        yield start


def run(etc, deep_check, *options, environment=None):
    command = [SCRIPT, "-c", etc, *(["--deep-check", f"127.0.0.1:{deep_check.port}"] if deep_check else []), "--files-only",
               "--etc", etc.parent / "other", *options]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env={**os.environ, **(environment or {})})


def files_of(folder):
    """Those of the configuration, and of the programs beside it."""
    return {path.relative_to(folder.parent): path.read_bytes() if path.is_file() else None
            for place in (folder, folder.parent / "other") if place.exists() for path in place.rglob("*")}


def value_of(etc, name):
    return subprocess.run(["postconf", "-c", etc, "-h", name], check=True, capture_output=True,
                          text=True).stdout


# main.cf, master.cf, options, and what stands in which parameter in this order afterwards.
UNDERSTOOD = {
    "nothing yet, and no line end at the end of the file": (
        "notify_classes = bounce", "", [], {"smtpd_milters": [BLOOMGATE], "content_filter": ["deep-check:"]}),
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
         "header_checks": ["/authentication_header_checks", "/forged_mark_header_checks", "regexp:/etc/hostname",
                           "/automatic_mail_header_checks"],
         "mime_header_checks": ["regexp:/etc/hostname", "/automatic_mail_header_checks"],
         "nested_header_checks": ["regexp:/etc/hostname"]}),
    "header checks for parts, and an empty list of them": (
        "mime_header_checks = regexp:/etc/hostname, regexp:/etc/issue\nheader_checks =\n", "", [],
        {"header_checks": ["/forged_mark_header_checks", "/automatic_mail_header_checks"],
         "mime_header_checks": ["regexp:/etc/hostname", "regexp:/etc/issue", "/automatic_mail_header_checks"],
         "nested_header_checks": []}),
    "a spam check behind Postfix already": (
        "content_filter = smtp-amavis:[127.0.0.1]:10024\n", AMAVIS_RETURN, ["--keep-content-filter"],
        {"content_filter": ["smtp-amavis:[127.0.0.1]:10024"], "smtpd_milters": [BLOOMGATE]}),
    "nothing checks mail": ("", "", ["--recipe", "none"], {
        "smtpd_milters": [BLOOMGATE], "content_filter": [], "milter_header_checks": [],
        "header_checks": ["/authentication_header_checks", "/forged_mark_header_checks"]}),
    "rspamd as a milter, and a daemon on a port": ("", "", ["--recipe", "rspamd", "--socket", "inet:127.0.0.1:8895"], {
        "smtpd_milters": ["inet:127.0.0.1:8895", "inet:127.0.0.1:11332"], "non_smtpd_milters": ["inet:127.0.0.1:11332"],
        "header_checks": ["/authentication_header_checks", "/forged_mark_header_checks"],
        "content_filter": []}),
    "rspamd as a milter already": (
        f"smtpd_milters = {OPENDKIM}, inet:localhost:11332\n", "", ["--recipe", "rspamd"],
        {"smtpd_milters": [OPENDKIM, BLOOMGATE, "inet:localhost:11332"]}),
    "rspamd as a milter already, and mail is only marked": (
        f"smtpd_milters = {OPENDKIM}, inet:localhost:11332\n",
        "192.0.2.7:25 inet n - n - - smtpd\n  -o smtpd_milters=inet:localhost:11332\n", ["--recipe", "none"],
        {"smtpd_milters": [OPENDKIM, BLOOMGATE, "inet:localhost:11332"], "non_smtpd_milters": []}),
    "a virus check already, and SpamAssassin to come": (
        "smtpd_milters = unix:/x/clamav.ctl\n", "", ["--recipe", "spamassassin", "--with-clamav"],
        {"smtpd_milters": [BLOOMGATE, "unix:/x/clamav.ctl", "spamass.sock"]}),
    "rspamd with clamd, and mail that waits": ("", "", [
        "--recipe", "rspamd", "--with-clamav", "--when-down", "tempfail", "--parts-come-later"], {
            "smtpd_milters": [BLOOMGATE, "default_action=accept", "inet:127.0.0.1:11332", "default_action=tempfail"]}),
    "Bloomgate asks the checker itself": ("", "", ["--recipe", "deep-check", "--checker", "spamd"], {
        "smtpd_milters": [BLOOMGATE, "default_action=accept"],
        "header_checks": ["/authentication_header_checks", "/forged_mark_header_checks",
                          "/forged_result_header_checks"]}),
    "it does, and mail waits": ("", "", [
        "--recipe", "deep-check", "--when-down", "tempfail", "--parts-come-later"], {
            "smtpd_milters": [BLOOMGATE, "default_action=tempfail"]}),
    "a submission service with milters of its own": (
        "", "submission inet n - y - - smtpd\n  -o smtpd_milters=unix:/x.sock\n  -o smtpd_sasl_auth_enable=yes\n", [],
        {"smtpd_milters": [BLOOMGATE]}),
}


# Those that scripts/test runs without --all.
QUICK = {"both, over several lines with a comment", "another content filter",
         "a milter that is not known", "a deep check that is not there", "a port for other servers that asks no milter"}


@pytest.mark.parametrize("case", [
    pytest.param(case, marks=[] if case in QUICK else pytest.mark.all_only) for case in UNDERSTOOD])
def test_a_configuration_that_is_understood_is_changed_once_and_restored_byte_for_byte(setup, case):
    main_cf, master_cf, options, want = UNDERSTOOD[case]
    postfix = setup(main_cf, master_cf)
    before = files_of(postfix.etc)
    applied = postfix.run("--apply", *options)
    assert applied.returncode == 0, applied.stderr
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


@pytest.mark.parametrize("case", sorted(QUICK & UNDERSTOOD.keys()))
def test_what_is_shown_and_listed_is_what_is_applied_and_there_is_nothing_else_to_undo(setup, case):
    main_cf, master_cf, options, _ = UNDERSTOOD[case]
    postfix = setup(main_cf, master_cf)
    before = files_of(postfix.etc)
    shown, shown_as_json = postfix.run(*options), postfix.run("--json", *options)
    assert (shown.returncode, files_of(postfix.etc)) == (0, before), shown.stderr
    applied = postfix.run("--apply", *options)
    assert shown.stdout.partition("\nNothing was changed")[0] == applied.stdout.partition("\nDone")[0]
    listed = json.loads(postfix.run("--list", "--json").stdout)["edits"]
    assert listed == json.loads(shown_as_json.stdout)["edits"]
    after = files_of(postfix.etc)
    shown = postfix.run("--undo", "--list")
    assert (shown.returncode, files_of(postfix.etc)) == (0, after), shown.stderr
    assert json.loads(postfix.run("--undo", "--list", "--json").stdout)["edits"] == listed
    undone = postfix.run("--undo")
    assert shown.stdout.partition("\nNothing was changed")[0] == undone.stdout.partition("\nRemoved")[0]
    assert "nothing to undo" in postfix.run("--undo").stdout


def test_what_undo_removes_is_listed_in_words_of_removing(setup):
    postfix = setup("header_checks = regexp:/etc/hostname\n",
                    "192.0.2.7:25 inet n - n - - smtpd\n  -o smtpd_milters=unix:/clamav\n",
                    change=lambda text: text.replace("smtp inet n - n - - smtpd", "smtp inet n - y - - smtpd"))
    assert postfix.run("--apply").returncode == 0
    shown, listed = postfix.run("--undo", "--list"), postfix.run("--list")
    for line in (f"{postfix.etc}/main.cf: regexp:{postfix.etc}/automatic_mail_header_checks in header_checks\n",
                 f"{postfix.etc}/master.cf: the service light-path/unix\n",
                 f"{postfix.etc}/master.cf: {BLOOMGATE} in the milters of 192.0.2.7:25/inet\n",
                 "forged_mark_header_checks: the file: the lines of config/mta/postfix/forged_mark_header_checks\n"):
        assert line in shown.stdout and line in listed.stdout, line
    assert "smtp/inet returns to its chroot (n -> y)\n" in shown.stdout and "smtp/inet out of its chroot" in listed.stdout
    assert "smtpd_milters: adds" not in shown.stdout + listed.stdout
    assert shown.stdout.endswith("\nNothing was changed. To do this, leave --list out\n")
    assert (Group("ann", "ours", "why").removed(), Folder("/x", "ann").removed()) == (
        "the user ann leaves the group ours", "the folder /x, of the user ann")


@pytest.mark.all_only
def test_automatic_mail_is_not_logged_where_that_is_not_wanted(setup):
    postfix = setup("header_checks = regexp:/etc/hostname\n")
    before = files_of(postfix.etc)
    shown = postfix.run()
    for line in ("automatic_mail_header_checks: new file: the lines of config/mta/postfix/automatic_mail_header_checks\n",
                 f"header_checks: adds regexp:{postfix.etc}/automatic_mail_header_checks\n",
                 f"mime_header_checks: adds regexp:{postfix.etc}/automatic_mail_header_checks\n"):
        assert line in shown.stdout
    assert postfix.run("--apply").returncode == 0
    assert postfix.run("--apply", "--no-automatic-mail-log").returncode == 0
    assert not (postfix.etc / "automatic_mail_header_checks").exists()
    assert "automatic_mail" not in (postfix.etc / "main.cf").read_text()
    assert value_of(postfix.etc, "mime_header_checks").split() == ["regexp:/etc/hostname"]
    assert postfix.run("--undo").returncode == 0
    assert files_of(postfix.etc) == before


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
    "a port for other servers that asks no milter": (
        "", "192.0.2.7:25 inet n - n - - smtpd\n  -o smtpd_milters=\n", [],
        "192.0.2.7:25/inet.*would not be asked"),
    "a port for other servers with a filter of its own": (
        "", "192.0.2.7:25 inet n - n - - smtpd\n  -o content_filter=spamassassin\n", [],
        "192.0.2.7:25/inet.*--keep-content-filter"),
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
    assert postfix.run("--apply", "--socket", BLOOMGATE).returncode == 0
    assert chrooted not in (postfix.etc / "master.cf").read_text()
    assert postfix.run("--undo").returncode == 0
    assert files_of(postfix.etc) == before


@pytest.mark.all_only
def test_a_checker_stays_until_a_recipe_is_named(setup):
    postfix = setup(f"smtpd_milters = {OPENDKIM}\n")
    before = files_of(postfix.etc)
    asked = ("--recipe", "rspamd", "--when-down", "tempfail", "--parts-come-later")
    assert postfix.run_plain("--apply", *asked).returncode == 0
    after = files_of(postfix.etc)
    again = postfix.run_plain("--apply", "--parts-come-later")
    assert (again.returncode, files_of(postfix.etc)) == (0, after), again.stderr
    assert again.stdout == "nothing to change: the configuration is as the recipe rspamd wants it\n"

    # One thing is to be different: the rest stays.
    assert postfix.run_plain("--apply", "--parts-come-later", "--socket", "inet:127.0.0.1:8895").returncode == 0
    value = value_of(postfix.etc, "smtpd_milters")
    assert [word in value for word in ("8895", BLOOMGATE, "11332", "=tempfail")] == [True, False, True, True]
    refused = postfix.run_plain("--deep-check", "127.0.0.1:9")
    assert (refused.returncode, "say so: --recipe content-filter" in refused.stderr) == (78, True), refused.stderr

    shown = postfix.run_plain("--recipe", "none")
    assert "  - this takes rspamd out of smtpd_milters, where an earlier --apply has put it" in shown.stdout
    assert postfix.run_plain("--recipe", "none", "--apply").returncode == 0
    assert "11332" not in (postfix.etc / "main.cf").read_text()
    assert "nothing to change" in postfix.run_plain("--apply").stdout
    assert postfix.run_plain("--undo").returncode == 0
    assert files_of(postfix.etc) == before


def test_a_checker_that_the_site_has_is_named_where_mail_is_only_marked(setup):
    shown = setup("smtpd_milters = inet:localhost:11332\n").run_plain()
    assert shown.returncode == 0, shown.stderr
    assert ("  - your spam checker still checks all mail. Recipes with which listed mail skips it: content-filter, rspamd, "
            "spamassassin, deep-check\n") in shown.stdout
    assert re.search("rspamd stays in smtpd_milters of .*main.cf as it is, and checks all mail as before. Bloomgate is asked "
                     "before it. With --recipe rspamd it spares listed mail", shown.stdout)
    assert "takes rspamd out" not in shown.stdout


@pytest.mark.all_only
def test_a_service_that_is_enabled_later_is_found_by_the_next_run(setup):
    postfix = setup(change=lambda text: text.replace("smtp inet n - n - - smtpd", "smtp inet n - y - - smtpd"))
    master_cf = postfix.etc / "master.cf"
    before = master_cf.read_text()
    applied = postfix.run_plain("--apply")
    assert "a service that you enable in" in applied.stdout
    # What the doctor would find is not hidden by a Done.
    assert "\nDone. But nothing checks the mail that is not listed: " in applied.stdout
    assert "your spam checker still checks all mail" not in applied.stdout
    later = "submission inet n - y - - smtpd\n"
    master_cf.write_text(master_cf.read_text() + later)
    again = postfix.run_plain("--apply").stdout
    assert f"{master_cf}: submission/inet leaves its chroot" in again
    # What is there already is not announced as new.
    assert f"{master_cf}: keeps smtp/inet out of its chroot" in again
    assert re.search(f"main.cf: keeps .*{BLOOMGATE}.* in smtpd_milters\n", again), again
    assert "adds" not in again and "new file" not in again
    assert later.replace(" y ", " n ") in master_cf.read_text()
    assert "nothing to change" in postfix.run_plain("--apply").stdout
    assert postfix.run_plain("--undo").returncode == 0
    assert master_cf.read_text() == before + later


@pytest.mark.parametrize("main_cf, options, conf", first_of([
    ("content_filter = scan:[127.0.0.1]:10024\n", ["--recipe", "none"], ""), ("", ["--recipe", "rspamd"], ""),
    ("smtpd_milters = inet:localhost:11332\n", [], ""), ("", [], "deep-check = spamd:inet:783@127.0.0.1\n")]))
def test_where_something_checks_mail_done_is_done(setup, main_cf, options, conf):
    postfix = setup(main_cf)
    (postfix.other / "bloomgate/bloomgate-milter.conf").write_text(conf)
    done = f"\nDone.\nThe backup is in {postfix.etc}/bloomgate-setup.\nWhat is left to do:\n"
    assert done in postfix.run_plain("--apply", *options).stdout


COMMENTED = """\
# all of them
smtpd_milters =
    # signs and verifies
    unix:opendkim/opendkim.sock,
    # reads what opendkim writes
    inet:127.0.0.1:8893

    # no spam check yet
"""


@pytest.mark.all_only
def test_comments_stay_with_their_lines(setup):
    postfix = setup(COMMENTED)
    main_cf = postfix.etc / "main.cf"
    before = main_cf.read_text().splitlines()
    assert postfix.run("--apply").returncode == 0
    after = main_cf.read_text().splitlines()
    rest = iter(after)
    assert all(line in rest for line in before)  # each, in its order
    assert after.index("    # reads what opendkim writes") + 1 == after.index("    inet:127.0.0.1:8893")
    assert BLOOMGATE in after[after.index("    inet:127.0.0.1:8893") + 1]


def others_own(etc):
    """An operator's own edits meanwhile."""
    main_cf, master_cf = etc / "main.cf", etc / "master.cf"
    postconf = ["postconf", "-c", etc, "-e"]
    value = value_of(etc, "smtpd_milters").strip()
    main_cf.write_text("# mine\n" + main_cf.read_text() + "bounce_queue_lifetime = 1d\n")
    subprocess.run([*postconf, f"smtpd_milters = {value}, unix:/run/clamav/added.sock"], check=True)
    subprocess.run([*postconf, "header_checks = " + value_of(etc, "header_checks").strip() + " regexp:/etc/hostname"],
                   check=True)
    master_cf.write_text(master_cf.read_text() + "mine unix - - n - - smtp\n")
    with open(etc / "forged_mark_header_checks", "a", encoding="utf-8") as table:
        table.write("/^X-Mine:/ IGNORE\n")


@pytest.mark.parametrize("recipe", [
    *(pytest.param(name, marks=pytest.mark.all_only) for name in ("content-filter", "spamassassin")), "deep-check"])
def test_later_edits_are_kept_and_all_of_our_lines_are_removed(setup, recipe):
    postfix = setup(master_cf="submission inet n - y - - smtpd\n",
                    change=lambda text: text.replace("smtp inet n - n - - smtpd", "smtp inet n - y - - smtpd"))
    assert postfix.run("--apply", "--recipe", recipe).returncode == 0
    others_own(postfix.etc)
    daemon_conf = postfix.other / "bloomgate/bloomgate-milter.conf"
    daemon_conf.write_text(daemon_conf.read_text() + "mode = observe\n")
    # With other options in between: their lines are removed, too.
    assert postfix.run("--apply", "--recipe", recipe, "--socket", "inet:127.0.0.1:8895").returncode == 0
    with open(postfix.etc / "main.cf", "a", encoding="utf-8") as file:
        file.write("delay_warning_time = 4h\n")
    undone = postfix.run("--undo")
    assert undone.returncode == 0, undone.stderr
    left = {name: content.decode() for name, content in files_of(postfix.etc).items() if content}
    for name, text in left.items():
        for ours in ("loomgate: ", "light-path", "deep-check:", "8895", "milter.sock", "11332", "spamass",
                     "authentication_", "automatic_mail_"):
            assert ours not in text, (name, text)
    main_cf = postfix.etc / "main.cf"
    assert "# mine\n" in main_cf.read_text()
    assert [value_of(postfix.etc, name).strip() for name in
            ("bounce_queue_lifetime", "delay_warning_time", "smtpd_milters", "content_filter")] == [
                "1d", "4h", "unix:/run/clamav/added.sock", ""]
    assert value_of(postfix.etc, "header_checks").strip() == "regexp:/etc/hostname"
    assert "smtp inet n - y - - smtpd" in (postfix.etc / "master.cf").read_text()
    assert "submission inet n - y - - smtpd" in (postfix.etc / "master.cf").read_text()
    assert "mine unix" in (postfix.etc / "master.cf").read_text()
    assert (postfix.etc / "forged_mark_header_checks").read_text() == "/^X-Mine:/ IGNORE\n"
    assert daemon_conf.read_text() == "#deep-check = none\nmode = observe\n"
    assert not (postfix.etc / "bloomgate-setup").exists()


def test_a_port_for_other_servers_with_milters_of_its_own_asks_bloomgate_too(setup):
    own = "-o smtpd_milters=unix:/run/opendkim/opendkim.sock,unix:/run/clamav/clamav-milter.ctl"
    postfix = setup(master_cf=f"192.0.2.7:25 inet n - n - - smtpd\n  {own}\n  -o syslog_name=x\n")
    master_cf = postfix.etc / "master.cf"
    before = master_cf.read_text()
    assert postfix.run("--apply").returncode == 0
    found = subprocess.run(["postconf", "-c", postfix.etc, "-P", "192.0.2.7:25/inet/smtpd_milters"], check=True,
                           capture_output=True, text=True).stdout
    assert [found.find(name) for name in ("opendkim", "bloomgate", "clamav")] == sorted(
        found.find(name) for name in ("opendkim", "bloomgate", "clamav"))
    assert found.count("bloomgate") == 1
    master_cf.write_text(master_cf.read_text().replace("-o syslog_name=x", "-o syslog_name=y").replace(
        "{ smtpd_milters = ", "{ smtpd_milters = unix:/mine.sock "))
    assert postfix.run("--undo").returncode == 0
    kept = "-o { smtpd_milters = unix:/mine.sock unix:/run/opendkim/opendkim.sock unix:/run/clamav/clamav-milter.ctl }"
    assert master_cf.read_text() == before.replace(own, kept).replace("syslog_name=x", "syslog_name=y")


def test_a_socket_inside_the_chroot_that_would_be_lost_is_in_the_way(setup):
    postfix = setup("smtpd_milters = unix:/spamass/spamass.sock\n", change=lambda text: text.replace(
        "smtp inet n - n - - smtpd", "smtp inet n - y - - smtpd"))
    (postfix.etc.parent / "queue/spamass").mkdir()
    (postfix.etc.parent / "queue/spamass/spamass.sock").touch()
    refused = postfix.run("--recipe", "spamassassin")
    assert refused.returncode == 78
    assert "Write unix:spamass/spamass.sock" in refused.stderr


@pytest.mark.parametrize("options, recipe", [
    ([], "none"), (["--light-path", "127.0.0.1:10026"], "content-filter"), (["--keep-content-filter"], "content-filter")])
def test_without_a_recipe_mail_is_only_marked_unless_an_option_speaks_of_the_content_filter(setup, options, recipe):
    postfix = setup()
    shown = subprocess.run([SCRIPT, "-c", postfix.etc, "--files-only", *options], capture_output=True, text=True)
    titles = {"none": f"Only marks mail (recipe none), in {postfix.etc}:\n", "content-filter": "The recipe content-filter,"}
    assert shown.stdout.startswith(titles[recipe])


def test_the_dry_run_shows_all_that_is_in_the_way_at_once(setup):
    postfix = setup("content_filter = scan:[127.0.0.1]:10024\nsmtpd_milters = unix:/x.sock\n",
                    "light-path unix - - n - 3 lmtp\n")
    before = files_of(postfix.etc)
    shown = postfix.run("--deep-check", "127.0.0.1:9")
    assert (shown.returncode, files_of(postfix.etc)) == (78, before)
    for words in ("--keep-content-filter", "--after-milter", "the service light-path/unix",
                  "nothing listens on 127.0.0.1:9"):
        assert words in shown.stdout.partition("In the way:")[2], words
    assert len(json.loads(postfix.run("--json", "--deep-check", "127.0.0.1:9").stdout)["in_the_way"]) == 4


def test_undo_removes_our_own_lines_although_they_were_edited(setup):
    postfix = setup()
    main_cf, master_cf = postfix.etc / "main.cf", postfix.etc / "master.cf"
    before = files_of(postfix.etc)
    assert postfix.run("--apply").returncode == 0
    main_cf.write_text(main_cf.read_text().replace("content_timeout=10s", "content_timeout=99s").replace(
        "content_filter = deep-check:[127.0.0.1]", "content_filter = deep-check:[127.0.0.2]"))
    master_cf.write_text(re.sub(r"(light-path .*) 20 ", r"\1 7 ", master_cf.read_text()))
    assert postfix.run("--undo").returncode == 0
    assert files_of(postfix.etc) == before


@pytest.mark.all_only
def test_what_took_the_place_of_ours_is_kept(setup):
    postfix = setup()
    main_cf = postfix.etc / "main.cf"
    before = main_cf.read_text()
    assert postfix.run("--apply").returncode == 0
    main_cf.write_text(re.sub("content_filter = .*", "content_filter = other:[127.0.0.1]:9", main_cf.read_text()))
    assert postfix.run("--undo").returncode == 0
    assert main_cf.read_text() == before + "content_filter = other:[127.0.0.1]:9\n"


@pytest.mark.all_only
def test_what_was_thrown_away_meanwhile_is_not_missed(setup):
    postfix = setup()
    before = files_of(postfix.etc)
    kept = (postfix.etc / "main.cf").read_text()
    assert postfix.run("--apply").returncode == 0
    (postfix.etc / "main.cf").write_text(kept)  # from a backup, say
    (postfix.etc / "authentication_header_checks").unlink()
    assert postfix.run("--undo").returncode == 0
    assert files_of(postfix.etc) == before


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


def test_mail_takes_its_way_after_it_and_none_after_undo(deep_check):
    skip_without_root()
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


def test_a_program_that_is_not_there_is_named_once(setup):
    config = setup()
    (config.other / "rspamd/local.d").rmdir()
    done = config.run_plain("--recipe", "rspamd")
    assert done.returncode == 78 and done.stdout.count("is rspamd installed?") == 1, done.stdout + done.stderr
