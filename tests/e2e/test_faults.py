"""What goes wrong costs a deep check, and never a message."""

import contextlib
import fcntl
import os
import shutil
import time

import pytest
from conftest import LISTED, LISTED_BY, UNLISTED, assert_it_serves
from private_mail.client import Message
from private_mail.daemon import RELOADED, USER
from private_mail.filter import build_filter_of
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH
from private_mail.processes import wait_until
from traffic import Traffic


@pytest.fixture
def gateway(start_gateway):
    # 20 MB, so that a truncated file has pages that no program has touched.
    return start_gateway([LISTED], "--expected-entries", "20000000")


def assert_none_lost_and_none_waved_through(deliveries):
    for delivery in deliveries:
        if delivery.message.path == LISTED:
            marked = any(mark.startswith("deliver") for mark in delivery.marks)
            assert delivery.place == (LIGHT_PATH if marked else DEEP_CHECK)
        else:
            assert delivery.place == DEEP_CHECK
        assert len(delivery.marks) <= 1


def test_a_killed_daemon_sends_all_mail_to_the_deep_check(gateway):
    gateway.daemon.kill()
    forged = Message(UNLISTED, (b"X-Bloomgate: deliver; reason=listed; host=mx.example.net",))
    deliveries = gateway.send(Message(LISTED), Message(UNLISTED), Message(""), forged)
    assert [delivery.place for delivery in deliveries] == [DEEP_CHECK] * 4


def test_a_daemon_killed_under_load_loses_nothing(gateway):
    with Traffic(gateway) as traffic:
        traffic.wait_for(50)
        gateway.daemon.kill()
        killed = time.monotonic()
        traffic.wait_for(50, since=killed)
    deliveries = gateway.deliveries(traffic.sent)
    assert_none_lost_and_none_waved_through(deliveries)
    assert LIGHT_PATH in {delivery.place for delivery in deliveries}
    assert {delivery.place for delivery in gateway.deliveries(traffic.sent_since(killed))} == {DEEP_CHECK}


def test_a_daemon_stopped_under_load_ends_well_and_loses_nothing(gateway):
    with Traffic(gateway) as traffic:
        traffic.wait_for(50)
        assert gateway.daemon.stop() == 0
        traffic.wait_for(50, since=time.monotonic())
    assert_none_lost_and_none_waved_through(gateway.deliveries(traffic.sent))


def test_a_log_without_a_reader_holds_up_neither_mail_nor_the_end(gateway):
    daemon = gateway.daemon
    daemon.stop()
    daemon.log_file.unlink()
    os.mkfifo(daemon.log_file)
    log = os.open(daemon.log_file, os.O_RDWR | os.O_NONBLOCK)
    try:
        room = fcntl.fcntl(log, fcntl.F_SETPIPE_SZ, 4096)
        shutil.chown(daemon.log_file, USER)
        daemon.start()
        deliveries = gateway.send(*[Message(LISTED)] * 40)
        assert {delivery.place for delivery in deliveries} == {LIGHT_PATH}
        read = ReadLog(log)
        wait_until(lambda: all(delivery.queue_id in read.text() for delivery in deliveries), "all lines to be there")
        assert len(read.text()) > room
        gateway.send(*[Message(LISTED)] * 40)
        assert daemon.stop() == 0
    finally:
        os.close(log)


class ReadLog:
    """What has come out of a pipe so far."""

    def __init__(self, pipe):
        self._pipe = pipe
        self._text = b""

    def text(self):
        with contextlib.suppress(BlockingIOError):
            self._text += os.read(self._pipe, 65536)
        return self._text.decode()


def test_a_daemon_that_comes_back_decides_again_and_replaces_its_stale_socket(gateway):
    gateway.daemon.kill()
    assert gateway.daemon.address.exists()
    gateway.daemon.start()
    assert_it_serves(gateway)


def test_a_truncated_whitelist_costs_the_deep_check_and_not_the_daemon(gateway):
    assert gateway.send(Message(LISTED))[0].place == LIGHT_PATH
    os.truncate(gateway.config.whitelist, 8192)
    deliveries = gateway.send(Message(LISTED), Message(UNLISTED), Message(LISTED))
    assert [delivery.place for delivery in deliveries] == [DEEP_CHECK] * 3
    assert gateway.daemon.program.alive()
    gateway.daemon.logged("damaged")

    build_filter_of(gateway.config.whitelist, [LISTED])
    gateway.daemon.reload(RELOADED)
    assert gateway.send(Message(LISTED))[0].place == LIGHT_PATH


def test_reloads_under_load_leave_no_message_lost_or_undecided(gateway):
    reloads = 0
    with Traffic(gateway) as traffic:
        while not traffic.errors and (reloads < 3 or len(traffic.sent) < 500):
            # Another file each time, and another seed: what is listed moves to other bits.
            build_filter_of(gateway.config.whitelist, [LISTED, f"other{reloads}@example.org"],
                            "--bits-per-entry", str(8 + reloads % 8))
            gateway.daemon.reload(RELOADED)
            reloads += 1
    deliveries = gateway.deliveries(traffic.sent)
    for delivery in deliveries:
        listed = delivery.message.path == LISTED
        assert delivery.place == (LIGHT_PATH if listed else DEEP_CHECK)
        assert delivery.marks == [f"deliver; reason=listed; host=mx.example.net{LISTED_BY}" if listed
                                  else "check; reason=not-listed; host=mx.example.net; identity=envelope"]
