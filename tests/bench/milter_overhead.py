#!/usr/bin/python3
"""What the full policy costs: processor time a message, above a milter that does nothing.

usage: milter_overhead.py BUILD_FOLDER [--messages N] [--rounds N] [--limit MICROSECONDS]

Both milters serve the same messages through libmilter on 16 connections, by turns, in one run; the processor
time is that of the milter's process, all its threads, kernel included. A message has 15 header fields, two of
them trusted results of SPF, DKIM and DMARC, and its sender is listed. Exits with 1 where the difference of
the medians is above the limit.
"""

import argparse
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

CONNECTIONS = 16
ACTIONS = 0x1FF  # all that libmilter knows
STEPS = 0x1FFFFF
FINAL_ANSWERS = b"cart"
DELIVER = b"deliver; reason=listed;"

HEADERS = [
    ("Authentication-Results", "mx.example.net; dkim=pass header.d=example.org header.s=2026 header.b=Zm9v"),
    ("Authentication-Results", "mx.example.net; spf=pass smtp.mailfrom=joe@example.org;\n"
                               "\tdmarc=pass (p=reject dis=none) header.from=example.org"),
    ("Authentication-Results", "relay.example.com; spf=pass smtp.mailfrom=joe@example.org"),
    ("Received", "from mail.example.org (mail.example.org [192.0.2.7])\n\tby mx.example.net with ESMTPS"),
    ("Received", "by mail.example.org (Postfix, from userid 1000) id 4XyZ; Sat, 21 Nov 2026 10:00:00 +0000"),
    ("DKIM-Signature", "v=1; a=rsa-sha256; c=relaxed/simple; d=example.org; s=2026;\n\th=From:To:Subject;\n"
                       "\tbh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=; b=" + 60 * "Zm9v"),
    ("From", "\"Doe, Joe\" <joe@example.org>"),
    ("To", "Ann <ann@example.net>"),
    ("Subject", "=?utf-8?Q?a_usual_message?="),
    ("Date", "Sat, 21 Nov 2026 10:00:00 +0000"),
    ("Message-ID", "<20261121100000.4XyZ@mail.example.org>"),
    ("MIME-Version", "1.0"),
    ("Content-Type", "text/plain; charset=utf-8"),
    ("User-Agent", "Mail 1.0"),
    ("X-Mailer", "Mail 1.0"),
]


def packet(command, data=b""):
    return struct.pack("!I", 1 + len(data)) + command + data


def text(*words):
    return b"".join(word.encode() + b"\0" for word in words)


def macros(stage, *pairs):
    return packet(b"D", stage + text(*pairs))


def one_message():
    return b"".join([
        macros(b"M", "i", "", "{mail_addr}", "joe@example.org"),
        packet(b"M", text("<joe@example.org>")),
        *(packet(b"L", text(name, value)) for name, value in HEADERS),
        macros(b"E", "i", "4XyZ1234", "j", "mx.example.net"),
        packet(b"E"),
    ])


def read_exactly(stream, size):
    data = stream.read(size)
    if len(data) != size:
        raise RuntimeError("the milter has closed the connection")
    return data


def read_answer(stream):
    size = struct.unpack("!I", read_exactly(stream, 4))[0]
    return read_exactly(stream, size)


def talk(path, count, marks):
    """One connection of a mail server. Appends the mark of each message, or nothing where there was none."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        stream = connection.makefile("rb")
        connection.sendall(packet(b"O", struct.pack("!III", 6, ACTIONS, STEPS)))
        read_answer(stream)
        client = text("mail.example.org") + b"4" + struct.pack("!H", 25) + text("192.0.2.7")
        connection.sendall(macros(b"C", "j", "mx.example.net", "{daemon_name}", "smtpd") +
                           packet(b"C", client) + packet(b"H", text("mail.example.org")))
        message = one_message()
        for _ in range(count):
            connection.sendall(message)
            mark = b""
            while (answer := read_answer(stream))[:1] not in FINAL_ANSWERS:
                mark += answer
            marks.append(mark)
        connection.sendall(packet(b"Q"))


def processor_seconds(process):
    """Of a process, in nanoseconds' resolution (clock_getcpuclockid(3))."""
    return time.clock_gettime((~process.pid << 3) | 2)


def microseconds_a_message(process, path, messages):
    marks = []
    threads = [threading.Thread(target=talk, args=(path, messages // CONNECTIONS, marks))
               for _ in range(CONNECTIONS)]
    before = processor_seconds(process)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(marks) != messages // CONNECTIONS * CONNECTIONS:
        raise RuntimeError("not all messages were answered")
    return (processor_seconds(process) - before) / len(marks) * 1e6, marks


def wait_for(path, process):
    while not path.exists():
        if process.poll() is not None:
            raise RuntimeError(f"{process.args[0]} ended with exit code {process.returncode}")
        time.sleep(0.01)


def start_null(build, folder):
    path = folder / "null.sock"
    return subprocess.Popen([build / "tests/bench/null_milter", f"unix:{path}"]), path


def start_bloomgate(build, folder):
    path = folder / "bloomgate.sock"
    (folder / "list.txt").write_text("joe@example.org\n")
    (folder / "revoked.txt").write_text("eve@example.org\n@.spam.example\n")
    subprocess.run([build / "filter/cli/bloomgate", "build", "--quiet", "--output", folder / "list.bloom",
                    folder / "list.txt"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (folder / "test.conf").write_text(
        f"socket = unix:{path}\nwhitelist = {folder}/list.bloom\nrevoked = {folder}/revoked.txt\n"
        "authentication = required\nverify-dkim = no\nidentity = both\nown-domains = example.net\n"
        "trusted-forwarders = fwd.example\nexempt-networks = 10.0.0.0/8\nlog-target = stderr\n")
    with open(folder / "bloomgate.log", "w", encoding="utf-8") as log:
        return subprocess.Popen([build / "milter/bloomgate-milter", "--config", folder / "test.conf"],
                                stderr=log), path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--messages", type=int, default=16000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=15)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bloomgate-bench-") as name:
        folder = Path(name)
        milters = {"does nothing": start_null(arguments.build, folder),
                   "bloomgate-milter": start_bloomgate(arguments.build, folder)}
        times = {name: [] for name in milters}
        try:
            for process, path in milters.values():
                wait_for(path, process)
                microseconds_a_message(process, path, CONNECTIONS * 20)  # warm
            for _ in range(arguments.rounds):
                for name, (process, path) in milters.items():
                    microseconds, marks = microseconds_a_message(process, path, arguments.messages)
                    times[name].append(microseconds)
                    if path.name == "bloomgate.sock" and any(DELIVER not in mark for mark in marks):
                        raise RuntimeError(f"a listed sender's message is marked {marks[0]}")
        finally:
            for process, _ in milters.values():
                process.kill()
                process.wait()
    for name, values in times.items():
        print(f"{name:18} {statistics.median(values):6.1f} µs a message "
              f"(from {min(values):.1f} to {max(values):.1f})")
    difference = statistics.median(times["bloomgate-milter"]) - statistics.median(times["does nothing"])
    print(f"the full policy    {difference:6.1f} µs a message above it; the limit is {arguments.limit} µs")
    return 0 if difference <= arguments.limit else 1


if __name__ == "__main__":
    sys.exit(main())
