"""`bloomgate harvest`, and `bloomgate build --newest` of the lists that it has made."""
import datetime
import gzip
import json
import os
import re
import subprocess
import time

from program import BLOOMGATE, EX_CANTCREAT, EX_DATAERR, EX_NOINPUT, EX_USAGE, ProgramTest, main


class HarvestTest(ProgramTest):
    """harvest, and build --newest."""

    RUN = ("harvest", "--output", "lists", "--own-domain", "ours.example")

    def setUp(self):
        super().setUp()
        (self.folder / "lists").mkdir()

    RECEIVED = "postfix/submission/smtpd[1]: {id}: client=pc[192.0.2.7], sasl_method=PLAIN, sasl_username={user}"
    SENDER = "postfix/qmgr[1]: {id}: from=<{user}@ours.example>, size=400, nrcpt=1 (queue active)"
    SENT = ("postfix/smtp[1]: {id}: to=<{contact}>, relay=mx.example.org[203.0.113.1]:25, delay=0.1, dsn=2.0.0, "
            "status=sent (250 Ok)")
    REMOVED = "postfix/qmgr[1]: {id}: removed"
    LINES = (RECEIVED, SENDER, SENT, REMOVED)

    def log(self, *mails, first=0, lines=LINES):
        """The log of messages, each given as (user, contact)."""
        return "".join(f"Nov 20 10:00:00 mx {line.format(id=f'4F{first + number:06X}', user=user, contact=contact)}\n"
                       for number, (user, contact) in enumerate(mails) for line in lines)

    def harvest(self, *sources, options=("--for-all",), stdin=b""):
        """The lines of the list, and the report."""
        out, _ = self.check(0, *self.RUN, "--json", *options, "--",
                            *sources, stdin=stdin)
        report = json.loads(out)
        lines = subprocess.run(["zstd", "-dc", self.folder / report["list"]], capture_output=True, check=True).stdout
        return lines.decode().splitlines(), report

    def test_build_reads_harvested_pairs(self):
        self.harvest(self.write("log", self.log(("ann", "joe@example.org"))), options=["--pairs"])
        self.check(0, "build", "--strict", "-o", "filter", "lists")
        self.check(0, "query", "filter", "joe@example.org > ann@ours.example")
        self.check(1, "query", "filter", "joe@example.org")

    def test_a_list_is_sorted_without_duplicates_and_named_after_its_day(self):
        log = self.write("log", self.log(("ann", "joe@example.org"), ("bob", "Joe@example.org"), ("ann", "#a@example.org"),
                                         ("ann", "abe@example.com"), ("ann", "bob@ours.example")))
        lines, report = self.harvest(log, options=["--for-all", "--date", "2026-11-20"])
        self.assertEqual(lines, ["<#a@example.org>", "abe@example.com", "joe@example.org"])
        self.assertEqual(report["list"], "lists/2026-11-20.txt.zst")
        self.assertEqual((report["entries"], report["messages"], report["recipients"]), (3, 4, 4))
        self.assertEqual(report["left_out"]["own_domain"], 1)
        self.assertEqual(os.stat(self.folder / report["list"]).st_mode & 0o777, 0o640)
        # A second run of the day leaves the first one's list alone.
        again, report = self.harvest(log, options=["--for-all", "--date", "2026-11-20"])
        self.assertEqual((again, report["list"]), (lines, "lists/2026-11-20.2.txt.zst"))

    def test_at_least_counts_the_users_of_a_contact_and_the_messages_of_a_pair(self):
        log = self.write("log", self.log(("ann", "joe@example.org"), ("bob", "joe@example.org"), ("ann", "abe@example.org"),
                                         ("ann", "abe@example.org")))
        self.assertEqual(self.harvest(log, options=["--pairs"])[0],
                         ["abe@example.org > ann@ours.example", "joe@example.org > ann@ours.example",
                          "joe@example.org > bob@ours.example"])
        self.assertEqual(self.harvest(log, options=["--pairs", "--at-least", "2"])[0],
                         ["abe@example.org > ann@ours.example"])
        self.assertEqual(self.harvest(log, options=["--for-all", "--at-least", "2"])[0], ["joe@example.org"])

    def test_a_message_may_begin_in_one_rotated_log_and_end_in_the_next(self):
        mail = [("ann", "joe@example.org")]
        with gzip.open(self.folder / "mail.log.1", "wb") as file:
            file.write(self.log(*mail, lines=self.LINES[:2]).encode())
        self.write("mail.log", self.log(*mail, lines=self.LINES[2:]))
        os.utime(self.folder / "mail.log.1", (1_000_000_000, 1_000_000_000))
        self.assertEqual(self.harvest("mail.log", "mail.log.1")[0], ["joe@example.org"])

    def test_a_growing_log_is_read_to_its_last_line_and_a_journal_through_a_pipe(self):
        text = self.log(("ann", "joe@example.org"))
        self.assertEqual(self.harvest("-", stdin=text.encode())[0], ["joe@example.org"])
        # Its last line is still being written.
        half = self.write("half", text.rsplit("\n", 3)[0])
        self.assertEqual(self.harvest(half)[0], [])
        hint = "a message counts if a logged-in user sent it from an address of --own-domain"
        self.assertIn(hint, self.check(0, *self.RUN, "--for-all", half)[0])
        self.assertNotIn(hint, self.check(0, *self.RUN, "--for-all", self.write("whole", text))[0])

    def test_a_log_that_marks_no_automatic_mail_is_named_in_one_line(self):
        self.mailbox("ann", "From: ann@ours.example\nTo: joe@example.org\n\n")
        log = self.log(("ann", "joe@example.org"))
        mark = "Nov 20 10:00:00 mx postfix/cleanup[1]: 4E000000: info: header List-Id: <a.example> from x[1.2.3.4]; from=<b@c>\n"
        for source, says in ((self.write("log", log), 1), (self.write("marked", mark + log), 0), (self.PLACE, 0),
                             (self.write("idle", self.log(("ann", "bob@ours.example"))), 0)):
            out, _ = self.check(0, *self.RUN, "--for-all", source)
            self.assertEqual(out.count("not seen  automatic messages of the logs: no line marks them"), says, source)
        report = self.harvest("marked")[1]
        self.assertEqual((report["log_messages"], report["automatic_marks"]), (1, 1))

    def test_a_log_of_29_february_is_read_in_any_year(self):
        log = self.log(("ann", "joe@example.org")).replace("Nov 20", "Feb 29")
        self.assertEqual(self.harvest(self.write("log", log))[0], ["joe@example.org"])

    def test_what_was_written_before_one_of_the_two_was_forgotten_is_left_out(self):
        before, last, today, to_come = ((datetime.date.today() + datetime.timedelta(days=days)).isoformat() for days in (-9, -3, 0, 40))

        def log_of(day, *messages, first):
            return self.log(*messages, first=first).replace("Nov 20 10", day + "T10")

        log = log_of(before, ("ann", "joe@example.org"), ("bob", "joe@example.org"), ("bob", "eve@example.org"), first=1)
        newer = log_of(today, ("ann", "new@example.org"), ("bob", "eve@example.org"), first=9)
        # Anybody can write such a date into a message.
        later = log_of(to_come, ("ann", "old@example.org"), ("bob", "eve@example.org"), first=17)
        sources = [self.write("log", log + newer + later), self.write("book.csv", "user,contact\nann@ours.example,abe@example.org\n"
                                                                          "bob@ours.example,abe@example.org\n")]
        (self.folder / "lists/2026-11-20T030000.1").mkdir(parents=True)
        self.check(0, "learned", "forget", "-", "ann@ours.example", "eve@example.org", "--lists", "lists")
        noted = self.folder / "lists/.forgotten"
        noted.write_text(re.sub(r"(?m)^\d{4}-\d\d-\d\d ", last + " ", noted.read_text()))
        lines, report = self.harvest(*sources, options=["--pairs", "--forgotten", "lists/.forgotten"])
        self.assertEqual(lines, ["abe@example.org > bob@ours.example", "eve@example.org > bob@ours.example",
                                 "joe@example.org > bob@ours.example", "new@example.org > ann@ours.example"])
        self.assertEqual(report["left_out"]["forgotten"], 5)
        post, copy = self.write("post", self.post(1)), self.write("copy", self.of_list(1))
        options = ["--pairs", "--user", "ann@ours.example", "--mailing-lists", copy]
        self.assertEqual(len(self.harvest(post, options=options)[0]), 2)
        self.assertEqual(self.harvest(post, options=[*options, "--forgotten", "lists/.forgotten"])[0], [])

    def test_contacts_beyond_memory_go_to_disk_and_leave_no_files(self):
        mails = [("ann", f"joe{number % 1000}@example.org") for number in range(5000)]
        log = self.write("log", self.log(*mails))
        lines, report = self.harvest(log, options=["--for-all", "--memory", "20K", "--threads", "3"])
        self.assertEqual(lines, sorted({contact for _, contact in mails}))
        self.assertGreater(report["spilled_bytes"], 0)
        self.assertEqual(os.listdir(self.folder / "lists"), [report["list"].partition("/")[2]])

    def test_build_takes_the_newest_lists_of_a_folder(self):
        today = time.strftime("%Y-%m-%d", time.gmtime())
        log = self.write("log", self.log(("ann", "new@example.org")))
        self.harvest(log)
        old = self.write("old-log", self.log(("ann", "old@example.org")))
        self.harvest(old, options=["--for-all", "--date", "2020-01-01"])
        self.write("lists/partners.txt", "partner@example.org\n")
        self.assertIn(f"{today}.txt.zst", os.listdir(self.folder / "lists"))
        addresses = ["new@example.org", "old@example.org", "partner@example.org"]
        for options, want in (((), ["listed"] * 3), (("--newest", "180d"), ["listed", "not-listed", "listed"])):
            self.check(0, "build", "-o", "filter", "--bits-per-entry", "64", *options, "lists")
            self.assertEqual(self.answers("filter", *addresses), want, options)
        _, err = self.check(EX_DATAERR, "build", "-o", "filter", "--newest", "1d", "lists/2020-01-01.txt.zst")
        self.assertIn("no list is newer than", err)
        self.check(EX_USAGE, "build", "-o", "filter", "--newest", "soon", "lists")

    def test_contacts_are_read_from_folders_of_sent_mail_and_address_books(self):
        def message(to, user="ann@ours.example"):
            return f"From: {user}\r\nTo: {to}\r\n\r\nTo: body@example.org\r\n"

        for folder in ("new", "cur", "tmp"):
            (self.folder / ".Sent" / folder).mkdir(parents=True)
        self.write(".Sent/cur/1.mx:2,S", message("cur@example.org"))
        self.write(".Sent/cur/2.mx:2,DS", message("draft@example.org"))
        self.write(".Sent/cur/3.mx:2,S", gzip.compress(message("compressed@example.org").encode()))
        self.write(".Sent/cur/4.mx:2,S", message("stranger@example.org", "evil@example.org"))
        self.write(".Sent/new/5.mx", message("new@example.org"))
        self.write(".Sent/tmp/6.mx", message("half@example.org"))
        self.write(".Sent/dovecot-uidlist", "3 V1 N2\n")
        self.write("mbox", "From ann Fri Nov 20 10:00:00 2026\n" + message("mbox@example.org") * 1)
        self.write("letter.eml", message("eml@example.org"))
        self.write("book.vcf", "BEGIN:VCARD\r\nEMAIL;TYPE=home:vcard@example.org\r\nEND:VCARD\r\n")
        self.write("book.csv", 'Name,E-mail Address\r\n"a\r\nb",csv@example.org\r\n')
        sources = [".Sent", "mbox", "letter.eml", "book.vcf", "book.csv"]
        lines, report = self.harvest(*sources)
        self.assertEqual(lines, [f"{name}@example.org" for name in
                                 ("compressed", "csv", "cur", "eml", "mbox", "new", "vcard")])
        self.assertEqual(report["skipped_files"], 1)
        self.assertEqual(report["left_out"]["foreign_sender"], 1)
        pairs, _ = self.harvest("book.vcf", "book.csv", options=["--pairs", "--user", "Ann@ours.example"])
        self.assertEqual(pairs, ["csv@example.org > ann@ours.example", "vcard@example.org > ann@ours.example"])
        lines, _ = self.harvest("-", stdin=b'"user","contact"\n"ann@ours.example","joe@example.org"\n')
        self.assertEqual(lines, ["joe@example.org"])
        before = os.listdir(self.folder / "lists")
        good = self.RUN
        self.assertIn("name its user by --user", self.check(EX_USAGE, *good, "--pairs", "book.vcf")[1])
        self.assertIn("--user takes an address", self.check(EX_USAGE, *good, "--pairs", "--user", "ann", "book.vcf")[1])
        self.assertIn("dovecot-uidlist is neither", self.check(EX_DATAERR, *good, "--for-all", ".Sent/dovecot-uidlist")[1])
        self.assertEqual(os.listdir(self.folder / "lists"), before)

    def mailbox(self, owner, *messages):
        """A folder of sent mail, with these files."""
        folder = self.folder / "home" / owner / ".Sent/cur"
        folder.mkdir(parents=True)
        for number, message in enumerate(messages):
            (folder / f"{number}.mx:2,S").write_text(message)

    SENT_BY_CEO = "From: ceo@ours.example\nTo: evil1@evil.example\n\n"
    TABLE = "user,contact\nann@ours.example,evil2@evil.example\n"
    CARD = "BEGIN:VCARD\nEMAIL:evil4@evil.example\nEND:VCARD\n"
    PLACE = "home/%u/.Sent"

    def test_what_a_user_puts_into_a_folder_lists_for_that_user_alone(self):
        forged_log = self.log(("ann", "evil3@evil.example"))
        self.mailbox("mallory", self.SENT_BY_CEO, self.TABLE, forged_log, self.CARD)
        self.mailbox("ann", "From: ann@ours.example\nTo: joe@example.org\n\n")
        pairs, report = self.harvest(self.PLACE, options=["--pairs"])
        self.assertEqual(pairs, ["evil1@evil.example > mallory@ours.example", "joe@example.org > ann@ours.example"])
        self.assertEqual([report[name] for name in ("owners", "skipped_files")], [2, 3])
        self.assertEqual(self.harvest(self.PLACE, options=["--for-all", "--at-least", "2"])[0], [])
        # The same folder by its name, and as another user's address book.
        pairs, report = self.harvest("home/mallory/.Sent", options=["--pairs", "--user", "mallory@ours.example"])
        self.assertEqual((pairs, report["skipped_files"]), (["evil1@evil.example > mallory@ours.example"], 3))
        pairs, report = self.harvest(self.PLACE, options=["--pairs", "--address-books"])
        self.assertEqual(pairs, [f"evil{number}@evil.example > mallory@ours.example" for number in (1, 2, 4)] +
                         ["joe@example.org > ann@ours.example"])
        self.assertEqual(report["skipped_files"], 1)

    def mbox_of(self, owner, contacts):
        """Compressed, with that many contacts of the owner."""
        def message(first):
            to = ", ".join(f"evil{number}@evil.example" for number in range(first, min(first + 20, contacts)))
            return f"From x Fri Nov 20 10:00:00 2026\nFrom: {owner}@ours.example\nTo: {to}\n\n\n"

        (self.folder / "home" / owner / ".Sent/cur").mkdir(parents=True)
        text = "".join(message(first) for first in range(0, contacts, 20))
        self.write(f"home/{owner}/.Sent/cur/1.gz", gzip.compress(text.encode()))

    def test_one_user_s_contacts_have_a_limit_and_others_have_all_of_theirs(self):
        self.mbox_of("mallory", 30_000)
        self.mailbox("ann", *(f"From: ann@ours.example\nTo: joe{number}@example.org\n\n" for number in range(6)))
        def counted(options):
            lines, report = self.harvest(self.PLACE, options=options)
            evil = [line for line in lines if "evil" in line]
            return len(evil), len(lines) - len(evil), report["left_out"]["over_limit"], report["users_over_limit"]
        ann, mallory = "ann@ours.example", "mallory@ours.example"
        for options, want in ((["--pairs"], (20_000, 6, 10_000, [mallory])),
                              (["--for-all"], (20_000, 6, 10_000, [mallory])),
                              (["--pairs", "--memory", "64K"], (20_000, 6, 10_000, [mallory])),
                              (["--pairs", "--most-contacts", "0"], (30_000, 6, 0, [])),
                              (["--pairs", "--most-contacts", "5"], (5, 5, 29_996, [ann, mallory])),
                              (["--for-all", "--at-least", "2"], (0, 0, 10_000, [mallory])),
                              (["--pairs", "--at-least", "2"], (0, 0, 0, []))):
            with self.subTest(options):
                self.assertEqual(counted(options), want)
        out, _ = self.check(0, *self.RUN, "--pairs", self.PLACE)
        self.assertIn("left out  10,000 contacts of users who have more than --most-contacts\n", out)
        self.assertIn("too many  contacts of 1 user: mallory@ours.example\n", out)
        out, _ = self.check(0, *self.RUN, "--pairs", "--most-contacts", "29999", self.PLACE)
        self.assertIn("left out  1 contact of a user who has more than --most-contacts\n", out)

    def test_a_table_that_the_operator_names_has_no_limit(self):
        table = self.write("partners.csv", "E-mail\n" + "".join(f"joe{number}@example.org\n" for number in range(9)))
        self.assertEqual(len(self.harvest(table, options=["--for-all", "--most-contacts", "5"])[0]), 9)

    def test_a_small_file_in_a_folder_that_becomes_huge_is_not_read_to_its_end(self):
        self.mailbox("ann", "From: ann@ours.example\nTo: joe@example.org\n\n")
        first = "From x Fri Nov 20 10:00:00 2026\nFrom: ann@ours.example\nTo: zoe@example.org\n\n"
        self.write("home/ann/.Sent/cur/bomb", gzip.compress((first + "\n" * (64 << 20)).encode()))
        out, err = self.check(0, *self.RUN, "--pairs", "--json", self.PLACE)
        report = json.loads(out)
        self.assertEqual([report[name] for name in ("messages", "unreadable_files")], [2, 1])
        self.assertIn("bomb becomes more than 100 times as large", err)
        # The operator's own files may be what they like.
        out, _ = self.check(0, *self.RUN, "--for-all", "--json",
                            "home/ann/.Sent/cur/bomb")
        self.assertEqual(json.loads(out)["messages"], 1)

    def test_many_small_files_that_become_large_are_not_all_read(self):
        first = "From x Fri Nov 20 10:00:00 2026\nFrom: ann@ours.example\nTo: zoe@example.org\n\n"
        (self.folder / "home/ann/.Sent/cur").mkdir(parents=True)
        for number in range(5):
            self.write(f"home/ann/.Sent/cur/{number}", gzip.compress((first + "\n" * (8 << 20)).encode()))
        self.mailbox("bob", "From: bob@ours.example\nTo: joe@example.org\n\n")
        lines, report = self.harvest(self.PLACE, options=["--pairs"])
        self.assertIn("joe@example.org > bob@ours.example", lines)
        self.assertEqual([report[name] for name in ("messages", "unreadable_files")], [3, 4])

    def test_a_file_with_many_names_is_read_once(self):
        self.mailbox("ann", "From: ann@ours.example\nTo: joe@example.org\n\n")
        first = next((self.folder / "home/ann/.Sent/cur").iterdir())
        for name in ("b", "c"):
            os.link(first, first.with_name(name))
        os.symlink(first.name, first.with_name("d"))
        self.assertEqual(self.harvest(self.PLACE, options=["--pairs"])[1]["messages"], 1)

    def test_zeros_of_any_length_before_a_log_hide_its_first_line_at_most(self):
        log = self.write("mail.log", "\0" * 4_000_000 + "a line\n" + self.log(("ann", "joe@example.org")))
        self.assertEqual(self.harvest(log, options=["--pairs"])[0], ["joe@example.org > ann@ours.example"])

    def test_a_mailbox_that_is_one_file_is_read_as_sent_mail_or_not_at_all(self):
        (self.folder / "home").mkdir()
        self.write("home/ann", "From ann Fri Nov 20 10:00:00 2026\n" + self.SENT_BY_CEO)
        self.write("home/bob", self.log(("ann", "evil3@evil.example")))
        self.write("home/zoe", "no mail\n")
        os.mkfifo(self.folder / "home/pipe")
        pairs, report = self.harvest("home/%u", options=["--pairs"])
        self.assertEqual(pairs, ["evil1@evil.example > ann@ours.example"])
        self.assertEqual([report[name] for name in ("owners", "skipped_files", "unreadable_files")], [4, 2, 1])

    def test_a_user_counts_once_however_many_folders_and_addresses_there_are(self):
        message = "From: ann@ours.example\nTo: joe@example.org\n\n"
        self.mailbox("ann", message)
        self.mailbox("bob", message)
        (self.folder / "home/ann/.Sent.old").mkdir()
        self.write("home/ann/.Sent.old/1", message)
        logins = self.write("logins", "ann@ours.example ann\na.smith@ours.example ann\n")
        options = ["--owner-addresses", logins]
        sources = ["home/%u/.Sent", "home/%u/.Sent.old"]
        for least, want in (("2", ["joe@example.org"]), ("3", [])):
            self.assertEqual(self.harvest(*sources, options=["--for-all", "--at-least", least, *options])[0], want)
        pairs, report = self.harvest(*sources, options=["--pairs", *options])
        self.assertEqual(pairs, ["joe@example.org > a.smith@ours.example", "joe@example.org > ann@ours.example"])
        self.assertEqual(report["owners_without_address"], ["bob"])
        out, _ = self.check(0, *self.RUN, "--pairs", *options, *sources)
        self.assertIn("owners    2 of mailboxes; no address is known of 1: bob\n", out)

    def test_sent_mail_that_is_nobody_s_is_refused_where_it_matters_whose_it_is(self):
        self.mailbox("ann", self.SENT_BY_CEO)
        run = [*self.RUN, "--pairs"]
        _, err = self.check(EX_USAGE, *run, "home/ann/.Sent")
        self.assertIn("0.mx:2,S does not say whose it is; name its user by --user, or its place by a pattern such as /home/%u/", err)
        self.assertIn("there is no home/%u/none", self.check(EX_NOINPUT, *run, "home/%u/none")[1])
        log = self.write("log", self.log(("ann", "joe@example.org")))
        out, err = self.check(0, *run, "home/%u/none", log)
        self.assertIn("there is no home/%u/none\n", err)
        self.assertIn("entries   1\n", out)
        self.assertIn("a pattern needs one %u", self.check(EX_USAGE, *run, "home/%d/.Sent")[1])
        logins = self.write("logins", "ann@ours.example\n")
        self.assertIn("logins:1: not an address and its logins",
                      self.check(EX_DATAERR, *run, "--owner-addresses", logins, self.PLACE)[1])
        self.write("logins", "asmith\nann@ours.example ann\n")
        out, err = self.check(0, *run, "--owner-addresses", logins, self.PLACE)
        self.assertRegex(err, "skipped: .*logins:1: not an address and its logins")
        self.assertIn("skipped   1 line of --owner-addresses\n", out)
        self.assertEqual(len(os.listdir(self.folder / "lists")), 2)

    def test_the_journal_is_read_from_where_the_last_run_ended(self):
        (self.folder / "bin").mkdir()
        program = self.folder / "bin/journalctl"
        # It keeps its place as journalctl does, and prints what comes behind it.
        program.write_text("""#!/bin/sh
for word; do case $word in --cursor-file=*) cursor=${word#*=} ;; esac; done
printf '%s\\n' "$@" >asked
[ "$STATUS" != 3 ] || exit 3
at=0; [ -z "$cursor" ] || [ ! -e "$cursor" ] || at=$(cat "$cursor")
[ "$at" -ge 0 ] || { echo 'Failed to seek to cursor: Invalid argument' >&2; exit 1; }
tail -n "+$((at + 1))" journal
[ -z "$cursor" ] || wc -l <journal >"$cursor"
""")
        program.chmod(0o755)

        def harvest(status, *options, damaged=False):
            environment = {**os.environ, "PATH": f"{program.parent}:/usr/bin:/bin", "STATUS": str(status)}
            done = self.run_program(*self.RUN, "--for-all", "--json",
                                    "--journal", *options, env=environment)
            self.assertEqual(done.returncode == 0, status == 0, done.stderr)
            self.assertEqual(b"journalctl does not accept the position in place" in done.stderr, damaged, done.stderr)
            return json.loads(done.stdout)["entries"] if status == 0 else done.stderr

        self.write("journal", "")
        self.assertIn(b"the journal has no line of the units postfix* and sendmail*; if the mail server", harvest(65))
        self.assertEqual(harvest(0, "--allow-empty"), 0)
        self.write("journal", self.log(("ann", "joe@example.org"), first=1))
        self.assertEqual(harvest(0), 1)
        self.assertEqual((self.folder / "asked").read_text().split(),
                         ["--output=short-iso", "--no-pager", "--quiet", "--unit=postfix*", "--unit=sendmail*", "--unit=postfix.service"])
        keeps = ["--journal-cursor", "place"]
        self.assertEqual(harvest(0, *keeps), 1)
        self.assertEqual(harvest(0, *keeps), 0)
        with open(self.folder / "journal", "a", encoding="utf-8") as journal:
            journal.write(self.log(("ann", "eve@example.org"), ("ann", "zoe@example.org"), first=2))
        self.assertIn(b"journalctl ended with exit status 3; there may be no journal, or none that this user may read", harvest(3, *keeps))
        self.assertEqual(harvest(0, *keeps), 2)  # what the run that failed has not read
        # A message that is under way where a run ends, at each of its lines: it counts once.
        for number, begun in enumerate((1, 2, 3, 4)):
            lines = self.log(("ann", "abe@example.org"), first=9 + number).splitlines(keepends=True)
            entries = 0
            for part in (lines[:begun], lines[begun:], []):
                with open(self.folder / "journal", "a", encoding="utf-8") as journal:
                    journal.writelines(part)
                entries += harvest(0, *keeps)
            self.assertEqual(entries, 1, begun)
        for garbage in ("garbage\n", "\n", "garbage\nNov 20 10:00:00 mx postfix/qmgr[1]: 4F000001: removed\n"):
            self.write("place", garbage)
            self.assertEqual(harvest(0, *keeps, damaged=True), 4, garbage)  # all people again
            self.assertEqual(harvest(0, *keeps), 0)
        self.assertEqual((self.folder / "place").read_text(), f"{4 * 7}\n")
        self.assertEqual((self.folder / "place").stat().st_mode & 0o777, 0o600)
        self.assertEqual(sorted(path.name for path in self.folder.glob("place*")), ["place"])
        self.assertIn("--journal-cursor needs --journal",
                      self.check(EX_USAGE, *self.RUN, "--for-all", *keeps, "x")[1])

    def test_the_examples_of_the_help_work_as_they_are_shown(self):
        for folder in ("log", "lib/bloomgate", "home/ann/Maildir/.Sent/cur", "bin"):
            (self.folder / folder).mkdir(parents=True)
        log = self.log(("ann", "joe@example.net"), ("ann", "joe@example.org")).replace("ours.example", "example.net")
        for name in ("log/mail.log", "log/mail.log.1", "bin/log"):
            self.write(name, log)
        self.write("home/ann/Maildir/.Sent/cur/1", "From: ann@example.net\nTo: zoe@example.org\n\n")
        for name, text in (("journalctl", f"cat {self.folder}/bin/log"), ("bloomgate", f'exec {BLOOMGATE} "$@"')):
            self.write(f"bin/{name}", f"#!/bin/sh\n{text}\n")
            (self.folder / "bin" / name).chmod(0o755)
        examples = self.check(0, "harvest", "--help")[0].partition("examples:\n")[2].strip().splitlines()
        self.assertEqual(len(examples), 4)
        for example in examples:
            line = example.replace("/var/", "").replace("/home", "home")
            done = subprocess.run(["sh", "-c", line], cwd=self.folder, capture_output=True, text=True, check=False,
                                  env={**os.environ, "PATH": f"{self.folder}/bin:/usr/bin:/bin"})
            self.assertEqual(done.returncode, 0, line + done.stderr)
        self.assertEqual(os.stat(self.folder / "lib/bloomgate/lists").st_mode & 0o777, 0o750)
        self.assertEqual(len(os.listdir(self.folder / "lib/bloomgate/lists")), 3)
        for address in ("joe", "zoe"):
            self.check(0, "query", "lib/bloomgate/whitelist.bloom", f"{address}@example.org > ann@example.net")

    def test_an_empty_folder_does_not_end_the_run(self):
        self.mailbox("ann")
        self.mailbox("bob", "From: bob@ours.example\nTo: joe@example.org\n\n")
        pairs, report = self.harvest(self.PLACE, options=["--pairs"])
        self.assertEqual((pairs, report["empty_folders"]), (["joe@example.org > bob@ours.example"], 1))
        self.assertEqual(self.harvest("home/ann/.Sent", "home/bob/.Sent")[0], ["joe@example.org"])

    def test_a_named_file_that_gives_nothing_is_an_error_unless_that_is_allowed(self):
        log = self.write("log", self.log(("ann", "joe@example.org")))
        other = gzip.compress(self.log(("ann", "abe@example.org"), first=5).encode())
        command = [*self.RUN, "--for-all", "--json"]
        for name, content, says in (("empty", "", "empty is empty; --allow-empty skips such files"),
                                    ("zeros", bytes(8192), "zeros is neither a log"),
                                    ("words", "some words\n", "words is neither a log"),
                                    ("cut.gz", other[:-9], "cut.gz are damaged"),
                                    ("followed.gz", other + bytes(512) + b"x", "followed.gz are damaged"),
                                    ("empty.gz", gzip.compress(b""), "empty.gz is empty")):
            with self.subTest(name):
                file = self.write(name, content)
                self.assertIn(says, self.check(EX_DATAERR, *command, log, file)[1])
                out, err = self.check(0, *command, "--allow-empty", log, file)
                report = json.loads(out)
                self.assertEqual((report["entries"], report["skipped_files"] + report["unreadable_files"]), (1, 1))
                self.assertRegex(err, f"bloomgate harvest: skipped: .*{name}")
        self.check(EX_NOINPUT, *command, "--allow-empty", log, "none")  # one that is not there is a mistake
        (self.folder / "Maildir/new").mkdir(parents=True)
        for received, says in (("Maildir", "the folder Maildir holds no file"), ("empty", "empty is empty")):
            taken = [*command, "--mailing-lists", received, log]
            self.assertRegex(self.check(EX_DATAERR, *taken)[1], f"{says}; --allow-empty skips such f")
            out, err = self.check(0, *taken, "--allow-empty")
            self.assertEqual([json.loads(out)[key] for key in ("entries", "skipped_files")], [1, 1])
            self.assertIn(f"bloomgate harvest: skipped: {says}", err)
        self.write("Maildir/new/1.mx", "")
        self.check(0, *command, "--mailing-lists", "Maildir", log)
        self.check(EX_NOINPUT, *command, "--allow-empty", "--mailing-lists", "none", log)

    def test_a_folder_s_file_that_cannot_be_read_is_named_and_does_not_end_the_run(self):
        (self.folder / ".Sent/cur").mkdir(parents=True)
        self.write(".Sent/cur/1.mx:2,S", self.post(1))
        self.write(".Sent/cur/2.mx:2,S", gzip.compress(self.post(2, to="joe@example.org").encode())[:-9])
        run = [*self.RUN, "--for-all", "--json"]
        out, err = self.check(0, *run, ".Sent")
        report = json.loads(out)
        self.assertEqual([report[key] for key in ("entries", "skipped_files", "vanished_files", "unreadable_files")],
                         [1, 0, 0, 1])
        self.assertRegex(err, "bloomgate harvest: skipped: .*2.mx")
        self.check(EX_DATAERR, *run, ".Sent/cur/2.mx:2,S")

    def test_a_folder_s_file_that_is_nearly_all_holes_is_not_read(self):
        (self.folder / ".Sent/cur").mkdir(parents=True)
        self.write(".Sent/cur/1.mx:2,S", self.post(1, to="joe@example.org"))
        for name, start in (("mbox", "From ann Fri Nov 20 10:00:00 2026\n"), ("header", "")):
            self.write(f".Sent/cur/{name}", start + self.post(2, to="evil@evil.example"))
            os.truncate(self.folder / f".Sent/cur/{name}", 1 << 40)
        lines, report = self.harvest(".Sent")
        self.assertEqual((lines, report["skipped_files"]), (["joe@example.org"], 2))

    def test_a_folder_s_file_that_is_moved_meanwhile_does_not_end_the_run(self):
        (self.folder / "Maildir/cur").mkdir(parents=True)
        self.write("Maildir/cur/1.mx:2,S", self.of_list(1))
        os.mkfifo(self.folder / "sent")
        with self.start(*self.RUN, "--for-all", "--json", "sent",
                        "--mailing-lists", "Maildir", stdout=subprocess.PIPE) as process:
            with open(self.folder / "sent", "w", encoding="utf-8") as sent:  # opened when the folder has been listed
                (self.folder / "Maildir/cur/1.mx:2,S").unlink()
                sent.write(self.post(2, to="joe@example.org"))
            report = json.loads(process.communicate()[0])
        self.assertEqual(process.returncode, 0)
        self.assertEqual([report[key] for key in ("entries", "vanished_files", "unreadable_files")], [1, 1, 0])

    def post(self, number, to="dev@lists.example.org"):
        return f"From: ann@ours.example\r\nTo: {to}\r\nMessage-ID: <{number}@ours.example>\r\n\r\nHello\r\n"

    def of_list(self, number, name="dev", host="lists.example.org"):
        return (f"From: joe@example.org\r\nList-Id: {name} <{name}.{host}>\r\nList-Post: <mailto:{name}@{host}>\r\n"
                f"In-Reply-To: <{number}@ours.example>\r\n\r\nHello\r\n")

    def test_lists_that_a_user_has_posted_to_are_written_only_if_asked_for(self):
        for folder in ("ann/.Sent/cur", "bob/.Sent/cur", "Maildir/new", "Maildir/cur"):
            (self.folder / folder).mkdir(parents=True)
        self.write("ann/.Sent/cur/1.mx:2,S", self.post(1))
        self.write("bob/.Sent/cur/2.mx:2,S", self.post(2))
        self.write("ann/.Sent/cur/3.mx:2,S", gzip.compress(self.post(3, to="ops@lists.example.net").encode()))
        self.write("ann/.Sent/cur/4.mx:2,S", self.post(4, to="joe@example.org"))
        self.write("Maildir/cur/5.mx:2,S", self.of_list(1))
        self.write("Maildir/cur/6.mx:2,S", self.of_list(2))
        self.write("Maildir/new/7.mx", gzip.compress(self.of_list(3, "ops", "lists.example.net").encode()))
        self.write("Maildir/new/8.mx", self.of_list(4, "evil", "example.org"))
        self.write("Maildir/new/9.mx", self.of_list(5, "read-only"))
        self.write("Maildir/cur/10.mx:2,DS", self.of_list(1))  # a draft
        self.write("Maildir/dovecot-uidlist", "3 V1 N2\n")
        addresses = ["dev@lists.example.org", "joe@example.org", "ops@lists.example.net"]
        lines, report = self.harvest("%u/.Sent")
        self.assertEqual((lines, report["mailing_lists"]), (addresses, 0))
        wanted = ["--mailing-lists", "Maildir"]
        lines, report = self.harvest("%u/.Sent", options=["--for-all", *wanted])
        found = ["list:dev.lists.example.org", "list:ops.lists.example.net"]
        self.assertEqual(lines, sorted([*addresses, *found]))
        self.assertEqual([report[key] for key in ("entries", "mailing_lists", "named_messages", "list_messages",
                                                  "recipients", "skipped_files")], [5, 2, 4, 5, 4, 1])
        # They are entries that `build` takes.
        self.check(0, "build", "--strict", "-o", "filter", "lists/" + report["list"].partition("/")[2])
        self.assertEqual(self.answers("filter", *found), ["listed"] * 2)
        self.assertEqual(self.harvest("%u/.Sent", options=["--for-all", "--at-least", "2", *wanted])[0],
                         ["dev@lists.example.org", "list:dev.lists.example.org"])
        pairs, report = self.harvest("%u/.Sent", options=["--pairs", *wanted])
        self.assertEqual([pair for pair in pairs if pair.startswith("list:")],
                         ["list:dev.lists.example.org > ann@ours.example", "list:dev.lists.example.org > bob@ours.example",
                          "list:ops.lists.example.net > ann@ours.example"])
        self.assertEqual(report["mailing_lists"], 3)
        self.check(0, "build", "--strict", "-o", "filter", report["list"])
        self.check(0, "query", "filter", "list:dev.lists.example.org > bob@ours.example")

    def test_the_report_shows_what_was_missing_for_mailing_lists(self):
        log = self.write("log", self.log(("ann", "dev@lists.example.org")))
        received = self.write("received.eml", self.of_list(1))
        sent = self.write("sent.eml", self.post(1))
        run = [*self.RUN, "--for-all"]
        for sources, want in (
                (["--mailing-lists", received, log], "0 mailing lists, of 0 sent messages with a Message-ID and 1 received"),
                (["--mailing-lists", sent, sent], "0 mailing lists, of 1 sent message with a Message-ID and 0 received"),
                (["--mailing-lists", received, sent], "1 mailing list, of 1 sent message with a Message-ID and 1 received")):
            self.assertIn(want, self.check(0, *run, *sources)[0])
        self.assertNotIn("mailing lists", self.check(0, *run, sent)[0])
        for refused in (log, "missing"):
            status = EX_NOINPUT if refused == "missing" else EX_DATAERR
            self.assertIn(refused, self.check(status, *run, "--mailing-lists", refused, sent)[1])

    def test_posts_beyond_memory_go_to_disk(self):
        def mbox(messages):
            return "".join(f"From x Fri Nov 20 10:00:00 2026\n{message}\n" for message in messages)

        self.write("sent", mbox(self.post(number, to=f"dev{number % 500}@lists.example.org") for number in range(3000)))
        self.write("received", mbox(self.of_list(number, f"dev{number % 500}") for number in range(0, 3000, 2)))
        lines, report = self.harvest("sent", options=["--for-all", "--memory", "20K", "--mailing-lists", "received"])
        self.assertEqual([line for line in lines if line.startswith("list:")],
                         sorted(f"list:dev{number}.lists.example.org" for number in range(0, 500, 2)))
        self.assertEqual(report["list_messages"], 1500)
        self.assertGreater(report["spilled_bytes"], 0)

    def test_wrong_arguments_are_refused_before_anything_is_read(self):
        log = self.write("log", "")
        good = ["--output", "lists", "--own-domain", "ours.example", "--for-all"]
        for status, arguments, want in (
                (EX_USAGE, good, "name at least one"),
                (EX_USAGE, [*good, "--pairs", log], "either --for-all or --pairs"),
                (EX_USAGE, [*good[:-1], log], "either --for-all or --pairs"),
                (EX_USAGE, [*good[:2], "--for-all", log], "own-domain"),
                (EX_USAGE, [*good, "--own-domain", "ann@ours.example", log], "not 'ann@ours.example'"),
                (EX_USAGE, [*good, "--date", "yesterday", log], "--date takes a day"),
                (EX_USAGE, [*good, "--at-least", "0", log], "--at-least"),
                (EX_NOINPUT, [*good, "missing"], "missing"),
                (EX_CANTCREAT, ["--output", "nowhere/lists", *good[2:], log], "nowhere/lists")):
            err = self.check(status, "harvest", *arguments)[1]
            self.assertIn(want, err.splitlines()[-1])  # what others show of it, such as the daemon's status page
            self.assertEqual("; 'bloomgate harvest --help' shows what it takes" in err, status == EX_USAGE)
        self.assertEqual(os.listdir(self.folder / "lists"), [])


if __name__ == "__main__":
    main()
