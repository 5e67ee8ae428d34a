"""Parts of a list that jobs read each for itself, `bloomgate part`, and the filter that `bloomgate build` makes of them."""
import gzip
import json
import shutil

from program import EX_DATAERR, EX_IOERR, EX_NOINPUT, EX_USAGE, ProgramTest, main, users

PARTS = 5
# Of every kind, so that each part has some.
ENTRIES = "".join(
    f"user{i}@d{i % 300}.example\npair{i}@d{i % 300}.example > ann@ours.example\n@company{i}.example\n@.tree{i}.example\n"
    f"list:news{i}.example.org\n@shop{i}.example signed-by mg.shop{i}.example\n"
    for i in range(2000))
STRANGERS = "".join(f"stranger{i}@d{i % 300}.example\n" for i in range(5000))


class PartTest(ProgramTest):
    # Without a number, an address that a list has twice counts twice.
    SHAPE = ("--seed", "3", "--expected-entries", "9000", "--quiet")
    SEEDS = (*SHAPE, "--store-seed", "7")

    def setUp(self):
        super().setUp()
        (self.folder / "lists").mkdir()
        self.write("lists/a.txt", ENTRIES)
        # Many addresses are in two parts, and a compressed list cannot be cut.
        self.write("lists/b.txt", users(range(1000, 6000)) + ENTRIES[:2000])
        self.compress("lists/b.txt")
        self.write("lists/empty.txt", "# no entry\n")
        self.write("strangers", STRANGERS)

    def compress(self, name):
        path = self.folder / name
        (self.folder / f"{name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        path.unlink()

    def part(self, index, output, *options, of=PARTS, status=0, seed="7"):
        return self.check(status, "part", "--of", str(of), "--index", str(index), "--store-seed", seed, "-o", output, "--quiet", *options)

    def make_parts(self, *options, of=PARTS, prefix="part"):
        names = [f"{prefix}{index}" for index in range(of)]
        for index, name in enumerate(names):
            self.part(index, name, *options, "lists", of=of)
        return names

    def content(self, name):
        return (self.folder / name).read_bytes()

    def refusal(self, *names, status=EX_USAGE):
        _, err = self.check(status, "build", "-o", "refused", "--quiet", *names)
        self.assertFalse((self.folder / "refused").exists())
        return err

    def test_a_filter_of_parts_is_the_filter_of_the_lists_in_each_layout_with_every_kind_of_entry(self):
        parts = self.make_parts()
        for layout in ("page", "line", "ribbon"):
            options = ("--layout", layout, "--never-match", "strangers")
            self.check(0, "build", "-o", "whole", "--store", "whole.store", *self.SEEDS, *options, "lists")
            # In any order.
            self.check(0, "build", "-o", "joined", "--store", "joined.store", *self.SHAPE, *options, *reversed(parts))
            self.assertEqual(self.content("whole"), self.content("joined"), layout)
            self.assertEqual(self.content("whole.store"), self.content("joined.store"), layout)
        self.check(0, "verify", "joined", "--against", "lists/a.txt", "--quiet")

    def test_a_part_that_is_made_again_is_the_same(self):
        self.part(1, "once", "lists")
        self.part(1, "again", "lists", "--threads", "1", "--memory", "4M")
        shutil.move(self.folder / "lists", self.folder / "elsewhere")
        self.part(1, "elsewhere.store", "elsewhere", "--threads", "3")
        self.assertEqual(self.content("once"), self.content("again"))
        self.assertEqual(self.content("once"), self.content("elsewhere.store"))

    def test_parts_are_taken_as_a_folder_and_in_one_or_many(self):
        self.check(0, "build", "-o", "whole", "--store", "whole.store", *self.SEEDS, "lists")
        for of in (1, 12):
            folder = self.folder / f"parts{of}"
            folder.mkdir()
            self.make_parts(of=of, prefix=f"parts{of}/")
            self.check(0, "build", "-o", "joined", "--store", "joined.store", *self.SHAPE, folder.name)
            self.assertEqual(self.content("whole"), self.content("joined"), of)

    def test_a_part_that_is_missing_or_there_twice_is_named(self):
        parts = self.make_parts()
        self.assertIn("part0 is one of 5 parts, and parts 1, 3 are missing", self.refusal("part0", "part2", "part4"))
        self.assertIn("and part 4 is missing", self.refusal(*parts[:4]))
        self.assertIn("part2 and part2 are both part 2 of 5; name one of them", self.refusal(*parts, "part2"))
        shutil.copy(self.folder / "part2", self.folder / "copy")
        self.assertIn("part2 and copy are both part 2 of 5", self.refusal(*parts, "copy"))

    def test_parts_of_other_lists_of_another_run_or_of_another_number_are_not_mixed(self):
        parts = self.make_parts("--run", "monday")
        self.part(2, "tuesday", "lists", "--run", "tuesday")
        self.part(2, "of-six", "lists", "--run", "monday", of=6)
        self.part(2, "other-seed", "lists", "--run", "monday", seed="8")
        self.part(2, "no-domains", "lists", "--run", "monday", "--no-sender-domains")
        self.write("lists/empty.txt", "# no entry at all\n")
        self.part(2, "grown", "lists", "--run", "monday")
        for other in ("tuesday", "of-six", "grown", "no-domains"):
            err = self.refusal(*parts[:2], other, *parts[3:])
            self.assertIn("are parts of different lists or of different runs", err, other)
        self.assertIn("keep different hashes of the same address", self.refusal(*parts[:2], "other-seed", *parts[3:]))

    def test_parts_go_beside_lists_and_a_store_that_is_whole(self):
        parts = self.make_parts()
        self.write("more", "new@example.org\n")
        self.check(0, "build", "-o", "old", "--store", "old.store", "--store-seed", "7", "--quiet", "more")
        self.write("list", "newer@example.org\n")
        self.check(0, "build", "-o", "joined", "--quiet", *parts, "old.store", "list")
        out, _ = self.check(0, "query", "joined", "user7@d7.example", "new@example.org", "newer@example.org")
        self.assertEqual(out.count("listed\t"), 3)

    def test_jobs_with_lists_of_their_own_read_them_whole_also_from_a_pipe(self):
        self.write("own", "joe@example.org\n")
        self.part(1, "part1", "--local-lists", "--run", "r", "own", of=2)
        self.check(0, "part", "--of", "2", "--index", "0", "--store-seed", "7", "-o", "part0", "--quiet", "--local-lists",
                            "--run", "r", "-", stdin=b"ann@example.org\n")
        self.check(0, "build", "-o", "joined", "--quiet", "part0", "part1")
        self.check(0, "query", "joined", "joe@example.org", "ann@example.org")

    def test_the_lines_that_are_rejected_have_the_numbers_of_the_list(self):
        lines = users(range(50_000)).splitlines()
        lines[44_999] = "no address"
        self.write("lists/a.txt", "\n".join(lines) + "\n")
        shown = [self.part(index, "part", "lists/a.txt", of=3)[1] for index in range(3)]
        self.assertEqual([("lists/a.txt:45000:" in err) for err in shown].count(True), 1, shown)
        _, err = self.part(2, "strict", "lists/a.txt", "--strict", of=3, status=EX_DATAERR)
        self.assertIn("no part was made", err)

    def test_exceptions_are_left_out_of_a_part(self):
        self.write("except", "@d7.example\nuser8@d8.example\n")
        parts = [f"part{index}" for index in range(2)]
        for index, name in enumerate(parts):
            self.part(index, name, "lists", "--leave-out", "except", of=2)
        self.check(0, "build", "-o", "joined", "--seed", "3", "--quiet", *parts)
        out, _ = self.check(1, "query", "joined", "user7@d7.example", "user8@d8.example", "user9@d9.example")
        self.assertEqual([line.split("\t")[0] for line in out.splitlines()], ["not-listed", "not-listed", "listed"])

    def test_a_part_that_left_out_others_is_of_another_run(self):
        self.write("left", "@d7.example\nuser8@d8.example\n")
        self.write("same", "user8@d8.example\n@d7.example\n@d7.example\n")
        self.write("other", "@d7.example\n")
        for name, lists in (("left", ["left"]), ("same", ["same"]), ("other", ["other"]), ("none", [])):
            options = [word for each in lists for word in ("--leave-out", each)]
            self.part(1, f"part-{name}", "lists", *options, of=2)
        self.part(0, "part", "lists", "--leave-out", "left", of=2)
        self.check(0, "build", "-o", "joined", "--quiet", "part", "part-same")
        for name in ("other", "none"):
            self.assertIn("are parts of different lists or of different runs", self.refusal("part", f"part-{name}"))

    def test_a_list_that_changed_between_two_parts_is_another_list_also_if_it_has_its_size(self):
        lines = users(range(100_000, 160_000)).splitlines(True)
        self.write("lists/a.txt", "".join(lines))
        self.part(0, "part0", "lists/a.txt", of=2)
        self.write("lists/a.txt", "".join(lines[1000:] + lines[:1000]))
        self.part(1, "part1", "lists/a.txt", of=2)
        self.assertIn("are parts of different lists", self.refusal("part0", "part1"))

    def test_a_share_may_begin_with_what_would_be_a_document_at_the_start_of_a_list(self):
        row = "joe@example.org\n"
        self.write("list", row * (262_144 // len(row)) + '{"json": 1}\n' + row * 9)
        self.part(1, "part1", "list", of=2)

    def test_what_is_sent_is_read_by_one_job_alone(self):
        for index in range(2):
            said = self.part(index, "part", "-", of=2, status=EX_USAGE)[1]
            self.assertIn("standard input, -, cannot be read in 2 parts", said)
        self.assertIn("give --run, too", self.part(0, "part", "--local-lists", "lists", of=2, status=EX_USAGE)[1])
        self.part(0, "part", "--local-lists", "lists", of=1)

    def test_what_no_part_can_be_is_refused_before_anything_is_read(self):
        for options in (("--of", "0", "--index", "0"), ("--of", "5", "--index", "5"), ("--of", "5", "--index", "-1"),
                        ("--of", "5", "--index", "x"), ("--of", "1048577", "--index", "0"), ("--of", "99999999999", "--index", "0")):
            self.check(EX_USAGE, "part", *options, "--store-seed", "7", "-o", "part", "lists")
        self.check(EX_USAGE, "part", "--of", "5", "--index", "0", "-o", "part", "lists")
        self.check(EX_USAGE, "part", "--of", "5", "--index", "0", "--store-seed", "7", "-o", "", "lists")
        self.check(EX_USAGE, "part", "--of", "5", "--index", "0", "--store-seed", "7", "-o", "lists/a.txt", "lists")
        self.assertFalse((self.folder / "part").exists())

    def test_the_seed_may_be_in_a_file(self):
        self.part(0, "named", "lists", of=2, seed="12345678901")
        self.write("seed", "12345678901\n")
        own = ("part", "--of", "2", "--index", "0", "-o", "filed", "--quiet")
        self.check(0, *own, "--store-seed-file", "seed", "lists")
        self.assertEqual((self.folder / "filed").read_bytes(), (self.folder / "named").read_bytes())
        for text in ("", "seed", "1 2", "99999999999999999999"):
            self.write("seed", text)
            said = self.check(EX_USAGE, *own, "--store-seed-file", "seed", "lists")[1]
            self.assertIn("--store-seed-file: seed is not the file of a seed, which is one number below 2^64", said)
        self.check(0, "sign", "--new-key", "key")
        secret = self.read("key").decode().splitlines()[-1]
        for command in (own, ("build", "-o", "new", "--store", "new.store")):  # another secret stays one
            self.assertNotIn(secret, self.check(EX_USAGE, *command, "--store-seed-file", "key", "lists")[1])
        self.check(EX_NOINPUT, *own, "--store-seed-file", "missing", "lists")
        self.check(EX_USAGE, *own, "--store-seed-file", "seed", "--store-seed", "7", "lists")

    def test_a_part_goes_through_pipes(self):
        (self.folder / "zst").mkdir()
        whole = gzip.compress((self.folder / "lists/a.txt").read_bytes())
        own = ("part", "--of", "2", "--index", "1", "--store-seed", "7", "--run", "r", "--local-lists", "--scratch", "zst")
        piped = self.run_program(*own, "-o", "-", "-", stdin=whole)
        self.part(1, "part1", "--local-lists", "--run", "r", "lists/a.txt", of=2)
        self.assertEqual((piped.returncode, piped.stdout == (self.folder / "part1").read_bytes()), (0, True), piped.stderr)
        cut = self.run_program(*own, "-o", "-", "-", stdin=whole[:-9])
        self.assertEqual((cut.returncode, cut.stdout), (EX_DATAERR, b""))
        self.assertEqual(list((self.folder / "zst").iterdir()), [])
        self.check(EX_USAGE, *own, "-o", "-", "--json", "lists")
        self.check(EX_USAGE, *own, "-o", "-", "--reject-file", "/dev/stdout", "lists")
        for twice in ("-", "-"), ("--leave-out", "-", "-"):
            self.assertIn("one list only", self.check(EX_USAGE, *own, "-o", "part2", *twice)[1])
        _, err = self.check(EX_DATAERR, *own, "-o", "part2", "-")
        self.assertIn("standard input was empty", err)
        self.assertFalse((self.folder / "part2").exists())
        self.assertEqual(self.run_program(*own, "-o", "part2", "-", stdin=b"#\n").returncode, 0)
        with open("/dev/full", "wb") as full:
            done = self.run_program(*own, "-o", "-", "lists", "--quiet", stdout=full)
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (EX_IOERR, b"bloomgate part: cannot write to standard output"))
        self.assertEqual(list((self.folder / "zst").iterdir()), [])

    def test_a_part_says_what_it_is(self):
        out, _ = self.part(3, "part3", "lists", "--json")
        result = json.loads(out)
        self.assertEqual((result["part"], result["parts"]), (3, PARTS))
        self.assertIn("part             3 of 5, counted from 0\n", self.check(0, "info", "part3")[0])
        info = json.loads(self.check(0, "info", "part3", "--json")[0])
        self.assertEqual((info["part"], info["parts"]), (3, PARTS))
        self.check(0, "verify", "part3", "--quiet")


if __name__ == "__main__":
    main()
