"""A daemon that is stopped and started, and killed and started, a hundred times in all under load: every message is
accounted for, and no unlisted one is delivered."""

import os
import time

import pytest
import test_sendmail
from conftest import LISTED
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH
from traffic import Traffic

pytestmark = pytest.mark.all_only

TIMES = int(os.environ.get("BLOOMGATE_RESTARTS", "50"))
start = test_sendmail.start


def restart(gateway):
    assert gateway.daemon.stop() == 0
    gateway.daemon.start()


def kill(gateway):
    gateway.daemon.kill()
    gateway.daemon.start()


def interrupted(gateway, interruption, **traffic):
    """What happened to all mail, the daemon being interrupted in between."""
    with Traffic(gateway, **traffic) as flowing:
        for _ in range(TIMES):
            flowing.wait_for(4, since=time.monotonic())
            interruption(gateway)
        flowing.wait_for(4, since=time.monotonic())
    return gateway.deliveries(flowing.sent, seconds=120)


@pytest.mark.parametrize("interruption", [restart, kill])
def test_behind_postfix_every_message_arrives_once(start_gateway, interruption):
    # A Postfix that has lost the daemon asks it again with the next connection.
    deliveries = interrupted(start_gateway(), interruption, of_connection=4)
    for delivery in deliveries:
        is_delivered = any(mark.startswith("deliver") for mark in delivery.marks)
        assert delivery.place == (LIGHT_PATH if is_delivered else DEEP_CHECK)
        assert delivery.message.path == LISTED or not is_delivered
        assert len(delivery.marks) <= 1
    tell(deliveries)


@pytest.mark.parametrize("interruption", [restart, kill])
def test_behind_sendmail_every_message_arrives_once(start, interruption):
    deliveries = interrupted(start(), interruption, of_connection=4)
    for delivery in deliveries:
        assert delivery.received is not None
        assert delivery.message.path == LISTED or not any(mark.startswith("deliver") for mark in delivery.marks)
        assert len(delivery.marks) <= 1
    tell(deliveries)


def tell(deliveries):
    unmarked = sum(not delivery.marks for delivery in deliveries)
    print(f"{len(deliveries)} messages, {TIMES} times; {unmarked} went on without a mark")
    assert 0 < unmarked < len(deliveries)
