"""The rules of deliver and check, stated once more and apart from the code: what proves a sender, and of whom.

For messages whose From and envelope sender are drawn from a small world, in which `joe@a.example`, `@corp.example` and
`@.tree.example` are listed, and `fwd.example` is a trusted forwarder.
"""

LISTED = {"joe@a.example"}
DOMAINS = {"corp.example"}
TREES = {"tree.example"}
FORWARDER = "fwd.example"


def domain(address):
    return address.partition("@")[2]


def below(name, parent):
    return name == parent or name.endswith("." + parent)


def organisation(name):
    return ".".join(name.split(".")[-2:])


def speaks_for(signer, name, alignment):
    """Who may sign for a domain."""
    if not signer or not name:
        return False
    if alignment == "relaxed":
        return organisation(signer) == organisation(name)
    return signer == name or (alignment == "parent" and below(name, signer) and below(signer, organisation(name)))


def entry(address):
    """("mailbox", …) or ("domain" or "tree", its domain): what lists an address; None if nothing does."""
    if address in LISTED:
        return "mailbox", address
    if domain(address) in DOMAINS:
        return "domain", domain(address)
    return next((("tree", tree) for tree in TREES if below(domain(address), tree)), None)


def covers(found, address):
    kind, name = found
    return domain(address) == name if kind == "domain" else kind == "tree" and below(domain(address), name)


class Message:
    def __init__(self, envelope, sender, spf, signer, dmarc, own_verifier, arc, allowing=()):
        """allowing: the senders' domains whose owners let another domain of the organisation sign, as far as our own
        verifier has asked."""
        self.came, self.sender, self.arc = envelope, "" if sender == "!absent" else sender, arc
        self.spf = spf if domain(envelope) else ""
        self.dmarc = dmarc if self.sender else ""
        self.signer, self.own_verifier, self.allowing = signer, own_verifier, allowing
        self.envelope = envelope.removeprefix("prvs=4f2a1b3c5d=")
        self.is_forwarded = envelope.startswith("SRS0=")
        if self.is_forwarded:
            self.envelope = "joe@a.example"

    def is_signed(self, name, policy):
        """Of a result that another program wrote, a child's or a sibling's signature proves nothing: only its DMARC result
        says whether the owner allows that. Our own verifier asks the owner, who may forbid it to a domain above, too."""
        told = policy.alignment
        if told == "relaxed":
            told = "parent" if not self.own_verifier else "relaxed" if name in self.allowing else "strict"
        return speaks_for(self.signer, name, told)

    def spf_speaks_for(self, name, policy):
        without_dmarc = "strict" if policy.alignment == "strict" else "parent"
        return self.spf == "pass" and speaks_for(domain(self.came), name, without_dmarc)

    def from_is_proven(self, policy, by_mailbox):
        name = domain(self.sender)
        if not name:
            return False
        if self.arc:
            return True
        if self.dmarc == "fail":
            return False
        if self.is_signed(name, policy) or (self.dmarc == "pass" and policy.alignment == "relaxed"):
            return True
        return self.spf_speaks_for(name, policy) and policy.spf_may_prove(by_mailbox)

    def envelope_is_proven(self, policy, found):
        by_mailbox = found[0] == "mailbox"
        if self.envelope == self.sender and self.from_is_proven(policy, by_mailbox):
            return True
        if self.spf == "pass" and policy.spf_may_prove(by_mailbox):
            return True  # of the envelope sender as it came, or of the forwarder that has sent it on
        if by_mailbox or self.spf == "fail" or self.dmarc == "fail" or not covers(found, self.sender):
            return False
        if self.is_signed(domain(self.envelope), policy):
            return True
        # A From domain that is proven speaks for the envelope sender's, as a signature of it would.
        without_dmarc = "strict" if policy.alignment == "strict" else "parent"
        return not self.arc_alone(policy) and self.from_is_proven(policy, False) and \
            speaks_for(domain(self.sender), domain(self.envelope), without_dmarc)

    def arc_alone(self, policy):
        without = Message(self.came, self.sender, self.spf, self.signer, self.dmarc, self.own_verifier, False,
                          self.allowing)
        return not without.from_is_proven(policy, False)

    def fails(self, name):
        """Whether a result speaks against a domain, by DMARC's idea of one organisation."""
        if self.dmarc == "fail":
            return name == domain(self.sender) or speaks_for(domain(self.sender), name, "relaxed")
        return self.spf == "fail" and speaks_for(domain(self.came), name, "relaxed")


class Policy:
    def __init__(self, identity, authentication, alignment, spf_proves):
        self.identity, self.authentication = identity, authentication
        self.alignment, self.spf_proves = alignment, spf_proves

    def spf_may_prove(self, by_mailbox):
        return self.spf_proves == "address" or (self.spf_proves == "domain" and not by_mailbox)

    def from_counts(self, message):
        found = entry(message.sender)
        if not found:
            return False
        if message.from_is_proven(self, found[0] == "mailbox"):
            return True
        return self.authentication == "preferred" and not message.fails(domain(message.sender))

    def envelope_counts(self, message):
        found = entry(message.envelope)
        if not found:
            return False
        if message.envelope_is_proven(self, found):
            return True
        failed = message.fails(domain(message.envelope)) or (message.is_forwarded and message.fails(FORWARDER))
        return self.authentication == "preferred" and not failed

    def delivers(self, message):
        if "@" not in message.came or message.dmarc == "fail" or not message.sender:
            # A bounce, or what a mail server may take for one; a veto; and where a failed DMARC vetoes, a From field that hides its mailbox.
            return False
        envelope, sender = self.envelope_counts(message), self.from_counts(message)
        return {"envelope": envelope, "header-from": sender, "either": envelope or sender,
                "both": envelope and sender}[self.identity]
