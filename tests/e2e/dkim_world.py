"""Domains whose keys a name server of ours has, faults included, and messages of theirs: see dkim_cases.

    example.org       LISTED writes from there. Each of its selectors has a record of its own: one for each fault
    attacker.example  every name below it has the attacker's key
"""

import base64
from contextlib import contextmanager
from dataclasses import dataclass

from mail_world import content
from private_mail.client import RawMessage
from private_mail.faulty_name_server import FaultyNameServer, Record
from private_mail.network import PrivateNetwork, why_not
from private_mail.signing import SigningKey, new_ed25519_key, new_private_key, openssl

LISTED = "listed@example.org"
BELOW = "listed@news.example.org"
ODD = "a=?b@example.org"
REVOKED = "revoked@example.org"
UNSIGNED = "listed@nodmarc.example"  # its domain has no key
UNLISTED = "unlisted@example.org"
STRANGER = "bounce@other.example"  # in the envelope: only the From field is listed

WHITELIST = (LISTED, BELOW, ODD, REVOKED, UNSIGNED)


_honest, _hostile = new_private_key(), new_private_key()


def key(selector, domain="example.org", private=_honest):
    return SigningKey(domain, selector, private)


RSA = key("test")
ED25519 = key("ed25519", private=new_ed25519_key())
SHORT = {bits: key(f"rsa{bits}", private=new_private_key(bits)) for bits in (512, 768, 1024)}
OTHER_ED25519 = key("ed25519", "other.example", ED25519.private)
LONG = key("rsa4096", private=new_private_key(4096))
OTHER = key("test", "other.example", new_private_key())
ATTACKER = key("test", "attacker.example", _hostile)


def pkcs_1(private):
    """The public half in the other form that a record may have (RFC 6376, section 3.6.1)."""
    return base64.b64encode(openssl(private, "rsa", "-RSAPublicKey_out", "-outform", "DER")).decode()


_public = RSA.record.rpartition("p=")[2]

# Selectors of example.org: what a name server has for each.
RECORDS = {
    "strict": f"v=DKIM1; t=s; p={_public}",
    "for-email": f"v=DKIM1; s=email; p={_public}",
    "version-2": f"v=DKIM2; p={_public}",
    "version-last": f"k=rsa; p={_public}; v=DKIM1",
    "testing": f"v=DKIM1; t=y; p={_public}",
    "revoked-and-not": f"v=DKIM1; p=; p={_public}",
    "pkcs-1": f"v=DKIM1; p={pkcs_1(_honest)}",
    "another-kind": f"v=DKIM1; k=ed25519; p={_public}",
    "of-another": f"v=DKIM1; p={OTHER.record.rpartition('p=')[2]}",
    "two-keys": Record((f"v=DKIM1; p={_public}", OTHER.record)),
    "with-a-nul": f"v=DKIM1;\0 p={_public}",
    "in-pieces": Record((tuple(f"v=DKIM1; p={_public}"[start:start + 20] for start in range(0, 500, 20)),)),
    "alias": Record(cname="alias.provider.example"),
    "loop": Record(cname="loop.provider.example"),
    "nothing": Record(()),
    "servfail": Record(rcode="SERVFAIL"),
    "refused": Record(rcode="REFUSED"),
    "broken": Record((f"v=DKIM1; p={_public}",), broken=True),
    "huge": "v=DKIM1; p=" + "A" * 20_000,
    "slow": Record((f"v=DKIM1; p={_public}",), delay_seconds=0.05),
    "fetched": Record((f"v=DKIM1; p={_public}",), delay_seconds=1.5),
    "*.silent": Record(silent=True),
}

ZONE = {
    **{f"{selector}._domainkey.example.org": record for selector, record in RECORDS.items()},
    **{signer.record_name: signer.record
       for signer in (RSA, ED25519, LONG, OTHER, OTHER_ED25519, ATTACKER, *SHORT.values(),
                      key("test", "news.example.org"))},
    "alias.provider.example": f"v=DKIM1; p={_public}",
    "loop.provider.example": Record(cname="loop._domainkey.example.org"),
    "test._domainkey.org": ATTACKER.record,
    "*.attacker.example": ATTACKER.record,
}


@dataclass(frozen=True)
class Case:
    """A message, and what has to become of it.

    found: what Bloomgate's own verifier says of it in the log (dkim=), if it is checked; without it, anything.
    today: whether it is delivered behind OpenDKIM and OpenDMARC, where that is not the same, with because."""

    raw: bytes
    delivered: bool
    path: str = STRANGER
    smtputf8: bool = False
    postfix_only: bool = False
    found: str = ""
    today: bool = None
    because: str = ""

    def message(self):
        return RawMessage(self.path, raw=self.raw, smtputf8=self.smtputf8)


def delivered(raw, **options):
    return Case(raw, True, **options)


def checked(raw, **options):
    return Case(raw, False, **options)


GENUINE = content(LISTED)


@contextmanager
def names(folder, everywhere=False):
    """A name server with ZONE, and the network that it and those who ask it are in; None where there can be none."""
    if why_not():
        with FaultyNameServer(folder / "names", ZONE) as server:
            yield server, None
        return
    with PrivateNetwork(folder) as network:
        with FaultyNameServer(folder / "names", ZONE, network, everywhere) as server:
            yield server, network
