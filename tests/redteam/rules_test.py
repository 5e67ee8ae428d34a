"""decide() delivers what the rules deliver, in every combination of the facts. usage: rules_test.py DECIDE_STATES"""

import itertools
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from rules import Message, Policy, domain  # noqa: E402

POLICIES = [Policy(*each) for each in itertools.product(
    ("envelope", "header-from", "either", "both"), ("required", "preferred"), ("parent", "strict", "relaxed"),
    ("domain", "address", "no"))]
LEAST_STATES = 1_000_000


def main():
    states = differences = delivered = 0
    said = subprocess.run([sys.argv[1]], stdout=subprocess.PIPE, text=True, check=True).stdout
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
    sys.exit(bool(differences) or states < LEAST_STATES or not delivered)


if __name__ == "__main__":
    main()
