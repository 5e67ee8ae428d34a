"""A listed sender who sends much at once, through the real Postfix: what it gets, and what an operator sees of it."""

import urllib.request

from conftest import LISTED, UNLISTED, places
from private_mail.client import Message
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH
from private_mail.processes import free_port


def test_a_listed_sender_who_sends_much_at_once_is_checked_also_after_a_restart(start_gateway):
    port = free_port()
    settings = {"burst-limit": 5, "burst-observe": "0d", "mark-tells-why": "no", "metrics": f"127.0.0.1:{port}"}
    gateway = start_gateway(settings=settings)
    assert places(gateway, *[LISTED] * 5) == [LIGHT_PATH] * 5
    held = gateway.send(Message(LISTED))[0]
    assert held.place == DEEP_CHECK
    assert held.marks[0].startswith("check; reason=not-proven")  # which says nothing of the lists
    [line] = gateway.daemon.lines_of(held.queue_id)
    assert "decision=check reason=burst" in line and "whitelist=whitelist" in line
    assert places(gateway, UNLISTED) == [DEEP_CHECK]
    page = urllib.request.urlopen(f"http://127.0.0.1:{port}/").read().decode()
    assert "Listed senders who send much more than usual" in page and "messages were checked" in page

    gateway.daemon.restart(settings)
    assert places(gateway, LISTED) == [DEEP_CHECK]


def test_at_first_it_observes_and_tells_what_it_would_have_checked(start_gateway):
    port = free_port()
    gateway = start_gateway(settings={"burst-limit": 2, "metrics": f"127.0.0.1:{port}"})
    assert places(gateway, *[LISTED] * 5) == [LIGHT_PATH] * 5
    figures = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
    assert "\nbloomgate_burst_observed_total 3\n" in figures
    assert "\nbloomgate_burst_observing 1\n" in figures
