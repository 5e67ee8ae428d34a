#!/usr/bin/env -S /usr/bin/python3 -B
"""A mail server that does not keep to the milter protocol, against the real daemon on a private socket.

    BLOOMGATE_BUILD=build/asan tests/fuzz/milter_client.py [--seed N] [--seconds S] [--batch N] [--replay FILE] [--keep FOLDER]

Sessions are made from a grammar (packets.py) and played in batches, several at a time, their writes mixed. A well-formed
session runs beside each batch, others follow it: each must get the mark that its message deserves. Whatever was sent, the
daemon must answer with whole packets, end each connection when the client has ended its half, and live. A batch depends on
the seed and on its number only, but for the keys that sign messages.

Where something is wrong, the seed, the batch and its last writes are printed, the writes are kept in a file, and the exit
code is 1. --replay plays such a file; --batch begins with that batch.
"""

import argparse
import json
import os
import random
import re
import select
import shutil
import socket
import struct
import sys
import time
from contextlib import ExitStack, closing
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / folder) for folder in ("scripts", "tests/e2e", "tests/fuzz")]

from mail_world import content  # noqa: E402
from packets import LISTED, Grammar, session_of  # noqa: E402
from private_mail.daemon import USER, Daemon, DaemonConfig  # noqa: E402
from private_mail.faulty_name_server import FaultyNameServer  # noqa: E402
from private_mail.filter import build_filter_of  # noqa: E402
from private_mail.processes import temporary_folder, wait_until  # noqa: E402
from private_mail.signing import SigningKey, new_ed25519_key  # noqa: E402
from raw_connection import MilterConnection, descriptors  # noqa: E402

SESSIONS_OF_BATCH = 8
# A client that has ended its half, and is not ended, is forgotten: the daemon's own limits are shorter.
PATIENCE_SECONDS = 30
CONNECTION_TIMEOUT_SECONDS = 10
ANSWERS = b"+-2abcdefhilmpqrstyO"
KEPT_WRITES = 40


class Found(Exception):
    pass


class Wire:
    """One connection that is written to whatever the daemon answers: what it says is read meanwhile."""

    def __init__(self, address):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(address))
        self._socket.setblocking(False)
        self.answers = bytearray()
        self.is_ended = False

    def put(self, content):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while content and not self.is_ended:
            readable, writable, _ = select.select([self._socket], [self._socket], [], 1)
            if readable:
                self._take()
            if writable and not self.is_ended:
                try:
                    content = content[self._socket.send(content):]
                except BlockingIOError:
                    pass
                except (BrokenPipeError, ConnectionResetError):
                    self.is_ended = True
            if time.monotonic() > deadline:
                raise Found("the daemon reads a connection no more, and does not end it")

    def end_half(self):
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.is_ended = True

    def await_end(self):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self.is_ended:
            if select.select([self._socket], [], [], 1)[0]:
                self._take()
            if time.monotonic() > deadline:
                raise Found("the daemon does not end a connection whose client has ended its half")

    def _take(self):
        try:
            more = self._socket.recv(1 << 16)
        except ConnectionResetError:
            more = b""
        self.answers += more
        self.is_ended = not more

    def check_answers(self):
        """Each is a whole packet that the protocol knows; the last one may be cut where the daemon was cut off."""
        at = 0
        while at + 5 <= len(self.answers):
            size = struct.unpack_from(">I", self.answers, at)[0]
            if not 1 <= size <= 1 << 20 or self.answers[at + 4] not in ANSWERS:
                raise Found(f"the daemon answers with {bytes(self.answers[at:at + 40])!r}")
            at += 4 + size

    def close(self):
        self._socket.close()


class World:
    """The daemon with a whitelist, signatures, learning and figures."""

    def __init__(self, stack, folder):
        key = SigningKey("example.org", private=new_ed25519_key())
        names = stack.enter_context(FaultyNameServer(folder / "names", {key.record_name: key.record}))
        build_filter_of(folder / "whitelist.bloom", [LISTED.decode(), "@listed.example"], "--bits-per-entry", "32")
        (folder / "learned").mkdir()
        shutil.chown(folder / "learned", USER)
        self._metrics = folder / "daemon" / "metrics.sock"
        self.daemon = stack.enter_context(Daemon(folder / "daemon", DaemonConfig(folder / "whitelist.bloom", settings={
            "authentication": "required", "dns-servers": names.option, "own-domains": "example.net",
            "learn": "outbound", "learn-file": folder / "learned" / "learned.db", "metrics": self._metrics,
            "connection-timeout": CONNECTION_TIMEOUT_SECONDS, "log-level": "warning"})))
        self.signed = key.sign(content(LISTED.decode()))
        unsigned = content(LISTED.decode())
        # Message, envelope sender, whether it may pass.
        self.well_formed = [(self.signed, LISTED, True), (unsigned, LISTED, False),
                            (self.signed + b"more\r\n", LISTED, False),
                            (content("unlisted@example.org"), b"unlisted@example.org", False)]
        self.descriptors = descriptors(self.daemon.program.pid)

    def fault(self):
        """What has gone wrong with the process, or None."""
        log = self.daemon.log()
        if not self.daemon.program.alive():
            return "the daemon has died"
        found = re.search(r".*(internal-error|ERROR: AddressSanitizer|runtime error:|a thread hangs).*", log)
        return found and f"the log has: {found[0]}"

    def fault_after(self, symptom):
        """Why something went wrong: the process may take a while to die, with a sanitizer above all."""
        try:
            return wait_until(self.fault, "the daemon to say why", seconds=5)
        except Exception:  # noqa: BLE001: it lives, and has said nothing
            return symptom

    def begin(self, case):
        """A well-formed session in its writes, and a function that takes its answer."""
        raw, sender, may_pass = self.well_formed[case % len(self.well_formed)]
        connection = MilterConnection(self.daemon.address)

        def end():
            with closing(connection):
                answers = list(iter(connection.frame, None))
            marks = [content[4:].split(b"\x00")[1].strip() for command, content in answers if command == b"i"]
            if len(marks) != 1 or marks[0].startswith(b"deliver;") != may_pass:
                raise Found(f"a well-formed session (case {case % len(self.well_formed)}) got {answers}")

        return session_of(raw, sender), connection, end

    def serves(self, case):
        writes, connection, end = self.begin(case)
        connection.put(b"".join(writes))
        assert connection.answer() == b"O"
        end()

    def shows_figures(self):
        with closing(socket.socket(socket.AF_UNIX)) as page:
            page.settimeout(PATIENCE_SECONDS)
            page.connect(str(self._metrics))
            page.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            if not page.recv(1 << 16).startswith(b"HTTP/1.1 200") and self.daemon.program.alive():
                raise Found("the daemon shows no figures")

    def is_flat(self):
        pid = self.daemon.program.pid
        wait_until(lambda: descriptors(pid) <= self.descriptors + 12, "descriptors to come back")


