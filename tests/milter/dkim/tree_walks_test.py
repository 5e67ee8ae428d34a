"""Who may sign for whom, of 10,000 pairs of domains with composed DMARC records: our rule (RFC 9989), the same stated
once more here, and OpenDMARC's and Mail::DMARC's, which have the rule of RFC 7489 and the Public Suffix List alone. Each
difference from theirs has one of the reasons in REASONS. usage: tree_walks_test.py TREE_WALKS
"""

import ctypes
import random
import subprocess
import sys
from collections import Counter, namedtuple

PAIRS = 10_000
LIST = "/usr/share/publicsuffix/public_suffix_list.dat"

# Why another program lets a domain sign where we do not, or the other way round. The first one that is true is counted.
REASONS = {
    # Of the way in which the program reads the Public Suffix List. We read it by libpsl.
    "top": "A top-level domain is not in the list. OpenDMARC finds no organisation below it, and Mail::DMARC takes it for "
           "one organisation. By the list's first rule each name below it is one.",
    "wildcard": "OpenDMARC reads no wildcards and exceptions, `*.ck` and `!www.ck`; Mail::DMARC reads no exceptions.",
    "letter": "OpenDMARC does not see the first label of a domain or of its organisational domain if it is one letter.",
    "suffix": "One domain is a public suffix. OpenDMARC lets it sign for the names below it, and these for it.",
    "strict": "OpenDMARC lets the organisational domain sign for those below it in spite of adkim=s.",
    # Of the records. By RFC 7489 they make no organisation smaller.
    "psd=n": "A record says psd=n below the list's organisational domain: that part is an organisation of its own.",
    "psd=y": "A record says psd=y there: each name below is an organisation of its own.",
    "part": "Only names below the list's organisational domain have a record. The highest of these is the organisation.",
    "policy": "The sender has no record. Another one than that of the list's organisational domain says who may sign: that "
              "of a smaller organisation, or that of a name above it.",
}

# The suffixes of the composed domains, and how often each is used. A line each: top-level domains of the list, longer
# suffixes of registries, wildcards and exceptions, top-level domains that it does not have, hosts of its private part, and
# hosts that it does not have.
SUFFIXES = {
    "com": 8, "org": 4, "xn--p1ai": 1, "bank": 1,
    "co.uk": 4, "gov.uk": 1, "k12.ca.us": 1,
    "ck": 1, "kawasaki.jp": 1, "jp": 1,
    "example": 2, "corp": 1,
    "github.io": 2, "eu.org": 1, "s3.amazonaws.com": 1, "blogspot.com": 1,
    "onmicrosoft.com": 2, "zendesk.com": 1,
}
ORGANISATIONS = ["bank", "shop", "city", "www", "giant", "mega"]
PARTS = ["mail", "news", "mg", "eu", "em1", "team", "x"]
TEXTS = {
    "v=DMARC1; p=none": 8, "v=DMARC1; p=reject; adkim=r": 2, "v=DMARC1; p=reject; adkim=s": 3,
    "v=DMARC1; psd=u": 1, "v=DMARC1; p=none; psd=n": 3, "v=DMARC1; p=none; psd=y": 3,
    "v=DMARC1; psd=n; adkim=s": 1, "v=DMARC1; psd=y; adkim=s": 1,
    "v=spf1 -all": 2,
}

Pair = namedtuple("Pair", "sender signer records")


def choice(draw, weights):
    return draw.choices(list(weights), weights=weights.values())[0]


def parent(domain):
    return domain.partition(".")[2]


def composed_domain(draw):
    organisation = draw.choice(ORGANISATIONS) + "." if draw.random() < 0.97 else draw.choice(["", "a."])
    depth = choice(draw, {0: 4, 1: 5, 2: 3, 3: 1, 6: 1, 8: 1})
    parts = [draw.choice(PARTS) + "." for _ in range(depth)]
    return "".join(parts) + organisation + choice(draw, SUFFIXES)


def relative(draw, domain):
    """A domain that is likely to be of the same organisation."""
    kind = choice(draw, {"child": 5, "parent": 4, "sibling": 4, "cousin": 2, "neighbour": 3, "stranger": 1, "same": 1})
    above = parent(domain) or domain
    return {"child": draw.choice(PARTS) + "." + domain, "parent": above, "sibling": draw.choice(PARTS) + "." + above,
            "cousin": draw.choice(PARTS) + "." + (parent(above) or above),
            "neighbour": draw.choice(ORGANISATIONS) + "." + (parent(above) or above),
            "stranger": composed_domain(draw), "same": domain}[kind]


