"""`bloomgate-update`: from a log and what was learned to a whitelist in place, and a step that fails changes nothing."""

import datetime
import email.utils
import gzip
import json
import os
import re
import shutil
import subprocess

import pytest
from conftest import first_of
from private_mail.filter import REPOSITORY, built
from private_mail.unit_filter import starter

OWN = "example.net"


def sent(number, user, recipient):
    """What Postfix logs of a message of a user who has logged in."""
    queue_id = f"4F1A2B{number:04}"
    return "".join(f"Nov 20 10:00:{number % 60:02} mx postfix/{line}\n" for line in (
        f"submission/smtpd[1]: {queue_id}: client=a.example[192.0.2.1], sasl_method=PLAIN, sasl_username={user}",
        f"qmgr[2]: {queue_id}: from=<{user}>, size=900, nrcpt=1 (queue active)",
        f"smtp[3]: {queue_id}: to=<{recipient}>, relay=mx.example[192.0.2.2]:25, delay=1, dsn=2.0.0, status=sent (250 ok)",
        f"qmgr[2]: {queue_id}: removed"))


class Site:
    def __init__(self, folder):
        self.folder, self.log = folder, folder / "mail.log"
        self.lists, self.whitelist = folder / "lists", folder / "whitelist.bloom"
        self.settings = {"HARVEST": f'"--own-domain {OWN} --for-all {folder}/mail.log*"', "LISTS": self.lists,
                         "WHITELIST": self.whitelist}
        self.log.write_text(sent(1, f"ann@{OWN}", "joe@example.org"))

    def bloomgate(self, *words, status=0):
        done = subprocess.run([built("filter/cli/bloomgate"), *map(str, words)], capture_output=True, text=True)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    def update(self, status=0, **settings):
        done = self.run(**settings)
        assert done.returncode == status, done.stderr
        return done.stderr

    def run(self, *folders, **settings):
        """Runs bloomgate-update with these settings. folders: where its programs are looked for first."""
        config = self.folder / "update.conf"
        config.write_text("".join(f"{name}={value}\n" for name, value in {**self.settings, **settings}.items()))
        path = ":".join(map(str, (*folders, built("filter/cli/bloomgate").parent, os.environ["PATH"])))
        return subprocess.run([*starter("bloomgate-update"), REPOSITORY / "scripts/bloomgate-update", config], capture_output=True,
                              text=True, env={**os.environ, "PATH": path})

    def lists_now(self, *senders):
        listed = subprocess.run([built("filter/cli/bloomgate"), "query", self.whitelist, *senders], capture_output=True,
                                text=True).stdout
        return [line.split("\t")[0] == "listed" for line in listed.splitlines()]

    def everything(self):
        """All files but the log and the configuration, with their content."""
        return {str(path): path.read_bytes() for path in self.folder.rglob("*")
                if path.is_file() and path.parent != self.folder or path == self.whitelist}


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def test_each_run_renews_the_whitelist_and_keeps_the_last_one(site):
    assert "is renewed" in site.update()
    assert site.lists_now("joe@example.org", "eve@example.org") == [True, False]
    site.log.write_text(sent(2, f"bob@{OWN}", "eve@example.org"))
    site.update()
    assert site.lists_now("joe@example.org", "eve@example.org") == [True, True]
    assert not list(site.lists.glob(".*")) and len(list(site.lists.iterdir())) == 2
    site.bloomgate("rollback", site.whitelist)
    assert site.lists_now("joe@example.org", "eve@example.org") == [True, False]


