"""Mail that flows while something happens to the daemon."""

import itertools
import threading
import time

from conftest import LISTED, UNLISTED
from private_mail.client import Message
from private_mail.processes import wait_until


def listed_and_unlisted(_):
    return itertools.cycle((LISTED, UNLISTED))


class Traffic:
    """Messages over several connections at a time, in the background, until its block ends. sent: what has been, as
    (message, queue ID)."""

    def __init__(self, gateway, senders=listed_and_unlisted, connections=4, of_connection=None):
        """senders(number): those of one of the connections, one after the other, without end. of_connection: how many
        messages one connection has before the next one begins; None: all."""
        self.gateway = gateway
        self._of_connection = of_connection
        self.sent = []
        self.errors = []
        self._begun = {}  # queue ID -> when its sending began
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._send, args=(senders(number),)) for number in range(connections)]

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

    def wait_for_more(self, count):
        wanted = len(self.sent) + count
        wait_until(lambda: len(self.sent) >= wanted or self.errors, f"{wanted} messages to be sent")

    def sent_since(self, moment):
        return [(message, queue_id) for message, queue_id in list(self.sent) if self._begun[queue_id] >= moment]

    def _send(self, senders):
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
