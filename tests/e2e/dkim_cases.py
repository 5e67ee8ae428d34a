"""Messages of a listed sender, signed well and badly: what has to be delivered, and what has to be checked. What is decided
by the text of a signature or of a key alone is in tests/milter/dkim (signature_choice_test.cpp, verifier_test.cpp)."""

import re
import time
from dataclasses import replace

from dkim_world import (ATTACKER, BELOW, ED25519, GENUINE, LISTED, LONG, ODD, OTHER, OTHER_ED25519, RSA, SHORT, checked,
                        delivered, key)
from mail_world import content
from private_mail.signing import RELAXED, RSA_SHA1, SIGNED_FIELDS, SIMPLE

TO_THE_LETTER = {"canonicalization": (SIMPLE, SIMPLE)}
FROM_TWICE = (*SIGNED_FIELDS, b"from")
HOUR = 3600


def seconds(from_now):
    return str(int(time.time()) + from_now).encode()


def tags(signer=RSA, raw=GENUINE, **values):
    """Signed with these tags of the signature in the place of its own; None leaves one out."""
    return signer.sign(raw, tags={name.encode(): value for name, value in values.items()})


def changed(raw, old, new):
    assert old in raw
    return raw.replace(old, new, 1)


def on_top(raw, *fields):
    return b"".join(field + b"\r\n" for field in fields) + raw


def broken(raw):
    """Its first signature does not verify."""
    head, separator, rest = raw.partition(b" bh=")
    return head + separator + (b"B" if rest[:1] == b"A" else b"A") + rest[1:]


def from_field(value, *fields, signer=RSA, **options):
    return signer.sign(content(value, *fields), **options)


LENIENT = "OpenDKIM believes a record that RFC 6376 forbids, in section 3.2 or 3.6.1"
UNREAD = "OpenDKIM does not read all that RFC 6376 allows"

BY_EVERY_WAY_OF_SIGNING = {
    "a signature with a key of 1024 bits": delivered(SHORT[1024].sign(GENUINE)),
    "a signature with a key of 4096 bits": delivered(LONG.sign(GENUINE)),
    "a signature that also covers a second From": delivered(RSA.sign(GENUINE, fields=FROM_TWICE)),
    "a signature of a domain above": delivered(from_field(BELOW)),
    "a signature of the very domain": delivered(from_field(BELOW, signer=key("test", "news.example.org"))),
    "a signature that ends in an hour": delivered(tags(x=seconds(HOUR))),
    "a signature with a space before its equals sign": delivered(
        RSA.sign(GENUINE, space=b" "), today=False, because=UNREAD),
    "an algorithm in capitals": delivered(tags(a=b"RSA-SHA256")),
    "a mailbox that looks like an encoded word": delivered(from_field(ODD)),
    "a signature without a time": delivered(tags(t=None)),
    "a signature of the envelope sender's domain, and From is another's": checked(
        RSA.sign(content("Anna <anna@other.example>")), path=LISTED),
    "no signature": checked(GENUINE),
    "a signature of another domain": checked(OTHER.sign(GENUINE)),
    "a signature of the attacker's": checked(ATTACKER.sign(GENUINE)),
}

DOES_NOT_COUNT = {
    "a length that leaves out the end": checked(RSA.sign(GENUINE, length=True) + b"Pay here.\r\n"),
    "a length of all": checked(RSA.sign(GENUINE, length=True)),
    "a length of nothing": checked(tags(l=b"0", bh=b"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")),
    "a length behind the end": checked(tags(l=b"1000")),
    "a key of 512 bits": checked(SHORT[512].sign(GENUINE)),
    "a key of 768 bits": checked(SHORT[768].sign(GENUINE)),
    "SHA-1": checked(RSA.sign(GENUINE, algorithm=RSA_SHA1), today=True, because=(
        "OpenDKIM accepts what nobody may accept any more (RFC 8301, section 3.1)")),
    "a signature that has ended": checked(tags(x=seconds(-HOUR), t=seconds(-2 * HOUR))),
    "a signature that ended before it was made": checked(tags(x=seconds(-HOUR), t=seconds(0))),
    "a signature of tomorrow": checked(tags(t=seconds(24 * HOUR))),
    "an identity below, where the key forbids it": checked(tags(key("strict"), i=b"@news.example.org")),
    "a From of two mailboxes": checked(from_field(f"{LISTED}, x@attacker.example")),
    "a second From on top": checked(on_top(RSA.sign(GENUINE), b"From: x@attacker.example")),
    "a second From at the end": checked(changed(
        RSA.sign(GENUINE), b"\r\n\r\n", b"\r\nFrom: x@attacker.example\r\n\r\n")),
    "two From fields that are both signed": checked(RSA.sign(
        on_top(GENUINE, b"From: x@attacker.example"), fields=FROM_TWICE)),
    "a hash of the body that is there twice": checked(changed(RSA.sign(GENUINE), b" bh=", b" bh=x; bh=")),
    "another version": checked(tags(v=b"2")),
    "no version": checked(tags(v=None)),
    "an unknown canonicalization": checked(changed(RSA.sign(GENUINE), b"relaxed/relaxed", b"relaxed/gentle")),
    "an unknown way to the key": checked(tags(q=b"http/txt")),
    "a signature without a signature": checked(
        b"DKIM-Signature: v=1; a=rsa-sha256; d=example.org; s=test\r\n" + GENUINE),
    "an empty signature": checked(b"DKIM-Signature:\r\n" + GENUINE),
}

