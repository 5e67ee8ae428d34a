"""Logs, in which strangers choose addresses, names of hosts, header fields and other servers' answers. An operator names
them."""

import re

from .case import FOR_ALL, PAIRS, VMAIL, Case, Gzip

ALLOW_EMPTY = ("--pairs", "--allow-empty")
TWO_MESSAGES = ("--pairs", "--at-least", "2")
NO_LOGIN = ("--pairs", "--without-login")


def line(agent, text, host="mx", date="Nov 20 10:00:00", number="Q1"):
    return f"{date} {host} postfix/{agent}[1]: {number}: {text}\n"


def client(login="ann", more="", **where):
    sasl = f", sasl_method=PLAIN, sasl_username={login}" if login else ""
    return line("submission/smtpd", f"client=pc[192.0.2.7]{sasl}{more}", **where)


def sender(user="ann", recipients=1, **where):
    path = user if "@" in user or not user else f"{user}@ours.example"
    return line("qmgr", f"from=<{path}>, size=400, nrcpt={recipients} (queue active)", **where)


def field(text, **where):
    return line("cleanup", f"info: header {text} from pc[192.0.2.7]; from=<ann@ours.example> to=<joe@example.org> "
                "proto=ESMTP helo=<pc>", **where)


def sent(to="joe@example.org", orig="", status="sent (250 2.0.0 Ok: queued as 4G)", **where):
    behind = f" orig_to=<{orig}>," if orig else ""
    return line("smtp", f"to=<{to}>,{behind} relay=mx.example.org[203.0.113.1]:25, delay=0.1, delays=0/0/0.1/0, "
                f"dsn=2.0.0, status={status}", **where)


def removed(**where):
    return line("qmgr", "removed", **where)


def mail(to="joe@example.org", more="", **where):
    return client(**where) + more + sender(**where) + sent(to, **where) + removed(**where)


ID = line("cleanup", "message-id=<1@ours.example>")


def sent_copy(number):
    """The user's copy of a message; "" for one without a Message-ID."""
    name = f"Message-ID: <{number}@ours.example>\n" if number else ""
    return {"vmail/ours.example/ann/.Sent/cur/1": f"From: ann@ours.example\nTo: joe@example.org\n{name}Date: now\n\n"}


SENT_COPY = sent_copy("1")


def written(login, user, number):
    where = {"number": number}
    return client(login, **where) + sender(user, **where) + sent(**where) + removed(**where)


def log(what, text, listed=(), options=PAIRS, **more):
    return Case(what, {"mail.log": text}, listed, options, **more)


def with_field(what, text, is_listed=False):
    return log(what, client() + field(text) + sender() + sent() + removed(), ["joe > ann"] if is_listed else ())


def with_status(what, status, is_listed=False):
    return log(what, client() + sender() + sent(status=status) + removed(), ["joe > ann"] if is_listed else ())


ADDRESSES = ("--owner-addresses", "logins.map")
MAP = "ann@ours.example asmith\ninfo@ours.example asmith, bob\n"
TWO_USERS = ("--for-all", "--at-least", "2")

