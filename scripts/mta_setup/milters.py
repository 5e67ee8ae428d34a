"""The order of milters: those whose results Bloomgate reads come before it, and the spam check after it."""

import re
from dataclasses import dataclass

from .changes import Refused

# How the sockets and names of common milters look. 8891, 8893 and 11332 are the ports that their makers use.
AUTHENTICATORS = re.compile(
    r"(?i)opendkim|dkim-?filter|opendmarc|spf|openarc|authentication_milter|\b889[13]\b")
CHECKERS = re.compile(r"(?i)rspamd|\b11332\b|spamass|amavis|clamav|clmilter|mimedefang|milter-?manager")
SPAM_CHECKERS = re.compile(r"(?i)rspamd|\b11332\b|spamass|amavis|mimedefang")
VIRUS_CHECKERS = re.compile(r"(?i)clamav|clmilter")
BLOOMGATE = re.compile(r"(?i)bloomgate")
PROGRAMS = {"rspamd": re.compile(r"(?i)rspamd|\b11332\b"), "SpamAssassin": re.compile(r"(?i)spamass"),
            "ClamAV": VIRUS_CHECKERS}
PARTS = {"SpamAssassin": "spamass-milter and spamd", "ClamAV": "clamav-milter and clamav-daemon"}  # as Debian names them


def program_of(milter):
    """What a person calls it."""
    return next((name for name, form in PROGRAMS.items() if form.search(milter)), milter)


def to_start(milter, recipe):
    """What a person has to do if nothing listens where that milter is asked. recipe: the folder with its recipe."""
    program = program_of(milter)
    return f"Install and start {PARTS.get(program, program)}; the recipe is in {recipe}"


def same_kind(milter, other):
    """Whether both check for spam, or both for viruses."""
    return any(kind.search(milter) and kind.search(other) for kind in (SPAM_CHECKERS, VIRUS_CHECKERS))


@dataclass(frozen=True)
class Chain:
    """milters: how each one is written in the configuration, in the order in which the mail server asks them."""

    milters: tuple
    place: str  # where they are written, for messages

    def position(self, after=None):
        """The number of milters that come before Bloomgate. after: text in the entry of the last of them."""
        if any(BLOOMGATE.search(milter) for milter in self.milters):
            raise Refused(f"{self.place} already names Bloomgate, and this script did not put it there: take "
                          "it out, or leave the configuration as it is")
        if after is not None:
            return self._after(after)
        for milter in self.milters:
            if not AUTHENTICATORS.search(milter) and not CHECKERS.search(milter):
                raise Refused(f"this script does not know a milter of {self.place}: {milter}\n"
                              "Bloomgate must come after the milters that authenticate the sender and before the spam "
                              "check. Say which milter it is to follow: --after-milter TEXT, with text from that "
                              "milter's entry ('' for none of them)")
        before = [index for index, milter in enumerate(self.milters) if AUTHENTICATORS.search(milter)]
        behind = [index for index, milter in enumerate(self.milters) if not AUTHENTICATORS.search(milter)]
        position = max(before, default=-1) + 1
        if behind and behind[0] < position:
            raise Refused(f"{self.place} asks a check ({self.milters[behind[0]]}) before a milter that authenticates "
                          f"({self.milters[position - 1]}), so Bloomgate cannot go between them. Change their order "
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
