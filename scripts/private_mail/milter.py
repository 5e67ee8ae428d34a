"""The common part of the milters before Bloomgate: a folder, a unix socket, a program that serves it."""

import shutil
from pathlib import Path

from .processes import Program, accepts_connections

USER = "nobody"
USER_AND_GROUP = "nobody:nogroup"


class Milter:
    """A subclass defines command(), which writes its configuration and returns what to start.

    start: starts a program instead of Program, with the same arguments: in another network, say."""

    def __init__(self, folder, config, start=Program):
        self.folder = Path(folder)
        self.config = config
        self.socket = self.folder / "milter.sock"
        self.mta_socket = f"unix:{self.socket}"
        self._start = start
        self.program = None

    def __enter__(self):
        self.folder.mkdir()
        shutil.chown(self.folder, USER)  # it makes its socket there
        self.folder.chmod(0o755)
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.program:
            self.kill()  # some take many seconds to end properly

    def start(self):
        self.program = self._start(self.command(), self.folder / "log", user=USER)
        self.program.wait_until_ready(lambda: accepts_connections(self.socket), self.config.name)
        self.socket.chmod(0o666)  # Postfix is another user

    def kill(self):
        """SIGKILL: a crash."""
        self.program.kill()

    def log(self):
        return self.program.log() if self.program else ""
