"""Who tries to be taught by mail that goes out: what the daemon has learned afterwards. A user logs in with a password; a
client without a login comes from the network, or from a host that is exempt.

Users are at example.net, and who may write as whom, the mail server's map says: ann also as ann.smith, ann and bob as
info. Each case has names of its own in the places of example.org and evil.example, as in case.py."""

import base64
from dataclasses import dataclass

from .case import entry

JOE = "joe@example.org"
EXEMPT = "198.51.100.7"
CALENDAR = "BEGIN:VCALENDAR\r\nMETHOD:REPLY\r\nEND:VCALENDAR\r\n"


@dataclass(frozen=True)
class Sent:
    what: str  # the act, in plain words
    fields: tuple = ()  # of the header, beside the usual ones
    learned: tuple = ()  # all that is learned: "joe > ann" stands for joe@example.org > ann@example.net
    recipients: tuple = (JOE,)
    login: str = "ann"
    sender: str = "ann@example.net"
    sender_field: str = ""  # From, if it is another one
    subject: str = "dinner"
    body: str = "Hello.\r\n"
    client: str = ""  # an address other than that of the mail server's own host
    before: tuple = ()  # commands before the message
    refused_recipients: tuple = ()  # by the mail server, which takes the message for the others
    password: str = "correct horse"
    refused: str = ""  # in the mail server's answer
    is_broken_off: bool = False  # the client goes before the end of the message
    utf8: bool = False

    def pairs(self):
        return {tuple(reversed(entry(each if each.count("@") == 2 else f"{each}@example.net").split(" > ")))
                for each in self.learned}

    def content(self):
        lines = [f"From: {self.sender_field or self.sender}", f"To: {', '.join(self.recipients)}", f"Subject: {self.subject}",
                 *self.fields]
        return "\r\n".join(lines) + "\r\n\r\n" + self.body


TAUGHT = ("joe > ann",)


def by_itself(what, *fields, **more):
    """A program has written it."""
    return Sent(what, fields, **more)


def written(what, *fields, learned=TAUGHT, **more):
    return Sent(what, fields, learned, **more)


WHO = [
    written("a user who has logged in writes to somebody"),
    written("another user writes to somebody", learned=["joe > bob"], login="bob", sender="bob@example.net"),
    written("a user writes with the own other address", learned=["joe > ann.smith"], sender="ann.smith@example.net"),
    written("a user writes with an address that two share", learned=["joe > info"], login="bob", sender="info@example.net"),
    written("a user writes the chief's address into From", sender_field="ceo@example.net"),
    written("a user writes a correspondent's address into From", sender_field=JOE),
    written("a user's own address has a tag", sender="ann+shop@example.net"),
    Sent("a user sends with the chief's address", sender="ceo@example.net", refused="not owned by user"),
    Sent("a user sends with an address that nobody has", sender="nobody@example.net", refused="not owned by user"),
    Sent("a user sends with a foreign address", sender="x@evil.example", refused="not owned by user"),
    Sent("a login that has no address sends with a user's", login="mallory", refused="not owned by user"),
    Sent("a user sends with the null sender", sender=""),
    Sent("a user sends with the null sender, and the own From", sender="", sender_field="ann@example.net"),
    Sent("a stranger at port 25 writes as a user, to a user", login="", recipients=("bob@example.net",)),
    Sent("a stranger at port 25 writes as a user, to somebody", login="", refused="Relay access denied"),
    Sent("a contact form on an exempt host writes as a user", login="", client=EXEMPT),
    Sent("a contact form on an exempt host writes as a user that there is not", login="", client=EXEMPT,
         sender="nobody@example.net"),
    Sent("a host of the own network, which is not exempt, writes as a user", login="", client="192.0.2.50"),
    written("a user logs in from an exempt host", client=EXEMPT),
    Sent("somebody has a user's name, and not the password", password="battery staple", refused="authentication failed"),
    Sent("a user gives up before the end of the message", is_broken_off=True),
    written("a user takes back an envelope, and sends another",
            before=("MAIL FROM:<ann@example.net>", "RCPT TO:<evil@evil.example>", "RSET")),
]

