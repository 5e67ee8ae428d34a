"""A Sendmail set up by the files of a recipe of config/mta, with OpenDKIM, Bloomgate, the checkers, a mailbox.

    Client -> Sendmail + OpenDKIM + Bloomgate + ... the recipe's checks ... -> mailbox   (a sink)

Only ports and paths are changed in the files.
"""

from contextlib import ExitStack

from .client import Client
from .daemon import Daemon, DaemonConfig
from .opendkim import OpenDkimConfig
from .processes import PATIENCE_SECONDS
from .recipe import HELD, MAILBOX, REJECTED, TRY_AGAIN, Outcome, Recipe
from .sendmail import Sendmail, SendmailConfig
from .shipped import SHIPPED_FILES
from .sink import Sink

# Sendmail has no XCLIENT: what the shipped lines take for another machine is another address of this one.
STRANGER = "127.0.0.2"
OURSELVES = "127.0.0.1"

BEFORE = ("sendmail/opendkim.mc", "sendmail/forged_results.mc", "sendmail/bloomgate.mc")


class SendmailRecipe(Recipe):
    """A subclass starts its checkers in checks(stack), names its lines in `fragments`, and says in sockets()
    where its milters listen: {as shipped: the path of ours}, or {as shipped: what we write instead}."""

    fragments = ()

    def sockets(self):
        raise NotImplementedError

    def __enter__(self):
        with ExitStack() as stack:
            self.mailbox = stack.enter_context(Sink(MAILBOX))
            self.daemon = stack.enter_context(Daemon(self.folder / "daemon", DaemonConfig(
                self.config.whitelist, settings=self.config.settings)))
            self.opendkim = stack.enter_context(OpenDkimConfig().part(self.folder / "opendkim"))
            self.checks(stack)
            fragment, folders = self._shipped_files()
            self.sendmail = stack.enter_context(Sendmail(self.folder / "sendmail", SendmailConfig(
                self.mailbox.port, fragment, folders=folders)))
            self._stack = stack.pop_all()
        return self

    def _shipped_files(self):
        text = "".join((SHIPPED_FILES / name).read_text() for name in BEFORE)
        text += self.opted("".join((SHIPPED_FILES / name).read_text() for name in self.fragments))
        sockets = {"/run/bloomgate/milter.sock": self.daemon.address,
                   "/run/opendkim/opendkim.sock": self.opendkim.socket, **self.sockets()}
        folders = {}
        for shipped, ours in sockets.items():
            if text.count(shipped) != 1:
                raise RuntimeError(f"expected '{shipped}' once in the shipped lines, "
                                   f"found it {text.count(shipped)} times")
            if isinstance(ours, str):
                text = text.replace(shipped, ours)
            else:
                folder = shipped.rpartition("/")[0]
                folders[ours.parent] = folder
                text = text.replace(shipped, f"{folder}/{ours.name}")
        return text, folders

    def opted(self, text):
        return text.replace(", T=", ", F=T, T=") if self.waits else text

    def send(self, *mails, address=STRANGER, patience_seconds=PATIENCE_SECONDS):
        """Sends them, from that address. What became of each, once that is sure."""
        with Client(self.sendmail.port, patience_seconds=patience_seconds, source=address) as client:
            taken = [(mail, *self._offer(client, mail)) for mail in mails]
        return [self.outcome(mail, queue_id) if queue_id else Outcome(
            mail, REJECTED if reply.startswith("5") else TRY_AGAIN, reply=reply)
            for mail, queue_id, reply in taken]

    def outcome(self, mail, queue_id):
        self.sendmail.wait_until_done({queue_id})
        copies = [copy for copy in self.mailbox.messages() if copy.queue_id == queue_id]
        if queue_id in self.sendmail.quarantined():
            copies = [*copies, None]
        if len(copies) != 1:
            raise AssertionError(f"{mail.subject} arrived {len(copies)} times")
        return Outcome(mail, MAILBOX if copies[0] else HELD, queue_id, received=copies[0])

    def logs(self):
        return f"--- Sendmail\n{self.sendmail.log()}\n--- daemon\n{self.daemon.log()}"
