"""What the rules deliver is delivered, and nothing else. usage: rules_test.py PROGRAM

decide_states prints what decide() makes of every combination of the facts. hear_states reads messages and states of the
daemon, in which every pair of two values comes, and nearly every three; it prints what the message got.
"""

import collections
import itertools
import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from rules import BATV, FORWARDER, FRIEND, SRS, USER, Daemon, Message, Policy, domain  # noqa: E402

POLICIES = [Policy(*each) for each in itertools.product(
    ("envelope", "header-from", "either", "both"), ("required", "preferred"), ("parent", "strict", "relaxed"),
    ("domain", "address", "no"))]
LEAST_STATES = 1_000_000

COLUMNS = {
    "envelope": ("joe@a.example", "", BATV + "joe@a.example", "any@corp.example", f"{SRS}joe@{FORWARDER}",
                 f"{SRS}{BATV}joe@{FORWARDER}", FRIEND, USER),
    "sender": ("joe@a.example", "!absent", "!two", "any@corp.example", FRIEND, USER),
    "spf": ("pass", "", "fail"),
    "signer": ("", "a.example", "corp.example", "other.example", "ours.example"),
    "signature": ("there", "missing"),
    "dmarc": ("", "pass", "fail"),
    "arc": ("", "pass"),
    "login": ("no", "yes"),
    "recipients": ("me", "me bob", "zoe", "me zoe"),
    "header": ("usual", "program", "forged", "too much"),
    "identity": ("envelope", "header-from", "either", "both"),
    "authentication": ("required", "preferred"),
    "alignment": ("parent", "strict", "relaxed"),
    "spf_proves": ("domain", "address", "no"),
    "undo_batv": ("yes", "no"),
    "exempt": ("no", "unmarked", "deliver"),
    "own_domains": ("no", "yes"),
    "whitelist": ("there", "missing", "damaged"),
    "revoked": ("none", "empty", "mailbox", "domain", "friend", "pair", "stranger", "lost"),
    "opt_out": ("none", "empty", "user", "other", "domain", "lost"),
    "mode": ("enforce", "observe"),
    "learning": ("off", "on", "knows"),
    "brake": ("calm", "burst"),
    "checker": ("none", "ham", "spam", "fails"),
}
# What a message needs to teach; it comes with all of that in every fourth case.
TEACHES = {"envelope": USER, "login": "yes", "recipients": "zoe", "own_domains": "yes", "learning": "on"}
# What ends most messages early has its first value more often than by chance.
MOSTLY_USUAL = {"signature", "header", "exempt", "whitelist", "revoked", "opt_out", "mode"}
Case = collections.namedtuple("Case", COLUMNS)


def cases(count):
    draw = random.Random(11)

    def value(name, values, teaches):
        if teaches and name in TEACHES:
            return TEACHES[name]
        return values[0] if name in MOSTLY_USUAL and draw.random() < 0.7 else draw.choice(values)

    return [Case(*(value(name, values, number % 4 == 0) for name, values in COLUMNS.items()))
            for number in range(count)]


def pairs_left_out(rows):
    """Of all pairs of values of two columns."""
    seen = {(one, row[one], other, row[other]) for row in rows
            for one, other in itertools.combinations(range(len(COLUMNS)), 2)}
    return sum(len(one) * len(other) for one, other in itertools.combinations(COLUMNS.values(), 2)) - len(seen)


def heard(case):
    """What the message is to get, as hear_states writes it; a reason only where no rule on senders gives it."""
    daemon = Daemon(case)
    verdict, reason = daemon.decides()
    taught = " taught" if daemon.is_taught(verdict) else ""
    if case.mode == "observe":
        return "untouched" + taught
    if verdict is None:
        return ("other edits" if case.header == "forged" else "untouched") + taught
    return f"{verdict} {reason or '*'}{taught}"


def hear(program):
    rows = cases(3000)
    table = "".join("\t".join(row) + "\n" for row in [list(COLUMNS), *rows])
    said = subprocess.run([program], input=table, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    assert len(said) == len(rows), f"{len(said)} answers to {len(rows)} messages"
    differences = 0
    outcomes = collections.Counter()
    for case, got in zip(rows, said):
        want = heard(case)
        outcomes[want] += 1
        if "*" in want:
            verdict, _, *taught = got.split(" ")
            got = " ".join([verdict, "*", *taught])
        if got != want:
            differences += 1
            if differences <= 10:
                print(f"got {got}, is to be {want}: {dict(case._asdict())}")
    left_out = pairs_left_out(rows)
    print(f"{len(rows)} messages, {differences} differ, {left_out} pairs of values left out: {dict(outcomes)}")
    # Each outcome that the rules have is there.
    return differences == 0 and left_out == 0 and len(outcomes) >= 20


def decide(program):
    states = differences = delivered = 0
    said = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in said.splitlines():
        *values, own_verifier, arc, allowing, got = line.split("\t")
        message = Message(*values, own_verifier == "1", arc == "1")
        message.allowing = {domain(sender) for who, sender in (("envelope", message.envelope), ("from", message.sender))
                            if allowing in (who, "both")}
        want = "".join("d" if policy.delivers(message) else "c" for policy in POLICIES)
        states += len(want)
        delivered += want.count("d")
        if got != want:
            differences += 1
            which = [vars(policy) for policy, one, other in zip(POLICIES, got, want) if one != other]
            if differences <= 10:
                print(f"{line}\nis to be\n{want}\nfor {len(which)} policies, the first of them {which[0]}")
    print(f"{states} states, {delivered} delivered, {differences} messages differ")
    return not differences and states >= LEAST_STATES and delivered


if __name__ == "__main__":
    sys.exit(0 if (hear if "hear" in Path(sys.argv[1]).name else decide)(sys.argv[1]) else 1)