AUTOMATIC = [
    by_itself("a read receipt", 'Content-Type: multipart/report; report-type=disposition-notification; boundary="x"'),
    by_itself("a delivery report", "Content-Type: MULTIPART/REPORT;", " report-type=delivery-status; boundary=x"),
    by_itself("a vacation answer", "Auto-Submitted: auto-replied (vacation)"),
    by_itself("an automatic answer", "Auto-Submitted: auto-generated"),
    by_itself("a program's notice of a change", "Auto-Submitted: auto-notified"),
    by_itself("an automatic answer, in capitals and without a space", "AUTO-SUBMITTED:AUTO-REPLIED"),
    by_itself("an automatic answer, its word in the next line", "Auto-Submitted:", " auto-replied"),
    by_itself("an automatic answer, a comment first", "Auto-Submitted: (no) auto-replied"),
    by_itself("an automatic answer, a space before the colon", "Auto-Submitted : auto-replied"),
    by_itself("an automatic answer, which its last field of many says", *(f"X-Field{each}: x" for each in range(500)),
              "Auto-Submitted: auto-replied"),
    by_itself("an automatic answer, behind a long comment", f"Auto-Submitted: ({'x' * 900})", f" ({'y' * 900}) auto-replied"),
    by_itself("a message that says both", "Auto-Submitted: no", "Auto-Submitted: auto-replied"),
    written("a message that says it is not automatic", "Auto-Submitted: No"),
    written("the same, with a comment", "Auto-Submitted: no (written by hand)"),
    by_itself("an answering program's X-Autoreply", "X-Autoreply: yes"),
    by_itself("an answering program's X-Autorespond", "X-Autorespond: dinner"),
    by_itself("Outlook's automatic answer", "X-Auto-Response-Suppress: DR, OOF, AutoReply"),
    *[by_itself(f"Precedence: {word}", f"Precedence: {word}") for word in ("bulk", "LIST", "junk", "auto_reply")],
    written("an urgent message", "Precedence: first-class"),
    by_itself("a message of a mailing list", "List-Id: <dev.lists.example.org>"),
    by_itself("an answer to an invitation", 'Content-Type: text/calendar; charset=utf-8; method="REPLY"', body=CALENDAR),
    by_itself("an answer to an invitation, its method in the next line", "Content-Type: text/calendar;", "\tmethod=reply",
              body=CALENDAR),
    by_itself("an answer to an invitation beside a text", "MIME-Version: 1.0", 'Content-Type: multipart/alternative; boundary="x"',
              body="--x\r\nContent-Type: text/plain\r\n\r\nAnn accepts.\r\n--x\r\nContent-Type: text/calendar; method=REPLY\r\n\r\n" +
              CALENDAR + "--x--\r\n"),
    by_itself("the same, two parts deep", "MIME-Version: 1.0", 'Content-Type: multipart/mixed; boundary="y"',
              body='--y\r\nContent-Type: multipart/alternative; boundary="x"\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nYes.\r\n'
              '--x\r\nContent-Type: text/calendar; charset=utf-8;\r\n\tmethod="REPLY"\r\n\r\n' + CALENDAR + "--x--\r\n--y--\r\n"),
    by_itself("a newsletter", "List-Unsubscribe: <mailto:news@example.net>"),
    by_itself("a read receipt without a multipart around it", "Content-Type: message/disposition-notification"),
    by_itself("a read receipt with a disclaimer put behind it", "MIME-Version: 1.0", 'Content-Type: multipart/mixed; boundary="y"',
              body='--y\r\nContent-Type: multipart/report; boundary="x"; report-type=disposition-notification\r\n\r\n--x\r\n\r\n'
              "Read.\r\n--x--\r\n--y\r\n\r\nConfidential.\r\n--y--\r\n"),
    by_itself("an answer to an invitation that only its text says", "Content-Type: text/calendar", body=CALENDAR),
    by_itself("the same in base64", "Content-Type: text/calendar", "Content-Transfer-Encoding: base64",
              body=base64.encodebytes(CALENDAR.encode()).decode().replace("\n", "\r\n")),
    by_itself("the same in a part, with the letters coded and the line folded", "MIME-Version: 1.0",
              'Content-Type: multipart/mixed; boundary="x"', body="--x\r\nContent-Type: Text/Calendar; charset=utf-8\r\n"
              "Content-Transfer-Encoding: quoted-printable\r\n\r\nBEGIN:VCALENDAR\r\nmeth=6Fd:re\r\n p=\r\nly\r\n--x--\r\n"),
    by_itself("an answer that proposes another time", "Content-Type: text/calendar; method=COUNTER"),
    written("a calendar that answers nothing", "Content-Type: text/calendar", body=CALENDAR.replace("REPLY", "PUBLISH")),
    written("an invitation", "Content-Type: text/calendar; method=REQUEST"),
    written("a message whose text has such fields", body="Auto-Submitted: auto-replied\r\nList-Id: <x>\r\n"),
]

