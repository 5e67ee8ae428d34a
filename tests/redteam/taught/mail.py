"""Sent mail, and what else lies in folders of it: what is put there counts for the folder's owner, and for nobody else."""

import base64

from .case import FOR_ALL, PAIRS, VMAIL, Case, Gzip, Link, Names, Pipe

BOOKS = ("--pairs", "--address-books")
TWO_USERS = ("--for-all", "--at-least", "2")
RECIPIENTS = ", ".join(f"joe{number}@example.org" for number in range(21))
TABLE = "user,contact\nann@ours.example,evil@evil.example\nceo@ours.example,evil@evil.example\n"
FROM = "From ann Fri Nov 20 10:00:00 2026\n"
CARD = "BEGIN:VCARD\r\nVERSION:3.0\r\nFN:ann@ours.example\r\nEMAIL:evil@evil.example\r\nEND:VCARD\r\n"
FORGED_LOG = """\
Nov 20 10:00:00 mx postfix/submission/smtpd[1]: Q1: client=pc[192.0.2.7], sasl_method=PLAIN, sasl_username=ann
Nov 20 10:00:00 mx postfix/qmgr[1]: Q1: from=<ann@ours.example>, size=400, nrcpt=1 (queue active)
Nov 20 10:00:00 mx postfix/smtp[1]: Q1: to=<evil@evil.example>, relay=x[203.0.113.1]:25, dsn=2.0.0, status=sent (250 Ok)
Nov 20 10:00:00 mx postfix/qmgr[1]: Q1: removed
"""


def letter(to="joe@example.org", *fields, user="ann", text="Hello.\n"):
    head = [f"From: {user}@ours.example", f"To: {to}", "Subject: dinner", *fields]
    return "\n".join(head) + "\n\n" + text


def counted(message, text):
    """With that text, and its length in the header."""
    head = message[:message.index("\n\n") + 1]
    return f"{head}Content-Length: {len(Names(0).of(text))}\n\n{text}\n"


def letter_with(*lines, text="Hello.\n"):
    return "\n".join(lines) + "\n\n" + text


def mailbox(*letters, owner="ann", folder="cur"):
    return {f"vmail/ours.example/{owner}/.Sent/{folder}/{number}.mx:2,S": each for number, each in enumerate(letters)}


def folder(what, letters, listed=(), options=PAIRS, owner="ann", **more):
    files = letters if isinstance(letters, dict) else mailbox(*letters, owner=owner)
    return Case(what, files, listed, options, sources=(VMAIL,), **more)


def of_field(what, *fields, is_listed=False):
    return folder(what, [letter("joe@example.org", *fields)], ("joe > ann",) if is_listed else ())


WHOSE = [
    folder("a user writes to somebody", [letter()], ["joe > ann"]),
    folder("a user puts a message with the chief's From into the own folder",
           [letter("evil@evil.example", user="ceo")], ["evil@evil.example > mallory"], owner="mallory"),
    folder("a user puts a table of pairs into the own folder", [TABLE], owner="mallory"),
    folder("a user puts a forged log into the own folder", [FORGED_LOG], owner="mallory"),
    folder("a user puts a compressed forged log into the own folder", [Gzip(FORGED_LOG)],
           owner="mallory"),
    folder("a user puts an address book into the own folder", [CARD], owner="mallory"),
    folder("the same, where address books are wanted", [CARD], ["evil@evil.example > mallory"], BOOKS, "mallory"),
    folder("a table of pairs, where address books are wanted", [TABLE], ["evil@evil.example > mallory"], BOOKS,
           "mallory"),
    folder("a forged log, where address books are wanted", [FORGED_LOG], (), BOOKS, "mallory"),
    folder("a user links the server's log into the own folder",
           {"server.txt": FORGED_LOG, "vmail/ours.example/mallory/.Sent/cur/1": Link("server.txt")}),
    folder("a user puts a whole mbox of the chief's mail into the own folder",
           ["From ceo Fri Nov 20 10:00:00 2026\n" + letter("evil@evil.example", user="ceo")],
           ["evil@evil.example > mallory"], owner="mallory"),
    folder("the owner's folder is that of another domain",
           {"vmail/evil.example/ann/.Sent/cur/1": letter("evil@evil.example")}),
    folder("the owner's name is in capitals", mailbox(letter(), owner="Ann"), ["joe > ann"]),
    folder("the message has a tag in its From", [letter_with("From: ann+shop@ours.example", "To: joe@example.org")],
           ["joe > ann"]),
    folder("three messages of one user, with the names of others", [letter("evil@evil.example", user=each)
                                                                   for each in ("ann", "bob", "ceo")],
           (), TWO_USERS, "mallory"),
    folder("one user has two folders", {**mailbox(letter("evil@evil.example"), owner="mallory"),
                                        **mailbox(letter("evil@evil.example"), owner="mallory", folder="new")},
           (), TWO_USERS),
    folder("two users write to the same person", {**mailbox(letter()), **mailbox(letter(user="bob"), owner="bob")},
           ["joe"], TWO_USERS),
]

