"""Learning from outgoing mail, with the real Postfix: a user writes to an unlisted address, and the answer is
delivered to that user only. The domain of that address signs its mail, and Bloomgate verifies that itself.

The user's login is the mail server's macro {auth_authen}: Postfix has it from XCLIENT, as from a login of SASL, which one
test has.
"""

import contextlib
import errno
import json
import os
import random
import re
import shutil
import smtplib
import sqlite3
import subprocess
import time
from contextlib import contextmanager

import pytest
from dkim_world import RSA, names
from mail_world import content
from private_mail.client import Client, RawMessage, Rejected
from private_mail.daemon import USER
from private_mail.filter import build_filter_of, built
from private_mail.gateway import DEEP_CHECK, LIGHT_PATH, GatewayConfig
from private_mail.processes import temporary_folder, wait_until
from test_monitoring import figures, get

STRANGER = "listed@example.org"  # of a domain with a key; on no list
OTHER_STRANGER = "other@example.org"
ANN, BOB = "ann@example.net", "bob@example.net"
EVE, PAT = "eve@example.net", "pat@example.net"

LEARNING_STOPPED = "bloomgate_needs_action", 'rule="learning-stopped",severity="ticket"'

MAIN_CF = """
mynetworks = 127.0.0.1/32
smtpd_relay_restrictions = permit_mynetworks, reject_unauth_destination
"""


