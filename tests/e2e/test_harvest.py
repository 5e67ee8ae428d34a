"""From a real mail server's log to a whitelist: the recipients of its users, and no others."""

import subprocess

import pytest
from conftest import skip_without_root
from private_mail import sendmail
from private_mail.client import Client, Message, logged_in
from private_mail.filter import build_folder
from private_mail.postfix import Postfix, PostfixConfig
from private_mail.processes import Program, accepts_connections, free_port, temporary_folder, wait_until
from private_mail.sendmail import Sendmail, SendmailConfig
from private_mail.sink import Sink
from system_log import OWN_LOG, SystemLog

BLOOMGATE = build_folder() / "filter/cli/bloomgate"
ANN = "ann@example.net"

# Everything but our own domain goes to the sink, and what is for one domain to a server that refuses it.
POSTFIX_MAIN_CF = """\
mynetworks = 127.0.0.0/8
smtpd_relay_restrictions = permit_mynetworks, reject
default_transport = smtp:{sink}
transport_maps = inline:{{ nowhere.example=smtp:[127.0.0.1]:{refusing_port} }}
header_checks = regexp:{folder}/header_checks
"""
HEADER_CHECKS = "/^Auto-Submitted:/ INFO\n/^List-Id:/ INFO\n/^Precedence:/ INFO\n"


def run(*words, status=0):
    done = subprocess.run([BLOOMGATE, *words], capture_output=True, text=True)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def harvested(folder, log, *options):
    """The entries of the list that the log gives, as `build` takes them."""
    lists = folder / "lists"
    lists.mkdir()
    run("harvest", "--output", lists, "--own-domain", "example.net", "--for-all", *options, log)
    run("build", "--output", folder / "whitelist.bloom", "--newest", "180d", lists)
    [file] = lists.iterdir()
    return subprocess.run(["zstd", "-dc", file], capture_output=True, check=True, text=True).stdout.split()


def is_listed(folder, address):
    return subprocess.run([BLOOMGATE, "query", folder / "whitelist.bloom", address], capture_output=True).returncode == 0


@pytest.fixture
def sink():
    with Sink("the world") as started:
        yield started


@pytest.fixture
def folder():
    with temporary_folder("harvest") as made:
        yield made


@pytest.fixture
def refusing_port(folder):
    """Of a server that takes no recipient."""
    port = free_port()
    program = Program(["smtp-sink", "-u", "postfix", "-f", "RCPT", f"127.0.0.1:{port}", "10"], folder / "refusing.out")
    try:
        program.wait_until_ready(lambda: accepts_connections(("127.0.0.1", port)), "smtp-sink")
        yield port
    finally:
        program.stop()


def test_the_log_of_postfix_gives_the_recipients_of_users_who_logged_in(folder, sink, refusing_port):
    skip_without_root()
    (folder / "header_checks").write_text(HEADER_CHECKS)
    main_cf = POSTFIX_MAIN_CF.format(sink=sink.address, folder=folder, refusing_port=refusing_port)
    (folder / "postfix").mkdir()
    with Postfix(folder / "postfix", PostfixConfig(sink.address, main_cf)) as postfix:
        with logged_in(postfix.port, "ann") as client:
            sent = [client.send(message) for message in (
                Message(ANN, recipient="Joe@example.org"),
                Message(ANN, recipient="joe@example.org"),
                Message(ANN, recipient='"a>, b"@example.org'),
                Message(ANN, recipient="zoe@example.net"),
                Message(ANN, recipient="nobody@nowhere.example"),
                Message(ANN, recipient="victim@example.org", headers=(b"Auto-Submitted: auto-replied",)),
                Message(ANN, recipient="list@example.org", headers=(b"List-Id: <a.example.org>",)),
                Message(ANN, recipient="person@example.org", headers=(b"Auto-Submitted: no",)),
                Message("", recipient="bounced@example.org"),
                Message("ann@example.com", recipient="elsewhere@example.org"))]
        with Client(postfix.port) as client:
            sent.append(client.send(Message(ANN, recipient="forged@example.org")))
        postfix.wait_until_removed(set(sent))
    entries = harvested(folder, postfix.log_file)
    assert entries == ['"a>,', 'b"@example.org', "joe@example.org", "person@example.org"]
    assert is_listed(folder, "joe@example.org")
    assert not is_listed(folder, "forged@example.org")


class LoggingSendmail(Sendmail):
    def _command(self):
        return ["sh", "-c", OWN_LOG, "sendmail", self.folder, *super()._command()]


FRAGMENT = """\
define(`confLOG_LEVEL', `9')dnl
RELAY_DOMAIN(`example.org')dnl
"""


def log_of_sendmail(folder, sink, fragment, messages):
    """The log of a Sendmail that has delivered these."""
    if sendmail.can_run():
        pytest.skip(sendmail.can_run())
    log = SystemLog(folder)
    with LoggingSendmail(folder, SendmailConfig(sink.port, fragment)) as mta:
        with Client(mta.port) as client:
            sent = [client.send(message) for message in messages]
        mta.wait_until_removed(set(sent))
        wait_until(lambda: log.file.read_text().count("stat=Sent") >= len(sent), "Sendmail's log")
    return log.file


def test_the_log_of_sendmail_gives_the_recipients_of_users_of_its_own_network(folder, sink):
    log = log_of_sendmail(folder, sink, FRAGMENT, (
        Message(ANN, recipient="Joe@example.org"),
        Message(ANN, recipient="joe@example.org"),
        Message(ANN, recipient="zoe@example.net"),
        Message("", recipient="bounced@example.org"),
        Message("ann@example.com", recipient="elsewhere@example.org")))
    assert harvested(folder, log, "--without-login") == ["joe@example.org"]
    assert is_listed(folder, "joe@example.org")
    assert not is_listed(folder, "bounced@example.org")


ALIASES = "info\tprivate@example.org\nboth\tp1@example.org,p2@example.org\n"
WITH_ALIASES = FRAGMENT + """\
define(`ALIAS_FILE', `text:-k0 -v1 {aliases}')dnl
define(`confDONT_BLAME_SENDMAIL', `MapInUnsafeDirPath,GroupWritableDirPathSafe')dnl
LOCAL_DOMAIN(`example.net')dnl
"""


def test_the_log_of_sendmail_hides_who_is_behind_an_alias(folder, sink):
    aliases = folder / "own.aliases"
    aliases.write_text(ALIASES)
    # Of a user of the system, ctladdr is the sender, also behind an alias.
    log = log_of_sendmail(folder, sink, WITH_ALIASES.format(aliases=aliases), (
        Message(ANN, recipient="info@example.net"),
        Message(ANN, recipient="both@example.net"),
        Message("root@example.net", recipient="info@example.net"),
        Message("root@example.net", recipient="joe@example.org")))
    assert "to=private@example.org, ctladdr=<root@example.net>" in log.read_text()
    assert harvested(folder, log, "--without-login") == ["joe@example.org"]