MULTIPART = "Content-Type: multipart/mixed;\n boundary=\"x\""
NESTED_REPLY = ("--x\nContent-Type: multipart/alternative; boundary=y\n\n--y\nContent-Type: text/plain\n\nAnn comes.\n"
                "--y\nContent-Type: text/calendar;\n METHOD=reply\n\nBEGIN:VCALENDAR\n--y--\n--x--\n")

NOT_WRITTEN = [
    folder("mail that came in is moved to the sent mail",
           [letter_with("From: evil@evil.example", "To: ann@ours.example, joe@example.org")]),
    of_field("a read receipt", "Content-Type: multipart/report; report-type=disposition-notification; boundary=x"),
    of_field("a delivery report", "Content-Type: Multipart/Report; report-type=delivery-status; boundary=x"),
    of_field("a message to the null sender's box", "Return-Path: <>"),
    *[of_field(f"a forged message that a rule for incoming mail has put there: {field}",
               f"{field}: ann@ours.example") for field in ("Return-Path", "Delivered-To", "X-Original-To")],
    of_field("a vacation answer", "Auto-Submitted: auto-replied (vacation)"),
    of_field("an automatic message with a comment before the word", "Auto-Submitted: (x) auto-generated"),
    of_field("a message that says it is not automatic", "Auto-Submitted: No", is_listed=True),
    of_field("an answering program's X-Autoreply", "X-Autoreply: yes"),
    of_field("an answering program's X-Autorespond", "X-Autorespond: dinner"),
    of_field("Outlook's automatic answer", "X-Auto-Response-Suppress: All"),
    of_field("an answering program's X-Auto-Reply", "X-Auto-Reply: yes"),
    of_field("an answering program's X-Autoreply-From", "X-Autoreply-From: joe@example.org"),
    of_field("Exim's delivery report", "X-Failed-Recipients: joe@example.org"),
    *[of_field(f"Precedence: {word}", f"Precedence: {word}")
      for word in ("bulk", "list", "junk", "auto_reply", "auto-reply")],
    of_field("an urgent message", "Precedence: first-class", is_listed=True),
    of_field("a message of a mailing list", "List-Id: Developers <dev.lists.example.org>"),
    of_field("an answer to an invitation", 'Content-Type: text/calendar; charset=utf-8; method="REPLY"'),
    of_field("an answer to an invitation, its method in the next line", "Content-Type: text/calendar;",
             "\tMETHOD=reply"),
    of_field("an answer that proposes another time", "Content-Type: text/calendar; method=COUNTER"),
    of_field("a newsletter", "List-Unsubscribe: <mailto:news@ours.example>"),
    of_field("a read receipt without a multipart around it", "Content-Type: message/disposition-notification"),
    folder("an answer to an invitation that only its text says",
           [letter("joe@example.org", "Content-Type: text/calendar", text="BEGIN:VCALENDAR\nMETHOD:REPLY\n")]),
    folder("the same in a part, in base64",
           [letter("joe@example.org", MULTIPART, text="--x\nContent-Type: text/calendar\nContent-Transfer-Encoding: base64\n\n"
                   + base64.encodebytes(b"BEGIN:VCALENDAR\r\nMETHOD:REPLY\r\n").decode() + "--x--\n")]),
    folder("a report within a multipart",
           [letter("joe@example.org", MULTIPART, text="--x\nContent-Type: multipart/report; boundary=y\n\n--y\n\n--y--\n--x--\n")]),
    folder("a report that a person has forwarded, whole and in pieces",
           [letter("joe@example.org", MULTIPART, text="--x\nContent-Type: message/rfc822\n\nContent-Type: multipart/report; "
                   "boundary=y\n\n--y\n\n--y--\n--x\nContent-Type: message/delivery-status\n\n--x--\n")], ["joe > ann"]),
    of_field("an invitation", "Content-Type: text/calendar; method=REQUEST", is_listed=True),
    folder("an answer to an invitation in a part of a part", [letter("joe@example.org", MULTIPART, text=NESTED_REPLY)]),
    folder("the same in an mbox, before a person's message",
           ["From ann Fri Nov 20 10:00:00 2026\n" + letter("joe@example.org", MULTIPART, text=NESTED_REPLY)
            + "\nFrom ann Fri Nov 20 10:00:01 2026\n" + letter("zoe@example.org")], ["zoe > ann"]),
    folder("an answer that a person has forwarded",
           [letter("joe@example.org", MULTIPART, text="--x\nContent-Type: message/rfc822\n\n"
                   "Content-Type: text/calendar; method=REPLY\n\nBEGIN:VCALENDAR\n--x--\n")], ["joe > ann"]),
    folder("an answer behind more than is read", [letter("joe@example.org", MULTIPART,
                                                         text="--x\n\n" + "a line\n" * 10_000 + NESTED_REPLY)],
           ["joe > ann"]),
    *[folder(f"the Subject '{subject}' leaves a mailing list",
             [letter_with("From: ann@ours.example", "To: joe@example.org", f"Subject: {subject}")])
      for subject in ("unsubscribe", "Unsubscribe, please", "STOP!", "REMOVE", "Abmelden", "signoff dev", "[unsubscribe]", "unsubscribe_4711",
                      "D\u00e9sinscription", "=?iso-8859-1?Q?D=E9sinscription?=")],
    *[folder(f"the Subject '{subject}' is a person's",
             [letter_with("From: ann@ours.example", "To: joe@example.org", f"Subject: {subject}")], ["joe > ann"])
      for subject in ("Remove the old server", "How I unsubscribe", "Stop by at ten", "Leave", "Afmelden training zaterdag",
                      "Abmelden von Max am Freitag", "Unsubscribe link in our newsletter is broken")],
    *[folder(f"mail to {name}@ is for no person", [letter(f"{name}@example.org")])
      for name in ("list-unsubscribe", "unsub-4711", "leave-123=ann", "signoff", "OptOut+x", "dev-request", "listserv", "remove",
                   "no-reply", "bounces+ann", "MAILER-DAEMON")],
    *[folder(f"mail to {name}@ is for a person", [letter(f"{name}@example.org")], [f"{name} > ann"])
      for name in ("postmaster", "request", "john.leave", "bounce.house", "info.bounce", "remove.it")],
    folder("mail to a person whose name has the word in it", [letter("cleaver@example.org")], ["cleaver > ann"]),
    folder("a draft, and a message that is half written",
           {"vmail/ours.example/ann/.Sent/cur/1.mx:2,DS": letter("draft@example.org"),
            "vmail/ours.example/ann/.Sent/tmp/2.mx": letter("half@example.org")}),
    folder("a message from two authors", [letter_with("From: ann@ours.example, bob@ours.example", "To: joe@example.org")]),
    folder("a message with two From fields",
           [letter_with("From: ann@ours.example", "From: evil@evil.example", "To: joe@example.org")]),
    folder("a message to more than twenty people", [letter(RECIPIENTS)]),
    folder("a header that never ends", [letter(", ".join(f"{'j' * 60}{number}@example.org" for number in range(30000)))]),
    folder("mail from outside that the user has sent on as it is",
           [letter_with("Resent-From: ann@ours.example", "Resent-To: joe@example.org", "From: evil@evil.example",
                        "To: ann@ours.example, other@evil.example")]),
]