LEAVING = [
    *[by_itself(f"the Subject '{subject}' leaves a mailing list", subject=subject)
      for subject in ("unsubscribe", "Unsubscribe, please", "STOP!", "Abmelden", "SIGNOFF dev-list",
                      "=?utf-8?q?D=C3=A9sinscription?=", "=?UTF-8?B?VW5zdWJzY3JpYmU=?=")],
    *[written(f"the Subject '{subject}' is a person's", subject=subject)
      for subject in ("Remove the old server", "Re: unsubscribe", "Stop by at ten", "Leave", "Afmelden training zaterdag",
                      "Abmelden von Max am Freitag")],
    *[by_itself(f"mail to {name}@ is for no person", recipients=(f"{name}@example.org",))
      for name in ("unsubscribe", "dev-unsubscribe+ann=x", "unsubscribe-abc123", "leave-123", "dev-leave", "signoff", "optout.dev",
                   "remove", "dev-request", "listserv", "majordomo", "no-reply", "shop.noreply", "DoNotReply", "mailer-daemon",
                   "bounces+ann=example.net")],
    *[written(f"mail to {name}@ is for a person", learned=[f"{name} > ann"], recipients=(f"{name}@example.org",))
      for name in ("postmaster", "abuse", "request", "removers", "john.leave", "remove.it")],
    written("mail to a person whose name has the word in it", learned=["cleaver > ann"], recipients=("cleaver@example.org",)),
    written("a person is written to together with such an address", recipients=(JOE, "unsubscribe@example.org")),
]

RECIPIENTS = [
    written("addresses of the header to which nothing is sent", "Cc: evil@evil.example", "Bcc: x@evil.example"),
    written("recipients in any case, one of them twice", recipients=("JOE@example.org", "joe@EXAMPLE.org", JOE)),
    written("a recipient with a tag", learned=["joe+shop > ann"], recipients=("joe+shop@example.org",)),
    written("a recipient in quotes", learned=['"a b"@example.org > ann@example.net'], recipients=('"a b"@example.org',)),
    written("a recipient in quotes, with a comma and a bracket", learned=['"a>, b"@example.org > ann@example.net'],
            recipients=('"a>, b"@example.org',)),
    written("a recipient whose quotes are needless", recipients=('"joe"@example.org',)),
    written("a recipient with letters beyond ASCII", learned=["j\u00f6rg > ann"], recipients=("j\u00f6rg@example.org",), utf8=True),
    written("a domain beyond ASCII", learned=["joe@xn--bcher-kva.example.org > ann@example.net"],
            recipients=("joe@b\u00fccher.example.org",), utf8=True),
    written("a recipient with a route", recipients=("@evil.example:joe@example.org",)),
    written("a recipient whom the mail server refuses, beside another one", refused_recipients=("refused@example.org",)),
    Sent("a colleague's address with a tag", recipients=("bob+shop@example.net",)),
    written("a mailing list to which a user posts", learned=["dev@lists.example.org > ann@example.net"],
            recipients=("dev@lists.example.org",)),
    Sent("a colleague", recipients=("bob@example.net",)),
    written("a colleague and somebody else", recipients=("bob@example.net", JOE)),
    written("twenty recipients", learned=[f"joe{number} > ann" for number in range(20)],
            recipients=tuple(f"joe{number}@example.org" for number in range(20))),
    Sent("more than twenty recipients", recipients=tuple(f"joe{number}@example.org" for number in range(21))),
    Sent("a recipient who is revoked for everybody", recipients=("revoked@example.org",)),
    written("a recipient who is revoked for another user", learned=["revoked-for-bob > ann"], recipients=("revoked-for-bob@example.org",)),
    written("a user sends on what somebody else has written", "Resent-From: ann@example.net", "Resent-To: joe@example.org",
            sender_field="evil@evil.example"),
    Sent("a user sends on what a program has written", ("Resent-From: ann@example.net", "Auto-Submitted: auto-generated")),
]

CASES = WHO + AUTOMATIC + LEAVING + RECIPIENTS
# An account that somebody else has: so many messages of so many recipients each.
HIJACKED_MESSAGES, HIJACKED_RECIPIENTS = 8, 20