# The attacker has a key for every name below attacker.example, and one at test._domainkey.org.
_NAME = b"test._domainkey.attacker.example"
TRICKS = {
    "a NUL behind d=": checked(tags(ATTACKER, d=b"example.org\0.attacker.example", i=None)),
    "a NUL before d= ends": checked(tags(ATTACKER, d=b"attacker.example\0.example.org", i=None)),
    "a NUL behind s=": checked(tags(ATTACKER, d=b"example.org", i=None, s=_NAME + b".\0")),
    "a NUL in i=": checked(tags(ATTACKER, i=b"@example.org\0@attacker.example")),
    "an escaped NUL behind s=": checked(tags(ATTACKER, d=b"example.org", i=None, s=_NAME + b".\\000")),
    "s= with a space": checked(tags(ATTACKER, d=b"example.org", i=None, s=_NAME + b". x")),
    "s= with a line end": checked(tags(ATTACKER, d=b"example.org", i=None, s=_NAME + b".\r\n x")),
    "d= with a space": checked(tags(ATTACKER, d=b"attacker.example example.org", i=None)),
    "d= with a line end": checked(tags(ATTACKER, d=b"attacker.example\r\n .example.org", i=None)),
    "d= with a backslash": checked(tags(ATTACKER, d=b"attacker\\.example.org", i=None)),
    "i= of ours, d= of the attacker": checked(tags(ATTACKER, i=b"listed@example.org")),
    "our signature, d= exchanged": checked(changed(RSA.sign(GENUINE), b"d=example.org", b"d=attacker.example")),
    "the attacker's signature, d= exchanged": checked(changed(
        ATTACKER.sign(GENUINE), b"d=attacker.example", b"d=example.org")),
    "a name of two From fields in one": checked(RSA.sign(
        content("x@attacker.example\r\nFrom : " + LISTED))),
}

CHANGED_ON_THE_WAY = {
    "a field added that is not signed": delivered(on_top(RSA.sign(GENUINE), b"List-Id: <list.example.org>")),
    "a field added that is signed once more": checked(on_top(
        RSA.sign(GENUINE, fields=(*SIGNED_FIELDS, b"subject")), b"Subject: pay")),
    "a second Subject on top of the one that is signed": checked(on_top(RSA.sign(GENUINE), b"Subject: pay")),
    "a signed field taken out": checked(changed(RSA.sign(GENUINE), b"Subject: test\r\n", b"")),
    "a signed field changed": checked(changed(RSA.sign(GENUINE), b"Subject: test", b"Subject: pay")),
    "From changed": checked(changed(RSA.sign(content("other@example.org")), b"other@", b"listed@")),
    "the body changed": checked(changed(RSA.sign(GENUINE), b"Hello", b"Hullo")),
    "words behind the body": checked(RSA.sign(GENUINE) + b"Pay here.\r\n"),
    "empty lines behind the body": delivered(RSA.sign(GENUINE) + b"\r\n\r\n"),
    "spaces in the body, not to the letter": delivered(changed(
        RSA.sign(content(LISTED, body=b"Hello you.\r\n")), b"Hello you", b"Hello   you")),
    "spaces in the body, to the letter": checked(changed(
        RSA.sign(content(LISTED, body=b"Hello you.\r\n"), **TO_THE_LETTER), b"Hello you", b"Hello   you")),
    "spaces in the header, not to the letter": delivered(changed(
        RSA.sign(GENUINE), b"Subject: test", b"SUBJECT:   test  ")),
    "spaces in the header, to the letter": checked(changed(
        RSA.sign(GENUINE, **TO_THE_LETTER), b"Subject: test", b"Subject:  test")),
}


