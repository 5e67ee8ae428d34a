"""`bloomgate counting-add`, `remove` and `export`, of filters with `--layout counting`."""
import json
import random
import time

from program import EX_DATAERR, EX_NOINPUT, EX_USAGE, KILLS, ProgramTest, main, users


class CountingTest(ProgramTest):
    """--layout counting: add, remove and export."""

    SEED = ("--seed", "1", "--expected-entries", "20000")

    def setUp(self):
        super().setUp()
        self.build(users(range(10_000)) + "@partner.example\n", "--layout", "counting", *self.SEED)

    def change(self, command, text, *options):
        return json.loads(self.check(0, command, "filter", self.write("changes", text), "--json", *options)[0])

    def check_export(self, text):
        """The export is the file that a build makes of those lines."""
        self.check(0, "counting-export", "filter", "-o", "export", "--quiet")
        self.check(0, "build", "-o", "want", *self.SEED, self.write("all", text))
        self.assertEqual(self.read("export"), self.read("want"))

    def test_an_export_after_changes_is_the_filter_that_a_build_makes(self):
        self.check_export(users(range(10_000)) + "@partner.example\n")
        report = self.change("add", users(range(10_000, 12_000)) + "@.new.example\n@partner.example\n")
        self.assertEqual((report["added"], report["domains_there"], report["domain_entries"]), (2001, 1, 2))
        self.check_export(users(range(12_000)) + "@partner.example\n@.new.example\n")
        report = self.change("remove", users(range(5_000)) + "@partner.example\n")
        self.assertEqual((report["removed"], report["not_there"], report["entries"]), (5001, 0, 7001))
        self.check_export(users(range(5_000, 12_000)) + "@.new.example\n")
        self.check(0, "verify", "filter", "--against", self.write("rest", users(range(5_000, 12_000))))
        self.check(0, "query", "filter", "user7000@example.org", "ann@a.new.example")
        self.check(1, "query", "filter", "ann@partner.example")

    def test_domains_of_added_senders_are_found_and_those_of_removed_ones_stay(self):
        self.assertEqual(self.change("add", "joe@new.example\nann@new.example\n")["sender_domains"], 2)
        self.check(0, "query", "filter", "joe@new.example")
        self.assertEqual(self.change("remove", "joe@new.example\nann@new.example\n")["sender_domains"], 2)
        self.check(0, "counting-export", "filter", "-o", "export", "--quiet")
        self.assertEqual(self.info("export")["sender_domains"], 2)
        self.check(0, "verify", "export")

    def test_the_bytes_do_not_depend_on_threads_and_memory(self):
        old = self.read("filter")
        lines = 14 * users(range(9_000, 60_000))
        got = set()
        for options in (["--threads", "1"], ["--threads", "1", "--memory", "1M", "--scratch", "."], ["--threads", "3"]):
            (self.folder / "filter").write_bytes(old)
            report = self.change("add", lines, *options)
            self.assertEqual(report["spilled_bytes"] > 0, "--memory" in options)
            got.add(self.read("filter"))
        self.assertEqual(len(got), 1)
        self.change("remove", lines, "--allow-shrink")
        self.assertEqual(self.read("filter"), old)

    def test_an_address_that_is_added_again_must_be_removed_again(self):
        out, err = self.check(0, "counting-add", "filter", self.write("again", users([1, 2, 1, 2, 1])))
        self.assertEqual(err, "")
        self.assertRegex(out, r"(?m)^added +2$")
        self.assertRegex(out, r"(?m)^again +2 of them were there already, or looked so")
        out, _ = self.check(0, "counting-remove", "filter", "again")
        self.assertRegex(out, r"(?m)^listed +2 of those that were removed are still found: they were added more than once")
        self.check(0, "query", "filter", "user1@example.org")
        self.check(0, "counting-remove", "filter", "again")
        self.check(1, "query", "filter", "user1@example.org")

    def test_a_missing_entry_is_reported_with_its_place_and_the_others_are_removed(self):
        gone = self.write("gone", users([5]) + "# gone\nNobody@Example.ORG\n@nobody.example\n" + users([6]))
        before = self.read("filter")
        _, err = self.check(EX_DATAERR, "counting-remove", "filter", gone, "--strict")
        self.assertIn("2 entries are not there and --strict was given; nothing was changed", err)
        self.assertEqual(self.read("filter"), before)
        out, err = self.check(0, "counting-remove", "filter", gone, "--reject-file", "rejected")
        self.assertIn(f"{gone}:3: not-there: this entry is not in the filter", err)
        self.assertIn(f"{gone}:4: not-there: ", err)
        self.assertRegex(out, r"(?m)^removed +2\nnot there 2 lines$")
        # The danger, and the way round it.
        self.assertRegex(out, r"(?m)^caution .* % of addresses that were never added look .* a store has no such danger")
        rejected = (self.folder / "rejected").read_text()
        self.assertRegex(rejected, r"nobody@example\.org\n# .*\n@nobody\.example\n$")
        self.check_export(users(i for i in range(10_000) if i not in (5, 6)) + "@partner.example\n")

    def test_an_invalid_line_stops_a_removal_and_with_strict_an_addition(self):
        before = self.read("filter")
        bad = self.write("bad", users([5]) + "no address\n")
        for options in (["remove", "filter", bad], ["add", "filter", bad, "--strict"]):
            _, err = self.check(EX_DATAERR, *options)
            self.assertIn("nothing was changed", err)
            self.assertEqual(self.read("filter"), before)
        self.assertEqual(self.change("add", "no address\nnew@example.org\n", "--allow-rejects")["rejected"], 1)

    def test_entries_whose_shared_counters_are_too_low_for_both_are_counted(self):
        # One hash in a full block: non-members look like entries, and several share a counter.
        self.build(users(range(200)), "--layout", "counting", "--hashes", "1", "--seed", "1", "--no-sender-domains")
        candidates = "".join(f"stranger{i}@example.net\n" for i in range(100_000))
        found = self.run_program("query", "filter", "--listed", "--list", self.write("c", candidates)).stdout.decode()
        strangers = "".join(line.split("\t")[1] + "\n" for line in found.splitlines())
        everybody = self.write("everybody", strangers + users(range(200)))
        before = self.read("filter")
        _, err = self.check(EX_DATAERR, "counting-remove", "filter", everybody, "--strict")
        self.assertIn("nothing was changed", err)
        self.assertEqual(self.read("filter"), before)
        out, err = self.check(0, "counting-remove", "filter", everybody, "--allow-empty")
        self.assertEqual(err, "")
        self.assertRegex(out, r"(?m)^not there 0 lines, and [\d,]+ addresses that share counters with others of the lists")
        self.assertRegex(out, r"(?m)^removed +200$")
        self.assertRegex(out, r"(?m)^saturated 0 of 0 counters in use$")

    def test_a_saturated_counter_stays_and_info_counts_it(self):
        self.build(users(range(5)), "--layout", "counting", *self.SEED)
        one = self.write("one", users([7]))
        for _ in range(16):
            self.check(0, "counting-add", "filter", one, "--quiet")
        self.assertEqual(self.info()["saturated"], 6)
        self.assertRegex(self.check(0, "info", "filter")[0], r"(?m)^saturated +6 of 36 counters in use$")
        for _ in range(16):
            self.check(0, "counting-remove", "filter", one)
        self.check(0, "query", "filter", "user7@example.org")
        self.check(0, "counting-export", "filter", "-o", "export")
        self.assertIsNone(self.info("export")["saturated"])

    def test_more_addresses_than_expected_give_a_warning(self):
        _, err = self.check(0, "counting-add", "filter", self.write("many", users(range(10_000, 20_001))), "--quiet")
        self.assertRegex(err, r"^warning: filter holds more addresses than it was built for, so the false-positive rate is higher: "
                              r"[1-9][0-9.]+ %; build it again")

    def test_the_replaced_file_can_be_kept_and_restored(self):
        before = self.read("filter")
        self.change("remove", users(range(100)), "--keep", "1")
        self.assertNotEqual(self.read("filter"), before)
        said = self.check(0, "rollback", "filter")[0]
        self.assertIn("\nNow run: bloomgate counting-export filter --output FILTER\nTo undo this", said)
        self.assertNotIn("daemon", said)
        self.assertEqual(self.read("filter"), before)
        for _ in range(2):
            self.check(0, "counting-export", "filter", "-o", "export", "--keep", "3")
        self.assertIn("export.1", self.names())

    def test_other_commands_refuse_counting_filters_and_invalid_options_are_refused(self):
        self.check(0, "build", "-o", "page", "list")
        self.check(0, "build", "-o", "stored", "--store", "store", "list")
        for command in (["merge", "-o", "x"], ["intersect", "-o", "x"], ["compare"]):
            for filters in (["filter", "filter"], ["page", "filter"], ["filter", "page"]):
                _, err = self.check(EX_DATAERR, *command, *filters)
                self.assertIn("'bloomgate counting-export filter --output FILTER'", err)
        counting = ("--layout", "counting", "-o", "x")
        for status, arguments, text in (
            (EX_USAGE, ("build", *counting, "--store", "y", "list"), "goes without stores"),
            (EX_USAGE, ("build", *counting, "store"), "goes without stores"),
            (EX_USAGE, ("build", *counting, "--never-match", "list", "list"), "--never-match does not go with --layout counting"),
            (EX_USAGE, ("update", "--store", "store", "-o", "stored", "--layout", "counting"), "goes without stores"),
            (EX_USAGE, ("add", "page", "list"), "layout page, whose entries cannot be removed"),
            (EX_USAGE, ("export", "page", "-o", "x"), "layout page"),
            (EX_USAGE, ("export", "filter", "-o", "filter"), "would overwrite"),
            (EX_USAGE, ("add", "filter"), "at least one list"),
            (EX_USAGE, ("add", "filter", "filter"), "cannot be a list"),
            (EX_USAGE, ("add", "filter", "store"), "a store cannot be a list here"),
            (EX_USAGE, ("add", "filter", "list", "--reject-file", "list"), "would overwrite the list"),
            (EX_USAGE, ("remove", "filter", "list", "--reject-file", "filter"), "would overwrite filter"),
            (EX_NOINPUT, ("add", "missing", "list"), "missing"),
            (EX_NOINPUT, ("remove", "filter", "missing"), "missing"),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(text, self.check(status, *arguments)[1])
        self.assertNotIn("x", self.names())

    def test_a_damaged_file_is_neither_changed_nor_exported(self):
        self.flip("filter", 6000)
        data = self.read("filter")
        for arguments in (("add", "filter", "list"), ("remove", "filter", "list"), ("export", "filter", "-o", "x")):
            self.assertIn("damaged in the MiB at offset 4096", self.check(EX_DATAERR, *arguments)[1])
        self.assertEqual(self.read("filter"), data)
        self.assertNotIn("x", self.names())

    def test_a_second_change_at_the_same_time_is_refused(self):
        self.start_change("filter", ["add", "filter", "-"], ["remove", "filter", "list"])

    def test_a_change_killed_at_any_moment_leaves_the_old_file_or_the_new_one(self):
        lines = self.write("lines", users(range(10_000, 60_000)))
        old = self.read("filter")
        began = time.monotonic()
        self.check(0, "counting-add", "filter", lines)
        lasts = time.monotonic() - began
        new = self.read("filter")
        ended = 0
        for i in range(KILLS):
            (self.folder / "filter").write_bytes(old if i % 2 else new)
            moment = random.random() * 1.2 * lasts  # whichever it is, there is a sound file
            ended += self.kill_after(moment, "add" if i % 2 else "remove", "filter", lines)
            self.assertIn(self.read("filter"), (old, new))
        self.assertLess(ended, KILLS)

    def test_size_shows_four_times_the_size_of_a_page_filter(self):
        sizes = {layout: json.loads(self.check(0, "size", "--entries", "1e9", "--layout", layout, "--json")[0])["file_bytes"]
                 for layout in ("page", "counting")}
        self.assertAlmostEqual(sizes["counting"] / sizes["page"], 4, places=3)
        fits = json.loads(self.check(0, "size", "--memory", "1G", "--layout", "counting", "--json")[0])
        self.assertLess(fits["file_bytes"], 2**30)
        self.assertGreater(fits["file_bytes"], 0.999 * 2**30)


if __name__ == "__main__":
    main()
