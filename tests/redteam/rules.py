"""The rules of deliver and check, stated once more and apart from the code: what proves a sender, and of whom; and what
a daemon does with a message in all kinds of states.

For messages whose From and envelope sender are drawn from a small world, in which `joe@a.example`, `@corp.example` and
`@.tree.example` are listed, and `fwd.example` is a trusted forwarder.
"""

LISTED = {"joe@a.example"}
DOMAINS = {"corp.example"}
TREES = {"tree.example"}
FORWARDER = "fwd.example"
SRS, BATV = "SRS0=HHHH=TT=a.example=", "prvs=4f2a1b3c5d="


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


class Lists:
    """What lists senders: the whitelist if it is there, and single addresses beside it."""

    def __init__(self, has_whitelist=True, known=()):
        self.has_whitelist, self.known = has_whitelist, set(known)

    def entry(self, address):
        """("mailbox", …) or ("domain" or "tree", its domain): what lists an address; None if nothing does."""
        if address in self.known or (self.has_whitelist and address in LISTED):
            return "mailbox", address
        if not self.has_whitelist:
            return None
        if domain(address) in DOMAINS:
            return "domain", domain(address)
        return next((("tree", tree) for tree in TREES if below(domain(address), tree)), None)


def covers(found, address):
    kind, name = found
    return domain(address) == name if kind == "domain" else kind == "tree" and below(domain(address), name)


class Message:
    def __init__(self, envelope, sender, spf, signer, dmarc, own_verifier, arc, allowing=(), undo_batv=True):
        """allowing: the senders' domains whose owners let another domain of the organisation sign, as far as our own
        verifier has asked."""
        self.came, self.sender, self.arc = envelope, "" if sender.startswith("!") else sender, arc
        self.spf = spf if domain(envelope) else ""
        self.dmarc = dmarc if self.sender else ""
        self.signer, self.own_verifier, self.allowing = signer, own_verifier, allowing
        self.undo_batv = undo_batv
        self.is_forwarded = envelope.startswith(SRS)
        self.envelope = envelope
        if self.is_forwarded:
            self.envelope = envelope.removeprefix(SRS).removesuffix("@" + FORWARDER) + "@a.example"
        self.behind = self.envelope.removeprefix(BATV)
        if undo_batv:
            self.envelope = self.behind

    def is_signed(self, name, policy):
        """Of a result that another program wrote, a child's or a sibling's signature proves nothing: only its DMARC
        result says whether the owner allows that. Our own verifier asks the owner, who may forbid it to a domain above,
        too."""
        told = policy.alignment
        if told == "relaxed":
            told = "parent" if not self.own_verifier else "relaxed" if name in self.allowing else "strict"
        return speaks_for(self.signer, name, told)

    def spf_speaks_for(self, name, policy):
        return self.spf == "pass" and speaks_for(domain(self.came), name, policy.without_dmarc)

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
        return not self.arc_alone(policy) and self.from_is_proven(policy, False) and \
            speaks_for(domain(self.sender), domain(self.envelope), policy.without_dmarc)

    def arc_alone(self, policy):
        without = Message(self.came, self.sender, self.spf, self.signer, self.dmarc, self.own_verifier, False,
                          self.allowing, self.undo_batv)
        return not without.from_is_proven(policy, False)

    def fails(self, name):
        """Whether a result speaks against a domain, by DMARC's idea of one organisation."""
        if self.dmarc == "fail":
            return name == domain(self.sender) or speaks_for(domain(self.sender), name, "relaxed")
        return self.spf == "fail" and speaks_for(domain(self.came), name, "relaxed")


class Policy:
    def __init__(self, identity, authentication, alignment, spf_proves, lists=Lists()):
        self.lists, self.identity, self.authentication = lists, identity, authentication
        self.alignment, self.spf_proves = alignment, spf_proves

    @property
    def without_dmarc(self):
        """Who speaks for whom where it is not DMARC that says so."""
        return "strict" if self.alignment == "strict" else "parent"

    def spf_may_prove(self, by_mailbox):
        return self.spf_proves == "address" or (self.spf_proves == "domain" and not by_mailbox)

    def from_counts(self, message):
        found = self.lists.entry(message.sender)
        if not found:
            return False
        if message.from_is_proven(self, found[0] == "mailbox"):
            return True
        return self.authentication == "preferred" and not message.fails(domain(message.sender))

    def envelope_counts(self, message):
        found = self.lists.entry(message.envelope)
        if not found:
            return False
        if message.envelope_is_proven(self, found):
            return True
        failed = message.fails(domain(message.envelope)) or (message.is_forwarded and message.fails(FORWARDER))
        return self.authentication == "preferred" and not failed

    def delivers(self, message):
        if "@" not in message.came or message.dmarc == "fail" or not message.sender:
            # A bounce, or what a mail server may take for one; a veto; and where a failed DMARC vetoes, a From field that
            # hides its mailbox.
            return False
        envelope, sender = self.envelope_counts(message), self.from_counts(message)
        return {"envelope": envelope, "header-from": sender, "either": envelope or sender,
                "both": envelope and sender}[self.identity]


