"""DKIM keys in files, and messages signed with them: what honest and dishonest senders do to their mail."""

import base64
import collections
import fcntl
import functools
import os
import subprocess
from unittest import mock

import dkim

SELECTOR = "test"

SIGNED_FIELDS = (b"from", b"to", b"subject", b"date", b"message-id")

RSA_SHA256, RSA_SHA1, ED25519_SHA256 = b"rsa-sha256", b"rsa-sha1", b"ed25519-sha256"
RELAXED, SIMPLE = b"relaxed", b"simple"


class SigningKey:
    """The key of one domain: RSA, unless private is another. Its public half is a record for a name server or for
    OpenDKIM's file.

    private: a key that other domains have too, if given; making one takes a while."""

    def __init__(self, domain, selector=SELECTOR, private=None):
        self.domain = domain
        self.selector = selector
        self.private = private or new_private_key()
        self.is_ed25519 = is_ed25519(self.private)

    @property
    def record_name(self):
        return f"{self.selector}._domainkey.{self.domain}"

    @property
    def record(self):
        kind = "ed25519" if self.is_ed25519 else "rsa"
        return f"v=DKIM1; k={kind}; p={base64.b64encode(public_half(self.private)).decode()}"

    @property
    def seed(self):
        """Of an Ed25519 key (RFC 8032), in base64."""
        return base64.b64encode(seed_of(self.private))

    @property
    def ed25519_pair(self):
        """The seed and the public key behind each other, in base64: what libsodium calls a secret key."""
        return base64.b64encode(seed_of(self.private) + public_half(self.private))

    def sign(self, content, domain=None, fields=SIGNED_FIELDS, identity=None, length=False,
             canonicalization=(RELAXED, RELAXED), algorithm=None, tags=None, space=b""):
        """The message with a signature before its first field.

        domain: the domain that it claims, if not its own. tags: tags of the signature, name -> value, bytes, in the
        place of its own or beside them; a value of None leaves the tag out. Nothing checks them. space: what stands
        between the tag b and its equals sign."""
        algorithm = algorithm or (ED25519_SHA256 if self.is_ed25519 else RSA_SHA256)
        signer = Signer(content, tags or {}, fields, space)
        signature = signer.sign(
            self.selector.encode(), (domain or self.domain).encode(),
            self.seed if self.is_ed25519 else self.private, algorithm, identity,
            canonicalize=canonicalization, include_headers=(b"from",), length=length)
        return signature + content


@functools.cache
def public_half(private):
    public = openssl(private, "pkey", "-pubout", "-outform", "DER")
    return public[-32:] if is_ed25519(private) else public  # RFC 8463, section 4: the bare key


@functools.cache
def seed_of(private):
    return openssl(private, "pkey", "-outform", "DER")[-32:]


def is_ed25519(private):
    return b"BEGIN PRIVATE KEY" in private and len(private) < 200


class Signer(dkim.DKIM):
    """Signs what it is told to, with the tags that it is told."""

    def __init__(self, content, tags, fields, space):
        super().__init__(content)
        self._tags = tags
        self._fields = fields
        self._space = space

    def gen_header(self, fields, include_headers, *arguments, **options):
        tags = {**dict(fields), b"h": b" : ".join(self._fields), **self._tags}
        tags[b"b"] = tags.pop(b"b")  # stays the last
        kept = [(name, value) for name, value in tags.items() if value is not None]
        with mock.patch("dkim.fold", self._folded):
            return super().gen_header(kept, self._fields, *arguments, **options)

    def _folded(self, text, fold=dkim.fold, **options):
        return fold(text.replace(b"; b=", b"; b" + self._space + b"="), **options)


_made = collections.Counter()


def new_private_key(bits=2048):
    """An RSA key. Where the environment variable BLOOMGATE_TEST_KEYS names a folder, the first process that asks makes
    it, and each process has the same first, second, … key of that size: it takes up to seconds."""
    folder = os.environ.get("BLOOMGATE_TEST_KEYS")
    if not folder:
        return openssl(b"", "genrsa", str(bits))
    _made[bits] += 1
    with open(f"{folder}/rsa{bits}-{_made[bits]}", "a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        key = file.read() or openssl(b"", "genrsa", str(bits))
        if file.tell() == 0:
            file.write(key)
        return key


def new_ed25519_key():
    return openssl(b"", "genpkey", "-algorithm", "ed25519")


def openssl(stdin, *arguments):
    return subprocess.run(["openssl", *arguments], input=stdin, capture_output=True, check=True).stdout
