"""Programs without a milter have whole messages decided at lookup-socket: `POST /message`, with the real daemon, its verifier
and real clients. Every forgery that the milter checks is checked here, too, and every good signature counts."""

import json
import re
import shutil
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import posted_message
import pytest
from dkim_cases import CASES
from dkim_world import ATTACKER, GENUINE, LISTED, REVOKED, RSA, STRANGER, WHITELIST, ZONE, key
from mail_world import content
from private_mail.daemon import USER, Daemon, DaemonConfig
from private_mail.faulty_name_server import FaultyNameServer
from private_mail.filter import build_filter_of
from private_mail.processes import PATIENCE_SECONDS, free_port, temporary_folder

# Names by which the mailbox that a reader sees was hidden from a check, in mail programs and servers that were studied
# (for example "Composition Kills", USENIX Security 2020): as the attacker, with a signature and an envelope of their own.
X = "x@attacker.example"
SPOOFED_FROM = {
    "two From fields, the listed one first": f"{LISTED}\r\nFrom: {X}",
    "two From fields, the listed one last": f"{X}\r\nFrom: {LISTED}",
    "a From field behind a space before its colon": f"{X}\r\nFrom : {LISTED}",
    "a From field that begins with a space": f"{X}\r\n From: {LISTED}",
    "a From field in capitals": f"{X}\r\nFROM: {LISTED}",
    "a From field behind a line that is no field": f"{X}\r\nnot a field\r\nFrom: {LISTED}",
    "a folded From field": f"\r\n {LISTED},\r\n {X}",
    "two mailboxes, the listed one first": f"{LISTED}, {X}",
    "two mailboxes, the listed one last": f"{X}, {LISTED}",
    "two mailboxes and a Sender": f"{LISTED}, {X}\r\nSender: {X}",
    "a listed mailbox as the name of another": f'"{LISTED}" <{X}>',
    "a listed mailbox as the name of another, without quotes": f"{LISTED} <{X}>",
    "a listed mailbox in brackets behind another": f"<{X}> <{LISTED}>",
    "a listed mailbox in brackets before another": f"<{LISTED}> <{X}>",
    "a mailbox in a comment": f"({LISTED}) {X}",
    "a comment in a mailbox": f"listed(x)@example.org, {X}",
    "a route": f"<@attacker.example,@any.example:{LISTED}>, {X}",
    "a group": f"listed: {LISTED};, {X}",
    "an encoded word": "=?utf-8?B?bGlzdGVkQGV4YW1wbGUub3Jn?=",
    "a NUL behind the listed mailbox": f"{LISTED}\0@attacker.example",
    "a carriage return behind the listed mailbox": f"{LISTED}\r, {X}",
    "an empty mailbox": f"<>, {LISTED}",
    "the listed mailbox alone": LISTED,
}


def spoofed(value):
    return ATTACKER.sign(content("PLACE")).replace(b"From: PLACE", b"From: " + value.encode())


class World:
    def __init__(self, stack, **settings):
        self.folder = stack.enter_context(temporary_folder("posted"))
        names = stack.enter_context(FaultyNameServer(self.folder / "names", ZONE))
        self.whitelist = self.folder / "whitelist.bloom"
        build_filter_of(self.whitelist, [*WHITELIST, "zoe@example.org > ann@ours.example"], "--bits-per-entry", "32")
        (self.folder / "revoked").write_text(f"{REVOKED}\n")
        self.path = self.folder / "lookup.sock"
        self.folder.chmod(0o777)  # the daemon makes its socket there
        settings = {"authentication": "required", "dns-servers": names.option, "revoked": self.folder / "revoked",
                    "dmarc-fail-veto": "yes", "lookup-socket": self.path, "lookup-messages": "4", **settings}
        self.daemon = stack.enter_context(Daemon(self.folder / "daemon", DaemonConfig(self.whitelist, settings=settings)))

    def post(self, raw, *fields, sender=STRANGER):
        return posted_message.post(self.path, raw, *fields, sender=sender)

    def is_delivered(self, raw, *fields, sender=STRANGER):
        return posted_message.is_delivered(self.path, raw, *fields, sender=sender)


@pytest.fixture(scope="module")
def world():
    with ExitStack() as stack:
        yield World(stack)


def all_delivered(world, messages):
    """The names of those that are delivered: name -> (raw, envelope sender)."""
    with ThreadPoolExecutor(2) as workers:
        said = list(workers.map(lambda each: world.is_delivered(each[0], sender=each[1]), messages.values()))
    return {name for name, is_delivered in zip(messages, said) if is_delivered}


def test_every_signature_counts_or_not_as_it_does_for_the_milter(world):
    cases = {name: case for name, case in CASES.items() if not case.postfix_only}
    assert len(cases) > 80
    wanted = {name for name, case in cases.items() if case.delivered}
    got = all_delivered(world, {name: (case.raw, case.path) for name, case in cases.items()})
    assert got == wanted, (got - wanted, wanted - got)


def test_no_published_way_to_hide_a_mailbox_is_delivered(world):
    assert len(SPOOFED_FROM) >= 22
    messages = {name: (spoofed(value), X) for name, value in SPOOFED_FROM.items()}
    messages |= {f"{name}, with a listed envelope sender": (raw, LISTED) for name, (raw, _) in messages.items()}
    assert all_delivered(world, {**messages, "genuine": (RSA.sign(GENUINE), STRANGER)}) == {"genuine"}


