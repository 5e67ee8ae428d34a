"""bloomgate-milter doctor on private set-ups: what it finds, and that it finds nothing where all is well.
"""

import datetime
import json
import os
import pwd
import subprocess
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from conftest import LISTED, first_of, skip_without_root
from private_mail import sendmail
from private_mail.clamav import Clamd
from private_mail.daemon import USER, Daemon, DaemonConfig
from private_mail.filter import REPOSITORY, build_filter_of, built
from private_mail.postfix import Postfix, PostfixConfig
from private_mail.processes import temporary_folder
from private_mail.sendmail import Sendmail, SendmailConfig
from private_mail.sink import Sink


@pytest.fixture
def world():
    """A daemon, and findings(*options): what --doctor says of it and of a mail server."""
    skip_without_root()
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder("doctor"))
        whitelist = folder / "whitelist.bloom"
        build_filter_of(whitelist, [LISTED])
        daemon = stack.enter_context(Daemon(folder / "daemon", DaemonConfig(whitelist)))

        def doctor(*options, postfix="/nonexistent", sendmail="/nonexistent"):
            command = daemon.command("--doctor", "--postfix-config", postfix, "--sendmail-config", sendmail,
                                     *options)
            return subprocess.run([str(word) for word in command], capture_output=True, text=True)

        def findings(*options, **places):
            done = doctor("--json", *options, **places)
            found = json.loads(done.stdout)
            has_problem = any(finding["level"] == "problem" for finding in found)
            assert done.returncode == int(has_problem), done.stderr
            return found

        yield SimpleNamespace(folder=folder, whitelist=whitelist, daemon=daemon, doctor=doctor,
                              findings=findings, stack=stack)


def texts(findings, level="problem"):
    return [finding["text"] for finding in findings if finding["level"] == level]


def assert_found(findings, words, level="problem"):
    assert any(words in text for text in texts(findings, level)), findings


# Senders have to be authenticated, by milters before Bloomgate.
REQUIRED = ("--authentication", "required", "--verify-dkim", "no")


def own_problems(found):
    """Without what is about other programs, none of which runs here."""
    return texts([finding for finding in found
                  if finding["subject"] != "milter" and "does not answer" not in finding["text"]])


def assert_has_no_problem(found, server):
    assert own_problems(found) == []
    assert server in " ".join(texts(found, "ok"))