MIME = (*SIGNED_FIELDS, b"mime-version")
PARTS = b"--outer\r\n\r\nHello.\r\n--inner\r\n\r\nPay here.\r\n--inner--\r\n--outer--\r\n"


def in_parts(boundary, fields=MIME):
    """A multipart with another one in it, and a Content-Type that is signed only if fields names it."""
    return RSA.sign(content(LISTED, b"MIME-Version: 1.0", b"Content-Type: multipart/mixed; boundary=" + boundary,
                            body=PARTS), fields=fields)


# A good signature that covers too little.
UNSEEN = "where others verify, Bloomgate does not see the body"

LEAVES_OPEN = {
    "a Subject that is not signed": checked(RSA.sign(GENUINE, fields=(b"from", b"date"))),
    "a Reply-To on top": checked(on_top(RSA.sign(GENUINE), b"Reply-To: x@attacker.example")),
    "a Sender on top": checked(on_top(RSA.sign(GENUINE), b"Sender: x@attacker.example")),
    "a Content-Type with its MIME-Version on top": checked(
        on_top(RSA.sign(GENUINE), b"MIME-Version: 1.0", b"Content-Type: multipart/mixed; boundary=x"),
        today=True, because=UNSEEN),
    "a Subject with a tab before its colon on top": checked(
        on_top(RSA.sign(GENUINE, fields=(*SIGNED_FIELDS, b"subject")), b"Subject\t: pay")),
    "a multipart whose type is not signed": delivered(in_parts(b"outer")),
    "a multipart of which no field is signed": delivered(in_parts(b"outer", SIGNED_FIELDS)),
    "the boundary of an inner part": checked(in_parts(b"inner"), today=True, because=UNSEEN),
    "the boundary of an inner part that is signed": delivered(in_parts(b"inner", (*MIME, b"content-type"))),
    "an encoding that the body does not have": checked(
        on_top(RSA.sign(GENUINE), b"Content-Transfer-Encoding: base64"), today=True, because=UNSEEN),
    "a signature of eleven days ago": checked(tags(t=seconds(-11 * 24 * HOUR))),
    "a signature of nine days ago": delivered(tags(t=seconds(-9 * 24 * HOUR))),
}




def beside_worthless(byte):
    """A good signature that leaves the Subject open, with a byte in its b= that some verifiers ignore, below one that
    covers it, does not verify, and begins in the same way."""
    opened, covering = RSA.sign(GENUINE, fields=(b"from", b"date")), RSA.sign(GENUINE).removesuffix(GENUINE)
    start = re.compile(rb"(;\s*b=)(.{8})")
    worthless = start.sub(lambda found: found[1] + start.search(opened)[2], covering)
    return worthless + start.sub(lambda found: found[1] + byte + found[2], opened)


LEAVES_OPEN |= {
    "an open signature below a worthless one of the same name": checked(beside_worthless(b"")),
    "the same with a vertical tab in its b=": checked(beside_worthless(b"\v")),
    "the same with an asterisk in its b=": checked(beside_worthless(b"*")),
}


def many(count, signer):
    """As many signatures, none of which verifies."""
    raw = broken(signer.sign(GENUINE))
    return raw[:-len(GENUINE)] * count


ONLY_THREE = "OpenDKIM verifies the first three, whosever they are (MaximumSignaturesToVerify)"

SEVERAL_SIGNATURES = {
    "a broken one above a good one": delivered(broken(key("test").sign(RSA.sign(GENUINE)))),
    "a broken one below a good one": delivered(RSA.sign(broken(key("test").sign(GENUINE)))),
    "both algorithms": delivered(ED25519.sign(RSA.sign(GENUINE))),
    "one that leaves the Subject open above a good one": delivered(
        ED25519.sign(RSA.sign(GENUINE), fields=(b"from", b"date"))),
    "one that leaves the Subject open below a good one": delivered(
        RSA.sign(ED25519.sign(GENUINE, fields=(b"from", b"date")))),
    "one of another domain above a good one": delivered(OTHER.sign(RSA.sign(GENUINE))),
    "one of another domain below a good one": delivered(RSA.sign(OTHER.sign(GENUINE))),
    "a good one of another domain above a broken one": checked(OTHER.sign(broken(RSA.sign(GENUINE)))),
    "a good one of another domain below a broken one": checked(broken(RSA.sign(OTHER.sign(GENUINE)))),
    "one whose name server fails above a good one": delivered(key("servfail").sign(RSA.sign(GENUINE))),
    "one whose name server fails below a good one": delivered(RSA.sign(key("servfail").sign(GENUINE))),
    "a good one below three broken ones": delivered(
        many(3, ED25519) + RSA.sign(GENUINE), today=False, because=ONLY_THREE),
    "a good one below four broken ones": checked(many(4, ED25519) + RSA.sign(GENUINE)),
    "one that signs another": delivered(
        RSA.sign(OTHER.sign(GENUINE), fields=(*SIGNED_FIELDS, b"dkim-signature"))),
    "63 of another domain above a good one": delivered(
        many(63, OTHER_ED25519) + RSA.sign(GENUINE), today=False, because=ONLY_THREE),
    "64 broken ones": checked(many(64, ED25519) + GENUINE),
}

