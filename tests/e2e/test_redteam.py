"""Messages as an attacker composes them, each with real signatures, are decided by the rules (tests/redteam/rules.py): by
--explain, and with --all behind Postfix, which is what the daemon sees of them."""

import itertools
import json
import random
import subprocess
import sys
from collections import Counter

import pytest
from conftest import skip_without_root
from private_mail.client import RawMessage
from private_mail.filter import REPOSITORY, build_filter_of, built
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH, Gateway, GatewayConfig
from private_mail.name_server import NameServer, NameServerConfig
from private_mail.processes import temporary_folder
from private_mail.signing import SigningKey, new_private_key

sys.path.insert(0, str(REPOSITORY / "tests/redteam"))

from rules import Message, Policy, domain, speaks_for  # noqa: E402

ENVELOPES = ("", "joe@a.example", "prvs=4f2a1b3c5d=joe@a.example", "neighbour@a.example", "any@corp.example",
             "any@x.tree.example", "SRS0=HHHH=TT=a.example=joe@fwd.example", "x@other.example")
SENDERS = ("joe@a.example", "neighbour@a.example", "any@corp.example", "else@corp.example", "any@y.tree.example",
           "x@other.example")
SIGNERS = ("", "a.example", "child.a.example", "corp.example", "x.tree.example", "tree.example", "fwd.example",
           "other.example")
FINDINGS = ("", "pass", "fail")
IDENTITIES = ("envelope", "header-from", "either", "both")
ALIGNMENTS = ("parent", "strict", "relaxed")
SPF_PROVES = ("domain", "address", "no")
# The domains whose owners let no other domain of the organisation sign; the other ones have no record.
STRICT_OWNERS = {"a.example"}
ALLOWING = {domain(address) for address in (*ENVELOPES, *SENDERS)} - STRICT_OWNERS
CASES = 160  # the rules themselves are held against every state: tests/redteam/decide_states.cpp, hear_states.cpp


def passes_dmarc(envelope, sender, signer, spf):
    return speaks_for(signer, domain(sender), "relaxed") or (
        spf == "pass" and speaks_for(domain(envelope), domain(sender), "relaxed"))


def drawn_cases():
    """Of all combinations as many that the rules deliver as not, the same in each run."""
    everything = []
    for envelope, sender, signer, spf, dmarc, own in itertools.product(
            ENVELOPES, SENDERS, SIGNERS, FINDINGS, FINDINGS, (True, False)):
        if own and (spf or dmarc):
            continue  # the daemon itself checks neither
        if dmarc == "pass" and not passes_dmarc(envelope, sender, signer, spf):
            continue  # no honest milter says so
        everything.append(((envelope, sender, spf, signer, dmarc), own))
    choose = random.Random(29)
    choose.shuffle(everything)
    kept, count = [], Counter()
    for values, own in everything:
        policy = (choose.choice(IDENTITIES), choose.choice(ALIGNMENTS), choose.choice(SPF_PROVES))
        wanted = Policy(policy[0], "required", *policy[1:]).delivers(Message(*values, own, False, ALLOWING))
        if count[wanted] < CASES // 2:
            count[wanted] += 1
            kept.append((values, own, policy, wanted))
    return kept


@pytest.fixture(scope="module")
def keys():
    private = new_private_key()
    return {domain: SigningKey(domain, private=private) for domain in SIGNERS if domain}


@pytest.fixture(scope="module")
def folder():
    with temporary_folder("redteam") as folder:
        yield folder


@pytest.fixture(scope="module")
def names(folder, keys):
    records = {key.record_name: key.record for key in keys.values()}
    records |= {f"_dmarc.{owner}": "v=DMARC1; p=none; adkim=s" for owner in STRICT_OWNERS}
    with NameServer(folder / "names", NameServerConfig(records)) as names:
        yield names


@pytest.fixture(scope="module")
def whitelist(folder):
    path = folder / "whitelist.bloom"
    build_filter_of(path, ["joe@a.example", "@corp.example", "@.tree.example"])
    return path


def composed(values, own, keys):
    """The bytes of the message, with the results that a trusted milter would write."""
    envelope, sender, spf, signer, dmarc = values
    raw = "\r\n".join([f"From: {sender}", "To: user@example.net", "Subject: composed", "Date: " + now(), "", "Hello.",
                       ""]).encode()
    if signer:
        raw = keys[signer].sign(raw)
    results = [f"spf={spf} smtp.mailfrom={domain(envelope)}"] if spf and envelope else []
    results += [f"dkim=pass header.d={signer}"] if signer and not own else []
    results += [f"dmarc={dmarc} header.from={domain(sender)}"] if dmarc else []
    # Each milter has a field of its own.
    return b"".join(f"Authentication-Results: mx.example.net; {result}\r\n".encode() for result in results) + raw


def now():
    return subprocess.check_output(["date", "-R"], text=True).strip()


def settings(own, policy, names):
    identity, alignment, spf_proves = policy
    return {"identity": identity, "alignment": alignment, "spf-proves": spf_proves, "authentication": "required",
            "dmarc-fail-veto": "yes", "trusted-forwarders": "fwd.example", "dns-servers": names.option,
            **({} if own else {"trusted-authserv-id": "mx.example.net"})}


def test_each_composed_message_is_explained_as_the_rules_decide(keys, names, whitelist):
    cases = drawn_cases()
    assert len(cases) == CASES
    wrong = []
    for values, own, policy, wanted in cases:
        options = [word for name, value in settings(own, policy, names).items() for word in (f"--{name}", value)]
        done = subprocess.run([built("milter/bloomgate-milter"), "--config", "/dev/null", "--whitelist", whitelist,
                               "--explain", "--json", "--from", f"<{values[0]}>", *options],
                              input=composed(values, own, keys), capture_output=True)
        explained = json.loads(done.stdout) if done.returncode == 0 else {"decision": done.stderr.decode()}
        if (explained["decision"] == "deliver") != wanted or explained["decision"] not in ("deliver", "check"):
            wrong.append((values, own, policy, wanted, explained["decision"], explained.get("mark")))
    assert wrong == []


@pytest.mark.all_only
@pytest.mark.parametrize("own", [True, False], ids=["signatures", "trusted-results"])
def test_composed_messages_behind_postfix_go_where_the_rules_say(folder, keys, names, whitelist, own):
    skip_without_root()
    policy = ("either", "parent", "domain")
    cases = [values for values, with_own, _, _ in drawn_cases() if with_own == own][:60]
    with temporary_folder("redteam-gateway") as place, Gateway(place, GatewayConfig(
            whitelist, removes_forged_results=False, settings=settings(own, policy, names))) as gateway:
        sent = [RawMessage(values[0], raw=composed(values, own, keys)) for values in cases]
        places = [delivery.place for delivery in gateway.send(*sent)]
    rules = Policy(policy[0], "required", *policy[1:])
    wanted = [LIGHT_PATH if rules.delivers(Message(*values, own, False)) else DEEP_CHECK for values in cases]
    assert [(case, got) for case, got, want in zip(cases, places, wanted) if got != want] == []
