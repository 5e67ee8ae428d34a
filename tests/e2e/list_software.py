"""Messages of mailing lists, as their software makes them by its documents and source: Mailman 3.3 and 2.1, Sympa 6.2,
mlmmj, Google Groups and Discourse. test_list_software.py has them signed and decided.

The order of the fields is that of the software. What a member's program wrote comes first, what the list adds after it.
"""

from dataclasses import dataclass, field
from email.header import Header
from email.utils import formataddr, formatdate

from mime_bodies import (ALTERNATIVE, PLAIN, Body, composed, is_plain, lines, multipart, part, with_footer_part,
                         with_footer_text)
from signing_habits import GMAIL_HABIT

MEMBER = "anna.berg@member.example"
OURS = "user@ours.example"
VERP_OURS = OURS.replace("@", "=")


@dataclass(frozen=True)
class MailingList:
    name: str
    host: str
    phrase: str = ""  # as it stands before the angle bracket, with its quotes or encoded words

    @property
    def id(self):
        return f"{self.name}.{self.host}"

    @property
    def address(self):
        return f"{self.name}@{self.host}"

    def of(self, word):
        return f"{self.name}-{word}@{self.host}"

    @property
    def list_id(self):
        return f"{self.phrase} <{self.id}>".strip()

    def url(self, path):
        return f"<https://{self.host}/{path}>"


@dataclass(frozen=True)
class ListMail:
    mailing_list: MailingList
    envelope: str
    raw: bytes  # unsigned by the list


@dataclass(frozen=True)
class Post:
    """What the member sent. key: that of the member's domain, if it signs; its signature no longer holds then."""

    body: Body = PLAIN
    subject: str = "the plan"
    fields: tuple = ()
    key: object = field(default=None, compare=False)
    date: str = ""
    member: str = MEMBER

    def own_fields(self, mailing_list):
        return [("From", f"Anna Berg <{self.member}>"), ("To", mailing_list.address), ("Subject", self.subject),
                ("Date", self.date or formatdate()), ("Message-ID", "<4711@mail.member.example>"), *self.fields]

    def signature(self, mailing_list):
        """[(name, value)] of the signature of the member's server."""
        if self.key is None:
            return []
        raw = composed([*self.own_fields(mailing_list), *self.body.with_fields()], self.body)
        text = GMAIL_HABIT.sign(self.key, raw).removesuffix(raw).decode()
        name, _, value = text.rstrip("\r\n").partition(": ")
        return [(name, value)]


ARC = [("ARC-Seal", "i=1; a=rsa-sha256; t=1795600800; cv=none; d=member.example; s=arc; b=Zm9v"),
       ("ARC-Message-Signature", "i=1; a=rsa-sha256; c=relaxed/relaxed; d=member.example; s=arc;\r\n"
                                 "\th=from:to:subject:date; bh=Zm9v; b=YmFy"),
       ("ARC-Authentication-Results", "i=1; mx.member.example; dkim=pass header.d=member.example")]


def munged(fields, mailing_list, reply_field="Reply-To"):
    """From of the list, and the member's own in another field."""
    own = dict(fields)["From"]
    kept = [each for each in fields if each[0] not in ("From", reply_field)]
    display = mailing_list.name.capitalize()
    return [*kept, ("From", f"Anna Berg via {display} <{mailing_list.address}>"), (reply_field, own)]


def prefixed(fields, mailing_list):
    return [(name, f"[{mailing_list.name.capitalize()}] {value}" if name == "Subject" else value)
            for name, value in fields]


def footed(body, footer):
    return with_footer_text(body, footer) if is_plain(body) else with_footer_part(body, footer)


def described(text):
    """A phrase as Python's formataddr() writes it, which both versions of Mailman call: quoted or encoded if need be."""
    return formataddr((text, "x@x")).removesuffix(" <x@x>")


