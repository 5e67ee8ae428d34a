"""What common software and services sign of a message: the names in their h=, from what they sign by default.

Those of OpenDKIM (RFC 6376 section 5.4.1, and From once more by Debian's configuration), rspamd 3.4 and Exim 4.96 are
their defaults. Those of the services are as messages in public archives have them: Google Groups (2021 to 2026),
Microsoft 365 (2019 to 2025), Amazon SES (2016 to 2021), Mailgun (2022), Mailchimp (2023), and SendGrid (2026; before
autumn 2025 it signed neither Date nor a time of its own). Gmail's are those of the manual. Sympa signs by Mail::DKIM.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Callable

RESENT = "resent-date resent-from resent-sender resent-to resent-cc resent-message-id"
LIST = "list-id list-help list-unsubscribe list-subscribe list-post list-owner list-archive"
SHOULD = f"from reply-to subject date to cc {RESENT} in-reply-to references {LIST}".replace(" resent-sender", "")
RFC_4871 = (f"from sender reply-to subject date message-id to cc mime-version content-type content-transfer-encoding "
            f"content-id content-description {RESENT} in-reply-to references {LIST}")
RSPAMD = ("(o)from:(x)sender:(o)reply-to:(o)subject:(x)date:(x)message-id:(o)to:(o)cc:(x)mime-version:(x)content-type:"
          "(x)content-transfer-encoding:resent-to:resent-cc:resent-from:resent-sender:resent-message-id:(x)in-reply-to:"
          "(x)references:list-id:list-help:list-owner:list-unsubscribe:list-unsubscribe-post:list-subscribe:list-post:"
          "(x)openpgp:(x)autocrypt")
GMAIL = "to cc subject message-id date from in-reply-to references mime-version reply-to sender"
GOOGLE_GROUPS = (f"list-unsubscribe list-subscribe list-archive list-help list-post list-id mailing-list precedence "
                 f"x-original-authentication-results x-original-sender {GMAIL}")
GOOGLE_TWICE = "from to cc subject date message-id reply-to".split()
SES = ("from sender reply-to to cc message-id in-reply-to references subject mime-version content-type "
       "content-transfer-encoding date feedback-id")
MAILGUN = "content-transfer-encoding content-type mime-version message-id date from to cc reply-to subject sender"
SENDGRID = ("content-type date from mime-version subject reply-to to list-unsubscribe list-unsubscribe-post in-reply-to "
            "references content-transfer-encoding")
SENDGRID_TWICE = "cc content-type date from subject to".split()


@dataclass(frozen=True)
class Habit:
    """names(those of the message's fields, in lower case and in their order) -> those of h=."""

    name: str
    names: Callable
    canonicalization: tuple = (b"relaxed", b"relaxed")
    has_time: bool = True

    def sign(self, key, content):
        names = [name.encode() for name in self.names(field_names(content))]
        return key.sign(content, fields=names, canonicalization=self.canonicalization,
                        tags={} if self.has_time else {b"t": None})


def field_names(content):
    head = content.partition(b"\r\n\r\n")[0].decode("utf-8", "surrogateescape")
    return [line.partition(":")[0].lower() for line in head.split("\r\n") if line[:1] not in " \t"]


def present(wanted, more=()):
    """Each of these fields as often as it is there, and then those of more."""
    wanted = set(wanted.split())
    return lambda names: [name for name in names if name in wanted] + list(more)


def rspamd_names(names):
    count, chosen = Counter(names), []
    for word in RSPAMD.split(":"):
        name = word.rpartition(")")[2]
        once_more = word.startswith("(o)") or (word.startswith("(x)") and count[name])
        chosen += [name] * (count[name] + bool(once_more))
    return chosen


def exim_names(names):
    """From the last field on, and then what is not there, so that nobody can add it."""
    wanted = RFC_4871.split()
    return [name for name in reversed(names) if name in wanted] + [name for name in wanted if name not in names]


def mailgun_names(names):
    twice = {"from", "subject", "to", "sender"}
    return [name for name in names if name in MAILGUN.split() for _ in range(1 + (name in twice))]


OPENDKIM = Habit("OpenDKIM", present(SHOULD, ["from"]), (b"relaxed", b"simple"))
OPENDKIM_WITH_SENDER = Habit("OpenDKIM that signs Sender, too", present(SHOULD + " sender", ["from"]),
                             (b"relaxed", b"simple"))
RSPAMD_HABIT = Habit("rspamd", rspamd_names)
EXIM = Habit("Exim", exim_names, has_time=False)
SYMPA = Habit("Sympa", present(RFC_4871), has_time=False)
GMAIL_HABIT = Habit("Gmail", present(GMAIL, GOOGLE_TWICE))
GROUPS = Habit("Google Groups", present(GOOGLE_GROUPS, GOOGLE_TWICE))
MICROSOFT = Habit("Microsoft 365", lambda _: ["from", "date", "subject", "message-id", "content-type", "mime-version",
                                              "x-ms-exchange-senderadcheck"], has_time=False)
AMAZON = Habit("Amazon SES", present(SES), (b"relaxed", b"simple"))
MAILGUN_HABIT = Habit("Mailgun", mailgun_names)
SENDGRID_HABIT = Habit("SendGrid", present(SENDGRID, SENDGRID_TWICE))
MAILCHIMP = Habit("Mailchimp", present(
    "subject from reply-to to date message-id x-mc-user feedback-id list-id list-unsubscribe list-unsubscribe-post "
    "content-type mime-version", ["cc", "date", "subject", "from"]))
