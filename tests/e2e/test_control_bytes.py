"""Every control byte, in every place of a message, of a mail server's words, of a checker's answer and of a request: none
makes a line of the log, a header field, a figure or a piece of a page, and none comes out of a terminal as it went in."""

import json
import re
import socket
import socketserver
import subprocess
import threading
import unicodedata
from contextlib import ExitStack, closing

import pytest
from conftest import first_of
from private_mail.daemon import Daemon, DaemonConfig
from private_mail.filter import build_filter_of, built
from private_mail.processes import free_port, temporary_folder, wait_until
from raw_connection import CLIENT, NEGOTIATION, QUIT, MilterConnection, frame
from test_monitoring import get

LISTED = b"listed@example.org"
# Those of ASCII, DEL, those beyond ASCII by themselves and as UTF-8, the separators of Unicode and a turn of direction.
# NUL ends a string of the milter protocol: it is tried where there are no strings.
CONTROLS = [bytes([byte]) for byte in (*range(1, 0x20), *range(0x7F, 0xA0), 0xFF)]
CONTROLS += [chr(code).encode() for code in (*range(0x80, 0xA0), 0x2028, 0x2029, 0x202E, 0xFEFF)]
CONTROLS += [b"\r\n", b"\n\t", b"\r\n\r\n"]
WITH_NUL = [b"\x00", *CONTROLS]
LINE = b"2026-11-25T00:00:00.000+00:00 info: queue_id=F sender=<x> decision=deliver reason=listed"

LOG_LINE = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+[+-]\d\d:\d\d (?:debug|info|warning|error): [ -~]*")
# Printable, folded with a line feed where it is long.
FIELD = re.compile(rb"[ -~]*(?:\n[\t ][ -~]+)*")
FIGURE = re.compile(r'(?:# (?:HELP|TYPE) [ -~]+|\w+(?:\{[ !#-~"]*\})? [-+.\deNaInf]+)')


def message(login=b"", sender=LISTED, recipient=b"ann@example.net", fields=(), queue_id=b"4XyZ1", host=b"mx.example.net"):
    """What a mail server sends of a message."""
    macros = b"{auth_authen}\x00" + login + b"\x00{daemon_name}\x00smtp\x00" if login else b"{daemon_name}\x00smtp\x00"
    lines = [(b"From", b"Listed <" + LISTED + b">"), *fields, (b"Subject", b"one")]
    return b"".join([
        frame(b"D", b"M" + macros), frame(b"M", b"<" + sender + b">\x00"), frame(b"R", b"<" + recipient + b">\x00"),
        *(frame(b"L", name + b"\x00" + value + b"\x00") for name, value in lines), frame(b"D", b"Nj\x00" + host + b"\x00"),
        frame(b"N"), frame(b"B", b"text\r\n"), frame(b"D", b"Ei\x00" + queue_id + b"\x00j\x00" + host + b"\x00"),
        frame(b"E")])


def connecting(client=b"client.example", greeting=b"client.example"):
    return frame(b"C", client + CLIENT[5 + len(b"client.example"):]) + frame(b"H", greeting + b"\x00")


# Place -> what a mail server sends of a message that has `text` there, behind the steps of its connection.
PLACES = {
    "client's name": lambda text: connecting(client=text) + message(),
    "greeting": lambda text: connecting(greeting=text) + message(),
    "login": lambda text: connecting() + message(login=text),
    "queue ID": lambda text: connecting() + message(queue_id=text),
    "mail server's name": lambda text: connecting() + message(host=text),
    "sender": lambda text: connecting() + message(sender=text + b"@example.org"),
    "sender's domain": lambda text: connecting() + message(sender=b"a@" + text),
    "quoted sender": lambda text: connecting() + message(sender=b'"' + text + b'"@example.org'),
    "recipient": lambda text: connecting() + message(recipient=text + b"@example.net"),
    "From": lambda text: connecting() + message(fields=[(b"From", text)], sender=b"x@stranger.example"),
    "Subject": lambda text: connecting() + message(fields=[(b"Subject", text)]),
    "a field's name": lambda text: connecting() + message(fields=[(text, b"value")]),
    "Authentication-Results": lambda text: connecting() + message(
        fields=[(b"Authentication-Results", b"mx.example.net; dkim=pass header.d=" + text)]),
    "a signature's domain": lambda text: connecting() + message(
        fields=[(b"DKIM-Signature", b"v=1; a=rsa-sha256; d=" + text + b"; s=x; h=From; bh=eA==; b=eA==")]),
    "a signature's selector": lambda text: connecting() + message(
        fields=[(b"DKIM-Signature", b"v=1; a=rsa-sha256; d=example.org; s=" + text + b"; h=From; bh=eA==; b=eA==")]),
    "a forged mark": lambda text: connecting() + message(fields=[(b"X-Bloomgate", text)]),
}