def long_phrase(text, charset="utf-8"):
    """Encoded words, on several lines."""
    return Header(text, charset, maxlinelen=60, header_name="List-Id").encode(linesep="\r\n")


def mailman_3(mailing_list, post, is_munged=False, reply_to_list=False, has_footer=True, verp=True, wraps=False,
              is_digest=False):
    body, fields = post.body, post.own_fields(mailing_list)
    if is_digest:
        fields = [("From", mailing_list.of("request")), ("To", mailing_list.address),
                  ("Subject", f"{mailing_list.name.capitalize()} Digest, Vol 7, Issue 12"), ("Date", formatdate()),
                  ("Message-ID", f"<0815@{mailing_list.host}>")]
        body = multipart("mixed", "===============1111==", part(lines("Today's topics:"), ("Content-Type", "text/plain")),
                         part(part(body.text, ("Subject", post.subject), *body.fields),
                              ("Content-Type", "message/rfc822")))
    if wraps:
        body = Body((("Content-Type", "message/rfc822"), ("Content-Disposition", "inline")), composed(fields, body))
    fields = prefixed(fields, mailing_list)
    if is_munged or wraps:
        fields = munged(fields, mailing_list)
    if has_footer and not wraps:
        body = footed(body, lines("_" * 47, f"{mailing_list.name} mailing list -- {mailing_list.address}",
                                  f"To unsubscribe send an email to {mailing_list.of('leave')}"))
    if reply_to_list:
        fields = [each for each in fields if each[0] != "Reply-To"] + [
            ("Reply-To", formataddr((mailing_list.name.capitalize(), mailing_list.address)))]
    subject = [each for each in fields if each[0] == "Subject"]
    fields = [*([] if is_munged or wraps or is_digest else post.signature(mailing_list)),
              *(each for each in fields if each[0] != "Subject"), ("MIME-Version", "1.0"), ("Message-ID-Hash", "J6ZW3AQ5XQ2DPQ4M"), ("X-Message-ID-Hash", "J6ZW3AQ5XQ2DPQ4M"),
              ("X-MailFrom", MEMBER), ("X-Mailman-Rule-Misses", "dmarc-mitigation; no-senders; approved; loop"),
              ("X-Mailman-Version", "3.3.8"), ("Precedence", "list"), *subject, ("List-Id", mailing_list.list_id),
              ("Archived-At", mailing_list.url("archives/J6ZW3AQ5")), ("List-Archive", mailing_list.url("archives/")),
              ("List-Help", f"<mailto:{mailing_list.of('request')}?subject=help>"),
              ("List-Owner", f"<mailto:{mailing_list.of('owner')}>"), ("List-Post", f"<mailto:{mailing_list.address}>"),
              ("List-Subscribe", f"<mailto:{mailing_list.of('join')}>"),
              ("List-Unsubscribe", f"<mailto:{mailing_list.of('leave')}>"), *body.fields]
    bounces = mailing_list.of(f"bounces+{VERP_OURS}" if verp else "bounces")
    return ListMail(mailing_list, bounces, composed(fields, body))


