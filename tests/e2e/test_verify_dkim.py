"""Signatures good and bad through the real Postfix and Sendmail: what is delivered, and what is checked. The same
messages behind OpenDKIM and OpenDMARC, whose results Bloomgate believes: dkim_cases has the reason of each difference.
"""

import base64
import hashlib
import re

import pytest
from conftest import skip_without_root
from dkim_cases import CASES
from dkim_world import (ED25519, GENUINE, LISTED, REVOKED, RSA, STRANGER, UNSIGNED, WHITELIST, checked,
                        delivered, key, names)
from forged_results import FORGED_RESULTS
from mail_world import content
from private_mail import sendmail
from private_mail.client import RawMessage
from private_mail.filter import build_filter_of
from private_mail.gateway import DEEP_CHECK, GatewayConfig
from private_mail.opendkim import OpenDkimConfig
from private_mail.opendmarc import OpenDmarcConfig
from private_mail.processes import temporary_folder, wait_until
from private_mail.sendmail_gateway import SendmailGateway, SendmailGatewayConfig
from private_mail.signing import RELAXED, SIMPLE
from real_signers import by_real_signers

# What an administrator's own header checks do to a message before any milter sees it.
HEADER_CHECKS = """\
/^X-Replaced:/ REPLACE X-Replaced: by Postfix
/^X-Taken-Out:/ IGNORE
/^X-Prepends:/ PREPEND X-Prepended: by Postfix
"""

# OpenDKIM 2.11 signs no simple header with Ed25519 so that it verifies: not by OpenDKIM itself, nor python3-dkim.
BADLY_SIGNED = ("OpenDKIM, ed25519-sha256, simple/simple", "OpenDKIM, ed25519-sha256, simple/relaxed")

@pytest.fixture(scope="module")
def cases():
    """name -> Case, those of the real signers too, which run as their own users."""
    skip_without_root()
    signed = by_real_signers(GENUINE, LISTED, RSA, ED25519)
    return CASES | {name: (checked if name in BADLY_SIGNED else delivered)(raw) for name, raw in signed.items()}


def settings_of(folder, server, **others):
    """Of a Bloomgate that verifies signatures itself: that is what it does by default."""
    (folder / "revoked").write_text(f"{REVOKED}\n")
    return {"authentication": "required", "dmarc-fail-veto": "yes", "dns-servers": server.option,
            "revoked": folder / "revoked", **others}


class World:
    """A name server, and one gateway whose Bloomgate asks it."""

    def __init__(self, gateways, everywhere=False):
        self.gateways = gateways
        self.folder = gateways.enter(temporary_folder("dkim"))
        self.names, self.network = gateways.enter(names(self.folder, everywhere))
        build_filter_of(self.folder / "whitelist.bloom", WHITELIST, "--bits-per-entry", "32")
        self.folder.joinpath("own_header_checks").write_text(HEADER_CHECKS)

    def start_postfix(self, milters=(), **settings):
        # Without other milters there are no results that could be forged.
        tables = ("authentication", "forged_mark", "own") if milters else ("forged_mark", "own")
        main_cf = "header_checks =" + "".join(f" regexp:{self.folder}/{name}_header_checks" for name in tables)
        self.gateway = self.gateways.start(self.folder, GatewayConfig(
            self.folder / "whitelist.bloom", settings=settings_of(self.folder, self.names, **settings),
            milters=milters, network=self.network, main_cf=f"{main_cf}\nmessage_size_limit = 100000000\n"))
        return self

    def start_sendmail(self):
        config = SendmailGatewayConfig(self.folder / "whitelist.bloom",
                                       settings=settings_of(self.folder, self.names), network=self.network)
        self.gateway = self.gateways.enter(SendmailGateway(self.folder / "sendmail", config))
        return self

    def outcomes(self, cases):
        """name -> whether it was delivered, and what the log says of its signatures."""
        with self.gateway.connect() as client:
            sent = [(case, client.send(case.message())) for case in cases.values()]
        return {name: (verdict_of(delivery), self.found(delivery.queue_id))
                for name, delivery in zip(cases, self.gateway.deliveries(sent))}

    def send(self, raw, path=STRANGER):
        [outcome] = self.outcomes({"": delivered(raw, path=path)}).values()
        return outcome

    def found(self, queue_id):
        [line] = self.gateway.daemon.lines_of(queue_id)
        return "".join(re.findall(r" dkim=(\S+)", line))


def verdict_of(delivery):
    [mark] = delivery.marks
    verdict = mark.split(";")[0]
    assert verdict in ("deliver", "check")
    return verdict == "deliver"


@pytest.fixture(scope="module")
def world(start_shared_gateway):
    return World(start_shared_gateway).start_postfix()


def wanted(case, found):
    """An outcome, as outcomes() has it. What the log says counts where the table says it."""
    return case.delivered, case.found or ("pass" if case.delivered else found)


def assert_all_are_as_in_table(outcomes, cases):
    assert len(outcomes) > 100
    assert outcomes == {name: wanted(cases[name], found) for name, (_, found) in outcomes.items()}


