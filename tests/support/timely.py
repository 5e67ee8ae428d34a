"""Test cases that fail where they would hang, as a program with a fault may make them."""
import os
import signal
import unittest

# Of one test; more than the slowest takes on a busy machine. A clean-up may wait for what hangs as well: it is
# interrupted again.
PATIENCE_SECONDS = 900 if os.environ.get("BLOOMGATE_SANITIZE") else 250
GRACE_SECONDS = 20


class TimelyTestCase(unittest.TestCase):
    def run(self, result=None):
        before = signal.signal(signal.SIGALRM, lambda *_: self.fail(f"it took longer than {PATIENCE_SECONDS} s"))
        signal.setitimer(signal.ITIMER_REAL, PATIENCE_SECONDS, GRACE_SECONDS)
        try:
            return super().run(result)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
