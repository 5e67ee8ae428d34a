"""`bloomgate build --keep` and `bloomgate rollback`, of filters and of filters with their stores."""
import json
import os

from program import EX_CANTCREAT, EX_DATAERR, EX_NOINPUT, EX_USAGE, ProgramTest, main


class GenerationsTest(ProgramTest):
    """build --keep, rollback, and what info says of kept filters."""

    def listed(self, name="filter"):
        answers = self.answers(name, "a@example.org", "b@example.org", "c@example.org")
        return "".join(letter for letter, answer in zip("abc", answers) if answer == "listed")

    def build_all(self, *options):
        """Three filters after one another: of a, then of b, then of c."""
        for name in "abc":
            self.build(f"{name}@example.org\n", "--bits-per-entry", "64", *options)

    def test_restores_a_kept_filter_and_undoes_that_when_called_again(self):
        self.build_all("--keep", "2")
        self.assertEqual(self.names(), ["filter", "filter.1", "filter.2", "list"])
        self.assertEqual([self.listed(name) for name in self.names()[:3]], ["c", "b", "a"])
        out, _ = self.check(0, "rollback", "filter")
        self.assertRegex(out, r"(?m)^in place  filter: 1 entry, built 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC$")
        self.assertRegex(out, r"(?m)^replaced  filter\.1: 1 entry, built ")
        self.assertIn("systemctl reload bloomgate-milter", out)
        self.assertEqual(self.listed(), "b")
        self.check(0, "rollback", "filter")
        self.assertEqual(self.listed(), "c")
        report = json.loads(self.check(0, "rollback", "filter", "--to", "2", "--json")[0])
        self.assertEqual((report["in_place"]["file"], report["replaced"]["file"]), ("filter", "filter.2"))
        self.assertEqual([self.listed(name) for name in ("filter", "filter.1", "filter.2")], ["a", "b", "c"])

    def test_info_shows_the_generations(self):
        self.build_all("--keep", "2")
        out, _ = self.check(0, "info", "filter")
        self.assertRegex(out, r"(?m)^fingerprint +[0-9a-f]{16}\nwritten +20\d\d-")
        self.assertRegex(out, r"(?m)^kept +filter\.1: 1 entry, built 20.*\nkept +filter\.2: ")
        (self.folder / "filter.1").write_bytes(b"nonsense")
        self.assertRegex(self.check(0, "info", "filter")[0], r"(?m)^kept +filter\.1: cannot be used: ")
        kept = self.info()["kept"]
        self.assertEqual([each["number"] for each in kept], [1, 2])
        self.assertTrue(kept[0]["fault"] and not kept[1]["fault"])

    def test_a_damaged_generation_and_a_missing_one_are_not_restored(self):
        self.build_all("--keep", "1")
        self.flip("filter.1", 5000, 0xFF)
        _, err = self.check(EX_DATAERR, "rollback", "filter")
        self.assertIn("filter.1", err)
        self.assertEqual(self.listed(), "c")
        _, err = self.check(EX_NOINPUT, "rollback", "filter", "--to", "2")
        self.assertIn("--keep", err)
        self.check(EX_USAGE, "rollback", "filter", "--to", "0")
        self.check(EX_USAGE, "build", "-o", "filter", "--keep", "100", "list")

    def test_a_damaged_filter_does_not_displace_a_kept_sound_one(self):
        self.build_all("--keep", "1")
        self.flip("filter", 4096)
        _, err = self.build("d@example.org\n", "--keep", "1")
        self.assertIn("warning: the old filter is not kept: ", err)
        self.assertEqual(self.listed("filter.1"), "b")

    def test_a_foreign_file_with_the_name_of_a_generation_is_neither_moved_nor_replaced(self):
        pair = ("-o", "filter", "--store", "filter.store")
        self.check(0, "build", *pair, self.write("list", "a@example.org\n"))
        sound = self.read("filter")
        for name in ("filter.1", "filter.3", "filter.store.1"):
            self.write(name, "precious")
            for command in (("build", *pair), ("update-store", *pair, "--add")):
                _, err = self.check(EX_CANTCREAT, *command, "list", "--keep", "2")
                self.assertIn(f"{name} is neither a filter nor a store; name another output, or remove that file first", err)
            self.assertEqual((self.read(name), self.read("filter")), (b"precious", sound))
            self.check(0, "build", *pair, "list")  # keeps nothing
            (self.folder / name).unlink()
            sound = self.read("filter")

    def test_a_failed_build_leaves_the_generations(self):
        self.build_all("--keep", "2")
        self.check(EX_DATAERR, "build", "-o", "filter", "--keep", "2", "--strict", self.write("list", "nonsense"))
        self.assertEqual([self.listed(name) for name in ("filter", "filter.1", "filter.2")], ["c", "b", "a"])

    def test_a_link_stays_a_link_and_its_target_has_the_generations(self):
        (self.folder / "store").mkdir()
        self.check(0, "build", "-o", "store/filter", self.write("list", "x@example.org\n"))
        os.symlink("store/filter", self.folder / "filter")
        self.build_all("--keep", "1")
        self.check(0, "rollback", "filter")
        self.assertTrue((self.folder / "filter").is_symlink())
        self.assertEqual(sorted(os.listdir(self.folder / "store")), ["filter", "filter.1"])
        self.assertEqual(self.listed(), "b")
        self.assertIn("filter.1", self.check(0, "info", "filter")[0])


