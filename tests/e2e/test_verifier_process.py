"""The process in which signatures are verified crashes and hangs: messages are checked, none is lost, and the next ones
are verified again. And --explain, which verifies without a mail server."""

import json
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from dkim_world import GENUINE, RSA, STRANGER, key
from private_mail.processes import stands_still, wait_until
from test_verify_dkim import World


@pytest.fixture(scope="module")
def world(start_shared_gateway):
    return World(start_shared_gateway).start_postfix(**{"dns-timeout": 3})


def verifier_of(daemon):
    """The process ID of its only child; None while there is none."""
    children = " ".join(file.read_text() for file in Path(f"/proc/{daemon.program.pid}/task").glob("*/children"))
    return int(children) if children.strip() else None


def send_signal(number, process):
    subprocess.run(["kill", f"-{number}", str(process)], check=True)


class Sending(threading.Thread):
    """Sends a message while the test does something else."""

    def __init__(self, world, raw):
        super().__init__()
        self.world, self.raw, self.outcome = world, raw, None
        self.start()

    def run(self):
        self.outcome = self.world.send(self.raw)

    def wait(self):
        self.join()
        return self.outcome


def wait_for_another_than(process, daemon):
    wait_until(lambda: verifier_of(daemon) not in (None, process), "another verifier")


def wait_until_it_verifies(world):
    """A new verifier takes messages as soon as it has told that it can work, some time after its process is there."""
    wait_until(lambda: world.send(RSA.sign(GENUINE)) == (True, "pass"), "a verifier that verifies")


def test_a_crash_takes_no_message_along(world):
    daemon = world.gateway.daemon
    assert world.send(RSA.sign(GENUINE)) == (True, "pass")
    crashing = verifier_of(daemon)
    # Several, each of which waits for a key of its own.
    waiting = [key(f"crash{count}.silent") for count in range(5)]
    sendings = [Sending(world, each.sign(GENUINE)) for each in waiting]
    wait_until(lambda: {each.record_name for each in waiting} <= set(world.names.questions()), "the verifier to wait for all keys")
    send_signal(int(signal.SIGSEGV), crashing)
    assert [sending.wait() for sending in sendings] == [(False, "verifier-failed")] * len(waiting)
    wait_for_another_than(crashing, daemon)
    wait_until_it_verifies(world)
    # AddressSanitizer ends a program by itself on SIGSEGV.
    daemon.logged(rf"error: the verifier of signatures (was ended by signal {int(signal.SIGSEGV)}|ended with status \d+);")


def test_a_verifier_that_hangs_is_ended_and_started_again(world):
    daemon = world.gateway.daemon
    hanging = verifier_of(daemon)
    send_signal(int(signal.SIGSTOP), hanging)
    wait_until(lambda: stands_still(hanging), "the verifier to stand still")
    sendings = [Sending(world, RSA.sign(GENUINE)) for _ in range(3)]
    outcomes = {sending.wait() for sending in sendings}
    assert outcomes <= {(False, "verifier-timeout"), (False, "verifier-failed")}
    assert (False, "verifier-timeout") in outcomes
    wait_for_another_than(hanging, daemon)
    wait_until_it_verifies(world)


def test_it_ends_with_the_daemon(world):
    daemon = world.gateway.daemon
    verifier = verifier_of(daemon)
    settings = daemon.config.settings
    daemon.restart(settings)
    wait_until(lambda: not Path(f"/proc/{verifier}").exists(), "the verifier to end")
    assert world.send(RSA.sign(GENUINE)) == (True, "pass")


def explained(world, raw):
    prefix = getattr(world.network, "_enter", []) if world.network else []
    command = [*prefix, *world.gateway.daemon.command("--explain", "--json", "--from", STRANGER)]
    return json.loads(subprocess.run(command, input=raw, capture_output=True, check=True).stdout)


@pytest.mark.parametrize("line_end", [b"\r\n", b"\n"])
def test_explain_verifies_a_whole_message(world, line_end):
    good = RSA.sign(GENUINE).replace(b"\r\n", line_end)
    explanation = explained(world, good)
    assert (explanation["decision"], explanation["authentication"]) == ("deliver", "dkim")
    assert {"step": "signature", "subject": "test", "key": "example.org", "outcome": "pass",
            "entry": "", "proof": ""} in explanation["steps"]
    explanation = explained(world, good.replace(b"Hello", b"Hullo"))
    assert (explanation["decision"], explanation["reason"]) == ("check", "not-authenticated")
    assert "dkim=body-changed" in explanation["mark"]