# Words for logs of which none is there, or none of today.
@pytest.mark.parametrize("words", first_of(["mail.log.1 {}/mail.log", "mail.log*", "maillog*", "log/postfix.log {}/maillog"]))
def test_without_a_log_the_journal_is_read_and_a_run_that_fails_misses_nothing(site, words):
    programs = site.folder / "bin"
    programs.mkdir()
    journal, counter = site.folder / "journal", programs / "journalctl"
    counter.write_text(f"""#!/bin/sh
for word; do case $word in --cursor-file=*) cursor=${{word#*=}} ;; esac; done
[ -n "$cursor" ] || exit 0
at=0; [ ! -e "$cursor" ] || at=$(cat "$cursor")
tail -n "+$((at + 1))" {journal}
wc -l <{journal} >"$cursor"
""")
    counter.chmod(0o755)
    site.log.rename(journal)
    # What an rsyslog that is gone has left is no log of today.
    (site.folder / "mail.log.1").write_text(sent(9, f"bob@{OWN}", "old@example.org"))
    os.utime(site.folder / "mail.log.1", (0, 0))
    words = f"{site.folder}/{words}".format(site.folder)
    site.settings["HARVEST"] = f'"--own-domain {OWN} --for-all {words}"'
    said = f"there is no {words} that was written to in the last 8 days: the journal is read instead\n"
    assert said in site.run(programs).stderr
    assert site.lists_now("joe@example.org", "eve@example.org", "old@example.org") == [True, False, False]
    with journal.open("a") as log:
        log.write(sent(2, f"bob@{OWN}", "eve@example.org"))
    assert site.run(programs, BUILD_OPTIONS="--no-such-option").returncode == 64
    assert site.run(programs).returncode == 0
    assert site.lists_now("joe@example.org", "eve@example.org") == [True, True]


@pytest.mark.parametrize("journalctl", first_of(["exit 1", "exec no-such-program", "case $* in *--lines=0* | *--header*) ;; *) exit 1 ;; esac"]))
def test_without_a_log_and_a_journal_the_folders_of_sent_mail_are_read(site, journalctl):
    programs, sent_mail = site.folder / "bin", site.folder / "home/ann/.Sent/cur"
    programs.mkdir()
    (programs / "journalctl").write_text(f"#!/bin/sh\n{journalctl}\n")
    (programs / "journalctl").chmod(0o755)
    sent_mail.mkdir(parents=True)
    (sent_mail / "1").write_text(f"From: ann@{OWN}\nTo: zoe@example.org\n\n")
    site.log.unlink()
    options = f"--own-domain {OWN} --for-all {site.folder}/mail.log*"
    for folder in ("home/%u/.Sent", "home/*/.Sent"):
        done = site.run(programs, HARVEST=f'"{options} {site.folder}/{folder}"')
        assert done.returncode == 0 and "no journal that can be read: the other sources are read" in done.stderr, done.stderr
        assert site.lists_now("zoe@example.org") == [True] and not faults_of(site)
    assert site.run(programs, HARVEST=f'"{options} {site.folder}/none*"').returncode == 74
    assert "journalctl ended with exit status" in faults_of(site)[0][4]


def test_a_log_that_is_missing_does_not_keep_another_one_from_being_read(site):
    said = site.update(HARVEST=f'"--own-domain {OWN} --for-all {site.folder}/mail.log.1 {site.log}"')
    assert f"there is no {site.log}.1\n" in said and site.lists_now("joe@example.org") == [True]


def test_a_new_server_on_which_nobody_has_written_yet_has_an_empty_whitelist_night_after_night(site):
    site.log.write_text("Nov 20 10:00:00 mx postfix/qmgr[1]: AAAAAAAAAA: removed\n")
    for _ in range(2):
        site.update()
        assert site.lists_now("joe@example.org") == [False]
    site.log.write_text(sent(1, f"ann@{OWN}", "joe@example.org"))
    site.update()
    assert site.lists_now("joe@example.org") == [True]
    site.log.write_text("Nov 20 10:00:00 mx postfix/qmgr[1]: AAAAAAAAAA: removed\n")
    site.update()  # the lists of the nights before are still there
    assert site.lists_now("joe@example.org") == [True]


def test_a_log_that_is_damaged_or_empty_is_named_and_does_not_end_the_run(site):
    damaged = site.folder / "mail.log.2.gz"
    damaged.write_bytes(gzip.compress(sent(2, f"bob@{OWN}", "eve@example.org").encode())[:-9])
    (site.folder / "mail.log.1").write_text("")
    said = site.update()
    assert f"the gzip data of {damaged} are damaged" in said and "mail.log.1 is empty" in said and "is renewed" in said
    assert site.lists_now("joe@example.org") == [True]


