"""Bodies as mail programs write them, with the header fields about them."""

import base64
from dataclasses import dataclass


@dataclass(frozen=True)
class Body:
    fields: tuple  # (name, value) of the fields about it
    text: bytes

    def with_fields(self, *fields):
        return [("MIME-Version", "1.0"), *self.fields, *fields]


def lines(*text):
    return "".join(f"{line}\r\n" for line in text).encode()


def part(text, *fields):
    return b"".join(f"{name}: {value}\r\n".encode() for name, value in fields) + b"\r\n" + text


def multipart(kind, boundary, *parts, more=""):
    text = b"".join(b"--" + boundary.encode() + b"\r\n" + each for each in parts)
    return Body((("Content-Type", f'multipart/{kind};{more} boundary="{boundary}"'),),
                text + b"--" + boundary.encode() + b"--\r\n")


UTF_8 = ("Content-Type", 'text/plain; charset="utf-8"')
HTML_TYPE = ("Content-Type", 'text/html; charset="utf-8"')
HELLO = lines("Hello,", "", "the meeting is on Monday.", "")
PAGE = lines("<p>Hello,</p><p>the meeting is on Monday.</p>")
CALENDAR = lines("BEGIN:VCALENDAR", "METHOD:REPLY", "END:VCALENDAR")

PLAIN = Body((("Content-Type", "text/plain; charset=us-ascii"), ("Content-Transfer-Encoding", "7bit")), HELLO)
FLOWED = Body((("Content-Type", "text/plain; charset=UTF-8; format=flowed"), ("Content-Transfer-Encoding", "8bit")),
              HELLO + "Grüße\r\n".encode())
QUOTED = Body((UTF_8, ("Content-Transfer-Encoding", "quoted-printable")), HELLO + b"Gr=C3=BC=C3=9Fe\r\n")
BASE_64 = Body((UTF_8, ("Content-Transfer-Encoding", "base64")),
               base64.encodebytes(HELLO + "Grüße\r\n".encode()).replace(b"\n", b"\r\n"))
HTML = Body((HTML_TYPE, ("Content-Transfer-Encoding", "7bit")), PAGE)
ALTERNATIVE = multipart("alternative", "000000000000a1b2c3", part(HELLO, UTF_8), part(PAGE, HTML_TYPE))
ATTACHMENT = multipart("mixed", "=-mixed-4711", part(HELLO, UTF_8), part(
    base64.encodebytes(b"%PDF-1.7 plan").replace(b"\n", b"\r\n"), ("Content-Type", 'application/pdf; name="plan.pdf"'),
    ("Content-Disposition", 'attachment; filename="plan.pdf"'), ("Content-Transfer-Encoding", "base64")))
SIGNED = multipart("signed", "sig-0815", part(HELLO, UTF_8), part(
    lines("-----BEGIN PGP SIGNATURE-----", "-----END PGP SIGNATURE-----"),
    ("Content-Type", 'application/pgp-signature; name="signature.asc"')),
    more=' micalg=pgp-sha512; protocol="application/pgp-signature";')
# What mail programs write before the first part: Outlook, and Thunderbird where it signs.
OUTLOOK = Body(ALTERNATIVE.fields, b"This is a multipart message in MIME format.\r\n\r\n" + ALTERNATIVE.text)
THUNDERBIRD = Body(SIGNED.fields, b"This is an OpenPGP/MIME signed message (RFC 4880 and 3156)\r\n" + SIGNED.text)
OLD_NAME_OF_ASCII = Body((("Content-Type", "text/plain; charset=ANSI_X3.4-1968"),
                          ("Content-Transfer-Encoding", "8bit")), HELLO)
JAPANESE = Body((("Content-Type", "text/plain; charset=iso-2022-jp"), ("Content-Transfer-Encoding", "7bit")),
                "こんにちは\r\n".encode("iso-2022-jp"))
OLD_OUTLOOK = Body((("Content-Type", 'text/plain; format=flowed; charset="iso-8859-1"; reply-type=original'),
                    ("Content-Transfer-Encoding", "7bit")), HELLO)
INVITATION = multipart("alternative", "cal-1", part(HELLO, UTF_8), part(PAGE, HTML_TYPE), part(
    CALENDAR, ("Content-Type", 'text/calendar; charset="utf-8"; method=REPLY')))
CALENDAR_ALONE = Body((("Content-Type", "text/calendar; charset=utf-8; method=REPLY"),
                       ("Content-Transfer-Encoding", "7bit")), CALENDAR)


def with_footer_part(body, footer, boundary="===============5678901234567890=="):
    """As Mailman does with a body that is not plain text: body and footer as the parts of another multipart."""
    return multipart("mixed", boundary, part(body.text, *body.fields),
                     part(footer, UTF_8, ("Content-Transfer-Encoding", "7bit"), ("Content-Disposition", "inline")))


def with_footer_text(body, footer):
    """Behind a plain text. In base64 the text is encoded anew."""
    if ("Content-Transfer-Encoding", "base64") in body.fields:
        text = base64.encodebytes(base64.b64decode(body.text) + footer).replace(b"\n", b"\r\n")
        return Body(body.fields, text)
    return Body(body.fields, body.text + footer)


def is_plain(body):
    return any(name == "Content-Type" and value.startswith("text/plain") for name, value in body.fields)


def composed(fields, body):
    head = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return head.encode("utf-8", "surrogateescape") + b"\r\n" + body.text
