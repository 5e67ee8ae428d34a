"""`bloomgate report`: what the daemon has decided, from its log."""
import gzip
import json
import os
import re
import time
from html.parser import HTMLParser

from program import EX_NOINPUT, EX_USAGE, IS_SANITIZED, ProgramTest, REPOSITORY, main


class Page(HTMLParser):
    """The headings of a page, and its tables: for each its caption, and its rows of (tag, scope, text)."""

    def __init__(self, html):
        super().__init__()
        self.headings, self.tables, self.text = [], [], None
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        if tag in ("h1", "h2", "h3", "caption", "th", "td"):
            self.text = ""
        if tag == "table":
            self.tables.append(("", []))
        elif tag == "tr":
            self.tables[-1][1].append([])
        self.scope = dict(attributes).get("scope")

    def handle_data(self, data):
        if self.text is not None:
            self.text += data

    def handle_endtag(self, tag):
        if tag in ("h1", "h2", "h3"):
            self.headings.append(tag)
        elif tag == "caption":
            self.tables[-1] = (self.text, self.tables[-1][1])
        elif tag in ("th", "td"):
            self.tables[-1][1][-1].append((tag, self.scope, self.text))


class ReportTest(ProgramTest):
    """report: what the daemon decided, from its log."""

    FOLDER = REPOSITORY / "tests/golden/report"

    def run_program(self, *arguments, **settings):
        zone = {**os.environ, "TZ": "CET-1"}
        return super().run_program(*arguments, **{"env": zone, **settings})

    def decision(self, seconds=0, decision="check", date=None, number=1):
        date = date or time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(time.time() - seconds))
        return (f"{date} mx bloomgate-milter[1]: queue_id={number} sender=<a@b.example> decision={decision} reason=not-listed "
                "time_us=1.5 identity=none authentication=none whitelist=- header_from=-\n")

    def messages(self, *arguments, stdin=b""):
        return json.loads(self.check(0, "report", "--json", *arguments, stdin=stdin)[0])["messages"]

    def test_the_golden_log_gives_the_golden_pages(self):
        for name, options in (("report.txt", []), ("report.html", ["--html"]), ("report.json", ["--json"])):
            with self.subTest(name):
                out, _ = self.check(0, "report", *options, self.FOLDER / "mail.log")
                self.assertEqual(out, (self.FOLDER / name).read_text())

    def days(self, *times):
        """A log with a message at each of these times of this machine."""
        return self.write("log", "".join(self.decision(date=f"{each}+01:00", number=number)
                                         for number, each in enumerate(times)))

    def test_each_day_of_a_month_has_its_row_in_each_form(self):
        log = self.days(*[f"2026-11-{day:02}T{hour:02}:30:00" for day in range(1, 31) if day != 15 for hour in range(0, 24, 6)])
        want = [(f"2026-11-{day:02}", 0 if day == 15 else 4) for day in range(1, 31)]
        found = json.loads(self.check(0, "report", "--json", log)[0])["days"]
        self.assertEqual([(day.pop("date"), day) for day in found],
                         [(date, {"deliver": 0, "check": count, "exempt": 0, "refuse": 0}) for date, count in want])
        text, _ = self.check(0, "report", log)
        [days] = re.findall(r"(?m)^Days\n  day +messages  delivered  checked\n((?:  2026.*\n)*)", text)
        self.assertEqual([line.split() for line in days.splitlines()],
                         [[date, str(count), "0", str(count)] for date, count in want])
        [rows] = [rows for caption, rows in Page(self.check(0, "report", "--html", log)[0]).tables if caption.startswith("Messages of each day")]
        self.assertEqual([[text for _, _, text in row] for row in rows[1:]],
                         [[date, str(count), "0", str(count)] for date, count in want])

    def test_a_time_of_day_stands_alone_only_if_the_picture_is_of_one_day(self):
        alone = re.compile(r"(?<!\d\d\d\d-\d\d-\d\d )\b\d\d:\d\d\b")
        midnights = self.days("2026-11-20T23:10:00", "2026-11-21T00:10:00", "2026-11-22T00:10:00")
        for options in ([], ["--html"]):
            out, _ = self.check(0, "report", *options, midnights)
            self.assertEqual(alone.findall(out), [])
            for hour in ("2026-11-20 23:00", "2026-11-22 00:00"):
                self.assertIn(hour, out)
        out, _ = self.check(0, "report", self.days("2026-11-20T00:10:00", "2026-11-20T23:10:00"))
        self.assertEqual(alone.findall(out), [f"{hour:02}:00" for hour in range(24)])

    def test_the_page_has_its_headings_in_order_and_says_what_each_cell_of_a_table_is(self):
        for log in (self.FOLDER / "mail.log", self.days("2026-11-20T23:10:00", "2026-11-21T00:10:00")):
            page = Page(self.check(0, "report", "--html", log)[0])
            self.assertEqual(page.headings, ["h1"] + ["h2"] * (len(page.headings) - 1))
            self.assertGreater(len(page.tables), 2)
            for caption, (head, *rows) in page.tables:
                self.assertTrue(caption)
                self.assertEqual({(tag, scope) for tag, scope, _ in head}, {("th", "col")})
                for row in rows:
                    self.assertEqual(len(row), len(head))
                    self.assertEqual([(tag, scope) for tag, scope, _ in row if tag == "th"], [("th", "row")])

    def test_held_senders_and_listed_domains_without_authentication_are_named_with_the_reason(self):
        figures = json.loads(self.check(0, "report", "--json", self.FOLDER / "mail.log")[0])
        self.assertEqual([(each["sender"], each["reason"], each["messages"]) for each in figures["held_senders"]],
                         [("bulletin@news.example", "burst", 2), ("joe@example.org", "replay", 1), ("ann@partner.example", "suspended", 1)])
        found = [(each["listed"], each["reason"], each["signature"], each["last_signed_by"]) for each in figures["unauthenticated"]]
        for want in (("partner.example", "dmarc-fail", None, None),
                     ("example.org", "not-authenticated", "body-changed", "example.org"),
                     ("example.org", "not-authenticated", "no-signature", "esp.example, lists.example")):
            self.assertIn(want, found)
        self.assertNotIn("phish.example", [domain for domain, *_ in found])
        self.assertEqual(figures["recipients"], {"messages": 2, "looked_up": 5, "with_entry": 3})
        counts = [each["messages"] for each in figures["unauthenticated"]]
        self.assertEqual(counts, sorted(counts, reverse=True))

    def test_every_key_of_the_object_is_in_the_manual_page(self):
        [names] = re.findall(r"(?ms)^\.Cm report\nprints one object\..*?^\.El$",
                             (REPOSITORY / "filter/cli/bloomgate.1").read_text())
        documented = re.findall(r"\w+", " ".join(re.findall(r"(?m)^\.It Cm (.*)$", names)))
        self.assertEqual(sorted(documented), sorted(json.loads((self.FOLDER / "report.json").read_text())))

    def test_compressed_and_rotated_logs_standard_input_and_folders_are_read(self):
        whole = (self.FOLDER / "mail.log").read_bytes()
        want = self.messages("-", stdin=whole)
        (self.folder / "logs").mkdir()
        lines = whole.splitlines(keepends=True)
        (self.folder / "logs/mail.log").write_bytes(b"".join(lines[40:]))
        (self.folder / "logs/mail.log.1.gz").write_bytes(gzip.compress(b"".join(lines[:40])))
        self.assertEqual(self.messages("logs"), want)
        self.assertEqual(self.messages("logs/mail.log", "logs/mail.log.1.gz"), want)

    def test_since_leaves_out_older_messages(self):
        log = self.write("log", self.decision(30) + self.decision(7200, number=2) + self.decision(3 * 86400, number=3))
        self.assertEqual(self.messages(log), 3)
        self.assertEqual(self.messages("--since", "1h", log), 1)
        self.assertEqual(self.messages("--since", "24h", log), 2)
        self.assertEqual(self.messages("--since", "2020-01-01", log), 3)

    def test_a_report_without_decisions_says_what_was_read_and_what_to_do(self):
        other = self.write("other", "Nov 20 10:00:00 mx postfix/smtpd[1]: connect from x\n")
        quiet = self.write("quiet", "Nov 20 10:00:00 mx bloomgate-milter[1]: stopping\n")
        old = self.write("old", self.decision(7200))
        for arguments, want in (((other,), "1 line, 0 of them of bloomgate-milter\n.*log-target.*--journal"),
                                ((quiet,), "1 of them of bloomgate-milter\n.*log-level"),
                                (("--since", "1h", old), "1 are older\n.*--since")):
            out, err = self.check(1, "report", *arguments)
            self.assertEqual(out, "")
            self.assertRegex(err, re.compile(f"no decision found in {re.escape(arguments[-1])}: .*{want}", re.DOTALL))

    def test_mail_that_bypassed_a_milter_is_reported_although_the_daemon_said_nothing(self):
        said = "mx postfix/smtpd[1]: warning: connect to Milter service unix:/run/bloomgate/milter.sock: Connection refused\n"
        log = self.write("log", "".join(f"2026-11-{day}T10:00:00+01:00 {said}" for day in (20, 21, 22)))
        out, _ = self.check(0, "report", "--since", "2026-11-21", log)
        self.assertRegex(out, r"Mail that bypassed a milter\n.*\n  unix:/run/bloomgate/milter.sock +2  2026-11-21 10:00  "
                              r"2026-11-22 10:00  Connection refused\n")
        [milter] = json.loads(self.check(0, "report", "--json", log)[0])["unasked_milters"]
        self.assertEqual((milter["sessions"], milter["first"]), (3, "2026-11-20T09:00:00Z"))

    def test_what_bypassed_a_milter_is_figures_for_prometheus_even_where_nothing_did(self):
        said = 'mx postfix/smtpd[1]: warning: connect to Milter service unix:/run/a"b\\\\c: Connection refused\n'
        log = self.write("log", "".join(f"2026-11-{day}T10:00:00Z {said}" for day in (20, 21)))
        before = int(time.time())
        for arguments, want in (((log,), {'bloomgate_bypassed_sessions{milter="unix:/run/a\\"b\\\\\\\\c"}': 2,
                                          'bloomgate_bypassed_first_timestamp_seconds{milter="unix:/run/a\\"b\\\\\\\\c"}': 1795168800,
                                          'bloomgate_bypassed_last_timestamp_seconds{milter="unix:/run/a\\"b\\\\\\\\c"}': 1795255200}),
                                (("--since", "1h", log), {})):
            out, _ = self.check(0, "report", "--prometheus", *arguments)
            figures = dict(line.rsplit(" ", 1) for line in out.splitlines() if not line.startswith("#"))
            self.assertGreaterEqual(int(figures.pop("bloomgate_bypassed_report_timestamp_seconds")), before)
            self.assertEqual(figures.pop("bloomgate_bypassed_report_lines"), "2")
            self.assertEqual({name: int(value) for name, value in figures.items()}, want)

    def test_journalctl_is_started_with_arguments_and_not_through_a_shell(self):
        (self.folder / "bin").mkdir()
        asked = self.folder / "asked"
        program = self.folder / "bin/journalctl"
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {asked}\nprintf "%s" "$LINES_OF_IT"\nexit "$STATUS"\n')
        program.chmod(0o755)

        def report(status, *arguments, path=program.parent):
            environment = {**os.environ, "PATH": f"{path}:/usr/bin:/bin", "STATUS": str(status),
                           "LINES_OF_IT": self.decision(30)}
            return self.run_program("report", "--json", *arguments, env=environment)

        done = report(0, "--journal", "--since", "2026-11-20")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["messages"], 1)
        since = asked.read_text().splitlines()[-1]
        self.assertEqual(asked.read_text().splitlines()[:-1],
                         ["--output=short-iso", "--no-pager", "--quiet", "_SYSTEMD_UNIT=bloomgate-milter.service", "+",
                          "SYSLOG_FACILITY=2"])
        self.assertRegex(since, r"^--since=@\d+$")
        self.assertEqual(report(0, "--journal").returncode, 0)
        self.assertAlmostEqual(int(asked.read_text().splitlines()[-1].split("@")[1]), time.time() - 86400, delta=600)
        failed = report(3, "--journal")
        self.assertEqual(failed.returncode, 74)
        self.assertIn(b"journalctl ended with exit status 3", failed.stderr)
        program.unlink()
        missing = self.run_program("report", "--journal", env={**os.environ, "PATH": str(program.parent)})
        self.assertEqual(missing.returncode, EX_NOINPUT)
        self.assertIn(b"name log files instead", missing.stderr)

    def test_wrong_arguments_are_refused(self):
        log = self.write("log", self.decision())
        for status, arguments, want in (
                (EX_USAGE, [], "name at least one log"),
                (EX_USAGE, ["--journal", log], "and not both"),
                (EX_USAGE, ["--html", "--json", log], "one of --html, --json and --prometheus"),
                (EX_USAGE, ["--since", "yesterday", log], "--since takes a time"),
                (EX_USAGE, ["--top", "0", log], "--top"),
                (EX_NOINPUT, ["missing"], "missing")):
            self.assertIn(want, self.check(status, "report", *arguments)[1])

    def test_memory_stays_bounded_however_many_domains_there_are(self):
        log = self.folder / "log"
        long = ".".join(["x" * 55] * 4)
        reasons = ("not-listed forged_headers=1", "not-authenticated", "dmarc-fail", "burst")
        with open(log, "w") as file:
            for number in range(200_000):
                domain = f"{long}.d{number}.example"
                file.write(f"2026-11-20T10:00:00+00:00 mx bloomgate-milter[1]: queue_id={number} sender=<a@{domain}> decision=check "
                           f"reason={reasons[number % 4]} time_us=1.5 dkim=no-signature signed_by={domain} signed_by={long} header_from=-\n")
        used = self.kibibytes_used_by("report", "--quiet", log)
        if not IS_SANITIZED:
            self.assertLess(used, 100 * 1024)


if __name__ == "__main__":
    main()
