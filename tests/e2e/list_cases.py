"""Which messages of mailing lists test_list_software.py composes, by whom each is signed, and which are not recognised.

ORDINARY is every variant of each software with every signer that is usual behind it, if the signature covers Sender and
List-Id. NOT_RECOGNISED is what is known to be unrecognised although the list's host has signed it: each once, with its
reason. Some of that is common: both Mailman 2 and Sympa behind OpenDKIM as it is by default.
"""

import time
from dataclasses import dataclass
from email.utils import formatdate

from list_software import (MailingList, Post, described, discourse, google_groups, long_phrase, mailman_2, mailman_3,
                           mlmmj, sympa)
from mime_bodies import (ALTERNATIVE, ATTACHMENT, BASE_64, FLOWED, HTML, JAPANESE, OLD_NAME_OF_ASCII, OLD_OUTLOOK,
                         OUTLOOK, PLAIN, QUOTED, SIGNED, THUNDERBIRD)
from private_mail.signing import SigningKey, new_private_key
from signing_habits import (AMAZON, EXIM, GROUPS, MAILGUN_HABIT, OPENDKIM, OPENDKIM_WITH_SENDER, RSPAMD_HABIT,
                            SENDGRID_HABIT, SYMPA)

PRIVATE = new_private_key(1024)
MEMBER_KEY = SigningKey("member.example", private=PRIVATE)

# A list's host that is an organisational domain signs only by an entry that says so.
OWN_HOST, ORGANISATION, GROUP_HOST = "lists.example.org", "project.example", "googlegroups.com"
FORUM = "forum.example.net"


def announce(phrase="", host=OWN_HOST):
    return MailingList("announce", host, phrase)


def post(body=PLAIN, **more):
    return Post(body, key=MEMBER_KEY, **more)


def own_post(host):
    """Of a member in the host's own domain, whose mail that domain signs before it comes to the list."""
    return Post(key=SigningKey(host, private=PRIVATE), member=f"anna.berg@{host}")


MAILMAN_3 = {
    "plain text, VERP": mailman_3(announce(), post()),
    "a phrase, From is the list's": mailman_3(announce("Announcements"), post(), is_munged=True),
    "a phrase with a comma in quotes": mailman_3(announce(described("News, plans and more")), post(FLOWED)),
    "a phrase with quotes in quotes": mailman_3(announce(described('The "plan" list.')), post(QUOTED)),
    "an encoded phrase, replies to the list": mailman_3(announce(described("Grüße und Pläne")), post(BASE_64),
                                                        reply_to_list=True),
    "a long encoded phrase on several lines": mailman_3(announce(long_phrase(
        "Ankündigungen und Pläne für alle Mitglieder, die über Änderungen bald Bescheid wissen möchten")), post()),
    "in parts, a footer as another part": mailman_3(announce(), post(ALTERNATIVE)),
    "a page of HTML, a footer as another part": mailman_3(announce(), post(HTML)),
    "an attachment, no footer": mailman_3(announce(), post(ATTACHMENT), has_footer=False, verp=False),
    "signed by PGP": mailman_3(announce(), post(SIGNED), has_footer=False),
    "a digest": mailman_3(announce("Announcements"), post(), is_digest=True),
    "a list with a dot in its name": mailman_3(MailingList("physics.students", OWN_HOST), post()),
    "a host that is an organisational domain": mailman_3(announce("Project", ORGANISATION), post()),
}
MAILMAN_2 = {
    "plain text": mailman_2(announce("Announcements and plans"), post()),
    "From is the list's, VERP": mailman_2(announce(described("News, plans and more")), post(FLOWED), is_munged=True,
                                          verp=True),
    "an encoded phrase in quoted-printable": mailman_2(announce(described("Grüße und Pläne")), post(QUOTED)),
    "replies to the list, in parts": mailman_2(announce(), post(ALTERNATIVE), reply_to_list=True),
    "a long phrase on two lines": mailman_2(announce("Announcements of everything that is planned for the\r\n coming "
                                                     "year"), post(ATTACHMENT)),
    "a digest in plain text": mailman_2(announce("Announcements"), post(), is_digest=True, has_footer=False),
    "an answer": mailman_2(announce(), post(fields=(("In-Reply-To", "<1@x.example>"), ("References", "<1@x.example>")))),
    "a host that is an organisational domain": mailman_2(announce("Project", ORGANISATION), post()),
}
SYMPA_MAILS = {
    "plain text": sympa(announce(), post()),
    "From is the list's": sympa(announce(), post(FLOWED), is_munged=True),
    "replies to the list": sympa(announce(), post(QUOTED), reply_to_list=True),
    "in parts, VERP": sympa(announce(), post(ALTERNATIVE), verp=True),
    "an attachment without a footer": sympa(announce(), post(ATTACHMENT), has_footer=False),
    "signed by PGP": sympa(announce(), post(SIGNED), has_footer=False),
    "a host that is an organisational domain": sympa(announce(host=ORGANISATION), post()),
}
MLMMJ = {
    "plain text": mlmmj(announce("Announcements"), post()),
    "a phrase in UTF-8, with a footer": mlmmj(announce("Grüße und Pläne"), post(FLOWED), has_footer=True),
    "replies to the list, a subject with its name": mlmmj(announce(), post(QUOTED), reply_to_list=True,
                                                          has_prefix=True),
    "in parts": mlmmj(announce(), post(ALTERNATIVE)),
    "a comment before the list's name": mlmmj(announce("(a list of mlmmj)"), post(ATTACHMENT)),
    "a host that is an organisational domain": mlmmj(announce(host=ORGANISATION), post()),
}
GOOGLE = {
    "plain text": google_groups(announce(host=GROUP_HOST), post()),
    "From is the group's": google_groups(announce(host=GROUP_HOST), post(ALTERNATIVE), is_munged=True),
    "a subject with its name": google_groups(announce(host=GROUP_HOST), post(QUOTED), has_prefix=True),
    "an attachment": google_groups(announce(host=GROUP_HOST), post(ATTACHMENT)),
    "a group of an organisation's own domain": google_groups(announce(host=ORGANISATION), post(FLOWED)),
    "signed by PGP": google_groups(announce(host=GROUP_HOST), post(SIGNED)),
}
DISCOURSE = {
    "a category": discourse(MailingList("plans", FORUM, "Forum | Plans"), post()),
    "a category below another": discourse(MailingList("meetings.plans", FORUM, "Forum | Plans Meetings"), post()),
    "no category: the list is the host itself": discourse(MailingList("forum", "example.net", "Forum"), post(),
                                                           sending_host=FORUM),
}

