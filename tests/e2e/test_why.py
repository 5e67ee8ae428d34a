"""bloomgate-milter why: what the daemon's log says of real messages behind Postfix, by queue ID, by sender, and of nothing
that was found. And the same sentence of --explain."""

import json
import re
import subprocess

import pytest
from dkim_world import GENUINE, LISTED, OTHER, REVOKED, RSA, STRANGER, UNLISTED, checked, delivered
from mail_world import content
from test_verify_dkim import World

EX_USAGE, EX_DATAERR, EX_NOINPUT, NOTHING_FOUND = 64, 65, 66, 1

DELIVERED = (f"Delivered, because {LISTED} is on the whitelist 'whitelist', and the signature of example.org (DKIM) proves "
             f"the message. To stop it: bloomgate-milter revoke {LISTED}.")
# word -> the message, and what is said of it
MESSAGES = {
    "delivered": (delivered(RSA.sign(GENUINE)), DELIVERED),
    "not listed": (checked(RSA.sign(content(UNLISTED))),
                   f"Checked, because {STRANGER} is on no list, and From ({UNLISTED}) does not make up for it. If you know "
                   f"the sender: bloomgate-milter add {UNLISTED} (with identity = envelope: bloomgate-milter add {STRANGER}; with "
                   f"identity = both: bloomgate-milter add {STRANGER} {UNLISTED}); a signature has to prove the message, too."),
    "signed by another": (checked(OTHER.sign(GENUINE)),
                          f"Checked, because {LISTED} is on the whitelist 'whitelist', but nothing proves the message: it is "
                          "signed by other.example only. A signature of example.org would change that. If other.example is a "
                          f"service that signs for this sender: bloomgate-milter add '{LISTED} signed-by other.example' (each of "
                          "its customers may then write as this sender)."),
    "revoked": (checked(RSA.sign(content(REVOKED))),
                f"Checked, because {REVOKED} is on the list revoked. To undo that: bloomgate-milter unrevoke {REVOKED}; if the entry "
                f"is for one recipient: bloomgate-milter unrevoke '{REVOKED} > RECIPIENT'."),
}


class Asked:
    def __init__(self, world):
        self.daemon = world.gateway.daemon
        with world.gateway.connect() as client:
            sent = [(word, client.send(case.message())) for word, (case, _) in MESSAGES.items()]
        deliveries = world.gateway.deliveries(sent)
        self.queue_ids = {word: delivery.queue_id for word, delivery in zip(MESSAGES, deliveries)}
        for queue_id in self.queue_ids.values():
            self.daemon.lines_of(queue_id)

    def why(self, *words, **options):
        command = [str(word) for word in self.daemon.command("why", *words)]
        return subprocess.run(command, capture_output=True, text=True, **options)

    def explain(self, *options, message=b""):
        command = [str(word) for word in self.daemon.command("--explain", *options)]
        return subprocess.run(command, input=message, capture_output=True, check=True).stdout.decode()

    def of_log(self, *words):
        return self.why(*words, "--log", self.daemon.log_file)


@pytest.fixture(scope="module")
def asked(start_shared_gateway):
    return Asked(World(start_shared_gateway).start_postfix())


@pytest.mark.parametrize("word", MESSAGES)
def test_a_queue_id_gives_the_reason_and_what_would_change_it(asked, word):
    queue_id = asked.queue_ids[word]
    done = asked.of_log(queue_id)
    assert done.returncode == 0, done.stderr
    head, sentence = done.stdout.splitlines()
    assert queue_id in head and STRANGER in head
    assert sentence.strip() == MESSAGES[word][1]


def test_an_address_gives_its_messages_with_their_times(asked):
    done = asked.of_log("--json", f"Somebody <{LISTED.upper()}>")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["found"] == 2
    assert [each["queue_id"] for each in answer["messages"]] == [
        asked.queue_ids["delivered"], asked.queue_ids["signed by another"]]
    assert [each["why"] for each in answer["messages"]] == [
        MESSAGES["delivered"][1], MESSAGES["signed by another"][1]]
    assert all(each["time"] > 1_700_000_000 for each in answer["messages"])
    assert answer["messages"][0]["reason"] == "listed"
    everybody = asked.of_log("@example.org").stdout
    assert everybody.count("\n    ") == len(MESSAGES)


def test_a_log_may_come_through_standard_input(asked):
    done = asked.why(asked.queue_ids["revoked"], "--log", "-", input=asked.daemon.log())
    assert MESSAGES["revoked"][1] in done.stdout