def play(world, writes, number=0):
    """writes: [connection, bytes, seconds to wait first], in order. Bytes of None: the connection is cut without a word."""
    wires = {}
    beside, connection, end = world.begin(number)
    left = list(beside)
    try:
        for at, (index, piece, wait) in enumerate(writes):
            if wait:
                time.sleep(wait)  # a slow client is part of what is tried
            while (len(beside) - len(left)) * len(writes) < at * len(beside):
                connection.put(left.pop(0))
            if index not in wires:
                wires[index] = Wire(world.daemon.address)
            if piece is None:
                wires[index].close()
                wires[index] = None
            elif wires[index] is not None:
                wires[index].put(piece)
        connection.put(b"".join(left))
        if connection.answer() != b"O":
            raise Found("a well-formed session was not answered")
        end()
        for wire in filter(None, wires.values()):
            wire.end_half()
        for wire in filter(None, wires.values()):
            wire.await_end()
            wire.check_answers()
    finally:
        connection.close()
        for wire in filter(None, wires.values()):
            wire.close()


def mixed(chooser, sessions):
    """The writes of several sessions, those of each in their order."""
    queues = [[(index, *write) for write in session] for index, session in enumerate(sessions) if session]
    writes = []
    while queues:
        queue = chooser.choice(queues)
        writes.append(queue.pop(0))
        if not queue:
            queues.remove(queue)
    return writes


def batch(seed, number, signed):
    chooser = random.Random(f"{seed}:{number}")
    grammar = Grammar(chooser, signed)
    return mixed(chooser, [grammar.writes() for _ in range(SESSIONS_OF_BATCH)])


def try_batch(world, writes, number):
    """What is wrong after it, or None."""
    try:
        play(world, writes, number)
        for case in range(len(world.well_formed) if number % 16 == 0 else 1):
            world.serves(number + case)
        if number % 16 == 0:
            world.shows_figures()
    except (Found, OSError, AssertionError) as error:
        return world.fault_after(f"{type(error).__name__}: {error}")
    return world.fault()


def kept(writes, folder, name):
    """The file that a batch is kept in, for --replay."""
    path = Path(folder) / f"{name}.json"
    path.write_text(json.dumps([[index, piece if piece is None else piece.hex(), wait] for index, piece, wait in writes]))
    return path


def replayed(path):
    return [(index, piece if piece is None else bytes.fromhex(piece), wait)
            for index, piece, wait in json.loads(Path(path).read_text())]


def run(seed, seconds, first=0, keep=".", replay=None, progress=lambda text: None):
    """Returns the number of sessions, and what was found, or None."""
    os.environ.setdefault("G_SLICE", "always-malloc")
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder("milter-client"))
        world = World(stack, folder)
        world.daemon.may_fail = True
        began, number, found = time.monotonic(), first, None
        shown = began
        while found is None and time.monotonic() < began + seconds:
            writes = replayed(replay) if replay else batch(seed, number, world.signed)
            found = try_batch(world, writes, number)
            number += 1
            if time.monotonic() > shown + 60:
                shown = time.monotonic()
                progress(f"{(number - first) * SESSIONS_OF_BATCH} sessions in {shown - began:.0f} s")
            if replay:
                break
        if found is None:
            try:
                world.is_flat()
            except Exception as error:  # noqa: BLE001
                found = str(error)
        sessions = (number - first) * SESSIONS_OF_BATCH
        if found is None:
            return sessions, None
        lines = [f"seed {seed}, batch {number - 1}: {found}", f"kept: {kept(writes, keep, f'{seed}-{number - 1}')}"]
        lines += [f"{index}: {piece if piece is None else piece[:200]!r}" for index, piece, _ in writes[-KEPT_WRITES:]]
        return sessions, "\n".join([*lines, "the end of its log:", world.daemon.log()[-6000:]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--batch", type=int, default=0)
    parser.add_argument("--keep", default=".")
    parser.add_argument("--replay")
    options = parser.parse_args()
    began = time.monotonic()
    sessions, found = run(options.seed, options.seconds, options.batch, options.keep, options.replay,
                          lambda text: print(text, flush=True))
    print(f"{sessions} sessions, {sessions / (time.monotonic() - began):.0f} a second")
    if found:
        print(found)
    return found is not None


if __name__ == "__main__":
    sys.exit(main())
