"""`bloomgate build --store`: the exact set beside a filter."""
import json

from program import EX_CANTCREAT, EX_DATAERR, EX_USAGE, ProgramTest, main, users


class StoreTest(ProgramTest):
    """build --store, and commands that read a store."""

    def build_pair(self, name="filter", count=2000, *options):
        text = users(range(count)) + "@partner.example\n"
        return self.check(0, "build", "-o", name, "--store", name + ".store", *options, self.write("list", text))

    def test_false_positives_of_the_filter_are_not_confirmed(self):
        self.build_pair("filter", 2000, "--bits-per-entry", "1", "--hashes", "1")
        strangers = self.write("strangers", "".join(f"stranger{i}@example.org\n" for i in range(2000)))
        count = ("query", "filter", "--count", "--list", strangers)
        without = dict(line.split("\t") for line in self.check(1, *count)[0].splitlines())
        self.assertGreater(int(without["listed"]), 50)
        confirmed = dict(line.split("\t") for line in self.check(1, *count, "--confirm", "filter.store")[0].splitlines())
        self.assertEqual(confirmed["listed"], "0")
        members = self.write("members", users(range(2000)))
        self.check(0, "query", "filter", "--confirm", "filter.store", "--count", "--list", members)
        found = [line.split("\t")[1] for line in self.check(1, "query", "filter", "--list", strangers)[0].splitlines()
                 if line.startswith("listed")]
        output, _ = self.check(1, "query", "filter", "--confirm", "filter.store", found[0], "user7@example.org", "x@partner.example")
        self.assertEqual(output, f"not-listed\t{found[0]}\nlisted\tuser7@example.org\n"
                                 "listed\tx@partner.example\tby @partner.example\n")

    def test_a_store_of_another_build_is_refused(self):
        self.build_pair("filter")
        self.build_pair("other")
        self.build("a@example.org")  # without a store
        for command in ("query", "verify"):
            arguments = ["a@example.org"] if command == "query" else []
            _, errors = self.check(EX_DATAERR, command, "other", *arguments, "--confirm", "filter.store")
            self.assertIn("not the store of other", errors)
            _, errors = self.check(EX_DATAERR, command, "filter", *arguments, "--confirm", "filter.store")
            self.assertIn("built without a store", errors)

    def test_a_store_that_loses_its_filter_is_named(self):
        said = "warning: filter had a store, and has none now; remove the old store, and take it out of 'confirm' in bloomgate-milter.conf\n"
        self.assertNotIn(said, self.build_pair()[1])
        self.assertNotIn(said, self.build_pair()[1])
        self.assertIn(said, self.check(0, "build", "-o", "filter", "list")[1])
        self.assertNotIn(said, self.check(0, "build", "-o", "filter", "list")[1])
        self.build_pair("other", 2000, "--seed", "1", "--expected-entries", "4000")
        self.assertNotIn(said, self.check(0, "merge", "-o", "filter", "other", "other")[1])
        self.build_pair()
        self.assertIn(said, self.check(0, "merge", "-o", "filter", "other", "other")[1])
        self.check(0, "build", "-o", "counting", "--layout", "counting", "list")
        self.build_pair()
        self.assertIn(said, self.check(0, "counting-export", "counting", "-o", "filter")[1])

    def test_a_store_brings_the_domains_of_its_senders_into_filter_and_update(self):
        lists = {name: self.write(name, "".join(f"user{i}@{name}{i % 50}.example\n" for i in range(1000))) for name in "abc"}
        pair = ["--bits-per-entry", "2", "--hashes", "1", "--store-seed", "3", "--seed", "5"]
        self.check(0, "build", "-o", "filter", "--store", "store", *pair, lists["a"])
        self.assertEqual(self.info("store")["sender_domains"], 50)
        self.check(0, "build", "-o", "of store", *pair[:4], "--seed", "5", "store", lists["b"])
        self.assertEqual(self.info("of store")["sender_domains"], 100)
        report = json.loads(self.check(0, "update-store", "--store", "store", "-o", "filter", "--add", lists["b"], "--json")[0])
        self.assertEqual(report["sender_domains"], 100)
        self.assertEqual(self.info()["sender_domains"], 100)
        for name in "filter", "of store":
            self.check(0, "verify", name, "--against", lists["a"], lists["b"])
            self.assertEqual(self.check(1, "query", name, "--count", "--list", lists["c"])[0].split()[1], "0")
        # With those of one list alone, as the other's are not known, nothing would be found of it.
        self.check(0, "build", "-o", "old", "--store", "old.store", "--no-sender-domains", *pair, lists["b"])
        _, errors = self.check(0, "build", "-o", "both", *pair[:4], "store", "old.store")
        self.assertIn("warning: a store among the inputs does not have the domains of its senders", errors)
        self.assertIsNone(self.info("both")["sender_domains"])
        self.check(0, "verify", "both", "--against", lists["a"], lists["b"])
        _, errors = self.check(EX_USAGE, "update-store", "--store", "store", "-o", "filter", "--add", "old.store")
        self.assertIn("old.store does not have the domains of its senders", errors)
        self.check(0, "update-store", "--store", "store", "-o", "filter", "--add", "old.store", "--no-sender-domains")
        self.assertIsNone(self.info()["sender_domains"])
        self.assertEqual(self.info("store")["sender_domains"], 0)
        _, errors = self.check(0, "update-store", "--store", "store", "-o", "filter", "--add", lists["c"], "--quiet")
        self.assertEqual(errors.count("\n"), 1)
        self.assertIn("warning: store does not have the domains of its senders, so neither has the new pair", errors)
        self.assertIsNone(self.info()["sender_domains"])
        self.assertIn("\nsender domains   none: the filters that are made", self.check(0, "info", "store")[0])
        _, errors = self.check(0, "update-store", "--store", "store", "-o", "filter", "--no-sender-domains", "--quiet")
        self.assertEqual(errors, "")
        self.check(0, "verify", "filter", "--against", *lists.values())

    def test_verify_checks_a_store_alone_and_with_its_filter(self):
        self.build_pair()
        self.assertIn("2,000 addresses and 1 domain entry", self.check(0, "verify", "filter.store")[0])
        output, _ = self.check(0, "verify", "filter", "--confirm", "filter.store", "--against", "list")
        self.assertRegex(output, r"found +2,001 entries")
        self.assertRegex(output, r"confirmed +0 of these")
        self.assertRegex(output, r"(?m)^senders +their 1 domain is that of the store$")
        self.flip("filter.store", 5000)
        _, errors = self.check(EX_DATAERR, "verify", "filter.store")
        self.assertIn("the section pages is damaged in the MiB at offset 4096", errors)
        self.check(EX_DATAERR, "verify", "filter", "--confirm", "filter.store")

    def test_info_shows_the_identity_of_both(self):
        self.build_pair()
        store = self.info("filter.store")
        self.assertEqual((store["addresses"], store["domain_entries"]), (2000, 1))
        self.assertEqual(self.info()["store_identity"], store["identity"])
        self.assertIn(store["identity"], self.check(0, "info", "filter")[0])
        self.assertIn(store["identity"], self.check(0, "info", "filter.store")[0])
        self.build("a@example.org")
        self.assertIsNone(self.info()["store_identity"])

    def test_options_that_exclude_a_store_are_refused_before_anything_is_written(self):
        arguments = ("build", "-o", "filter", self.write("list", "a@example.org\n"))
        for options in (("--store", "s", "--layout", "classic"), ("--store", "filter"), ("--store", "list")):
            self.check(EX_USAGE, *arguments, *options)
            self.assertEqual(self.names(), ["list"])
        self.check(EX_CANTCREAT, *arguments, "--store", "missing/s")
        self.assertEqual(self.names(), ["list"])

    def identities(self, *names):
        return [self.info(name)["identity"] for name in names]

    def test_a_store_is_an_input_beside_lists_and_other_stores(self):
        self.build_pair("whole", 3000, "--seed", "7", "--store-seed", "5")
        self.build_pair("part", 2000, "--seed", "7", "--store-seed", "5")
        rest = self.write("rest", users(range(1990, 3000)))
        self.check(0, "build", "-o", "rest.filter", "--store", "rest.store", "--store-seed", "5", rest)
        for i, inputs in enumerate((["whole.store"], ["part.store", rest], ["part.store", "rest.store"])):
            with self.subTest(inputs=inputs):
                report, _ = self.check(0, "build", "-o", f"{i}", "--store", f"{i}.store", "--seed", "7", "--json", *inputs)
                self.assertEqual(int(json.loads(report)["store_seed"], 16), 5)
                self.assertEqual(*self.identities("whole.store", f"{i}.store"))
                self.check(0, "verify", f"{i}", "--confirm", f"{i}.store")
                members = self.write("members", "".join(f"user{j}@example.org\n" for j in range(3000)))
                self.check(0, "query", f"{i}", "--confirm", f"{i}.store", "--count", "--list", members)
        # The same entries and seeds give the same bytes, whatever they came from.
        self.assertEqual(self.read("0"), self.read("whole"))
        self.check(0, "build", "-o", "alone", "whole.store")
        self.check(0, "query", "alone", "user0@example.org", "user2999@example.org", "x@partner.example")

    def test_stores_of_two_seeds_and_options_against_a_store_are_refused(self):
        self.build_pair("a", 10)
        self.build_pair("b", 10)
        self.build_pair("cased", 10, "--keep-case")
        before = self.names()
        _, errors = self.check(EX_USAGE, "build", "-o", "f", "a.store", "b.store")
        self.assertIn("with the same --store-seed", errors)
        for options in (("--store-seed", "1"), ("--keep-case",), ("--tag-separators", "+"), ("--hash", "murmur3"),
                        ("--layout", "classic"), ("--store", "a.store")):
            _, errors = self.check(EX_USAGE, "build", "-o", "f", *options, "a.store")
            self.assertIn("store", errors)
        self.check(EX_USAGE, "build", "-o", "a.store", "a.store")
        self.check(EX_USAGE, "build", "-o", "f", "--store-seed", "1", "list")
        self.assertEqual(self.names(), before)
        self.check(0, "build", "-o", "f", "--keep-case", "cased.store")  # as the store has it
        self.check(0, "query", "f", "user1@example.org")
        self.check(1, "query", "f", "User1@example.org")

    def test_addresses_but_not_whole_domains_are_left_out_of_a_store(self):
        self.build_pair("a", 10)
        report, _ = self.check(0, "build", "-o", "f", "--store", "f.store", "--json", "--leave-out",
                               self.write("except", "user3@example.org\n"), "a.store")
        self.assertEqual(json.loads(report)["excepted"], 1)
        self.check(1, "query", "f", "--confirm", "f.store", "user3@example.org")
        self.check(0, "query", "f", "--confirm", "f.store", "user4@example.org", "x@partner.example")
        _, errors = self.check(EX_USAGE, "build", "-o", "f", "--leave-out", self.write("except", "@example.org\n"), "a.store")
        self.assertIn("cannot be left out", errors)

    def test_a_damaged_store_is_refused_as_an_input(self):
        self.build_pair("a", 2000)
        size = len(self.read("a.store"))
        for offset in (60, 4096 + 100, size // 2, size - 1):
            self.flip("a.store", offset, 4)
            self.check(EX_DATAERR, "build", "-o", "f", "a.store")
            self.flip("a.store", offset, 4)
            self.assertNotIn("f", self.names())

    def test_a_build_killed_at_any_moment_leaves_a_pair(self):
        self.build_pair("filter", 1000)
        text = self.write("other-list", "".join(f"other{i}@example.org\n" for i in range(200_000)))
        for i in range(25):
            self.kill_after(0.004 * i, "build", "-o", "filter", "--store", "filter.store", text)
            self.check(0, "verify", "filter", "--confirm", "filter.store")


if __name__ == "__main__":
    main()
