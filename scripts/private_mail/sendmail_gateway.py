"""Sendmail and Bloomgate on loopback, connected by the shipped file of config/mta/sendmail.

    Client -> Sendmail + bloomgate-milter -> mailbox   (a sink)

Sendmail cannot choose a route by a field that a milter adds, so there is one destination, and the mark tells the
verdict.
"""

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from .client import Client
from .daemon import Daemon, DaemonConfig
from .filter import REPOSITORY
from .gateway import MAILBOX, matched
from .network import PrivateNetwork
from .processes import PATIENCE_SECONDS
from .sendmail import Sendmail, SendmailConfig
from .sink import Sink

SHIPPED_FILE = REPOSITORY / "config/mta/sendmail/bloomgate.mc"
SHIPPED_SOCKET = "local:/run/bloomgate/milter.sock"


@dataclass(frozen=True)
class SendmailGatewayConfig:
    whitelist: Path
    inet: bool = False
    settings: dict = field(default_factory=dict)  # of the daemon
    host_name: str = "mx.example.net"
    shipped: Path = SHIPPED_FILE
    network: PrivateNetwork = None  # that the daemon is in


class SendmailGateway:
    def __init__(self, folder, config):
        self.folder = Path(folder)
        self.config = config

    def __enter__(self):
        self.folder.mkdir(exist_ok=True)
        with ExitStack() as stack:
            self.mailbox = stack.enter_context(Sink(MAILBOX))
            self.daemon = stack.enter_context(Daemon(self.folder / "daemon", DaemonConfig(
                self.config.whitelist, self.config.inet,
                settings={"authentication": "off", **self.config.settings}, network=self.config.network)))
            fragment = self.config.shipped.read_text()
            folders = {self.daemon.folder: "/run/bloomgate"}
            if self.config.inet:
                fragment = fragment.replace(SHIPPED_SOCKET, self.daemon.socket)
                folders = {}
            self.sendmail = stack.enter_context(Sendmail(self.folder / "sendmail", SendmailConfig(
                self.mailbox.port, fragment, self.config.host_name, folders)))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def connect(self):
        return Client(self.sendmail.port)

    def send(self, *messages):
        """Sends messages on one connection, and waits until each has arrived."""
        with self.connect() as client:
            sent = [(message, client.send(message)) for message in messages]
        return self.deliveries(sent)

    def deliveries(self, sent, seconds=PATIENCE_SECONDS):
        """What happened to messages, given as (message, queue ID). Waits until the queue has none of them."""
        self.sendmail.wait_until_removed({queue_id for _, queue_id in sent}, seconds)
        return matched(sent, [self.mailbox])

    def logs(self):
        return f"--- Sendmail\n{self.sendmail.log()}\n--- daemon\n{self.daemon.log()}"