# Software -> its messages, and who usually signs behind it.
ORDINARY = {
    "Mailman 3": (MAILMAN_3, (OPENDKIM, RSPAMD_HABIT, EXIM)),
    "Mailman 2": (MAILMAN_2, (EXIM, RSPAMD_HABIT, OPENDKIM_WITH_SENDER)),
    "Sympa": (SYMPA_MAILS, (SYMPA, RSPAMD_HABIT)),
    "mlmmj": (MLMMJ, (OPENDKIM, RSPAMD_HABIT)),
    "Google Groups": (GOOGLE, (GROUPS,)),
    "Discourse": (DISCOURSE, (OPENDKIM, RSPAMD_HABIT, EXIM)),
}


@dataclass(frozen=True)
class Case:
    name: str
    mail: object
    habit: object
    signer: str
    why_not: str = ""  # it is not recognised, for people
    wanted: str = ""  # and by what the program says so: an outcome of a step, or the reason

    def signed(self):
        return self.habit.sign(SigningKey(self.signer, private=PRIVATE), self.mail.raw)

    @property
    def entry(self):
        found = self.mail.mailing_list
        behind_first_label = found.id.partition(".")[2]
        own = self.signer in (found.id, behind_first_label) and self.signer not in (ORGANISATION, GROUP_HOST)
        if own:
            return f"list:{found.id}"
        below = f"*.{FORUM}" if behind_first_label.endswith(f".{FORUM}") else found.id
        return f"list:{below} signed-by {self.signer}"


def ordinary_cases():
    for software, (mails, habits) in ORDINARY.items():
        for habit in habits:
            for name, mail in mails.items():
                signer = FORUM if software == "Discourse" else mail.mailing_list.host
                yield Case(f"{software}, {habit.name}: {name}", mail, habit, signer)
    # OpenDKIM and Google Groups do not sign Content-Type, so what it says has to be known.
    for name, body in (("Outlook", OUTLOOK), ("Thunderbird with PGP", THUNDERBIRD), ("ASCII by its old name", OLD_NAME_OF_ASCII)):
        yield Case(f"mlmmj behind OpenDKIM, {name}", mlmmj(announce(), post(body)), OPENDKIM, OWN_HOST)
    yield Case("Google Groups, an old Outlook's parameter", google_groups(announce(host=GROUP_HOST), post(OLD_OUTLOOK)),
               GROUPS, GROUP_HOST)


