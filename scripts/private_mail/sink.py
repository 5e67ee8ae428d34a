"""An SMTP server on loopback that keeps what it receives, byte for byte: a destination of mail.

Not smtp-sink: that one offers no SMTPUTF8, so Postfix would bounce the international senders.
"""

import re
import socketserver
import threading
from dataclasses import dataclass

from .processes import PATIENCE_SECONDS, wait_until


@dataclass(frozen=True)
class Received:
    sink: str
    sender: str
    recipients: tuple
    content: bytes

    @property
    def queue_id(self):
        """The queue ID at the last Postfix that it passed, from its Received field."""
        found = re.search(rb"\bid ([0-9A-Za-z]{6,20})\b", self.content)
        return found.group(1).decode() if found else ""

    def headers(self, name=None):
        """The header fields as (name, value) in order, folded ones joined; all, or those called name."""
        block = self.content.split(b"\r\n\r\n", 1)[0]
        unfolded = re.sub(rb"\r\n(?=[ \t])", b"", block)
        fields = []
        for line in unfolded.split(b"\r\n"):
            field_name, _, value = line.decode("utf-8", "surrogateescape").partition(":")
            fields.append((field_name.strip(), value.strip()))
        return [field for field in fields if name is None or field[0].lower() == name.lower()]


class Sink:
    """folder: if given, every message also goes into a file there, named after its queue ID."""

    def __init__(self, name, folder=None):
        self.name = name
        self.folder = folder
        self.received = []
        self._lock = threading.Lock()

    def __enter__(self):
        self._server = _Server(("127.0.0.1", 0), _Session)
        self._server.sink = self
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def address(self):
        return f"[127.0.0.1]:{self.port}"

    def keep(self, sender, recipients, content):
        message = Received(self.name, sender, tuple(recipients), content)
        if self.folder:
            (self.folder / f"{message.queue_id}.eml").write_bytes(content)
        with self._lock:
            self.received.append(message)

    def messages(self):
        with self._lock:
            return list(self.received)

    def wait_for(self, count, seconds=PATIENCE_SECONDS):
        wait_until(lambda: len(self.messages()) >= count, f"{count} messages in {self.name}", seconds)
        return self.messages()


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A client that goes away inside a message has delivered nothing, so nothing is recorded."""


class _Session(socketserver.StreamRequestHandler):
    """As much of RFC 5321 as Postfix speaks when it delivers."""

    def handle(self):
        self.reply("220 sink.example ESMTP")
        self.reset()
        for line in self.rfile:
            verb, _, rest = line.rstrip(b"\r\n").decode("utf-8", "surrogateescape").partition(" ")
            verb = verb.upper()
            if verb == "EHLO":
                self.reply("250-sink.example", "250-PIPELINING", "250-8BITMIME",
                           "250-XFORWARD NAME ADDR PROTO HELO", "250 SMTPUTF8")
            elif verb == "MAIL":
                self.reset()
                self.sender = path_of(rest)
                self.reply("250 2.1.0 Ok")
            elif verb == "RCPT":
                self.recipients.append(path_of(rest))
                self.reply("250 2.1.5 Ok")
            elif verb == "DATA":
                self.reply("354 End with a dot")
                self.server.sink.keep(self.sender, self.recipients, self.content())
                self.reply("250 2.0.0 Ok: kept")
            elif verb == "QUIT":
                self.reply("221 2.0.0 Bye")
                return
            elif verb in ("HELO", "RSET", "NOOP", "XFORWARD"):
                self.reply("250 2.0.0 Ok")
            else:
                self.reply("502 5.5.1 Not offered")

    def reset(self):
        self.sender, self.recipients = None, []

    def reply(self, *lines):
        self.wfile.write("".join(line + "\r\n" for line in lines).encode())

    def content(self):
        lines = []
        for line in self.rfile:
            if line == b".\r\n":
                return b"".join(lines)
            lines.append(line[1:] if line.startswith(b".") else line)
        raise ConnectionError("the client went away inside a message")


def path_of(argument):
    """`FROM:<a@example.org> BODY=8BITMIME` -> `a@example.org`"""
    return argument.partition("<")[2].rpartition(">")[0]