def test_without_a_named_log_the_journal_is_read_where_syslogs_files_do_not_have_the_message(asked, tmp_path):
    journalctl = tmp_path / "journalctl"
    journalctl.write_text(f"#!/bin/sh\necho \"$@\" > {tmp_path}/words\ncat {asked.daemon.log_file}\n")
    journalctl.chmod(0o755)
    done = asked.why(asked.queue_ids["delivered"], env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert DELIVERED in done.stdout
    assert "_SYSTEMD_UNIT=bloomgate-milter.service" in (tmp_path / "words").read_text()
    journalctl.write_text("#!/bin/sh\nexit 1\n")
    done = asked.why(asked.queue_ids["delivered"], env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert (done.returncode, "Not read: journalctl ended with exit status 1" in done.stdout) == (NOTHING_FOUND, True)


def test_where_nothing_is_found_the_lists_are_asked_and_the_search_is_shown(asked, tmp_path):
    done = asked.of_log("never@example.org")
    assert done.returncode == NOTHING_FOUND
    assert f"No message of never@example.org is in {asked.daemon.log_file}" in done.stdout
    assert "An unsigned message from this sender would now be: Checked, because never@example.org is on no list." in done.stdout
    assert "bloomgate-milter why never@example.org --log FILE" in done.stdout
    opt_out = tmp_path / "opt-out"
    opt_out.write_text("ann@ours.example\n")
    options = ("--opt-out", opt_out)
    found = asked.of_log("never@example.org", *options).stdout
    assert "would now be: Checked, because never@example.org is on no list." in found
    assert re.search(r"For one recipient: bloomgate-milter explain --config \S+ --from never@example.org --to RECIPIENT\.", found)
    explained = asked.explain("--from", "never@example.org", *options)
    assert "no recipient is named. Give --to, once for each recipient." in explained
    assert "has no domain, or may stand" in asked.explain("--from", "never@example.org", "--to", "postmaster", *options)
    unreadable = asked.of_log("never@example.org", "--whitelist", "/nonexistent/whitelist.bloom")
    assert "The lists are not known: open /nonexistent/whitelist.bloom: No such file or directory" in unreadable.stdout
    unknown = asked.of_log("4NoSuchId")
    assert unknown.returncode == NOTHING_FOUND
    assert "No message with the queue ID 4NoSuchId" in unknown.stdout
    empty = asked.why("4NoSuchId", "--log", "-", input="")
    assert "log-target says where it logs" in empty.stdout
    hostile = asked.of_log("\x1b[2J@example.org")
    assert "\x1b" not in hostile.stdout


def test_a_sender_that_is_listed_only_with_a_signer_is_said_to_be_listed(asked, tmp_path):
    extra = tmp_path / "extra"
    extra.write_text(f"{UNLISTED} signed-by esp.example\n")
    want = f"{UNLISTED} is listed only under a condition that this message does not meet: by the entry {UNLISTED} signed-by esp.example"
    assert want in asked.explain("--extra", extra, "--from", UNLISTED)
    # Of the log, too, which does not say it: the entry may be newer.
    said = asked.of_log(asked.queue_ids["not listed"], "--extra", extra).stdout
    assert f"The list extra now has the entry {UNLISTED} signed-by esp.example. A message that esp.example has signed is" in said


def test_a_log_that_cannot_be_read_is_an_error_that_says_what_to_do(asked, tmp_path):
    missing = asked.why("4XyZ1", "--log", "/nonexistent/log")
    assert missing.returncode == EX_NOINPUT
    for start, program in ((b"\x1f\x8b\x08", "zcat"), (b"\x28\xb5\x2f\xfd", "zstdcat"), (b"\xfd7zXZ", "xzcat"), (b"BZh9", "bzcat")):
        packed = tmp_path / "a log"
        packed.write_bytes(start)
        assert f"{program} '{packed}' |" in asked.why("4XyZ1", "--log", packed).stderr
        assert f"{program} |" in asked.why("4XyZ1", "--log", "-", input=start.decode("latin-1"), encoding="latin-1").stderr
    utf16 = tmp_path / "utf16"
    utf16.write_text(asked.daemon.log(), encoding="utf-16")
    for log, fault in ((utf16, f"{utf16} is not a text"), ("/dev/zero", "a line of it has more than 1 MiB")):
        done = asked.why("4XyZ1", "--log", log)
        assert done.returncode == EX_DATAERR and fault in done.stderr
    assert asked.why().returncode == EX_USAGE


def test_explain_begins_with_the_sentence_that_the_log_gives(asked):
    explain = asked.explain
    for sender, expected in ((LISTED, f"{LISTED} is on the whitelist 'whitelist', but nothing proves the message"),
                             (REVOKED, f"{REVOKED} is on the list revoked. To undo that: bloomgate-milter unrevoke {REVOKED}.")):
        first = explain("--from", sender).splitlines()[0]
        assert first.startswith(f"Checked, because {expected}")
        assert "takes From to be the envelope sender" in first
        assert "takes From" not in explain("--from", sender, "--header-from", sender)
        with_from = explain("--from", sender, "--header-from", sender).splitlines()[0]
        assert with_from == first.partition(" (This takes From")[0]
        assert json.loads(explain("--json", "--from", sender))["why"] == first
    of_another = explain("--from", STRANGER, message=OTHER.sign(GENUINE))
    assert of_another.splitlines()[0] == MESSAGES["signed by another"][1]
