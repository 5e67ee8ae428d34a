"""The header check that setup-postfix puts in: what it marks in Postfix's log is not harvested, and no mail changes."""

import subprocess

import pytest
from conftest import skip_without_root
from private_mail.client import Message, RawMessage, Rejected, logged_in
from private_mail.filter import REPOSITORY, built
from private_mail.postfix import Postfix, PostfixConfig
from private_mail.processes import temporary_folder, wait_until
from private_mail.sink import Sink

ANN = "ann@example.net"
TABLE = REPOSITORY / "config/mta/postfix/automatic_mail_header_checks"
MAIN_CF = """\
mynetworks = 127.0.0.0/8
smtpd_relay_restrictions = permit_mynetworks, reject
default_transport = smtp:{sink}
header_checks = regexp:{folder}/own_header_checks
"""
OWN_CHECKS = "/^X-Forbidden:/ REJECT not here\n"
CALENDAR_PART = (b"--b\r\nContent-Type: text/plain\r\n\r\nYes.\r\n--b\r\nContent-Type: text/calendar; charset=utf-8;\r\n"
                 b"\tmethod=REPLY\r\n\r\nBEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n--b--\r\n")

FORWARDED = (b"--b\r\nContent-Type: message/rfc822\r\n\r\nAuto-Submitted: auto-replied\r\nList-Id: <x>\r\n\r\nAway.\r\n--b--\r\n")
BODIES = {"nested-answer": CALENDAR_PART, "forwards": FORWARDED}

# Recipient, header fields, and what the body is.
AUTOMATIC = {
    "vacation": (b"Auto-Submitted: auto-replied (vacation)",),
    "autoreply": (b"X-Autoreply: yes",),
    "autorespond": (b"X-Autorespond: Re: hello",),
    "suppress": (b"X-Auto-Response-Suppress: All",),
    "bulk": (b"precedence: BULK",),
    "auto-reply": (b"Precedence: (x) auto_reply",),
    "list": (b"List-Id: <a.example.org>",),
    "newsletter": (b"List-Unsubscribe: <mailto:x@example.net>",),
    "leaving": (b"Subject: =?utf-8?B?RMOpc2luc2NyaXB0aW9u?=",),
    "counter": (b"Content-Type: text/calendar;\r\n\tmethod=COUNTER",),
    "receipt": (b"Content-Type: multipart/report;\r\n report-type=disposition-notification; boundary=b",),
    "answer": (b'Content-Type: text/calendar; method="reply"',),
    "nested-answer": (b"Content-Type: multipart/mixed; boundary=b",),
}
ORDINARY = {
    "letter": (),
    "no": (b"Auto-Submitted: no",),
    "not-auto": (b"X-Autoreply: NO",),
    "first-class": (b"Precedence: first-class",),
    "invitation": (b"Content-Type: text/calendar; method=REQUEST",),
    "forwards": (b"Content-Type: multipart/mixed; boundary=b",),
    "quoted": (b"X-Quoted: Auto-Submitted: auto-replied", b"Content-Type: text/plain; name=multipart.report"),
}


