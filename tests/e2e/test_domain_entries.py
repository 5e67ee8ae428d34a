"""Whole domains in a whitelist, behind Postfix."""

from private_mail.client import Message
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH


def test_a_domain_entry_lists_its_own_and_is_named(start_gateway):
    gateway = start_gateway(["@.partner.example", "@supplier.example"])
    cases = {"ann@a.b.c.partner.example": "@.partner.example", "ann@partner.example": "@.partner.example",
             "ann@supplier.example": "@supplier.example"}
    for (sender, entry), delivery in zip(cases.items(), gateway.send(*(Message(sender) for sender in cases))):
        assert delivery.place == LIGHT_PATH, sender
        assert delivery.marks[0].endswith(f"; entry={entry}")
        [line] = gateway.daemon.lines_of(delivery.queue_id)
        assert f" entry={entry}" in line
    [below] = gateway.send(Message("ann@mail.supplier.example"))
    assert below.place == DEEP_CHECK