def walk_names(domain):
    """RFC 9989 section 4.10."""
    labels = domain.split(".")
    return [domain] + [".".join(labels[-count:]) for count in range(min(len(labels) - 1, 7), 0, -1)]


def composed_pairs():
    draw = random.Random(9989)
    pairs = []
    while len(pairs) < PAIRS:
        sender = composed_domain(draw)
        signer = relative(draw, sender)
        names = sorted({*walk_names(sender), *walk_names(signer)})
        kept = choice(draw, {0: 2, 0.2: 4, 0.5: 3})  # how many of the names have a record
        records = {name: choice(draw, TEXTS) for name in names if draw.random() < kept}
        pairs.append(Pair(sender, signer, records))
    return pairs


def tags(text):
    """Of a DMARC record; nothing if it is none."""
    found = dict(tag.strip().split("=") for tag in text.split(";"))
    return found if found["v"] == "DMARC1" else None


# reason: why it is smaller than the list's; empty: it is not.
Organisation = namedtuple("Organisation", "domain reason")


def organisation(domain, listed, records):
    """RFC 9989 section 4.10.2, with the list's organisational domain as the highest one."""
    highest = listed or domain
    found = {}
    for name in walk_names(domain):
        record = tags(records[name]) if name in records else None
        if record is None:
            continue
        found[name] = record.get("psd", "u")
        if found[name] != "u":
            break
    if not found:
        return Organisation(highest, "")
    last = list(found)[-1]
    walked, reason = last, {"n": "psd=n", "y": "psd=y", "u": "part"}[found[last]]
    if found[last] == "y" and last != domain:
        walked = domain[:-len(last) - 1].rpartition(".")[2] + "." + last
    return Organisation(walked, reason) if len(walked) > len(highest) else Organisation(highest, "")


def policy_name(domain, organisation, records):
    """The name whose record says who may sign for the domain: section 4.10.1. Above a psd=n no record is asked for, and
    above the organisation only where that has none."""
    names = walk_names(domain)
    for index, name in enumerate(names):
        record = tags(records[name]) if name in records else None
        if record is None:
            continue
        if index == 0 or len(name) <= len(organisation):
            return name
    return None


def is_strict(name, records):
    record = tags(records[name]) if name in records else None
    return record is not None and record.get("adkim") == "s"


def counts(pair, sender_organisation, signer_organisation, is_listed):
    if pair.sender == pair.signer:
        return True
    name = policy_name(pair.sender, sender_organisation, pair.records)
    return is_listed and sender_organisation == signer_organisation and not (name and is_strict(name, pair.records))


class OldRule:
    """RFC 7489 sections 3.1 and 6.6.3: by organisational domains alone, and by the record of the sender's domain, or
    else that of its organisational domain."""

    def __init__(self, organisation_of):
        self.organisation_of = organisation_of

    def policy_name(self, pair):
        is_record = pair.sender in pair.records and tags(pair.records[pair.sender]) is not None
        return pair.sender if is_record else self.organisation_of(pair.sender)

    def is_aligned(self, pair, is_strict):
        one, other = self.organisation_of(pair.sender), self.organisation_of(pair.signer)
        return pair.sender == pair.signer or (not is_strict and one == other != "")

    def counts(self, pair):
        return self.is_aligned(pair, is_strict(self.policy_name(pair), pair.records))


class OpenDmarc(OldRule):
    def __init__(self):
        self.library = ctypes.CDLL("libopendmarc.so.2")
        if self.library.opendmarc_tld_read_file(LIST.encode(), None, None, None) != 0:
            raise SystemExit(f"OpenDMARC cannot read {LIST}")
        super().__init__(self.find)

    def find(self, domain):
        found = ctypes.create_string_buffer(512)
        self.library.opendmarc_get_tld(domain.encode(), found, ctypes.c_size_t(len(found)))
        return found.value.decode()

    def is_aligned(self, pair, is_strict):
        return self.library.opendmarc_policy_check_alignment(
            pair.signer.encode(), pair.sender.encode(), ord("s" if is_strict else "r")) == 0


MAIL_DMARC = """
use Mail::DMARC::PurePerl;
my $dmarc = Mail::DMARC::PurePerl->new;
$dmarc->config->{dns}{public_suffix_list} = shift;
while (<STDIN>) { chomp; print $dmarc->get_organizational_domain($_), "\\n"; }
"""


