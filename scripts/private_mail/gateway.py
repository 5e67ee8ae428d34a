"""A whole mail gateway on loopback: Postfix, Bloomgate and the destinations, connected as an operator does.

                                           /-> light path   (a sink)
    Client -> Postfix + bloomgate-milter -<
                                           \\-> deep check   (a sink)

Postfix uses the shipped files of config/mta/postfix, with nothing changed in them but ports and paths. Mail
that is handed back to Postfix after a check goes to a third sink, the mailbox.
"""

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from .client import Client, Message
from .daemon import Daemon, DaemonConfig
from .filter import REPOSITORY
from .postfix import Postfix, PostfixConfig
from .processes import PATIENCE_SECONDS, free_port
from .sink import Received, Sink

SHIPPED_FILES = REPOSITORY / "config/mta/postfix"

DEEP_CHECK = "deep check"
LIGHT_PATH = "light path"
MAILBOX = "mailbox"


@dataclass(frozen=True)
class GatewayConfig:
    whitelist: Path
    inet: bool = False
    settings: dict = field(default_factory=dict)  # of the daemon
    keep_mail: bool = False  # in the folder as well, one file a message


@dataclass(frozen=True)
class Delivery:
    """One message, and what became of it."""

    message: Message
    queue_id: str
    copies: tuple  # of Received: one, unless mail was lost or doubled

    @property
    def received(self) -> Received:
        if len(self.copies) != 1:
            raise AssertionError(f"message {self.queue_id} arrived {len(self.copies)} times")
        return self.copies[0]

    @property
    def place(self):
        return self.received.sink

    @property
    def marks(self):
        """The values of the X-Bloomgate fields that it arrived with."""
        return [value for _, value in self.received.headers("X-Bloomgate")]


class Gateway:
    def __init__(self, folder, config):
        self.folder = Path(folder)
        self.config = config

    def __enter__(self):
        with ExitStack() as stack:
            self.sinks = deep, light, mailbox = [
                stack.enter_context(Sink(name, self._mail_folder(name)))
                for name in (DEEP_CHECK, LIGHT_PATH, MAILBOX)]
            self.daemon = stack.enter_context(Daemon(self.folder / "daemon", DaemonConfig(
                self.config.whitelist, self.config.inet, settings=self.config.settings)))
            self.reinjection_port = free_port()
            self.postfix = stack.enter_context(Postfix(self._postfix_folder(), PostfixConfig(
                next_hop=mailbox.address, **self._shipped_files(deep, light))))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    @property
    def port(self):
        """Where mail comes in."""
        return self.postfix.port

    def connect(self):
        return Client(self.port)

    def send(self, *messages):
        """Sends messages on one connection, and waits until each has arrived somewhere."""
        with self.connect() as client:
            sent = [(message, client.send(message)) for message in messages]
        return self.deliveries(sent)

    def deliveries(self, sent, seconds=PATIENCE_SECONDS):
        """What became of messages, given as (message, queue ID). Waits until the queue is rid of them."""
        self.postfix.wait_until_removed({queue_id for _, queue_id in sent}, seconds)
        return matched(sent, self.sinks)

    def logs(self):
        return f"--- Postfix\n{self.postfix.log()}\n--- daemon\n{self.daemon.log()}"

    def _mail_folder(self, sink):
        if not self.config.keep_mail:
            return None
        folder = self.folder / sink.replace(" ", "-")
        folder.mkdir()
        return folder

    def _postfix_folder(self):
        folder = self.folder / "postfix"
        folder.mkdir()
        return folder

    def _shipped_files(self, deep, light):
        header_checks = self.folder / "bloomgate_header_checks"
        header_checks.write_text(adapted("bloomgate_header_checks", {"[127.0.0.1]:10026": light.address}))
        return {
            "main_cf": adapted("main.cf", {
                "[127.0.0.1]:10024": deep.address,
                "unix:/run/bloomgate/milter.sock": self.daemon.mta_socket,
                "/etc/postfix/bloomgate_header_checks": str(header_checks)}),
            "master_cf": adapted("master.cf", {
                "127.0.0.1:10025 inet": f"127.0.0.1:{self.reinjection_port} inet"}),
        }


def matched(sent, sinks):
    """Messages, given as (message, queue ID), and where each has arrived."""
    copies = {}
    for sink in sinks:
        for received in sink.messages():
            copies.setdefault(received.queue_id, []).append(received)
    return [Delivery(message, queue_id, tuple(copies.get(queue_id, ()))) for message, queue_id in sent]


def adapted(name, replacements):
    """The shipped file, with our own ports and paths in the lines that Postfix reads."""
    lines = (SHIPPED_FILES / name).read_text().splitlines()
    text = "".join(line + "\n" for line in lines if not line.startswith("#"))
    for shipped, ours in replacements.items():
        if text.count(shipped) != 1:
            raise RuntimeError(f"expected '{shipped}' once in {SHIPPED_FILES / name}, "
                               f"found it {text.count(shipped)} times")
        text = text.replace(shipped, ours)
    return text
