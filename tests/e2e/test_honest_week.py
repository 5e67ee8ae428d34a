"""A composed week of honest mail (honest_week.py): what is recognised by the rule before the stricter proof, with it,
with entries for mailing lists and signers as well, and where senders that SPF alone speaks for are listed by their domain.
Decided by --explain, with real signatures and a name server: one message for each variant of a kind."""

import re
from dataclasses import dataclass

import pytest
from decided_mail import all_explained, is_delivered
from honest_mail import AUTHSERV_ID, PRIVATE, TRUSTED_FORWARDER, was_recognised
from honest_week import KINDS, MESSAGES, count_of, mails_of
from private_mail.filter import build_filter_of
from private_mail.name_server import NameServer, NameServerConfig
from private_mail.processes import temporary_folder
from private_mail.signing import SigningKey

# Of what was recognised before, without what entries for lists and signers bring besides. They help no sender whom SPF
# alone proves: that proves a domain, and an address no longer.
LEAST_WITH_ENTRIES, LEAST_WITH_DOMAINS = 0.93, 0.95
# An automatic answer may repeat what an attacker wrote: it is checked.
ANSWERS = "out of office: an envelope sender"
SETTINGS = {"trusted_authserv_id": AUTHSERV_ID, "verify_dkim": "yes", "trusted_forwarders": TRUSTED_FORWARDER}


@dataclass
class Row:
    """Of a kind: how many messages are recognised."""

    before: int  # by the rule of was_recognised(), of those that are the listed sender's
    strict: int
    with_entries: int
    with_domains: int
    both_entries: int  # before, and with entries
    both_domains: int


class Week:
    def __init__(self, folder):
        self.mails = [(kind, mail, weight) for kind in KINDS for mail, weight in mails_of(kind)]
        self.old = {entry for _, mail, _ in self.mails for entry in mail.entries}
        more = self.old | {entry for _, mail, _ in self.mails for entry in mail.more}
        domains = more | {entry for _, mail, _ in self.mails for entry in mail.by_domain}
        self.lists = []
        for entries in (self.old, more, domains):
            path = folder / f"{len(entries)}.bloom"
            build_filter_of(path, sorted(entries), "--bits-per-entry", "32", "--tag-separators", "+")
            self.lists.append(path)
        self._messages = [(mail.raw, mail.envelope) for _, mail, _ in self.mails]

    def keys(self):
        found = {name.decode() for raw, _ in self._messages for name in re.findall(rb"[ ;]d=([a-z0-9.-]+)", raw)}
        return [SigningKey(name, private=PRIVATE) for name in found]

    def decided(self, names):
        """What is said of each by the three lists. More entries take nothing away."""
        before = None
        for path in self.lists:
            said = all_explained(self._messages, path, names, mark_tells_why="yes", **SETTINGS)
            assert before is None or all(is_delivered(now) or not is_delivered(then) for then, now in zip(before, said))
            before = said
            yield said

    def rows(self, names):
        rows = {kind: Row(*[0] * 6) for kind in KINDS}
        for (kind, mail, weight), *said in zip(self.mails, *self.decided(names)):
            row = rows[kind]
            before = mail.is_senders and was_recognised(mail, self.old)
            strict, entries, domains = map(is_delivered, said)
            row.before += weight * before
            row.strict += weight * strict
            row.with_entries += weight * entries
            row.with_domains += weight * domains
            row.both_entries += weight * (before and entries)
            row.both_domains += weight * (before and domains)
        return rows


def total(rows, column):
    return sum(getattr(row, column) for kind, row in rows.items() if kind != ANSWERS)


@pytest.fixture(scope="module")
def rows():
    with temporary_folder("week") as folder:
        week = Week(folder)
        with NameServer(folder / "names", NameServerConfig({key.record_name: key.record for key in week.keys()})) as names:
            yield week.rows(names)


def test_the_week_has_all_its_messages():
    assert sum(share for share, _ in KINDS.values()) == 1000
    assert sum(weight for kind in KINDS for _, weight in mails_of(kind)) == MESSAGES
    assert sum(map(count_of, KINDS)) == MESSAGES


@pytest.mark.all_only
def test_of_what_was_recognised_nearly_all_still_is(rows):
    before, entries, domains = (total(rows, column) for column in ("before", "both_entries", "both_domains"))
    print(f"recognised before: {before}; with entries {100 * entries / before:.1f} % of them, with domains {100 * domains / before:.1f} %")
    assert rows[ANSWERS].with_domains == 0 < rows[ANSWERS].before
    assert entries >= LEAST_WITH_ENTRIES * before
    assert domains >= LEAST_WITH_DOMAINS * before


@pytest.mark.all_only
def test_mail_of_another_customer_is_not_recognised_by_the_bounce_address_that_is_listed(rows):
    row = rows["newsletter: another customer of a service whose bounce address is listed"]
    assert (row.strict, row.with_entries, row.with_domains) == (0, 0, 0)