MESSAGES = [
    log("one login with two tags is one user",
        written("ann", "ann+1", "Q1") + written("ann", "ann+2", "Q2"), (), TWO_USERS),
    log("two logins are two users", written("ann", "ann", "Q1") + written("bob", "bob", "Q2"), ["joe"], TWO_USERS),
    Case("one login with two addresses is one user",
         {"mail.log": written("asmith", "ann", "Q1") + written("asmith", "info", "Q2"), "logins.map": MAP}, (), (*TWO_USERS, *ADDRESSES),
         sources=("mail.log",)),
    log("a user who has logged in writes to somebody", mail(), ["joe > ann"]),
    log("somebody writes with a user's address, at port 25", client("") + sender() + sent() + removed()),
    log("the same, where clients need no login", client("") + sender() + sent() + removed(), ["joe > ann"], NO_LOGIN),
    log("a user's program answers with the null sender", client() + sender("") + sent() + removed()),
    log("the mail server returns a message", line("bounce", "sender non-delivery notification: Q2") +
        sender("", number="Q2") + sent("evil@evil.example", number="Q2") + removed(number="Q2")),
    log("a user writes with a foreign address", client() + sender("ann@evil.example") + sent() + removed()),
    with_field("a vacation answer, which a header check shows", "Auto-Submitted: auto-replied"),
    with_field("a message that says it is not automatic", "Auto-Submitted: no", is_listed=True),
    *[with_field(f"automatic mail: {text}", text) for text in (
        "X-Autoreply: yes", "X-Autorespond: dinner", "X-Auto-Response-Suppress: All", "Precedence: bulk",
        "Precedence: auto_reply", "List-Id: <dev.example.org>", "Content-Type: multipart/report; boundary=x",
        "Content-Type: text/calendar; method=REPLY", "Subject: unsubscribe", "Subject: stop", "Subject: unsubscribe dev")],
    with_field("a Subject that begins as one by which a user leaves a mailing list", "Subject: Afmelden training zaterdag",
               is_listed=True),
    with_field("a Subject that speaks of automatic mail", "Subject: Auto-Submitted: auto-replied", is_listed=True),
    log("a user writes to more than twenty people", client() + sender(recipients=21) + sent() + removed()),
    log("a user writes to a colleague", mail("bob@ours.example")),
    log("a user leaves a mailing list by mail", mail("list-unsubscribe+ann=x@example.org")),
    log("a recipient with a tag", mail("joe+shop@example.org"), ["joe+shop > ann"]),
    log("a recipient with letters beyond ASCII", mail("j\u00f6rg@example.org"), ["j\u00f6rg > ann"]),
    log("a recipient in quotes, with a comma and a bracket", mail('"a>, b"@example.org'), ['"a>, b"@example.org > ann']),
    log("a user's own address has a tag", client() + sender("ann+shop@ours.example") + sent() + removed(),
        ["joe@example.org > ann+shop@ours.example"]),
]