@contextmanager
def small_disk(folder, size_bytes):
    """Another file system in the place of the folder."""
    mounting = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size_bytes},mode=0755", "tmpfs", folder],
                              capture_output=True, text=True)
    if mounting.returncode != 0:
        pytest.skip(f"nothing can be mounted here: {mounting.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


class World:
    """One gateway that learns, and the database in a folder that its daemon may write to."""

    def __init__(self, gateways, main_cf=MAIN_CF, sasl="", disk_bytes=None, **settings):
        self.folder = gateways.enter(temporary_folder("learning"))
        server, network = gateways.enter(names(self.folder))
        build_filter_of(self.folder / "whitelist.bloom", ["somebody@else.example", f"{STRANGER} > {PAT}"], "--bits-per-entry", "32")
        (self.folder / "learned").mkdir()
        if disk_bytes:
            gateways.enter(small_disk(self.folder / "learned", disk_bytes))
        shutil.chown(self.folder / "learned", USER)
        self.file = self.folder / "learned" / "learned.db"
        (self.folder / "revoked").write_text("revoked@example.org\n")
        (self.folder / "extra").write_text("")
        self.settings = {"authentication": "required", "dmarc-fail-veto": "yes", "dns-servers": server.option,
                         "own-domains": "example.net", "revoked": self.folder / "revoked", "extra": self.folder / "extra",
                         "learn": "outbound",
                         "learn-file": self.file, "recipient-delimiter": "+", **settings}
        self.gateway = gateways.start(self.folder, GatewayConfig(
            self.folder / "whitelist.bloom", settings=self.settings, network=network,
            main_cf=main_cf, sasl=sasl.format(folder=self.folder)))
        self.wait_until_ready()

    def wait_until_ready(self, since=0):
        if "outbound" in self.settings.values():
            self.gateway.daemon.logged(r"learning: \S+ with \d+ pairs", since)

    @contextmanager
    def connection(self, login=None):
        with Client(self.gateway.port) as client:
            if login:
                client.command(f"XCLIENT LOGIN={login}", expected=220)
                client.command("EHLO client.example")
            yield client

    def rewrite(self, name, text):
        self.gateway.daemon.replace_list(self.folder / name, text)

    def write(self, sender, *recipients, login="ann", fields=(), raw=None):
        """An outgoing message, of the usual content or with these bytes; returns once the mail server has taken it."""
        with self.connection(login) as client:
            client.command(f"MAIL FROM:<{sender}>")
            for recipient in recipients:
                client.command(f"RCPT TO:<{recipient}>")
            client.command("DATA", expected=354)
            client._smtp.send((raw or content(sender, *fields)) + b"\r\n.\r\n")
            return client.end()

    def answer(self, *recipients, sender=STRANGER, signed=True):
        """The decision about the answer, as the log has it: "deliver learned"."""
        raw = content(sender)
        raw = RSA.sign(raw) if signed else raw
        with self.connection() as client:
            client.command(f"MAIL FROM:<{sender}>")
            for recipient in recipients:
                client.command(f"RCPT TO:<{recipient}>")
            client.command("DATA", expected=354)
            client._smtp.send(re.sub(rb"(?m)^\.", b"..", raw) + b"\r\n.\r\n")
            queue_id = client.end()
        [line] = self.gateway.daemon.lines_of(queue_id)
        return " ".join(re.search(r"decision=(\S+) reason=(\S+)", line).groups())

    def bloomgate(self, *words):
        command = [built("filter/cli/bloomgate"), "learned", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def known(self):
        """What the database has, by another program."""
        pairs = json.loads(self.bloomgate("list", self.file, "--json"))["pairs"]
        return {(pair["user"], pair["correspondent"]) for pair in pairs}

    def is_written(self, user, correspondent):
        wait_until(lambda: (user, correspondent) in self.known(), f"{correspondent} to be learned for {user}")


@pytest.fixture(scope="module")
def world(start_shared_gateway):
    return World(start_shared_gateway)


def test_an_answer_to_a_user_is_delivered_to_that_user_only(world):
    assert world.answer(ANN) == "check not-listed"
    world.write(ANN, STRANGER)
    assert world.answer(ANN) == "deliver learned"
    assert world.answer("Ann+tag@Example.NET") == "deliver learned"
    assert world.answer(BOB) == "check not-listed"
    assert world.answer(ANN, BOB) == "check not-listed-for-all"
    assert world.answer(ANN, signed=False) == "check not-authenticated"
    assert world.answer(ANN, sender=OTHER_STRANGER) == "check not-listed"
    world.write(BOB, STRANGER, login="bob")
    assert world.answer(ANN, BOB) == "deliver learned"
    [delivery] = world.gateway.send(RawMessage(STRANGER, raw=RSA.sign(content(STRANGER)), recipient=ANN))
    assert delivery.place == LIGHT_PATH and delivery.marks[0].startswith("deliver; reason=learned;")


def test_a_forgotten_sender_is_checked_again_when_the_command_returns(world):
    world.write(ANN, STRANGER)
    assert world.answer(ANN) == "deliver learned"
    world.is_written(ANN, STRANGER)
    assert world.bloomgate("forget", world.file, STRANGER).endswith("daemon    in force\n")
    assert world.answer(ANN) == "check not-listed"
    assert STRANGER not in {correspondent for _, correspondent in world.known()}


# What a user's message is, is in tests/milter/learning/outgoing_test.cpp.
NO_USERS_MAIL = {
    "no login": (ANN, None, ()),
    "foreign sender": ("ann@other.example", "ann", ()),
    "bounce": ("", "ann", ()),
    "automatic answer": (ANN, "ann", (b"Auto-Submitted: auto-replied",)),
    "bulk": (ANN, "ann", (b"Precedence: bulk",)),
    "mailing list": (ANN, "ann", (b"List-Id: <list.example.net>",)),
}


def test_nothing_is_learned_from_mail_that_no_user_has_written(world):
    known = world.known()
    for name, (sender, login, fields) in NO_USERS_MAIL.items():
        world.write(sender, f"{name.replace(' ', '-')}@never.example", login=login, fields=fields)
    # What is learned is written in its order: this comes after it.
    witness = f"witness{time.monotonic_ns()}@example.org"
    world.write(BOB, witness, login="bob")
    world.is_written(BOB, witness)
    assert world.known() - known == {(BOB, witness)}


def invitation_answer(method="REPLY", text_bytes=100):
    """As calendar programs write it: the answer is in the inner multipart."""
    inner = (f"--in\r\nContent-Type: text/plain\r\n\r\nann has accepted\r\n"
             + "x" * 70 + "\r\n" + ("y" * 70 + "\r\n") * (text_bytes // 72)
             + f"--in\r\nContent-Type: text/calendar; charset=\"utf-8\";\r\n\tMethod={method}\r\n"
             "Content-Transfer-Encoding: base64\r\n\r\nQkVHSU4=\r\n--in--\r\n")
    return (f"From: {ANN}\r\nTo: joe@never.example\r\nSubject: Accepted: lunch\r\nMIME-Version: 1.0\r\n"
            "Content-Type: multipart/mixed;\r\n\tboundary*0=\"o\"; boundary*1=ut\r\n\r\n"
            "--out\r\nContent-Type: multipart/alternative; boundary=in\r\n\r\n"
            f"{inner}--out--").encode()


def only_invitations_teach(world, tag):
    """Of a user's answer to an invitation, an invitation of that user, and an answer that is too long to be found."""
    known = world.known()
    world.write(ANN, f"answered{tag}@never.example", raw=invitation_answer())
    world.write(ANN, f"invited{tag}@example.org", raw=invitation_answer("REQUEST"))
    world.write(ANN, f"late{tag}@example.org", raw=invitation_answer(text_bytes=70_000))
    world.is_written(ANN, f"late{tag}@example.org")
    assert world.known() - known == {(ANN, f"invited{tag}@example.org"), (ANN, f"late{tag}@example.org")}


def test_an_answer_to_an_invitation_teaches_nothing_also_where_only_learning_reads_the_body(start_gateway):
    world = World(start_gateway)
    only_invitations_teach(world, "1")
    before = len(world.gateway.daemon.log())
    world.gateway.daemon.restart({**world.settings, "verify-dkim": "no", "authentication": "off"})
    world.wait_until_ready(before)
    only_invitations_teach(world, "2")


def test_killed_at_any_moment_of_learning_what_was_written_stays_and_the_file_is_sound(world):
    """BLOOMGATE_KILLS=500 kills it that often instead of a few times."""
    chance = random.Random(14)
    kept = set()
    for i in range(int(os.environ.get("BLOOMGATE_KILLS", "5"))):
        # What is sent last is written, queued or neither when the daemon is killed.
        sent = {(ANN, f"kill{i}.{number}@example.org") for number in range(chance.randrange(1, 4))}
        for user, recipient in sorted(sent):
            world.write(user, recipient)
        if i % 2:
            world.is_written(*max(sent))
        kept |= world.known()
        time.sleep(chance.random() * 0.02)  # where it is killed is left to chance
        world.gateway.daemon.kill()
        with contextlib.closing(sqlite3.connect(world.file)) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        before = len(world.gateway.daemon.log())
        world.gateway.daemon.start()
        world.wait_until_ready(before)
        assert kept <= world.known()
        if i % 2:
            assert sent <= world.known()
    world.write(ANN, STRANGER)
    assert world.answer(ANN) == "deliver learned"


def fill_up(folder):
    """Writes into the folder until its disk is full, and returns the file."""
    filler = folder / "filler"
    with open(filler, "wb", buffering=0) as file:
        for size in (4096, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                assert error.errno == errno.ENOSPC
    return filler


def test_on_a_full_disk_mail_continues_and_learning_continues_when_there_is_room(start_gateway):
    world = World(start_gateway, disk_bytes=512 * 1024)
    daemon = world.gateway.daemon
    page = daemon.folder / "metrics.sock"
    before = len(daemon.log())
    daemon.restart({**world.gateway.config.settings, "metrics": page})
    wait_until(page.exists, "the daemon to show its figures")
    world.wait_until_ready(before)
    world.write(ANN, STRANGER)
    world.is_written(ANN, STRANGER)
    assert figures(page)[LEARNING_STOPPED] == 0

    filler = fill_up(world.file.parent)
    # The log of the database may have some room left in it.
    late = [f"late{number}@example.org" for number in range(300)]
    for begin in range(0, len(late), 20):
        world.write(ANN, *late[begin:begin + 20], login=f"ann{begin}")
    daemon.logged("nothing is learned until it can be used", before)
    assert "disk is full" in daemon.log()[before:]
    assert figures(page)[LEARNING_STOPPED] == 1
    assert "disk is full" in get(page, "/")[1]
    # The daemon tries again after some seconds, and the doctor takes as long to the end.
    doctor = subprocess.Popen(daemon.command("--doctor", "--json"), stdout=subprocess.PIPE, text=True)
    # New recipients are not learned; listed senders stay listed, and all mail is accepted.
    world.write(ANN, OTHER_STRANGER)
    assert world.answer(ANN, sender=OTHER_STRANGER) == "check not-listed"
    assert world.answer(ANN) == "deliver learned"
    found = json.loads(doctor.communicate()[0])
    assert [(finding["subject"], finding["level"]) for finding in found
            if "nothing is learned" in finding["text"]] == [("learn", "problem"), ("learning-stopped", "problem")], found
    daemon.kill()
    daemon.start()
    assert world.answer(BOB) == "check not-listed"

    filler.unlink()
    wait_until(lambda: figures(page)[LEARNING_STOPPED] == 0, "learning to go on")
    wait_until(lambda: world.answer(ANN) == "deliver learned", "the pairs to be read")
    world.write(ANN, OTHER_STRANGER)
    assert world.answer(ANN, sender=OTHER_STRANGER) == "deliver learned"
    world.is_written(ANN, OTHER_STRANGER)


def test_on_a_read_only_disk_mail_continues_and_learning_continues_when_it_can_be_written(start_gateway):
    world = World(start_gateway, disk_bytes=512 * 1024)
    daemon, disk = world.gateway.daemon, world.file.parent
    world.write(ANN, STRANGER)
    world.is_written(ANN, STRANGER)
    daemon.kill()
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    before = len(daemon.log())
    daemon.start()
    daemon.logged("nothing is learned until it can be used", before)
    world.write(ANN, OTHER_STRANGER)
    assert world.answer(ANN, sender=OTHER_STRANGER) == "check not-listed"
    assert world.answer(PAT) == "deliver listed-for-recipients"
    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    daemon.logged("learns again", before)
    wait_until(lambda: world.answer(ANN) == "deliver learned", "the pairs to be read")
    world.write(ANN, OTHER_STRANGER)
    assert world.answer(ANN, sender=OTHER_STRANGER) == "deliver learned"


SASL_MAIN_CF = """
smtpd_sasl_auth_enable = yes
smtpd_sasl_security_options = noanonymous
smtpd_relay_restrictions = permit_sasl_authenticated, reject_unauth_destination
smtpd_sender_login_maps = inline:{ ann@example.net=ann, bob@example.net=bob }
smtpd_sender_restrictions = reject_authenticated_sender_login_mismatch
"""
SMTPD_CONF = """\
pwcheck_method: auxprop
auxprop_plugin: sasldb
sasldb_path: {folder}/passwords
mech_list: PLAIN
"""


def test_a_real_login_teaches_and_a_wrong_password_and_a_foreign_sender_do_not(start_gateway):
    if not shutil.which("saslpasswd2"):
        pytest.skip("saslpasswd2 is missing (Debian package sasl2-bin)")
    world = World(start_gateway, SASL_MAIN_CF, SMTPD_CONF)
    for user in ("ann", "bob"):
        subprocess.run(["saslpasswd2", "-p", "-c", "-f", world.folder / "passwords", "-u", "mx.example.net", user],
                       input=f"{user}'s password", text=True, check=True)
    shutil.chown(world.folder / "passwords", "postfix")

    @contextmanager
    def logged_in(user, password):
        with world.connection() as client:
            client._smtp.user, client._smtp.password = user, password
            client._smtp.ehlo_or_helo_if_needed()
            client._smtp.auth("PLAIN", client._smtp.auth_plain)
            yield client

    def write(client, sender, recipient):
        client.command(f"MAIL FROM:<{sender}>")
        client.command(f"RCPT TO:<{recipient}>")
        client.command("DATA", expected=354)
        client._smtp.send(content(sender) + b"\r\n.\r\n")
        client.end()

    with pytest.raises(smtplib.SMTPAuthenticationError, match="535"), logged_in("ann", "bob's password"):
        pass
    with world.connection() as stranger, pytest.raises(Rejected):
        write(stranger, ANN, OTHER_STRANGER)
    with logged_in("bob", "bob's password") as client, pytest.raises(Rejected, match="not owned by user"):
        write(client, ANN, OTHER_STRANGER)
    assert world.answer(ANN) == "check not-listed"
    with logged_in("ann", "ann's password") as client:
        write(client, ANN, STRANGER)
    assert world.answer(ANN) == "deliver learned"
    world.is_written(ANN, STRANGER)
    assert world.known() == {(ANN, STRANGER)}


def test_the_explanation_the_doctor_and_the_figures_show_what_was_learned(start_gateway):
    world = World(start_gateway)
    daemon = world.gateway.daemon
    world.write(ANN, STRANGER)
    world.write(ANN, "another@example.org", fields=(b"List-Id: <x>",))
    assert world.answer(ANN) == "deliver learned"
    world.is_written(ANN, STRANGER)

    def explained(recipient):
        command = daemon.command("--explain", "--from", STRANGER, "--to", recipient, "--header-from", STRANGER,
                                 "--authentication", "off")
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert "decision: deliver reason=learned" in explained(ANN)
    assert re.search(rf"(?m)^learned +yes +subject={ANN} key={STRANGER}$", explained(ANN))
    assert "decision: check reason=not-listed" in explained(BOB)
    path = daemon.folder / "metrics.sock"
    daemon.restart({**world.gateway.config.settings, "metrics": path})
    wait_until(lambda: figures(path)["bloomgate_learned_pairs", ""] == 1, "the pair to be read")
    world.write(BOB, STRANGER, login="bob")
    wait_until(lambda: figures(path)["bloomgate_learned_total", ""] == 1, "another pair to be counted")
    assert figures(path)[LEARNING_STOPPED] == 0
    examined = subprocess.run(daemon.command("--doctor"), capture_output=True, text=True).stdout
    assert re.search(rf"ok +learn: {world.file}: 2 pairs", examined), examined


def test_learning_is_off_unless_asked_for(start_gateway):
    world = World(start_gateway, **{"learn": "none"})
    world.write(ANN, STRANGER)
    assert world.answer(ANN) == "check not-listed"
    assert not world.file.exists()
    [delivery] = world.gateway.send(RawMessage(STRANGER, raw=RSA.sign(content(STRANGER)), recipient=ANN))
    assert delivery.place == DEEP_CHECK
