"""`bloomgate report`: what the daemon has decided, from its log."""
import gzip
import json
import os
import re
import time

from program import EX_NOINPUT, EX_USAGE, IS_SANITIZED, ProgramTest, REPOSITORY, main


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
        for arguments, want in (((other,), "1 lines, 0 of them of bloomgate-milter\n.*log-target.*--journal"),
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
        with open(log, "w") as file:
            for number in range(300_000):
                file.write(f"2026-11-20T10:00:00+00:00 mx bloomgate-milter[1]: queue_id={number} sender=<a@{'x' * 60}.d{number}.attacker.example> "
                           "decision=check reason=not-listed time_us=1.5 header_from=-\n")
        used = self.kibibytes_used_by("report", "--quiet", log)
        if not IS_SANITIZED:
            self.assertLess(used, 100 * 1024)


if __name__ == "__main__":
    main()
