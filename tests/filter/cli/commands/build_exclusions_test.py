"""`bloomgate build --leave-out` and `--never-match`: what a filter must not list."""
import json
import os

from program import EX_DATAERR, EX_NOINPUT, EX_USAGE, ProgramTest, main


class ExclusionTest(ProgramTest):
    def test_except_leaves_entries_out_exactly(self):
        entries = ["joe@example.org", "Bob@Example.org", "@gone.example", "ann@gone.example", "ann@a.tree.example"]
        gone = self.write("gone", "bob@example.org # has left\n@gone.example\n@.tree.example\n")
        out, _ = self.build("\n".join(entries) + "\n", "--bits-per-entry", "64", "--leave-out", gone, "--json")
        report = json.loads(out)
        self.assertEqual((report["entries"], report["excepted"]), (1, 4))
        self.assertEqual(self.answers("filter", *entries[:2], *entries[3:]), ["listed"] + ["not-listed"] * 3)
        self.assertIn("excepted  4 entries left out", self.build("\n".join(entries), "--leave-out", gone)[0])
        _, err = self.check(EX_DATAERR, "build", "-o", "filter", "--leave-out", self.write("bad", "\nnobody\n"), "list")
        self.assertIn("bad:2: ", err)
        self.check(EX_NOINPUT, "build", "-o", "filter", "--leave-out", "missing", "list")
        self.assertIn("overwrite the list gone", self.check(EX_USAGE, "build", "-o", "gone", "--leave-out", "gone", "list")[1])

    def test_no_excluded_sender_passes_and_no_entry_is_lost(self):
        entries = [f"user{i}@example.org" for i in range(8000)]
        strangers = [f"stranger{i}@example.net" for i in range(3000)]
        not_list = self.write("not", "# rejected last month\n" + "\n".join(strangers) + "\n")
        for layout in ("page", "line", "classic", "partitioned", "ribbon"):
            options = ["--no-sender-domains", "--layout", layout, *([] if layout == "ribbon" else ["--hashes", "2"]), "--bits-per-entry", "4"]
            self.build("\n".join(entries), "--seed", "1", *options)
            before = self.run_program("query", "filter", "--listed", "--list", not_list).stdout.decode().splitlines()
            self.assertGreater(len(before), 20, layout)
            out, err = self.build("\n".join(entries), "--seed", "1", *options, "--never-match", not_list, "--json")
            self.assertEqual(err, "")
            counts = {"known": 3000, "hits": len(before), "excluded": len(before), "entries": 0, "by_domain": 0}
            self.assertEqual(json.loads(out)["known_strangers"], {**counts, "rejected": 0})
            self.assertEqual(self.info()["known_strangers"], counts)
            self.check(0, "verify", "filter", "--against", "list")
            self.assertEqual(self.check(1, "query", "filter", "--listed", "--list", not_list)[0], "")
            self.assertEqual(self.check(1, "query", "filter", "--count", "--list", not_list)[0].split()[1], "0")
            answers = self.run_program("query", "filter", "--list", not_list).stdout.decode().splitlines()
            excluded = [line.split("\t")[1] for line in answers if line.endswith("\texcluded")]
            self.assertEqual(excluded, [line.split("\t")[1] for line in before])
            self.assertEqual(self.check(1, "query", "filter", excluded[0])[0], f"not-listed\t{excluded[0]}\texcluded\n")
            self.assertIn(f"3,000 senders; {len(before)} hit the bits: {len(before)} kept out, 0 entries",
                          self.check(0, "info", "filter")[0])

    def test_an_excluded_sender_that_is_an_entry_is_reported_and_stays_listed(self):
        lines = ["joe@example.org", "@corp.example", "@.tree.example", "ann@example.org"]
        not_list = self.write("not", "\nJoe@Example.org # left\neve@corp.example\neve@a.tree.example\n@corp.example\n"
                                     "@example.org\nnobody\neve@example.org\njoe@example.org\n")
        out, err = self.build("\n".join(lines), "--never-match", not_list)
        self.assertEqual(err.splitlines(), [
            f"{not_list}:2: warning: joe@example.org is an entry, and stays listed",
            f"{not_list}:3: warning: eve@corp.example is listed by its domain, and stays listed",
            f"{not_list}:4: warning: eve@a.tree.example is listed by its domain, and stays listed",
            f"{not_list}:5: warning: @corp.example is an entry, and stays listed",
            f"{not_list}:9: warning: joe@example.org is an entry, and stays listed"])
        self.assertIn("excluded  4 senders; 1 hits the bits: 0 kept out, 1 entry; 2 listed by their domains\n", out)
        self.assertIn("no entry  1 line of the lists of --never-match\n", out)
        self.check(0, "query", "filter", "joe@example.org", "eve@corp.example", "eve@a.tree.example", "@corp.example")
        self.check(1, "query", "filter", "eve@example.org")

        before = self.read("filter")
        self.assertIn("4 are entries and 1 are no addresses", self.check(
            EX_DATAERR, "build", "-o", "filter", "--strict", "--never-match", not_list, "list")[1])
        self.assertEqual(self.read("filter"), before)
        self.check(EX_DATAERR, "build", "-o", "filter", "--strict", "--never-match", self.write("junk", "nobody\n"), "list")
        self.check(0, "build", "-o", "filter", "--strict", "--never-match", self.write("good", "eve@example.org\n"), "list")
        self.assertEqual(self.names(), ["filter", "good", "junk", "list", "not"])

    def test_lists_of_excluded_senders_that_are_mostly_rejected_are_refused(self):
        self.write("list", "joe@example.org\n")
        self.check(0, "build", "-o", "filter", "--store", "store", "list")
        before = self.read("filter"), self.read("store")
        self.write("table", "name,email\n" + "Eve,eve@example.net\n" * 3)
        self.write("other", "eve@example.net\n\n# Eve\nbad\n")
        for name, lines in ("table", "4 of 4 lines"), ("other", "1 of 2 lines"):
            for command in (("build", "list"), ("update-store", "--store", "store", "--add", "list")):
                said = self.check(EX_DATAERR, *command, "-o", "filter", "--quiet", "--never-match", name)[1]
                self.assertIn(f"{lines} of --never-match {'was' if lines[0] == '1' else 'were'} rejected, more than a tenth; each line must be", said)
                self.assertEqual((self.read("filter"), self.read("store")), before)
        self.check(0, "build", "-o", "filter", "--allow-rejects", "--never-match", "other", "list")
        self.assertEqual(self.info()["known_strangers"]["known"], 1)
        self.write("few", "eve@example.net\n" * 10 + "bad\n")
        self.check(0, "build", "-o", "filter", "--never-match", "few", "list")

    def test_a_not_list_that_cannot_be_read_twice_is_refused(self):
        self.write("list", "joe@example.org\n")
        os.mkfifo(self.folder / "pipe")
        for name in ("-", "pipe"):
            self.assertIn("read twice", self.check(EX_DATAERR, "build", "-o", "filter", "--never-match", name, "list")[1])
        self.check(EX_NOINPUT, "build", "-o", "filter", "--never-match", "missing", "list")
        self.assertIn("overwrite the list list", self.check(EX_USAGE, "build", "-o", "list", "--never-match", "list", "list")[1])
        self.assertEqual(self.names(), ["list", "pipe"])

    def test_filters_with_excluded_senders_are_not_combined(self):
        not_list = self.write("not", "eve@example.org\n")
        options = ["--expected-entries", "10", "--seed", "1", self.write("list", "joe@example.org\n")]
        self.check(0, "build", "-o", "a", *options)
        self.check(0, "build", "-o", "b", "--never-match", not_list, *options)
        for command in ("merge", "intersect"):
            for filters in (["a", "b"], ["b", "a"]):
                _, err = self.check(EX_USAGE, command, "-o", "c", *filters)
                self.assertIn("b was built with --never-match", err)
                self.assertIn("build a new filter from the lists", err)
        self.check(0, "compare", "a", "b")
        self.assertNotIn("c", self.names())


if __name__ == "__main__":
    main()
