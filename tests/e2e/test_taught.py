"""Who tries to be taught by mail that goes out, with the real Postfix and real logins: the daemon learns to whom a user has
written, and nobody else. The table is tests/redteam/taught/users.py."""

import base64
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest
from conftest import skip_without_root
from private_mail.client import Client, Rejected
from private_mail.filter import REPOSITORY
from private_mail.processes import wait_until
from test_learning import SASL_MAIN_CF, SMTPD_CONF, World

sys.path.insert(0, str(REPOSITORY / "tests/redteam"))

from taught import users  # noqa: E402
from taught.case import Names  # noqa: E402

RATE = 100  # entries an hour, of one login
PASSWORD = users.Sent.password
LOGINS = ("ann", "bob", "ceo", "mallory", "eve")
MAPS = ("ann@example.net=ann, ann.smith@example.net=ann, info@example.net={ ann bob }, bob@example.net=bob, "
        "ceo@example.net=ceo, eve@example.net=eve")
MAIN_CF = SASL_MAIN_CF.replace("permit_sasl_authenticated", "permit_sasl_authenticated, permit_mynetworks").replace(
    "ann@example.net=ann, bob@example.net=bob", MAPS) + """
mynetworks = 198.51.100.7, 192.0.2.50
smtpd_client_message_rate_limit = 0
smtpd_recipient_limit = 1000
recipient_delimiter = +
smtpd_recipient_restrictions = check_recipient_access inline:{ refused@=REJECT }
"""


class TaughtWorld(World):
    def __init__(self, gateways):
        super().__init__(gateways, MAIN_CF, SMTPD_CONF, **{
            "exempt-networks": f"{users.EXEMPT}/32", "learn-rate": RATE})
        for user in LOGINS:
            subprocess.run(["saslpasswd2", "-p", "-c", "-f", self.folder / "passwords", "-u", "mx.example.net", user],
                           input=PASSWORD, text=True, check=True)
        shutil.chown(self.folder / "passwords", "postfix")

    @contextmanager
    def logged_in(self, case):
        with Client(self.gateway.port, case.client or None) as connection:
            if case.login:
                words = base64.b64encode(f"\0{case.login}\0{case.password}".encode()).decode()
                connection.command(f"AUTH PLAIN {words}", expected=235)
            yield connection

    def known_of(self, user):
        return {correspondent for each, correspondent in self.known() if each == user}

    def send(self, case, names):
        """Sends it as the case says, and has the mail server refuse it where the case says so."""
        try:
            with self.logged_in(case) as client:
                for line in case.before:
                    client.command(names.of(line))
                utf8 = " SMTPUTF8" if case.utf8 else ""
                client.command(f"MAIL FROM:<{names.of(case.sender)}>{utf8}")
                for recipient in case.recipients:
                    client.command(f"RCPT TO:<{names.of(recipient)}>")
                for recipient in case.refused_recipients:
                    client.command(f"RCPT TO:<{names.of(recipient)}>", expected=554)
                client.command("DATA", expected=354)
                client._smtp.send(names.of(case.content()).encode())
                if not case.is_broken_off:
                    client._smtp.send(b"\r\n.\r\n")
                    client.end()
        except Rejected as error:
            assert case.refused and case.refused in str(error), f"{case.what}: {error}"
            return
        assert not case.refused, f"{case.what}: the mail server has taken it"


@pytest.fixture(scope="module")
def world(start_shared_gateway):
    skip_without_root()
    if not shutil.which("saslpasswd2"):
        pytest.skip("saslpasswd2 is missing (Debian package sasl2-bin)")
    world = TaughtWorld(start_shared_gateway)
    numbered = [Names(number).of("revoked@example.org") for number in range(len(users.CASES))]
    for_bob = [Names(number).of("revoked-for-bob@example.org") + " > bob@example.net" for number in range(len(users.CASES))]
    world.rewrite("revoked", "".join(f"{each}\n" for each in numbered + for_bob))
    return world


def wanted_of(case, names):
    return {(names.of(user), names.of(correspondent)) for user, correspondent in case.pairs()}


def test_what_is_learned_is_whom_a_user_has_written_to(world):
    cases = [(case, Names(number)) for number, case in enumerate(users.CASES)]
    assert len(users.CASES) >= 80
    for case, names in cases:
        world.send(case, names)
    # What is learned is written in its order: this comes after it.
    world.send(users.Sent("the last message", recipients=("witness@witness.example",)), Names(0))
    world.is_written("ann@example.net", "witness@witness.example")
    known = world.known() - {("ann@example.net", "witness@witness.example")}
    wanted = set().union(*(wanted_of(case, names) for case, names in cases))
    wrong = [case.what for case, names in cases if
             {pair for pair in known if f"{names.tag}." in pair[1]} != wanted_of(case, names)]
    assert wrong == []
    assert known == wanted


def test_a_hijacked_account_teaches_no_more_than_its_limit_and_holds_up_no_other_user(world):
    sent = [[f"x{number}.{each}@evil.example" for each in range(users.HIJACKED_RECIPIENTS)]
            for number in range(users.HIJACKED_MESSAGES)]
    assert sum(map(len, sent)) > RATE
    for recipients in sent:
        spam = users.Sent("spam", recipients=tuple(recipients), login="eve", sender="eve@example.net")
        world.send(spam, Names(999))
    letter = users.Sent("a letter", recipients=("late@example.org",), login="bob", sender="bob@example.net")
    world.send(letter, Names(999))
    world.is_written("bob@example.net", "late@c999.example.org")
    first = [Names(999).of(each) for recipients in sent for each in recipients][:RATE]
    wait_until(lambda: len(world.known_of("eve@example.net")) == RATE, "the spam to be learned up to the limit")
    assert world.known_of("eve@example.net") == set(first)
