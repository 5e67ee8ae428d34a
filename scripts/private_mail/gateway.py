"""A whole mail gateway on loopback: Postfix, Bloomgate and the destinations, connected as an operator would.

                                           /-> light path   (a sink)
    Client -> Postfix + bloomgate-milter -<
                                           \\-> deep check   (a sink)

Postfix uses the shipped files of config/mta/postfix; only ports and paths are changed. Mail that a check hands
back to Postfix goes to a third sink, the mailbox.
"""

import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from .client import Client, Message
from .daemon import Daemon, DaemonConfig
from .network import PrivateNetwork
from .postfix import Postfix, PostfixConfig
from .processes import PATIENCE_SECONDS, free_port
from .shipped import SHIPPED_FILES, adapted, with_authenticators
from .sink import Received, Sink

# Where the milters of the shipped main.cf listen, by the name of their part.
SHIPPED_SOCKETS = {
    "pyspf-milter": "/run/pyspf-milter/pyspf-milter.sock",
    "opendkim": "/run/opendkim/opendkim.sock",
    "opendmarc": "/run/opendmarc/opendmarc.sock",
    "bloomgate": "/run/bloomgate/milter.sock",
}

DEEP_CHECK = "deep check"
LIGHT_PATH = "light path"
MAILBOX = "mailbox"


@dataclass(frozen=True)
class GatewayConfig:
    whitelist: Path
    inet: bool = False
    settings: dict = field(default_factory=dict)  # of the daemon
    keep_mail: bool = False  # in the folder as well, one file per message
    milters: tuple = ()  # the others of SHIPPED_SOCKETS that take part: OpenDkimConfig, …
    removes_forged_results: bool = True  # by the shipped header_checks
    removes_forged_marks: bool = True  # the same
    network: PrivateNetwork = None  # that the daemon is in
    main_cf: str = ""  # further lines, after the shipped ones
    sasl: str = ""  # see PostfixConfig
    daemon: Callable = Daemon  # or another that is made of a folder and a DaemonConfig


@dataclass(frozen=True)
class Delivery:
    """One message, and what happened to it."""

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
            # Without milters that authenticate, the daemon is told not to ask: see there.
            required = {"authentication": "required", "dmarc-fail-veto": "yes",
                        "verify-dkim": "no"} if self.config.milters else {}
            settings = {**required, **self.config.settings}
            self.daemon = stack.enter_context(self.config.daemon(self.folder / "daemon", DaemonConfig(
                self.config.whitelist, self.config.inet, settings=settings, network=self.config.network)))
            self.milters = [stack.enter_context(milter.part(self.folder / milter.name))
                            for milter in self.config.milters]
            self.reinjection_port = free_port()
            self.postfix = stack.enter_context(Postfix(self._postfix_folder(), PostfixConfig(
                next_hop=mailbox.address, sasl=self.config.sasl, **self._shipped_files(deep, light))))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    @property
    def port(self):
        """Where mail comes in."""
        return self.postfix.port

    def connect(self, address=None):
        return Client(self.port, address)

    def send(self, *messages, address=None):
        """Sends messages on one connection, and waits until each has arrived somewhere."""
        with self.connect(address) as client:
            sent = [(message, client.send(message)) for message in messages]
        return self.deliveries(sent)

    def deliveries(self, sent, seconds=PATIENCE_SECONDS):
        """What happened to messages, given as (message, queue ID). Waits until the queue has none of them."""
        self.postfix.wait_until_removed({queue_id for _, queue_id in sent}, seconds)
        return matched(sent, self.sinks)

    def logs(self):
        parts = [("Postfix", self.postfix), ("daemon", self.daemon),
                 *((milter.config.name, milter) for milter in self.milters)]
        return "\n".join(f"--- {name}\n{part.log()}" for name, part in parts)

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
        header_checks.write_text(adapted("postfix/bloomgate_header_checks", {
            "[127.0.0.1]:10025": light.address}))
        forged_results = self.folder / "authentication_header_checks"
        forged_results.write_text(adapted("postfix/authentication_header_checks", {
            r"mx\.example\.org": re.escape(self.daemon.config.host_name)})
            if self.config.removes_forged_results else "")
        forged_marks = self.folder / "forged_mark_header_checks"
        forged_marks.write_text(adapted("postfix/forged_mark_header_checks", {})
                                if self.config.removes_forged_marks else "")
        automatic_mail = self.folder / "automatic_mail_header_checks"
        automatic_mail.write_text(adapted("postfix/automatic_mail_header_checks", {}))
        main_cf = with_authenticators(adapted("postfix/main.cf", {
            "[127.0.0.1]:10024": deep.address,
            "/etc/postfix/authentication_header_checks": str(forged_results),
            "/etc/postfix/forged_mark_header_checks": str(forged_marks),
            "/etc/postfix/bloomgate_header_checks": str(header_checks)}).replace(
                "/etc/postfix/automatic_mail_header_checks", str(automatic_mail)))
        sockets = {milter.config.name: milter.mta_socket for milter in self.milters}
        sockets["bloomgate"] = self.daemon.mta_socket
        return {
            "main_cf": with_milters(sockets, main_cf) + self.config.main_cf,
            "master_cf": adapted("postfix/master.cf", {
                "127.0.0.1:10025 inet": f"127.0.0.1:{self.reinjection_port} inet"}),
        }


def matched(sent, sinks):
    """Messages, given as (message, queue ID), and where each has arrived."""
    copies = {}
    for sink in sinks:
        for received in sink.messages():
            copies.setdefault(received.queue_id, []).append(received)
    return [Delivery(message, queue_id, tuple(copies.get(queue_id, ()))) for message, queue_id in sent]


def with_milters(sockets, main_cf):
    """The shipped chain of milters, with our own sockets, and without those that have none here."""
    for name, shipped in SHIPPED_SOCKETS.items():
        entry = re.compile(r"(?s)\{ unix:" + re.escape(shipped) + r"(,.*?\})")
        ours = r"{ " + sockets[name] + r"\1" if name in sockets else ""
        main_cf, count = entry.subn(ours, main_cf)
        if count != 1:
            raise RuntimeError(f"expected '{shipped}' once in {SHIPPED_FILES}/postfix/main.cf, "
                               f"found it {count} times")
    return main_cf
