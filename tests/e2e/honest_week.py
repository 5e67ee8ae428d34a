"""A composed week of honest mail to ours.example: 2,000 messages, by kinds, and the whitelist that its operator has.

All shares are assumed: no public count of mail by these kinds is known. Google and Yahoo have wanted both SPF and a
signature of mail in bulk since 2024, so SPF alone is assumed for persons and forwarders only: 4.4 % of the mail.

A kind is a function of a number, which chooses the names of a message and its variant: messages of a kind whose numbers
have the same remainder by its number of variants differ in names alone.
"""

from dataclasses import dataclass
from email.utils import formatdate
from typing import Callable

from honest_mail import PRIVATE, SMALL_SHOP, TRUSTED_FORWARDER, HonestMail, signed
from list_software import MailingList, Post, discourse, google_groups, mailman_2, mailman_3, sympa
from mime_bodies import (ALTERNATIVE, ATTACHMENT, CALENDAR_ALONE, FLOWED, HTML, INVITATION, OUTLOOK, PLAIN, QUOTED,
                         SIGNED, THUNDERBIRD, composed)
from private_mail.signing import SigningKey
from signing_habits import (AMAZON, EXIM, GMAIL_HABIT, GROUPS, MAILCHIMP, MAILGUN_HABIT, MICROSOFT, OPENDKIM,
                            RSPAMD_HABIT, SENDGRID_HABIT, SYMPA)

MESSAGES = 2000
FIRST = "anna ben clara dora emil franz greta hanna ivan jana karl lena".split()
LAST = "berg fuchs gross huber klein lang maier neu ott peters roth stein vogt wolf".split()