def script(name, *options):
    command = [str(word) for word in (REPOSITORY / "scripts" / name, *options)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_mail_that_bypassed_a_milter_is_found_in_the_mail_servers_log(world, monkeypatch):
    monkeypatch.setenv("PATH", str(built("filter/cli/bloomgate").parent), prepend=os.pathsep)
    log = world.folder / "mail.log"
    log.write_text("")
    assert_found(world.findings("--log", log), "the mail server's log is empty", "warning")
    log.write_text("Nov 20 10:00:00 mx postfix/smtpd[1]: connect from x\n")
    assert_found(world.findings("--log", log), "has no session that bypassed a milter", "ok")
    now = datetime.datetime.now(datetime.timezone.utc)
    said = "mx postfix/smtpd[1]: warning: connect to Milter service unix:/m: Connection refused\n"
    log.write_text("".join(f"{(now - datetime.timedelta(hours=hours)).isoformat(timespec='seconds')} {said}"
                           for hours in (30, 3, 2)))
    assert_found(world.findings("--log", log), "could not ask the milter unix:/m in 2 sessions, from ")
    log.unlink()
    assert_found(world.findings("--log", log), "the mail server's log cannot be read", "warning")


# --- the daemon itself


def test_a_daemon_that_runs_is_found_well(world):
    found = world.findings()
    for subject in ("configuration", "whitelist", "socket"):
        assert "ok" in {finding["level"] for finding in found if finding["subject"] == subject}, found


def test_a_whitelist_and_a_store_are_found_to_belong_together_or_not(world):
    pair, store = world.folder / "pair.bloom", world.folder / "pair.store"
    build_filter_of(pair, [LISTED], "--store", store)
    options = ("--whitelist", pair, "--confirm", store)
    store.chmod(0o644)
    assert_found(world.findings(*options), "1 address, and fewer than 1 in 10^9 unlisted senders are found", "ok")
    store.chmod(0o600)
    assert_found(world.findings(*options), f"{store} cannot be read by {USER}")
    assert_found(world.findings("--confirm", store), "was built without a store")
    build_filter_of(world.folder / "other.bloom", ["other@example.org"], "--store", store)
    assert_found(world.findings(*options), f"{store} is not the store of {pair}")
    store.unlink()
    assert_found(world.findings(*options), str(store))


def test_no_mail_server_is_a_problem(world):
    assert_found(world.findings(), "no configuration of Postfix or Sendmail")


def test_a_daemon_that_is_down_or_hangs_is_found(world):
    with world.daemon.program.standing_still():
        assert_found(world.findings(), "does not answer a mail server")
    world.daemon.stop()
    assert_found(world.findings(), "nothing listens on")


# What else is wrong with a whitelist, and with settings: test_needs_action.py.
def test_a_whitelist_that_everybody_may_write_and_one_that_is_cut_off_or_missing_are_found(world):
    world.whitelist.chmod(0o666)
    assert_found(world.findings(), "written by everybody")
    world.whitelist.chmod(0o644)
    assert not any("whitelist.bloom" in text for text in texts(world.findings()))
    world.whitelist.write_bytes(world.whitelist.read_bytes()[:-1])
    assert_found(world.findings(), "whitelist.bloom")
    world.whitelist.unlink()
    assert_found(world.findings(), "cannot be found")


def test_name_servers_that_do_not_answer_are_found(world):
    found = world.findings("--authentication", "required", "--dns-servers", "127.0.0.1@9", "--dns-timeout", "1")
    assert_found([finding for finding in found if finding["subject"] == "names"], "name server")


def test_a_configuration_that_everybody_may_write_is_found(world):
    world.daemon.config_file.chmod(0o666)
    assert_found(world.findings(), "bloomgate-milter.conf can be written by everybody")


def run_as_nobody(world, *options):
    command = ["setpriv", "--reuid", USER, "--regid", "nogroup", "--clear-groups", "--",
               *world.daemon.command("--doctor", "--json", "--postfix-config", "/nonexistent", *options)]
    return json.loads(subprocess.run([str(word) for word in command], capture_output=True, text=True).stdout)


def test_a_user_without_root_reads_that_and_not_that_nothing_listens(world):
    closed = world.folder / "closed"
    closed.mkdir(mode=0o700)
    found = run_as_nobody(world, "--socket", f"unix:{closed}/s", "--whitelist", closed / "w")
    assert_found(found, "does not run as root", "warning")
    assert_found(found, "permission denied; whether the daemon listens there is not known")
    assert_found(found, f"you may not look at {closed}/w")
    assert not any("nothing listens" in text for text in texts(found))


def test_a_missing_user_and_missing_folders_are_found_with_how_to_make_them(world):
    missing = world.folder / "missing"
    found = world.findings("--socket", f"unix:{missing}/s", "--whitelist", missing / "w")
    assert_found(found, f"the folder {missing} is not there")
    assert_found(found, f"{missing}/w cannot be found: its folder is not there")
    remedies = " ".join(finding["remedy"] for finding in found)
    assert f"install -d -o bloomgate -g bloomgate {missing}" in remedies
    if not has_user("bloomgate"):
        assert_found(found, "there is no user bloomgate")
        assert "systemd-sysusers" in remedies


def has_user(name):
    try:
        return pwd.getpwnam(name) is not None
    except KeyError:
        return False


def test_a_list_that_the_daemon_cannot_read_is_found(world):
    for name, means in (("extra", "it lists no sender"), ("revoked", "the daemon delivers no message without it"),
                        ("opt-out", "the daemon delivers no message without it")):
        path = world.folder / name
        assert_found(world.findings(f"--{name}", path), means)
        path.write_text("joe@example.org\n")
        path.chmod(0o644)
        assert_found(world.findings(f"--{name}", path), f"{path} is there", "ok")
        path.chmod(0o600)
        assert_found(world.findings(f"--{name}", path), f"{path} cannot be read by {USER}")


def test_a_whitelist_that_differs_from_those_of_other_servers_is_found(world):
    [text] = [text for text in texts(world.findings(), "ok") if "fingerprint" in text]
    fingerprint = text.split()[-1]
    assert not any("another one" in text for text in texts(world.findings("--fingerprint", fingerprint)))
    assert_found(world.findings("--fingerprint", fingerprint[::-1]), "is another one than on the other servers")


@pytest.mark.all_only
def test_clamd_that_is_stopped_is_found(world):
    clamd = world.stack.enter_context(Clamd(world.folder / "clamd"))
    address = f"unix:{clamd.address}"
    assert_found(world.findings("--clamd", address), "clamd answers on", "ok")
    with clamd.program.standing_still():
        assert_found(world.findings("--clamd", address), "does not answer as clamd")
    clamd.program.kill()
    assert_found(world.findings("--clamd", address), "viruses are not found")


# --- Postfix


@pytest.fixture
def postfix(world):
    """setup(main_cf, recipe): the configuration folder of a Postfix set up by a recipe."""
    deep_check = world.stack.enter_context(Sink("deep check"))

    def setup(*options, main_cf="smtpd_milters = unix:/run/opendkim/opendkim.sock\n"):
        folder = world.folder / "postfix"
        folder.mkdir()
        server = Postfix(folder, PostfixConfig("[127.0.0.1]:9", main_cf))
        server.port = 25025
        server.write_files()
        if options:
            (world.folder / "other/rspamd/local.d").mkdir(parents=True)
            script("setup-postfix", "-c", folder / "etc", "--files-only", "--etc", world.folder / "other", "--apply", "--socket", world.daemon.mta_socket,
                   "--deep-check", f"127.0.0.1:{deep_check.port}", *options)
        return folder / "etc"

    return setup


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    os.utime(path, (0, 0))


def test_a_postfix_that_does_not_ask_bloomgate_is_found(world, postfix):
    assert_found(world.findings(postfix=postfix()), "does not ask")


def test_a_postfix_that_cannot_be_read_is_found(world, postfix, monkeypatch):
    etc = postfix()
    edit(etc / "main.cf", "smtpd_milters = ", "smtpd_milters ")
    assert_found(world.findings(postfix=etc), f"postconf cannot read the configuration in {etc}")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert_found(world.findings(postfix=etc), "setup-postfix is not installed")


def test_another_program_in_the_place_of_setup_postfix_is_found(world, postfix, monkeypatch):
    etc = postfix()
    other = world.folder / "bin/setup-postfix"
    other.parent.mkdir()
    monkeypatch.setenv("PATH", f"{other.parent}:{os.environ['PATH']}")
    for answer, words in (("nonsense", "is not JSON"), ("{}", "is not what"), ("null", "is not what")):
        other.write_text(f"#!/bin/sh\necho '{answer}'\n")
        other.chmod(0o755)
        assert_found(world.findings(postfix=etc), f"what setup-postfix --read prints {words}")


def test_several_things_that_are_missing_in_a_postfix_that_was_set_up_by_the_script_are_found_at_once(world, postfix):
    etc = postfix("--recipe", "rspamd")
    assert_has_no_problem(world.findings(*REQUIRED, postfix=etc), "Postfix")
    edit(etc / "main.cf", "default_action=accept", "default_action=tempfail")
    edit(etc / "forged_mark_header_checks", "IGNORE", "DUNNO")
    edit(etc / "authentication_header_checks", "/^Auth", "/^Nobody")
    found = world.findings(*REQUIRED, postfix=etc)
    for words in ("mail is refused or waits", "a forged mark would count", "are not removed"):
        assert_found(found, words)


def assert_each_fault_is_found(folder, faults, findings):
    """faults: a file, what is changed in it, and what is said of that; each change is taken back."""
    for file, old, new, words in faults:
        before = (folder / file).read_text()
        edit(folder / file, old, new)
        assert_found(findings(), words)
        (folder / file).write_text(before)


def test_what_is_missing_in_a_postfix_is_found(world, postfix):
    etc = postfix("--recipe", "content-filter")
    assert_has_no_problem(world.findings(*REQUIRED, postfix=etc), "Postfix")
    assert_each_fault_is_found(etc, [
        ("main.cf", "milter_header_checks", "#", "takes the deep check"),
        ("master.cf", "light-path unix", "other-path unix", "transport light-path"),
        ("main.cf", "content_filter", "#", "nothing checks"),
        ("main.cf", "unix:/run/opendkim/opendkim.sock", "", "no milter before Bloomgate")],
        lambda: world.findings(*REQUIRED, postfix=etc))
    world.daemon.address.chmod(0o600)
    assert_found(world.findings(postfix=etc), "Postfix's user postfix may not connect")


@pytest.mark.all_only
def test_header_checks_that_leave_forged_fields_to_the_daemon_are_named(world, postfix):
    etc = postfix("--recipe", "content-filter")
    assert_found(world.findings(postfix=etc), "forged marks are removed", "ok")
    assert_found(world.findings("--deep-check", "spamd:unix:/nonexistent", postfix=etc),
                 "does not remove X-Spam", "warning")
    edit(etc / "forged_mark_header_checks", "IGNORE", "DUNNO")
    assert_found(world.findings(postfix=etc), "does not remove X-Bloomgate", "warning")


def test_a_daemon_that_verifies_signatures_needs_no_other_milter_and_trusts_no_results(world, postfix):
    etc = postfix(main_cf=f"smtpd_milters = {world.daemon.mta_socket}\n")
    found = world.findings("--authentication", "required", postfix=etc)
    assert_found(found, "the daemon verifies signatures itself", "ok")
    assert not any(finding["subject"] == "authentication" and finding["level"] == "problem" for finding in found)


@pytest.mark.all_only
def test_another_milter_that_is_stopped_is_found(world, postfix):
    other = world.stack.enter_context(Daemon(world.folder / "other", DaemonConfig(world.whitelist)))
    etc = postfix(main_cf=f"smtpd_milters = {other.mta_socket}, {world.daemon.mta_socket}, inet:localhost:9\n")
    found = world.findings(postfix=etc)
    assert_found(found, f"{other.mta_socket} answers", "ok")
    assert_found(found, "the milter inet:localhost:9 does not listen")
    other.stop()
    assert_found(world.findings(postfix=etc),
                 f"the milter {other.mta_socket} does not listen: no results of it reach Bloomgate")


@pytest.mark.all_only
def test_a_later_stage_that_is_stopped_is_found(world, postfix):
    with Sink("later stage") as stage:
        etc = postfix(main_cf=f"smtpd_milters = {world.daemon.mta_socket}\n"
                              f"content_filter = scan:[127.0.0.1]:{stage.port}\n")
        (etc / "marks").write_text(f"/^X-Bloomgate:/ FILTER smtp:[127.0.0.1]:{stage.port}\n")
        with open(etc / "main.cf", "a") as main_cf:
            main_cf.write(f"milter_header_checks = regexp:{etc}/marks\n")
        found = world.findings(postfix=etc)
        for stage_name in ("the later stage", "the light path"):
            assert any(text.startswith(stage_name) and "answers" in text for text in texts(found, "ok")), found
    found = world.findings(postfix=etc)
    assert_found(found, "does not answer: mail that is not listed waits in the queue")
    assert_found(found, "does not answer: listed mail waits in the queue")


# How Postfix's own file has its services; this one is asked by postscreen.
BEHIND_POSTSCREEN = "smtpd pass - - {chroot} - - smtpd{options}\n"


def add_service(etc, line):
    with open(etc / "master.cf", "a") as master_cf:
        master_cf.write(line)


@pytest.mark.parametrize("options, chroot, main_cf", first_of([
    ("", "y", ""), (" -o {{ smtpd_milters = {socket} }}", "y", ""), ("", "-", "compatibility_level = 0\n")]),
    ids=["as main.cf", "of its own", "by default"])
def test_a_chroot_that_hides_the_socket_is_found(world, postfix, options, chroot, main_cf):
    etc = postfix(main_cf=f"smtpd_milters = {world.daemon.mta_socket}\n{main_cf}")
    assert not any("chroot" in text for text in texts(world.findings(postfix=etc)))
    add_service(etc, BEHIND_POSTSCREEN.format(chroot=chroot, options=options.format(socket=world.daemon.mta_socket)))
    assert_found(world.findings(postfix=etc), "smtpd/pass of master.cf runs in a chroot and cannot see")


def test_a_socket_that_postfix_sees_from_its_chroot_is_no_problem(world, postfix):
    path = os.path.relpath(world.daemon.address, world.folder / "postfix/queue")
    etc = postfix(main_cf=f"smtpd_milters = unix:{path}\n")
    add_service(etc, BEHIND_POSTSCREEN.format(chroot="y", options=""))
    found = world.findings("--socket", f"unix:{world.folder}/postfix/queue/{path}", postfix=etc)
    assert_found(found, "asks the daemon", "ok")
    assert not any("chroot" in text for text in texts(found))


@pytest.mark.all_only
def test_a_service_that_asks_other_milters_is_found_where_mail_of_other_servers_comes_in(world, postfix):
    etc = postfix(main_cf=f"smtpd_milters = {world.daemon.mta_socket}\n")
    add_service(etc, "submission inet n - n - - smtpd -o smtpd_milters=inet:localhost:9\n")
    assert not any("of its own" in text for text in texts(world.findings(postfix=etc)))
    add_service(etc, BEHIND_POSTSCREEN.format(chroot="n", options=" -o smtpd_milters="))
    assert_found(world.findings(postfix=etc), "smtpd/pass of master.cf has smtpd_milters of its own")


def test_learning_from_logins_that_are_not_bound_to_their_addresses_is_found(world, postfix):
    learn = ("--learn", "outbound", "--own-domains", "example.net", "--learn-file", world.folder / "learned.db")
    etc = postfix(main_cf=f"smtpd_milters = {world.daemon.mta_socket}\n")
    assert not any("write with" in text for text in texts(world.findings(postfix=etc), "warning"))
    assert_found(world.findings(*learn, postfix=etc), "write with any address", "warning")
    add_service(etc, "submission inet n - n - - smtpd -o smtpd_sender_restrictions=reject_sender_login_mismatch\n")
    with open(etc / "main.cf", "a") as main_cf:
        main_cf.write("smtpd_sender_login_maps = static:ann\n")
    assert_found(world.findings(*learn, postfix=etc), "write with its own addresses alone", "ok")


# --- a deeper check of its own


def test_a_checker_that_does_not_answer_and_a_folder_that_is_not_there_are_found(world):
    found = world.findings("--deep-check", "spamd:unix:/nonexistent", "--deep-check-folder", "/nonexistent")
    assert_found(found, "spamd:unix:/nonexistent cannot be asked: ")
    assert_found(found, "/nonexistent is not a folder")


@pytest.mark.parametrize("action, words", [("accept", "mail is delivered unchecked"), ("tempfail", "all mail waits")])
def test_where_bloomgate_asks_the_checker_the_doctor_says_what_happens_while_it_is_down(world, postfix, action, words):
    etc = postfix(main_cf=f"smtpd_milters = {{ {world.daemon.mta_socket}, default_action={action} }}\n")
    found = world.findings("--deep-check", "spamd:unix:/nonexistent", postfix=etc)
    assert not any("nothing checks" in text for text in texts(found))
    assert_found(found, f"while Bloomgate is down {words}", "ok")


# --- Sendmail


@pytest.fixture
def sendmail_folder(world):
    """setup(*options): the configuration folder of a Sendmail set up by the script; without options, of one
    that is not."""
    if sendmail.can_run():
        pytest.skip(sendmail.can_run())

    def setup(*options):
        folder = world.folder / "sendmail"
        Sendmail(folder, SendmailConfig(9)).write_files()
        if options:
            launcher = sendmail.write_launcher(world.folder / "launcher")
            (world.folder / "other/rspamd/local.d").mkdir(parents=True)
            script("setup-sendmail", "-c", folder, "--cf-dir", sendmail.cf_folder(), "--sendmail", launcher,
                   "--parts-come-later", "--with-opendkim", "--files-only", "--etc", world.folder / "other", "--apply", "--socket", world.daemon.mta_socket, *options)
        return folder

    return setup


def test_a_sendmail_that_does_not_ask_bloomgate_is_found(world, sendmail_folder):
    assert_found(world.findings(sendmail=sendmail_folder()), "does not ask")


def test_other_milters_of_sendmail_that_are_stopped_are_found(world, sendmail_folder):
    found = [text for text in texts(world.findings(sendmail=sendmail_folder("--recipe", "rspamd")))
             if text.startswith("the milter ")]
    assert ["opendkim" in text for text in found] == [True, False]
    assert "does not answer: no results of it reach Bloomgate" in found[0]
    assert "rspamd" in found[1] and found[1].endswith("does not answer")


def test_what_is_missing_in_a_sendmail_that_was_set_up_by_the_script_is_found(world, sendmail_folder):
    folder = sendmail_folder("--recipe", "rspamd")

    def findings():
        return world.findings(*REQUIRED, "--trusted-fields", "1", sendmail=folder)

    assert_has_no_problem(findings(), "Sendmail")
    assert_each_fault_is_found(folder, [
        ("sendmail.cf", "opendkim, bloomgate, rspamd", "opendkim, bloomgate", "nothing checks"),
        ("sendmail.cf", "opendkim, bloomgate, rspamd", "bloomgate, rspamd", "no milter before Bloomgate"),
        ("sendmail.cf", "HX-Bloomgate:", "HX-Other:", "a forged mark would count"),
        ("sendmail.cf", "HAuthentication-Results:", "HX-Other:", "has forged stay"),
        ("sendmail.cf", "opendkim.sock, F=T,", "opendkim.sock,", "has forged stay")], findings)
    assert_found(world.findings(*REQUIRED, sendmail=folder), "long results")
