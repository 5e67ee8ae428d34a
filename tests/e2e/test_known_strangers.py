"""An excluded sender is checked, even if the bits of the whitelist would list it; a sender that is an entry is delivered."""

import json
import subprocess

import pytest
from private_mail.client import Message
from private_mail.filter import build_filter_of, built
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH

# Few bits, so that many unlisted senders hit them.
ADDRESSES = [*(f"user{i}@example.org" for i in range(8000)), "@partner.example"]
STRANGERS = [f"stranger{i}@attacker.example" for i in range(400)]
OPTIONS = ("--bits-per-entry", "4", "--hashes", "2", "--no-sender-domains")


def bloomgate(*words):
    return subprocess.run([built("filter/cli/bloomgate"), *words], capture_output=True, text=True)


def hits_of(folder):
    """The senders that a filter without exclusions lists."""
    build_filter_of(folder / "plain.bloom", ADDRESSES, *OPTIONS)
    answers = bloomgate("query", folder / "plain.bloom", "--listed", *STRANGERS)
    return [line.split("\t")[1] for line in answers.stdout.splitlines()]


@pytest.fixture(scope="module")
def hits(tmp_path_factory):
    return hits_of(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def gateway(start_shared_gateway, tmp_path_factory):
    # One address and one whole domain of them are entries all the same.
    not_list = tmp_path_factory.mktemp("strangers") / "not.txt"
    not_list.write_text("\n".join([*STRANGERS, "user7@example.org", "ann@partner.example"]) + "\n", encoding="utf-8")
    return start_shared_gateway(ADDRESSES, *OPTIONS, "--never-match", not_list)


def test_excluded_senders_that_hit_the_bits_are_checked_and_entries_are_delivered(gateway, hits):
    assert len(hits) > 20
    counts = json.loads(bloomgate("info", "--json", gateway.config.whitelist).stdout)["known_strangers"]
    assert counts == {"known": 402, "hits": len(hits) + 1, "excluded": len(hits), "entries": 1, "by_domain": 1}
    for delivery in gateway.send(*(Message(sender) for sender in hits)):
        assert delivery.place == DEEP_CHECK, delivery.message
        assert "reason=not-listed" in delivery.marks[0]
    listed = ["user7@example.org", "ann@partner.example", "user8@example.org"]
    for delivery in gateway.send(*(Message(sender) for sender in listed)):
        assert delivery.place == LIGHT_PATH, delivery.message
