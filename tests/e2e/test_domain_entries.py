"""One listed domain must open no side door: an unlisted sender passes no more often than by one look-up, however many labels
its domain has."""

import json
import random
import subprocess

import pytest
from private_mail.client import Message
from private_mail.filter import built
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH

# So many addresses, and so few bits, that two look-ups in a hundred find what is not there.
ADDRESSES = [f"user{i}@example.org" for i in range(4000)]
DOMAINS = ["@.partner.example", "@supplier.example"]
MESSAGES = 300
LABELS = (1, 2, 3, 10, 40, 80, 110, 120)


@pytest.fixture(scope="module")
def gateway(start_shared_gateway):
    return start_shared_gateway(ADDRESSES + DOMAINS)


def strangers():
    draw = random.Random(1)
    for i in range(MESSAGES):
        labels = LABELS[i % len(LABELS)]
        domain = "".join(draw.choice("abcdefghijklmnopqrstuvwxyz") + "." for _ in range(labels - 1)) + "test"
        yield f"s{i}@{domain}"


def test_unlisted_senders_of_many_labels_pass_no_more_often_than_by_one_look_up(gateway):
    command = [built("filter/cli/bloomgate"), "info", "--json", gateway.config.whitelist]
    info = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert 0.01 < info["fpr"] < 0.04
    assert info["domain_entries"] == 2
    senders = list(strangers())
    deliveries = gateway.send(*(Message(sender) for sender in senders))
    passed = [sender for sender, delivery in zip(senders, deliveries) if delivery.place == LIGHT_PATH]
    # Some 6 of 300; by one look-up for each label it would be some 150. Five standard deviations.
    assert len(passed) <= MESSAGES * info["fpr"] + 5 * (MESSAGES * info["fpr"]) ** 0.5, passed


def test_a_domain_entry_lists_its_own_and_is_named(gateway):
    cases = {"ann@a.b.c.partner.example": "@.partner.example", "ann@partner.example": "@.partner.example",
             "ann@supplier.example": "@supplier.example"}
    for (sender, entry), delivery in zip(cases.items(), gateway.send(*(Message(sender) for sender in cases))):
        assert delivery.place == LIGHT_PATH, sender
        assert delivery.marks[0].endswith(f"; entry={entry}")
        [line] = gateway.daemon.lines_of(delivery.queue_id)
        assert f" entry={entry}" in line
    [below] = gateway.send(Message("ann@mail.supplier.example"))
    assert below.place == DEEP_CHECK
