"""The order of milters: those whose results Bloomgate reads come before it, and the spam check after it."""

import re
from dataclasses import dataclass

from .changes import Refused

# By what the sockets and names of the common ones look like. 8891, 8893 and 11332 are ports that their makers
# use.
AUTHENTICATORS = re.compile(
    r"(?i)opendkim|dkim-?filter|opendmarc|spf|openarc|authentication_milter|\b889[13]\b")
CHECKERS = re.compile(r"(?i)rspamd|\b11332\b|spamass|amavis|clamav|clmilter|mimedefang|milter-?manager")
SPAM_CHECKERS = re.compile(r"(?i)rspamd|\b11332\b|spamass|amavis|mimedefang")
VIRUS_CHECKERS = re.compile(r"(?i)clamav|clmilter")
BLOOMGATE = re.compile(r"(?i)bloomgate")


def same_kind(milter, other):
    """Whether both check for spam, or both for viruses."""
    return any(kind.search(milter) and kind.search(other) for kind in (SPAM_CHECKERS, VIRUS_CHECKERS))


@dataclass(frozen=True)
class Chain:
    """milters: how each is written in the configuration, in the order in which they are asked."""

    milters: tuple
    place: str  # where they are written, for messages

    def position(self, after=None):
        """The number of milters that come before Bloomgate. after: a part of how the last of them is
        written."""
        if any(BLOOMGATE.search(milter) for milter in self.milters):
            raise Refused(f"{self.place} names a milter of Bloomgate that this script did not put there: "
                          f"take it "
                          "out, or leave the configuration as it is")
        if after is not None:
            return self._after(after)
        for milter in self.milters:
            if not AUTHENTICATORS.search(milter) and not CHECKERS.search(milter):
                raise Refused(f"{self.place} has a milter that is not known here: {milter}\nBloomgate must "
                              f"come after "
                              "those that authenticate the sender and before the spam check. Say which one "
                              "it is to "
                              "follow: --after-milter TEXT, a part of how that one is written ('' for none "
                              "of them)")
        before = [index for index, milter in enumerate(self.milters) if AUTHENTICATORS.search(milter)]
        behind = [index for index, milter in enumerate(self.milters) if not AUTHENTICATORS.search(milter)]
        position = max(before, default=-1) + 1
        if behind and behind[0] < position:
            raise Refused(f"{self.place} asks a check ({self.milters[behind[0]]}) before a milter that "
                          f"authenticates "
                          f"({self.milters[position - 1]}): Bloomgate cannot stand between them. Change "
                          f"their order "
                          "first, or say --after-milter TEXT")
        return position

    def _after(self, text):
        if not text:
            return 0
        found = [index for index, milter in enumerate(self.milters) if text in milter]
        if len(found) != 1:
            raise Refused(f"--after-milter {text}: expected it in one milter of {self.place}, found it in "
                          f"{len(found)}")
        return found[0] + 1
