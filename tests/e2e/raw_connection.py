"""A mail server's connection to a milter, byte by byte, and what the milter's process takes for it."""

import os
import select
import socket
import struct

LISTED = b"listed@example.org"


def frame(command, content=b""):
    return struct.pack(">I", 1 + len(content)) + command + content


NEGOTIATION = frame(b"O", struct.pack(">III", 6, 0x1FF, 0x1FFFFF))
CLIENT = frame(b"C", b"client.example\x004" + struct.pack(">H", 25) + b"192.0.2.1\x00")
CONNECTION_STEPS = CLIENT + frame(b"H", b"client.example\x00")


def sender(address):
    return frame(b"M", b"<" + address + b">\x00") + frame(b"R", b"<user@example.net>\x00")


SENDER = sender(LISTED)
# Ordinary ones, 15 fields of some 2 KiB.
HEADER = b"".join(frame(b"L", name + b"\x00" + value + b"\x00") for name, value in [
    (b"Received", b"from mail.example.org (mail.example.org [192.0.2.7])\n\tby mx.example.net with ESMTPS id 4XyZ1"),
    (b"Received", b"by mail.example.org (Postfix, from userid 1000) id 4XyZ; Sat, 21 Nov 2026 10:00:00 +0000"),
    (b"Authentication-Results", b"mx.example.net; dkim=pass header.d=example.org header.s=2026 header.b=Zm9v"),
    (b"Authentication-Results", b"mx.example.net; spf=pass smtp.mailfrom=" + LISTED),
    (b"DKIM-Signature", b"v=1; a=rsa-sha256; c=relaxed/simple; d=example.org; s=2026;\n\th=From:To:Subject;\n\tb=" +
     b"Z" * 344),
    (b"From", b"Listed <" + LISTED + b">"), (b"To", b"Ann <ann@example.net>"), (b"Subject", b"a usual message"),
    (b"Date", b"Sat, 21 Nov 2026 10:00:00 +0000"), (b"Message-ID", b"<20261121100000.4XyZ@example.org>"),
    (b"MIME-Version", b"1.0"), (b"Content-Type", b"text/plain; charset=utf-8"), (b"User-Agent", b"Mail 1.0"),
    (b"X-Mailer", b"Mail 1.0"), (b"References", b" ".join(b"<%024d@example.org>" % i for i in range(20)))])
END = frame(b"D", b"Ei\x004XyZ1\x00") + frame(b"E")
QUIT = frame(b"Q")


def header_and_body(raw):
    """A message as a mail server hands it over: the frames of its fields, and its body."""
    header, _, body = raw.partition(b"\r\n\r\n")
    fields = [field.partition(b":") for field in header.replace(b"\r\n\t", b"\n\t").replace(b"\r\n ", b"\n ").split(b"\r\n")]
    return b"".join(frame(b"L", name + b"\x00" + value + b"\x00") for name, _, value in fields), body


class MilterConnection:
    def __init__(self, address):
        """Of a unix socket, or (host, port)."""
        self._socket = socket.socket(socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX)
        self._socket.settimeout(60)
        self._socket.connect(address if isinstance(address, tuple) else str(address))

    def put(self, content):
        """What the milter no longer takes is lost: is_open() and answer() tell."""
        try:
            self._socket.sendall(content)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def frame(self):
        """(command, content), or None where the milter has ended the connection."""
        head = self._get(5)
        if head is None:
            return None
        content = self._get(struct.unpack(">I", head[:4])[0] - 1)
        return None if content is None else (head[4:], content)

    def answer(self):
        """The command alone."""
        each = self.frame()
        return each and each[0]

    def mark(self):
        """Reads up to the end of the answers to a message. Returns the value of the field that is put in."""
        found = None
        while True:
            each = self.frame()
            if each is None:
                raise ConnectionError("the milter has ended the connection")
            command, content = each
            if command == b"i":
                found = content[4:].split(b"\x00")[1].strip()
            if command in b"acdrty":
                return found

    def is_open(self):
        """Whether the milter has not ended it. What it has sent is not taken."""
        if not select.select([self._socket], [], [], 0)[0]:
            return True
        try:
            return self._socket.recv(1, socket.MSG_PEEK) != b"" and not self._is_hung_up()
        except ConnectionResetError:
            return False

    def _is_hung_up(self):
        poll = select.poll()
        poll.register(self._socket, select.POLLRDHUP)
        return bool(poll.poll(0))

    def _get(self, size):
        content = b""
        while len(content) < size:
            try:
                more = self._socket.recv(size - len(content))
            except ConnectionResetError:
                more = b""
            if not more:
                return None
            content += more
        return content

    def close(self):
        self._socket.close()


def served_connection(address):
    """A connection that is not turned away, or None."""
    connection = MilterConnection(address)
    connection.put(NEGOTIATION)
    if connection.answer() == b"O":
        return connection
    connection.close()
    return None


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def status_number(pid, key):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(f"{key}:"))


def threads(pid):
    return status_number(pid, "Threads")


def resident_bytes(pid):
    return status_number(pid, "VmRSS") * 1024


def has_sanitizer(program):
    """Its memory is then that of the sanitizer."""
    with open(program, "rb") as file:
        content = file.read()
    return b"__asan_init" in content or b"__tsan_init" in content


def own_bytes(pid):
    """Memory that is resident and no file's."""
    return status_number(pid, "RssAnon") * 1024
