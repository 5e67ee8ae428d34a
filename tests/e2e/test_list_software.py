"""Messages of the usual software for mailing lists, signed by the list's host as the usual signers sign, are recognised by
entries of mailing lists: decided by --explain, with real signatures and a name server. With --all a real Mailman."""

from dataclasses import replace

import pytest
from decided_mail import all_explained, is_delivered
from list_cases import OWN_HOST, PRIVATE, NOT_RECOGNISED, ordinary_cases
from private_mail.filter import build_filter_of
from private_mail.mailman import Mailman, why_not_mailman
from private_mail.name_server import NameServer, NameServerConfig
from private_mail.processes import temporary_folder
from private_mail.signing import SigningKey
from signing_habits import EXIM, OPENDKIM, RSPAMD_HABIT

ORDINARY = list(ordinary_cases())
LEAST_SHARE = 0.95
MANY_BITS = ("--bits-per-entry", "32")


@pytest.fixture(scope="module")
def folder():
    with temporary_folder("lists") as folder:
        yield folder


@pytest.fixture(scope="module")
def names(folder):
    domains = {case.signer for case in [*ORDINARY, *NOT_RECOGNISED]} | {"member.example"}
    keys = [SigningKey(domain, private=PRIVATE) for domain in domains]
    with NameServer(folder / "names", NameServerConfig({key.record_name: key.record for key in keys})) as names:
        yield names


def whitelist_of(folder, name, entries):
    path = folder / f"{name}.bloom"
    build_filter_of(path, sorted(entries), *MANY_BITS)
    return path


@pytest.fixture(scope="module")
def whitelist(folder):
    # An ampersand is in no entry.
    return whitelist_of(folder, "lists", {case.entry for case in [*ORDINARY, *NOT_RECOGNISED] if "&" not in case.entry})


def explained_cases(cases, whitelist, names):
    return all_explained([(case.signed(), case.mail.envelope) for case in cases], whitelist, names)


def test_of_messages_that_the_list_s_host_has_signed_nearly_all_are_recognised(whitelist, names):
    said = explained_cases(ORDINARY, whitelist, names)
    missed = [(case.name, each["mark"]) for case, each in zip(ORDINARY, said) if not is_delivered(each)]
    print(f"\n{len(ORDINARY) - len(missed)} of {len(ORDINARY)} ordinary messages are recognised", *missed, sep="\n  ")
    assert len(ORDINARY) >= 60
    assert len(missed) <= (1 - LEAST_SHARE) * len(ORDINARY), missed
    by = {(each["identity"], each["authentication"], each["proof"]) for each in said if is_delivered(each)}
    assert by <= {("list", "dkim", "list-id"), ("list", "dkim", "signer")}


def test_a_message_that_is_not_recognised_has_its_stated_reason(whitelist, names):
    said = explained_cases(NOT_RECOGNISED, whitelist, names)
    print(f"\n{len(NOT_RECOGNISED)} more are not:")
    for case in NOT_RECOGNISED:
        print(f"  {case.name}: {case.why_not} ({case.wanted})")
    outcomes = [{each["reason"], *(step["outcome"] for step in each["steps"])} for each in said]
    wrong = [(case.name, each["mark"]) for case, each, found in zip(NOT_RECOGNISED, said, outcomes)
             if is_delivered(each) or case.wanted not in found]
    assert wrong == []


def test_a_list_whose_host_may_not_sign_by_itself_is_not_recognised_without_the_entry_that_lets_it(folder, names):
    cases = [case for case in ORDINARY if "signed-by" in case.entry]
    alone = whitelist_of(folder, "alone", {case.entry.partition(" signed-by ")[0] for case in cases})
    assert len(cases) > 15
    assert not any(is_delivered(each) for each in explained_cases(cases, alone, names))


def test_a_signature_of_the_host_that_does_not_hold_proves_nothing(whitelist, names):
    cases = [case for case in ORDINARY if b"the meeting" in case.mail.raw][::5]
    altered = [(case.signed().replace(b"the meeting", b"The meeting"), case.mail.envelope) for case in cases]
    assert len(altered) > 10
    assert not any(map(is_delivered, all_explained(altered, whitelist, names)))


def test_nor_does_one_of_a_domain_beside_the_host(whitelist, folder, names):
    cases = [replace(case, signer="member.example") for case in ORDINARY][::5]
    assert not any(map(is_delivered, explained_cases(cases, whitelist, names)))


@pytest.mark.all_only
def test_what_mailman_itself_makes_of_a_post_is_recognised(folder, whitelist, names):
    if reason := why_not_mailman():
        pytest.skip(reason)
    with Mailman(folder / "mailman") as mailman:
        mailman.create_list(f"announce@{OWN_HOST}", "anna@member.example", "user@ours.example")
        mailman.post("anna@member.example", f"announce@{OWN_HOST}")
        mailman.post("anna@member.example", f"announce@{OWN_HOST}", page="<p>Hello</p>")
        posts = mailman.sink.wait_for(2)
    assert [post.headers("List-Id") for post in posts] == [[("List-Id", f"<announce.{OWN_HOST}>")]] * 2
    key = SigningKey(OWN_HOST, private=PRIVATE)
    signed = [(habit.sign(key, post.content), post.sender) for post in posts for habit in (OPENDKIM, RSPAMD_HABIT, EXIM)]
    assert all(map(is_delivered, all_explained(signed, whitelist, names)))
