"""What the configuration changes, seen from the mail server."""

import stat

from conftest import LISTED, UNLISTED
from private_mail.client import Message
from private_mail.gateway import DEEP_CHECK


def test_observe_decides_and_logs_and_touches_nothing(start_gateway):
    gateway = start_gateway(settings={"mode": "observe"}, removes_forged_marks=False)
    forged = (b"X-Bloomgate: deliver", b"X-Bloomgate: check")
    deliveries = gateway.send(Message(LISTED), Message(UNLISTED, forged))
    assert [delivery.place for delivery in deliveries] == [DEEP_CHECK, DEEP_CHECK]
    assert [delivery.marks for delivery in deliveries] == [[], ["deliver", "check"]]
    for delivery, decision in zip(deliveries, ("deliver", "check")):
        [line] = gateway.daemon.lines_of(delivery.queue_id)
        assert decision in line


def test_the_socket_has_the_mode_and_group_of_the_configuration(start_gateway):
    gateway = start_gateway(settings={"socket-mode": "0620"})
    assert stat.S_IMODE(gateway.daemon.address.stat().st_mode) == 0o620
    assert gateway.send(Message(LISTED))[0].place == DEEP_CHECK  # Postfix is another user: it cannot connect
