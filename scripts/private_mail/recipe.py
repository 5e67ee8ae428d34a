"""A Postfix set up by the files of a recipe of config/mta, with Bloomgate, the checkers and a mailbox.

    Client -> Postfix + milters -> … the recipe's checks … -> mailbox   (a sink)

Only ports and paths are changed in the files, and milters that take no part are left out. A message is followed
through all of Postfix's log lines to its end.
"""

import re
import subprocess
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from itertools import count
from pathlib import Path

from .client import Client, Message, Rejected
from .daemon import Daemon, DaemonConfig
from .gateway import SHIPPED_SOCKETS
from .postfix import Postfix, PostfixConfig
from .processes import PATIENCE_SECONDS, Timeout, wait_until
from .shipped import adapted
from .sink import Sink

MAILBOX = "mailbox"
REJECTED = "rejected"  # and never taken in
TRY_AGAIN = "try again"  # the client is asked to, and still has it
DEFERRED = "deferred"  # waits in Postfix's queue
HELD = "held"  # for the operator to decide

STRANGER = "192.0.2.1"  # the address that the recipes' clients come from

_numbers = count(1)


@dataclass(frozen=True)
class Mail(Message):
    """A whole message: with all the fields that an honest one has, and a body."""

    body: bytes = b"Hello.\r\n"
    subject: str = field(default_factory=lambda: f"message {next(_numbers)}")

    def content(self):
        sender = self.path or "postmaster@example.org"
        fields = [f"From: <{sender}>", f"To: <{self.recipient}>", f"Subject: {self.subject}",
                  f"Date: {formatdate()}", f"Message-ID: <{self.subject.replace(' ', '.')}@example.org>",
                  "MIME-Version: 1.0", "Content-Type: text/plain; charset=us-ascii"]
        lines = [*self.headers, *(line.encode() for line in fields)]
        return b"\r\n".join(lines) + b"\r\n\r\n" + self.body


@dataclass(frozen=True)
class Outcome:
    mail: Mail
    place: str
    queue_id: str = ""  # its last one
    route: tuple = ()  # the parts of Postfix that handed it on: "deep-check", "light-path", …
    received: object = None  # where place is MAILBOX
    reply: str = ""  # of the mail server, where it did not take it

    def header(self, name):
        """The values of the fields of that name that it arrived with."""
        return [value for _, value in self.received.headers(name)]


@dataclass(frozen=True)
class RecipeConfig:
    whitelist: Path  # None: Postfix and the checkers without Bloomgate, to compare with
    settings: dict = field(default_factory=dict)  # of Bloomgate
    milters: tuple = ()  # those before Bloomgate that take part: OpenDkimConfig, …
    when_down: str = "accept"  # or "tempfail": the lines of the recipe's page for those who rather let mail wait


