"""config/mta/exim: the real Exim asks the daemon for senders, and notes what it says without acting on it."""

import os

import pytest
from conftest import LISTED, UNLISTED
from private_mail.client import Client, Message
from private_mail.daemon import Daemon, DaemonConfig
from private_mail.exim import Exim
from private_mail.filter import build_filter_of
from private_mail.own_mounts import may_unshare
from private_mail.processes import free_port, temporary_folder, wait_until
from private_mail.sink import Sink

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not may_unshare(), reason="Exim needs root and mounts of its own")

NOTE = "X-Bloomgate-Listed"
ANN, PAM = "ann@ours.example", "pam@ours.example"


class World:
    def __init__(self, exim, daemon, sink):
        self.exim, self.daemon, self.sink = exim, daemon, sink

    def notes(self, message):
        """The notes that the message arrives with."""
        before = len(self.sink.received)
        with Client(self.exim.port) as client:
            client.send(message)
        wait_until(lambda: len(self.sink.received) > before, "the message to arrive")
        [received] = self.sink.received[before:]
        return [value for _, value in received.headers(NOTE)]

    def logs(self):
        return self.exim.log() + self.daemon.log()


@pytest.fixture(scope="module")
def world():
    with temporary_folder("exim") as folder, Sink("mailbox") as sink:
        whitelist = folder / "whitelist.bloom"
        build_filter_of(whitelist, [LISTED, f"joe@example.org > {ANN}"])
        port = free_port()
        config = DaemonConfig(whitelist, settings={"lookup-socket": f"127.0.0.1:{port}"})
        with Daemon(folder / "daemon", config) as daemon, Exim(folder / "exim", port, sink) as exim:
            yield World(exim, daemon, sink)


def test_a_listed_sender_is_noted_and_no_other(world):
    assert world.notes(Message(LISTED)) == ["yes; unproven"]
    for nobody in (UNLISTED, "", "a$value{x}@example.org", f'"{LISTED} > x"@example.org', "o'neil+tag@example.org"):
        assert world.notes(Message(nobody)) == [], nobody


def test_a_pair_is_noted_for_its_recipient_alone(world):
    assert world.notes(Message("joe@example.org", recipient=ANN)) == ["yes; unproven"]
    assert world.notes(Message("joe@example.org", recipient=PAM)) == []
    for recipients in ((ANN, PAM), (PAM, ANN)):
        assert world.notes(Message("joe@example.org", recipient=recipients[0], more_recipients=recipients[1:])) == []


def test_a_note_that_came_with_a_message_is_removed(world):
    forged = (b"X-Bloomgate-Listed: yes; unproven", b"x-bloomgate-listed: yes")
    assert world.notes(Message(UNLISTED, headers=forged)) == []
    assert world.notes(Message(LISTED, headers=forged)) == ["yes; unproven"]


def test_mail_goes_on_as_unlisted_while_the_daemon_is_down(world):
    world.daemon.stop()
    assert world.notes(Message(LISTED)) == []
    world.daemon.start()
    assert world.notes(Message(LISTED)) == ["yes; unproven"]


def test_mail_goes_on_as_unlisted_while_the_daemon_hangs(world):
    with world.daemon.program.standing_still():
        assert world.notes(Message(LISTED)) == []
        assert world.notes(Message("joe@example.org", recipient=ANN, more_recipients=[PAM])) == []
    assert world.notes(Message(LISTED)) == ["yes; unproven"]