class Asked(socketserver.StreamRequestHandler):
    """Plays a checker: keeps what it is asked, and answers what the test says."""

    def handle(self):
        head = b"".join(iter(lambda: self.rfile.readline().replace(b"\r\n", b"\n") or b"\n", b"\n"))
        size = re.search(rb"(?i)content-length: (\d+)", head)
        text = self.rfile.read(int(size[1])) if size else b""
        self.server.asked.append((head, text))
        self.wfile.write(self.server.answer)


class Checker(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Asked)
        self.asked = []
        self.answer = spamd_answer(b"A_TEST")
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


def spamd_answer(symbols, said=b"EX_OK"):
    return b"SPAMD/1.1 0 " + said + b"\r\nSpam: True ; 9.0 / 5.0\r\n\r\n" + symbols


def http_answer(content):
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nContent-Type: application/json\r\n\r\n" % len(content) + content


def lines_of_messages(log):
    return re.findall(rb"(?m)^\S+ info: queue_id=.*$", log)


class World:
    def __init__(self, stack, folder, checker):
        whitelist = folder / "whitelist.bloom"
        build_filter_of(whitelist, [LISTED.decode(), "@listed.example"])
        self.checker = stack.enter_context(closing(Checker()))
        self.page, self.look_up = free_port(), free_port()
        address = {"spamd": f"spamd:inet:{self.checker.port}@127.0.0.1", "rspamd": f"rspamd:http://127.0.0.1:{self.checker.port}",
                   "none": "none"}[checker]
        # No name server answers: what a signature names is asked for in vain, and told in the log.
        self.daemon = stack.enter_context(Daemon(folder / "daemon", DaemonConfig(whitelist, host_name="", settings={
            "authentication": "required", "verify-dkim": "yes", "dns-servers": f"127.0.0.1@{self.silent_port(stack)}",
            "dns-timeout": 1, "log-level": "debug", "deep-check": address, "metrics": f"127.0.0.1:{self.page}",
            "lookup-socket": f"127.0.0.1:{self.look_up}"})))
        self.logged_from = 0

    @staticmethod
    def silent_port(stack):
        server = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]

    def answers(self, conversations):
        """The frames that the daemon answers to each conversation, with all conversations under way at once."""
        connections = [MilterConnection(self.daemon.address) for _ in conversations]
        for connection, content in zip(connections, conversations):
            connection.put(NEGOTIATION + content + QUIT)
        found = []
        for connection in connections:
            with closing(connection):
                # The daemon ends the connection only after its last answer, for which it may wait for a name server.
                frames = list(iter(connection.frame, None))
            assert frames[0][0] == b"O"
            assert frames[-1][0] in (b"a", b"c", b"d", b"r", b"t", b"y"), "the daemon has not answered the message"
            found.append(frames[1:])
        return found

    def new_lines(self, messages=0):
        """What was logged since the last time. Waits for the lines of so many messages: they come after the answers."""
        self.answers([connecting() + message(sender=b"last@stranger.example")])

        def new():
            text = self.daemon.log_file.read_bytes()[self.logged_from:]
            return text if len(lines_of_messages(text)) > messages and text.endswith(b"\n") else None

        text = wait_until(new, f"the lines of {messages} messages")
        self.logged_from += len(text)
        return text[:-1].decode("ascii").split("\n")


@pytest.fixture(scope="module")
def world(request):
    with ExitStack() as stack:
        yield World(stack, stack.enter_context(temporary_folder("controls")), request.param)


def assert_log_is_whole(lines, messages, place):
    """Each line is printable and one of ours, and a message has one. (A sentence may quote what a checker has said, with
    its spaces: it does not begin like the line of a message.)"""
    assert [line for line in lines if not LOG_LINE.fullmatch(line)] == [], place
    decided = lines_of_messages("\n".join(lines).encode())
    assert len(decided) == messages + 1, place  # the last one is new_lines()'s
    assert [line for line in decided if line.count(b" decision=") != 1 or line.count(b" queue_id=") != 1] == [], place


def assert_answers_are_whole(answers, place):
    """What the mail server is asked to write into a message, or to say, is printable text."""
    for frames in answers:
        for command, content in frames:
            if command in (b"h", b"i", b"m", b"y", b"q"):
                skipped = 4 if command in (b"i", b"m") else 0
                for text in content[skipped:].rstrip(b"\x00").split(b"\x00"):
                    assert FIELD.fullmatch(text), (place, content)


