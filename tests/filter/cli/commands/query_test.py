"""`bloomgate query`."""
import gzip
import os
import pty
import re
import signal
import subprocess

from program import EX_DATAERR, EX_NOINPUT, EX_USAGE, ProgramTest, main, read_rest


class QueryTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.build("joe@example.org\n@example.net\n@.example.com\n", "--bits-per-entry", "64", "--hashes", "32")

    def test_each_address_gets_a_line_and_the_status_is_1_if_one_is_not_listed(self):
        out, _ = self.check(1, "query", "filter", "<JOE@Example.org>", "x@example.net", "y@a.b.example.com", "z@example.de",
                            "<>", "nonsense", "@Example.NET")
        self.assertEqual(
            out.splitlines(),
            [
                "listed\tjoe@example.org", "listed\tx@example.net\tby @example.net",
                "listed\ty@a.b.example.com\tby @.example.com", "not-listed\tz@example.de", "not-listed\t<>",
                "not-listed\t-\tmissing-at-sign: " + out.splitlines()[5].split(": ", 1)[1], "listed\t@example.net",
            ],
        )
        self.check(0, "query", "filter", "joe@example.org")

    def test_without_a_filter_the_whitelist_of_the_daemons_configuration_is_asked(self):
        self.write("own.conf", f"# mine\nmode = observe\n whitelist =  {self.folder}/filter \n")
        out, _ = self.check(0, "query", "--config", "own.conf", "joe@example.org")
        self.assertEqual(out, "listed\tjoe@example.org\n")
        self.check(1, "query", "--config", "own.conf", "joe@example.org", "nobody@example.org")
        self.assertEqual(self.check(1, "query", "--config", "own.conf", "list:a.example.org")[0], "not-listed\tlist:a.example.org\n")
        self.write("two.conf", "whitelist = a\nwhitelist = b\n")
        self.assertIn("several", self.check(EX_USAGE, "query", "--config", "two.conf", "user1@example.org")[1])
        self.assertIn("cannot be read", self.check(EX_USAGE, "query", "--config", "missing.conf", "user1@example.org")[1])

    def test_a_person_is_told_that_the_daemon_asks_more_lists_than_its_whitelist(self):
        for settings, lists in (("extra = /e\n", "list extra"), ("revoked = /r\n", "list revoked"),
                                ("revoked = /r\nextra=/e\n", "lists revoked and extra"), ("# extra = /e\nrevoked =\n", None)):
            self.write("own.conf", f"whitelist = {self.folder}/filter\n{settings}")
            ask = ["query", "--config", "own.conf", "joe@example.org"]
            hint = f"hint: the daemon also asks the {lists}: bloomgate-milter explain --config own.conf --from joe@example.org\n"
            with self.subTest(settings=settings):
                self.assertEqual(self.check(0, *ask)[1], hint if lists else "")
                for quiet in "--quiet", "--json":
                    self.assertEqual(self.check(0, *ask, quiet)[1], "")
        self.write("own.conf", f"whitelist = {self.folder}/filter\nextra = /e\n")
        self.assertIn("--from ADDRESS\n", self.check(1, "query", "--config", "own.conf", "a@b.example > c@d.example")[1])
        self.assertEqual(self.check(0, "query", "filter", "joe@example.org")[1], "")

    def test_addresses_are_read_from_standard_input(self):
        for arguments in (["-"], []):
            out, _ = self.check(1, "query", "filter", *arguments, stdin=b"# comment\n\njoe@example.org\r\nann@example.org\n")
            self.assertEqual(out, "listed\tjoe@example.org\nnot-listed\tann@example.org\n")

    def test_lists_of_any_size_and_kind_are_answered_in_their_order(self):
        # Several blocks, with bad lines, comments and entries of domains among them.
        lines, want = [], []
        for i in range(120_000):
            if i % 1000 == 7:
                lines += ["# a comment", ""]
            name = f"User{i}.{'x' * (1 + i * 7919 % 40)}"
            address = name.lower() + "@example.org"
            if i % 997 == 0:
                lines.append(f"bad,{i}@example.org")
                want.append("not-listed\t-\tbad-local-part-character: ")
            elif i % 13 == 0:
                lines.append(f"{name}@a.example.com\r")
                want.append(f"listed\t{name.lower()}@a.example.com\tby @.example.com")
            elif i % 11 == 0:
                lines.append("<JOE@Example.org>")
                want.append("listed\tjoe@example.org")
            else:
                lines.append(f"{name}@Example.org")
                want.append(f"not-listed\t{address}")
        half = len(lines) // 2
        text = "\n".join(lines)
        parts = [self.write("a", "\n".join(lines[:half])), self.write("b", "\n".join(lines[half:]))]
        packed = self.write("b.gz", gzip.compress("\n".join(lines[half:]).encode()))
        counts = [sum(line.startswith(start) for line in want) for start in ("listed", "not-listed\t", "not-listed\t-")]
        count = f"listed\t{counts[0]}\nnot-listed\t{counts[1] - counts[2]}\nrejected\t{counts[2]}\n"
        for arguments, stdin in (
            (["--list", *parts, "--threads", "1"], b""),
            (["--threads", "2", "--list", *parts], b""),
            (["--list", parts[0], packed, "--threads", "5"], b""),
            (["-", "--threads", "3"], text.encode()),
        ):
            with self.subTest(arguments=arguments):
                out, err = self.check(1, "query", "filter", *arguments, stdin=stdin)
                got = [re.sub(r"(character: ).*", r"\1", line) for line in out.splitlines()]
                self.assertTrue(got == want, "\n".join(f"{a} | {b}" for a, b in zip(got, want) if a != b)[:1000])
                self.assertEqual(err, "")
                self.assertEqual(self.check(1, "query", "filter", "--count", *arguments, stdin=stdin)[0], count)
        shown = self.check(1, "query", "filter", "--listed", "--list", *parts)[0] + self.check(
            1, "query", "filter", "--not-listed", "--list", *parts)[0]
        self.assertEqual(shown.count("\n"), len(want))
        self.assertEqual(shown.count("not-listed\t"), counts[1])
        self.assertFalse(re.search(r"not-listed.*\n(listed)", shown))
        self.assertEqual(self.check(0, "query", "filter", "--count", "--list", self.write("c", "joe@example.org"))[0],
                         "listed\t1\nnot-listed\t0\nrejected\t0\n")

    def test_a_list_can_be_a_column_of_a_table(self):
        table = self.write("table", "id,mail\n1,joe@example.org\n2,\"ann@example.org\"\n")
        out, _ = self.check(1, "query", "filter", "--format", "csv:mail", "--list", table)
        self.assertEqual(out, "listed\tjoe@example.org\nnot-listed\tann@example.org\n")

    def test_answers_are_printed_while_the_list_is_still_read(self):
        process = self.start("query", "filter", "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for address in (b"joe@example.org", b"x@example.net"):
            process.stdin.write(address + b"\n")
            process.stdin.flush()
            self.assertIn(b"listed\t" + address, process.stdout.readline())
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0)

    def test_query_ends_when_its_output_is_closed(self):
        path = self.write("large", "joe@example.org\n" * 500_000)
        process = self.start("query", "filter", "--list", path, stdout=subprocess.PIPE)
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=30), -signal.SIGPIPE)
        with open("/dev/full", "wb") as full:
            result = self.run_program("query", "filter", "--list", path, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 74)

    def test_a_terminal_shows_the_progress_of_a_count_unless_quiet(self):
        for options, want in (([], True), (["--quiet"], False)):
            master, slave = pty.openpty()
            process = self.start("query", "filter", "--count", *options, "-", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=slave, env=dict(os.environ, TERM="xterm"))
            os.close(slave)
            process.stdin.write(b"joe@example.org\n")
            process.stdin.flush()
            shown = b""
            if want:
                while b"reading  16 bytes" not in shown:
                    shown += os.read(master, 4096)
            out, _ = process.communicate(timeout=30)
            shown += read_rest(master)
            self.assertEqual(out, b"listed\t1\nnot-listed\t0\nrejected\t0\n")
            self.assertEqual(bool(shown), want)

    def test_wrong_options_are_refused(self):
        for arguments in (["--count", "--listed", "-"], ["--listed", "--not-listed", "-"], ["--threads", "0", "-"],
                          ["--format", "json", "-"], ["--list"]):
            self.check(EX_USAGE, "query", "filter", *arguments)
        self.check(EX_NOINPUT, "query", "filter", "--list", "missing")

    def test_a_terminal_gets_a_prompt_for_addresses(self):
        master, slave = pty.openpty()
        process = self.start("query", str(self.folder / "filter"), stdin=slave, stdout=subprocess.PIPE)
        os.close(slave)
        os.write(master, b"joe@example.org\nann@example.org\n\x04")
        out, _ = process.communicate(timeout=30)
        os.close(master)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(
            out.decode(), "address> listed\tjoe@example.org\naddress> not-listed\tann@example.org\naddress> \n"
        )

    def test_a_file_that_is_not_a_filter_is_refused(self):
        _, err = self.check(EX_DATAERR, "query", "list", "joe@example.org")
        self.assertIn("list is not a filter of Bloomgate: it has 43 bytes, less than the header", err)
        self.check(EX_NOINPUT, "query", "missing", "joe@example.org")
        self.check(EX_USAGE, "query")

    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "wb") as full:
            result = self.run_program("query", "filter", "joe@example.org", stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 74)
        self.assertIn(b"cannot write to standard output", result.stderr)


if __name__ == "__main__":
    main()
