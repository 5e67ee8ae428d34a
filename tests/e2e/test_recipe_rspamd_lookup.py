"""config/mta/rspamd-lookup: the real rspamd asks the daemon by HTTP, and its symbol changes nothing."""

import json
import urllib.request

import pytest
from conftest import LISTED, UNLISTED
from private_mail.daemon import Daemon, DaemonConfig
from private_mail.filter import build_filter_of
from private_mail.processes import free_port, temporary_folder, wait_until
from private_mail.rspamd import PlainRspamd
from private_mail.shipped import adapted

SYMBOL = "BLOOMGATE_LISTED"
ANN, PAM = "ann@ours.example", "pam@ours.example"
MESSAGE = b"From: <a@example.org>\r\nTo: <b@example.net>\r\nSubject: test\r\n\r\nHello.\r\n"


class AskingRspamd(PlainRspamd):
    def __init__(self, folder, lookup_port):
        super().__init__(folder)
        self.LUA = adapted("rspamd-lookup/bloomgate_listed.lua", {"127.0.0.1:9813/": f"127.0.0.1:{lookup_port}/"})


class World:
    def __init__(self, rspamd, daemon):
        self.rspamd, self.daemon = rspamd, daemon

    def answer(self, sender, *recipients):
        request = urllib.request.Request("http://{}:{}/checkv2".format(*self.rspamd.address), MESSAGE)
        request.add_header("From", sender)
        for recipient in recipients or ("user@example.net",):
            # One field for all: urllib keeps one of each name.
            request.add_header("Rcpt", ",".join(filter(None, (request.get_header("Rcpt"), recipient))))
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def is_listed(self, sender, *recipients):
        return SYMBOL in self.answer(sender, *recipients)["symbols"]

    def logs(self):
        return self.rspamd.log() + self.daemon.log()


@pytest.fixture(scope="module")
def world():
    with temporary_folder("rspamd-lookup") as folder:
        whitelist = folder / "whitelist.bloom"
        build_filter_of(whitelist, [LISTED, f"joe@example.org > {ANN}"])
        port = free_port()
        config = DaemonConfig(whitelist, settings={"lookup-socket": f"127.0.0.1:{port}"})
        with Daemon(folder / "daemon", config) as daemon, AskingRspamd(folder / "rspamd", port) as rspamd:
            yield World(rspamd, daemon)


def test_a_listed_sender_has_the_symbol_and_nothing_is_skipped_by_it(world):
    listed, unlisted = world.answer(LISTED), world.answer(UNLISTED)
    assert listed["symbols"][SYMBOL]["score"] == 0
    assert SYMBOL not in unlisted["symbols"]
    assert set(listed["symbols"]) - {SYMBOL} == set(unlisted["symbols"])
    assert listed["score"] == unlisted["score"]
    assert not world.is_listed("")


def test_a_pair_counts_for_its_recipient_alone(world):
    assert world.is_listed("joe@example.org", ANN)
    assert not world.is_listed("joe@example.org", PAM)
    assert world.is_listed(LISTED, ANN, PAM)
    assert not world.is_listed("joe@example.org", ANN, PAM)
    assert not world.is_listed("joe@example.org", PAM, ANN)


def test_mail_goes_on_as_unlisted_while_the_daemon_is_down(world):
    world.daemon.stop()
    assert not world.is_listed(LISTED)
    assert "Bloomgate was not asked" in world.rspamd.log()
    world.daemon.start()
    assert world.is_listed(LISTED)


def test_mail_goes_on_as_unlisted_while_the_daemon_hangs(world):
    reported = world.rspamd.log().count("Bloomgate was not asked")
    with world.daemon.program.standing_still():
        assert not world.is_listed(LISTED)
        wait_until(lambda: world.rspamd.log().count("Bloomgate was not asked") == reported + 1, "rspamd to log it")
    assert world.is_listed(LISTED)