PLANS = MailingList("plans", FORUM, "Forum | Plans")
TWO_WEEKS_AGO = formatdate(time.time() - 14 * 24 * 3600)

NOT_RECOGNISED = [
    Case("Mailman 2 behind OpenDKIM", MAILMAN_2["plain text"], OPENDKIM, OWN_HOST,
         "Mailman adds Sender, and OpenDKIM does not sign it unless told to", "field-added-sender"),
    Case("Sympa behind OpenDKIM", SYMPA_MAILS["plain text"], OPENDKIM, OWN_HOST,
         "Sympa adds Sender, and OpenDKIM does not sign it unless told to", "field-added-sender"),
    Case("mlmmj behind OpenDKIM, its footer behind a multipart", mlmmj(announce(), post(ALTERNATIVE), has_footer=True),
         OPENDKIM, OWN_HOST, "the last line of the body does not close it, and Content-Type is not signed",
         "field-added-content-type"),
    Case("mlmmj behind OpenDKIM, its footer behind base64", mlmmj(announce(), post(BASE_64), has_footer=True),
         OPENDKIM, OWN_HOST, "the body is not base64 to its end, and Content-Transfer-Encoding is not signed",
         "field-added-content-transfer-encoding"),
    Case("mlmmj behind OpenDKIM, a page of HTML", mlmmj(announce(), post(HTML)), OPENDKIM, OWN_HOST,
         "Content-Type is not signed, and HTML could be text that somebody made HTML", "field-added-content-type"),
    Case("Mailman 3 behind OpenDKIM, wrapped for DMARC", mailman_3(announce(), post(), wraps=True), OPENDKIM, OWN_HOST,
         "Content-Type is message/rfc822 and not signed", "field-added-content-type"),
    Case("Mailman 3 behind OpenDKIM, a member in the host's own domain", mailman_3(announce(), own_post(OWN_HOST)),
         OPENDKIM, OWN_HOST, "the member's own signature is of the same domain, and does not cover List-Id",
         "field-added-list-id"),
    Case("Google Groups, a member in the group's own domain", google_groups(announce(host=ORGANISATION),
                                                                           own_post(ORGANISATION)),
         GROUPS, ORGANISATION, "the same", "field-added-list-id"),
    Case("Google Groups, a text in ISO 2022", google_groups(announce(host=GROUP_HOST), post(JAPANESE)), GROUPS,
         GROUP_HOST, "Content-Type is not signed, and the bytes of ISO 2022 are ASCII to other readers",
         "field-added-content-type"),
    Case("Discourse by Mailgun", discourse(PLANS, post(), has_sender=True), MAILGUN_HABIT, FORUM,
         "Mailgun does not sign List-Id", "field-added-list-id"),
    Case("Discourse by Amazon SES", discourse(PLANS, post()), AMAZON, FORUM,
         "Amazon SES does not sign List-Id", "field-added-list-id"),
    Case("Discourse by SendGrid", discourse(PLANS, post()), SENDGRID_HABIT, FORUM,
         "SendGrid does not sign List-Id", "field-added-list-id"),
    Case("Discourse, a category that is not ASCII", discourse(MailingList(
        "xn--gnral-bsab", FORUM, "=?UTF-8?Q?Forum_|_G=C3=A9n=C3=A9ral_<g=C3=A9n=C3=A9ral.forum.example.net>?="), post()),
        RSPAMD_HABIT, FORUM, "the list's name is within the encoded word", "not-listed"),
    Case("Discourse, a category with an ampersand", discourse(MailingList("q&a", FORUM, "Forum | Q&A"), post()),
         RSPAMD_HABIT, FORUM, "the list's name is not a host name", "not-listed"),
    Case("Discourse, a title with a smile", discourse(MailingList("plans", FORUM, "Forum :) | Plans"), post()),
         RSPAMD_HABIT, FORUM, "a parenthesis that closes nothing: readers differ", "not-listed"),
    Case("Exim, held for a moderator for two weeks", mailman_3(announce(), post(date=TWO_WEEKS_AGO)), EXIM, OWN_HOST,
         "Exim writes no t=, so the signature is as old as the message", "too-old"),
]