def test_an_entry_that_no_run_has_renewed_is_no_longer_listed(site):
    site.update()
    run, = site.lists.iterdir()
    for path in list(run.rglob("*.zst")):
        path.rename(path.with_name("2020-01-01.txt.zst"))
    site.log.write_text(sent(2, f"bob@{OWN}", "eve@example.org"))
    site.update()
    assert site.lists_now("joe@example.org", "eve@example.org") == [False, True]


def test_what_a_forgotten_person_wrote_before_does_not_come_back_and_what_is_written_later_does(site):
    later = datetime.datetime.now(datetime.timezone.utc)
    before, forgotten = (later - datetime.timedelta(days=days) for days in (9, 3))
    sent_mail = site.folder / "home/ann/.Sent/cur"
    sent_mail.mkdir(parents=True)
    (sent_mail / "1").write_text(f"From: ann@{OWN}\nTo: zoe@example.org\nDate: Fri, 20 Nov 2020 10:00:00 +0100\n\n")
    (sent_mail / "2").write_text(f"From: ann@{OWN}\nTo: dateless@example.org\n\n")
    site.settings["HARVEST"] = f'"--own-domain {OWN} --pairs {site.folder}/mail.log* {site.folder}/home/%u/.Sent"'
    with site.log.open("a") as log:
        log.write(sent(2, f"bob@{OWN}", "eve@example.org"))
    site.log.write_text(site.log.read_text().replace("Nov 20 10:00:", before.strftime("%Y-%m-%dT10:00:")))
    site.update()
    pairs = [f"{name}@example.org > {user}@{OWN}" for user, name in
             [("ann", "joe"), ("ann", "zoe"), ("ann", "dateless"), ("bob", "eve"), ("ann", "new"), ("ann", "mail")]]
    assert site.lists_now(*pairs) == [True] * 4 + [False] * 2
    [old_list] = site.lists.rglob("*.zst")
    said = site.bloomgate("learned", "forget", "-", f"ann@{OWN}", "--lists", site.lists)
    assert "3 lines removed from 1 of 1 list" in said
    assert f"ann@{OWN}" not in subprocess.run(["zstd", "-dcq", old_list], capture_output=True, text=True, check=True).stdout
    assert site.lists_now(*pairs) == [True] * 4 + [False] * 2  # until the next run
    site.update(BUILD_OPTIONS="--allow-shrink")
    assert site.lists_now(*pairs) == [False] * 3 + [True] + [False] * 2
    noted = site.lists / ".forgotten"
    noted.write_text(re.sub(r"(?m)^\d{4}-\d\d-\d\d ", f"{forgotten:%Y-%m-%d} ", noted.read_text()))
    # Of later days there is mail in the log, which RFC 3339 dates, and in the folder.
    with site.log.open("a") as log:
        log.write(sent(3, f"ann@{OWN}", "new@example.org").replace("Nov 20 10:00:", later.strftime("%Y-%m-%dT10:00:")))
    (sent_mail / "3").write_text(f"From: ann@{OWN}\nTo: mail@example.org\nDate: {email.utils.format_datetime(later)}\n\n")
    site.update()
    assert site.lists_now(*pairs) == [False] * 3 + [True] * 3
    for path in site.lists.rglob("*.zst"):
        assert "joe@" not in subprocess.run(["zstd", "-dcq", path], capture_output=True, text=True, check=True).stdout
    # A note that cannot be read does not bring a person back.
    noted.write_text("damaged\n")
    assert "harvest has failed (65)" in site.update(status=65)
    assert site.lists_now(*pairs) == [False] * 3 + [True] * 3


def test_an_empty_whitelist_replaces_no_existing_one(site):
    site.log.write_text("")
    site.update()  # the first one
    site.log.write_text(sent(1, f"ann@{OWN}", "joe@example.org"))
    site.update()
    shutil.rmtree(site.lists)
    site.log.write_text("")
    before = site.whitelist.read_bytes()
    assert "build has failed (65)" in site.update(status=65)
    assert site.whitelist.read_bytes() == before


