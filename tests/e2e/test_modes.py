"""What the configuration changes, seen from the mail server."""

import stat

import pytest
from conftest import LISTED, UNLISTED, assert_it_serves
from private_mail.client import Message
from private_mail.daemon import USER
from private_mail.gateway import DEEP_CHECK
from private_mail.processes import Program


def test_observe_decides_and_logs_and_touches_nothing(start_gateway):
    gateway = start_gateway(settings={"mode": "observe"}, removes_forged_marks=False)
    forged = (b"X-Bloomgate: deliver", b"X-Bloomgate: check")
    deliveries = gateway.send(Message(LISTED), Message(UNLISTED, forged))
    assert [delivery.place for delivery in deliveries] == [DEEP_CHECK, DEEP_CHECK]
    assert [delivery.marks for delivery in deliveries] == [[], ["deliver", "check"]]
    for delivery, decision in zip(deliveries, ("deliver", "check")):
        [line] = gateway.daemon.lines_of(delivery.queue_id)
        assert decision in line


def test_a_missing_whitelist_is_allowed_where_the_configuration_says_so(start_gateway):
    gateway = start_gateway(settings={"allow-missing-whitelist": "yes"})
    gateway.daemon.kill()
    gateway.config.whitelist.rename(gateway.config.whitelist.with_suffix(".away"))
    gateway.daemon.start()
    [delivery] = gateway.send(Message(LISTED))
    assert delivery.place == DEEP_CHECK
    assert [mark.split(";")[0] for mark in delivery.marks] == ["check"]


def test_a_missing_whitelist_stops_the_start_otherwise(start_gateway):
    gateway = start_gateway()
    gateway.daemon.kill()
    gateway.config.whitelist.unlink()
    program = gateway.daemon.launch()
    assert program.wait() != 0
    assert str(gateway.config.whitelist) in gateway.daemon.log()


def test_the_socket_has_the_mode_and_group_of_the_configuration(start_gateway):
    gateway = start_gateway(settings={"socket-mode": "0620"})
    assert stat.S_IMODE(gateway.daemon.address.stat().st_mode) == 0o620
    assert gateway.send(Message(LISTED))[0].place == DEEP_CHECK  # Postfix is another user: it cannot connect


@pytest.mark.parametrize("inet, words",
                         [(False, "another program listens on it"), (True, "Address already in use")],
                         ids=["unix", "inet"])
def test_a_socket_in_use_is_not_taken_over(start_gateway, inet, words):
    gateway = start_gateway(inet=inet)
    second = Program(gateway.daemon.command(), gateway.folder / "second.log", user=USER)
    assert second.wait() != 0
    assert words in second.log()
    assert_it_serves(gateway)


def test_a_file_that_is_no_socket_is_not_removed(start_gateway):
    gateway = start_gateway()
    gateway.daemon.kill()
    gateway.daemon.address.unlink()
    gateway.daemon.address.write_text("precious")
    assert gateway.daemon.launch().wait() != 0
    assert gateway.daemon.address.read_text() == "precious"
