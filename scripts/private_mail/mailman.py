"""A private Mailman 3: the core of Debian's package mailman3, which takes mail by LMTP and sends to a Sink."""

import os
import shutil
import smtplib
import subprocess
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from pathlib import Path

from .processes import Program, accepts_connections, become, free_port
from .sink import Sink

PROGRAMS = Path("/usr/lib/mailman3/bin")
USER = "list"  # the package's; Mailman does not run as root
RUNNERS = ("in", "lmtp", "out", "pipeline")  # what a post passes through
OTHERS = ("archive", "bounces", "command", "digest", "nntp", "rest", "retry", "task", "virgin")

CONFIGURATION = """\
[mailman]
layout: test
site_owner: owner@localhost

[paths.test]
bin_dir: {programs}
var_dir: {folder}

[mta]
incoming: mailman.mta.null.NullMTA
lmtp_host: 127.0.0.1
lmtp_port: {lmtp_port}
smtp_host: 127.0.0.1
smtp_port: {smtp_port}

[dmarc]
resolver_lifetime: 1s
"""


def why_not_mailman():
    """Why none can be started here; empty if one can."""
    if not (PROGRAMS / "master").exists():
        return "mailman3 is not installed: scripts/install-dependencies test"
    return "" if os.geteuid() == 0 else "Mailman needs root, to become its own user"


class Mailman:
    """What it sends is in `sink`."""

    def __init__(self, folder):
        self.folder = folder
        self.sink = Sink("mailman")
        self.lmtp_port = free_port()

    def __enter__(self):
        self.folder.mkdir()
        self.sink.__enter__()
        text = CONFIGURATION.format(programs=PROGRAMS, folder=self.folder, lmtp_port=self.lmtp_port,
                                    smtp_port=self.sink.port)
        text += "".join(f"\n[runner.{name}]\nstart: no\n" for name in OTHERS)
        self._configuration = self.folder / "mailman.cfg"
        self._configuration.write_text(text)
        shutil.chown(self.folder, USER, USER)
        self._run("info")  # makes the database
        self.program = Program([PROGRAMS / "master", "-C", self._configuration], self.folder / "log", USER,
                               death_signal="TERM")
        self.program.wait_until_ready(lambda: accepts_connections(("127.0.0.1", self.lmtp_port)), "Mailman")
        return self

    def __exit__(self, *_):
        self.program.stop()
        self.program.kill()
        self.sink.__exit__()

    def create_list(self, address, *members):
        self._run("create", "--domain", address)
        self._run("addmembers", "--no-welcome-msg", "-", address, stdin="".join(f"{member}\n" for member in members))

    def post(self, sender, address, page=None):
        """page: HTML beside the text."""
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = f"Anna Berg <{sender}>", address, "the plan"
        message["Date"], message["Message-ID"] = formatdate(), make_msgid()
        message.set_content("Hello,\n\nthe meeting is on Monday.\n")
        if page:
            message.add_alternative(page, subtype="html")
        with smtplib.LMTP("127.0.0.1", self.lmtp_port) as client:
            client.send_message(message, sender, [address])

    def _run(self, *words, stdin=""):
        command = ["setpriv", *become(USER), "--", PROGRAMS / "mailman", "-C", self._configuration, *words]
        done = subprocess.run([str(word) for word in command], input=stdin, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"mailman {words[0]} failed:\n{done.stdout}{done.stderr}")
