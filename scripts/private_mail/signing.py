"""DKIM keys in files, and messages signed with them: what honest and dishonest senders do to their mail."""

import base64
import subprocess

import dkim

SELECTOR = "test"

SIGNED_FIELDS = (b"from", b"to", b"subject", b"date", b"message-id")


class SigningKey:
    """The RSA key of one domain. Its public half is a record for a name server or for OpenDKIM's file.

    private: a key that other domains have too, if given; making one takes a while."""

    def __init__(self, domain, selector=SELECTOR, private=None):
        self.domain = domain
        self.selector = selector
        self.private = private or new_private_key()

    @property
    def record_name(self):
        return f"{self.selector}._domainkey.{self.domain}"

    @property
    def record(self):
        public = openssl(self.private, "rsa", "-pubout", "-outform", "DER")
        return f"v=DKIM1; k=rsa; p={base64.b64encode(public).decode()}"

    def sign(self, content, domain=None, fields=SIGNED_FIELDS, identity=None, length=False):
        """The message with a signature before its first field. domain: the domain that it claims, if not its own."""
        signature = dkim.sign(
            content, self.selector.encode(), (domain or self.domain).encode(), self.private, identity,
            canonicalize=(b"relaxed", b"relaxed"), include_headers=list(fields), length=length)
        return signature + content


def new_private_key():
    return openssl(b"", "genrsa", "2048")


def openssl(stdin, *arguments):
    return subprocess.run(["openssl", *arguments], input=stdin, capture_output=True, check=True).stdout
