"""Whether another domain may sign for a sender's, by DMARC records (adkim, psd, RFC 9989): asked with
`alignment = relaxed`, and only where a signature of another domain decides."""

import json
import re
import subprocess
from collections import Counter
from contextlib import ExitStack

import pytest
from mail_world import content
from private_mail.client import RawMessage
from private_mail.faulty_name_server import FaultyNameServer, Record
from private_mail.filter import build_filter_of, built
from private_mail.gateway import GatewayConfig
from private_mail.processes import temporary_folder
from private_mail.signing import SigningKey, new_private_key

STRICT, RELAXED = "v=DMARC1; p=none; adkim=s", "v=DMARC1; p=none; adkim=r"
SUFFIX = "v=DMARC1; p=none; psd=y"

# What each record means: tests/milter/dkim/owner_questions_test.cpp, dmarc_record_test.cpp and tree_walk_test.cpp.
# A sender's domain -> whether mail that a domain below it has signed is delivered, and what the log says (dkim=).
BY_A_CHILD = {
    "strict.example": (False, "other-domain-not-allowed"),
    "relaxed.example": (True, "pass"),
    "without.example": (True, "pass"),
    "failing.example": (False, "name-server-failed"),
    "silent.example": (False, "name-timeout"),
    "shop.strict.example": (False, "other-domain-not-allowed"),
    "allowed.strict.example": (True, "pass"),
}
# (A sender's domain, the signer) -> the same. The domains are parts of one name by the Public Suffix List, or seem so.
BY_ANOTHER = {
    # A host that says nothing: its customers are neighbours, who may sign for one another.
    ("joe.host.example", "jane.host.example"): (True, "pass"),
    # A host that says that its customers are organisations.
    ("joe.suffix.example", "jane.suffix.example"): (False, "other-domain-not-allowed"),
    # Only the signer's name server fails.
    ("relaxed.example", "failing.relaxed.example"): (False, "name-server-failed"),
    # A suffix of the list, whose record does not make strangers one organisation: no key of theirs is asked for.
    ("bank.co.uk", "stranger.co.uk"): (False, "no-signature"),
    ("bank.co.uk", "mail.bank.co.uk"): (True, "pass"),
}
UNASKED = "unasked.example"  # only of its own signatures
RECORDS = {
    "strict.example": STRICT,
    "relaxed.example": RELAXED,
    "failing.example": Record(rcode="SERVFAIL"),
    "silent.example": Record(silent=True),
    "allowed.strict.example": RELAXED,
    "suffix.example": SUFFIX,
    "failing.relaxed.example": Record(rcode="SERVFAIL"),
    "co.uk": RELAXED,
    "deep.example": RELAXED,
}
DEEP = "a.b.c.d.e.f.g.h.deep.example"  # of more labels than a walk has names
DEEP_SIGNERS = [f"{letter * 2}.s.t.u.v.w.x.y.deep.example" for letter in "abcd"]


class World:
    def __init__(self, stack):
        self.folder = stack.enter_context(temporary_folder("owner-rules"))
        self.private = new_private_key()
        zone = {f"_dmarc.{domain}": record for domain, record in RECORDS.items()}
        signers = {signer for domain in (*BY_A_CHILD, UNASKED) for signer in (domain, f"mg.{domain}")}
        signers |= {signer for _, signer in BY_ANOTHER} | set(DEEP_SIGNERS)
        zone |= {key.record_name: key.record for key in map(self.key, signers)}
        self.names = stack.enter_context(FaultyNameServer(self.folder / "names", zone))
        self.whitelist = self.folder / "whitelist.bloom"
        listed = {*BY_A_CHILD, *(domain for domain, _ in BY_ANOTHER), UNASKED, DEEP}
        build_filter_of(self.whitelist, [f"joe@{domain}" for domain in sorted(listed)])

    def key(self, domain):
        return SigningKey(domain, private=self.private)

    def message(self, domain, *signers):
        raw = content(f"joe@{domain}")
        for signer in signers:
            raw = self.key(signer).sign(raw)
        return raw

    def owners_asked(self):
        return [name for name in self.names.questions() if name.startswith("_dmarc.")]

    def explained(self, domain, signer, alignment):
        """The decision, the mark, and what is said of owners."""
        command = [built("milter/bloomgate-milter"), "--config", "/dev/null", "--json", "--whitelist", self.whitelist,
                   "--dns-servers", self.names.option, "--alignment", alignment, "--explain",
                   "--mark-tells-why", "yes",
                   "--from", "x@other.example"]
        done = subprocess.run(command, input=self.message(domain, signer), capture_output=True)
        assert done.stdout, done.stderr
        said = json.loads(done.stdout)
        rules = [(step["subject"], step["key"], step["outcome"]) for step in said["steps"]
                 if step["step"] == "owner-rule"]
        return said["decision"], said["mark"], rules


@pytest.fixture(scope="module")
def world():
    with ExitStack() as stack:
        yield World(stack)


