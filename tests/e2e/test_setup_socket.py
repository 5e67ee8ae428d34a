"""scripts/setup-postfix and the daemon's socket: where it finds it, and where it lets the daemon listen."""

import os
import re

import pytest
from conftest import first_of
from private_mail.filter import built
from test_setup_postfix import deep_check, files_of, setup, value_of  # noqa: F401

BELOW = "/var/spool/postfix/bloomgate"


@pytest.fixture
def usual(setup):  # noqa: F811
    """A configuration of Postfix with Debian's queue and chroots; not running."""
    postfix = setup(change=lambda text: text.replace("smtp inet n - n - - smtpd", "smtp inet n - y - - smtpd"))
    main_cf = postfix.etc / "main.cf"
    main_cf.write_text(re.sub("(?m)^queue_directory = .*", "queue_directory = /var/spool/postfix", main_cf.read_text()))
    postfix.conf = postfix.other / "bloomgate/bloomgate-milter.conf"
    return postfix


def test_the_daemon_listens_where_services_see_it_in_their_chroot_also_those_enabled_later(usual):
    before, was = files_of(usual.etc), usual.conf.read_text()
    # --apply itself makes this socket.
    assert f"nothing listens on unix:{BELOW}" not in usual.run_plain().stdout
    applied = usual.run_plain("--apply")
    assert applied.returncode == 0, applied.stderr
    assert f"socket = unix:{BELOW}/milter.sock\n" in usual.conf.read_text()
    assert "unix:bloomgate/milter.sock" in value_of(usual.etc, "smtpd_milters")
    assert "smtp inet n - y - - smtpd\n" in (usual.etc / "master.cf").read_text()
    left = applied.stdout.partition("What is left to do:")[2].split("\n  ")
    assert left[1] == f"install -d -o bloomgate -g bloomgate -m 755 {BELOW}"
    # Postfix asks once something listens there.
    assert left.index("systemctl try-restart bloomgate-milter") < left.index(f"postfix -c {usual.etc} reload")

    with (usual.etc / "master.cf").open("a") as master_cf:
        master_cf.write("submission inet n - y - - smtpd\n")
    again = usual.run_plain("--apply")
    assert "nothing to change" in again.stdout, again.stdout + again.stderr

    undone = usual.run_plain("--undo")
    assert f"  rm -r {BELOW}\n" in undone.stdout
    assert usual.conf.read_text() == was
    (usual.etc / "master.cf").write_bytes(before[(usual.etc / "master.cf").relative_to(usual.etc.parent)])
    assert files_of(usual.etc) == before


@pytest.mark.parametrize("options, chroot, asked", first_of([
    (["--with-clamav"], "n", "unix:/run/clamav/clamav-milter.ctl"), ([], "y", "unix:spamass/spamass.sock")]))
def test_a_service_leaves_its_chroot_if_it_could_not_see_a_check_there_and_stays_otherwise(usual, options, chroot, asked):
    applied = usual.run_plain("--apply", "--recipe", "spamassassin", *options)
    assert applied.returncode == 0, applied.stderr
    assert f"smtp inet n - {chroot} - - smtpd\n" in (usual.etc / "master.cf").read_text()
    assert asked in value_of(usual.etc, "smtpd_milters")
    assert "nothing listens on unix:/var/spool/postfix/spamass/spamass.sock" in applied.stdout
    assert ". Install and start spamass-milter and spamd; the recipe is in " in applied.stdout


@pytest.mark.parametrize("conf, asked", first_of([
    (" socket = unix:/run/bloomgate/milter.sock  # the usual one\r\n", "unix:/run/bloomgate/milter.sock"),
    ("socket = inet:8895@127.0.0.1\n", "inet:127.0.0.1:8895"), ("socket=local:/x/y.sock\n", "unix:/x/y.sock")]))
def test_a_socket_that_somebody_has_chosen_stays(usual, conf, asked):
    usual.conf.write_bytes(conf.encode())
    applied = usual.run_plain("--apply")
    assert applied.returncode == 0, applied.stderr
    assert asked in value_of(usual.etc, "smtpd_milters")
    assert usual.conf.read_bytes() == conf.encode()
    given = usual.run_plain("--apply", "--socket", "inet:127.0.0.1:8896")
    assert given.returncode == 0 and "inet:127.0.0.1:8896" in value_of(usual.etc, "smtpd_milters"), given.stderr


@pytest.mark.parametrize("socket", ["inet6:8895@::1", "unix:/x y/m.sock", ""])
def test_a_socket_that_postfix_writes_otherwise_is_asked_for(usual, socket):
    usual.conf.write_text(f"socket = {socket}\n")
    refused = usual.run_plain("--apply")
    assert refused.returncode == 78
    assert f"bloomgate-milter.conf has socket = {socket}: say how the mail server is to reach it (--socket)" in refused.stderr


def test_a_configuration_with_which_the_daemon_could_not_start_is_in_the_way(usual):
    usual.conf.write_text("sokcet = unix:/x/y.sock\n")
    before = files_of(usual.etc)
    with_daemon = {"PATH": f"{built('milter/bloomgate-milter').parent}:{os.environ['PATH']}"}
    refused = usual.run("--apply", environment=with_daemon)
    assert refused.returncode == 78
    assert f"could not start with its configuration: bloomgate-milter: {usual.conf}:1: sokcet: there is no such option" in refused.stderr
    assert files_of(usual.etc) == before


@pytest.mark.all_only
def test_a_configuration_that_is_a_link_stays_one(usual):
    target = usual.conf.rename(usual.conf.with_name("kept.conf"))
    usual.conf.symlink_to(target)
    before = target.read_text()
    assert usual.run_plain("--apply").returncode == 0
    assert usual.conf.is_symlink() and "socket = " in target.read_text()
    assert usual.run_plain("--undo").returncode == 0
    assert usual.conf.is_symlink() and target.read_text() == before


@pytest.mark.all_only
def test_a_clamav_milter_that_refuses_all_mail_while_clamd_is_down_is_named(setup):  # noqa: F811
    postfix = setup()
    conf = postfix.other / "clamav/clamav-milter.conf"
    conf.parent.mkdir()
    conf.write_text("OnClean Accept\nOnFail Defer\nOnFail Accept\n")  # the first of two counts
    asking = ("--recipe", "spamassassin", "--with-clamav")
    words = f"{conf} has OnFail Defer: while clamd is down, all mail is refused for now."
    assert words in postfix.run(*asking).stdout
    assert words not in postfix.run("--recipe", "spamassassin").stdout
    conf.write_text("OnFail Accept\n")
    assert words not in postfix.run(*asking).stdout
    conf.write_text("")
    assert words in postfix.run(*asking).stdout