def test_signatures_are_verified_behind_postfix(world, cases):
    assert_all_are_as_in_table(world.outcomes(cases), cases)


def test_signatures_are_verified_behind_sendmail(start_shared_gateway, cases):
    if sendmail.can_run():
        pytest.skip(sendmail.can_run())
    world = World(start_shared_gateway).start_sendmail()
    assert_all_are_as_in_table(
        world.outcomes({name: case for name, case in cases.items() if not case.postfix_only}), cases)


@pytest.mark.all_only  # it compares with other programs
def test_opendkim_and_opendmarc_decide_alike_except_where_the_table_says_why_not(start_shared_gateway, cases):
    world = World(start_shared_gateway, everywhere=True)
    if world.network is None:
        pytest.skip("the milters before Bloomgate ask a name server in a network of its own")
    milters = OpenDkimConfig(network=world.network), OpenDmarcConfig(world.network)
    world.start_postfix(milters, **{"verify-dkim": "no"})
    assert [name for name, case in cases.items() if (case.today is None) != (not case.because)] == []
    assert {name: was_delivered for name, (was_delivered, _) in world.outcomes(cases).items()} == {
        name: case.delivered if case.today is None else case.today for name, case in cases.items()}


def test_a_fast_name_server_is_given_time_for_what_it_has_to_fetch(world):
    assert world.send(key("slow").sign(GENUINE)) == (True, "pass")
    assert world.send(key("fetched").sign(GENUINE)) == (True, "pass")


def test_a_key_is_looked_up_once_for_many_messages(world):
    raw = key("in-pieces").sign(GENUINE)
    world.send(raw)
    before = world.names.questions()
    assert [world.send(raw) for _ in range(5)] == [(True, "pass")] * 5
    assert world.names.questions() == before


def test_forged_results_count_for_nothing_by_default(world):
    outcomes = world.outcomes({name: delivered(content(UNSIGNED, *fields), path=UNSIGNED)
                               for name, fields in FORGED_RESULTS.items()})
    # Some programs end a line at a vertical tab, so nothing in such a header is verified.
    wanted = {name: (False, "" if any(b"\x0b" in field for field in fields) else "no-signature")
              for name, fields in FORGED_RESULTS.items()}
    assert outcomes == wanted


def test_a_body_of_50_mb_is_verified(world):
    body = b"0123456789abcdefghijklmnopqrstuvwxyz\r\n" * (50 * 2**20 // 38)
    # The signer would take many seconds for it.
    hashed = base64.b64encode(hashlib.sha256(body).digest())
    raw = RSA.sign(content(LISTED, body=b""), canonicalization=(RELAXED, SIMPLE), tags={b"bh": hashed}) + body
    assert world.send(raw) == (True, "pass")


class Waiting:
    """Messages that all wait for a name: each for one of its own, which no server answers."""

    def __init__(self, world, count):
        self._world = world
        keys = [key(f"n{number}.silent") for number in range(count)]
        self._messages = [RawMessage(STRANGER, raw=each.sign(GENUINE)) for each in keys]
        self._clients = [world.gateway.connect() for _ in keys]
        for client, message in zip(self._clients, self._messages):
            client.begin(message)
        names = {each.record_name for each in keys}
        wait_until(lambda: names.issubset(world.names.questions()), "the daemon to ask for all keys")

    def deliveries(self):
        sent = [(message, client.end()) for client, message in zip(self._clients, self._messages)]
        for client in self._clients:
            client.__exit__()
        return self._world.gateway.deliveries(sent)


def test_mail_that_waits_for_a_name_holds_up_no_other(world):
    waiting = Waiting(world, 30)
    before = len(world.gateway.daemon.log())
    [delivery] = world.gateway.send(RawMessage(STRANGER, raw=RSA.sign(GENUINE)))
    assert verdict_of(delivery)
    world.gateway.daemon.lines_of(delivery.queue_id)
    assert "dkim=name-timeout" not in world.gateway.daemon.log()[before:].partition(delivery.queue_id)[0]
    deliveries = waiting.deliveries()
    assert {(verdict_of(each), world.found(each.queue_id)) for each in deliveries} == {(False, "name-timeout")}


def test_a_daemon_that_dies_while_it_waits_for_a_name_loses_no_message(start_gateway):
    world = World(start_gateway).start_postfix()
    waiting = Waiting(world, 5)
    world.gateway.daemon.kill()
    assert [(each.place, each.marks) for each in waiting.deliveries()] == [(DEEP_CHECK, [])] * 5


def test_require_oversigned_needs_from_signed_once_more_than_it_occurs(world, cases):
    by_opendkim = next(name for name in cases if name.startswith("OpenDKIM, rsa"))
    wanted = {"a signature that also covers a second From": (True, "pass"), by_opendkim: (True, "pass"),
              "a signature with a key of 1024 bits": (False, "from-not-oversigned"), "a second From on top": (False, "")}
    settings = world.gateway.daemon.config.settings
    world.gateway.daemon.restart({**settings, "require-oversigned": "yes"})
    found = world.outcomes({name: cases[name] for name in wanted})
    world.gateway.daemon.restart(settings)
    assert found == wanted
