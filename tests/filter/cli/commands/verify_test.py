"""`bloomgate verify`."""
import gzip
import re

from program import EX_DATAERR, IS_SANITIZED, ProgramTest, main, some_of, users


class VerifyTest(ProgramTest):
    def setUp(self):
        super().setUp()
        # With one seed in fifty a non-member of these tests is a false positive.
        self.build(users(range(20_000)), "--seed", "1")

    def test_a_sound_file_passes_with_its_list(self):
        out, _ = self.check(0, "verify", "filter", "--against", "list")
        self.assertRegex(out, r"(?m)^sound +filter: ")
        self.assertRegex(out, r"(?m)^found +20,000 entries")
        self.assertRegex(out, r"(?m)^missing +0$")
        measured, expected = re.search(r"(?m)^FPR +([\d.]+) % of 1,000,000 .* fill: ([\d.]+) % ", out).groups()
        self.assertLess(abs(float(measured) / float(expected) - 1), 0.04)  # six standard deviations of 10^6 probes

    def test_a_sound_filter_of_few_blocks_passes_whatever_its_seed(self):
        few = self.write("few", users(range(200)))
        for layout in ("line", "classic", "partitioned"):
            for seed in some_of(range(1, 2 if IS_SANITIZED else 9)):
                self.check(0, "build", "-o", "small", "--layout", layout, "--seed", str(seed), few)
                self.check(0, "verify", "small", "--against", few)

    def test_an_entry_is_missing_even_if_a_domain_entry_lists_it(self):
        lines = "".join(f"user{i}@{i % 100}.example\n@{i}.example\n@.{i}.example.net\n" for i in range(3000))
        self.build(lines)
        out, _ = self.check(0, "verify", "filter", "--against", "list")
        self.assertRegex(out, r"(?m)^sound +filter: .* in the sections bits, domains, sender-domains ")
        self.assertRegex(out, r"(?m)^unlisted +0 of these 1,000,000, whose domain has no entry, are found$")
        self.assertRegex(out, r"(?m)^found +9,000 entries")
        # An address and a domain that are listed by a domain only are no entries.
        extra = self.write("extra", "@1.example\nann@1.example\n@.1.example\n@.a.1.example.net\n@3000.example\n")
        _, err = self.check(1, "verify", "filter", "--against", extra)
        self.assertEqual(
            err.splitlines()[:-1],
            [
                f"{extra}:2: not in the filter: ann@1.example", f"{extra}:3: not in the filter: @.1.example",
                f"{extra}:4: not in the filter: @.a.1.example.net", f"{extra}:5: not in the filter: @3000.example",
            ],
        )
        out, _ = self.check(1, "query", "filter", "--count", "--list", extra)
        self.assertEqual(out, "listed\t2\nnot-listed\t3\nrejected\t0\n")
        out, _ = self.check(0, "query", "filter", "--count", "--list", "list")
        self.assertEqual(out, "listed\t9000\nnot-listed\t0\nrejected\t0\n")

    def test_an_address_is_missing_if_its_bits_are_set_and_its_domain_is_not_there(self):
        few = self.write("few", "".join(f"user{i}@few.example\n" for i in range(100)))
        shape = ("--seed", "1", "--expected-entries", "100", "--bits-per-entry", "8", "--hashes", "1", "--quiet")
        self.check(0, "build", "-o", "few.bloom", *shape, "--no-sender-domains", few)
        # All bits of a page are set by its 500,000 addresses, whose domain is another one.
        self.check(0, "build", "-o", "full.bloom", *shape, self.write("many", users(range(500_000))))
        self.check(0, "intersect", "-o", "filter", "--allow-shrink", "full.bloom", "few.bloom")
        self.assertEqual(self.info()["sender_domains"], 1)
        out, err = self.check(1, "verify", "filter", "--against", few)
        self.assertRegex(out, r"(?m)^missing +100$")
        self.assertIn("few:1: not in the filter: user0@few.example", err)
        self.check(0, "verify", "few.bloom", "--against", few)

    def test_lists_that_were_not_read_were_not_compared(self):
        self.build("joe@example.org\n")
        self.write("table", "name,email\n" + "Joe,joe@example.org\n" * 3)
        self.write("none", "# nobody\n")
        self.write("few", "joe@example.org\n" * 8 + "joe\n")
        self.write("missing", "joe\nann@example.org\n")
        rejected = "rejected, more than a tenth; "
        for name, says in (("table", f"4 of 4 lines were {rejected}"), ("table", "try --format csv:email"), ("none", "the lists have no entry; "),
                           ("few", f"1 of 9 lines was {rejected}the filter was not compared with them")):
            for quiet in ((), ("--quiet",)):
                out, err = self.check(EX_DATAERR, "verify", "filter", *quiet, "--against", name)
                self.assertIn(says, err)
                self.assertRegex(out, r"(?m)^found +[08] ")
        said = self.check(EX_DATAERR, "verify", "filter", "--against", "-", stdin=b"joe\n")[1]
        self.assertIn("1 of 1 line was rejected, more than a tenth; the filter was not compared", said)
        self.check(0, "verify", "filter", "--format", "csv:email", "--against", "table")
        self.check(0, "verify", "filter", "--allow-rejects", "--against", "few")
        self.check(EX_DATAERR, "verify", "filter", "--allow-rejects", "--against", "table")
        self.check(0, "verify", "filter", "--allow-empty", "--against", "none")
        # A new server has a list, and a filter, without an entry.
        self.check(0, "build", "-o", "empty", "--allow-empty", "none")
        self.check(0, "verify", "empty", "--against", "none")
        self.check(0, "verify", "filter", "--against", "few", "list", "list")
        self.check(1, "verify", "filter", "--against", "missing")

    def test_a_missing_entry_is_named(self):
        extra = self.write("extra", "user1@example.org\nstranger@nowhere.example\n")
        _, err = self.check(1, "verify", "filter", "--against", "list", extra)
        self.assertIn("extra:2: not in the filter: stranger@nowhere.example", err)

    def test_the_first_missing_entries_of_long_lists_are_named_in_order(self):
        self.build((self.folder / "list").read_text(), "--bits-per-entry", "64", "--hashes", "32")  # no false positives
        lines = [f"user{i % 20_000}@example.org\n" for i in range(200_000)]
        places = [("a", line) for line in range(54_321, 200_000, 30_000)] + [("b", line) for line in range(17, 200_000, 30_000)]
        for name in ("a", "b"):
            text = lines.copy()
            for line in (line for where, line in places if where == name):
                text[line - 1] = f"stranger{line}@nowhere.example\n"
            text[99] = "bad,,line@example.org\n"
            self.write(name, "".join(text))
        packed = self.write("b.gz", gzip.compress(self.read("b")))
        for threads, second in (("1", "b"), ("2", "b"), ("5", packed)):
            out, err = self.check(1, "verify", "filter", "--threads", threads, "--quiet", "--against", "a", second)
            want = [f"{second if name == 'b' else name}:{line}: not in the filter: stranger{line}@nowhere.example"
                    for name, line in places[:10]]
            self.assertEqual(err.splitlines()[:-1], want)
            self.assertRegex(out, rf"(?m)^found +{400_000 - 2 - len(places):,} ")
            self.assertRegex(out, rf"(?m)^missing +{len(places)}$")
            self.assertRegex(out, r"(?m)^rejected +2 ")
        # Standard input cannot be read twice.
        text = self.read("a")
        want = [f"standard input:{line}: not in the filter: stranger{line}@nowhere.example"
                for name, line in places if name == "a"]
        for content in (text, gzip.compress(text)):
            source = open(self.write("stdin", content), "rb")
            self.addCleanup(source.close)
            for stdin in (content, source):
                _, err = self.check(1, "verify", "filter", "--against", "-", stdin=stdin)
                self.assertEqual(err.splitlines()[:-1], want)

    def test_a_damaged_file_is_refused_with_the_place_of_the_damage(self):
        self.flip("filter", 5000)
        _, err = self.check(EX_DATAERR, "verify", "filter")
        self.assertIn("damaged in the MiB at offset 4096", err)
        self.check(0, "info", "filter")


if __name__ == "__main__":
    main()