USER, FRIEND, STRANGER = "me@ours.example", "x@other.example", "zoe@new.example"
REVOKED = {"mailbox": {"joe@a.example"}, "domain": {"@corp.example"}, "friend": {FRIEND}}
OPTED_OUT = {"user": {USER}, "other": {"bob@ours.example"}, "domain": {USER, "bob@ours.example"}}


class Daemon:
    """What a daemon is told and what has become of its lists, by the names of the columns in rules_test.py."""

    def __init__(self, case):
        self.case = case
        self.recipients = {{"me": USER, "bob": "bob@ours.example", "zoe": STRANGER}[each]
                           for each in case.recipients.split()}
        # A pass that the message itself has no grounds for does not count, nor one of DMARC against what it rests on.
        signer = case.signer if case.signature == "there" else ""
        came, name = domain(case.envelope), domain(case.sender)
        rests_on = {found for of, found in ((came, case.spf), (signer, "pass")) if speaks_for(of, name, "relaxed")}
        dmarc = case.dmarc if case.dmarc != "pass" or "pass" in rests_on or rests_on == {""} else ""
        self.message = Message(case.envelope, case.sender, case.spf, signer, dmarc, False, case.arc == "pass",
                               undo_batv=case.undo_batv == "yes")
        knows = case.learning == "knows" and self.recipients == {USER}
        self.policy = Policy(case.identity, case.authentication, case.alignment, case.spf_proves,
                             Lists(case.whitelist == "there", {FRIEND} if knows else ()))

    def is_ours(self, address):
        return self.case.own_domains == "yes" and domain(address) == "ours.example"

    def is_revoked(self, sender, users):
        found = REVOKED.get(self.case.revoked, set())
        return sender in found or "@" + domain(sender) in found or (self.case.revoked, sender) in (
            ("pair", "joe@a.example"), ("stranger", STRANGER)) and USER in users

    def proves_domain(self, sender):
        """Whether anything shows that a sender's domain has written."""
        message, policy, name = self.message, self.policy, domain(sender)
        if sender == message.sender:
            return message.from_is_proven(policy, False)
        return message.is_signed(name, policy) or \
            (message.spf_speaks_for(name, policy) and policy.spf_may_prove(False)) or \
            (message.dmarc == "pass" and speaks_for(domain(message.sender), name, policy.without_dmarc) and
             message.from_is_proven(policy, False))

    def decides(self):
        """(verdict, reason), or (verdict, None) where the rules on senders have the last word; without a verdict, the
        message gets no mark."""
        case, message = self.case, self.message
        if case.header == "too much":
            return "check", "internal-error"
        is_exempt = case.exempt != "no" and case.login == "yes"
        if not is_exempt or case.exempt == "deliver":
            if case.opt_out == "lost":
                return "check", "no-opt-out-list"
            if self.recipients & OPTED_OUT.get(case.opt_out, set()):
                return "check", "opted-out"
        if is_exempt:
            return ("deliver", "exempt-authenticated") if case.exempt == "deliver" else (None, None)
        if case.revoked == "lost":
            return "check", "no-revoked-list"
        if case.learning == "off" and case.whitelist != "there":
            return "check", {"missing": "no-whitelist", "damaged": "whitelist-damaged"}[case.whitelist]
        if any(self.is_revoked(each, self.recipients) for each in (message.came, message.behind, message.sender)):
            return "check", "revoked"
        if not message.sender:
            return "check", {"!absent": "no-header-from", "!two": "malformed-from"}[case.sender]
        if any(self.is_ours(each) and not self.proves_domain(each)
               for each in (message.came, message.behind, message.sender)):
            return "check", "own-domain"
        # An automatic answer may have text that its sender did not write.
        if case.header == "program" or not self.policy.delivers(message):
            return "check", None
        return ("check", "burst") if self.is_held() else ("deliver", None)

    def is_held(self):
        """Whether the sender that delivers the message sends too much: single addresses do, and domains have no limit."""
        policy, message = self.policy, self.message
        is_by_envelope = policy.identity == "envelope" or policy.identity == "either" and policy.envelope_counts(message)
        found = policy.lists.entry(message.envelope if is_by_envelope else message.sender)
        return self.case.brake == "burst" and found[0] == "mailbox"

    def goes_on(self, verdict):
        """Whether nothing speaks against the message when its recipients get it."""
        is_asked = verdict == "check" and self.case.checker != "none" and self.case.mode != "observe"
        return not is_asked or self.case.checker == "ham"

    def is_taught(self, verdict):
        case = self.case
        return case.learning != "off" and case.header not in ("too much", "program") and case.login == "yes" and \
            case.envelope == USER and self.is_ours(USER) and case.opt_out not in ("user", "domain", "lost") and \
            STRANGER in self.recipients and case.revoked != "lost" and not self.is_revoked(STRANGER, {USER}) and \
            self.goes_on(verdict)
