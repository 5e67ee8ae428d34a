"""bloomgate-milter doctor reads what the running daemon has found, and copes with any other program that answers there."""

import contextlib
import socket
import threading
import time
from pathlib import Path

import pytest
from private_mail.processes import free_port, wait_until
from test_doctor import assert_found, texts, world  # noqa: F401 (a fixture)
from test_monitoring import figures


def watched(world, metrics=None):  # noqa: F811
    """Restarts the daemon with its figures at that address, or at a new port; the address."""
    address = metrics or f"127.0.0.1:{free_port()}"
    world.daemon.restart({"metrics": address})
    return address


def about_figures(findings):
    return [each for each in findings if each["subject"] == "metrics"]


@pytest.mark.parametrize("is_path", [False, True], ids=["a port", "a unix socket"])
def test_a_daemon_that_is_well_is_found_well(world, is_path):  # noqa: F811
    address = watched(world, str(world.daemon.folder / "metrics.sock") if is_path else None)
    assert not is_path or Path(address).stat().st_mode & 0o777 == 0o660
    [found] = about_figures(world.findings())
    assert found["level"] == "ok" and "has found nothing else" in found["text"]


def test_without_the_option_the_doctor_says_that_it_does_not_see_the_running_daemon(world):  # noqa: F811
    [found] = about_figures(world.findings())
    assert found["level"] == "warning" and "cannot ask the daemon for what only it knows" in found["text"]


# What else the daemon finds: test_needs_action.py.
def test_a_whitelist_that_is_damaged_is_found(world):  # noqa: F811
    address = watched(world)
    with open(world.whitelist, "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 100)
    port = int(address.rpartition(":")[2])
    wait_until(lambda: figures(port)["bloomgate_whitelist_usable", 'whitelist="whitelist"'] == 0, "the damage to show")
    found = world.findings()
    assert_found(found, "it lists no sender until a good file is loaded")
    assert all(each["remedy"] for each in found if each["level"] == "problem")


def test_an_address_at_which_no_program_answers_is_a_problem(world):  # noqa: F811
    found = world.findings("--metrics", f"127.0.0.1:{free_port()}")
    assert_found(found, "findings at inet:")
    assert any("cannot be read" in text and "refused" in text for text in texts(found))


@contextlib.contextmanager
def server_that(answers):
    """A server that calls answers(connection) for each client; its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with contextlib.suppress(OSError), connection:
                        answers(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield "127.0.0.1:{}".format(listener.getsockname()[1])
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(60)


def says(reply):
    def answer(connection):
        connection.recv(4096)
        connection.sendall(reply)
    return answer


def page(text, status=b"200 OK"):
    return says(b"HTTP/1.1 " + status + b"\r\nContent-Length: %d\r\n\r\n" % len(text) + text)


def says_for_ever(connection):
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b"bloomgate_hits_total 1\n" * 1000)


def says_slowly(connection):
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b"x")
        time.sleep(0.1)


# What answers at the address, and what the doctor says of it.
OTHERS = {
    "another web server": (page(b"<html>hello</html>"), "is not bloomgate-milter"),
    "an error": (page(b"no", b"404 Not Found"), "status 404"),
    "somewhere else": (says(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n"), "status 302"),
    "no HTTP": (says(b"220 mx.example.net ESMTP\r\n"), "cannot be read"),
    "nothing": (lambda connection: None, "cannot be read"),
    "an answer without end": (says_for_ever, "longer than 1048576 bytes"),
    "a byte now and then": (says_slowly, "cannot be read"),
    "control bytes": (page(b'[{"rule": "metrics", "severity": "page", "what": "whitelist \\u001b[2J is missing"}]'),
                      "whitelist \\x1b[2J is missing"),
}


def test_any_other_program_that_answers_is_named_within_a_bound(world):  # noqa: F811
    for name, (answers, words) in OTHERS.items():
        with server_that(answers) as address:
            begin = time.monotonic()
            found = about_figures(world.findings("--metrics", address))
            assert time.monotonic() - begin < 60, name
        assert len(found) == 1, name
        assert_found(found, words)
