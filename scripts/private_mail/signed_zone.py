"""A zone that DNSSEC vouches for (RFC 4035), or seems to: for FaultyNameServer."""

import time

import dns.dnssec
import dns.name
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rrset
from cryptography.hazmat.primitives.asymmetric import ec

from .faulty_name_server import TTL, Record, strings_of

DAY = 86_400


class SignedZone:
    """One key signs everything (ECDSA P-256): it is the trust anchor."""

    def __init__(self, name):
        self._name = dns.name.from_text(name)
        self._private = ec.generate_private_key(ec.SECP256R1())
        self._key = dns.dnssec.make_dnskey(self._private.public_key(), dns.dnssec.Algorithm.ECDSAP256SHA256)

    @property
    def trust_anchor(self):
        """A line for a file of trust anchors."""
        return f"{self._name} IN DNSKEY {self._key}\n"

    @property
    def keys(self):
        """The record of the zone's own name."""
        return Record(others=(("DNSKEY", str(self._key)), ("RRSIG", self._signature(self._name, self._key))))

    def text(self, name, text, age=0):
        """A TXT record, signed some seconds ago for two days."""
        data = dns.rdata.from_text(dns.rdataclass.IN, dns.rdatatype.TXT,
                                   " ".join(f'"{part}"' for part in strings_of(text)))
        return Record((text,), others=(("RRSIG", self._signature(dns.name.from_text(name), data, age)),))

    def _signature(self, owner, data, age=0):
        begin = int(time.time()) - DAY - age
        return str(dns.dnssec.sign(dns.rrset.from_rdata(owner, TTL, data), self._private, self._name, self._key,
                                   inception=begin, expiration=begin + 2 * DAY))