class Recipe:
    """A subclass starts its checkers in checks(stack), and gives Postfix's lines in files().

    spam_checkers: the checkers that Bloomgate saves work."""

    def __init__(self, folder, config):
        self.folder = Path(folder)
        self.config = config
        self.daemon = None
        self.spam_checkers = []

    def checks(self, stack):
        raise NotImplementedError

    def files(self):
        """main_cf and master_cf, as PostfixConfig has them."""
        raise NotImplementedError

    def __enter__(self):
        with ExitStack() as stack:
            self.mailbox = stack.enter_context(Sink(MAILBOX))
            if self.config.whitelist:
                self.daemon = stack.enter_context(Daemon(self.folder / "daemon", DaemonConfig(
                    self.config.whitelist, settings=self.config.settings)))
            self.milters = [stack.enter_context(milter.part(self.folder / milter.name))
                            for milter in self.config.milters]
            self.checks(stack)
            postfix_folder = self.folder / "postfix"
            postfix_folder.mkdir()
            self.postfix = stack.enter_context(Postfix(postfix_folder, PostfixConfig(
                next_hop=self.mailbox.address, **self.files())))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def send(self, *mails, address=STRANGER, patience_seconds=PATIENCE_SECONDS):
        """Sends them on one connection, from that address (None: our own, without saying so: Postfix then
        asks each milter once less). What became of each, once that is sure."""
        with Client(self.postfix.port, address, patience_seconds) as client:
            taken = [(mail, *self._offer(client, mail)) for mail in mails]
        return [self.outcome(mail, queue_id) if queue_id else Outcome(
            mail, REJECTED if reply.startswith("5") else TRY_AGAIN, reply=reply)
            for mail, queue_id, reply in taken]

    @staticmethod
    def _offer(client, mail):
        try:
            return client.send(mail), ""
        except Rejected as refusal:
            client.command("RSET")
            return None, re.search(r"got (\d.*)", str(refusal), re.S).group(1)

    def outcome(self, mail, queue_id, log_start=0, seconds=PATIENCE_SECONDS):
        """Follows it from a queue ID on, through the lines that Postfix logs after log_start."""
        place, route, last = wait_until(lambda: followed(self.postfix.log()[log_start:], queue_id),
                                        f"the end of {mail.subject}", seconds)
        if place != MAILBOX:
            return Outcome(mail, place, last, route)
        copies = [copy for copy in self.mailbox.messages()
                  if copy.headers("Subject") == [("Subject", mail.subject)]]
        if len(copies) != 1:
            raise AssertionError(f"{mail.subject} arrived {len(copies)} times")
        return Outcome(mail, place, last, route, copies[0])

    def retry(self, *outcomes):
        """Lets Postfix try again until no message is deferred. Returns what happened to each."""
        settled = list(outcomes)

        def attempt():
            start = len(self.postfix.log())
            subprocess.run(["postqueue", "-c", str(self.postfix.folder / "etc"), "-f"], check=True)
            for index, outcome in enumerate(settled):
                if outcome.place == DEFERRED:
                    try:
                        settled[index] = self.outcome(outcome.mail, outcome.queue_id, start, 5)
                    except Timeout:
                        pass  # it was on its way into the queue, where this attempt did not see it
            return DEFERRED not in {outcome.place for outcome in settled}

        wait_until(attempt, "deferred mail to leave the queue")
        return settled

    @contextmanager
    def without_bloomgate(self):
        """It has crashed."""
        self.daemon.kill()
        yield
        self.daemon.start()

    @contextmanager
    def with_bloomgate_hung(self):
        with self.daemon.program.standing_still():
            yield

    @property
    def waits(self):
        return self.config.when_down == "tempfail"

    @property
    def virus_check_that_waits(self):
        """The file of rspamd for it."""
        return ["rspamd/clamav-tempfail/force_actions.conf"] if self.waits else []

    def opted(self, text):
        """The shipped lines, which let mail go on while a check is down; or those that let it wait."""
        return text.replace("default_action=accept", "default_action=tempfail") if self.waits else text

    def logs(self):
        parts = [("Postfix", self.postfix), ("Bloomgate", self.daemon),
                 *((checker.name, checker) for checker in self.spam_checkers)]
        return "\n".join(f"--- {name}\n{part.log()[-3000:]}" for name, part in parts)

    def with_milters(self, main_cf, sockets):
        """The shipped main.cf with our own sockets (shipped -> ours) and Bloomgate's, and without the
        milters that have none here."""
        before = {milter.config.name: milter for milter in self.milters}
        if self.daemon:
            before["bloomgate"] = self.daemon
        sockets = {**sockets, **{f"unix:{SHIPPED_SOCKETS[name]}": part.mta_socket
                                 for name, part in before.items()}}

        def entry(found):
            ours = sockets.get(found.group(1))
            return "{ " + ours + found.group(2) + "}" if ours else ""

        for shipped in sockets:
            if f"{{ {shipped}," not in main_cf:
                raise RuntimeError(f"expected the milter '{shipped}', and it is not there:\n{main_cf}")
        text = re.sub(r"\{ ((?:unix|inet):[^\s,]+)(,[^}]*)\}", entry, main_cf)
        for shipped, ours in sockets.items():
            text = text.replace(shipped, ours)
        return text


def followed(log, queue_id):
    """Where a message is, the way that it took and its last queue ID; None while it is under way."""
    route = []
    while True:
        if re.search(rf" {queue_id}: milter-(?:header-)?hold: ", log):
            return HELD, tuple(route), queue_id
        attempts = re.findall(rf" postfix/(\S+?)(?:/smtp)?\[\d+\]: {queue_id}: to=.* status=(\w+) \((.*)\)",
                              log)
        if not attempts:
            return None
        part, status, reply = attempts[-1]
        route.append(part)
        taken_over = re.search(r"queued as (\w+)", reply)
        if status != "sent" or not taken_over:
            return MAILBOX if status == "sent" else status, tuple(route), queue_id
        queue_id = taken_over.group(1)


def with_header_checks(lines, folder, replacements, recipe="postfix"):
    """The shipped lines of main.cf or master.cf, with the files of config/mta/recipe that they name copied to folder."""
    def table(found):
        path = folder / found.group(1)
        path.write_text(adapted(f"{recipe}/{path.name}", replacements.get(path.name, {})))
        return str(path)

    return re.sub(r"/etc/postfix/(\w+_header_checks)", table, lines)
