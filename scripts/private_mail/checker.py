"""The common part of the deeper checks: a folder, a user, a program that listens and can be stopped."""

import os
import shutil
from pathlib import Path

from .processes import Program, accepts_connections, wait_until

USER = "nobody"


class Checker:
    """A subclass sets address, (host, port) or the path of a unix socket, and defines command(): what to start.

    prepare() writes its configuration into its folder, once. start() and stop() may follow each other."""

    name = ""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.log_file = self.folder / "log"
        self.program = None

    def prepare(self):
        pass

    def command(self):
        raise NotImplementedError

    def __enter__(self):
        self.folder.mkdir()
        self.prepare()
        self.log_file.touch()
        give_to_user(self.folder)
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        # When we die it gets SIGTERM rather than SIGKILL, and ends its workers.
        self.program = Program(self.command(), self.log_file, user=USER, death_signal="TERM")
        self.program.wait_until_ready(self.ready, self.name)

    def ready(self):
        return accepts_connections(self.address)

    def stop(self):
        """Ends it at once, with its children, since some take seconds to end properly. A child may hold the socket
        for a moment longer; a client that connects then is cut off rather than refused."""
        if self.program:
            self.program.kill()
            wait_until(lambda: not accepts_connections(self.address), f"{self.name} to be gone")

    def log(self):
        return self.log_file.read_text(encoding="utf-8", errors="replace") if self.log_file.exists() else ""


def give_to_user(folder):
    """Gives the folder and everything in it to the user that checkers run as."""
    if os.geteuid() != 0:
        return
    for path in (folder, *folder.rglob("*")):
        shutil.chown(path, USER)