def mailman_2(mailing_list, post, is_munged=False, reply_to_list=False, has_footer=True, verp=False, is_digest=False):
    body, fields = post.body, prefixed(post.own_fields(mailing_list), mailing_list)
    if has_footer:
        body = footed(body, lines("_" * 47, f"{mailing_list.name} mailing list", mailing_list.address,
                                  f"https://{mailing_list.host}/mailman/listinfo/{mailing_list.name}"))
    if is_digest:
        body = Body((("Content-Type", 'text/plain; charset="us-ascii"'), ("Content-Transfer-Encoding", "7bit")),
                    lines(f"Send {mailing_list.name} mailing list submissions to", mailing_list.address, "",
                          "Today's Topics:", "", "   1. the plan (Anna Berg)"))
        fields = [("From", mailing_list.of("request")), ("Subject", f"{mailing_list.name} Digest, Vol 3, Issue 1"),
                  ("To", mailing_list.address), ("Reply-To", mailing_list.address), ("Date", formatdate()),
                  ("Message-ID", f"<mailman.1.4711@{mailing_list.host}>")]
    if is_munged:
        fields = munged(fields, mailing_list)
    if reply_to_list and not is_digest:
        fields = [each for each in fields if each[0] != "Reply-To"] + [("Reply-To", mailing_list.address)]
    request, listinfo = mailing_list.of("request"), f"mailman/listinfo/{mailing_list.name}"
    fields = [*([] if is_munged or is_digest else post.signature(mailing_list)), *fields,
              ("X-BeenThere", mailing_list.address), ("X-Mailman-Version", "2.1.39"), ("Precedence", "list"),
              ("List-Id", mailing_list.list_id),
              ("List-Unsubscribe", f"{mailing_list.url(listinfo)},\r\n <mailto:{request}?subject=unsubscribe>"),
              ("List-Archive", mailing_list.url(f"pipermail/{mailing_list.name}/")),
              ("List-Post", f"<mailto:{mailing_list.address}>"), ("List-Help", f"<mailto:{request}?subject=help>"),
              ("List-Subscribe", f"{mailing_list.url(listinfo)},\r\n <mailto:{request}?subject=subscribe>"),
              *body.with_fields(), ("Errors-To", mailing_list.of("bounces")),
              ("Sender", f'"{mailing_list.name.capitalize()}" <{mailing_list.of("bounces")}>')]
    bounces = mailing_list.of(f"bounces+{VERP_OURS}" if verp else "bounces")
    return ListMail(mailing_list, bounces, composed(fields, body))


def sympa(mailing_list, post, is_munged=False, reply_to_list=False, has_footer=True, verp=False):
    body, fields = post.body, prefixed(post.own_fields(mailing_list), mailing_list)
    if is_munged:
        own = formataddr((f"Anna Berg ({MEMBER} via {mailing_list.name} Mailing List)", mailing_list.address))
        fields = [("From", own), *(each for each in fields if each[0] != "From"), ("Reply-To", f"Anna Berg <{MEMBER}>")]
    elif reply_to_list:
        fields += [("Reply-To", mailing_list.address)]
    if has_footer:
        body = footed(body, lines("", "", f"Unsubscribe: https://{mailing_list.host}/sigrequest/{mailing_list.name}"))
    sympa_address = f"sympa@{mailing_list.host}"
    fields = [*([] if is_munged else post.signature(mailing_list)), *fields, *body.with_fields(),
              ("X-Loop", mailing_list.address), ("X-Sequence", "4711"), ("Errors-To", mailing_list.of("owner")),
              ("Precedence", "list"), ("Precedence", "bulk"), ("Sender", mailing_list.of("request")),
              ("X-no-archive", "yes"), ("List-Id", mailing_list.list_id),
              ("List-Help", f"<mailto:{sympa_address}?subject=help>"),
              ("List-Subscribe", f"<mailto:{sympa_address}?subject=subscribe%20{mailing_list.name}>"),
              ("List-Unsubscribe", f"<mailto:{sympa_address}?subject=unsubscribe%20{mailing_list.name}>"),
              ("List-Post", f"<mailto:{mailing_list.address}>"), ("List-Owner", f"<mailto:{mailing_list.of('request')}>"),
              ("List-Archive", mailing_list.url(f"arc/{mailing_list.name}"))]
    envelope = f"bounce+4711+user==a==ours.example@{mailing_list.host}" if verp else mailing_list.of("owner")
    return ListMail(mailing_list, envelope, composed(fields, body))


