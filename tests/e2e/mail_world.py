"""Domains with their keys and records, and the gateway that receives their mail: Postfix with its shipped
files, pyspf-milter, OpenDKIM, OpenDMARC, and Bloomgate.

    example.org       SPF for SENDER alone, a DKIM key, DMARC p=reject
    nodmarc.example   the same without DMARC
    attacker.example  all of it is in order, for every client: the attacker's own domain
"""

from dataclasses import dataclass
from email.utils import formatdate

import pytest
from private_mail.client import RawMessage
from private_mail.filter import build_filter_of
from private_mail.gateway import GatewayConfig
from private_mail.name_server import NameServer, NameServerConfig
from private_mail.network import PrivateNetwork, why_not
from private_mail.opendkim import OpenDkimConfig
from private_mail.opendmarc import OpenDmarcConfig
from private_mail.processes import temporary_folder
from private_mail.signing import SigningKey, new_private_key
from private_mail.spf import SpfConfig

HOST = "mx.example.net"  # of the gateway, and its authserv-id
SENDER = "192.0.2.1"  # the mail server of the honest
STRANGER = "203.0.113.9"

LISTED = "listed@example.org"
LISTED_WITHOUT_DMARC = "listed@nodmarc.example"
ATTACKER = "x@attacker.example"

HONEST_DOMAINS = ("example.org", "news.example.org", "nodmarc.example", "bank.co.uk", "victim.github.io",
                  "xn--bcher-kva.example", "partner.example", "sub.tree.example", "mailer.example")
HOSTILE_DOMAINS = ("attacker.example", "co.uk", "evil.co.uk", "evil.github.io", "notexample.org",
                   "example.org.attacker.example")


class Keys:
    """key(domain): what its owner signs with. The honest share one private key, the hostile another."""

    def __init__(self):
        honest, hostile = new_private_key(), new_private_key()
        self._keys = {name: SigningKey(name, private=honest) for name in HONEST_DOMAINS}
        self._keys |= {name: SigningKey(name, private=hostile) for name in HOSTILE_DOMAINS}

    def __getitem__(self, domain):
        return self._keys[domain]

    def all(self):
        return tuple(self._keys.values())


RECORDS = {
    **{name: f"v=spf1 ip4:{SENDER} -all" for name in HONEST_DOMAINS},
    **{name: "v=spf1 +all" for name in HOSTILE_DOMAINS},
    "_dmarc.example.org": "v=DMARC1; p=reject",
    "_dmarc.xn--bcher-kva.example": "v=DMARC1; p=reject",
    "_dmarc.attacker.example": "v=DMARC1; p=none",
    "forwarder.example": f"v=spf1 ip4:{SENDER} -all",
    # What pyspf-milter copies into its field: its sender's own explanation, and what it does not know.
    "explains.attacker.example": "v=spf1 exp=why.attacker.example -all",
    "why.attacker.example": "no) ; dmarc=pass header.from=nodmarc.example (x",
    "explains-dkim.attacker.example": "v=spf1 exp=why-dkim.attacker.example -all",
    "why-dkim.attacker.example": "no) ; dkim=pass header.d=nodmarc.example (x",
    "explains-spf.attacker.example": "v=spf1 exp=why-spf.attacker.example -all",
    "why-spf.attacker.example": "no) ; spf=pass smtp.mailfrom=nodmarc.example ; none=none (x",
    "unknown.attacker.example": "v=spf1 foo:);dmarc=pass(c)header.from=nodmarc.example( -all",
}


TODAY = formatdate().encode()


def content(from_value, *fields, subject=b"test", body=b"Hello.\r\n"):
    """A message, byte for byte, with that From field, and more fields after it."""
    value = from_value.encode() if isinstance(from_value, str) else from_value
    lines = [b"From: " + value, b"To: <user@example.net>", b"Subject: " + subject,
             b"Date: " + TODAY, b"Message-ID: <1@sender.example>", *fields]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


@dataclass(frozen=True)
class Mail:
    """One message: who says to send it, what it is, and the client that it comes from."""

    path: str
    raw: bytes
    client: str = STRANGER
    smtputf8: bool = False

    def message(self):
        return RawMessage(self.path, raw=self.raw, smtputf8=self.smtputf8)


def start_world(gateways, whitelist, *build_options, keys, milters=("spf", "dkim", "dmarc"), **config):
    """Starts it all, with those of the milters; the rest is for GatewayConfig. gateways: of conftest."""
    if reason := why_not():
        pytest.skip(reason)
    folder = gateways.enter(temporary_folder("e2e"))
    filter_file = folder / "whitelist.bloom"
    build_filter_of(filter_file, whitelist, "--bits-per-entry", "32", *build_options)
    network = gateways.enter(PrivateNetwork(folder))
    records = {**RECORDS, **{key.record_name: key.record for key in keys.all()}}
    gateways.enter(NameServer(folder / "name-server", NameServerConfig(records, network)))
    parts = {"spf": SpfConfig(network), "dkim": OpenDkimConfig(keys.all()), "dmarc": OpenDmarcConfig(network)}
    chain = tuple(parts[name] for name in milters)
    return gateways.start(folder, GatewayConfig(filter_file, milters=chain, **config))


def send_all(gateway, mails):
    """What became of each, by the same keys.

    Each goes through a connection of its own: pyspf-milter numbers the messages of a connection at random, below
    100,000, and refuses one for now (451) whose number another has had: of 110 on one connection, one time in 17.
    """
    sent = {}
    for name, mail in mails.items():
        with gateway.connect(mail.client) as client:
            sent[name] = (mail.message(), client.send(mail.message()))
    return dict(zip(sent, gateway.deliveries(list(sent.values()))))
