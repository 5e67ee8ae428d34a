"""The lists of other programs become a list: `bloomgate import`."""
import json

from program import EX_CANTCREAT, EX_DATAERR, EX_NOINPUT, EX_USAGE, ProgramTest, main

LOCAL_CF = ("# ours\nwelcomelist_from joe@example.org *@example.net\nwelcomelist_auth *@*.shop.example\n"
            "welcomelist_from_dkim *@esp.example signer.example\nwelcomelist_from eve*@evil.example\nwelcomelist_from joe@example.org\n")


class ImportTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("local.cf", LOCAL_CF)
        self.write("map", "bank.example\nevil.example bl:3\n")

    def test_the_list_builds_a_filter_that_lists_what_the_other_program_lists(self):
        out, _ = self.check(0, "import", "-o", "list", "local.cf")
        self.assertIn("entries   4\n", out)
        self.assertIn("1: a wildcard within the part before the '@'\n", out)
        self.check(0, "import", "--from", "rspamd", "-o", "list2", "map", "--quiet")
        self.check(0, "build", "-o", "filter", "list", "list2", "--quiet")
        listed = {"joe@example.org": True, "x@example.net": True, "x@a.shop.example": True, "x@bank.example": True,
                  "x@mail.bank.example": True, "eve1@evil.example": False, "x@evil.example": False, "x@esp.example": False}
        for sender, want in listed.items():
            with self.subTest(sender):
                out, _ = self.check(0 if want else 1, "query", "filter", sender)
        self.check(0, "query", "filter", "@esp.example signed-by signer.example")

    def test_the_list_says_what_was_left_out_and_what_means_more(self):
        out, err = self.check(0, "import", "local.cf", "--quiet")
        self.assertEqual(err, "")
        self.assertEqual(out.splitlines()[:-1], [
            "# From local.cf, of spamassassin", "joe@example.org", "@example.net",
            "# line 3, *@*.shop.example: this also lists the domain itself", "@.shop.example", "@esp.example signed-by signer.example",
            "# Left out: line 5, eve*@evil.example: a wildcard within the part before the '@'"])

    def test_what_one_file_blocks_no_other_file_lists(self):
        self.write("more.cf", "blocklist_from eve@example.net eve@*\n")
        out, _ = self.check(0, "import", "local.cf", "more.cf", "--quiet")
        self.assertEqual([line for line in out.splitlines() if not line.startswith("#")],
                         ["joe@example.org", "@.shop.example", "@esp.example signed-by signer.example"])
        self.assertIn("# Left out: local.cf, line 2, *@example.net: it may also list a sender that is blocked", out)
        self.assertIn("# Take care: entries below may list senders of more.cf, line 1, eve@*: a blocked sender", out)
        report = json.loads(self.check(0, "import", "-o", "list", "local.cf", "more.cf", "--json")[0])
        self.assertEqual([each["item"] for each in report["left_out"] if each["may_block_entries"]], ["eve@*"])
        self.assertIn("take care 1 line blocks", self.check(0, "import", "-o", "list", "local.cf", "more.cf")[0])

    def test_a_hostile_item_stays_a_comment(self):
        self.write("hostile.cf", "welcomelist_from *a\x1b[31m\vjoe@example.org x*\x85@example.org\nwelcomelist_from ok@example.org\n")
        out, _ = self.check(0, "import", "hostile.cf", "--quiet")
        self.assertEqual([line for line in out.splitlines() if not line.startswith("#")], ["joe@example.org", "ok@example.org"])
        self.assertTrue(out.isascii() and out.isprintable() is False and "\x1b" not in out)

    def test_json_has_the_figures_and_what_was_left_out(self):
        report = json.loads(self.check(0, "import", "-o", "list", "local.cf", "--json")[0])
        self.assertEqual({name: report[name] for name in ("entries", "with_domain", "with_below", "narrower", "unproven")},
                         {"entries": 4, "with_domain": 1, "with_below": 0, "narrower": 0, "unproven": 2})
        self.assertEqual([(each["path"], each["line"], each["item"]) for each in report["left_out"]],
                         [("local.cf", 5, "eve*@evil.example")])

    def test_nothing_is_written_where_a_list_cannot_be_taken_over(self):
        self.write("none.cf", "score X 1\nblocklist_from eve@evil.example\n")
        for status, arguments, words in ((EX_USAGE, ["map"], "--from"), (EX_USAGE, ["--from", "sendmail", "map"], "sendmail"),
                                         (EX_NOINPUT, ["missing"], "missing"), (EX_USAGE, [], "at least one"),
                                         (EX_DATAERR, ["none.cf"], "blocked sender")):
            with self.subTest(arguments):
                self.assertIn(words, self.check(status, "import", "-o", "list", *arguments)[1])
                self.assertNotIn("list", self.names())
        self.check(EX_USAGE, "import", "local.cf", "--json")

    def test_a_file_that_is_none_of_its_own_is_not_replaced(self):
        before = self.read("local.cf")
        self.assertIn("remove that file first", self.check(EX_CANTCREAT, "import", "-o", "local.cf", "local.cf")[1])
        self.assertEqual(self.read("local.cf"), before)
        self.write("list", "")
        for _ in range(2):
            self.check(0, "import", "-o", "list", "local.cf", "--quiet")
        for place in (0, 1, 2):
            lines = self.read("list").decode().splitlines(keepends=True)
            lines.insert(place or len(lines), "@mine.example\n")
            self.write("edited", "".join(lines))
            self.assertIn("was edited", self.check(EX_CANTCREAT, "import", "-o", "edited", "local.cf")[1])
        self.assertIn("list is the list of spamassassin", self.check(EX_CANTCREAT, "import", "--from", "rspamd", "-o", "list", "map")[1])
        self.assertIn("is not a file", self.check(EX_CANTCREAT, "import", "-o", "/dev/stdout", "local.cf")[1])
        out, _ = self.check(0, "import", "-o", "-", "local.cf", "--quiet")
        self.assertIn("joe@example.org\n", out)
        self.assertNotIn("-", self.names())

    def test_a_list_of_amavis_that_was_cut_off_is_refused(self):
        self.write("whole", "amavis\twhite\t.\texample.org\t1\namavis\tblack\t.\teve@evil.example\t1\namavis\tend\t2\n")
        self.write("cut", "amavis\twhite\t.\texample.org\t1\n")
        self.check(0, "import", "-o", "list", "whole", "--quiet")
        self.assertIn("cut off", self.check(EX_DATAERR, "import", "-o", "none", "cut")[1])
        self.assertNotIn("none", self.names())

    def test_a_list_comes_from_standard_input(self):
        done = self.run_program("import", "--from", "exim", "-", "--quiet", stdin=b"joe@example.org\n")
        self.assertRegex(done.stdout, rb"^# From standard input, of exim\njoe@example.org\n# End. Checksum: [0-9a-f]{32}\n$")


if __name__ == "__main__":
    main()