# What the name server says of the key.
NAMES = {
    "a key in many strings": delivered(key("in-pieces").sign(GENUINE)),
    "a key for mail": delivered(key("for-email").sign(GENUINE)),
    "a key elsewhere, by CNAME": delivered(key("alias").sign(GENUINE)),
    "a key after 50 ms": delivered(key("slow").sign(GENUINE)),
    "a key that allows no domain below": delivered(tags(key("strict"), i=None)),
    "two keys": checked(key("two-keys").sign(GENUINE)),
    "a key with a NUL before it": checked(key("with-a-nul").sign(GENUINE)),
    "no such name": checked(key("missing").sign(GENUINE)),
    "no record": checked(key("nothing").sign(GENUINE)),
    "SERVFAIL": checked(key("servfail").sign(GENUINE)),
    "REFUSED": checked(key("refused").sign(GENUINE)),
    "a broken reply": checked(key("broken").sign(GENUINE)),
    "a key of 20 kB": checked(key("huge").sign(GENUINE)),
    "a loop of CNAMEs": checked(key("loop").sign(GENUINE)),
    "a key of another version": checked(key("version-2").sign(GENUINE)),
    "a key whose version is not its first tag": checked(key("version-last").sign(GENUINE), today=True, because=LENIENT),
    "a key of a domain that tries out DKIM": checked(key("testing").sign(GENUINE), today=True, because=LENIENT),
    "a key that is there twice in its record": checked(key("revoked-and-not").sign(GENUINE), today=True, because=LENIENT),
    "a key of another kind": checked(key("another-kind").sign(GENUINE), today=True, because=LENIENT),
    "a key as PKCS 1": delivered(key("pkcs-1").sign(GENUINE), today=False, because=UNREAD),
    "a key of somebody else's": checked(key("of-another").sign(GENUINE)),
}


def to_the_letter(field, **options):
    return delivered(RSA.sign(content(LISTED, field), fields=(*SIGNED_FIELDS, field.partition(b":")[0].lower()),
                              **TO_THE_LETTER), **options)


def with_body(body, canonicalization=(SIMPLE, SIMPLE), **options):
    return delivered(RSA.sign(content(LISTED, body=body), canonicalization=canonicalization), **options)


AS_THEY_COME = {
    "a field without a space": to_the_letter(b"X-Field:value"),
    "a field with two spaces": to_the_letter(b"X-Field:  value"),
    "a field with a tab": to_the_letter(b"X-Field:\tvalue"),
    "a field with spaces at its end": to_the_letter(b"X-Field: value   "),
    "a field with nothing in it": to_the_letter(b"X-Field:"),
    "a field with a space in it": to_the_letter(b"X-Field: "),
    "a folded field": to_the_letter(b"X-Field: one\r\n\ttwo\r\n   three"),
    "a field that begins with a fold": to_the_letter(b"X-Field:\r\n value"),
    "a field of 900 bytes": to_the_letter(b"X-Field: " + b"x" * 900),
    "a field in capitals": to_the_letter(b"X-FIELD: value"),
    "a field in 8 bits": to_the_letter(b"X-Field: caf\xe9"),
    "an empty body": with_body(b""),
    "an empty body, relaxed": with_body(b"", (RELAXED, RELAXED)),
    "a body of empty lines": with_body(b"\r\n\r\n\r\n"),
    "a body that ends in empty lines": with_body(b"Hello.\r\n\r\n\r\n"),
    "a body with dots": with_body(b".\r\n..\r\n.x\r\nend\r\n"),
    "a body with spaces at line ends": with_body(b"Hello. \r\n \r\n\t\r\nend\t \r\n"),
    "a body in 8 bits": with_body(b"caf\xe9 \xff\xfe\r\n"),
    "a body in UTF-8": with_body("Grüße, 你好\r\n".encode()),
    "a line of 900 bytes": with_body(b"x" * 900 + b"\r\n"),
    "a line of 5000 bytes": with_body(b"x" * 5000 + b"\r\n", postfix_only=True),
    "a body of 200 kB": with_body(b"0123456789abcdef" * 4 + b"\r\n" + (b"y" * 70 + b"\r\n") * 2800),
    "a header in UTF-8": delivered(
        RSA.sign(content(f"Jörg <{LISTED}>", subject="Grüße".encode()), **TO_THE_LETTER), smtputf8=True,
        postfix_only=True),
}