RECIPIENT_SYNTAX = [
    folder("To, Cc and Bcc", [letter("joe@example.org", "Cc: zoe@example.org", "bcc: MAX@example.org")],
           ["joe > ann", "zoe > ann", "max > ann"]),
    folder("groups, and recipients of a group within names",
           [letter('friends: joe@example.org, "a,b"@example.org; , undisclosed-recipients:;')],
           ["joe > ann", '"a,b"@example.org > ann']),
    folder("a comment with an address in it", [letter("Joe (evil@evil.example) <joe@example.org>")], ["joe > ann"]),
    folder("a name that looks like an address", [letter('"evil@evil.example" <joe@example.org>')], ["joe > ann"]),
    folder("an encoded name that looks like an address",
           [letter("=?utf-8?q?evil=40evil=2Eexample=2C?= <joe@example.org>")], ["joe > ann"]),
    folder("a quoted name with an angle bracket", [letter('"a <evil@evil.example>, b" <joe@example.org>')], ["joe > ann"]),
    *[folder(f"a name without quotes: {name}", [letter(f"{name}, zoe@example.org")], [f"{who} > ann" for who in (*listed, "zoe")])
      for name, listed in {
          "evil@evil.example <joe@example.org>": ["joe"], "evil@evil.example joe <joe@example.org>": ["joe"],
          "x: evil@evil.example <joe@example.org>": ["joe"], '"a"@evil.example@example.org <joe@example.org>': ["joe"],
          "\u201cevil@evil.example\u201d <joe@example.org> (x)": ["joe"], "<@evil.example:joe@example.org>": ["joe"],
          '"j>\\" (joe"@example.org (x)': ['"j>\\" (joe"@example.org'],
          '(evil@evil.example) "joe" @example.org': (), "Joe <joe@example.org> <evil@evil.example>": (),
          "<evil@evil.example> joe@example.org": (), "joe@example.org (a) evil@evil.example": (),
          "joe@example.org evil@evil.example": (), "Joe <evil@evil.example> joe <joe@example.org>": ()}.items()],
    folder("folded recipients", [letter("joe@example.org,\n  zoe@example.org,\n\tmax@example.org")],
           ["joe > ann", "zoe > ann", "max > ann"]),
    folder("a quote that does not end", [letter('"joe@example.org, zoe@example.org')]),
    folder("a bracket that does not end", [letter("<joe@example.org, zoe@example.org")]),
    folder("a recipient with a tag", [letter("joe+shop@example.org")], ["joe+shop > ann"]),
    folder("a recipient with letters beyond ASCII", [letter("j\u00f6rg@example.org")], ["j\u00f6rg > ann"]),
    folder("a recipient of the own domain, with one of another", [letter("bob@ours.example, joe@example.org")],
           ["joe > ann"]),
    folder("a recipient's name in the text, and in an attached message",
           [letter(text="To: evil@evil.example\n\n--x\nContent-Type: message/rfc822\n\nTo: evil@evil.example\n")],
           ["joe > ann"]),
    folder("fields that only look like recipients",
           [letter("joe@example.org", "X-To: evil@evil.example", "Reply-To: evil@evil.example",
                   "Disposition-Notification-To: evil@evil.example")], ["joe > ann"]),
    folder("a user posts to a mailing list", [letter("dev@lists.example.org")], ["dev@lists.example.org > ann"]),
]