@pytest.fixture(scope="module")
def gateway(world, start_shared_gateway):
    return start_shared_gateway.start(world.folder, GatewayConfig(world.whitelist, settings={
        "authentication": "required", "alignment": "relaxed", "dns-servers": world.names.option}))


def outcomes(gateway, raws):
    """Of each message: whether it was delivered, and what the log says of its signatures."""
    found = []
    for delivery in gateway.send(*(RawMessage("x@other.example", raw=raw) for raw in raws)):
        [mark] = delivery.marks
        [line] = gateway.daemon.lines_of(delivery.queue_id)
        found.append((mark.startswith("deliver;"), "".join(re.findall(r" dkim=(\S+)", line))))
    return found


def test_a_signature_of_a_domain_below_counts_if_the_owner_s_record_does_not_forbid_it(world, gateway):
    raws = [world.message(domain, f"mg.{domain}") for domain in BY_A_CHILD]
    assert dict(zip(BY_A_CHILD, outcomes(gateway, raws))) == BY_A_CHILD


def test_a_signature_of_another_domain_counts_if_the_records_make_both_one_organisation(world, gateway):
    raws = [world.message(*pair) for pair in BY_ANOTHER]
    assert dict(zip(BY_ANOTHER, outcomes(gateway, raws))) == BY_ANOTHER


def test_no_name_of_a_stranger_below_the_same_suffix_is_asked_for(world, gateway):
    raw = world.message("bank.co.uk", "stranger.co.uk", "x.stranger.co.uk")
    assert outcomes(gateway, [raw]) == [(False, "no-signature")]
    assert not [name for name in world.names.questions() if "stranger" in name]


def test_a_message_asks_for_at_most_eight_records_for_each_domain_and_for_no_name_twice(world, gateway):
    before = len(world.owners_asked())
    assert outcomes(gateway, [world.message(DEEP, *DEEP_SIGNERS)]) == [(True, "pass")]
    asked = world.owners_asked()[before:]
    of_sender = {f"_dmarc.{DEEP}", "_dmarc.deep.example"} | {
        f"_dmarc.{'.'.join(DEEP.split('.')[-count:])}" for count in range(3, 8)}
    assert of_sender <= set(asked)
    assert len(of_sender) == 7 and len(asked) == len(set(asked))
    # The four signers have all but their first name in common.
    of_signers = set(asked) - of_sender - {"_dmarc.example"}
    assert of_signers == {f"_dmarc.{signer}" for signer in DEEP_SIGNERS} | {
        f"_dmarc.{'.'.join(DEEP_SIGNERS[0].split('.')[-count:])}" for count in range(3, 8)}


def test_the_domain_s_own_signature_counts_whatever_its_record_says(world, gateway):
    raws = [world.message(domain, domain) for domain in BY_A_CHILD]
    assert outcomes(gateway, raws) == [(True, "pass")] * len(raws)


def test_no_owner_is_asked_where_only_the_domain_s_own_signature_can_count(world, gateway):
    own = world.message(UNASKED, UNASKED)
    too_old = world.key(f"mg.{UNASKED}").sign(own, tags={b"t": b"1000000000"})
    unsigned = content(f"joe@{UNASKED}")
    assert outcomes(gateway, [own, too_old, unsigned]) == [(True, "pass"), (True, "pass"), (False, "no-signature")]
    assert f"_dmarc.{UNASKED}" not in world.owners_asked()


def test_an_owner_is_asked_once_for_many_messages(world, gateway):
    def asked():
        """How often for the names that exist: this name server does not say how long one does not. Of the one that gets no
        answer, libunbound may still be asking."""
        return Counter(name for name in world.owners_asked() if name.removeprefix("_dmarc.") in RECORDS.keys() - {"silent.example"})

    raw = world.message("allowed.strict.example", "mg.allowed.strict.example")
    outcomes(gateway, [raw])
    before = asked()
    assert before["_dmarc.allowed.strict.example"] == before["_dmarc.strict.example"] == 1
    assert outcomes(gateway, [raw] * 5) == [(True, "pass")] * 5
    assert asked() == before


def test_the_explanation_shows_the_owner_s_rule(world):
    decision, mark, rules = world.explained("strict.example", "mg.strict.example", "relaxed")
    assert (decision, rules) == ("check", [("mg.strict.example", "strict.example", "other-domain-not-allowed")])
    assert mark.endswith("; dkim=other-domain-not-allowed")
    assert world.explained("relaxed.example", "mg.relaxed.example", "relaxed")[::2] == (
        "deliver", [("mg.relaxed.example", "relaxed.example", "pass")])


@pytest.mark.parametrize("alignment", ["parent", "strict"])
def test_no_owner_is_asked_with_another_alignment(world, alignment):
    def asked():
        # Of this one, which gets no answer, libunbound may still be asking.
        return [name for name in world.owners_asked() if name != "_dmarc.silent.example"]

    before = asked()
    assert world.explained("relaxed.example", "mg.relaxed.example", alignment)[::2] == ("check", [])
    by_domain_above = "deliver" if alignment == "parent" else "check"
    assert world.explained("shop.strict.example", "strict.example", alignment)[::2] == (by_domain_above, [])
    assert asked() == before
