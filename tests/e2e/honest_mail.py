"""One honest message of the composed week (honest_week.py): what arrives of it, and what may be known of its sender."""

from dataclasses import dataclass

from private_mail.signing import SigningKey, new_private_key

AUTHSERV_ID = "mx.ours.example"
TRUSTED_FORWARDER = "forward.example"
PRIVATE = new_private_key(1024)

# Domains without a DMARC record, and the first part of others; the rest has one. Which have none is assumed.
WITHOUT_DMARC = {"member.example", "workshop.example", "village.example", "club.example", "silent.example",
                 "forwarded.example"}
SMALL_SHOP = "small"


def domain(address):
    return address.rpartition("@")[2]


def organisation(name):
    return ".".join(name.split(".")[-2:])


def is_aligned(one, other):
    """Relaxed, as DMARC has it."""
    return bool(one) and organisation(one) == organisation(other)


@dataclass(frozen=True)
class HonestMail:
    """entries: what the operator has listed of old. more: entries of mailing lists and with a signer, which he adds.
    by_domain: the domain that he may list instead of an address, since SPF proves no more. is_senders: whether it is mail
    of the sender that is listed."""

    envelope: str
    sender: str  # of the From field
    content: bytes  # with its signatures
    spf: str = "pass"
    signed_by: tuple = ()  # the domains whose signatures hold
    entries: tuple = ()
    more: tuple = ()
    by_domain: tuple = ()
    is_senders: bool = True

    @property
    def dmarc(self):
        owner = domain(self.sender)
        if organisation(owner) in WITHOUT_DMARC or owner.startswith(SMALL_SHOP):
            return "none"
        by_spf = self.spf == "pass" and is_aligned(domain(self.envelope), owner)
        return "pass" if by_spf or any(is_aligned(signer, owner) for signer in self.signed_by) else "fail"

    @property
    def raw(self):
        """With what the milters before Bloomgate write: one for SPF, one for DMARC."""
        results = [f"spf={self.spf} smtp.mailfrom={domain(self.envelope)}"] if self.envelope else []
        results.append(f"dmarc={self.dmarc} header.from={domain(self.sender)}")
        return "".join(f"Authentication-Results: {AUTHSERV_ID}; {result}\r\n"
                       for result in results).encode() + self.content


def signed(content, *habits):
    """Signed by each (domain, habit), the first one innermost."""
    for name, habit in habits:
        content = habit.sign(SigningKey(name, private=PRIVATE), content)
    return content


def without_tag(address):
    """What is listed: without a VERP tag, and behind the rewriting of a forwarder that is trusted."""
    if address.startswith("SRS0=") and domain(address) == TRUSTED_FORWARDER:
        _, _, _, host, local = address.rpartition("@")[0].split("=", 4)
        address = f"{local}@{host}"
    local, _, host = address.rpartition("@")
    return f"{local.partition('+')[0]}@{host}"


def is_listed(address, entries):
    return bool(address) and (without_tag(address) in entries or f"@{domain(address)}" in entries)


def was_recognised(mail, entries):
    """The rule before the stricter proof, and wider: either sender is listed, and a signature of the organisation of
    either one holds, or SPF passes. A failed DMARC vetoes, as it does now."""
    if mail.dmarc == "fail":
        return False
    names = [domain(mail.envelope), domain(mail.sender)]
    is_proven = mail.spf == "pass" and mail.envelope or any(
        is_aligned(signer, name) for signer in mail.signed_by for name in names)
    return bool(is_proven) and (is_listed(mail.envelope, entries) or is_listed(mail.sender, entries))