def setup_postfix(etc, *options):
    done = subprocess.run([REPOSITORY / "scripts/setup-postfix", "-c", etc, "--files-only", "--recipe", "none", *options],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def harvested(folder, log):
    """The contacts in that log, and the report."""
    lists = folder / "lists"
    lists.mkdir()
    report = subprocess.run([built("filter/cli/bloomgate"), "harvest", "--output", lists, "--own-domain", "example.net",
                             "--for-all", log], capture_output=True, check=True, text=True).stdout
    [file] = lists.iterdir()
    text = subprocess.run(["zstd", "-dc", file], capture_output=True, check=True, text=True).stdout
    file.unlink()
    lists.rmdir()
    return {line.partition("@")[0] for line in text.split()}, report


def reload(postfix, etc):
    reloads = postfix.log().count("reload -- version")
    subprocess.run(["postfix", "-c", etc, "reload"], check=True, capture_output=True)
    wait_until(lambda: postfix.log().count("reload -- version") > reloads, "Postfix to reload")


def message_to(name, fields):
    message = Message(ANN, recipient=f"{name}@example.org", headers=fields)
    if name not in BODIES:
        return message
    return RawMessage(message.path, recipient=message.recipient,
                      raw=message.content().replace(b"Hello.\r\n", BODIES[name]))


def send_all(postfix, kinds):
    with logged_in(postfix.port, "ann") as client:
        sent = {client.send(message_to(name, fields)) for name, fields in kinds.items()}
    postfix.wait_until_removed(sent)


def test_an_automatic_message_does_not_teach_and_an_ordinary_one_does():
    skip_without_root()
    with temporary_folder("automatic") as folder, Sink("the world") as sink:
        (folder / "own_header_checks").write_text(OWN_CHECKS)
        (folder / "postfix").mkdir()
        main_cf = MAIN_CF.format(sink=sink.address, folder=folder)
        with Postfix(folder / "postfix", PostfixConfig(sink.address, main_cf)) as postfix:
            etc = folder / "postfix/etc"
            before = {path: path.read_bytes() for path in etc.rglob("*") if path.is_file()}
            setup_postfix(etc, "--apply")
            reload(postfix, etc)
            send_all(postfix, {**AUTOMATIC, **ORDINARY})
            with logged_in(postfix.port, "ann") as client, pytest.raises(Rejected, match="not here"):
                client.send(Message(ANN, recipient="forbidden@example.org", headers=(b"X-Forbidden: x",)))
            contacts, report = harvested(folder, postfix.log_file)
            assert contacts == set(ORDINARY)
            assert f"{len(AUTOMATIC)} automatic or mailing-list messages" in report and "not seen" not in report
            # The mail itself is as it was.
            assert sum(len(message.headers("Auto-Submitted")) for message in sink.messages()) == 2

            setup_postfix(etc, "--undo")
            assert {path: path.read_bytes() for path in etc.rglob("*") if path.is_file()} == before
            reload(postfix, etc)
            log = folder / "second.log"
            at = len(postfix.log())
            send_all(postfix, {"vacation": AUTOMATIC["vacation"]})
            log.write_text(postfix.log()[at:])
            contacts, report = harvested(folder, log)
            assert contacts == {"vacation"}
            assert "not seen  automatic messages of the logs" in report


# Fields of the one rule for automatic mail (filter/mail/automatic_mail.hpp), and whether it finds them.
FIELDS = {
    "Auto-Submitted: auto-generated": True, "AUTO-SUBMITTED : auto-notified": True, "Auto-Submitted: no": False,
    "Auto-Submitted: No (a person)": False, "Auto-Submitted: nobody": True, "X-Autorespond: no": False, "X-Autoreply:": True,
    "X-Auto-Response-Suppress: DR": True, "Precedence: list": True, "Precedence: junk (x)": True, "Precedence: special": False,
    "Content-Type: Multipart/Report; report-type=delivery-status": True, "Content-Type: text/calendar; METHOD = reply": True,
    "Content-Type: text/calendar; method=PUBLISH": False, "Subject: unsubscribe": True, "Subject: Abmelden vom Verteiler": True,
    "X-Auto-Reply: yes": True, "X-Failed-Recipients: joe@example.org": True, "X-Autoreply-From: x": True,
    "Precedence: auto-reply": True, "Subject: [unsubscribe]": True, "Subject: unsubscribe_4711": True,
    "List-Unsubscribe: <mailto:x>": True, "Content-Type: text/calendar; method=\"counter\"": True,
    "Content-Type: text/calendar; method=DECLINECOUNTER": True, "Subject: D\u00e9sinscription": True, "Subject: Unsub": True,
    "Subject: =?utf-8?Q?D=C3=A9sinscription?=": True, "Subject: =?utf-8?B?RMOpc2luc2NyaXB0aW9u?=": True,
    "Subject: =?utf-8?b?VW5zdWJzY3JpYmU=?=": True, "Subject: =?utf-8?q?How_do_I_unsubscribe=3F?=": False,
    "Content-Type: message/delivery-status": False, "Subject: Design": False,
    "Subject: opt-out": True, "Subject: Leave": False, "Subject: How do I unsubscribe?": False, "To: List-Id: x": False, "List-Id: x": True,
}


def test_the_table_logs_the_fields_of_the_rule_and_no_others(tmp_path):
    (tmp_path / "main.cf").write_text("myhostname = mx.example.org\n")  # the host may have no name of its own
    for field, is_automatic in FIELDS.items():
        found = subprocess.run(["postmap", "-c", tmp_path, "-q", field, f"regexp:{TABLE}"], capture_output=True, text=True)
        assert (found.stdout.strip(), found.stderr) == ("INFO" if is_automatic else "", ""), field