DELIVERIES = [
    with_status("a message that was never delivered", "deferred (connect to mx.example.org[203.0.113.1]:25: timed out)"),
    log("a message that was delivered at the second attempt", client() + sender() + sent(status="deferred (x)") + sender() +
        sent() + removed(), ["joe > ann"]),
    with_status("a message that came back", "bounced (host mx.example.org said: 550 no such user)"),
    with_status("a message that came back, and the other server says sent", "bounced (host x said: 550 status=sent (250 Ok)"),
    with_status("a message that expired", "expired, returned to sender"),
    with_status("a filter took the message and discarded it", "sent (250 2.7.0 Ok, discarded, id=4711-01 - spam)"),
    with_status("the same, in capitals", "sent (250 DISCARDED)"),
    with_status("the other server names an address in its answer",
                "sent (250 Ok, to=<evil@evil.example>, orig_to=<evil@evil.example>, status=sent)", is_listed=True),
    log("a private address behind an alias of somebody outside", client() + sender() +
        sent("private@example.org", "joe@example.org") + removed(), ["joe > ann"]),
    log("a private address behind a colleague's alias", client() + sender() +
        sent("private@example.org", "bob@ours.example") + removed()),
    log("a message that goes through a content filter",
        client() + sender() + sent(status="sent (250 2.0.0 from MTA: Ok: queued as Q2)") + removed() +
        client("", ", orig_client=pc[192.0.2.7], orig_queue_id=Q1", number="Q2") +
        sender(number="Q2") + sent(number="Q2") + removed(number="Q2"), (), TWO_MESSAGES),
    log("the same, before the filter's connection is over",
        client() + sender() + client("", ", orig_queue_id=Q1", number="Q2") + sender(number="Q2") + sent(number="Q2") +
        sent(status="sent (250 2.0.0 from MTA: Ok: queued as Q2)") + removed() + removed(number="Q2"), ["joe > ann"]),
    log("the same, and one message does not count twice",
        client() + sender() + client("", ", orig_queue_id=Q1", number="Q2") + sender(number="Q2") + sent(number="Q2") +
        sent(status="sent (250 2.0.0 from MTA: Ok: queued as Q2)") + removed() + removed(number="Q2"), (), TWO_MESSAGES),
    log("a stranger's mail goes through a content filter", client("") + sender() +
        client("", ", orig_queue_id=Q1", number="Q2") + sender(number="Q2") + sent(number="Q2")),
    Case("one message in the log and in the folder", {"mail.log": mail(more=ID), **SENT_COPY}, (), TWO_MESSAGES,
         sources=("mail.log", VMAIL)),
    Case("the same, and the folder's copy has no Message-ID", {"mail.log": mail(more=ID), **sent_copy("")}, (), TWO_MESSAGES,
         sources=("mail.log", VMAIL)),
    Case("one message in two copies of a log", {"mail.log": mail(more=ID), "mail.log.0": mail(more=ID)}, (), TWO_MESSAGES),
    Case("two messages, one in the log and one in the folder", {"mail.log": mail(more=ID), **sent_copy("2")}, ["joe > ann"],
         TWO_MESSAGES, sources=("mail.log", VMAIL)),
    log("two messages count twice", mail() + mail(number="Q2"), ["joe > ann"], TWO_MESSAGES),
    log("one message that the log has twice, and is removed between", mail() + sent(), (), TWO_MESSAGES),
    log("a queue ID comes again, for a stranger's message", client() + sender() + client("") + sender() +
        sent("evil@evil.example") + removed()),
    log("another host has the same queue ID", client() + sender() + client("", host="mx2") + sender(host="mx2") +
        sent("evil@evil.example", host="mx2") + sent(), ["joe > ann"]),
    log("the sender's address holds the fields of a recipient", client() +
        sender('"a, to=<evil@evil.example>, status=sent (250"@ours.example') + line("cleanup", "message-id=<to=<evil@evil.example>>")),
    log("another program logs lines of the mail server",
        "".join(text.replace("postfix/", "postfixed-") for text in mail().splitlines(True)) + mail("zoe@example.org", number="Q2"),
        ["zoe > ann"]),
    log("a user's program logs what looks like the server's line",
        mail() + "Nov 20 10:00:00 mx logger: Nov 20 10:00:00 mx postfix/smtp[1]: Q1: to=<evil@evil.example>, relay=x, "
        "status=sent (250 Ok)\n", ["joe > ann"]),
]


def sendmail(*texts, login="ann"):
    first = f"AUTH=server, relay=pc [192.0.2.7], authid={login}, mech=PLAIN, bits=0" if login else "x=y"
    texts = [first] + [f"Q1: {text}" for text in texts]
    return "".join(f"Nov 20 10:00:00 mx sm-mta[Q9]: {text}\n" for text in texts)


FROM = "from=<ann@ours.example>, size=400, class=0, nrcpts=1, msgid=<1@x>, proto=ESMTP, daemon=MTA, relay=pc [192.0.2.7]"
TO = "to=<joe@example.org>, delay=00:00:01, mailer=esmtp, pri=30400, relay=mx.example.org. [203.0.113.1], dsn=2.0.0, stat="


def behind(to, alias):
    return f"to={to}, ctladdr={alias}, " + TO.split(", ", 1)[1] + "Sent (Ok)"


EXIM = ("2026-11-20 10:00:00 1a2b3c-000001-AB <= ann@ours.example H=mail.example.org [192.0.2.7] A=plain:ann\n"
        "2026-11-20 10:00:00 1a2b3c-000001-AB => evil@evil.example R=dnslookup T=remote_smtp\n")
