"""Signatures good and bad: what is delivered, and what is checked, behind OpenDKIM and OpenDMARC, whose results
Bloomgate believes. Each difference from the table of dkim_cases has its reason there."""

import pytest
from dkim_cases import CASES
from dkim_world import ED25519, GENUINE, LISTED, RSA, WHITELIST, checked, delivered, names
from private_mail.filter import build_filter_of
from private_mail.gateway import GatewayConfig
from private_mail.opendkim import OpenDkimConfig
from private_mail.opendmarc import OpenDmarcConfig
from private_mail.processes import temporary_folder
from real_signers import by_real_signers, names_of_signers

# What an administrator's own header checks do to a message before any milter sees it.
HEADER_CHECKS = """\
/^X-Replaced:/ REPLACE X-Replaced: by Postfix
/^X-Taken-Out:/ IGNORE
/^X-Prepends:/ PREPEND X-Prepended: by Postfix
"""

# OpenDKIM 2.11 signs no simple header with Ed25519 so that it verifies: not by OpenDKIM itself, nor python3-dkim.
BADLY_SIGNED = ("OpenDKIM, ed25519-sha256, simple/simple", "OpenDKIM, ed25519-sha256, simple/relaxed")

NAMES = [*CASES, *names_of_signers(RSA, ED25519)]


@pytest.fixture(scope="module")
def cases():
    """name -> Case, those of the real signers too."""
    signed = by_real_signers(GENUINE, LISTED, RSA, ED25519)
    return CASES | {name: (checked if name in BADLY_SIGNED else delivered)(raw) for name, raw in signed.items()}


def start_postfix(gateways, milters_of, settings_of):
    """A gateway in a network where a name server has all names. Both arguments are called with that name server and
    network: they give the milters before Bloomgate, and Bloomgate's settings."""
    folder = gateways.enter(temporary_folder("dkim"))
    server, network = gateways.enter(names(folder, everywhere=True))
    if network is None:
        pytest.skip("the milters before Bloomgate ask a name server in a network of its own")
    build_filter_of(folder / "whitelist.bloom", WHITELIST, "--bits-per-entry", "32")
    (folder / "own_header_checks").write_text(HEADER_CHECKS)
    main_cf = "header_checks =" + "".join(
        f" regexp:{folder}/{name}_header_checks" for name in ("authentication", "forged_mark", "own"))
    return gateways.start(folder, GatewayConfig(
        folder / "whitelist.bloom", settings=settings_of(server), milters=milters_of(network), network=network,
        main_cf=main_cf + "\n"))


def verdicts(gateway, cases):
    """name -> whether it was delivered."""
    with gateway.connect() as client:
        sent = [(case, client.send(case.message())) for case in cases.values()]
    return {name: verdict_of(delivery) for name, delivery in zip(cases, gateway.deliveries(sent))}


def verdict_of(delivery):
    [mark] = delivery.marks
    verdict = mark.split(";")[0]
    assert verdict in ("deliver", "check")
    return verdict == "deliver"


@pytest.fixture(scope="module")
def behind_opendkim(start_shared_gateway, cases):
    gateway = start_postfix(
        start_shared_gateway, lambda network: (OpenDkimConfig(network=network), OpenDmarcConfig(network)),
        lambda _: {})
    return verdicts(gateway, cases)


@pytest.mark.parametrize("name", NAMES)
def test_opendkim_and_opendmarc_decide_alike_but_where_the_table_says_why_not(behind_opendkim, cases, name):
    case = cases[name]
    assert (case.today is None) == (not case.because)
    assert behind_opendkim[name] == (case.delivered if case.today is None else case.today)