# Postfix changes or takes out a field before any milter sees it: see test_verify_dkim's header checks.
def with_field(field, signed, **options):
    name = field.partition(b":")[0].lower()
    raw = RSA.sign(content(LISTED, field), fields=(*SIGNED_FIELDS, *([name] if signed else [])))
    return (checked if signed else delivered)(raw, postfix_only=True, **options)


EDITED_BY_POSTFIX = {
    f"{what}, {'signed' if signed else 'not signed'}": with_field(field, signed)
    for what, field in {
        "a field that Postfix replaces": b"X-Replaced: x", "a field that Postfix takes out": b"X-Taken-Out: x",
        "a mark that Postfix takes out": b"X-Bloomgate: deliver",
        "a field that Postfix cuts off": b"X-Long: " + (b"y" * 70 + b"\r\n ") * 2000 + b"z"}.items()
    for signed in (True, False)
} | {"a field that makes Postfix add another": delivered(RSA.sign(
    content(LISTED, b"X-Prepends: x"), fields=(*SIGNED_FIELDS, b"x-prepends")), postfix_only=True)}

# What Bloomgate's verifier says in its log (dkim=) of those that are checked.
FOUND = {
    "no-signature": (
        "no signature", "a signature of another domain", "a signature of the attacker's", "an empty signature",
        "i= of ours, d= of the attacker", "our signature, d= exchanged"),
    "body-not-covered": (
        "a length that leaves out the end", "a length of all", "a length of nothing", "a length behind the end"),
    "key-too-short": ("a key of 512 bits", "a key of 768 bits"),
    "weak-algorithm": ("SHA-1",),
    "expired": ("a signature that has ended", "a signature that ended before it was made"),
    "not-yet-valid": ("a signature of tomorrow",),
    "subdomain-not-allowed": ("an identity below, where the key forbids it",),
    "foreign-identity": ("the attacker's signature, d= exchanged",),
    "malformed-signature": (
        "another version", "no version", "an unknown canonicalization", "an unknown way to the key",
        "a signature without a signature", "a hash of the body that is there twice"),
    "header-changed": (
        # The mail servers take the tab away before a milter sees the field.
        "a Subject with a tab before its colon on top",
        "a field added that is signed once more", "a signed field taken out", "a signed field changed",
        "From changed", "spaces in the header, to the letter", "a good one of another domain above a broken one",
        "a good one of another domain below a broken one", "a good one below four broken ones", "64 broken ones",
        "a key of somebody else's", "a field that Postfix replaces, signed",
        "a field that Postfix takes out, signed", "a mark that Postfix takes out, signed",
        "a field that Postfix cuts off, signed"),
    "field-added-subject": (
        "a second Subject on top of the one that is signed", "a Subject that is not signed"),
    "field-added-reply-to": ("a Reply-To on top",),
    "field-added-sender": ("a Sender on top",),
    "field-added-content-type": (
        "a Content-Type with its MIME-Version on top", "the boundary of an inner part"),
    "field-added-content-transfer-encoding": ("an encoding that the body does not have",),
    "too-old": ("a signature of eleven days ago",),
    "body-changed": ("the body changed", "words behind the body", "spaces in the body, to the letter"),
    "several-keys": ("two keys",),
    "key-malformed": (
        "a key with a NUL before it", "a key of another version", "a key whose version is not its first tag",
        "a key that is there twice in its record"),
    "key-in-test-mode": ("a key of a domain that tries out DKIM",),
    "key-not-for-this": ("a key of another kind",),
    "key-not-found": ("no such name", "no record"),
    "name-server-failed": ("SERVFAIL", "REFUSED", "a broken reply", "a loop of CNAMEs"),
    "key-too-long": ("a key of 20 kB",),
}

_CASES = (BY_EVERY_WAY_OF_SIGNING | DOES_NOT_COUNT | TRICKS | CHANGED_ON_THE_WAY | LEAVES_OPEN | SEVERAL_SIGNATURES | NAMES
          | AS_THEY_COME | EDITED_BY_POSTFIX)
_FOUND = {name: found for found, names in FOUND.items() for name in names}
CASES = {name: replace(case, found=_FOUND.get(name, "")) for name, case in _CASES.items()}
