"""Entries for one recipient only, `sender > recipient`, in every command."""
import json
import re

from program import EX_DATAERR, EX_USAGE, ProgramTest, main, users


class PairsTest(ProgramTest):
    LIST = (
        "joe@example.net\n"
        "@partner.example\n"
        "Joe@Example.org > Ann <ann@ours.example> # a comment\n"
        "@example.org > ann@ours.example\n"
        "joe@example.org > @ours.example\n"
    )

    def query(self, status, *arguments):
        return self.check(status, "query", "filter", *arguments)[0].splitlines()

    def test_a_pair_without_spaces_is_named(self):
        for line, hint in (("joe@example.com>ann@example.net", True), ("joe@example.com>", False), ("ann.example.net>joe@example.com>", False)):
            self.build(users(range(20)) + line + "\n")
            said = self.check(0, "build", "-o", "filter", "list")[1]
            self.assertEqual("list:21: unbalanced-brackets: one of the two angle brackets around the address is missing; "
                             "a pair has a space on both sides of its '>'" in said, hint, said)

    def test_every_report_has_the_rate_of_two_look_ups_for_a_sender_and_its_recipient(self):
        pairs = self.write("pairs", "".join(f"user{i}@example.org > ann@ours.example\n" for i in range(1000)))
        more = self.write("more", "jim@example.org > ann@ours.example\n")
        reports = [
            json.loads(self.check(0, "build", "-o", "filter", "--store", "store", "--json", pairs)[0]), self.info(),
            json.loads(self.check(0, "update-store", "-o", "filter", "--store", "store", "--add", more, "--json")[0]),
        ]
        self.check(0, "build", "-o", "counting", "--layout", "counting", pairs)
        reports.append(json.loads(self.check(0, "counting-add", "counting", "--json", more)[0]))
        reports.append(json.loads(self.check(0, "counting-export", "counting", "-o", "exported", "--json")[0]))
        for report in reports:
            fpr = report["fpr"]
            self.assertAlmostEqual(report["fpr_either"] / (1 - (1 - fpr) ** 4), 1, places=6)
            self.assertAlmostEqual(report["fpr_both"] / (1 - (1 - fpr) ** 2), 1, places=6)
        merged = self.check(0, "merge", "-o", "merged", "exported", "exported")[0]
        self.assertEqual(re.search(r"(?m)^messages +(.*)$", merged)[1],
                         re.search(r"(?m)^messages +(.*)$", self.check(0, "info", "merged")[0])[1])

    def test_filters_with_pairs_are_compared(self):
        both = "joe@example.org > ann@ours.example\n@example.net > ann@ours.example\n"
        for name, more in (("a", "jim@example.org > ann@ours.example\n"), ("b", "@example.com > ann@ours.example\n")):
            self.check(0, "build", "-o", name, "--seed", "1", "--expected-entries", "100", self.write(name + ".txt", both + more))
        out = self.check(0, "compare", "a", "b")[0]
        self.assertIn("in a: 2 addresses, 1 domain entry\nin b: 1 address, 2 domain entries\n"
                      "in either: 2 addresses, 2 domain entries\nin both: 1 address, 1 domain entry\n", out)
        self.assertIn("(addresses and pairs of them are estimated from the fill; domain entries and pairs with one are counted)", out)

    def test_a_pair_lists_a_sender_for_one_recipient_and_an_address_for_all(self):
        out, err = self.build(self.LIST)
        self.assertEqual(err, "")
        self.assertIn("pairs     up to 1 in the bits, and others with a domain, kept exactly\n", out)
        want = {
            "JOE@example.org > ann@ours.example.": "listed\tjoe@example.org > ann@ours.example",
            "joe@example.org > bob@ours.example": "listed\tjoe@example.org > bob@ours.example\tby joe@example.org > @ours.example",
            "jim@example.org > ann@ours.example": "listed\tjim@example.org > ann@ours.example\tby @example.org > ann@ours.example",
            "joe@example.net > bob@ours.example": "listed\tjoe@example.net > bob@ours.example\tby joe@example.net",
            "jim@partner.example > bob@ours.example": "listed\tjim@partner.example > bob@ours.example\tby @partner.example",
            "joe@example.org > @ours.example": "listed\tjoe@example.org > @ours.example",
            "jim@example.org > bob@ours.example": "not-listed\tjim@example.org > bob@ours.example",
            "joe@example.org": "not-listed\tjoe@example.org",
            "@example.org": "not-listed\t@example.org",
            "@example.org > @ours.example": "not-listed\t@example.org > @ours.example",
        }
        self.assertEqual(self.query(1, *want), list(want.values()))
        asked = self.write("asked", "\n".join(want) + "\n# a > b\njoe@example.org > nobody\n")
        self.assertEqual(self.query(1, "--list", asked)[:-1], list(want.values()))
        # In a list it is a comment, and on the command line an address.
        self.assertIn("listed\t#a@example.org > ann@ours.example\tby @example.org > ann@ours.example",
                      self.query(0, "#a@example.org > ann@ours.example"))
        out, _ = self.check(1, "query", "filter", "--count", "--list", asked)
        self.assertEqual(out, "listed\t6\nnot-listed\t4\nrejected\t1\n")
        out, _ = self.check(0, "verify", "filter", "--against", str(self.folder / "list"))
        self.assertIn("found      5 entries of the lists\nmissing    0\n", out)
        missing = self.write("missing", "jim@example.org > bob@ours.example\n@example.org > bob@ours.example\n")
        _, err = self.check(1, "verify", "filter", "--against", missing)
        self.assertIn("missing:1: not in the filter: jim@example.org > bob@ours.example\n", err)
        self.assertIn("missing:2: not in the filter: @example.org > bob@ours.example\n", err)

    def test_a_queried_pair_counts_as_listed_if_its_sender_is_listed_for_all(self):
        self.build("joe@example.net\nann@example.net > bob@ours.example\n")
        asked = self.write("asked", "joe@example.net > bob@ours.example\nann@example.net > eve@ours.example\n"
                                    "joe@example.net > @ours.example\nann@example.net > @ours.example\n@example.net > @ours.example\n")
        out, _ = self.check(1, "query", "filter", "--count", "--list", asked)
        self.assertEqual(out, "listed\t2\nnot-listed\t3\nrejected\t0\n")
        self.assertEqual(self.answers("filter", "--list", asked), ["listed", "not-listed"] * 2 + ["not-listed"])

    def test_info_and_reports_mention_pairs_only_if_there_are_any(self):
        report = json.loads(self.build(self.LIST, "--json")[0])
        self.assertEqual(report["pairs"], {"in_bits": 1, "with_domains": True})
        self.assertIn("\npairs            up to 1 in the bits, and others", self.check(0, "info", "filter")[0])
        self.assertEqual(self.info()["pairs"], report["pairs"])
        self.assertNotIn("pairs", self.build("joe@example.org\n")[0] + self.check(0, "info", "filter")[0])

    def test_a_bad_pair_is_rejected_with_its_place_and_the_right_form(self):
        lines = "joe@example.org > \nanna > bob@ours.example\n@" + "a." * 16 + "org > bob@ours.example\nx@example.org > # x\n"
        _, err = self.build(lines)
        self.assertIn("list:1: trailing-text: ", err)
        self.assertIn("list:2: missing-at-sign: ", err)
        self.assertIn("list:3: too-many-labels: ", err)
        self.assertIn("list:4: incomplete-pair: the pair has no sender or no recipient; it is written sender > recipient", err)
        self.check(EX_DATAERR, "build", "--strict", "-o", "filter", str(self.folder / "list"))

    def test_two_columns_of_a_table_give_pairs(self):
        table = self.write("table", "user,contact\nann@ours.example,joe@example.org\n")
        self.check(0, "build", "-o", "filter", "--format", "csv:contact,user", table)
        self.assertEqual(self.query(0, "joe@example.org > ann@ours.example"), ["listed\tjoe@example.org > ann@ours.example"])

    def test_a_pair_for_a_whole_free_mail_domain_is_shown_as_broad(self):
        free = self.write("free", "free.example\n")
        _, err = self.build("@free.example > ann@ours.example\nann@x.example > @free.example\n", "--free-mail-domains", free)
        self.assertIn("list:1: warning: @free.example > ann@ours.example is a free-mail domain", err)
        self.assertNotIn("list:2", err)

    def test_pairs_can_be_left_out_by_except_and_by_not(self):
        gone = self.write("gone", "joe@example.org > ann@ours.example\nspam@example.com\n@.evil.example\n")
        text = self.LIST + "spam@example.com > ann@ours.example\nx@a.evil.example > ann@ours.example\n"
        out, _ = self.build(text, "--leave-out", gone)
        self.assertIn("excepted  3 entries left out\n", out)
        self.assertEqual(self.query(1, "spam@example.com > ann@ours.example", "x@a.evil.example > ann@ours.example"),
                         ["not-listed\tspam@example.com > ann@ours.example", "not-listed\tx@a.evil.example > ann@ours.example"])
        strangers = "".join(f"spam{i}@evil.example > ann@ours.example\n" for i in range(2000))
        known = self.write("known", strangers + "joe@example.org > ann@ours.example\n")
        out, err = self.build(self.LIST, "--bits-per-entry", "1", "--hashes", "1", "--layout", "line", "--seed", "1", "--never-match", known,
                              "--no-sender-domains")
        self.assertIn("known:2001: warning: joe@example.org > ann@ours.example is an entry, and stays listed", err)
        answers = self.query(1, "--list", self.write("spam", strangers))
        self.assertEqual(len(answers), 2000)
        # The sender alone may be a false positive, which --never-match says nothing about.
        self.assertFalse([line for line in answers if line.startswith("listed") and "\tby spam" not in line])
        self.assertTrue([line for line in answers if line.endswith("\texcluded")])

    def test_a_store_confirms_pairs_is_an_input_and_is_updated(self):
        self.build(self.LIST, "--store", "store", "--store-seed", "1")
        self.assertIn("\npairs            up to 1 in the bits, and others", self.check(0, "info", "store")[0])
        asked = ("joe@example.org > ann@ours.example", "joe@example.net > bob@ours.example", "jim@example.com > ann@ours.example")
        self.assertEqual(self.answers("filter", "--confirm", "store", *asked), ["listed", "listed", "not-listed"])
        self.check(0, "build", "-o", "other", "store")
        self.assertEqual(self.info("other")["pairs"], {"in_bits": 1, "with_domains": True})
        gone = self.write("gone", "joe@example.org\n")
        _, err = self.check(EX_USAGE, "build", "-o", "other", "--leave-out", gone, "store")
        self.assertIn("is a store with pairs", err)
        pair = self.write("pair", "joe@example.org > ann@ours.example\njoe@example.org > @ours.example\n")
        self.check(0, "update-store", "--store", "store", "--output", "filter", "--remove", pair,
                   "--add", self.write("new", "jim@example.com > ann@ours.example\n"))
        self.assertEqual(self.answers("filter", "--confirm", "store", *asked), ["listed"] * 3)

    def test_pairs_can_be_added_to_counting_filters_and_removed(self):
        self.build(self.LIST, "--layout", "counting", "--expected-entries", "100")
        more = self.write("more", "jim@example.com > bob@ours.example\n@example.com > eve@ours.example\n")
        self.check(0, "counting-add", "filter", more)
        self.check(0, "counting-export", "filter", "-o", "exported")
        out, _ = self.check(0, "query", "exported", "jim@example.com > bob@ours.example", "x@example.com > eve@ours.example")
        self.assertEqual(out.count("listed\t"), 2)
        out, err = self.check(0, "counting-remove", "filter", more, self.write("none", "no@example.com > no@ours.example\n"))
        self.assertIn("none:1: not-there: ", err)
        self.check(0, "counting-export", "filter", "-o", "exported")
        self.check(1, "query", "exported", "jim@example.com > bob@ours.example", "x@example.com > eve@ours.example")


if __name__ == "__main__":
    main()
