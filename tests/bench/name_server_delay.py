#!/usr/bin/python3 -B
"""Messages a second where every message needs a key that the daemon has not seen, by how fast the name server answers.

usage: name_server_delay.py [--messages N] [--rounds N]

The daemon is asked as a mail server asks it, on 200 connections at once. Every message is of 5 kB, from a listed
sender, and signed by a domain of its own. By turns the name server answers at once and after 50 ms. All messages have
to be delivered. Exits with 1 where the median rate with the slow one is more than a tenth below that with the fast one.
"""

import argparse
import os
import socket
import statistics
import struct
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "scripts"))

from private_mail.daemon import Daemon, DaemonConfig  # noqa: E402
from private_mail.faulty_name_server import FaultyNameServer, Record  # noqa: E402
from private_mail.filter import build_filter_of  # noqa: E402
from private_mail.network import PrivateNetwork  # noqa: E402
from private_mail.processes import temporary_folder  # noqa: E402
from private_mail.signing import SigningKey, new_ed25519_key  # noqa: E402

SESSIONS = 200
SLOW_SECONDS = 0.05
BODY = b"The quick brown fox jumps over the lazy dog, again and again.\r\n" * 75

ACTIONS = 0x1FF  # all that libmilter knows
STEPS = 0x1FFFFF
FINAL_ANSWERS = b"cart"
# Steps of the milter protocol (libmilter's mfdef.h), and the command that each says of that no answer comes to it.
LEADING_SPACE = 0x100000
SKIP_ANSWER = b"s"
WITHOUT_ANSWER = {b"C": 0x1000, b"H": 0x2000, b"M": 0x4000, b"L": 0x80, b"N": 0x40000, b"B": 0x80000}
NOT_SENT = {b"N": 0x40, b"B": 0x10}


def packet(command, data=b""):
    return struct.pack("!I", 1 + len(data)) + command + data


def text(*words):
    return b"".join(word.encode() + b"\0" for word in words)


def macros(stage, *pairs):
    return packet(b"D", stage + text(*pairs))


def read_exactly(stream, size):
    data = stream.read(size)
    if len(data) != size:
        raise RuntimeError("the milter has closed the connection")
    return data


def read_answer(stream):
    size = struct.unpack("!I", read_exactly(stream, 4))[0]
    return read_exactly(stream, size)


class Session:
    """One connection of a mail server."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._stream = self._socket.makefile("rb")
        self._socket.sendall(packet(b"O", struct.pack("!III", 6, ACTIONS, STEPS)))
        self._steps = struct.unpack("!III", read_answer(self._stream)[1:13])[2]
        self._socket.sendall(macros(b"C", "j", "mx.example.net", "{daemon_name}", "smtpd"))
        self._say(b"C", text("mail.example.org") + b"4" + struct.pack("!H", 25) + text("192.0.2.7"))
        self._say(b"H", text("mail.example.org"))

    def close(self):
        self._socket.close()

    def send(self, sender, content):
        """The daemon's edits, as one text of bytes."""
        header, _, body = content.partition(b"\r\n\r\n")
        self._socket.sendall(macros(b"M", "i", "", "{mail_addr}", sender))
        self._say(b"M", text(f"<{sender}>"))
        for line in header.replace(b"\r\n ", b"\n ").decode().split("\r\n"):
            name, _, value = line.partition(":")
            self._say(b"L", text(name, value if self._steps & LEADING_SPACE else value.removeprefix(" ")))
        self._say(b"N")
        self._say(b"B", body)
        self._socket.sendall(macros(b"E", "i", "4XyZ1234", "j", "mx.example.net") + packet(b"E"))
        edits = b""
        while (answer := read_answer(self._stream))[:1] not in FINAL_ANSWERS:
            edits += answer
        return edits

    def _say(self, command, data=b""):
        if self._steps & NOT_SENT.get(command, 0):
            return
        self._socket.sendall(packet(command, data))
        if not self._steps & WITHOUT_ANSWER[command]:
            answer = read_answer(self._stream)[:1]
            if answer not in (b"c", SKIP_ANSWER):
                raise RuntimeError(f"the daemon has answered {answer} to {command}")


def signed(domain, private):
    sender = f"listed@{domain}"
    header = f"From: <{sender}>\r\nTo: <user@example.net>\r\nSubject: test\r\nMessage-ID: <1@{domain}>\r\n\r\n"
    return sender, SigningKey(domain, "test", private).sign(header.encode() + BODY)


def rate(path, messages):
    """Of all messages, on SESSIONS connections at once."""
    sessions = [Session(path) for _ in range(SESSIONS)]
    errors = []

    def send(index):
        try:
            for sender, content in messages[index::SESSIONS]:
                edits = sessions[index].send(sender, content)
                if b"deliver; " not in edits:
                    raise RuntimeError(f"a listed sender's message got {edits}")
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=send, args=(index,)) for index in range(SESSIONS)]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - started
    for session in sessions:
        session.close()
    if errors:
        raise errors[0]
    return len(messages) / seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    private = new_ed25519_key()
    record = SigningKey("fast.example", "test", private).record
    rates = {"fast.example": [], "slow.example": []}
    print(f"load average before the run {os.getloadavg()[0]:.1f}")
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder("delay"))
        network = stack.enter_context(PrivateNetwork(folder))
        names = stack.enter_context(FaultyNameServer(folder / "names", {
            "*.fast.example": record, "*.slow.example": Record((record,), delay_seconds=SLOW_SECONDS)}, network))
        build_filter_of(folder / "whitelist.bloom", [f"@.{domain}" for domain in rates])
        daemon = stack.enter_context(Daemon(folder / "daemon", DaemonConfig(folder / "whitelist.bloom", settings={
            "authentication": "required", "dns-servers": names.option}, network=network)))
        for turn in range(-1, arguments.rounds):  # the first is to warm
            for domain, values in rates.items():
                messages = [signed(f"mail{turn}x{number}.{domain}", private)
                            for number in range(arguments.messages)]
                measured = rate(daemon.address, messages)
                if turn >= 0:
                    values.append(measured)
    fast, slow = (statistics.median(values) for values in rates.values())
    for name, values in zip(("at once", f"after {1000 * SLOW_SECONDS:.0f} ms"), rates.values()):
        print(f"{SESSIONS} connections, the name server answers {name:12} {statistics.median(values):6.0f} messages/s "
              f"(from {min(values):.0f} to {max(values):.0f})")
    print(f"load average after the run {os.getloadavg()[0]:.1f}")
    return 0 if slow >= 0.9 * fast else 1


if __name__ == "__main__":
    sys.exit(main())