def test_a_whitelist_of_less_than_half_replaces_no_existing_one_unless_that_is_allowed(site):
    site.log.write_text("".join(sent(number, f"ann@{OWN}", f"friend{number}@example.org") for number in range(10)))
    site.update()
    shutil.rmtree(site.lists)
    site.log.write_text(sent(1, f"ann@{OWN}", "friend1@example.org"))
    before = site.whitelist.read_bytes()
    said = site.update(status=65)
    assert "would be left; to keep the old ones, name their lists, too; nothing was changed. If that is meant, give --allow-shrink" in said
    assert site.whitelist.read_bytes() == before
    site.update(BUILD_OPTIONS="--allow-shrink")
    assert site.lists_now("friend1@example.org", "friend2@example.org") == [True, False]


def test_a_file_that_is_no_whitelist_is_not_replaced(site):
    kept = site.folder / "whitelist.bloom.1"
    for path in (site.whitelist, kept):
        if path == kept:
            site.update()  # an empty file is replaced
        path.write_text("friend@example.org\n" * 500)
        assert f"{path} is no whitelist, and would be replaced; move it, or name another file in WHITELIST" in site.update(status=73)
        assert path.read_text().startswith("friend@example.org\n") and not list(site.folder.glob(".whitelist*"))
        path.write_text("")
    site.update()
    assert site.lists_now("joe@example.org") == [True] and not faults_of(site)


def test_lists_of_old_runs_are_deleted_and_no_others(site):
    site.update()
    run, = site.lists.iterdir()
    for day in ("2020-02-29", "2001-01-01"):
        shutil.copytree(run, site.lists / f"{day}T030000.1")
    shutil.copytree(run, site.lists / "2020-01-01-by-hand")
    for name in ("2020-01-01.txt", "base.txt"):
        (site.lists / name).write_text("base@example.org\n")
    site.update()
    assert len(list(site.lists.iterdir())) == 7
    said = site.update(DELETE_AFTER="1y")
    assert said.count("is deleted, as it is older than 1y") == 2
    assert {path.name for path in site.lists.iterdir() if path.name.startswith("20") and "T" not in path.name} == {
        "2020-01-01-by-hand", "2020-01-01.txt"}
    assert len(list(site.lists.iterdir())) == 6
    assert site.lists_now("joe@example.org", "base@example.org") == [True, True]


def test_the_whitelist_is_signed_before_it_is_in_place(site):
    key = site.folder / "secret.key"
    public = site.bloomgate("sign", "--new-key", key).strip()
    site.update(SIGN_KEY=key, BUILD_OPTIONS="'--holds 3d --list-name ours'")
    site.bloomgate("verify", site.whitelist, "--trusted-key", public)
    manifest = json.loads(site.bloomgate("info", site.whitelist, "--json"))["manifest"]
    assert (manifest["list"], manifest["signer"], manifest["fault"]) == ("ours", public, "")
    assert [each["fault"] for each in manifest["files"]] == [""]


def test_a_folder_gets_a_layer_and_is_folded_where_all_other_lists_are_named(site):
    key = site.folder / "secret.key"
    public = site.bloomgate("sign", "--new-key", key).strip()
    site.whitelist = site.settings["WHITELIST"] = site.folder / "layers"
    by_hand = site.folder / "by-hand.txt"
    by_hand.write_text("base@example.org\n")
    site.bloomgate("add-layer", site.whitelist, by_hand, "--sign-key", key, "--quiet")
    people = ["base@example.org", "p1@example.org", "p2@example.org"]
    for number in (1, 2):
        site.log.write_text(sent(number, f"ann@{OWN}", f"p{number}@example.org"))
        site.update(SIGN_KEY=key, MOST_LAYERS=2)
    assert len(list(site.whitelist.glob("*.bloom"))) == 3
    assert site.lists_now(*people) == [True] * 3
    site.update(SIGN_KEY=key, MOST_LAYERS=2, FOLD_FROM=by_hand)
    assert len(list(site.whitelist.glob("*.bloom"))) == 1
    assert site.lists_now(*people) == [True] * 3
    site.bloomgate("verify", site.whitelist, "--trusted-key", public)
    site.bloomgate("rollback", site.whitelist, "--sign-key", key)
    assert len(list(site.whitelist.glob("*.bloom"))) == 3
    assert json.loads(site.bloomgate("info", site.whitelist, "--json"))["manifest"]["unnamed"] == []