def test_no_text_between_the_signed_fields_is_delivered(world):
    """Signed fields first, then what some programs take for the end of the header, and text of the attacker's."""
    signature, separator, fields = RSA.sign(GENUINE).partition(b"From: ")
    for hidden in (b"X-A: b\r\r\n Pay here.", b"X-A: b\r\rPay here.", b"X-Bloomgate: b\rReply-To: x@attacker.example",
                   b"X-A: b\r\n\r\r\n Pay here.", b"X-A: b\0Reply-To: x@attacker.example", b"X-A: b\n\nPay here."):
        header, _, body = (separator + fields).partition(b"\r\n\r\n")
        raw = header + b"\r\n" + hidden + b"\r\n" + signature + b"\r\n" + body
        assert not world.is_delivered(raw), hidden
    assert world.is_delivered(header + b"\r\nX-A: b\r\n" + signature + b"\r\n" + body)


def test_a_message_says_why_and_for_whom(world):
    raw = RSA.sign(content("zoe@example.org"))
    status, said = world.post(raw, ("Envelope-To", "ann@ours.example"), ("Queue-Id", "4XyZ1"), ("Mta-Name", "mx.ours.example"))
    assert status == 200 and said["decision"] == "deliver" and said["complete"], said
    assert said["mark"].startswith("deliver; reason=listed-for-recipients; host=mx.example.net;"), said["mark"]
    assert said["why"].startswith("Delivered, because zoe@example.org"), said["why"]
    assert {step["step"] for step in said["steps"]} >= {"envelope-sender", "header-from", "whitelist"}
    # For another recipient she is not listed; and so where no recipient is known.
    assert not world.is_delivered(raw, ("Envelope-To", "tom@ours.example"))
    assert not world.is_delivered(raw, ("Envelope-To", "ann@ours.example"), ("Envelope-To", "tom@ours.example"))
    assert not world.is_delivered(raw)
    world.daemon.logged("queue_id=4XyZ1 ")


def test_results_that_a_message_claims_count_for_a_name_that_the_program_gives_and_only_where_no_signature_is_verified(world):
    results = b"Authentication-Results: mx.ours.example; dkim=pass header.d=example.org; dmarc=pass header.from=example.org\r\n"
    assert not world.is_delivered(results + GENUINE, ("Mta-Name", "mx.ours.example"))
    with ExitStack() as stack:
        believing = World(stack, **{"verify-dkim": "no"})
        signed = results + RSA.sign(GENUINE)
        assert not believing.is_delivered(signed)
        assert not believing.is_delivered(signed, ("Mta-Name", "other.example"))
        assert believing.is_delivered(signed, ("Mta-Name", "mx.ours.example"))


def test_messages_that_come_at_once_wait_or_are_told_to_come_again(world):
    raw = RSA.sign(GENUINE)

    def until_decided(_):
        for _ in range(1000):
            status, said = world.post(raw)
            if status != 503:
                return status, said["decision"]
        return 503, ""

    with ThreadPoolExecutor(16) as workers:
        assert set(workers.map(until_decided, range(200))) == {(200, "deliver")}


def test_a_message_as_large_as_may_be_is_decided_and_a_larger_one_is_not(world):
    body = b"x" * 998 + b"\r\n"
    large = RSA.sign(content(LISTED, body=body * 30_000))
    assert world.is_delivered(large)
    assert world.post(large + body * 4000)[0] == 413


def test_a_stop_does_not_wait_for_a_posted_message_whose_key_does_not_come():
    """The daemon's last line for it says that it was cut off, as a message of the milter is."""
    with ExitStack() as stack:
        waiting = World(stack, **{"dns-timeout": "60", "lookup-messages": "1"})
        raw = key("x.silent").sign(GENUINE)
        header = (f"POST /message HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                  f"Envelope-From: {STRANGER}\r\nContent-Length: {len(raw)}\r\n\r\n")
        client = stack.enter_context(socket.socket(socket.AF_UNIX))
        client.settimeout(PATIENCE_SECONDS)
        client.connect(str(waiting.path))
        client.sendall(header.encode())
        assert client.recv(100).startswith(b"HTTP/1.1 100 ")
        client.sendall(raw)
        for _ in range(5):
            assert waiting.post(raw)[0] == 503
        assert waiting.daemon.stop() == 0
        assert client.recv(1) == b""
        assert not waiting.path.exists()
        log = waiting.daemon.log()
        assert "1 message was being handled and cut off" in log
        # All refusals are in the log, those after its first line too.
        assert sum(map(int, re.findall(r"lookup-messages: (\d+) posted messages? w\w+ not decided, the last with status 503", log))) == 5


def test_over_tcp_a_token_is_needed(world):
    port = free_port()
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder("token"))
        token = folder / "token"
        token.write_text("# for the mail program\n" + "t" * 40 + "\n")
        token.chmod(0o640)
        folder.chmod(0o755)
        shutil.chown(token, USER)
        settings = {"lookup-socket": f"127.0.0.1:{port}", "lookup-messages": "4", "lookup-token": token}  # authentication = off
        stack.enter_context(Daemon(folder / "daemon", DaemonConfig(world.whitelist, settings=settings)))
        (folder / "message").write_bytes(RSA.sign(GENUINE))

        def status_of(*options):
            url = f"http://127.0.0.1:{port}/message"
            return subprocess.check_output(["curl", "-sS", "-o", folder / "answer", "-w", "%{http_code}", *options,
                                            "-H", f"Envelope-From: {LISTED}", "--data-binary", f"@{folder / 'message'}", url], text=True)  # fmt: skip

        assert status_of() == "401"
        assert status_of("-H", "Authorization: Bearer " + "t" * 39) == "401"
        assert status_of("-H", "Authorization: Bearer " + "t" * 40) == "200"
        assert json.loads((folder / "answer").read_text())["reason"] == "listed"