class KeptPairsTest(ProgramTest):
    """build and update with --store and --keep, and rollback --store."""

    PAIR = ("-o", "filter", "--store", "filter.store", "--bits-per-entry", "64")

    def pairs_of(self, names="abc", keep="2"):
        for name in names:
            self.check(0, "build", *self.PAIR, "--keep", keep, self.write("list", f"{name}@example.org\n"))

    def listed(self, filter_="filter", store="filter.store"):
        """Each is asked of the pair, so that a store of another filter is an error."""
        found = ""
        for name in "abcd":
            done = self.run_program("query", filter_, "--confirm", store, f"{name}@example.org")
            self.assertIn(done.returncode, (0, 1), done.stderr)
            found += name if done.returncode == 0 else ""
        return found

    def test_restores_a_kept_pair_and_undoes_that_when_called_again(self):
        self.pairs_of()
        pairs = ["filter", "filter.1", "filter.2", "filter.store", "filter.store.1", "filter.store.2"]
        self.assertEqual(self.names(), [*pairs, "list"])
        kept = [self.listed(*pair) for pair in zip(pairs[1:3], pairs[4:])]
        self.assertEqual((self.listed(), *kept), ("c", "b", "a"))
        for options, now in (((), "b"), ((), "c"), (("--to", "2"), "a"), (("--to", "2"), "c")):
            self.check(0, "rollback", "filter", "--store", "filter.store", *options)
            self.assertEqual(self.listed(), now)
            self.assertEqual(self.names(), [*pairs, "list"])

    def test_an_update_keeps_the_pair_that_it_replaces(self):
        self.pairs_of("a")
        added = self.write("added", "d@example.org\n")
        self.check(0, "update-store", "-o", "filter", "--store", "filter.store", "--keep", "1", "--add", added)
        self.assertEqual(self.listed(), "ad")
        self.check(0, "rollback", "filter", "--store", "filter.store")
        self.assertEqual(self.listed(), "a")
        self.check(EX_USAGE, "update-store", "-o", "filter", "--store", "filter.store", "--keep", "100", "--add", added)

    def test_no_more_pairs_are_kept_than_asked_for(self):
        self.pairs_of("abcd", keep="1")
        self.assertEqual(self.names(), ["filter", "filter.1", "filter.store", "filter.store.1", "list"])
        self.check(0, "rollback", "filter", "--store", "filter.store")
        self.assertEqual(self.listed(), "c")

    def test_a_filter_without_a_store_in_between_does_not_separate_the_pairs(self):
        self.pairs_of("a")
        self.check(0, "build", "-o", "filter", "--keep", "9", self.write("list", "b@example.org\n"))
        self.assertNotIn("filter.store.1", self.names())  # nothing has replaced it
        self.pairs_of("c", keep="9")
        self.assertEqual(self.listed(), "c")
        self.check(0, "rollback", "filter", "--to", "2", "--store", "filter.store")
        self.assertEqual(self.listed(), "a")
        self.check(0, "rollback", "filter", "--to", "1", "--store", "filter.store")  # it has none
        self.assertIn("listed\tb@example.org", self.check(0, "query", "filter", "b@example.org")[0])
        self.check(0, "rollback", "filter", "--to", "2", "--store", "filter.store")
        self.assertEqual(self.listed(), "c")

    def test_a_pair_is_restored_whole_or_not_at_all(self):
        self.pairs_of()
        _, err = self.check(EX_USAGE, "rollback", "filter")
        self.assertIn("filter.1 goes with a store; name its place with --store", err)
        self.flip("filter.store.1", -1)
        self.check(EX_DATAERR, "rollback", "filter", "--store", "filter.store")
        self.assertEqual(self.listed(), "c")
        os.unlink(self.folder / "filter.store.2")
        _, err = self.check(EX_DATAERR, "rollback", "filter", "--store", "filter.store", "--to", "2")
        self.assertIn("the store of filter.2 is neither filter.store nor kept beside it", err)
        self.assertEqual(self.listed(), "c")

    def test_a_damaged_store_does_not_displace_a_kept_sound_pair(self):
        self.pairs_of("ab", keep="1")
        with open(self.folder / "filter.store", "r+b") as file:
            file.truncate(100)
        _, err = self.check(0, "build", *self.PAIR, "--keep", "1", self.write("list", "c@example.org\n"))
        self.assertIn("warning: the old filter is not kept: ", err)
        self.check(0, "rollback", "filter", "--store", "filter.store")
        self.assertEqual(self.listed(), "a")


if __name__ == "__main__":
    main()
