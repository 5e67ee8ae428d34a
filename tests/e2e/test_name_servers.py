"""The network is not always there: the daemon starts before /etc/resolv.conf names a server, and a name server dies."""

import re
import subprocess
import time
import urllib.request

import pytest
from dkim_world import GENUINE, RSA, WHITELIST, ZONE, key
from private_mail.faulty_name_server import FaultyNameServer
from private_mail.filter import build_filter_of
from private_mail.gateway import GatewayConfig
from private_mail.processes import Program, free_port, temporary_folder, wait_until
from test_verify_dkim import World

# In a mount namespace of its own, FILE is /etc/resolv.conf.
ENTER = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/resolv.conf && exec "$@"']

KEYS_MISSING = 'bloomgate_needs_action{rule="keys-missing",severity="page"}'


class OwnResolvConf:
    """Where a daemon starts that has its own /etc/resolv.conf; stands for a PrivateNetwork."""

    def __init__(self, file):
        self.file = file

    def start(self, command, log_file, user=None):
        return Program(command, log_file, user, prefix=[*ENTER, self.file])


def why_no_mount():
    with temporary_folder("mount") as folder:
        (folder / "resolv.conf").write_text("")
        done = subprocess.run([*ENTER, folder / "resolv.conf", "true"], capture_output=True, text=True)
        return done.stderr.strip()


class OwnNames(World):
    """A name server on a port of this machine, and a gateway whose daemon shows its figures."""

    def __init__(self, gateways):
        self.gateways, self.network = gateways, None
        self.folder = gateways.enter(temporary_folder("names"))
        self.names = gateways.enter(FaultyNameServer(self.folder / "names", ZONE))
        build_filter_of(self.folder / "whitelist.bloom", WHITELIST, "--bits-per-entry", "32")

    def start(self, network=None, **settings):
        self.port = free_port()
        self.gateway = self.gateways.start(self.folder, GatewayConfig(
            self.folder / "whitelist.bloom", network=network, settings={
                "authentication": "required", "metrics": f"127.0.0.1:{self.port}", **settings}))
        return self

    def figure(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as answer:
            return float(re.search(rf"(?m)^{re.escape(name)} (\S+)$", answer.read().decode())[1])

    def looked_up(self, outcome):
        return self.figure(f'bloomgate_key_lookups_total{{outcome="{outcome}"}}')

    def restart_names(self):
        command = ["/usr/bin/python3", "-B", self.names.folder / "faulty_name_server_program.py", self.names.address,
                   self.names.port, self.names.folder / "records.json"]
        self.names.program = self.names.start(command, self.names.folder / "log")


@pytest.fixture
def names(start_shared_gateway):
    return OwnNames(start_shared_gateway)


def test_a_daemon_that_starts_before_the_network_finds_keys_once_resolv_conf_names_a_server(names):
    if why_no_mount():
        pytest.skip(why_no_mount())
    file = names.folder / "resolv.conf"
    file.write_text("# made before the network\n")
    file.chmod(0o644)
    # Without a server it asks those of the Internet, which it does not reach, or which know no such name.
    names.start(OwnResolvConf(file), **{"dns-timeout": 1})
    names.gateway.daemon.logged("keys are from the Internet's own name servers, since no server is named in /etc/resolv.conf")
    assert names.send(RSA.sign(GENUINE))[0] is False
    file.write_text(f"nameserver fe80::zz%eth0\nnameserver {names.names.option}\noptions edns0\n")
    assert names.send(RSA.sign(GENUINE)) == (True, "pass")
    names.gateway.daemon.logged(rf"info: keys are now from {names.names.option} in /etc/resolv.conf, "
                                "without its bad line 1: nameserver fe80::zz%eth0")


def test_a_dead_name_server_is_remembered_and_noticed_when_it_is_back(names):
    names.start(**{"dns-servers": names.names.option})
    assert names.send(RSA.sign(GENUINE)) == (True, "pass")
    # The daemon is told of look-ups beside the messages.
    wait_until(lambda: names.looked_up("found") == 1, "the key to count")
    assert names.figure(KEYS_MISSING) == 0
    names.names.program.kill()
    # Its port refuses: the first message sees that, and the others do not wait. Each has another key.
    started = time.monotonic()
    assert names.send(key("strict").sign(GENUINE)) == (False, "name-server-failed")
    assert time.monotonic() - started < 4
    names.gateway.daemon.logged("warning: no name server answers")
    wait_until(lambda: names.figure(KEYS_MISSING) == 1, "the figure to say so")
    for selector in ("pkcs-1", "in-pieces", "alias"):
        assert names.send(key(selector).sign(GENUINE)) == (False, "name-server-failed")
    wait_until(lambda: names.looked_up("not-asked") == 4, "the keys to count")
    assert names.send(RSA.sign(GENUINE)) == (True, "pass")  # its key is still known
    names.restart_names()
    names.gateway.daemon.logged("info: name servers are asked for keys again")
    assert names.send(key("for-email").sign(GENUINE)) == (True, "pass")
    assert names.figure(KEYS_MISSING) == 0
    wait_until(lambda: names.figure("bloomgate_key_lookup_seconds_count") == 7, "all keys to count")
