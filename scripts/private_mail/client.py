"""An SMTP client that sends what it is told to, byte for byte, well-formed or not."""

import re
import smtplib
from contextlib import contextmanager
from dataclasses import dataclass

from .processes import PATIENCE_SECONDS


@dataclass(frozen=True)
class Message:
    """path is the sender as in MAIL FROM, without the angle brackets; '' is the null sender."""

    path: str
    headers: tuple = ()  # raw lines, bytes, without their CRLF; a folded field is one item with CRLF inside
    recipient: str = "user@example.net"
    subject: str = "test"
    smtputf8: bool = False
    more_recipients: tuple = ()

    def content(self):
        fields = [b"From: <sender@example.com>", b"To: <" + self.recipient.encode() + b">",
                  b"Subject: " + self.subject.encode(), *self.headers]
        return b"\r\n".join(fields) + b"\r\n\r\nHello.\r\n"


@dataclass(frozen=True)
class RawMessage(Message):
    """A message whose header and body are given byte for byte."""

    raw: bytes = b""

    def content(self):
        return self.raw


class Rejected(Exception):
    """The mail server did not accept the message."""


class Client:
    """One connection. Several messages may go through it, one after the other."""

    def __init__(self, port, address=None, patience_seconds=PATIENCE_SECONDS, source="127.0.0.1"):
        """address: the client address that the mail server is to see, by XCLIENT; without it, source, which is one
        of 127.0.0.0/8."""
        self._smtp = smtplib.SMTP("127.0.0.1", port, local_hostname="client.example",
                                  timeout=patience_seconds, source_address=(source, 0))
        self._smtp.command_encoding = "utf-8"
        self.command("EHLO client.example")
        if address:
            self.command(f"XCLIENT ADDR={address} NAME=[UNAVAILABLE]", expected=220)
            self.command("EHLO client.example")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._smtp.close()

    def send(self, message):
        """The queue ID that the mail server gave it."""
        self.begin(message)
        return self.end()

    def begin(self, message):
        """Sends it, and does not wait for what the mail server says of it: end() does."""
        utf8 = " SMTPUTF8" if message.smtputf8 else ""
        self.command(f"MAIL FROM:<{message.path}> BODY=8BITMIME{utf8}")
        for recipient in (message.recipient, *message.more_recipients):
            self.command(f"RCPT TO:<{recipient}>")
        self.begin_data(message)

    def begin_data(self, message):
        """The last step of begin(), where the envelope was sent by commands."""
        self.command("DATA", expected=354)
        dotted = re.sub(rb"(?m)^\.", b"..", message.content())
        self._smtp.send(dotted + b".\r\n")

    def end(self):
        reply = self._check(*self._smtp.getreply(), "end of data", 250)
        return re.search(r"(\w+)(?: Message accepted for delivery)?$", reply).group(1)

    def command(self, line, expected=250):
        """Sends one line as it is. Returns the reply, which must have the expected code."""
        return self._check(*self._smtp.docmd(line), line, expected)

    @staticmethod
    def _check(code, text, line, expected):
        reply = text.decode("utf-8", "replace")
        if code != expected:
            raise Rejected(f"{line}: expected {expected}, got {code} {reply}")
        return reply


@contextmanager
def logged_in(port, user):
    """A connection of a client that has logged in, as far as Postfix is concerned."""
    with Client(port) as client:
        client.command(f"XCLIENT LOGIN={user}", expected=220)
        client.command("EHLO client.example")
        yield client