def test_a_night_without_mail_makes_no_layer(site):
    site.whitelist = site.settings["WHITELIST"] = site.folder / "layers"
    site.whitelist.mkdir()
    site.update()
    before = {path.name: path.read_bytes() for path in site.whitelist.iterdir()}
    site.log.write_text("")
    said = site.update()
    assert "no layer was made" in said and "is renewed" in said
    assert {path.name: path.read_bytes() for path in site.whitelist.iterdir()} == before
    assert site.lists_now("joe@example.org") == [True]


# Settings with which a step fails, and what is said of it.
FAILING = [
    ({"HARVEST": "'--own-domain example.net --for-all /none'"}, "harvest has failed"),
    ({"HARVEST": "'--for-all /none'"}, "harvest has failed (64): bloomgate harvest: the option '--own-domain' is required"),
    ({"HARVEST": "'--own-domain example.net --for-all /none*'"}, "harvest has failed (64): bloomgate harvest: name at least one"),
    ({"HARVEST": "", "LEARNED": "/none"}, "export of what was learned has failed"),
    ({"SIGN_KEY": "/none"}, "the key cannot be used"),
    ({"BUILD_OPTIONS": "'--bits-per-entry 900'"}, "build has failed"),
    ({"NEWEST": "soon"}, "build has failed"),
    ({"HARVEST": "", "LEARNED": ""}, "neither HARVEST nor LEARNED"),
    ({"DELETE_AFTER": "long"}, "give an age such as 365d"),
    ({"DELETE_AFTER": "25w"}, "not shorter than NEWEST (180d)"),
    # A line that the shell would take for a command, or for a name of its own.
    ({"HARVEST ": " '--for-all /none'"}, "update.conf: line 4: write HARVEST=VALUE, without spaces around '='"),
    ({"HARVEST": " '--for-all /none'"}, "line 1: write HARVEST=VALUE, without spaces around '='"),
    ({"HARVEST": "--for-all /none"}, "line 1: HARVEST has several words; put all of them into one pair of quotes"),
    ({"HARVEST": "'--for-all' /none"}, "line 1: HARVEST has several words"),
    ({"HARVEST": "'--for-all /none"}, "line 1: there is no second '"),
    ({"HARVEST": "'--for-all /none'\r"}, "line 1 ends as in Windows: sed -i"),
    ({"HARVST": "'--for-all /none'"}, "line 4: there is no HARVST (did you mean HARVEST?)"),
    ({"BUILD_OPTION": "--allow-shrink"}, "line 4: there is no BUILD_OPTION (did you mean BUILD_OPTIONS?)"),
    ({"newest": "90d"}, "line 4: there is no newest (did you mean NEWEST?)"),
    ({"[main]\nNEWEST": "90d"}, "line 4: expected NAME=VALUE, got '[main]'"),
    ({"LISTS": "/proc/none"}, "cannot write to /proc/none; run this as root"),
]


def test_a_step_that_fails_changes_nothing_and_is_reported(site):
    site.update()
    before = site.everything()
    site.log.write_text(sent(2, f"bob@{OWN}", "eve@example.org"))
    for settings, says in FAILING:
        done = site.run(**settings)
        assert done.returncode not in (0, 1), done.stderr
        assert says in done.stderr
        assert site.everything() == before, settings
        [fault] = faults_of(site)
        assert fault[3] == str(done.returncode) and f"{fault[2]} has failed ({fault[3]}): {fault[4]}" in done.stderr
    site.update()
    assert site.lists_now("joe@example.org", "eve@example.org") == [True, True]


def test_a_source_that_fails_does_not_keep_the_other_from_being_used(site):
    said = site.update(status=66, LEARNED="/none")
    assert "export of what was learned has failed (66)" in said and "is renewed" in said
    assert said.endswith("one source has failed, as said above, and is not in it\n")
    assert site.lists_now("joe@example.org") == [True]
    run, = site.lists.iterdir()
    assert [path.name for path in run.iterdir()] == ["harvested"]


def faults_of(site):
    """What the daemon's page is to show: since when, when, step, exit code, and the last line, of each."""
    path = site.whitelist.with_name(site.whitelist.name + ".update")
    assert not path.with_name(path.name + ".new").exists()
    return [line.split("\t") for line in path.read_text().splitlines()] if path.exists() else []


