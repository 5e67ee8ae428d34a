"""Mail that flows while something happens to the daemon."""

import itertools
import threading
import time

from conftest import LISTED, UNLISTED
from private_mail.client import Message
from private_mail.processes import wait_until

CONNECTIONS = 4
SENDERS = (LISTED, UNLISTED)


class Traffic:
    """Listed and unlisted senders in turn, over several connections at a time, in the background, until its
    block ends. sent: what has been, as (message, queue ID)."""

    def __init__(self, gateway, of_connection=None):
        """of_connection: how many messages one connection has before the next one begins; None: all."""
        self.gateway = gateway
        self._of_connection = of_connection
        self.sent = []
        self.errors = []
        self._begun = {}  # queue ID -> when its sending began
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._send) for _ in range(CONNECTIONS)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()
        assert self.errors == []

    def wait_for(self, count, since=0.0):
        """Until that many have been sent whose sending began since then, by time.monotonic()."""
        wait_until(lambda: self.errors or len(self.sent_since(since)) >= count, f"{count} messages to be sent")

    def sent_since(self, moment):
        return [(message, queue_id) for message, queue_id in list(self.sent) if self._begun[queue_id] >= moment]

    def _send(self):
        senders = itertools.cycle(SENDERS)
        try:
            while not self._stop.is_set():
                with self.gateway.connect() as client:
                    for sender in itertools.islice(senders, self._of_connection):
                        if self._stop.is_set():
                            return
                        message, begun = Message(sender), time.monotonic()
                        queue_id = client.send(message)
                        self._begun[queue_id] = begun
                        self.sent.append((message, queue_id))
        except Exception as error:
            self.errors.append(error)
