"""Whether the owner of a sender's domain lets other domains of the organisation sign (adkim of its DMARC record): asked
with `alignment = relaxed`, and only where a signature of another domain decides."""

import json
import re
import subprocess
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

# A sender's domain -> whether mail that a domain below it has signed is delivered, and what the log says (dkim=).
BY_A_CHILD = {
    "strict.example": (False, "other-domain-not-allowed"),
    "relaxed.example": (True, "pass"),
    "silent-on-it.example": (True, "pass"),
    "without.example": (True, "pass"),
    "other-text.example": (True, "pass"),
    "twice.example": (False, "other-domain-not-allowed"),
    "failing.example": (False, "name-server-failed"),
    "silent.example": (False, "name-timeout"),
    "shop.strict.example": (False, "other-domain-not-allowed"),
    "shop.failing.example": (False, "name-server-failed"),
    "allowed.strict.example": (True, "pass"),
    "forbidden.relaxed.example": (False, "other-domain-not-allowed"),
}
UNASKED = "unasked.example"  # only of its own signatures
RECORDS = {
    "strict.example": STRICT,
    "relaxed.example": RELAXED,
    "silent-on-it.example": "v=DMARC1; p=reject",
    "other-text.example": "v=spf1 -all",
    "twice.example": Record((RELAXED, RELAXED)),
    "failing.example": Record(rcode="SERVFAIL"),
    "silent.example": Record(silent=True),
    "allowed.strict.example": RELAXED,
    "forbidden.relaxed.example": STRICT,
}


class World:
    def __init__(self, stack):
        self.folder = stack.enter_context(temporary_folder("owner-rules"))
        self.private = new_private_key()
        zone = {f"_dmarc.{domain}": record for domain, record in RECORDS.items()}
        for domain in (*BY_A_CHILD, UNASKED):
            zone |= {key.record_name: key.record for key in (self.key(domain), self.key(f"mg.{domain}"))}
        self.names = stack.enter_context(FaultyNameServer(self.folder / "names", zone))
        self.whitelist = self.folder / "whitelist.bloom"
        build_filter_of(self.whitelist, [f"joe@{domain}" for domain in (*BY_A_CHILD, UNASKED)])

    def key(self, domain):
        return SigningKey(domain, private=self.private)

    def message(self, domain, signer):
        return self.key(signer).sign(content(f"joe@{domain}"))

    def owners_asked(self):
        return [name for name in self.names.questions() if name.startswith("_dmarc.")]

    def explained(self, domain, signer, alignment):
        """The decision, the mark, and what is said of owners."""
        command = [built("milter/bloomgate-milter"), "--config", "/dev/null", "--json", "--whitelist", self.whitelist,
                   "--dns-servers", self.names.option, "--alignment", alignment, "--explain",
                   "--from", "x@other.example"]
        done = subprocess.run(command, input=self.message(domain, signer), capture_output=True)
        assert done.stdout, done.stderr
        said = json.loads(done.stdout)
        rules = [(step["key"], step["outcome"]) for step in said["steps"] if step["step"] == "owner-rule"]
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
    raw = world.message("allowed.strict.example", "mg.allowed.strict.example")
    outcomes(gateway, [raw])
    before = world.owners_asked()
    assert "_dmarc.allowed.strict.example" in before
    assert outcomes(gateway, [raw] * 5) == [(True, "pass")] * 5
    assert world.owners_asked() == before


def test_the_explanation_shows_the_owner_s_rule(world):
    decision, mark, rules = world.explained("strict.example", "mg.strict.example", "relaxed")
    assert (decision, rules) == ("check", [("strict.example", "other-domain-not-allowed")])
    assert mark.endswith("; dkim=other-domain-not-allowed")
    assert world.explained("relaxed.example", "mg.relaxed.example", "relaxed")[::2] == (
        "deliver", [("relaxed.example", "pass")])


@pytest.mark.parametrize("alignment", ["parent", "strict"])
def test_no_owner_is_asked_with_another_alignment(world, alignment):
    before = world.owners_asked()
    assert world.explained("relaxed.example", "mg.relaxed.example", alignment)[::2] == ("check", [])
    by_domain_above = "deliver" if alignment == "parent" else "check"
    assert world.explained("shop.strict.example", "strict.example", alignment)[::2] == (by_domain_above, [])
    assert world.owners_asked() == before