def test_what_has_failed_is_kept_for_the_daemon_until_a_run_goes_well(site):
    site.update()
    assert faults_of(site) == []
    site.update(status=66, LEARNED="/none")
    [[since, last, *fault]] = faults_of(site)
    assert since == last and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", since)
    assert fault[:2] == ["export of what was learned", "66"] and "/none" in fault[2]
    # The same step keeps the time since when; another one begins anew.
    state = site.folder / "whitelist.bloom.update"
    state.write_text("2020-02-29T03:00:00Z\t2020-03-01T03:00:00Z\texport of what was learned\t66\tx\n")
    said = site.update(status=66, LEARNED="/none", HARVEST=f"'--own-domain {OWN} --for-all /other'")
    assert "there is no list; nothing was changed" in said
    faults = faults_of(site)
    assert [fault[2:4] for fault in faults] == [["harvest", "66"], ["export of what was learned", "66"]]
    assert [fault[0] == "2020-02-29T03:00:00Z" for fault in faults] == [False, True]
    assert "/other" in faults[0][4]
    assert [mode & 0o777 for mode in [state.stat().st_mode]] == [0o644]
    site.update()
    assert faults_of(site) == []


def test_a_run_that_is_ended_early_says_so(site):
    programs = site.folder / "bin"
    programs.mkdir()
    program = programs / "bloomgate"
    # The subshell that runs a step is a child of the script.
    program.write_text('#!/bin/sh\nkill -TERM "$(ps -o ppid= -p "$PPID" | tr -d " ")"\n')
    program.chmod(0o755)
    assert site.run(programs).returncode != 0
    [fault] = faults_of(site)
    assert fault[2:] == ["bloomgate-update", "1", "it was ended before all was done"]
    assert not site.whitelist.exists() and not list(site.lists.glob(".update*"))


def test_a_whitelist_that_does_not_pass_is_not_put_in_place(site, tmp_path):
    """Where `verify` fails, whatever has made the file bad."""
    site.update()
    before = site.everything()
    wrapped = tmp_path / "bin"
    wrapped.mkdir()
    program = wrapped / "bloomgate"
    program.write_text(f'#!/bin/sh\n"{built("filter/cli/bloomgate")}" "$@" || exit\n'
                       '[ "$1" != build ] || printf x | dd of="$3" bs=1 seek=5000 conv=notrunc status=none\n')
    program.chmod(0o755)
    done = site.run(wrapped)
    assert done.returncode == 65 and re.search("verify has failed", done.stderr), done.stderr
    shutil.rmtree(wrapped)
    assert site.everything() == before


@pytest.mark.parametrize("program, replaced, settings, status, step, says", [
    ("bloomgate", 'case "$1 $2" in "sign --key") echo no; exit 70 ;; esac', {"SIGN_KEY": "secret.key"}, 70, "writing the manifest",
     "the new whitelist is in place without it"),
    ("rm", 'case "$*" in *T030000.1/) exit 1 ;; esac', {"DELETE_AFTER": "1y"}, 73, "deleting old lists", "is renewed")])
def test_if_a_step_fails_once_the_new_whitelist_is_in_place_it_stays_there(site, program, replaced, settings, status, step, says):
    site.bloomgate("sign", "--new-key", site.folder / "secret.key")
    site.update()
    run, = site.lists.iterdir()
    shutil.copytree(run, site.lists / "2020-02-29T030000.1")
    site.log.write_text(sent(2, f"bob@{OWN}", "eve@example.org"))
    wrapped = site.folder / "bin"
    wrapped.mkdir()
    real = built("filter/cli/bloomgate") if program == "bloomgate" else shutil.which(program)
    (wrapped / program).write_text(f'#!/bin/sh\n{replaced}\nexec {real} "$@"\n')
    (wrapped / program).chmod(0o755)
    settings = {name: site.folder / value if name == "SIGN_KEY" else value for name, value in settings.items()}
    done = site.run(wrapped, **settings)
    assert done.returncode == status and says in done.stderr, done.stderr
    assert [fault[2:4] for fault in faults_of(site)] == [[step, str(status)]]
    assert site.lists_now("eve@example.org") == [True]
