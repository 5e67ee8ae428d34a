"""Keys of signatures in zones that DNSSEC vouches for, and in such that it does not: with a trust anchor, a forged key is
no key. Most ask --explain, which verifies as the daemon does."""

import json
import subprocess
from contextlib import ExitStack
from dataclasses import replace

import pytest
from dkim_world import ATTACKER, GENUINE, STRANGER, WHITELIST, key
from private_mail.client import RawMessage
from private_mail.faulty_name_server import FaultyNameServer
from private_mail.filter import build_filter_of, built
from private_mail.gateway import GatewayConfig
from private_mail.processes import temporary_folder
from private_mail.signed_zone import DAY, SignedZone

VALID, STRIPPED, EXPIRED, MISSING = (key(selector) for selector in ("valid", "stripped", "expired", "missing"))
FORGED = key("forged", private=ATTACKER.private)  # the attacker's key in the place of the real one


def records_of(zone):
    """A good one, and one for each thing that can be wrong with it. No signature vouches that MISSING does not exist."""
    signed = {each: zone.text(each.record_name, each.record) for each in (VALID, STRIPPED)}
    return {
        "example.org": zone.keys,
        VALID.record_name: signed[VALID],
        FORGED.record_name: replace(zone.text(FORGED.record_name, VALID.record), texts=(FORGED.record,)),
        STRIPPED.record_name: replace(signed[STRIPPED], others=()),
        EXPIRED.record_name: zone.text(EXPIRED.record_name, EXPIRED.record, age=30 * DAY),
    }


class World:
    def __init__(self, stack):
        self.folder = stack.enter_context(temporary_folder("dnssec"))
        zone = SignedZone("example.org")
        self.anchor, self.root_anchor = self.folder / "anchor", self.folder / "root_anchor"
        self.anchor.write_text(zone.trust_anchor)
        self.root_anchor.write_text(SignedZone(".").trust_anchor)
        self.names = stack.enter_context(FaultyNameServer(self.folder / "names", records_of(zone)))
        self.whitelist = self.folder / "whitelist.bloom"
        build_filter_of(self.whitelist, WHITELIST)

    def run(self, *options, message=b""):
        command = [built("milter/bloomgate-milter"), "--config", "/dev/null", "--json", "--whitelist", self.whitelist,
                   "--authentication", "required", "--dns-servers", self.names.option, *options]
        done = subprocess.run([str(word) for word in command], input=message, capture_output=True)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    def verified(self, signer, anchor):
        """The decision, and what is said of the signature."""
        raw = signer.sign(GENUINE)
        options = ["--dns-trust-anchor", anchor] if anchor else []
        explanation = self.run("--explain", "--from", STRANGER, *options, message=raw)
        [outcome] = {step["outcome"] for step in explanation["steps"] if step["step"] == "signature"}
        return explanation["decision"], outcome


@pytest.fixture(scope="module")
def world():
    with ExitStack() as stack:
        yield World(stack)


def test_a_key_that_dnssec_vouches_for_is_valid(world):
    assert world.verified(VALID, world.anchor) == ("deliver", "pass")


@pytest.mark.parametrize("signer", [FORGED, STRIPPED, EXPIRED, MISSING], ids=lambda signer: signer.selector)
def test_a_key_that_dnssec_finds_forged_is_invalid(world, signer):
    assert world.verified(signer, world.anchor) == ("check", "dnssec-bogus")


def test_the_daemon_s_log_says_that_it_validates_and_which_keys_dnssec_vouches_for(world, start_gateway):
    gateway = start_gateway.start(world.folder, GatewayConfig(world.whitelist, settings={
        "authentication": "required", "dns-servers": world.names.option, "dns-trust-anchor": world.anchor}))
    for signer, said in ((VALID, "deliver .* dkim=pass .* dnssec=secure"), (FORGED, "check .* dkim=dnssec-bogus ")):
        [delivery] = gateway.send(RawMessage(STRANGER, raw=signer.sign(GENUINE)))
        gateway.daemon.logged(rf"\b{delivery.queue_id}\b.*{said}")
    assert f"validated by DNSSEC with {world.anchor}" in gateway.daemon.log()


def test_without_a_trust_anchor_answers_are_believed(world):
    assert world.verified(STRIPPED, None) == ("deliver", "pass")
    assert world.verified(FORGED, None) == ("deliver", "pass")
    assert world.verified(EXPIRED, None) == ("deliver", "pass")
    assert world.verified(MISSING, None) == ("check", "key-not-found")


def test_behind_servers_that_leave_out_signatures_a_trust_anchor_gets_every_message_checked(world):
    """Therefore there is no trust anchor by default; the doctor reports one that fails."""
    assert world.verified(VALID, world.root_anchor) == ("check", "dnssec-bogus")
    found = world.run("--doctor", "--dns-trust-anchor", world.root_anchor)
    [names] = [finding for finding in found if finding["subject"] == "names"]
    assert names["level"] == "problem"
    assert "the servers may leave out its signatures (dns-trust-anchor)" in names["text"]
