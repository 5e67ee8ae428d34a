"""`bloomgate merge`, `intersect` and `compare`."""
import json

from program import EX_DATAERR, EX_USAGE, ProgramTest, main, users


class CombineTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make("a", range(0, 60_000), "@a.example\n@.both.example\n")
        self.make("b", range(40_000, 100_000), "@b.example\n@.both.example\n")

    def make(self, name, numbers, domains="", options=("--seed", "1", "--expected-entries", "100000")):
        self.write("list", users(numbers) + domains)
        self.check(0, "build", "-o", name, *options, "list")

    def test_a_merge_is_what_a_build_from_both_lists_gives(self):
        self.check(0, "merge", "-o", "merged", "a", "b")
        # Built with each entry of the overlap twice, as it was inserted twice.
        self.make("both", [*range(0, 60_000), *range(40_000, 100_000)], "@a.example\n@b.example\n@.both.example\n")
        self.assertEqual(self.read("merged"), self.read("both"))
        self.check(0, "verify", "merged")

    def test_a_union_has_the_domains_of_its_senders_if_all_filters_have_them(self):
        out, err = self.check(0, "merge", "-o", "merged", "a", "b")
        self.assertIn("\nsenders   at 1 domain, 16 bytes; ", out)
        self.assertEqual(err, "")
        self.make("old", range(40_000, 100_000), options=("--seed", "1", "--expected-entries", "100000", "--no-sender-domains"))
        out, err = self.check(0, "merge", "-o", "merged", "a", "old")
        self.assertNotIn("\nsenders ", out)
        self.assertIn("warning: not all filters have the domains of their senders", err)
        self.check(0, "verify", "merged", "--against", "list")

    def test_an_intersection_lists_the_common_entries_and_few_others(self):
        self.check(0, "intersect", "-o", "common", "a", "b")
        self.check(0, "verify", "common")
        common = self.write("common.txt", users(range(40_000, 60_000)) + "@.both.example\n")
        self.assertRegex(self.check(0, "verify", "common", "--against", common)[0], r"(?m)^found +20,001 ")
        self.assertEqual(self.info("common")["domain_entries"], 1)
        only_a = users(range(0, 40_000))
        out, _ = self.check(1, "query", "common", "-", stdin=only_a.encode())
        self.assertLess(out.count("\nlisted"), 40_000 * 0.01)

    def test_a_comparison_estimates_the_overlap(self):
        estimate = json.loads(self.check(0, "compare", "a", "b", "--json")[0])
        for name, want in (("a", 60_000), ("b", 60_000), ("either", 100_000), ("both", 20_000)):
            self.assertAlmostEqual(estimate[name], want, delta=800, msg=name)
        self.assertEqual(estimate["domain_entries"], {"a": 2, "b": 2, "either": 3, "both": 1})
        self.assertRegex(self.check(0, "compare", "a", "b")[0],
                         r"(?m)^in both: (19|20),\d\d\d addresses, 1 domain entry$")

    def test_the_result_may_replace_one_of_the_filters(self):
        self.check(0, "merge", "-o", "a", "a", "b")
        self.check(0, "query", "a", "user1@example.org", "user99999@example.org")

    def test_filters_of_different_shape_are_refused_with_the_difference(self):
        self.make("other", range(10), options=("--seed", "1", "--expected-entries", "100000", "--tag-separators=+"))
        for arguments in (["merge", "-o", "out"], ["intersect", "-o", "out"], ["compare"]):
            _, err = self.check(EX_USAGE, *arguments, "a", "other")
            self.assertIn("tag separators (none and '+')", err)
        self.assertNotIn("out", self.names())

    def test_a_damaged_filter_is_not_merged(self):
        self.flip("b", 5000)
        self.check(EX_DATAERR, "merge", "-o", "out", "a", "b")
        self.assertNotIn("out", self.names())


if __name__ == "__main__":
    main()