DAMAGE = [
    folder("an archive that is cut off lies in the folder", [Gzip(letter(), cut=9), letter("zoe@example.org")],
           ["zoe > ann"]),
    folder("an archive with a wrong sum lies in the folder",
           [Gzip(letter(), cut=8, tail=bytes(8)), letter("zoe@example.org")], ["zoe > ann"]),
    folder("an archive with zeros behind it lies in the folder", [Gzip(letter(), tail=bytes(512))],
           ["joe > ann"]),
    folder("an empty folder of sent mail", {"vmail/ours.example/ann/.Sent/cur/": ""}),
    folder("an empty file, zeros, noise and one long line",
           ["", bytes(8192), bytes(range(256)) * 40, "x" * 300_000, letter("zoe@example.org")], ["zoe > ann"]),
    folder("the files of the mail server beside the mail",
           {"vmail/ours.example/ann/.Sent/dovecot-uidlist": "3 V1 N2\n", "vmail/ours.example/ann/.Sent/maildirfolder": "",
            **mailbox(letter())}, ["joe > ann"]),
    folder("a pipe that nobody writes to lies in the folder",
           {"vmail/ours.example/ann/.Sent/cur/1": Pipe(), **mailbox(letter())}, ["joe > ann"]),
    folder("a pipe is the folder", {"vmail/ours.example/mallory/.Sent": Pipe(), **mailbox(letter())}, ["joe > ann"]),
    folder("a link to nothing, and one to the folder above",
           {"vmail/ours.example/ann/.Sent/cur/1": Link("nothing"),
            "vmail/ours.example/ann/.Sent/cur/2": Link("vmail"), **mailbox(letter())}, ["joe > ann"]),
]

