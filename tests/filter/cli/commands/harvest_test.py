"""`bloomgate harvest`, and `bloomgate build --newest` of the lists that it has made."""
import gzip
import json
import os
import subprocess
import time

from program import EX_CANTCREAT, EX_DATAERR, EX_NOINPUT, EX_USAGE, ProgramTest, main


class HarvestTest(ProgramTest):
    """harvest, and build --newest."""

    RECEIVED = "postfix/submission/smtpd[1]: {id}: client=pc[192.0.2.7], sasl_method=PLAIN, sasl_username=ann"
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
        (self.folder / "lists").mkdir(exist_ok=True)
        out, _ = self.check(0, "harvest", "--output", "lists", "--own-domain", "ours.example", "--json", *options, "--",
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
        good = ["harvest", "--output", "lists", "--own-domain", "ours.example"]
        self.assertIn("name its user by --user", self.check(EX_USAGE, *good, "--pairs", "book.vcf")[1])
        self.assertIn("--user takes an address", self.check(EX_USAGE, *good, "--pairs", "--user", "ann", "book.vcf")[1])
        self.assertIn("dovecot-uidlist is neither", self.check(EX_DATAERR, *good, "--for-all", ".Sent/dovecot-uidlist")[1])
        self.assertEqual(os.listdir(self.folder / "lists"), before)

    def test_wrong_arguments_are_refused_before_anything_is_read(self):
        log = self.write("log", "")
        (self.folder / "lists").mkdir()
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
                (EX_CANTCREAT, ["--output", "nowhere", *good[2:], log], "nowhere")):
            self.assertIn(want, self.check(status, "harvest", *arguments)[1])
        self.assertEqual(os.listdir(self.folder / "lists"), [])


if __name__ == "__main__":
    main()
