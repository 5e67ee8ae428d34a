"""Other programs ask the daemon for senders: the real Postfix, by its tables, and clients of every kind."""

import re
import shutil
import socket
import subprocess
from contextlib import contextmanager

import pytest
from conftest import LISTED, UNLISTED
from private_mail.client import Message, logged_in
from private_mail.daemon import USER
from private_mail.filter import REPOSITORY
from private_mail.gateway import DEEP_CHECK
from private_mail.processes import PATIENCE_SECONDS, free_port, temporary_folder
from test_learning import MAIN_CF
from test_monitoring import get

REVOKED = "eve@example.org"


@pytest.fixture
def start(start_gateway):
    """gateway, port = start(): a gateway whose daemon answers look-ups on that port."""
    with temporary_folder("revoked") as folder:
        revoked, opt_out = folder / "revoked.txt", folder / "opt-out.txt"
        revoked.write_text(f"{REVOKED}\n")
        opt_out.write_text("eve@ours.example\n")

        def start_answering(main_cf_of=lambda port: ""):
            port = free_port()
            settings = {"lookup-socket": f"127.0.0.1:{port}", "revoked": revoked, "opt-out": opt_out}
            return start_gateway([LISTED, "joe@example.org > ann@ours.example"], settings=settings, main_cf=main_cf_of(port)), port

        yield start_answering


def postmap(gateway, key, port):
    """The exit status and what `postmap -q` prints."""
    run = subprocess.run(["postmap", "-c", gateway.postfix.folder / "etc", "-q", key, f"socketmap:inet:127.0.0.1:{port}:senders"], capture_output=True,
                         text=True, timeout=PATIENCE_SECONDS)  # fmt: skip
    assert run.stderr == ""
    return run.returncode, run.stdout.strip()


def netstring(text):
    return f"{len(text.encode())}:{text},".encode()


@contextmanager
def connected(path):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE_SECONDS)
        connection.connect(str(path))
        yield connection


def ask(connection, key):
    connection.sendall(netstring(f"senders {key}"))
    length = b""
    while not length.endswith(b":"):
        byte = connection.recv(1)
        assert byte
        length += byte
    left = int(length[:-1]) + 1
    reply = b""
    while len(reply) < left:
        part = connection.recv(left - len(reply))
        assert part
        reply += part
    return reply[:-1].decode()


def restrictions_of_the_manual(port):
    """The lines of main.cf that the manual page shows, for that port."""
    text = (REPOSITORY / "milter/bloomgate-milter.8").read_text()
    lines = re.search(r"^smtpd_restriction_classes = .*?(?=^\.Ed)", text, re.MULTILINE | re.DOTALL).group()
    assert lines.count(":9813:") == 1
    return "\n" + lines.replace(":9813:", f":{port}:")


def test_postfix_asks_whether_a_sender_is_listed(start):
    gateway, port = start()
    assert postmap(gateway, LISTED, port) == (0, "listed")
    assert postmap(gateway, LISTED.upper(), port) == (0, "listed")
    assert postmap(gateway, REVOKED, port) == (0, "revoked")
    assert postmap(gateway, "joe@example.org > ann@ours.example", port) == (0, "listed")
    assert postmap(gateway, f"{LISTED} > pam@ours.example", port) == (0, "listed")
    for nobody in (UNLISTED, "example.org", "<>", "listed@", "joe@example.org", "joe@example.org > pam@ours.example",
                   f"{LISTED} > Eve+x@ours.example"):
        assert postmap(gateway, nobody, port) == (1, ""), nobody


def test_the_lines_of_the_manual_log_listed_and_revoked_senders_and_change_nothing(start):
    gateway, _ = start(restrictions_of_the_manual)
    for sender in (LISTED, UNLISTED, REVOKED, ""):
        gateway.send(Message(sender))
    log = gateway.logs()
    told = re.findall(r"NOQUEUE: info: RCPT from .*: Bloomgate: (\w+); from=<(.*?)>", log)
    assert [(sender, word) for word, sender in told] == [(LISTED, "listed"), (REVOKED, "revoked")]


def test_a_unix_socket_has_the_mode_of_the_mail_servers_socket(start_gateway):
    gateway = start_gateway()
    path = gateway.daemon.folder / "lookup.sock"
    gateway.daemon.restart({**gateway.config.settings, "lookup-socket": path, "socket-mode": "0600"})
    with connected(path) as connection:
        assert ask(connection, LISTED) == "OK listed"
    assert path.stat().st_mode & 0o777 == 0o600
    gateway.daemon.stop()
    assert not path.exists()
    gateway.daemon.start()


def test_what_was_learned_is_asked_over_a_unix_socket_and_over_tcp_only_where_the_operator_opens_it(start_gateway):
    with temporary_folder("learned") as folder:
        shutil.chown(folder, USER)
        port = free_port()
        gateway = start_gateway(main_cf=MAIN_CF, settings={
            "lookup-socket": f"127.0.0.1:{port}", "own-domains": "example.net", "learn": "outbound",
            "learn-file": folder / "learned.db"})
        daemon, closed = gateway.daemon, r"lookup-socket \S+127.0.0.1: what was learned is not asked there"
        daemon.logged(closed)
        with logged_in(gateway.port, "ann") as client:
            client.send(Message("ann@example.net", recipient=UNLISTED))

        def word_over_tcp():
            return get(port, f"/sender?address={UNLISTED}&recipient=ann@example.net")[1]

        def reload_with(expected, option, value):
            daemon.config.settings[option] = value
            daemon.write_config()
            daemon.reload(expected)

        assert word_over_tcp() == "neither\n"
        reload_with("can ask whether a user has written to somebody", "lookup-learned-over-tcp", "yes")
        assert word_over_tcp() == "listed\n"
        reload_with(closed, "lookup-learned-over-tcp", "no")
        assert word_over_tcp() == "neither\n"
        # The socket in use is still that of TCP, and what it answers for does not change before the restart.
        path = daemon.folder / "lookup.sock"
        reload_with("restart", "lookup-socket", path)
        assert word_over_tcp() == "neither\n"
        daemon.restart(daemon.config.settings)
        with connected(path) as connection:
            assert ask(connection, f"{UNLISTED} > ann@example.net") == "OK listed"


def test_mail_is_served_where_the_address_is_in_use(start_gateway):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        gateway = start_gateway(settings={"lookup-socket": f"127.0.0.1:{taken.getsockname()[1]}"})
        gateway.daemon.logged("error: lookup-socket: no look-up is answered: .*Address already in use")
        [delivery] = gateway.send(Message(UNLISTED))
        assert delivery.place == DEEP_CHECK
