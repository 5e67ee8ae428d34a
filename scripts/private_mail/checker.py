"""What the deeper checks have in common: a folder, a user, a program that listens and can be taken away."""

import os
import shutil
from pathlib import Path

from .filter import REPOSITORY
from .processes import Program, accepts_connections, wait_until

USER = "nobody"
RECIPES = REPOSITORY / "config/mta"


class Checker:
    """A subclass sets address, (host, port) or the path of a unix socket, and gives command(), what to start.

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
        self.program = Program(self.command(), self.log_file, user=USER)
        wait_until(lambda: self.ready() or not self.program.alive(), f"{self.name} to listen")
        if not self.program.alive():
            raise RuntimeError(f"{self.name} did not start:\n{self.log()}")

    def ready(self):
        return accepts_connections(self.address)

    def stop(self):
        if self.program:
            self.program.stop(10)
            self.program.kill()  # its children too

    def log(self):
        return self.log_file.read_text(encoding="utf-8", errors="replace") if self.log_file.exists() else ""


def give_to_user(folder):
    """The folder and all in it, to the user that checkers run as."""
    if os.geteuid() != 0:
        return
    for path in (folder, *folder.rglob("*")):
        shutil.chown(path, USER)


def adapted_file(path, replacements):
    """The lines of a file of config/mta that are no comments, with our own ports and paths in them."""
    lines = (RECIPES / path).read_text().splitlines()
    text = "".join(line + "\n" for line in lines if not line.startswith("#"))
    for shipped, ours in replacements.items():
        if shipped not in text:
            raise RuntimeError(f"expected '{shipped}' in {RECIPES / path}, and it is not there")
        text = text.replace(shipped, ours)
    return text