# What an operator has as smtpd_sender_login_maps.
MAP = "ann.smith@ours.example asmith\ninfo@ours.example asmith, bob\nceo@ours.example ceo\n@ours.example postmaster\n"
HOME = {"sources": ("home/%u/.Sent",), "own_domain": "ours.example"}


def home(what, files, listed, options=(*PAIRS, "--owner-addresses", "logins.map"), **more):
    homes = {f"home/{owner}/.Sent/{number}": text for owner, letters in files.items() for number, text in enumerate(letters)}
    return Case(what, {"logins.map": MAP, **homes}, listed, options, **HOME, **more)


OWNERS = [
    home("an owner has two addresses, by a map", {"asmith": [letter(user="ann.smith")]},
         ["joe > ann.smith", "joe > info"]),
    home("an owner without an address writes with the chief's From", {"mallory": [letter("evil@evil.example", user="ceo")]},
         (), said="no address is known of 1: mallory"),
    home("the owner of all addresses of the domain", {"postmaster": [letter("evil@evil.example", user="ceo")]}, ()),
    home("one owner with two addresses is one user",
         {"asmith": [letter(user="ann.smith"), letter(user="info")]}, (),
         (*TWO_USERS, "--owner-addresses", "logins.map")),
    home("two owners share an address, and are two users", {"asmith": [letter()], "bob": [letter(user="info")]}, ["joe"],
         (*TWO_USERS, "--owner-addresses", "logins.map")),
    home("without a map an owner has the address of that name", {"ann": [letter(user="ceo")]}, ["joe > ann"], PAIRS),
    home("an owner of no address counts as one user all the same", {"mallory": [letter()], "bob": [letter()]}, ["joe"],
         (*TWO_USERS, "--owner-addresses", "logins.map")),
    Case("an mbox whose text has lines that begin with From",
         {"sent.mbox": "From ann Fri Nov 20 10:00:00 2026\n" + letter(text="Hello\n\nFrom 10:30 on\n"
          "From: ann@ours.example\nTo: evil@evil.example\n\nFrom Monday 10:30 on we meet\nFrom: ann@ours.example\n"
          "To: evil@evil.example\n\n") + "From ann Fri Nov 20 11:00:00 2026\n" + letter("zoe@example.org")},
         ["joe > ann", "zoe > ann"], (*PAIRS, "--user", "ann@ours.example")),
    Case("an mbox that says how long its texts are, one of which is a mailbox that was sent to the user",
         {"sent.mbox": FROM + counted(letter(), "See this.\n\n" + FROM + letter("evil@evil.example")) + FROM
          + counted(letter("zoe@example.org"), "x\n")}, ["joe > ann", "zoe > ann"], (*PAIRS, "--user", "ann@ours.example")),
    *[Case(f"an mbox with '{line}'", {"sent.mbox": FROM + letter("zoe@example.org") + "\n" + line + "\n" + letter()},
           ["joe > ann", "zoe > ann"], (*PAIRS, "--user", "ann@ours.example"))
      for line in ("From ", "From - Fri Nov  2 10:00:00 2026", "From ann@x Fri Nov 20 10:00:00 +0100 2026", "From a:b@x  Fri Nov 20 10:00 2026",
                   'From "a b"@x Fri Nov 20 10:00:00 2026')],
    Case("an mbox with what its writer has marked as text", {"sent.mbox": FROM + letter(text="x\n\n>" + FROM + letter("evil@evil.example"))},
         ["joe > ann"], (*PAIRS, "--user", "ann@ours.example")),
    folder("a Maildir of dovecot", {"vmail/ours.example/ann/.Sent/cur/1.M2P3.mx,S=99,W=101:2,Sab": letter()}, ["joe > ann"]),
    Case("an mbox of the chief's mail is read for a user", {"sent.mbox": "From ceo Fri Nov 20 10:00:00 2026\r\n" +
         letter(user="ceo").replace("\n", "\r\n")}, ["joe > ann"], (*PAIRS, "--user", "Ann@ours.example")),
    Case("an mbox does not say whose it is", {"sent.mbox": "From ceo Fri Nov 20 10:00:00 2026\n" + letter(user="ceo")},
         status=64, said="does not say whose it is"),
    Case("the same for all users", {"sent.mbox": "From ann Fri Nov 20 10:00:00 2026\n" + letter()}, ["joe"], FOR_ALL),
]

CASES = WHOSE + NOT_WRITTEN + RECIPIENT_SYNTAX + DAMAGE + OWNERS