def assert_pages_are_whole(world):
    status, figures = get(world.page, "/metrics")
    assert status == 200
    assert [line for line in figures.splitlines() if not FIGURE.fullmatch(line)] == []
    status, page = get(world.page, "/")
    assert status == 200
    assert {character for character in page if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp")} <= {"\n"}
    for form in ([], ["--html"], ["--json"]):
        report = subprocess.run([built("filter/cli/bloomgate"), "report", *form, "--since", "1h", world.daemon.log_file],
                                capture_output=True, text=True, check=True).stdout
        assert {character for character in report if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp")} <= {"\n"}
    assert json.loads(report)["messages"] == len(lines_of_messages(world.daemon.log_file.read_bytes()))


def assert_asked_is_whole(asked, place):
    """The checker sees as many lines of its protocol, and of what the daemon puts before a message, as ever."""
    for head, text in asked:
        lines = head.rstrip(b"\n").split(b"\n")
        assert [line for line in lines if not re.fullmatch(rb"[ -~\x80-\xff]*", line)] == [], (place, head)
        assert len(lines) == len({line.partition(b":")[0].lower() for line in lines}), (place, head)  # no field twice
        before, found, _ = text.partition(b"From: Listed")
        if found:
            assert re.fullmatch(rb"(?:[\w-]+: [ -~]*\r\n(?:[\t ][ -~]*\r\n)*)*", before), (place, before)


@pytest.mark.parametrize("world", first_of(["rspamd", "spamd"]), indirect=True)
def test_no_control_byte_of_a_message_comes_through(world):
    world.new_lines()
    for place, conversation in PLACES.items():
        world.checker.asked.clear()
        made = [conversation(b"a" + control + LINE) for control in CONTROLS]
        made += [conversation(b"example.org" + control) for control in CONTROLS]
        answers = [answer for start in range(0, len(made), 25) for answer in world.answers(made[start:start + 25])]
        assert_answers_are_whole(answers, place)
        assert_log_is_whole(world.new_lines(len(made)), len(made), place)
        assert_asked_is_whole(world.checker.asked, place)
    assert_pages_are_whole(world)


# Place -> the answer of a checker that has `text` there.
def rspamd_answer(text, place):
    text = text.decode("utf-8", "surrogateescape").encode("utf-8", "replace").decode()
    found = {"action": "add header", "score": 9, "required_score": 15, "symbols": {"A_TEST": {"score": 1, "options": ["x"]}}}
    if place == "action":
        found["action"] = text
    elif place == "symbol":
        found["symbols"] = {text: {"score": 1}}
    elif place == "option":
        found["symbols"]["A_TEST"]["options"] = [text]
    elif place == "words for the client":
        found.update(action="reject", messages={"smtp_message": text})
    elif place == "its error":
        found = {"error": text}
    return http_answer(json.dumps(found).encode())


ANSWERS = {
    "spamd": {
        "its words": lambda text: spamd_answer(b"A_TEST", text),
        "symbol": lambda text: spamd_answer(b"A_TEST," + text),
        "score": lambda text: b"SPAMD/1.1 0 EX_OK\r\nSpam: True ; 9.0" + text + b" / 5.0\r\n\r\nA_TEST",
        "its error": lambda text: b"SPAMD/1.0 76 " + text + b"\r\n\r\n",
        "nonsense": lambda text: text,
    },
    "rspamd": {
        **{place: lambda text, place=place: rspamd_answer(text, place)
           for place in ("action", "symbol", "option", "words for the client", "its error")},
        "nonsense": http_answer,
        "its first line": lambda text: b"HTTP/1.1 503 " + text + b"\r\nContent-Length: 0\r\n\r\n",
        "a field": lambda text: b"HTTP/1.1 200 OK\r\nX-A: " + text + b"\r\nContent-Length: 2\r\n\r\n{}",
    },
}


@pytest.mark.parametrize("world, checker", first_of([(checker, checker) for checker in reversed(ANSWERS)]), indirect=["world"])
def test_no_control_byte_of_a_checker_comes_through(world, checker):
    world.new_lines()
    for place, answer in ANSWERS[checker].items():
        answers = []
        for control in WITH_NUL:
            world.checker.answer = answer(b"A_B" + control + b"X-Bloomgate: deliver; forged\n" + LINE)
            answers += world.answers([connecting() + message(sender=b"x@stranger.example")])
        world.checker.answer = spamd_answer(b"A_TEST")
        assert_answers_are_whole(answers, place)
        assert_log_is_whole(world.new_lines(len(WITH_NUL)), len(WITH_NUL), place)
    assert_pages_are_whole(world)


def asked_raw(port, content):
    """What comes back for these bytes, up to the end of the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(content)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


REQUESTS = {
    "target": lambda text: b"GET /" + text + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "method": lambda text: text + b" / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "host": lambda text: b"GET / HTTP/1.1\r\nHost: " + text + b"\r\n\r\n",
    "field": lambda text: b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: " + text + b"\r\n\r\n",
    "address": lambda text: b"GET /sender?address=" + b"".join(b"%%%02X" % byte for byte in text) +
                            b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "key": lambda text: b"%d:senders %s," % (len(text) + 8, text),
    "map": lambda text: b"%d:%s a@example.org," % (len(text) + 14, text),
}


@pytest.mark.parametrize("world", ["none"], indirect=True)
def test_no_control_byte_of_a_request_comes_through(world):
    world.new_lines()
    for place, request in REQUESTS.items():
        for control in WITH_NUL:
            for port in (world.page, world.look_up):
                head = asked_raw(port, request(b"a" + control + LINE)).partition(b"\r\n\r\n")[0]
                assert re.fullmatch(rb"[ -~]*(?:\r\n[ -~]*)*", head), (place, head)
        assert_log_is_whole(world.new_lines(), 0, place)
    assert_pages_are_whole(world)