MAP = "asmith\nann.smith@ours.example asmith\n/^(.*)@ours/ $1\nceo ceo\n@ours.example vera, ,root\n"
OWN_ADDRESSES = ("--pairs", "--owner-addresses", "logins.map")


def with_map(what, text, listed=()):
    return Case(what, {"logins.map": MAP, "mail.log": text}, listed, OWN_ADDRESSES, sources=("mail.log",),
                own_domain="ours.example")


OTHER_SERVERS = [
    log("a user writes by Sendmail", sendmail(FROM, TO + "Sent (Ok)"), ["joe > ann"]),
    log("a stranger writes by Sendmail", sendmail(FROM, TO + "Sent (Ok)", login="")),
    *[log(f"a stranger writes by Sendmail, with the client of a user in the Message-ID {number}",
          sendmail(FROM.replace("<1@x>", f"{number}, relay=pc [192.0.2.7]").replace("daemon=MTA, relay=pc [192.0.2.7]",
                   "daemon=MTA, relay=evil.example [203.0.113.9]"), TO + "Sent (Ok)"))
      for number in ("<2@evil.example>", "<2@evil.example")],
    log("Sendmail gives a message to a filter that discards it", sendmail(FROM, TO + "Sent (250 Ok, discarded)")),
    *[log(f"Sendmail: {what}", sendmail(FROM, behind(to, alias)), listed) for what, to, alias, listed in (
        ("a user of the system writes", "<joe@example.org>", "<ann@ours.example> (1000/1000)", ["joe > ann"]),
        ("a user whose address was rewritten", "<joe@example.org>", "<Ann@mx.ours.example> (1000/1000)", ["joe > ann"]),
        ("a user without a domain", "<joe@example.org>", "ann (1000/1000)", ["joe > ann"]),
        ("a private address behind an alias", "<private@example.org>", "<info@ours.example> (8/0)", ()),
        ("a private address behind a colleague's .forward", "private@example.org", "<bob@ours.example> (1001/1001)", ()),
        ("two private addresses behind an alias", "<p@example.org>,<q@example.org>", "<info@ours.example> (8/0)", ()),
        ("an alias of another domain on this server", "<private@example.org>", "<joe@example.org> (8/0)", ["joe > ann"]),
        ("an alias that names a host as its address", "<private@example.org>", '<"a, b"@example.org>', ['"a, b"@example.org > ann']),
        ("a program of a colleague's .forward", '"|/usr/bin/vacation bob"', "<bob@ours.example> (1001/1001)", ()),
        ("a program with an address", '"|/bin/mail evil@evil.example"', "<ann@ours.example> (1000/1000)", ()),
        ("a copy for the colleague beside a .forward", "\\\\bob", "<bob@ours.example> (1001/1001)", ()),
        ("a file", "/var/mail/archive@evil.example", "<ann@ours.example> (1000/1000)", ()))],
    log("Sendmail: an alias, and a person beside it", sendmail(FROM.replace("nrcpts=1", "nrcpts=2"),
        behind("p@example.org,q@example.org", "<info@ours.example> (8/0)"), TO + "Sent (Ok)"), ["joe > ann"]),
    *[log(f"Sendmail: {what}", sendmail(FROM, text.replace("<joe@example.org>", "private@example.org") + "Sent (Ok)")) for what, text in (
        ("a private address behind an alias, from the queue", TO),
        ("a user of the system writes to an alias", TO.replace(", ", ", ctladdr=<ann@ours.example> (1000/1000), ", 1)))],
    log("Sendmail's message comes back", sendmail(FROM, TO + "User unknown")),
    log("Exim's log", EXIM, status=65, said="mail.log"),
    with_map("a user writes with the own address, by a map", client("asmith") + sender("ann.smith") + sent(), ["joe > ann.smith"]),
    with_map("a user writes with the chief's address", client("asmith") + sender("ceo") + sent("evil@evil.example")),
    with_map("a login that is nobody's writes with the chief's address", client("mallory") + sender("ceo") +
             sent("evil@evil.example")),
    with_map("a user writes with a tag in the own address", client("asmith") + sender("ann.smith+shop") + sent(),
             ["joe > ann.smith+shop"]),
    with_map("a user writes with a tag in the chief's address", client("asmith") + sender("ceo+asmith") + sent("evil@evil.example")),
    with_map("a user of the whole domain writes with an address that has no line", client("vera") + sender("x") + sent(), ["joe > x"]),
    with_map("a user of the whole domain writes with the chief's address", client("vera") + sender("ceo") + sent("evil@evil.example")),
    with_map("a login in capitals is the same login", client("ASmith") + sender("Ann.Smith") + sent(), ["joe > ann.smith"]),
]