def mlmmj(mailing_list, post, reply_to_list=False, has_footer=False, has_prefix=False):
    """List-Id and the like are the operator's own lines (control/customheaders). They come above the member's."""
    body, fields = post.body, post.own_fields(mailing_list)
    if has_prefix:
        fields = prefixed(fields, mailing_list)
    if has_footer:  # whatever the body is: mlmmj writes it at its end
        body = Body(body.fields, body.text + lines("-- ", f"To unsubscribe: {mailing_list.name}+unsubscribe"))
    own = [("List-Id", mailing_list.list_id), ("List-Post", f"<mailto:{mailing_list.address}>"),
           ("List-Help", f"<mailto:{mailing_list.name}+help@{mailing_list.host}>"),
           ("List-Unsubscribe", f"<mailto:{mailing_list.name}+unsubscribe@{mailing_list.host}>"),
           ("List-Subscribe", f"<mailto:{mailing_list.name}+subscribe@{mailing_list.host}>"), ("Precedence", "list"),
           *([("Reply-To", mailing_list.address)] if reply_to_list else [])]
    fields = [*own, *post.signature(mailing_list), *fields, *body.with_fields()]
    return ListMail(mailing_list, f"{mailing_list.name}+bounces-4711-{VERP_OURS}@{mailing_list.host}",
                    composed(fields, body))


def google_groups(mailing_list, post, is_munged=False, has_prefix=False):
    fields = post.own_fields(mailing_list)
    if has_prefix:
        fields = prefixed(fields, mailing_list)
    if is_munged:
        fields = munged(fields, mailing_list)
    fields = [*ARC, *([] if is_munged else post.signature(mailing_list)), *fields,
              ("Sender", mailing_list.address), ("X-Original-Sender", MEMBER),
              ("X-Original-Authentication-Results", "gmr-mx.google.com; dkim=pass header.i=@member.example"),
              *post.body.with_fields(), ("Precedence", "list"),
              ("Mailing-list", f"list {mailing_list.address}; contact {mailing_list.name}+owners@{mailing_list.host}"),
              ("List-ID", mailing_list.list_id), ("X-Spam-Checked-In-Group", mailing_list.address),
              ("List-Post", f"<https://groups.google.com/group/{mailing_list.name}/post>,\r\n"
                            f" <mailto:{mailing_list.address}>"),
              ("List-Help", "<https://support.google.com/groups>"),
              ("List-Archive", f"<https://groups.google.com/group/{mailing_list.name}>"),
              ("List-Subscribe", f"<mailto:{mailing_list.name}+subscribe@{mailing_list.host}>"),
              ("List-Unsubscribe", f"<mailto:googlegroups-manage+4711+unsubscribe@{mailing_list.host}>")]
    return ListMail(mailing_list, f"{mailing_list.name}+bncBC65ZG75XIPRBG5ATGEQMGQ@{mailing_list.host}",
                    composed(fields, post.body))


def discourse(mailing_list, post, sending_host=None, has_sender=False):
    """sending_host: of its From and envelope, if that is not the forum's own."""
    host = sending_host or mailing_list.host
    fields = [("From", f"Anna Berg via Forum <notifications@{host}>"), ("To", OURS), ("Date", formatdate()),
              ("Reply-To", f"Forum <replies+0123456789abcdef@{host}>"),
              ("Message-ID", f"<discourse/post/4711@{mailing_list.host}>"),
              ("In-Reply-To", f"<discourse/post/4700@{mailing_list.host}>"),
              ("References", f"<discourse/post/4700@{mailing_list.host}>"),
              ("Subject", f"[Forum] {post.subject}"), *ALTERNATIVE.with_fields(),
              ("List-Unsubscribe", mailing_list.url("email/unsubscribe/abcdef")),
              ("X-Auto-Response-Suppress", "All"), ("Auto-Submitted", "auto-generated"), ("Precedence", "list"),
              ("List-ID", mailing_list.list_id), ("List-Archive", mailing_list.url("t/the-plan/4711")),
              *([("Sender", f"notifications@{host}")] if has_sender else [])]
    return ListMail(mailing_list, f"bounces+0123456789abcdef@{host}", composed(fields, ALTERNATIVE))
