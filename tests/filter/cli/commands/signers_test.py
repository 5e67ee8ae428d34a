"""Mailing lists, `list:HOST`, and entries with a signer, `ENTRY signed-by DOMAIN`, in every command."""
import json

from program import EX_DATAERR, EX_USAGE, MEANT, ProgramTest, main


class SignersTest(ProgramTest):
    LIST = (
        "joe@example.net\n"
        "@partner.example\n"
        "LIST:Announce.Lists.Example.org # a comment\n"
        "list:*.lists.example.org\n"
        "list:news.lists.example.com > ann@ours.example\n"
        "Billing <billing@Bank.example> SIGNED-BY Esp.example\n"
        "@shop.example signed-by esp.example\n"
        "list:a.example.com signed-by esp.example\n"
    )

    def query(self, status, *arguments):
        return self.check(status, "query", "filter", *arguments)[0].splitlines()

    WANT = {
        "List:announce.lists.EXAMPLE.org.": "listed\tlist:announce.lists.example.org",
        "list:users.lists.example.org": "listed\tlist:users.lists.example.org\tby list:*.lists.example.org",
        "list:*.lists.example.org": "listed\tlist:*.lists.example.org",
        "list:lists.example.org": "not-listed\tlist:lists.example.org",
        "list:news.lists.example.com": "not-listed\tlist:news.lists.example.com",
        "list:news.lists.example.com > ann@ours.example": "listed\tlist:news.lists.example.com > ann@ours.example",
        "list:news.lists.example.com > bob@ours.example": "not-listed\tlist:news.lists.example.com > bob@ours.example",
        "list:announce.lists.example.org > ann@ours.example":
            "listed\tlist:announce.lists.example.org > ann@ours.example\tby list:announce.lists.example.org",
        "list:users.lists.example.org > @ours.example":
            "listed\tlist:users.lists.example.org > @ours.example\tby list:*.lists.example.org",
        "BILLING@bank.example signed-by ESP.example.": "listed\tbilling@bank.example signed-by esp.example",
        "billing@bank.example": "not-listed\tbilling@bank.example",
        "billing@bank.example signed-by other.example": "not-listed\tbilling@bank.example signed-by other.example",
        "joe@shop.example signed-by esp.example": "listed\tjoe@shop.example signed-by esp.example\tby @shop.example signed-by esp.example",
        "joe@shop.example": "not-listed\tjoe@shop.example",
        "joe@example.net signed-by esp.example": "not-listed\tjoe@example.net signed-by esp.example",
        "list:a.example.com signed-by esp.example": "listed\tlist:a.example.com signed-by esp.example",
        "list:a.example.com": "not-listed\tlist:a.example.com",
        "joe@example.net > @ours.example": "listed\tjoe@example.net > @ours.example\tby joe@example.net",
        '"a signed-by b"@partner.example': 'listed\t"a signed-by b"@partner.example\tby @partner.example',
    }

    def test_an_answer_names_the_entry_that_lists_and_asks_for_each_signer_apart(self):
        _, err = self.build(self.LIST)
        self.assertEqual(err, "")
        want = list(self.WANT.values())
        self.assertEqual(self.query(1, *self.WANT), want)
        asked = self.write("asked", "\n".join(self.WANT) + "\nlist:a@example.org\njoe@example.net signed-by\n")
        self.assertEqual(self.query(1, "--list", asked)[:-2], want)
        listed = sum(line.startswith("listed") for line in want)
        out, _ = self.check(1, "query", "filter", "--count", "--list", asked)
        self.assertEqual(out, f"listed\t{listed}\nnot-listed\t{len(want) - listed}\nrejected\t2\n")

    def test_a_person_who_asks_for_a_sender_alone_is_told_how_to_ask_with_a_condition(self):
        by_signer = "with a signer: bloomgate query filter 'billing@bank.example signed-by DOMAIN'"
        for_one = "for one recipient: bloomgate query filter 'billing@bank.example > RECIPIENT'"
        for text, how in (("@a.example signed-by esp.example\n", by_signer), ("joe@a.example > ann@ours.example\n", for_one),
                          (self.LIST, by_signer + "; " + for_one), ("joe@example.net\n", "")):
            self.build(text)
            hint = f"hint: a sender may also be listed {how}\n" if how else ""
            with self.subTest(text=text):
                ask = ("query", "filter", "billing@bank.example", "x@bank.example")
                self.assertEqual(self.check(1, *ask)[1], hint)
                for option in "--quiet", "--json", "--count", "--listed":
                    self.assertEqual(self.check(1, *ask, option)[1], "")
        self.build(self.LIST)
        for answered in ("joe@example.net", 0), ("x@bank.example SIGNED-BY a.example", 1), ("x@bank.example > ann@ours.example", 1), ("x", 1):
            self.assertEqual(self.check(answered[1], "query", "filter", answered[0])[1], "")

    def test_a_question_with_an_invalid_signer_is_not_answered_without_it(self):
        self.build(self.LIST)
        for text in ("joe@example.net signed-by", "joe@example.net signed-by news@esp.example", "list:joe@example.net",
                     "joe@example.net signed-by a.example b.example", "joe@example.net > ann@ours.example signed-by a.example"):
            with self.subTest(text=text):
                self.assertRegex(self.query(1, text)[0], "^not-listed\t-\t(empty-domain|bad-domain-character|trailing-text): ")
        # In a list it is a comment, and on the command line an address.
        self.assertEqual(self.query(0, "#a@shop.example signed-by esp.example"),
                         ["listed\t#a@shop.example signed-by esp.example\tby @shop.example signed-by esp.example"])

    def test_verify_finds_each_entry_by_itself_and_names_the_missing_ones(self):
        self.build(self.LIST)
        out, _ = self.check(0, "verify", "filter", "--against", str(self.folder / "list"))
        self.assertIn("found      8 entries of the lists\nmissing    0\n", out)
        missing = self.write("missing", "list:users.lists.example.org\njoe@shop.example signed-by esp.example\n"
                                        "list:announce.lists.example.org > ann@ours.example\n")
        _, err = self.check(1, "verify", "filter", "--against", missing)
        for number, line in enumerate(("list:users.lists.example.org", "joe@shop.example signed-by esp.example",
                                       "list:announce.lists.example.org > ann@ours.example"), 1):
            self.assertIn(f"missing:{number}: not in the filter: {line}\n", err)

    def test_reports_mention_signers_only_if_there_are_any(self):
        out, _ = self.build(self.LIST)
        self.assertIn("\nsigners   there are entries with signed-by, kept exactly\n", out)
        self.assertIn("\nsigners          there are entries with signed-by, kept exactly\n", self.check(0, "info", "filter")[0])
        report = json.loads(self.build(self.LIST, "--json")[0])
        self.assertEqual((report["signers"], report["addresses"], report["domain_entries"]), (True, 1, 7))
        self.assertTrue(self.info()["signers"])
        self.assertNotIn("signers", self.build("list:a.example\n")[0] + self.check(0, "info", "filter")[0])
        self.assertFalse(self.info()["signers"])

    def test_a_bad_line_is_rejected_with_its_place_and_the_reason(self):
        lines = ("list:a@example.org\njoe@example.org > list:a.example\njoe@example.org signed-by\n"
                 "joe@example.org signed-by [192.0.2.1]\njoe@example.org signed-by a.example b.example\n"
                 "list:*." + "a." * 16 + "org\nx@example.org > y@example.org signed-by a.example\n")
        _, err = self.build(lines)
        for number, reason in enumerate(("bad-domain-character", "missing-at-sign", "empty-domain", "bad-domain-character",
                                         "trailing-text", "too-many-labels", "trailing-text"), 1):
            self.assertIn(f"list:{number}: {reason}: ", err)
        self.check(EX_DATAERR, "build", "--strict", "-o", "filter", str(self.folder / "list"))

    def test_except_leaves_out_the_entries_with_a_signer_of_whom_it_names(self):
        gone = self.write("gone", "billing@bank.example\n@.shop.example\nlist:*.lists.example.org\nlist:news.lists.example.com\n")
        out, _ = self.build(self.LIST, "--leave-out", gone)
        self.assertIn("excepted  5 entries left out\n", out)
        self.assertEqual(self.answers("filter", "billing@bank.example signed-by esp.example", "joe@shop.example signed-by esp.example",
                                      "list:announce.lists.example.org", "list:news.lists.example.com > ann@ours.example"),
                         ["not-listed"] * 4)
        self.query(0, "list:a.example.com signed-by esp.example", "joe@example.net")

    def test_except_refuses_a_store_whose_signers_it_cannot_see(self):
        self.build("joe@example.net\njoe@example.net signed-by esp.example\n", "--store", "store")
        gone = self.write("gone", "joe@example.net\n")
        _, err = self.check(EX_USAGE, "build", "-o", "other", "--leave-out", gone, "store")
        self.assertIn("is a store with signers, and has no addresses", err)
        self.assertNotIn("other", self.names())
        self.build("joe@example.net\n", "--store", "store")
        self.check(0, "build", "-o", "other", "--leave-out", gone, *MEANT, "store")

    def test_a_known_stranger_may_be_an_entry_with_a_signer_of_which_build_warns(self):
        known = self.write("known", "spam@shop.example\n@shop.example signed-by esp.example\nlist:users.lists.example.org\n")
        _, err = self.build(self.LIST, "--never-match", known)
        self.assertEqual(err, f"{known}:2: warning: @shop.example signed-by esp.example is an entry, and stays listed\n")
        self.query(0, "spam@shop.example signed-by esp.example")

    def test_an_update_adds_and_removes_them_in_a_store_and_in_counters(self):
        add = self.write("add", "list:new.example\n@new.example signed-by esp.example\n")
        gone = self.write("remove", "list:*.lists.example.org\n@shop.example signed-by esp.example\nlist:never.example\n")
        self.build(self.LIST, "--store", "store")
        self.check(0, "update-store", "--store", "store", "-o", "filter", "--add", add, "--remove", gone)
        asked = ("list:new.example", "joe@new.example signed-by esp.example", "list:users.lists.example.org",
                 "joe@shop.example signed-by esp.example", "list:announce.lists.example.org", "billing@bank.example signed-by esp.example")
        want = ["listed", "listed", "not-listed", "not-listed", "listed", "listed"]
        self.assertEqual(self.answers("filter", *asked), want)
        self.assertEqual(self.answers("filter", "--confirm", "store", *asked), want)
        self.assertTrue(self.info("store")["signers"])
        self.assertIn("\nsigners          there are entries with signed-by", self.check(0, "info", "store")[0])
        self.check(0, "build", "-o", "again", "store")
        self.assertEqual(self.answers("again", *asked), want)
        self.assertTrue(self.info("again")["signers"])
        self.build(self.LIST, "--layout", "counting", "--expected-entries", "100")
        self.check(0, "counting-add", "filter", add)
        _, err = self.check(0, "counting-remove", "filter", gone)
        self.assertIn("remove:3: not-there: ", err)
        self.assertEqual(self.answers("filter", *asked), want)
        self.check(0, "counting-export", "filter", "-o", "exported")
        self.assertEqual(self.answers("exported", *asked), want)

    def test_merged_filters_and_layers_have_the_entries_of_each(self):
        for name, text in ("a", "list:a.example\n"), ("b", "@b.example signed-by esp.example\njoe@example.org\n"):
            self.check(0, "build", "-o", name, "--seed", "1", "--expected-entries", "100", self.write(name + ".txt", text))
        self.check(0, "merge", "-o", "merged", "a", "b")
        self.assertTrue(self.info("merged")["signers"])
        self.check(0, "query", "merged", "list:a.example", "joe@b.example signed-by esp.example", "joe@example.org")
        self.check(0, "intersect", "-o", "common", "a", "b")
        self.assertFalse(self.info("common")["signers"])
        self.check(1, "query", "common", "list:a.example")
        for name in "a.txt", "b.txt":
            self.check(0, "add-layer", "folder", name)
        out = self.check(0, "query", "folder", "list:a.example", "joe@b.example signed-by esp.example")[0]
        self.assertEqual(out, "listed\tlist:a.example\n"
                              "listed\tjoe@b.example signed-by esp.example\tby @b.example signed-by esp.example\n")

    def test_a_column_of_a_table_holds_them_and_a_postfix_table_does_not(self):
        table = self.write("table", "list,user\nlist:a.example,ann@ours.example\njoe@example.org signed-by esp.example,x@ours.example\n")
        self.check(0, "build", "-o", "filter", "--format", "csv:list", table)
        self.query(0, "list:a.example", "joe@example.org signed-by esp.example")
        _, err = self.check(0, "build", "-o", "filter", "--format", "csv:list,user", *MEANT, table)
        self.assertIn("table:3: trailing-text: ", err)
        self.query(0, "list:a.example > ann@ours.example")
        postfix = self.write("postfix", "list:a.example OK\njoe@example.org signed-by esp.example\nexample.net OK\n")
        _, err = self.check(0, "build", "-o", "filter", "--format", "postfix-map", *MEANT, postfix)
        self.assertIn("postfix:1: bad-domain-character: ", err)
        self.assertIn("postfix:2: map-unknown-value: ", err)
        self.assertEqual(self.info()["entries"], 1)


if __name__ == "__main__":
    main()