def everywhere(text, change):
    return "".join(change(each) for each in text.splitlines(True))


def numbered(text, data="-"):
    """The lines in the form of RFC 5424."""
    return re.sub(r"(?m)^Nov 20 10:00:00 mx (\S+)\[1\]: (.*)$",
                  lambda line: f"<22>1 2026-11-20T10:00:00.123456+01:00 mx {line[1]} 1 - {data} {line[2]}", text)


ISO = "2026-11-20T10:00:00.123456+01:00"
FORMS = [
    log("the host's name has the word mail in it", mail(host="mail"), ["joe > ann"]),
    log("dates of RFC 3339", mail(date=ISO), ["joe > ann"]),
    log("the journal's dates", mail(date="2026-11-20T10:00:00+0100"), ["joe > ann"]),
    *[log(f"dates and names as {what} has them", mail(date=date), ["joe > ann"]) for what, date in (
        ("syslog of RFC 3164 with a priority", "<22>Nov 20 10:00:00"), ("rsyslog without a zone", "2026-11-20T10:00:00"),
        ("syslog-ng with parts of a second", "Nov 20 10:00:00.123"), ("journalctl -o short-full", "Fri 2026-11-20 10:00:00 CET"),
        ("journalctl -o short-iso-precise", "2026-11-20T10:00:00.123456+0100"),
        ("docker logs -t", "2026-11-20T10:00:00.123456789Z Nov 20 10:00:00"),
        ("docker compose logs -t", "mail-1  | 2026-11-20T10:00:00.123456789Z 2026-11-20T10:00:00.123456+01:00"),
        ("kubectl logs --prefix", "[pod/mail-0/postfix] Nov 20 10:00:00"))],
    *[log(f"the program as {what} has it", everywhere(mail(), change), ["joe > ann"]) for what, change in (
        ("journalctl --no-hostname", lambda each: each.replace(" mx ", " ")),
        ("BusyBox", lambda each: each.replace(" mx ", " mx mail.info ")),
        ("a container without a host's name", lambda each: each.replace(" mx ", " INFO    ")),
        ("a second instance of Postfix", lambda each: each.replace("postfix/", "postfix-out/")),
        ("RFC 5424", numbered), ("RFC 5424 with data", lambda each: numbered(each, '[a b="\\"] c"][d e=""]')),
        ("rsyslog in the form of RFC 5424", lambda each: numbered(each).replace(" - - ", " - -  ")),
        ("RFC 5424 with a byte order mark", lambda each: numbered(each).replace(" - - ", " - - \ufeff")))],
    log("long queue IDs", mail(number="4Qx7Yb0hNSzlMHbF") + mail("zoe@example.org", number="3zHk2g1Yz8z1s8"), ["joe > ann", "zoe > ann"]),
    log("a stranger's name for the program in the data of RFC 5424", numbered(client()) + numbered(sender()) +
        '<22>1 2026-11-20T10:00:00Z mx web 1 - [a b="\\"] postfix/smtp[1]: Q1: to=<evil@evil.example>, status=sent (x)"] y\n' +
        "<22>1 2026-11-20T10:00:00Z mx web 1 - - postfix/smtp[1]: Q1: to=<evil@evil.example>, status=sent (x)\n" +
        numbered(sent()), ["joe > ann"]),
    log("a stranger's text in a program's line that has two dates",
        mail() + "2026-11-20T10:00:00Z mx web[1]: Nov 20 10:00:00 mx postfix/smtp[1]: Q1: to=<evil@evil.example>, status=sent (x)\n",
        ["joe > ann"]),
    log("29 February, of a year that is not said", mail(date="Feb 29 10:00:00"), ["joe > ann"]),
    log("a container's name before each line", everywhere(mail(), lambda each: "mailserver-1  | " + each), ["joe > ann"]),
    log("the same, behind what docker says", "Attaching to mailserver-1\n" +
        everywhere(mail(date=ISO), lambda each: "mailserver-1  | " + each), ["joe > ann"]),
    log("a repetition is the first line", "last message repeated 2 times\n" + mail(), ["joe > ann"]),
    log("rsyslog's repetition is the first line", "Nov 20 10:00:00 mx last message repeated 2 times\n" + mail(), ["joe > ann"]),
    log("a mark is the first line", "Nov 20 10:00:00 mx -- MARK --\n" + mail(), ["joe > ann"]),
    log("zeros of a log that was copied and cut", bytes(8192) + mail().encode(), ["joe > ann"]),
    log("zeros between the lines", mail().replace("\n", "\n\0\0\0\n", 1), ["joe > ann"]),
    log("a byte order mark before the first line", "\ufeff" + mail(), ["joe > ann"]),
    log("line ends of another system", mail().replace("\n", "\r\n"), ["joe > ann"]),
    log("the journal's first line", "-- Journal begins at Fri 2026-11-20 10:00:00 UTC. --\n" + mail(), ["joe > ann"]),
    log("a last line that is still being written", mail().rsplit("status", 1)[0]),
    Case("a compressed log", {"mail.log.2.gz": Gzip(mail())}, ["joe > ann"]),
    Case("a compressed log with zeros behind it", {"mail.log.2.gz": Gzip(mail(), tail=bytes(512))}, ["joe > ann"]),
    Case("a damaged log that the operator names", {"mail.log.2.gz": Gzip(mail(), cut=9)}, status=65, said="mail.log.2.gz"),
    Case("a message begins in one log and ends in the next", {"mail.log.1": client() + sender(), "mail.log": sent() + removed()},
         ["joe > ann"]),
    Case("the same, and the names are given in the other order", {"mail.log.1": client() + sender(), "mail.log": sent() + removed()},
         ["joe > ann"], sources=("mail.log", "mail.log.1")),
    Case("an empty log beside another one", {"mail.log": "", "mail.log.1": mail()}, status=65, said="mail.log is empty"),
    Case("an empty log beside another one, where that is allowed", {"mail.log": "", "mail.log.1": mail()}, ["joe > ann"],
         ALLOW_EMPTY, said="mail.log is empty"),
    Case("a damaged log beside another one, where that is allowed",
         {"mail.log.2.gz": Gzip(mail("zoe@example.org", number="Q2"), cut=9), "mail.log": mail()}, ["joe > ann"], ALLOW_EMPTY,
         said="mail.log.2.gz"),
    Case("Exim's log beside another one, where that is allowed", {"exim.log": EXIM, "mail.log": mail()}, ["joe > ann"], ALLOW_EMPTY,
         said="exim.log"),
    Case("the journal, without a log", {}, ["joe > ann"], ("--pairs", "--journal"), journal=mail(date="2026-11-20T10:00:00+0100")),
    Case("a stranger's mail in the journal", {}, (), ("--pairs", "--journal"), journal=client("") + sender() + sent()),
    Case("neither a log nor the journal", {}, options=FOR_ALL, status=64, said="give --journal"),
]

CASES = MESSAGES + DELIVERIES + OTHER_SERVERS + FORMS