def someone(number):
    first, last = FIRST[number % len(FIRST)], LAST[number // len(FIRST) % len(LAST)]
    return f"{first}.{last}{number}"


def shop(number):
    return f"shop{number % 7}.example"


def small_shop(number):
    return f"{SMALL_SHOP}{number % 7}.example"


def plain_fields(sender, number, *more):
    return [("From", f"Sender {number} <{sender}>"), ("To", "user@ours.example"), ("Subject", f"The plan {number}"),
            ("Date", formatdate()), ("Message-ID", f"<{number}@mail.sender.example>"), *more]


def message(sender, number, body, *more):
    return composed([*plain_fields(sender, number, *more), *body.with_fields()], body)


def person(at, habit, bodies, signer=None, more=(), fields=()):
    """Mail of a person with an address there, in envelope and From alike, listed by this address."""
    def make(number):
        sender = f"{someone(number)}@{at}"
        content = signed(message(sender, number, bodies[number % len(bodies)], *fields), (signer or at, habit))
        return HonestMail(sender, sender, content, signed_by=(signer or at,), entries=(sender,),
                          more=tuple(form.format(sender) for form in more))
    return Variants(make, len(bodies))


@dataclass(frozen=True)
class Variants:
    make: Callable
    count: int = 1


def unsigned(at, spf="pass", entry="{0}"):
    def make(number):
        sender = f"{someone(number)}@{at}"
        return HonestMail(sender, sender, message(sender, number, (PLAIN, ALTERNATIVE)[number % 2]), spf=spf,
                          entries=(entry.format(sender),), by_domain=(f"@{at}",))
    return Variants(make, 2)


def partner(number):
    sender = f"{someone(number)}@partner.example"
    body = (ALTERNATIVE, ATTACHMENT)[number % 2]
    return HonestMail(sender, sender, signed(message(sender, number, body), ("partner.example", MICROSOFT)),
                      signed_by=("partner.example",), entries=("@partner.example",))


UNSUBSCRIBE = ("List-Unsubscribe", "<https://news.example.net/unsubscribe/4711>")


def newsletter(local, sender_host, signers, bounce_host, more=(), fields=(), bodies=(ALTERNATIVE, HTML, QUOTED),
               owner_of=shop):
    """Mail in bulk, with a bounce address of its own for each message. Hosts: with {0} for the shop's domain."""
    def make(number):
        owner = owner_of(number)
        sender = f"{local}@{sender_host.format(owner)}"
        envelope = f"bounce-{number}-user=ours.example@{bounce_host.format(owner)}"
        pairs = [(name.format(owner), habit) for name, habit in signers]
        content = signed(message(sender, number, bodies[number % len(bodies)], UNSUBSCRIBE, *fields), *pairs)
        return HonestMail(envelope, sender, content, signed_by=tuple(name for name, _ in pairs), entries=(sender,),
                          more=tuple(form.format(sender, owner) for form in more))
    return Variants(make, len(bodies))


def other_customer(number):
    """The operator has listed the bounce address of a service, and this is mail of another of its customers."""
    owner = f"tenant{number % 3}.example"
    content = signed(message(f"news@{owner}", number, ALTERNATIVE), (owner, AMAZON), ("mailer.example", AMAZON))
    return HonestMail("bounces@mailer.example", f"news@{owner}", content, signed_by=(owner, "mailer.example"),
                      entries=("bounces@mailer.example",), is_senders=False)


def google_calendar(number):
    sender = f"{someone(number)}@gmail.example"
    fields = [("Reply-To", sender), ("Sender", "Google Calendar <calendar-notification@google.example>")]
    content = signed(message(sender, number, INVITATION, *fields), ("gmail.example", GMAIL_HABIT),
                     ("google.example", GMAIL_HABIT))
    return HonestMail(f"3kX{number}@calendar-server.bounces.google.example", sender, content,
                      signed_by=("gmail.example", "google.example"), entries=(sender,))


def out_of_office(envelope_is_null):
    def make(number):
        sender = f"{someone(number)}@firm.example"
        content = signed(message(sender, number, (PLAIN, HTML)[number % 2], ("Auto-Submitted", "auto-replied")),
                         ("firm.example", MICROSOFT))
        return HonestMail("" if envelope_is_null else sender, sender, content, signed_by=("firm.example",),
                          entries=(sender,))
    return Variants(make, 2)


def srs(address, host):
    local, _, at = address.rpartition("@")
    return f"SRS0=HhHh=TT={at}={local}@{host}"


def forwarded(by, at, habit=None, changes_subject=False, uses_srs=True):
    """Mail of a person with an address there, sent on by a forwarder."""
    def make(number):
        sender = f"{someone(number)}@{at}"
        content = message(sender, number, (ALTERNATIVE, PLAIN)[number % 2])
        content = signed(content, (at, habit)) if habit else content
        if changes_subject:
            content = content.replace(b"Subject: ", b"Subject: [EXTERNAL] ")
        envelope = srs(sender, by) if uses_srs else sender
        return HonestMail(envelope, sender, content, "pass" if uses_srs else "fail",
                          (at,) if habit and not changes_subject else (), entries=(sender,),
                          by_domain=() if habit else (f"@{at}",))
    return Variants(make, 2)


def of_list(compose, host, habit, listed, members=("member.example",), more="list:{0}", signer=None, **options):
    """A post on a mailing list, listed by its bounce address or its From. A member's domain with DMARC fails behind a
    list that keeps From."""
    def make(number):
        owner = members[number % len(members)]
        found = MailingList(f"list{number % 4}", host, f"List {number % 4}")
        post = Post((PLAIN, ALTERNATIVE)[number % 2], f"plan {number}", key=SigningKey(owner, private=PRIVATE))
        mail = compose(found, post, **options)
        content = mail.raw.replace(b"member.example", owner.encode())
        sender = content.partition(b"From: ")[2].partition(b"<")[2].partition(b">")[0].decode()
        by = signer or host
        return HonestMail(mail.envelope, sender, signed(content, (by, habit)), signed_by=(by,),
                          entries=(listed.format(found.name, host),), more=(more.format(found.id, by),))
    return Variants(make, 2 * len(members))


BOUNCES, OWNER = "{0}-bounces@{1}", "{0}-owner@{1}"
MEMBERS = ("member.example", "withdmarc.example")
SIGNED_BY = "list:{0} signed-by {1}"

# Name -> per mille, and its messages.
KINDS = {
    "person: Gmail": (100, person("gmail.example", GMAIL_HABIT, (ALTERNATIVE, PLAIN, ATTACHMENT, ALTERNATIVE))),
    "person: Microsoft 365, signed by the own domain": (
        95, person("firm.example", MICROSOFT, (ALTERNATIVE, HTML, ATTACHMENT))),
    "person: Microsoft 365, signed by the tenant alone": (
        25, person("office.example", MICROSOFT, (ALTERNATIVE, HTML), "office.onmicrosoft.example",
                   ("{0} signed-by office.onmicrosoft.example",))),
    "person: Google Workspace, signed by the tenant alone": (
        10, person("studio.example", GMAIL_HABIT, (ALTERNATIVE, PLAIN), "studio-example.20230601.gappssmtp.example",
                   ("{0} signed-by studio-example.20230601.gappssmtp.example",))),
    "person: Microsoft 365, with a Reply-To": (
        6, person("bureau.example", MICROSOFT, (ALTERNATIVE,), fields=(("Reply-To", "office@bureau.example"),))),
    "person: a server with OpenDKIM": (
        35, person("workshop.example", OPENDKIM, (PLAIN, FLOWED, ALTERNATIVE, ATTACHMENT, SIGNED, QUOTED))),
    "person: a server with OpenDKIM, a page of HTML": (4, person("workshop.example", OPENDKIM, (HTML,))),
    "person: a server with OpenDKIM, by Outlook": (9, person("workshop.example", OPENDKIM, (OUTLOOK,))),
    "person: a server with OpenDKIM, by Thunderbird with PGP": (1, person("workshop.example", OPENDKIM, (THUNDERBIRD,))),
    "person: a server with rspamd": (35, person("atelier.example", RSPAMD_HABIT, (PLAIN, ALTERNATIVE, ATTACHMENT, HTML))),
    "person: a server with Exim": (25, person("village.example", EXIM, (PLAIN, ALTERNATIVE, ATTACHMENT, HTML))),
    "person: SPF alone, listed by the address": (25, unsigned("club.example")),
    "person: SPF alone, listed by the domain": (15, unsigned("guild.example", entry="@guild.example")),
    "person: signed, listed by the domain": (25, Variants(partner, 2)),
    "person: neither SPF nor a signature": (10, unsigned("silent.example", spf="none")),
    "newsletter: Amazon SES, both signatures": (
        70, newsletter("news", "{0}", (("{0}", AMAZON), ("ses.example", AMAZON)), "eu.ses.example")),
    "newsletter: SendGrid, the sender's signature": (
        55, newsletter("offers", "{0}", (("{0}", SENDGRID_HABIT),), "em4711.{0}", fields=(("Reply-To", "x@y.example"),))),
    "newsletter: Mailgun, both signatures": (
        25, newsletter("mail", "{0}", (("{0}", MAILGUN_HABIT), ("mailgun.example", MAILGUN_HABIT)), "mailgun.example")),
    "newsletter: the service's signature alone": (
        30, newsletter("letter", "{0}", (("service.example", MAILCHIMP),), "mail42.service.example",
                       ("{0} signed-by service.example",), owner_of=small_shop)),
    "newsletter: a name below the sender's domain signs": (
        45, newsletter("info", "{0}", (("mg.{0}", MAILGUN_HABIT),), "mg.{0}", ("@{1} signed-by mg.{1}",))),
    "newsletter: From is of a name below, which signs": (
        55, newsletter("news", "mail.{0}", (("mail.{0}", AMAZON),), "bounce.mail.{0}")),
    "newsletter: From is of a name below, the domain signs": (
        20, newsletter("club", "letter.{0}", (("{0}", SENDGRID_HABIT),), "em1.{0}")),
    "newsletter: another customer of a service whose bounce address is listed": (5, Variants(other_customer, 3)),
    "ticket: a service that signs for the sender's domain": (
        25, newsletter("support", "{0}", (("{0}", SENDGRID_HABIT),), "desk.example")),
    "ticket: a service, From of its own domain": (
        20, newsletter("support", "tenant.desk.example", (("desk.example", SENDGRID_HABIT),), "desk.example")),
    "ticket: a service, its signature alone": (
        10, newsletter("help", "{0}", (("desk.example", SENDGRID_HABIT),), "desk.example",
                       ("{0} signed-by desk.example",), owner_of=small_shop)),
    "ticket: a system of one's own with OpenDKIM": (
        20, person("queue.example", OPENDKIM, (PLAIN, ALTERNATIVE), fields=(("Reply-To", "queue@queue.example"),))),
    "calendar: Google": (12, Variants(google_calendar)),
    "calendar: Outlook": (12, person("firm.example", MICROSOFT, (INVITATION,))),
    "calendar: text/calendar alone, OpenDKIM": (4, person("workshop.example", OPENDKIM, (CALENDAR_ALONE,))),
    "out of office: a null envelope sender": (12, out_of_office(True)),
    "out of office: an envelope sender": (6, out_of_office(False)),
    "forwarded: without SRS, signed": (15, forwarded("", "gmail.example", GMAIL_HABIT, uses_srs=False)),
    "forwarded: without SRS, not signed": (4, forwarded("", "forwarded.example", uses_srs=False)),
    "forwarded: SRS of a stranger, signed": (15, forwarded("alumni.example", "gmail.example", GMAIL_HABIT)),
    "forwarded: SRS of a trusted forwarder, signed": (15, forwarded(TRUSTED_FORWARDER, "gmail.example", GMAIL_HABIT)),
    "forwarded: SRS of a trusted forwarder, not signed": (4, forwarded(TRUSTED_FORWARDER, "forwarded.example")),
    "forwarded: SRS of a trusted forwarder that changes the subject": (
        4, forwarded(TRUSTED_FORWARDER, "village.example", EXIM, changes_subject=True)),
    "list: Mailman 3, From is the list's": (
        15, of_list(mailman_3, "lists.three.example", OPENDKIM, BOUNCES, is_munged=True)),
    "list: Mailman 3, From is the member's": (15, of_list(mailman_3, "lists.three.example", OPENDKIM, BOUNCES, MEMBERS)),
    "list: Mailman 2 behind Exim": (15, of_list(mailman_2, "lists.two.example", EXIM, BOUNCES, MEMBERS)),
    "list: Mailman 2 behind OpenDKIM": (8, of_list(mailman_2, "lists.old.example", OPENDKIM, BOUNCES, MEMBERS)),
    "list: Sympa": (12, of_list(sympa, "lists.sympa.example", SYMPA, OWNER, MEMBERS)),
    "list: Google Groups": (
        20, of_list(google_groups, "groups.example", GROUPS, "{0}@{1}", MEMBERS, SIGNED_BY)),
    "list: Discourse": (12, of_list(discourse, "forum.discourse.example", RSPAMD_HABIT, "notifications@{1}")),
}


def count_of(kind):
    return KINDS[kind][0] * MESSAGES // 1000


def mails_of(kind):
    """(message, how many messages of the week it stands for)."""
    variants, total = KINDS[kind][1], count_of(kind)
    return [(variants.make(number), len(range(number, total, variants.count)))
            for number in range(min(variants.count, total))]
