"""A month of a mail server, drawn from a seed, and a model of who is listed for whom after each night. The model is simple,
and shares no rule with the program: each message is drawn as what it is, a person's or a program's, and carries that with
it. test_month.py plays the month with the real programs.

A user is listed for nobody: an entry is (user, sender), the sender being one to whom that user has written."""

import random
from dataclasses import dataclass

DAYS = 30
LISTED_DAYS = 12  # so long a list counts
KEPT_LOGS = 3  # those of so many days are there in a night
LEARN_RATE = 60  # new entries of a login an hour: a month takes less than an hour here
MOST_RECIPIENTS = 20
OWN = "example.net"
USERS = ("ann", "bob", "eve", "mallory", "zoe")
PEOPLE = tuple(f"p{number:02}@example.org" for number in range(40))
HIJACKED, HIJACK_DAYS = "eve", (9, 10)
NEVER = "never.example"  # whom no person writes to; each address is used once

# What programs write, by the fields that show it.
AUTOMATIC = (
    "Content-Type: multipart/report; report-type=disposition-notification; boundary=x", "Auto-Submitted: auto-replied",
    "X-Autoreply: yes", "X-Auto-Response-Suppress: All", "Precedence: bulk", "Content-Type: text/calendar; method=REPLY",
    "Subject: unsubscribe", "List-Id: <dev.lists.example.org>")


def address(user):
    return f"{user}@{OWN}"


@dataclass
class Mail:
    number: int
    login: str  # empty: none
    sender: str  # an address, or empty
    recipients: tuple
    field: str = ""  # of a program
    is_persons: bool = True  # written by the user whose sender it has
    day: int = 0
    delivered: int = -1  # on which day; -1: never
    outcome: str = "sent (250 2.0.0 Ok)"
    in_log: bool = True  # a server has it; else it is in the folder of sent mail only
    is_seen: bool = True  # by the daemon: a second server, of which only the log is there, runs none
    folder: str = ""  # of whose sent mail

    def pairs(self, user=""):
        """The recipients outside, with the user who has written to them."""
        return {(user or self.sender, each) for each in self.recipients if not each.endswith("@" + OWN)}


@dataclass
class Forget:
    person: str  # an address, or @domain


class Month:
    """days: for each day its acts, and whether its night is missed, and how the log is rotated."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0
        first = self.random.randrange(4, 8)
        gap = self.random.randrange(14, 20)
        # Once the logs of the missed nights are still there the next night, and once they are not.
        self.missed = {first, *range(gap, gap + KEPT_LOGS + 1), self.random.randrange(25, 28)}
        self.copied = {day for day in range(DAYS) if self.random.random() < 0.3}  # its log is copied and cut
        self.days = [self._acts(day) for day in range(DAYS)]

    def _never(self):
        self.count += 1
        return f"n{self.count}@{NEVER}"

    def _acts(self, day):
        acts = [self._mail(day) for _ in range(self.random.randrange(8, 14))]
        if day in HIJACK_DAYS:
            acts += [self._new(day, HIJACKED, address(HIJACKED), [self._spam() for _ in range(15)]) for _ in range(4)]
        if day == HIJACK_DAYS[-1] + 2:
            acts.append(Forget("@evil.example"))
        if self.random.random() < 0.15:
            acts.append(Forget(self.random.choice(PEOPLE)))
        self.random.shuffle(acts)
        if day - 1 in self.copied:
            # Behind the zeros in that day's log.
            first = self._new(day, "ann", address("ann"), [self._fresh()], is_seen=False)
            first.delivered, first.outcome = day, Mail.outcome
            acts.insert(0, first)
        return acts

    def _fresh(self):
        self.count += 1
        return f"q{self.count}@example.org"

    def _spam(self):
        self.count += 1
        return f"s{self.count}@evil.example"

    def _new(self, day, login, sender, recipients, **more):
        self.count += 1
        mail = Mail(self.count, login, sender, tuple(recipients), day=day, **more)
        if mail.in_log:
            self._deliver(mail)
        return mail

    def _deliver(self, mail):
        chance = self.random.random()
        mail.delivered = mail.day
        if chance < 0.1:
            mail.delivered = mail.day + 1  # at the second attempt
        elif chance < 0.15:
            mail.delivered, mail.outcome = -1, "bounced (host mx.example.org said: 550 no)"
        elif chance < 0.2:
            mail.delivered, mail.outcome = -1, "sent (250 2.7.0 Ok, discarded, id=1)"

    def _mail(self, day):
        choose = self.random
        user = choose.choice(USERS)
        people = choose.sample(PEOPLE, choose.choice((1, 1, 1, 2, 3)))
        kind = choose.choices(("person", "folder only", "colleague", "program", "null sender", "newsletter", "stranger", "forged"),
                              (50, 8, 4, 16, 5, 4, 8, 5))[0]
        own = address(user)
        if kind == "person":
            return self._new(day, user, own, people, folder=user if choose.random() < 0.3 else "", is_seen=choose.random() < 0.7)
        if kind == "folder only":
            return self._new(day, user, own, people, in_log=False, folder=user)
        if kind == "colleague":
            return self._new(day, user, own, [address(choose.choice(USERS))])
        if kind == "program":
            return self._new(day, user, own, [self._never()], is_persons=False, field=choose.choice(AUTOMATIC),
                             folder=user if choose.random() < 0.3 else "", is_seen=choose.random() < 0.7)
        if kind == "null sender":
            return self._new(day, user, "", [self._never()], is_persons=False)
        if kind == "newsletter":
            return self._new(day, user, own, [self._never() for _ in range(MOST_RECIPIENTS + 1)], is_persons=False, folder=user)
        if kind == "stranger":
            return self._new(day, "", own, [self._never()], is_persons=False)
        # A user's own folder has a message with the name of another one: it counts for its owner.
        return self._new(day, "mallory", address("ann"), people, in_log=False, folder="mallory")


class Model:
    """Who is listed, by what was done."""

    def __init__(self):
        self.learned = set()
        self.granted = {}  # login -> new entries
        self.mails = []
        self.lists = []  # (day of the list, entries)
        self.removed = set()  # numbers of messages that are no longer in a folder

    def send(self, mail):
        self.mails.append(mail)
        if not mail.in_log or not mail.is_seen or not mail.is_persons:
            return
        for each in mail.recipients:
            pair = (mail.sender, each)
            if each.endswith("@" + OWN) or pair in self.learned:
                continue
            if self.granted.get(mail.login, 0) < LEARN_RATE:
                self.granted[mail.login] = self.granted.get(mail.login, 0) + 1
                self.learned.add(pair)

    def forget(self, person):
        self.learned = {pair for pair in self.learned if pair[1] != person and not (
            person.startswith("@") and pair[1].endswith(person))}

    def update(self, day):
        """The night after that day: what harvest finds, and what was learned."""
        there = range(max(0, day - KEPT_LOGS + 1), day + 1)
        entries = set(self.learned)
        for mail in self.mails:
            if mail.is_persons and mail.in_log and mail.day in there and mail.delivered in there:
                entries |= mail.pairs()
            if mail.is_persons and mail.folder and mail.number not in self.removed:
                entries |= mail.pairs(address(mail.folder))
        self.lists.append((day, entries))

    def in_whitelist(self):
        """After the last update."""
        last = self.lists[-1][0]
        return set().union(*(entries for day, entries in self.lists if last - day < LISTED_DAYS))