def mail_dmarc(domains):
    done = subprocess.run(["perl", "-e", MAIL_DMARC, LIST], input="\n".join(domains) + "\n", stdout=subprocess.PIPE,
                          text=True, check=True)
    return OldRule(dict(zip(domains, done.stdout.split("\n"))).get)


class SuffixList:
    def __init__(self):
        with open(LIST, encoding="utf-8") as file:
            lines = [line.split()[0] for line in file if line.strip() and not line.startswith("//")]
        self.rules = {line.encode("idna").decode() if not line.isascii() else line for line in lines}

    def names(self, domain):
        while domain:
            yield domain
            domain = parent(domain)

    def has_wildcard(self, domain):
        return any("*." + name in self.rules or "!" + name in self.rules for name in self.names(domain))

    def has_top(self, domain):
        return domain.rpartition(".")[2] in self.rules


def reason(pair, found, listed, suffixes, program):
    """Of a difference between our outcome and that of the program; None if there is none that we know."""
    sender, signer = found
    domains = (pair.sender, pair.signer)
    is_opendmarc = isinstance(program, OpenDmarc)
    has_letter = is_opendmarc and any(name[1:2] == "." for name in (*domains, *listed))
    reads_otherwise = {
        "top": not all(suffixes.has_top(domain) for domain in domains),
        "wildcard": any(suffixes.has_wildcard(domain) for domain in domains),
        "letter": has_letter,
        "suffix": not all(listed),
    }
    if program.is_aligned(pair, False) != (listed[0] == listed[1] != "" or pair.sender == pair.signer):
        return next((name for name, is_so in reads_otherwise.items() if is_so), None)
    if sender.domain != signer.domain:
        return sender.reason or signer.reason or None
    if policy_name(pair.sender, sender.domain, pair.records) != program.policy_name(pair):
        return "policy"
    if has_letter:
        return "letter"
    return "strict" if is_opendmarc and pair.signer == listed[0] else None


def main():
    pairs = composed_pairs()
    lines = ("\t".join([pair.sender, pair.signer] + [f"{name}={text}" for name, text in pair.records.items()])
             for pair in pairs)
    said = subprocess.run([sys.argv[1]], input="\n".join(lines) + "\n", stdout=subprocess.PIPE, text=True, check=True)
    ours = [["" if part == "-" else part for part in line.split("\t")] for line in said.stdout.splitlines()]
    domains = sorted({domain for pair in pairs for domain in (pair.sender, pair.signer)})
    programs = {"OpenDMARC": OpenDmarc(), "Mail::DMARC": mail_dmarc(domains)}
    suffixes = SuffixList()
    wrong, unexplained, seen = [], [], {name: Counter() for name in programs}
    for pair, (*listed, sender, signer, counted) in zip(pairs, ours, strict=True):
        found = (organisation(pair.sender, listed[0], pair.records), organisation(pair.signer, listed[1], pair.records))
        is_listed = listed[0] == listed[1] != ""
        want = counts(pair, found[0].domain, found[1].domain, is_listed)
        if (sender, signer, counted) != (found[0].domain, found[1].domain, str(int(want))):
            wrong.append((pair, listed, (sender, signer, counted), found, want))
        for name, program in programs.items():
            if program.counts(pair) == want:
                seen[name]["the same, signs" if want else "the same, does not sign"] += 1
                continue
            why = reason(pair, found, listed, suffixes, program)
            if why is None:
                unexplained.append((name, pair, listed, found, want))
            seen[name][why, "we let it sign" if want else "we do not"] += 1
    for name, counter in seen.items():
        print(f"{name}, of {len(pairs)} pairs:")
        for key, number in sorted(counter.items(), key=str):
            print(f"{number:7} {key if isinstance(key, str) else ': '.join(map(str, key))}")
    for each in (*wrong[:5], *unexplained[:5]):
        print("wrong:", *each, sep="\n  ")
    unused = REASONS.keys() - {key[0] for counter in seen.values() for key in counter if isinstance(key, tuple)}
    print(f"{len(wrong)} not by the rule, {len(unexplained)} differences without a reason, unused reasons: "
          f"{', '.join(sorted(unused)) or 'none'}")
    sys.exit(bool(wrong or unexplained or unused))


if __name__ == "__main__":
    main()
