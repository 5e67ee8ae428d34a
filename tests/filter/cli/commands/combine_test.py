"""`bloomgate merge`, `intersect` and `compare`."""
import json

from program import EX_DATAERR, EX_USAGE, ProgramTest, main, users


class CombineTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make("a", range(0, 60_000))
        self.make("b", range(40_000, 100_000))

    def make(self, name, numbers, *options):
        options = options or ("--seed", "1", "--expected-entries", "100000")
        self.write("list", users(numbers))
        self.check(0, "build", "-o", name, *options, "list")

    def test_a_merge_is_what_a_build_from_both_lists_gives(self):
        self.check(0, "merge", "-o", "merged", "a", "b")
        # Built with each entry of the overlap twice, as it was inserted twice.
        self.make("both", [*range(0, 60_000), *range(40_000, 100_000)])
        self.assertEqual(self.read("merged"), self.read("both"))
        self.check(0, "verify", "merged")

    def test_an_intersection_lists_the_common_entries_and_few_others(self):
        self.check(0, "intersect", "-o", "common", "a", "b")
        self.check(0, "verify", "common")
        common = self.write("common.txt", users(range(40_000, 60_000)))
        self.assertRegex(self.check(0, "verify", "common", "--against", common)[0], r"(?m)^found +20,000 ")
        only_a = users(range(0, 40_000))
        out, _ = self.check(1, "query", "common", "-", stdin=only_a.encode())
        self.assertLess(out.count("\nlisted"), 40_000 * 0.01)

    def test_a_comparison_estimates_the_overlap(self):
        estimate = json.loads(self.check(0, "compare", "a", "b", "--json")[0])
        for name, want in (("a", 60_000), ("b", 60_000), ("either", 100_000), ("both", 20_000)):
            self.assertAlmostEqual(estimate[name], want, delta=800, msg=name)
        self.assertRegex(
            self.check(0, "compare", "a", "b")[0], r"(?m)^in both: (19|20),\d\d\d addresses, 0 domain entries$"
        )

    def test_domain_entries_are_combined_and_compared_exactly(self):
        options = ("--seed", "1", "--expected-entries", "1000")
        domains = {"a": range(0, 3000), "b": range(1000, 5000), "c": range(2000, 9000), "none": ()}
        for name, numbers in domains.items():
            lines = [f"user{i}@example.org\n" for i in range(500)] + [f"@.{i}.example\n" for i in numbers]
            self.write(f"{name}.txt", "".join(lines))
            self.check(0, "build", "-o", name, *options, f"{name}.txt")
        self.check(0, "merge", "-o", "merged", "a", "b", "c", "none")
        self.check(0, "build", "-o", "all", *options, "a.txt", "b.txt", "c.txt", "none.txt")
        self.assertEqual(self.read("merged"), self.read("all"))
        self.check(0, "intersect", "-o", "common", "a", "b", "c")
        self.check(0, "verify", "common", "--against", self.write("want", "".join(f"@.{i}.example\n" for i in range(2000, 3000))))
        self.assertEqual(self.info("common")["domain_entries"], 1000)
        self.check(1, "query", "common", "x@1999.example")
        self.check(0, "intersect", "-o", "common", "a", "none")
        self.assertEqual(self.info("common")["domain_entries"], 0)
        overlap = json.loads(self.check(0, "compare", "a", "b", "--json")[0])
        self.assertEqual(overlap["domain_entries"], {"a": 3000, "b": 4000, "either": 5000, "both": 2000})

    def test_the_result_may_replace_one_of_the_filters(self):
        self.check(0, "merge", "-o", "a", "a", "b")
        self.check(0, "query", "a", "user1@example.org", "user99999@example.org")

    def test_filters_of_different_shape_are_refused_with_the_difference(self):
        cases = {
            "seed": ("--seed", "2", "--expected-entries", "100000"),
            "number of blocks": ("--seed", "1", "--expected-entries", "200000"),
            "number of hashes": ("--seed", "1", "--expected-entries", "100000", "--hashes", "5"),
            "case of local parts": ("--seed", "1", "--expected-entries", "100000", "--keep-case"),
            "tag separators (none and '+')": ("--seed", "1", "--expected-entries", "100000", "--tag-separators=+"),
        }
        for difference, options in cases.items():
            with self.subTest(difference=difference):
                self.make("other", range(10), *options)
                for arguments in (["merge", "-o", "out", "a", "other"], ["intersect", "-o", "out", "a", "other"],
                                  ["compare", "a", "other"]):
                    _, err = self.check(EX_USAGE, *arguments)
                    self.assertIn(difference, err)
        self.assertNotIn("out", self.names())

    def test_a_damaged_filter_is_not_merged(self):
        self.flip("b", 5000)
        self.check(EX_DATAERR, "merge", "-o", "out", "a", "b")
        self.assertNotIn("out", self.names())


if __name__ == "__main__":
    main()
