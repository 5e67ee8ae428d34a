"""One case of those who try to be taught: what somebody, or chance, does, and whom the list has afterwards.

A case is written with the names ours.example (our users), example.org (people whom they write to) and evil.example.
The test gives each case names of its own, c07.ours.example say, so that one run of the program has many cases, and no
case can hide what another one does."""

import gzip
import re
from dataclasses import dataclass

OWN, OTHERS, EVIL = "ours.example", "example.org", "evil.example"
PAIRS, FOR_ALL = ("--pairs",), ("--for-all",)
VMAIL = "vmail/%d/%n/.Sent"


@dataclass(frozen=True)
class Case:
    what: str  # the act, in plain words
    files: dict  # path -> text or bytes, or Link; in the order in which they were written
    listed: tuple = ()  # all that the list has: "joe > ann" stands for joe@example.org > ann@ours.example
    options: tuple = PAIRS
    sources: tuple = ()  # as the command line names them; none: the files
    own_domain: str = "." + OWN
    said: str = ""  # stands in the report or among the errors
    status: int = 0
    journal: str = ""  # what journalctl prints

    def entries(self):
        return {entry(each) for each in self.listed}

    def is_alone(self):
        """Whether it needs a run of its own."""
        return bool(self.status or self.journal) or self.own_domain != Case.own_domain or any(
            re.search(r"example|\.map", word) for word in self.options)


@dataclass(frozen=True)
class Gzip:
    text: str
    cut: int = 0  # so many bytes are missing at its end
    tail: bytes = b""  # stands behind it

    def bytes(self, names):
        whole = gzip.compress(names.content(self.text), mtime=0)
        return whole[:len(whole) - self.cut] + self.tail


@dataclass(frozen=True)
class Utf16:
    text: str
    order: str = "le"

    def bytes(self, names):
        return ("\ufeff" + names.of(self.text)).encode(f"utf-16-{self.order}")


@dataclass(frozen=True)
class Link:
    to: str  # a path from the folder of the test


@dataclass(frozen=True)
class Pipe:
    """Nobody writes to it."""


def entry(short):
    contact, is_pair, user = short.partition(" > ")
    contact = contact if "@" in contact else f"{contact}@{OTHERS}"
    if not is_pair:
        return contact
    return f"{contact} > {user if '@' in user else f'{user}@{OWN}'}"


class Names:
    """The names of one case in the place of those that it is written with; queue IDs, Q1 say, too."""

    def __init__(self, number):
        self.tag = f"c{number:03}"
        self._queue_id = f"C{number:03}A\\1"

    def of(self, text):
        text = re.sub(rf"\b({re.escape(OWN)}|{re.escape(OTHERS)}|{re.escape(EVIL)})\b", rf"{self.tag}.\1", text,
                      flags=re.IGNORECASE)
        return re.sub(r"\bQ([1-9])\b", self._queue_id, text)

    def content(self, content):
        """A file's bytes."""
        return self.of(content if isinstance(content, str) else content.decode("latin-1")).encode(
            "utf-8" if isinstance(content, str) else "latin-1")
