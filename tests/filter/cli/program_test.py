#!/usr/bin/env python3
"""The program `bloomgate` as its user meets it: output, exit status, and what is left on the disk.

usage: program_test.py PATH-OF-BLOOMGATE [unittest arguments]
"""
import contextlib
import filecmp
import gzip
import json
import os
import pathlib
import pty
import random
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from timely import TimelyTestCase  # noqa: E402

BLOOMGATE = None
# A sanitized program takes ten times as long, and sees in one seed or hash family what it sees in another.
IS_SANITIZED = bool(os.environ.get("BLOOMGATE_SANITIZE"))
EX_USAGE, EX_DATAERR, EX_NOINPUT, EX_CANTCREAT = 64, 65, 66, 73


def open_files_of(pid):
    """The names, without their folders, of the files that a process has open; it may open and close some meanwhile."""
    names = set()
    for descriptor in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            names.add(descriptor.readlink().name)
    return names


class ProgramTest(TimelyTestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bloomgate-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(path)

    def run_program(self, *arguments, stdin=b""):
        return subprocess.run([BLOOMGATE, *arguments], input=stdin, capture_output=True, cwd=self.folder, timeout=60)

    def check(self, status, *arguments, stdin=b""):
        result = self.run_program(*arguments, stdin=stdin)
        self.assertEqual(result.returncode, status, result.stdout.decode() + result.stderr.decode())
        return result.stdout.decode(), result.stderr.decode()

    def build(self, text, *options):
        return self.check(0, "build", "-o", "filter", *options, self.write("list", text))

    def names(self):
        return sorted(os.listdir(self.folder))


class GenerationsTest(ProgramTest):
    """build --keep, rollback, and what info says of kept filters."""

    def listed(self, name="filter"):
        answers = self.run_program("query", name, "a@example.org", "b@example.org", "c@example.org").stdout.decode()
        return "".join(line.split("\t")[1][0] for line in answers.splitlines() if line.startswith("listed"))

    def build_all(self, *options):
        """Three filters after one another: of a, then of b, then of c."""
        for name in "abc":
            self.build(f"{name}@example.org\n", "--bits-per-entry", "64", *options)

    def test_a_kept_filter_can_be_put_back_and_that_taken_back(self):
        self.build_all("--keep", "2")
        self.assertEqual(self.names(), ["filter", "filter.1", "filter.2", "list"])
        self.assertEqual([self.listed(name) for name in self.names()[:3]], ["c", "b", "a"])
        out, _ = self.check(0, "rollback", "filter")
        self.assertRegex(out, r"(?m)^in place  filter: 1 entries, built 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC$")
        self.assertRegex(out, r"(?m)^replaced  filter\.1: 1 entries, built ")
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
        self.assertRegex(out, r"(?m)^kept +filter\.1: 1 entries, built 20.*\nkept +filter\.2: ")
        (self.folder / "filter.1").write_bytes(b"nonsense")
        self.assertRegex(self.check(0, "info", "filter")[0], r"(?m)^kept +filter\.1: cannot be used: ")
        kept = json.loads(self.check(0, "info", "filter", "--json")[0])["kept"]
        self.assertEqual([each["number"] for each in kept], [1, 2])
        self.assertTrue(kept[0]["fault"] and not kept[1]["fault"])

    def test_a_damaged_generation_is_not_put_back_and_nothing_that_was_not_kept(self):
        self.build_all("--keep", "1")
        with open(self.folder / "filter.1", "r+b") as file:
            file.seek(5000)
            file.write(b"\xff")
        _, err = self.check(EX_DATAERR, "rollback", "filter")
        self.assertIn("filter.1", err)
        self.assertEqual(self.listed(), "c")
        _, err = self.check(EX_NOINPUT, "rollback", "filter", "--to", "2")
        self.assertIn("--keep", err)
        self.check(EX_USAGE, "rollback", "filter", "--to", "0")
        self.check(EX_USAGE, "build", "-o", "filter", "--keep", "100", "list")

    def test_a_damaged_filter_pushes_no_good_one_out(self):
        self.build_all("--keep", "1")
        (self.folder / "filter").write_bytes(b"nonsense")
        _, err = self.build("d@example.org\n", "--keep", "1")
        self.assertIn("warning: the old filter is not kept: ", err)
        self.assertEqual(self.listed("filter.1"), "b")

    def test_a_build_that_fails_moves_no_generation(self):
        self.build_all("--keep", "2")
        self.check(EX_DATAERR, "build", "-o", "filter", "--keep", "2", "--strict", self.write("list", "nonsense"))
        self.assertEqual([self.listed(name) for name in ("filter", "filter.1", "filter.2")], ["c", "b", "a"])

    def test_a_link_stays_one_and_its_target_has_the_generations(self):
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

    def test_a_kept_pair_can_be_put_back_and_that_taken_back(self):
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
        self.check(0, "update", "-o", "filter", "--store", "filter.store", "--keep", "1", "--add", added)
        self.assertEqual(self.listed(), "ad")
        self.check(0, "rollback", "filter", "--store", "filter.store")
        self.assertEqual(self.listed(), "a")
        self.check(EX_USAGE, "update", "-o", "filter", "--store", "filter.store", "--keep", "100", "--add", added)

    def test_no_more_pairs_are_kept_than_asked_for(self):
        self.pairs_of("abcd", keep="1")
        self.assertEqual(self.names(), ["filter", "filter.1", "filter.store", "filter.store.1", "list"])
        self.check(0, "rollback", "filter", "--store", "filter.store")
        self.assertEqual(self.listed(), "c")

    def test_a_filter_without_a_store_in_between_does_not_part_the_others(self):
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

    def test_a_pair_is_put_back_whole_or_not_at_all(self):
        self.pairs_of()
        _, err = self.check(EX_USAGE, "rollback", "filter")
        self.assertIn("filter.1 goes with a store; name its place with --store", err)
        with open(self.folder / "filter.store.1", "r+b") as file:
            file.seek(-1, os.SEEK_END)
            last = file.read(1)[0]
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last ^ 1]))
        self.check(EX_DATAERR, "rollback", "filter", "--store", "filter.store")
        self.assertEqual(self.listed(), "c")
        os.unlink(self.folder / "filter.store.2")
        _, err = self.check(EX_DATAERR, "rollback", "filter", "--store", "filter.store", "--to", "2")
        self.assertIn("the store of filter.2 is neither filter.store nor kept beside it", err)
        self.assertEqual(self.listed(), "c")

    def test_a_damaged_store_pushes_no_good_one_out(self):
        self.pairs_of("ab", keep="1")
        with open(self.folder / "filter.store", "r+b") as file:
            file.truncate(100)
        _, err = self.check(0, "build", *self.PAIR, "--keep", "1", self.write("list", "c@example.org\n"))
        self.assertIn("warning: the old filter is not kept: ", err)
        self.check(0, "rollback", "filter", "--store", "filter.store")
        self.assertEqual(self.listed(), "a")


class OutputTest(ProgramTest):
    """What cannot be written is found out before a list is read: here the list is a pipe that nobody writes to."""

    def build_from_pipe(self, *options, **settings):
        """The build would wait for the pipe for good; the test's program is then killed after a minute."""
        os.mkfifo(self.folder / "endless")
        pipe = os.open(self.folder / "endless", os.O_RDWR)
        try:
            return subprocess.run([BLOOMGATE, "build", *options, "endless"], capture_output=True, text=True,
                                  cwd=self.folder, timeout=60, **settings)
        finally:
            os.close(pipe)

    def check_refused(self, done, *words):
        self.assertEqual(done.returncode, EX_CANTCREAT, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(self.names(), ["endless"])

    def test_a_missing_folder_is_told_how_to_make_it(self):
        self.check_refused(self.build_from_pipe("-o", "no/such/filter"), "make it: mkdir -p no/such\n")

    def test_a_filter_that_will_not_fit_is_refused_with_what_there_is(self):
        self.check_refused(self.build_from_pipe("-o", "filter", "--expected-entries", "1e12"),
                           "the filter will take 953675 MiB", " MiB are free")

    def test_what_is_free_is_not_taken_to_find_out_that_it_is_too_little(self):
        # Others write to the same disk: a mail queue, perhaps.
        done = self.build_from_pipe("-o", "filter", "--expected-entries", "1e12")
        free = re.search(r" ([0-9]+) MiB are free", done.stderr)
        self.assertGreater(int(free.group(1)), 0, done.stderr)

    @unittest.skipIf(os.geteuid() != 0, "another user takes root")
    def test_a_folder_that_may_not_be_written_is_told_with_whom_it_takes(self):
        os.chmod(self.folder, 0o755)
        self.check_refused(self.build_from_pipe("-o", "filter", preexec_fn=lambda: os.setuid(65534)),
                           "you may not write to the folder .", "run this as root")

    def test_a_missing_scratch_folder_is_named(self):
        self.check_refused(self.build_from_pipe("-o", "filter", "--scratch", "no/where"),
                           "no/where (--scratch)", "mkdir -p no/where")


class BuildTest(ProgramTest):
    def test_reports_what_it_built(self):
        out, err = self.build("".join(f"user{i}@example.org\n" for i in range(10_000)) + "bad line\n")
        self.assertRegex(out, r"(?m)^entries +10,000$")
        self.assertRegex(out, r"(?m)^rejected +1$")
        self.assertRegex(out, r"(?m)^distinct +(9,9|10,0)\d\d ")
        self.assertRegex(out, r"(?m)^size +16\.01 KiB")
        self.assertRegex(out, r"(?m)^FPR +0\.[89]\d+ % ")
        self.assertRegex(out, r"(?m)^time +\d+\.\d\d s, [\d,]+ entries per second$")

    def test_reads_several_files_and_standard_input(self):
        a, b = self.write("a", "a@example.org\n"), self.write("b", "b@example.org")
        self.check(0, "build", "--output", "filter", a, "-", b, stdin=b"c@example.org\n")
        self.check(0, "query", "filter", "a@example.org", "b@example.org", "c@example.org")

    def test_shows_bad_lines_with_their_place_and_keeps_them_all(self):
        bad = "".join(f"bad{i},comma@example.org\n" for i in range(25))
        _, err = self.build("good@example.org\n" + bad, "--reject-file", "rejects")
        shown = re.findall(r"list:(\d+): bad-local-part-character: ", err)
        self.assertEqual(shown, [str(line) for line in range(2, 12)])
        self.assertIn("rejects", err.splitlines()[-1])
        rejects = (self.folder / "rejects").read_text()
        self.assertEqual(re.sub(r"(?m)^#.*\n", "", rejects), bad)
        self.assertEqual(len(re.findall(r"(?m)^# .*list:\d+: bad-local-part-character$", rejects)), 25)

    def test_a_reject_file_can_be_corrected_and_fed_again(self):
        self.build("a,,b@example.org\n", "--reject-file", "rejects")
        fixed = (self.folder / "rejects").read_text().replace(",,", ".")
        self.build(fixed, "--strict")
        self.check(0, "query", "filter", "a.b@example.org")

    def test_strict_fails_and_leaves_the_old_filter(self):
        self.build("old@example.org\n")
        before = (self.folder / "filter").read_bytes()
        result = self.run_program("build", "-o", "filter", "--strict", self.write("list", "new@example.org\nnonsense\n"))
        self.assertEqual(result.returncode, EX_DATAERR)
        self.assertIn(b"list:2: missing-at-sign", result.stderr)
        self.assertEqual((self.folder / "filter").read_bytes(), before)

    def test_the_same_seed_gives_the_same_bytes_and_no_seed_gives_others(self):
        contents = []
        for options in (["--seed", "42"], ["--seed", "0x2a"], [], []):
            self.build("a@example.org\nb@example.org\n", *options)
            contents.append((self.folder / "filter").read_bytes())
        self.assertEqual(contents[0], contents[1])
        self.assertEqual(len(set(contents)), 3)

    def test_the_seed_of_an_earlier_filter_is_kept(self):
        lines = "".join(f"user{i}@example.org\n" for i in range(200_000))
        self.build(lines, "--expected-entries", "200000")
        os.rename(self.folder / "filter", self.folder / "earlier")
        self.build(lines + "one-more@example.org\n", "--expected-entries", "200000", "--seed-from", "earlier")
        seeds = [json.loads(self.check(0, "info", name, "--json")[0])["seed"] for name in ("earlier", "filter")]
        self.assertEqual(seeds[0], seeds[1])
        earlier, new = ((self.folder / name).read_bytes()[4096 : 4096 + 49 * 4096] for name in ("earlier", "filter"))
        self.assertLessEqual(sum(a != b for a, b in zip(earlier, new)), 6)
        self.build("a@example.org\n", "--seed-from", "filter")  # the very one that is replaced
        self.assertEqual(json.loads(self.check(0, "info", "filter", "--json")[0])["seed"], seeds[0])
        self.check(EX_USAGE, "build", "-o", "filter", "--seed", "1", "--seed-from", "earlier", "list")
        self.check(EX_DATAERR, "build", "-o", "filter", "--seed-from", "list", "list")
        self.check(EX_NOINPUT, "build", "-o", "filter", "--seed-from", "missing", "list")

    def test_options_reach_the_filter(self):
        options = "--bits-per-entry 16 --hashes 11 --expected-entries 1e6 --seed 7 --keep-case".split()
        self.build("Joe@Example.ORG\n@example.net\n", *options)
        info = json.loads(self.check(0, "info", "filter", "--json")[0])
        self.assertEqual(info["hashes"], 11)
        self.assertEqual(info["expected_entries"], 1_000_000)
        self.assertEqual(info["block_count"], 489)
        self.assertEqual(info["seed"], "0x0000000000000007")
        self.assertTrue(info["keep_local_part_case"])
        self.assertEqual((info["addresses"], info["domain_entries"]), (1, 1))
        self.check(0, "query", "filter", "Joe@example.org")
        self.check(1, "query", "filter", "joe@example.org")

    def test_tags_are_taken_off_where_separators_are_given(self):
        # Long and short lines, with and without a tag, a domain with a separator in it.
        names = [f"user{i}" for i in range(5000)] + [f"name.of.user.number-{i}-in-a-long-line" for i in range(5000)]
        tags = ["", "+news", "+a+b", "+A=1", "+"]
        tagged = [f"{name}{tags[i % len(tags)]}@My-Host.example" for i, name in enumerate(names)]
        options = ("--seed", "1", "--expected-entries", "10000", "--tag-separators", "+=")
        self.build("".join(f"{line}\n" for line in tagged), *options)
        with_tags = (self.folder / "filter").read_bytes()
        self.build("".join(f"{name}@my-host.example\n" for name in names), *options)
        self.assertEqual((self.folder / "filter").read_bytes(), with_tags)
        self.check(0, "verify", "filter", "--against", self.write("tagged", "\n".join(tagged)))
        self.assertIn("\tuser7@my-host.example\n", self.check(0, "query", "filter", "user7+x@my-host.example")[0])
        self.assertEqual(json.loads(self.check(0, "info", "filter", "--json")[0])["tag_separators"], "+=")
        self.assertRegex(self.check(0, "info", "filter")[0], r"(?m)^local parts +case-folded, tags cut off at \+=$")

    def test_without_separators_a_tag_is_part_of_the_address(self):
        self.build("joe@example.org\nann+x@example.org\n")
        self.check(1, "query", "filter", "joe+x@example.org")
        self.check(1, "query", "filter", "ann@example.org")
        self.check(0, "query", "filter", "ann+x@example.org")
        self.assertEqual(json.loads(self.check(0, "info", "filter", "--json")[0])["tag_separators"], "")

    def test_separators_that_cannot_be_are_refused(self):
        self.write("list", "joe@example.org\n")
        for separators in (".", "+a", "@", " ", "ü"):
            with self.subTest(separators=separators):
                _, err = self.check(EX_USAGE, "build", "-o", "filter", "--tag-separators", separators, "list")
                self.assertIn("--tag-separators takes characters out of", err)
        self.assertEqual(self.names(), ["list"])

    def test_every_layout_and_hash_family_is_built_shown_and_queried(self):
        entries = "".join(f"user{i}@example.org\n" for i in range(20_000))
        for layout, parts in (
            ("page", "page: 5 blocks of 4,096 bytes"),
            ("line", "line: 313 blocks of 64 bytes"),
            ("classic", "classic: 1 array of 20,000 bytes"),
            ("partitioned", "partitioned: 6 slices of 3,336 bytes"),
        ):
            for family in ("xxh3", "murmur3", "fnv1a-murmur3"):
                with self.subTest(layout=layout, family=family):
                    self.build(entries, "--layout", layout, "--hash", family)
                    if not IS_SANITIZED or family == "xxh3":
                        out, _ = self.check(0, "verify", "filter", "--against", "list")
                        self.assertRegex(out, r"(?m)^found +20,000 entries")
                    text, _ = self.check(0, "info", "filter")
                    self.assertIn(parts, text)
                    self.assertIn(f"{family}, seed", text)
                    info = json.loads(self.check(0, "info", "filter", "--json")[0])
                    self.assertEqual((info["layout"], info["hash_family"]), (layout, family))

    def test_blocks_have_the_size_that_was_asked_for(self):
        for layout, size in (("page", "64K"), ("line", "256")):
            self.build("joe@example.org\n", "--layout", layout, "--block-bytes", size)
            self.check(0, "query", "filter", "joe@example.org")
            info = json.loads(self.check(0, "info", "filter", "--json")[0])
            self.assertEqual(info["block_bytes"], {"64K": 65536, "256": 256}[size])

    def test_nothing_is_left_behind_when_it_fails(self):
        empty = tempfile.TemporaryDirectory(prefix="bloomgate-test-")
        self.addCleanup(empty.cleanup)
        cases = [
            (EX_NOINPUT, ["missing"]),
            (EX_DATAERR, [os.path.join(empty.name, "")]),
            (EX_USAGE, []),
            (EX_USAGE, ["--bits-per-entry", "65", "list"]),
            (EX_USAGE, ["--bits-per-entry", "eight", "list"]),
            (EX_USAGE, ["--hashes", "0", "list"]),
            (EX_USAGE, ["--seed", "-1", "list"]),
            (EX_USAGE, ["--expected-entries", "many", "list"]),
            (EX_USAGE, ["--unknown", "list"]),
            (EX_USAGE, ["--layout", "pages", "list"]),
            (EX_USAGE, ["--hash", "md5", "list"]),
            (EX_USAGE, ["--block-bytes", "4095", "list"]),
            (EX_USAGE, ["--block-bytes", "2M", "list"]),
            (EX_USAGE, ["--layout", "line", "--block-bytes", "4096", "list"]),
            (EX_USAGE, ["--layout", "classic", "--block-bytes", "8", "list"]),
            (EX_DATAERR, ["--expected-entries", "9e18", "--bits-per-entry", "64", "list"]),
            (EX_CANTCREAT, ["--output", "no/such/folder/filter", "list"]),
        ]
        self.write("list", "a@example.org\n")
        for status, arguments in cases:
            with self.subTest(arguments=arguments):
                output = [] if "--output" in arguments else ["--output", "filter"]
                _, err = self.check(status, "build", *output, "--reject-file", "rejects", *arguments)
                self.assertTrue(err.startswith("bloomgate build: "), err)
                self.assertEqual(self.names(), ["list"])

    def test_a_list_is_never_overwritten(self):
        path = self.write("list", "a@example.org\n")
        self.check(EX_USAGE, "build", "-o", path, "list")
        self.check(EX_USAGE, "build", "-o", "filter", "--reject-file", path, "./list")
        self.check(EX_USAGE, "build", "-o", "filter", "--reject-file", "filter", "list")
        self.assertEqual((self.folder / "list").read_text(), "a@example.org\n")

    def test_the_bytes_do_not_depend_on_threads_memory_order_or_the_way_in(self):
        # Lines of many lengths, over several blocks, so that lines lie across the ends of blocks.
        lines = [f"user{i}.{'x' * (1 + i * 7919 % 40)}@Example{i % 97}.org\n" for i in range(150_000)]
        whole = self.write("whole", "".join(lines))
        parts = [self.write(f"part{i}", "".join(lines[i * 50_000 : (i + 1) * 50_000])) for i in range(3)]
        self.check(0, "build", "-o", "want", "--seed", "1", "--threads", "1", whole)
        want = (self.folder / "want").read_bytes()
        self.assertRegex(self.check(0, "verify", "want", "--against", *parts)[0], r"(?m)^found +150,000 ")
        for arguments in (
            ["--threads", "2", "--layout", "page", "--hash", "xxh3", "--block-bytes", "4096", whole],
            ["--threads", "7", *parts],
            ["--threads", "3", *reversed(parts)],
            ["--memory", "16M", whole],
            ["--memory", "16M", "--expected-entries", "150000", whole],
            ["--threads", "4", "-"],
            ["--threads", "4", parts[2], "-", parts[0]],
        ):
            with self.subTest(arguments=arguments):
                stdin = "".join(lines if arguments[-1] == "-" else lines[50_000:100_000]).encode()
                self.check(0, "build", "-o", "got", "--seed", "1", *arguments, stdin=stdin)
                self.assertEqual((self.folder / "got").read_bytes(), want)

    def test_in_no_layout_do_the_bytes_depend_on_threads_or_memory(self):
        path = self.write("whole", "".join(f"user{i}@example{i % 97}.org\n" for i in range(150_000)))
        for layout in ("line", "classic", "partitioned", "ribbon", "counting"):
            built = set()
            for options in (
                ["--threads", "1"],
                ["--threads", "2"],
                ["--threads", "2", "--expected-entries", "150000", "--memory", "64M"],
            ):
                shape = ["--layout", layout, "--seed", "1", *([] if layout == "ribbon" else ["--hashes", "5"])]
                self.check(0, "build", "-o", "filter", *shape, *options, path)
                built.add((self.folder / "filter").read_bytes())
            self.assertEqual(len(built), 1, layout)

    def test_hashes_that_memory_has_no_room_for_go_to_disk_and_change_nothing(self):
        path = self.write("whole", "".join(f"user{i}@example{i % 97}.org\n" for i in range(700_000)))
        scratch = self.folder / "scratch"
        scratch.mkdir()
        for layout in ("page", "partitioned", "ribbon", "counting"):
            hashes = [] if layout == "ribbon" else ["--hashes", "3"]
            shape = ["--layout", layout, *hashes, "--seed", "1", "--json", path]
            spilled = []
            for name, options in (("a", []), ("b", ["--memory", "1M", "--threads", "1", "--scratch", "scratch"])):
                out, _ = self.check(0, "build", "-o", name, *options, *shape)
                spilled.append(json.loads(out)["spilled_bytes"])
            self.assertEqual(spilled[0], 0)
            self.assertGreater(spilled[1], 1_000_000)
            self.assertEqual((self.folder / "a").read_bytes(), (self.folder / "b").read_bytes(), layout)
        self.assertEqual(os.listdir(scratch), [])

    def test_a_folder_that_cannot_take_them_fails_the_build(self):
        path = self.write("whole", "".join(f"user{i}@example{i % 97}.org\n" for i in range(700_000)))
        _, err = self.check(EX_CANTCREAT, "build", "-o", "filter", "--memory", "1M", "--threads", "1", "--scratch",
                            "missing", path)  # fmt: skip
        self.assertIn("its folder is not there; make it: mkdir -p missing\n", err)
        self.assertEqual(self.names(), ["whole"])

    def test_a_filter_larger_than_the_memory_is_made_in_parts(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (160_000_000, 160_000_000))  # noqa: E731
        # A thread that allocates may reserve 64 MiB of address space for an arena of malloc's own. Whether it gets them
        # before the builder gets what it needs is up to the scheduler.
        one_arena = os.environ | {"MALLOC_ARENA_MAX": "1"}
        if subprocess.run([BLOOMGATE, "--version"], capture_output=True, preexec_fn=limit).returncode != 0:
            self.skipTest("with a sanitizer there is no address space to limit")
        self.write("list", "".join(f"user{i}@example{i % 97}.org\n" for i in range(100_000)))
        for layout in ("page", "classic"):
            command = ["build", "--layout", layout, "--seed", "1", "--expected-entries", "200000000", "list"]
            self.check(0, *command, "-o", "want")
            result = subprocess.run([BLOOMGATE, *command, "-o", "got"], capture_output=True, cwd=self.folder,
                                    timeout=60, preexec_fn=limit, env=one_arena)  # fmt: skip
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(filecmp.cmp(self.folder / "want", self.folder / "got", shallow=False), layout)

    def test_a_list_whose_samples_mislead_is_sized_by_its_entries_all_the_same(self):
        # More than a GiB, of which nearly all is one bad line: what the samples meet is not like the rest.
        path = self.write("list", "bad,,line@example.org\n")
        os.truncate(path, 2**30)
        with open(path, "a") as file:
            file.write("\n" + "".join(f"user{i}@example.org\n" for i in range(100_000)) + "bad,end@example.org\n")
        out, err = self.check(0, "build", "-o", "filter", "--reject-file", "rejects", path)
        self.assertRegex(out, r"(?m)^entries +100,000$")
        self.assertRegex(out, r"(?m)^rejected +3$")
        self.assertEqual(len(re.findall(r"list:\d+: ", err)), 3)
        self.assertEqual(len(re.findall(r"(?m)^# ", (self.folder / "rejects").read_text())), 3)
        info = json.loads(self.check(0, "info", "filter", "--json")[0])
        self.assertEqual(info["expected_entries"], 100_000)
        self.assertAlmostEqual(info["body_bytes"] * 8 / 100_000, 8, delta=0.2)  # 25 whole pages

    def test_line_numbers_are_right_in_every_block_of_a_large_list(self):
        lines = [f"user{i}@example.org\n" for i in range(200_000)]
        bad = list(range(17, 200_000, 9973))
        for line in bad:
            lines[line - 1] = f"bad,{line}@example.org\n"
        text = "".join(lines)
        for arguments, stdin in (([self.write("list", text)], b""), (["-"], text.encode())):
            self.check(0, "build", "-o", "filter", "--threads", "4", "--reject-file", "rejects", *arguments, stdin=stdin)
            rejects = re.findall(r"(?m)^# .*:(\d+): bad-local-part-character\nbad,(\d+)@", (self.folder / "rejects").read_text())
            self.assertEqual(rejects, [(str(line), str(line)) for line in bad])

    def test_an_empty_list_is_built_with_a_warning(self):
        _, err = self.build("# nobody\n\n")
        self.assertIn("warning: the lists hold no entries", err)
        self.check(1, "query", "filter", "a@example.org")

    def test_hostile_lists_do_no_harm(self):
        long_line = b"x" * 5_000_000 + b"@example.org\n"
        text = long_line + b"\x00\x01\xff\n" + b"\xef\xbb\xbfgood@example.org\r\n" + b"last@example.org"
        out, err = self.build(text, "--reject-file", "rejects")
        self.assertRegex(out, r"(?m)^entries +2$")
        self.assertRegex(err, r"list:1: too-long: ")
        self.assertRegex(err, r"list:2: control-character: ")
        self.assertLess((self.folder / "rejects").stat().st_size, 5000)
        self.check(0, "query", "filter", "good@example.org", "last@example.org")

    def test_a_stop_signal_leaves_the_old_filter_and_nothing_else(self):
        self.build("old@example.org\n")
        before = (self.folder / "filter").read_bytes()
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                read_end, write_end = os.pipe()
                command = [BLOOMGATE, "build", "-o", "filter", "--reject-file", "rejects", "-"]
                process = subprocess.Popen(command, stdin=read_end, stderr=subprocess.PIPE, cwd=self.folder)
                os.close(read_end)
                os.write(write_end, b"bad,,line@example.org\n")
                process.stderr.readline()  # the bad line was read, so the program is at work
                process.send_signal(number)
                _, err = process.communicate(timeout=30)
                os.close(write_end)
                self.assertEqual(process.returncode, 128 + number, err)
                self.assertEqual((self.folder / "filter").read_bytes(), before)
                self.assertEqual(self.names(), ["filter", "list"])


class BroadEntryTest(ProgramTest):
    """Entries that list anybody, as a whole public suffix does or a free-mail domain."""

    SHIPPED = str(pathlib.Path(__file__).resolve().parents[3] / "config/free-mail-domains.txt")

    def report(self, text, *options, free_mail=SHIPPED):
        out, err = self.build(text, "--json", "--free-mail-domains", free_mail, *options)
        report = json.loads(out)
        return report["public_suffixes"], report["free_mail_domains"], err

    def test_each_gets_a_warning_with_its_place_and_stays_in_the_list(self):
        text = "joe@gmail.com\n@gmail.com\n\n@.Co.UK # all of it\nbad\n@.example.org\n@.outlook.com\n"
        suffixes, free_mail, err = self.report(text)
        self.assertEqual((suffixes, free_mail), (1, 2))
        self.assertIn("list:2: warning: @gmail.com is a free-mail domain: anybody can have an address there", err)
        self.assertIn("list:4: warning: @.co.uk is a public suffix: anybody can have a domain below it", err)
        self.assertIn("list:7: warning: @.outlook.com is a free-mail domain", err)
        self.assertEqual(err.count("warning"), 3)
        self.check(0, "query", "filter", "x@gmail.com", "x@shop.co.uk", "x@outlook.com")

    def test_what_is_somebodys_own_gets_none(self):
        text = "@example.co.uk\n@.example.com\n@intranet\n@.unheard-of\n@[192.0.2.1]\n@mail.gmail.com\nco.uk@example.org\n"
        self.assertEqual(self.report(text), (0, 0, ""))

    def test_public_suffixes_are_known_in_every_spelling(self):
        for entry in ("@com", "@.com", "@.github.io", "@.\u516c\u53f8.cn", "@.xn--55qx5d.cn", "@.KAWASAKI.jp", "@.ck"):
            with self.subTest(entry=entry):
                self.assertEqual(self.report(entry)[:2], (1, 0))

    def test_many_are_shown_in_part_and_counted_in_whole(self):
        # Several blocks of lines, so that the places are counted across them.
        text = "".join("user%d@example.org\n" % i + ("@gmail.com\n" if i % 1000 == 7 else "") for i in range(400_000))
        suffixes, free_mail, err = self.report(text, "--threads", "2")
        self.assertEqual((suffixes, free_mail), (0, 400))
        shown = re.findall(r"list:(\d+): warning: @gmail", err)
        self.assertEqual([int(number) for number in shown], [9 + 1001 * i for i in range(10)])
        self.assertEqual(err.count("further warnings of that kind are only counted"), 1)

    def test_ten_are_shown_without_a_remark(self):
        self.assertNotIn("further", self.report("@gmail.com\n" * 10)[2])
        self.assertIn("further", self.report("@gmail.com\n" * 11)[2])

    def test_they_are_no_error_for_strict(self):
        self.assertEqual(self.report("@gmail.com\n@.com\n", "--strict")[:2], (1, 1))

    def test_the_text_report_has_them_only_where_there_are_any(self):
        out, _ = self.build("@.com\n@gmail.com\n", "--free-mail-domains", self.SHIPPED)
        self.assertRegex(out, r"(?m)^broad +1 public suffixes, 1 free-mail domains$")
        self.assertNotIn("broad", self.build("@example.org\n", "--free-mail-domains", self.SHIPPED)[0])

    def test_the_operator_says_what_the_free_mail_domains_are(self):
        own = self.write("own", "# ours\n\n  @Freemail.example # a provider\r\nb\u00fccher.example\n")
        text = "@gmail.com\n@freemail.example\n@xn--bcher-kva.example\n"
        self.assertEqual(self.report(text, free_mail=own)[:2], (0, 2))
        self.assertEqual(self.report(text, free_mail="/dev/null")[:2], (0, 0))

    def test_a_slip_in_that_file_is_shown_and_stops_nothing(self):
        own = self.write("own", "gmail.com\ngmail com\n@.gmx.de\njoe@web.de\n")
        suffixes, free_mail, err = self.report("@gmail.com\n@gmx.de\n@web.de\n", free_mail=own)
        self.assertEqual((suffixes, free_mail), (0, 1))
        for number in (2, 3, 4):
            self.assertIn(f"own:{number}: not a free-mail domain: ", err)

    def test_without_that_file_the_option_fails(self):
        self.write("list", "@gmail.com\n")
        _, err = self.check(EX_NOINPUT, "build", "-o", "filter", "--free-mail-domains", "missing", "list")
        self.assertIn("missing", err)
        self.assertEqual(self.names(), ["list"])

    def test_the_shipped_file_has_each_domain_once_and_no_slip(self):
        lines = pathlib.Path(self.SHIPPED).read_text().splitlines()
        domains = [line for line in lines if line and not line.startswith("#")]
        self.assertGreater(len(domains), 100)
        self.assertEqual(len(set(domains)), len(domains))
        suffixes, free_mail, err = self.report("".join(f"@{domain}\n" for domain in domains))
        self.assertEqual((suffixes, free_mail), (0, len(domains)))
        self.assertNotIn("not a free-mail domain", err)


class InputTest(ProgramTest):
    TOOLS = {"gz": ["gzip"], "zst": ["zstd", "-q"], "xz": ["xz"], "bz2": ["bzip2"]}

    def compress(self, kind, text, *options):
        text = text.encode() if isinstance(text, str) else text
        return subprocess.run([*self.TOOLS[kind], *options, "-c"], input=text, capture_output=True, check=True).stdout

    def built_from(self, *inputs, stdin=b"", options=()):
        self.check(0, "build", "-o", "filter", "--seed", "1", "--strict", *options, *inputs, stdin=stdin)
        return (self.folder / "filter").read_bytes()

    def test_a_folder_stands_for_the_files_in_it(self):
        deep = self.folder / "lists" / "b" / "c"
        deep.mkdir(parents=True)
        self.write("lists/z", "z@example.org\n")
        self.write("lists/b/y", "bad,y@example.org\ny@example.org\n")
        self.write("lists/b/c/x", "bad,x@example.org\nx@example.org\n")
        self.write("outside", "outside@example.org\n")
        os.symlink(self.folder / "outside", deep / "link")
        self.write("lists/.hidden", "hidden@example.org\n")
        (self.folder / "lists/.git").mkdir()
        self.write("lists/.git/config", "git@example.org\n")
        os.symlink("..", self.folder / "lists" / "loop")
        os.mkfifo(self.folder / "lists" / "fifo")
        _, err = self.check(0, "build", "-o", "filter", "--threads", "1", "--expected-entries", "1e5", "lists")
        self.assertEqual(re.findall(r"(?m)^(.*):1: bad-local-part-character", err), ["lists/b/c/x", "lists/b/y"])
        self.check(0, "query", "filter", *(f"{name}@example.org" for name in ("x", "y", "z", "outside")))
        for name in ("hidden", "git"):
            self.check(1, "query", "filter", f"{name}@example.org")
        self.assertRegex(self.check(0, "verify", "filter", "--against", "lists")[0], r"(?m)^found +4 ")

    def test_an_output_in_the_folder_of_lists_is_refused_once_it_is_there(self):
        (self.folder / "lists").mkdir()
        self.write("lists/a", "a@example.org\n")
        self.write("lists/filter", "not a filter\n")
        _, err = self.check(EX_USAGE, "build", "-o", "lists/filter", "lists")
        self.assertIn("--output would overwrite the list lists/filter", err)

    def test_more_files_than_may_be_open_at_once_are_read(self):
        (self.folder / "lists").mkdir()
        for i in range(300):
            self.write(f"lists/{i}", f"user{i}@example.org\n")
        limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))  # noqa: E731
        result = subprocess.run([BLOOMGATE, "build", "-o", "filter", "--threads", "3", "lists"], capture_output=True,
                                cwd=self.folder, timeout=60, preexec_fn=limit)  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, rb"(?m)^entries +300$")

    def test_compressed_lists_give_the_same_filter_whatever_their_name(self):
        lines = [f"user{i}.{'x' * (1 + i * 7919 % 40)}@example{i % 97}.org\n" for i in range(100_000)]
        parts = ["".join(lines[:30_000]), "".join(lines[30_000:])[:-1]]
        want = self.built_from(self.write("plain", "".join(parts)))
        for kind in self.TOOLS:
            # Two files put together are one: members, frames and streams are read to the end.
            whole = self.compress(kind, parts[0]) + self.compress(kind, parts[1])
            with self.subTest(kind=kind, how="file"):
                self.assertEqual(self.built_from(self.write("list.txt", whole), options=["--threads", "3"]), want)
            with self.subTest(kind=kind, how="standard input"):
                self.assertEqual(self.built_from("-", stdin=whole), want)
            with self.subTest(kind=kind, how="two files"):
                names = [self.write(f"{kind}{i}", self.compress(kind, part)) for i, part in enumerate(parts)]
                self.assertEqual(self.built_from(*names, options=["--threads", "2"]), want)
            with self.subTest(kind=kind, how="verify"):
                found, _ = self.check(0, "verify", "filter", "--against", "list.txt")
                self.assertRegex(found, r"(?m)^found +100,000 ")

    def test_empty_members_and_skippable_frames_are_passed_over(self):
        text = "joe@example.org\n"
        for kind in self.TOOLS:
            empty = self.compress(kind, "")
            self.built_from(self.write("list", empty + self.compress(kind, text) + empty))
            self.check(0, "query", "filter", "joe@example.org")
        skippable = b"\x5e\x2a\x4d\x18\x05\x00\x00\x00hello"
        self.built_from(self.write("list", skippable + self.compress("zst", text) + skippable))
        self.check(0, "query", "filter", "joe@example.org")

    def test_text_that_starts_like_a_compressed_file_is_text(self):
        for text in ("BZh9@example.org\n", "BZh", "(\n", "P*M@example.org\n", ""):
            self.check(0, "build", "-o", "filter", "-", stdin=text.encode())
            self.check(0, "build", "-o", "filter", self.write("list", text))
        self.build("BZh91A@example.org\n", "--strict")
        self.check(0, "query", "filter", "BZh91A@example.org")

    def test_what_is_cut_off_or_damaged_is_refused_by_name(self):
        self.build("old@example.org\n")
        before = (self.folder / "filter").read_bytes()
        text = "".join(f"user{i * 7919 % 10007}@example.org\n" for i in range(2000))
        for kind in self.TOOLS:
            whole = self.compress(kind, text, *(["--check"] if kind == "zst" else []))
            cuts = [whole[:length] for length in (10, len(whole) // 2, len(whole) - 9, len(whole) - 1)]
            seconds = [whole + whole[:length] for length in (5, 12, len(whole) // 2)]
            damaged = [bytearray(whole), bytearray(whole)]
            damaged[0][len(whole) // 2] ^= 0x10
            damaged[1][-7] ^= 0x10  # in the checksum at the end; of xz, in its footer
            whole_and_more = whole + b"garbage that is no member"
            for number, content in enumerate([*cuts, *seconds, *map(bytes, damaged), whole_and_more]):
                for inputs, stdin in (([self.write("list", content)], b""), (["-"], content)):
                    with self.subTest(kind=kind, number=number, inputs=inputs):
                        _, err = self.check(EX_DATAERR, "build", "-o", "filter", "--reject-file", "rejects", *inputs, stdin=stdin)
                        self.assertRegex(err, rf" data of ({'|'.join(inputs)}|standard input) are damaged or cut off")
                        self.assertEqual((self.folder / "filter").read_bytes(), before)
                        self.assertEqual(self.names(), ["filter", "list"])

    def test_a_bomb_is_only_a_long_list(self):
        # More text than the build may have memory, in one line or in short ones.
        for name, unit in (("line", b"x" * (1 << 20)), ("lines", b"#" * 1023 + b"\n")):
            with self.subTest(name), open(self.folder / "bomb", "wb") as file:
                packer = subprocess.Popen(["gzip", "-1", "-c"], stdin=subprocess.PIPE, stdout=file)
                for _ in range(512):
                    packer.stdin.write(unit * ((1 << 20) // len(unit)))
                packer.stdin.write(b"\njoe@example.org\n")
                packer.stdin.close()
                self.assertEqual(packer.wait(), 0)
                command = [BLOOMGATE, "build", "-o", "filter", "--threads", "2", "--memory", "32M", "bomb"]
                process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                self.assertEqual(process.returncode, 0)
                self.assertLess(usage.ru_maxrss, 400 << 10)  # KiB; a sanitizer takes much of it
                self.check(0, "query", "filter", "joe@example.org")

    def test_a_header_without_end_is_no_way_to_fill_the_memory(self):
        header = b"\x1f\x8b\x08\x08" + bytes(6)  # a name follows, up to a zero byte
        result = subprocess.run([BLOOMGATE, "build", "-o", "filter", "-"], input=header + b"x" * (80 << 20),
                                capture_output=True, cwd=self.folder, timeout=60)  # fmt: skip
        self.assertEqual(result.returncode, EX_DATAERR)
        self.assertIn(b"gzip data of standard input are damaged", result.stderr)

    def test_what_takes_too_much_memory_to_decompress_is_refused_with_advice(self):
        text = b"joe@example.org\n" * 1000
        for kind, options, want in (
            ("xz", ["--lzma2=dict=1GiB"], "with 100 MiB of memory"),
            ("zst", ["--long=31", "--ultra"], "with a window of 128 MiB"),
        ):
            with self.subTest(kind):
                content = self.compress(kind, text, *options)
                _, err = self.check(EX_DATAERR, "build", "-o", "filter", "-", stdin=content)
                self.assertIn(want, err)

    def test_several_compressed_lists_are_read_at_once(self):
        # One of two pipes gives nothing until the other was read: a single reader at a time would wait for ever.
        fifos = [str(self.folder / name) for name in ("first", "second")]
        for fifo in fifos:
            os.mkfifo(fifo)
        command = [BLOOMGATE, "build", "-o", "filter", "--threads", "2", *fifos]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=self.folder)
        first, second = (open(fifo, "wb") for fifo in fifos)
        second.write(self.compress("gz", "bad,,line@example.org\n"))
        second.close()
        self.assertIn(b"second:1: bad-local-part-character", process.stderr.readline())
        first.write(self.compress("xz", "joe@example.org\n"))
        first.close()
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.check(0, "query", "filter", "joe@example.org")


class FaultTest(ProgramTest):
    """Whatever happens, the output is the old filter or a whole new one."""

    def setUp(self):
        super().setUp()
        self.build("old@example.org\n")
        self.before = (self.folder / "filter").read_bytes()
        self.large = self.write("large", "".join(f"user{i}@example.org\n" for i in range(300_000)))

    def leftovers(self):
        return [name for name in self.names() if name.startswith(".filter.tmp-")]

    def check_old_filter_alone(self):
        self.assertEqual((self.folder / "filter").read_bytes(), self.before)
        self.assertEqual(self.names(), ["filter", "large", "list"])

    def test_a_kill_at_any_moment_leaves_a_whole_filter_and_the_next_build_clears_up(self):
        command = [BLOOMGATE, "build", "-o", "filter", "--seed", "1", "--bits-per-entry", "64", "large"]
        started = time.monotonic()
        subprocess.run(command, capture_output=True, cwd=self.folder, check=True)
        duration = time.monotonic() - started
        states = {self.before, (self.folder / "filter").read_bytes()}
        for tenth in range(11):
            (self.folder / "filter").write_bytes(self.before)
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)
            time.sleep(duration * tenth / 10)
            process.kill()
            process.wait()
            self.assertIn((self.folder / "filter").read_bytes(), states)
            self.check(0, "verify", "filter")
        # The moments above may all miss the writing: one more kill, while the temporary file is there.
        while not self.leftovers():
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)
            while process.poll() is None and not self.leftovers():
                pass
            process.kill()
            process.wait()
        self.check(0, "verify", "filter")
        self.build("next@example.org\n")
        self.assertEqual(self.leftovers(), [])

    def test_a_build_leaves_the_temporary_file_of_one_that_runs(self):
        command = [BLOOMGATE, "build", "-o", "filter", "--bits-per-entry", "64", "large"]
        while not self.leftovers():
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.folder)
            self.addCleanup(process.kill)
            while process.poll() is None and not self.leftovers():
                pass
            if process.poll() is None:
                os.kill(process.pid, signal.SIGSTOP)
                # It goes on until the signal reaches it, and may come to its end meanwhile.
                os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            if not self.leftovers():
                process.send_signal(signal.SIGCONT)
                process.communicate(timeout=60)
        during = self.leftovers()
        self.build("next@example.org\n")
        self.assertEqual(self.leftovers(), during)
        process.send_signal(signal.SIGCONT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.check(0, "verify", "filter", "--against", "large")
        self.assertEqual(self.leftovers(), [])

    def test_a_limit_of_file_size_is_an_error_like_a_full_disk(self):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # noqa: E731
        result = subprocess.run([BLOOMGATE, "build", "-o", "filter", "large"], capture_output=True, cwd=self.folder,
                                timeout=60, preexec_fn=limit)  # fmt: skip
        self.assertEqual(result.returncode, EX_CANTCREAT, result.stderr)
        self.assertIn(b"File too large", result.stderr)
        self.check_old_filter_alone()

    def test_a_full_disk_leaves_the_old_filter(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(disk)]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
            print("skipped: a small file system cannot be mounted here")  # for the closing lines of scripts/test
            self.skipTest("no small file system")
        try:
            self.check(0, "build", "-o", "disk/filter", "list")
            before = (disk / "filter").read_bytes()
            _, err = self.check(EX_CANTCREAT, "build", "-o", "disk/filter", "large")
            self.assertIn("No space left on device", err)
            self.assertEqual((disk / "filter").read_bytes(), before)
            self.assertEqual(os.listdir(disk), ["filter"])
        finally:
            subprocess.run(["umount", str(disk)], check=True)

    def test_a_reject_file_that_is_no_regular_file_stays_when_a_build_fails(self):
        # A FIFO of our own stands for /dev/null, which root could remove.
        fifo = self.folder / "rejects"
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.check(EX_DATAERR, "build", "-o", "filter", "--reject-file", "rejects", "-", stdin=b"\x1f\x8b\x08")
        self.assertTrue(fifo.is_fifo())
        fifo.unlink()
        self.check_old_filter_alone()

    def test_a_list_that_vanishes_leaves_the_old_filter(self):
        fifo = str(self.folder / "fifo")
        os.mkfifo(fifo)
        for change, want in (
            (lambda: os.truncate(self.large, 3_000_000), b"large shrank while it was read"),
            (lambda: os.replace(self.write("other", "a@example.org\n"), self.large), b"large was replaced"),
            (lambda: os.unlink(self.large), b"open /.*large: No such file"),
        ):
            content = pathlib.Path(self.large).read_bytes()
            # The pipe holds the only worker until the list is changed.
            command = [BLOOMGATE, "build", "-o", "filter", "--threads", "1", fifo, self.large]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.folder)
            with open(fifo, "wb") as pipe:
                pipe.write(b"bad,,line@example.org\n")
                pipe.flush()
                process.stderr.readline()
                change()
            _, err = process.communicate(timeout=60)
            self.assertIn(process.returncode, (74, EX_NOINPUT))
            self.assertRegex(err, want)
            self.write("large", content)
            self.assertEqual((self.folder / "filter").read_bytes(), self.before)
            self.assertEqual(self.names(), ["fifo", "filter", "large", "list"])

    def test_a_pipe_that_closes_half_way_through_compressed_text_leaves_the_old_filter(self):
        fifo = str(self.folder / "large")
        packed = subprocess.run(["gzip", "-c", self.large], capture_output=True, check=True).stdout
        os.unlink(self.large)
        os.mkfifo(fifo)
        process = subprocess.Popen([BLOOMGATE, "build", "-o", "filter", fifo], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, cwd=self.folder)  # fmt: skip
        with open(fifo, "wb") as pipe:
            pipe.write(packed[: len(packed) // 2])
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, EX_DATAERR)
        self.assertIn(b"damaged or cut off", err)
        self.check_old_filter_alone()

    def test_a_list_that_cannot_be_read_leaves_the_old_filter(self):
        _, err = self.check(74, "build", "-o", "filter", "large", "/proc/self/mem")
        self.assertIn("read /proc/self/mem: Input/output error", err)
        self.check_old_filter_alone()

    def test_the_loss_of_the_terminal_is_a_stop(self):
        process = subprocess.Popen([BLOOMGATE, "build", "-o", "filter", "-"], stdin=subprocess.PIPE,
                                   stderr=subprocess.PIPE, cwd=self.folder)  # fmt: skip
        process.stdin.write(b"bad,,line@example.org\n")
        process.stdin.flush()
        process.stderr.readline()
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGHUP)
        self.check_old_filter_alone()


class FormatTest(ProgramTest):
    def test_rows_with_line_ends_in_them_are_read_whole_in_every_block(self):
        # Notes of three lines, of which the middle one looks like a row of its own: nobody in there may be listed.
        rows = [f'"note\nevil{i}@example.org,{"x" * (i * 7919 % 200)}\n",user{i}@example.org\r\n' for i in range(60_000)]
        rows[50_000] = "short\r\n"
        text = "note,mail\r\n" + "".join(rows)
        path = self.write("list", text)
        for inputs, stdin in (([path], b""), (["-"], text.encode())):
            out, err = self.check(0, "build", "-o", "filter", "--format", "csv:mail", "--threads", "3", *inputs, stdin=stdin)
            self.assertRegex(out, r"(?m)^entries +59,999$")
            self.assertRegex(out, r"(?m)^rejected +1$")
            self.assertIn(f":{2 + 3 * 50_000}: csv-missing-field: ", err)
        out, _ = self.check(0, "verify", "filter", "--format", "csv:2", "--against", path)
        self.assertRegex(out, r"(?m)^found +59,999 ")

    def test_each_list_has_its_own_first_line(self):
        a = self.write("a", "mail,id\na@example.org,1\n")
        b = self.write("b", "id,mail\n2,b@example.org\n")
        self.check(0, "build", "-o", "filter", "--format", "csv:mail", "--strict", a, b, self.write("empty", ""))
        self.check(0, "query", "filter", "a@example.org", "b@example.org")
        _, err = self.check(EX_DATAERR, "build", "-o", "filter", "--threads", "1", "--format", "csv:e-mail", a, b)
        self.assertIn("has no column 'e-mail': its first line has 'mail', 'id'", err)

    def test_a_row_without_end_takes_no_more_than_itself(self):
        text = "mail,note\na@example.org,\"" + "x\n" * 2_000_000 + "\"\nb@example.org,\n"
        out, err = self.check(0, "build", "-o", "filter", "--format", "csv:1", self.write("list", text))
        self.assertRegex(err, r"list:2: csv-bad-quotes")
        self.check(0, "query", "filter", "b@example.org")
        self.assertRegex(out, r"(?m)^entries +1$")

    def test_the_bad_of_a_postfix_table_are_not_listed(self):
        access = "# access\ngood@example.org OK\n.example.net\tRELAY\nbad@example.org REJECT\nworse.example 550 no\nodd.example ?\n"
        out, err = self.check(0, "build", "-o", "filter", "--format", "postfix-map", self.write("access", access))
        self.assertRegex(out, r"(?m)^entries +2$")
        self.assertIn("access:6: map-unknown-value: ", err)
        self.check(0, "query", "filter", "good@example.org", "x@a.example.net", "x@example.net")
        for bad in ("bad@example.org", "x@worse.example", "x@odd.example"):
            self.check(1, "query", "filter", bad)

    def test_wrong_formats_are_refused(self):
        for name in ("csv", "csv:0", "json"):
            _, err = self.check(EX_USAGE, "build", "-o", "filter", "--format", name, self.write("list", ""))
            self.assertIn("--format ", err)


class ProgressTest(ProgramTest):
    """A build whose list comes through a pipe, so that it lasts as long as the test wants."""

    def start(self, *options, stderr):
        read_end, self.list = os.pipe()
        command = [BLOOMGATE, "build", "-o", "filter", *options, "-"]
        environment = dict(os.environ, TERM="xterm")
        process = subprocess.Popen(command, stdin=read_end, stdout=subprocess.PIPE, stderr=stderr, cwd=self.folder,
                                   env=environment)  # fmt: skip
        os.close(read_end)
        os.write(self.list, b"joe@example.org\nbad,,line@example.org\n")
        return process

    def finish(self, process):
        os.close(self.list)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertRegex(out, rb"(?m)^entries +1$")
        return err

    def read_until(self, file, text):
        """What `file` gives up to `text`; a test that hangs here is ended by ctest."""
        got = b""
        while text not in got:
            piece = os.read(file, 4096)
            self.assertTrue(piece, got)
            got += piece
        return got

    def test_a_terminal_shows_a_bar_that_goes_before_the_report(self):
        master, slave = pty.openpty()
        process = self.start(stderr=slave)
        os.close(slave)
        shown = self.read_until(master, b"\r\x1b[Kreading  38 bytes  ")
        self.finish(process)
        try:
            shown += os.read(master, 4096)
        except OSError:  # the terminal is gone with its last user
            pass
        os.close(master)
        self.assertIn(b"standard input:2: bad-local-part-character: ", shown)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown)

    def test_elsewhere_a_line_comes_every_ten_seconds(self):
        process = self.start(stderr=subprocess.PIPE)
        started = time.monotonic()
        shown = self.read_until(process.stderr.fileno(), b"reading: 38 bytes, 3 bytes/s, 0:10\n")
        self.assertGreater(time.monotonic() - started, 9)
        self.assertNotIn(b"\x1b", shown + self.finish(process))

    def test_quiet_tells_of_bad_lines_only(self):
        master, slave = pty.openpty()
        process = self.start("--quiet", stderr=slave)
        os.close(slave)
        shown = self.read_until(master, b"\n")
        time.sleep(0.5)  # more than the bar's interval: that nothing comes cannot be awaited
        self.finish(process)
        try:
            shown += os.read(master, 4096)
        except OSError:
            pass
        os.close(master)
        self.assertRegex(shown, rb"\Astandard input:2: bad-local-part-character: [^\r\n]*\r\n\Z")

    def test_the_report_as_json_has_what_the_text_has(self):
        text, _ = self.build("a@example.org\na@example.org\nnonsense\n", "--seed", "5")
        report = json.loads(self.build("a@example.org\na@example.org\nnonsense\n", "--seed", "5", "--json")[0])
        self.assertEqual(report["file"], "filter")
        self.assertEqual((report["entries"], report["rejected"], report["distinct_entries"]), (2, 1, 1))
        self.assertEqual(report["file_bytes"], (self.folder / "filter").stat().st_size)
        self.assertEqual(report["bits_per_entry"], 4096 * 8 / 2)
        self.assertEqual(report["seed"], "0x0000000000000005")
        self.assertEqual(report["fpr"], json.loads(self.check(0, "info", "filter", "--json")[0])["fpr"])
        self.assertGreater(report["seconds"], 0)
        self.assertAlmostEqual(report["entries_per_second"] * report["seconds"], 2, delta=0.1)
        for pattern in (r"^entries +2$", r"^rejected +1$", r"^distinct +1 ", r"^seed +0x0{15}5$", r"16384.00 bits per entry"):
            self.assertRegex(text, "(?m)" + pattern)

    def test_an_empty_list_has_no_bits_per_entry(self):
        self.assertIsNone(json.loads(self.build("", "--json")[0])["bits_per_entry"])

    def test_nobody_listening_does_no_harm(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        command = [BLOOMGATE, "build", "-o", "filter", self.write("list", "nonsense\n")]
        result = subprocess.run(command, stdout=write_end, stderr=write_end, cwd=self.folder, timeout=60)
        os.close(write_end)
        self.assertEqual(result.returncode, 74)
        self.assertEqual(self.names(), ["filter", "list"])


class PairsTest(ProgramTest):
    LIST = (
        "joe@example.net\n"
        "@partner.example\n"
        "Joe@Example.org > Ann <ann@ours.example> # a comment\n"
        "@example.org > ann@ours.example\n"
        "joe@example.org > @ours.example\n"
    )

    def query(self, status, *pairs, arguments=()):
        return self.check(status, "query", "filter", *arguments, *pairs)[0].splitlines()

    def test_every_report_tells_that_a_sender_is_looked_up_alone_and_with_a_recipient(self):
        pairs = self.write("pairs", "".join(f"user{i}@example.org > ann@ours.example\n" for i in range(1000)))
        more = self.write("more", "jim@example.org > ann@ours.example\n")
        reports = [
            json.loads(self.check(0, "build", "-o", "filter", "--store", "store", "--json", pairs)[0]),
            json.loads(self.check(0, "info", "filter", "--json")[0]),
            json.loads(self.check(0, "update", "-o", "filter", "--store", "store", "--add", more, "--json")[0]),
        ]
        self.check(0, "build", "-o", "counting", "--layout", "counting", pairs)
        reports.append(json.loads(self.check(0, "add", "counting", "--json", more)[0]))
        reports.append(json.loads(self.check(0, "export", "counting", "-o", "exported", "--json")[0]))
        for report in reports:
            fpr = report["fpr"]
            self.assertAlmostEqual(report["fpr_either"] / (1 - (1 - fpr) ** 4), 1, places=6)
            self.assertAlmostEqual(report["fpr_both"] / (1 - (1 - fpr) ** 2) ** 2, 1, places=6)
        merged = self.check(0, "merge", "-o", "merged", "exported", "exported")[0]
        self.assertEqual(re.search(r"(?m)^messages +(.*)$", merged)[1],
                         re.search(r"(?m)^messages +(.*)$", self.check(0, "info", "merged")[0])[1])

    def test_filters_with_pairs_are_compared(self):
        both = "joe@example.org > ann@ours.example\n@example.net > ann@ours.example\n"
        for name, more in (("a", "jim@example.org > ann@ours.example\n"), ("b", "@example.com > ann@ours.example\n")):
            self.check(0, "build", "-o", name, "--seed", "1", "--expected-entries", "100", self.write(name + ".txt", both + more))
        out = self.check(0, "compare", "a", "b")[0]
        self.assertIn("in a: 2 addresses, 1 domain entries\nin b: 1 addresses, 2 domain entries\n"
                      "in either: 2 addresses, 2 domain entries\nin both: 1 addresses, 1 domain entries\n", out)
        self.assertIn("(addresses and pairs of them are estimated from the fill; domain entries and pairs with one are counted)", out)

    def test_a_pair_asks_for_one_recipient_and_an_address_for_everybody(self):
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
        # A comment in a list, and an address to who asks.
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

    def test_a_sender_of_a_pair_who_is_listed_for_everybody_is_counted_as_listed(self):
        self.build("joe@example.net\nann@example.net > bob@ours.example\n")
        asked = self.write("asked", "joe@example.net > bob@ours.example\nann@example.net > eve@ours.example\n")
        out, _ = self.check(1, "query", "filter", "--count", "--list", asked)
        self.assertEqual(out, "listed\t1\nnot-listed\t1\nrejected\t0\n")

    def test_info_and_reports_say_that_there_are_pairs_and_nothing_where_there_are_none(self):
        report = json.loads(self.build(self.LIST, "--json")[0])
        self.assertEqual(report["pairs"], {"in_bits": 1, "with_domains": True})
        self.assertIn("\npairs            up to 1 in the bits, and others", self.check(0, "info", "filter")[0])
        self.assertEqual(json.loads(self.check(0, "info", "--json", "filter")[0])["pairs"], report["pairs"])
        self.assertNotIn("pairs", self.build("joe@example.org\n")[0] + self.check(0, "info", "filter")[0])

    def test_a_bad_pair_is_rejected_with_its_place_and_what_to_write(self):
        lines = "joe@example.org > \nanna > bob@ours.example\n@" + "a." * 16 + "org > bob@ours.example\nx@example.org > # x\n"
        _, err = self.build(lines)
        self.assertIn("list:1: trailing-text: ", err)
        self.assertIn("list:2: missing-at-sign: ", err)
        self.assertIn("list:3: too-many-labels: ", err)
        self.assertIn("list:4: incomplete-pair: the pair has no sender or no recipient; it is written sender > recipient", err)
        self.check(EX_DATAERR, "build", "--strict", "-o", "filter", str(self.folder / "list"))

    def test_a_table_with_two_columns_gives_pairs(self):
        table = self.write("table", "user,contact\nann@ours.example,joe@example.org\n")
        self.check(0, "build", "-o", "filter", "--format", "csv:contact,user", table)
        self.assertEqual(self.query(0, "joe@example.org > ann@ours.example"), ["listed\tjoe@example.org > ann@ours.example"])

    def test_a_pair_for_a_whole_free_mail_domain_is_shown_as_broad(self):
        free = self.write("free", "free.example\n")
        _, err = self.build("@free.example > ann@ours.example\nann@x.example > @free.example\n", "--free-mail-domains", free)
        self.assertIn("list:1: warning: @free.example > ann@ours.example is a free-mail domain", err)
        self.assertNotIn("list:2", err)

    def test_pairs_are_left_out_by_except_and_kept_out_by_not(self):
        gone = self.write("gone", "joe@example.org > ann@ours.example\nspam@example.com\n@.evil.example\n")
        text = self.LIST + "spam@example.com > ann@ours.example\nx@a.evil.example > ann@ours.example\n"
        out, _ = self.build(text, "--except", gone)
        self.assertIn("excepted  3 entries left out\n", out)
        self.assertEqual(self.query(1, "spam@example.com > ann@ours.example", "x@a.evil.example > ann@ours.example"),
                         ["not-listed\tspam@example.com > ann@ours.example", "not-listed\tx@a.evil.example > ann@ours.example"])
        strangers = "".join(f"spam{i}@evil.example > ann@ours.example\n" for i in range(2000))
        known = self.write("known", strangers + "joe@example.org > ann@ours.example\n")
        out, err = self.build(self.LIST, "--bits-per-entry", "1", "--hashes", "1", "--layout", "line", "--seed", "1", "--not", known)
        self.assertIn("known:2001: warning: joe@example.org > ann@ours.example is an entry, and stays listed", err)
        answers = self.query(1, "--list", self.write("spam", strangers))
        self.assertEqual(len(answers), 2000)
        # The sender alone may be a false positive, which --not says nothing about.
        self.assertFalse([line for line in answers if line.startswith("listed") and "\tby spam" not in line])
        self.assertTrue([line for line in answers if line.endswith("\texcluded")])

    def test_a_store_confirms_pairs_is_an_input_and_is_updated(self):
        self.build(self.LIST, "--store", "store", "--store-seed", "1")
        self.assertIn("\npairs            up to 1 in the bits, and others", self.check(0, "info", "store")[0])
        asked = ("joe@example.org > ann@ours.example", "joe@example.net > bob@ours.example", "jim@example.com > ann@ours.example")
        self.assertEqual([line.split("\t")[0] for line in self.query(1, *asked, arguments=["--confirm", "store"])],
                         ["listed", "listed", "not-listed"])
        self.check(0, "build", "-o", "other", "store")
        self.assertEqual(json.loads(self.check(0, "info", "--json", "other")[0])["pairs"], {"in_bits": 1, "with_domains": True})
        gone = self.write("gone", "joe@example.org\n")
        _, err = self.check(EX_USAGE, "build", "-o", "other", "--except", gone, "store")
        self.assertIn("is a store with pairs", err)
        pair = self.write("pair", "joe@example.org > ann@ours.example\njoe@example.org > @ours.example\n")
        self.check(0, "update", "--store", "store", "--output", "filter", "--remove", pair,
                   "--add", self.write("new", "jim@example.com > ann@ours.example\n"))
        self.assertEqual([line.split("\t")[0] for line in self.query(0, *asked, arguments=["--confirm", "store"])], ["listed"] * 3)

    def test_counting_filters_take_pairs_in_and_off(self):
        self.build(self.LIST, "--layout", "counting", "--expected-entries", "100")
        more = self.write("more", "jim@example.com > bob@ours.example\n@example.com > eve@ours.example\n")
        self.check(0, "add", "filter", more)
        self.check(0, "export", "filter", "-o", "exported")
        out, _ = self.check(0, "query", "exported", "jim@example.com > bob@ours.example", "x@example.com > eve@ours.example")
        self.assertEqual(out.count("listed\t"), 2)
        out, err = self.check(0, "remove", "filter", more, self.write("none", "no@example.com > no@ours.example\n"))
        self.assertIn("none:1: not-there: ", err)
        self.check(0, "export", "filter", "-o", "exported")
        self.check(1, "query", "exported", "jim@example.com > bob@ours.example", "x@example.com > eve@ours.example")


class QueryTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.build("joe@example.org\n@example.net\n@.example.com\n", "--bits-per-entry", "64", "--hashes", "32")

    def test_prints_one_line_an_address_and_fails_if_one_is_not_listed(self):
        out, _ = self.check(1, "query", "filter", "<JOE@Example.org>", "x@example.net", "y@a.b.example.com", "z@example.de",
                            "<>", "nonsense", "@Example.NET")  # fmt: skip
        self.assertEqual(
            out.splitlines(),
            [
                "listed\tjoe@example.org",
                "listed\tx@example.net\tby @example.net",
                "listed\ty@a.b.example.com\tby @.example.com",
                "not-listed\tz@example.de",
                "not-listed\t<>",
                "not-listed\t-\tmissing-at-sign: " + out.splitlines()[5].split(": ", 1)[1],
                "listed\t@example.net",
            ],
        )
        self.check(0, "query", "filter", "joe@example.org")

    def test_reads_addresses_from_standard_input(self):
        for arguments in (["-"], []):
            out, _ = self.check(1, "query", "filter", *arguments, stdin=b"# comment\n\njoe@example.org\r\nann@example.org\n")
            self.assertEqual(out, "listed\tjoe@example.org\nnot-listed\tann@example.org\n")

    def test_lists_of_any_size_and_kind_are_answered_in_their_order(self):
        # Several blocks, with bad lines, comments and entries of domains among them.
        lines, want = [], []
        for i in range(120_000):
            if i % 1000 == 7:
                lines += ["# a comment", ""]
            name = f"User{i}.{'x' * (1 + i * 7919 % 40)}"
            address = name.lower() + "@example.org"
            if i % 997 == 0:
                lines.append(f"bad,{i}@example.org")
                want.append("not-listed\t-\tbad-local-part-character: ")
            elif i % 13 == 0:
                lines.append(f"{name}@a.example.com\r")
                want.append(f"listed\t{name.lower()}@a.example.com\tby @.example.com")
            elif i % 11 == 0:
                lines.append("<JOE@Example.org>")
                want.append("listed\tjoe@example.org")
            else:
                lines.append(f"{name}@Example.org")
                want.append(f"not-listed\t{address}")
        half = len(lines) // 2
        text = "\n".join(lines)
        parts = [self.write("a", "\n".join(lines[:half])), self.write("b", "\n".join(lines[half:]))]
        packed = self.write("b.gz", gzip.compress("\n".join(lines[half:]).encode()))
        counts = [sum(line.startswith(start) for line in want) for start in ("listed", "not-listed\t", "not-listed\t-")]
        count = f"listed\t{counts[0]}\nnot-listed\t{counts[1] - counts[2]}\nrejected\t{counts[2]}\n"
        for arguments, stdin in (
            (["--list", *parts, "--threads", "1"], b""),
            (["--threads", "2", "--list", *parts], b""),
            (["--list", parts[0], packed, "--threads", "5"], b""),
            (["-", "--threads", "3"], text.encode()),
        ):
            with self.subTest(arguments=arguments):
                out, err = self.check(1, "query", "filter", *arguments, stdin=stdin)
                got = [re.sub(r"(character: ).*", r"\1", line) for line in out.splitlines()]
                self.assertTrue(got == want, "\n".join(f"{a} | {b}" for a, b in zip(got, want) if a != b)[:1000])
                self.assertEqual(err, "")
                self.assertEqual(self.check(1, "query", "filter", "--count", *arguments, stdin=stdin)[0], count)
        shown = self.check(1, "query", "filter", "--listed", "--list", *parts)[0] + self.check(
            1, "query", "filter", "--not-listed", "--list", *parts)[0]  # fmt: skip
        self.assertEqual(shown.count("\n"), len(want))
        self.assertEqual(shown.count("not-listed\t"), counts[1])
        self.assertFalse(re.search(r"not-listed.*\n(listed)", shown))
        self.assertEqual(self.check(0, "query", "filter", "--count", "--list", self.write("c", "joe@example.org"))[0],
                         "listed\t1\nnot-listed\t0\nrejected\t0\n")  # fmt: skip

    def test_a_list_can_be_a_column_of_a_table(self):
        table = self.write("table", "id,mail\n1,joe@example.org\n2,\"ann@example.org\"\n")
        out, _ = self.check(1, "query", "filter", "--format", "csv:mail", "--list", table)
        self.assertEqual(out, "listed\tjoe@example.org\nnot-listed\tann@example.org\n")

    def test_answers_come_while_the_list_goes_on(self):
        process = subprocess.Popen([BLOOMGATE, "query", "filter", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   cwd=self.folder)  # fmt: skip
        for address in (b"joe@example.org", b"x@example.net"):
            process.stdin.write(address + b"\n")
            process.stdin.flush()
            self.assertIn(b"listed\t" + address, process.stdout.readline())
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0)

    def test_a_reader_that_goes_away_ends_it(self):
        path = self.write("large", "joe@example.org\n" * 500_000)
        process = subprocess.Popen([BLOOMGATE, "query", "filter", "--list", path], stdout=subprocess.PIPE, cwd=self.folder)
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=30), -signal.SIGPIPE)
        with open("/dev/full", "wb") as full:
            result = subprocess.run([BLOOMGATE, "query", "filter", "--list", path], stdout=full, stderr=subprocess.PIPE,
                                    cwd=self.folder, timeout=60)  # fmt: skip
        self.assertEqual(result.returncode, 74)

    def test_a_terminal_shows_how_far_a_count_is_unless_it_is_to_be_quiet(self):
        for options, want in (([], True), (["--quiet"], False)):
            master, slave = pty.openpty()
            process = subprocess.Popen([BLOOMGATE, "query", "filter", "--count", *options, "-"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=slave, cwd=self.folder,
                                       env=dict(os.environ, TERM="xterm"))  # fmt: skip
            os.close(slave)
            process.stdin.write(b"joe@example.org\n")
            process.stdin.flush()
            shown = b""
            if want:
                while b"reading  16 bytes" not in shown:
                    shown += os.read(master, 4096)
            out, _ = process.communicate(timeout=30)
            try:
                shown += os.read(master, 4096)
            except OSError:  # the terminal is gone with its last user
                pass
            os.close(master)
            self.assertEqual(out, b"listed\t1\nnot-listed\t0\nrejected\t0\n")
            self.assertEqual(bool(shown), want)

    def test_wrong_options_are_refused(self):
        for arguments in (["--count", "--listed", "-"], ["--listed", "--not-listed", "-"], ["--threads", "0", "-"],
                          ["--format", "json", "-"], ["--list"]):  # fmt: skip
            self.check(EX_USAGE, "query", "filter", *arguments)
        self.check(EX_NOINPUT, "query", "filter", "--list", "missing")

    def test_asks_on_a_terminal(self):
        master, slave = pty.openpty()
        process = subprocess.Popen([BLOOMGATE, "query", str(self.folder / "filter")], stdin=slave, stdout=subprocess.PIPE)
        os.close(slave)
        os.write(master, b"joe@example.org\nann@example.org\n\x04")
        out, _ = process.communicate(timeout=30)
        os.close(master)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(
            out.decode(), "address> listed\tjoe@example.org\naddress> not-listed\tann@example.org\naddress> \n"
        )

    def test_refuses_what_is_not_a_filter(self):
        _, err = self.check(EX_DATAERR, "query", "list", "joe@example.org")
        self.assertIn("list has 43 bytes, less than the header", err)
        self.check(EX_NOINPUT, "query", "missing", "joe@example.org")
        self.check(EX_USAGE, "query")

    def test_fails_where_its_output_cannot_be_written(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([BLOOMGATE, "query", "filter", "joe@example.org"], stdout=full, stderr=subprocess.PIPE,
                                    cwd=self.folder, timeout=60)  # fmt: skip
        self.assertEqual(result.returncode, 74)
        self.assertIn(b"cannot write to standard output", result.stderr)


class InfoTest(ProgramTest):
    def test_text_and_json_tell_the_same(self):
        self.build("a@example.org\nb@example.org\n@example.net\n", "--seed", "5")
        text, _ = self.check(0, "info", "filter")
        info = json.loads(self.check(0, "info", "filter", "--json")[0])
        self.assertEqual(info["entries"], 3)
        self.assertEqual(info["distinct_entries"], 3)
        self.assertEqual(info["file_bytes"], (self.folder / "filter").stat().st_size)
        self.assertEqual(info["addresses"], 2)
        self.assertEqual(info["domain_entries"], 1)
        self.assertEqual(info["bits_set"], 12)
        self.assertAlmostEqual(info["fill"], 12 / 32768)
        self.assertEqual(
            info["sections"],
            [
                {"kind": "bits", "offset": 4096, "bytes": 4096, "items": 2},
                {"kind": "domains", "offset": 12288, "bytes": 8, "items": 1},
            ],
        )
        for pattern in (r"seed 0x0000000000000005", r"(?m)^addresses +2$", r"(?m)^domain entries +1 ", r"(?m)^hashes +6$",
                        r"(?m)^section +domains: 8 bytes at offset 12,288$"):  # fmt: skip
            self.assertRegex(text, pattern)

    def test_the_rate_of_a_message_stands_beside_that_of_a_look_up(self):
        report = self.build("".join(f"user{i}@example.org\n" for i in range(10_000)))
        text = self.check(0, "info", "filter")[0]
        info = json.loads(self.check(0, "info", "filter", "--json")[0])
        self.assertAlmostEqual(info["fpr_either"], 1 - (1 - info["fpr"]) ** 2)
        self.assertAlmostEqual(info["fpr_both"], info["fpr"] ** 2)
        rates = r"(?m)^messages +(\d\.\d\d) % where one of two .*either\), (0\.0\d+) % where both .*both\)$"
        for out in (text, report[0]):
            either, both = (float(rate) for rate in re.search(rates, out).groups())
            self.assertAlmostEqual(either / 100, info["fpr_either"], delta=0.0001)
            self.assertAlmostEqual(both / 100, info["fpr_both"], delta=0.000001)

    def test_how_much_is_in_memory_is_shown(self):
        lines = "".join(f"user{i}@example.org\n" for i in range(1000))
        self.build(lines, "--expected-entries", "30000000", "--store", "store")
        for name in ("filter", "store"):
            path = self.folder / name
            size = path.stat().st_size
            path.read_bytes()
            self.assertEqual(json.loads(self.check(0, "info", name, "--residency", "--json")[0])["resident_bytes"], size)
            self.assertRegex(self.check(0, "info", name, "--residency")[0], rf"(?m)^in memory .*\({size:,} bytes\), 100.0 %$")
        self.assertNotIn("resident_bytes", json.loads(self.check(0, "info", "filter", "--json")[0]))
        if subprocess.check_output(["stat", "-f", "-c", "%T", self.folder]) == b"tmpfs\n":
            return  # all of it is memory
        with (self.folder / "filter").open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        # The header and what is read ahead with it come back.
        resident = json.loads(self.check(0, "info", "filter", "--residency", "--json")[0])["resident_bytes"]
        self.assertLess(resident, (self.folder / "filter").stat().st_size)

    def test_an_empty_filter_is_shown(self):
        self.build("")
        self.assertRegex(self.check(0, "info", "filter")[0], r"(?m)^FPR +0 %")


class VerifyTest(ProgramTest):
    def setUp(self):
        super().setUp()
        # Of one seed in fifty a stranger is a false positive.
        self.build("".join(f"user{i}@example.org\n" for i in range(20_000)), "--seed", "1")

    def test_a_sound_file_passes_with_its_list(self):
        out, _ = self.check(0, "verify", "filter", "--against", "list")
        self.assertRegex(out, r"(?m)^sound +filter: ")
        self.assertRegex(out, r"(?m)^found +20,000 entries")
        self.assertRegex(out, r"(?m)^missing +0$")
        measured, expected = re.search(r"(?m)^FPR +([\d.]+) % of 1,000,000 .* fill: ([\d.]+) % ", out).groups()
        self.assertLess(abs(float(measured) / float(expected) - 1), 0.04)  # six standard deviations of 10^6 probes

    def test_a_sound_filter_of_few_blocks_passes_whatever_its_seed(self):
        few = self.write("few", "".join(f"user{i}@example.org\n" for i in range(200)))
        for layout in ("line", "classic", "partitioned"):
            for seed in range(1, 2 if IS_SANITIZED else 9):
                self.check(0, "build", "-o", "small", "--layout", layout, "--seed", str(seed), few)
                self.check(0, "verify", "small", "--against", few)

    def test_domain_entries_are_checked_by_themselves(self):
        lines = "".join(f"user{i}@{i % 100}.example\n@{i}.example\n@.{i}.example.net\n" for i in range(3000))
        self.build(lines)
        out, _ = self.check(0, "verify", "filter", "--against", "list")
        self.assertRegex(out, r"(?m)^sound +filter: .* in the sections bits, domains ")
        self.assertRegex(out, r"(?m)^found +9,000 entries")
        # An address and a domain that are listed by a domain only are no entries.
        extra = self.write("extra", "@1.example\nann@1.example\n@.1.example\n@.a.1.example.net\n@3000.example\n")
        _, err = self.check(1, "verify", "filter", "--against", extra)
        self.assertEqual(
            err.splitlines()[:-1],
            [
                f"{extra}:2: not in the filter: ann@1.example",
                f"{extra}:3: not in the filter: @.1.example",
                f"{extra}:4: not in the filter: @.a.1.example.net",
                f"{extra}:5: not in the filter: @3000.example",
            ],
        )
        out, _ = self.check(1, "query", "filter", "--count", "--list", extra)
        self.assertEqual(out, "listed\t2\nnot-listed\t3\nrejected\t0\n")
        out, _ = self.check(0, "query", "filter", "--count", "--list", "list")
        self.assertEqual(out, "listed\t9000\nnot-listed\t0\nrejected\t0\n")

    def test_a_missing_entry_is_named(self):
        extra = self.write("extra", "user1@example.org\nstranger@nowhere.example\n")
        _, err = self.check(1, "verify", "filter", "--against", "list", extra)
        self.assertIn("extra:2: not in the filter: stranger@nowhere.example", err)

    def test_the_first_missing_entries_of_long_lists_are_named_in_order(self):
        self.build((self.folder / "list").read_text(), "--bits-per-entry", "64", "--hashes", "32")  # no false positives
        lines = [f"user{i % 20_000}@example.org\n" for i in range(200_000)]
        places = [("a", line) for line in range(54_321, 200_000, 30_000)] + [("b", line) for line in range(17, 200_000, 30_000)]
        for name in ("a", "b"):
            text = lines.copy()
            for line in (line for where, line in places if where == name):
                text[line - 1] = f"stranger{line}@nowhere.example\n"
            text[99] = "bad,,line@example.org\n"
            self.write(name, "".join(text))
        packed = self.write("b.gz", gzip.compress((self.folder / "b").read_bytes()))
        for threads, second in (("1", "b"), ("2", "b"), ("5", packed)):
            out, err = self.check(1, "verify", "filter", "--threads", threads, "--quiet", "--against", "a", second)
            want = [f"{second if name == 'b' else name}:{line}: not in the filter: stranger{line}@nowhere.example"
                    for name, line in places[:10]]  # fmt: skip
            self.assertEqual(err.splitlines()[:-1], want)
            self.assertRegex(out, rf"(?m)^found +{400_000 - 2 - len(places):,} ")
            self.assertRegex(out, rf"(?m)^missing +{len(places)}$")
            self.assertRegex(out, r"(?m)^rejected +2 ")
        # Standard input cannot be read twice.
        text = (self.folder / "a").read_bytes()
        for stdin in (text, gzip.compress(text)):
            source = open(self.write("stdin", stdin), "rb")
            self.addCleanup(source.close)
            for given in ({"input": stdin}, {"stdin": source}):
                result = subprocess.run([BLOOMGATE, "verify", "filter", "--against", "-"], capture_output=True,
                                        cwd=self.folder, timeout=60, **given)  # fmt: skip
                self.assertEqual(result.returncode, 1)
                want = [f"standard input:{line}: not in the filter: stranger{line}@nowhere.example"
                        for name, line in places if name == "a"]  # fmt: skip
                self.assertEqual(result.stderr.decode().splitlines()[:-1], want)

    def test_a_damaged_file_is_refused_with_the_place(self):
        data = bytearray((self.folder / "filter").read_bytes())
        data[5000] ^= 1
        (self.folder / "filter").write_bytes(data)
        _, err = self.check(EX_DATAERR, "verify", "filter")
        self.assertIn("damaged in the MiB at offset 4096", err)
        self.check(0, "info", "filter")


class SignTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.build("joe@example.org\n@example.net\n")
        self.public = self.check(0, "sign", "--new-key", "key")[0].strip()

    def test_a_key_is_made_once_and_its_public_half_is_printed(self):
        self.assertRegex(self.public, r"^[A-Za-z0-9+/]{43}=$")
        self.assertEqual(self.check(0, "sign", "--public-key", "key")[0], self.public + "\n")
        self.assertEqual((self.folder / "key").stat().st_mode & 0o7777, 0o600)
        before = (self.folder / "key").read_bytes()
        self.check(73, "sign", "--new-key", "key")
        self.assertEqual((self.folder / "key").read_bytes(), before)
        (self.folder / "key").chmod(0o644)
        self.check(77, "sign", "--key", "key", "filter")

    def test_a_filter_is_signed_and_checked_and_info_names_the_signer(self):
        self.assertIn("is not signed", self.check(EX_DATAERR, "verify", "filter", "--trusted-key", self.public)[1])
        self.assertIsNone(json.loads(self.check(0, "info", "filter", "--json")[0])["signer"])
        self.assertRegex(self.check(0, "sign", "--key", "key", "filter")[0], r"^signed +filter\n")
        self.assertIn(f"signed     by {self.public}\n", self.check(0, "verify", "filter", "--trusted-key", self.public)[0])
        self.assertIn("which was not checked", self.check(0, "verify", "filter")[0])
        self.assertIn(f"signed by        {self.public} (not checked", self.check(0, "info", "filter")[0])
        self.assertEqual(json.loads(self.check(0, "info", "filter", "--json")[0])["signer"], self.public)
        self.check(0, "query", "filter", "joe@example.org")
        self.assertRegex(self.check(0, "sign", "--key", "key", "filter")[0], r"^unchanged +filter")
        other = self.check(0, "sign", "--new-key", "other")[0].strip()
        self.check(EX_DATAERR, "verify", "filter", "--trusted-key", other)
        self.check(0, "verify", "filter", "--trusted-key", other, "--trusted-key", self.public)

    def test_a_signed_copy_leaves_the_filter_as_it_is(self):
        before = (self.folder / "filter").read_bytes()
        self.check(0, "sign", "--key", "key", "filter", "--output", "copy")
        self.assertEqual((self.folder / "filter").read_bytes(), before)
        self.check(0, "verify", "copy", "--trusted-key", self.public)

    def test_a_build_and_an_update_sign_with_their_store(self):
        self.check(0, "build", "-o", "a", "--store", "store", "--sign-key", "key", "--seed", "1", "list")
        self.check(0, "verify", "a", "--confirm", "store", "--trusted-key", self.public)
        update = ["update", "-o", "a", "--store", "store", "--add", self.write("more", "eve@example.org\n")]
        self.check(0, *update, "--sign-key", "key")
        self.check(0, "verify", "a", "--confirm", "store", "--trusted-key", self.public)
        self.check(0, "query", "a", "--confirm", "store", "eve@example.org")
        self.check(0, *update)
        self.check(EX_DATAERR, "verify", "a", "--trusted-key", self.public)

    def test_what_is_made_from_filters_is_signed_where_a_key_is_given_and_else_not(self):
        self.check(0, "build", "-o", "a", "--sign-key", "key", "--seed", "1", "list")
        self.check(0, "build", "-o", "counting", "--layout", "counting", "--seed", "1", "list")
        for words in (["merge", "a", "a"], ["intersect", "a", "a"], ["export", "counting"]):
            with self.subTest(words=words):
                self.check(0, *words, "-o", "made")
                unsigned = (self.folder / "made").read_bytes()
                self.check(EX_DATAERR, "verify", "made", "--trusted-key", self.public)
                self.check(0, *words, "-o", "made", "--sign-key", "key")
                self.check(0, "verify", "made", "--trusted-key", self.public)
                self.check(0, "query", "made", "joe@example.org", "who@example.net")
                self.assertEqual((self.folder / "made").read_bytes()[4096:], unsigned[4096:])
                self.check(66, *words, "-o", "made", "--sign-key", "none")
                self.check(0, "verify", "made", "--trusted-key", self.public)

    def test_what_cannot_be_is_refused_and_no_key_is_shown(self):
        secret = (self.folder / "key").read_text().splitlines()[-1]
        self.check(0, "build", "-o", "a", "--store", "store", "list")
        for status, *words in (
            (EX_USAGE, "sign"), (EX_USAGE, "sign", "filter"), (EX_USAGE, "sign", "--key", "key"),
            (EX_USAGE, "sign", "--key", "key", "--new-key", "new", "filter"),
            (EX_USAGE, "sign", "--new-key", "new", "filter"), (EX_USAGE, "sign", "--public-key", "key", "filter"),
            (EX_USAGE, "sign", "--key", "key", "filter", "a", "--output", "both"),
            (EX_DATAERR, "sign", "--key", "key", "store"), (EX_DATAERR, "sign", "--key", "key", "list"),
            (EX_DATAERR, "sign", "--key", "list", "filter"), (66, "sign", "--key", "none", "filter"),
            (66, "sign", "--key", "key", "none"), (66, "build", "-o", "b", "--sign-key", "none", "list"),
            (EX_USAGE, "verify", "filter", "--trusted-key", secret), (EX_USAGE, "verify", "filter", "--trusted-key", ""),
            (EX_USAGE, "verify", "store", "--trusted-key", self.public),
        ):  # fmt: skip
            with self.subTest(words=words):
                (self.folder / "list").chmod(0o600)
                before = (self.folder / "filter").read_bytes(), self.names()
                _, err = self.check(status, *words)
                self.assertNotIn(secret[:12], err)
                self.assertEqual(((self.folder / "filter").read_bytes(), self.names()), before)
        self.assertIn("as long as a secret key", self.check(EX_USAGE, "verify", "filter", "--trusted-key", secret)[1])


class RibbonTest(ProgramTest):
    """What is different with --layout ribbon."""

    def setUp(self):
        super().setUp()
        self.build("".join(f"user{i}@example.org\n" for i in range(50_000)), "--layout", "ribbon", "--seed", "1")

    def test_it_holds_its_list_and_tells_its_rate(self):
        out, _ = self.check(0, "verify", "filter", "--against", "list")
        self.assertRegex(out, r"(?m)^found +50,000 ")
        out, _ = self.check(0, "info", "filter")
        self.assertRegex(out, r"(?m)^layout +ribbon: 13 blocks of 4,096 bytes$")
        self.assertRegex(out, r"(?m)^FPR +0\.[34]\d+ % for a look-up \(expected from the number of addresses\)$")
        self.assertNotIn("distinct", out)
        self.assertIsNone(json.loads(self.check(0, "info", "filter", "--json")[0])["distinct_entries"])
        self.check(0, "query", "filter", "User7@Example.ORG")
        self.check(1, "query", "filter", "--list", self.write("others", "".join(f"{i}@example.net\n" for i in range(99))))

    def test_its_bytes_depend_neither_on_the_order_nor_on_duplicates(self):
        want = (self.folder / "filter").read_bytes()
        lines = [f"user{i}@example.org\n" for i in reversed(range(50_000))]
        self.write("list", "".join(lines))
        self.check(0, "build", "-o", "got", "--layout", "ribbon", "--seed", "1", "list")
        self.assertEqual((self.folder / "got").read_bytes(), want)

    def test_nothing_can_be_added_to_it(self):
        for command in (["merge", "-o", "x"], ["intersect", "-o", "x"], ["compare"]):
            _, err = self.check(EX_USAGE, *command, "filter", "filter")
            self.assertIn("layout ribbon, whose blocks are made of all their entries at once; build a new filter", err)
        self.assertNotIn("x", self.names())

    def test_it_has_no_hashes_and_no_block_bytes_to_choose(self):
        for options in (["--hashes", "6"], ["--block-bytes", "8192"]):
            self.check(EX_USAGE, "build", "-o", "x", "--layout", "ribbon", *options, "list")
            self.check(EX_USAGE, "size", "--entries", "1e9", "--layout", "ribbon", *options)
        out, _ = self.check(0, "size", "--entries", "1e9", "--layout", "ribbon")
        self.assertRegex(out, r"(?m)^FPR +0\.5\d+ %")
        self.assertNotIn("k=2", out)


class CountingTest(ProgramTest):
    """--layout counting: add, remove and export."""

    SEED = ("--seed", "1", "--expected-entries", "20000")

    def setUp(self):
        super().setUp()
        self.build(self.users(range(10_000)) + "@partner.example\n", "--layout", "counting", *self.SEED)

    def users(self, numbers):
        return "".join(f"user{i}@example.org\n" for i in numbers)

    def change(self, command, text, *options):
        return json.loads(self.check(0, command, "filter", self.write("changes", text), "--json", *options)[0])

    def check_export(self, text):
        """The export is what a build makes of those lines."""
        self.check(0, "export", "filter", "-o", "export", "--quiet")
        self.check(0, "build", "-o", "want", *self.SEED, self.write("all", text))
        self.assertEqual((self.folder / "export").read_bytes(), (self.folder / "want").read_bytes())

    def test_an_export_is_the_filter_of_the_entries_whatever_was_added_and_removed(self):
        self.check_export(self.users(range(10_000)) + "@partner.example\n")
        report = self.change("add", self.users(range(10_000, 12_000)) + "@.new.example\n@partner.example\n")
        self.assertEqual((report["added"], report["domains_there"], report["domain_entries"]), (2001, 1, 2))
        self.check_export(self.users(range(12_000)) + "@partner.example\n@.new.example\n")
        report = self.change("remove", self.users(range(5_000)) + "@partner.example\n")
        self.assertEqual((report["removed"], report["not_there"], report["entries"]), (5001, 0, 7001))
        self.check_export(self.users(range(5_000, 12_000)) + "@.new.example\n")
        self.check(0, "verify", "filter", "--against", self.write("rest", self.users(range(5_000, 12_000))))
        self.check(0, "query", "filter", "user7000@example.org", "ann@a.new.example")
        self.check(1, "query", "filter", "ann@partner.example")

    def test_the_bytes_do_not_depend_on_threads_and_memory(self):
        old = (self.folder / "filter").read_bytes()
        lines = 14 * self.users(range(9_000, 60_000))
        got = set()
        for options in (["--threads", "1"], ["--threads", "1", "--memory", "1M", "--scratch", "."], ["--threads", "3"]):
            (self.folder / "filter").write_bytes(old)
            report = self.change("add", lines, *options)
            self.assertEqual(report["spilled_bytes"] > 0, "--memory" in options)
            got.add((self.folder / "filter").read_bytes())
        self.assertEqual(len(got), 1)
        self.change("remove", lines)
        self.assertEqual((self.folder / "filter").read_bytes(), old)

    def test_an_address_that_is_added_again_must_be_removed_again(self):
        out, err = self.check(0, "add", "filter", self.write("again", self.users([1, 2, 1, 2, 1])))
        self.assertEqual(err, "")
        self.assertRegex(out, r"(?m)^added +2$")
        self.assertRegex(out, r"(?m)^again +2 of them were there already, or looked so")
        out, _ = self.check(0, "remove", "filter", "again")
        self.assertRegex(out, r"(?m)^listed +2 of those that were removed are still found: they were added more than once")
        self.check(0, "query", "filter", "user1@example.org")
        self.check(0, "remove", "filter", "again")
        self.check(1, "query", "filter", "user1@example.org")

    def test_what_is_not_there_is_reported_with_its_place_and_the_rest_is_removed(self):
        gone = self.write("gone", self.users([5]) + "# gone\nNobody@Example.ORG\n@nobody.example\n" + self.users([6]))
        before = (self.folder / "filter").read_bytes()
        _, err = self.check(EX_DATAERR, "remove", "filter", gone, "--strict")
        self.assertIn("2 entries are not there and --strict was given; nothing was changed", err)
        self.assertEqual((self.folder / "filter").read_bytes(), before)
        out, err = self.check(0, "remove", "filter", gone, "--reject-file", "rejected")
        self.assertIn(f"{gone}:3: not-there: this entry is not in the filter", err)
        self.assertIn(f"{gone}:4: not-there: ", err)
        self.assertRegex(out, r"(?m)^removed +2\nnot there 2 lines$")
        # The danger, and the way round it.
        self.assertRegex(out, r"(?m)^caution .* % of addresses that were never added look .* a store has no such danger")
        rejected = (self.folder / "rejected").read_text()
        self.assertRegex(rejected, r"nobody@example\.org\n# .*\n@nobody\.example\n$")
        self.check_export(self.users(i for i in range(10_000) if i not in (5, 6)) + "@partner.example\n")

    def test_a_line_that_is_no_entry_stops_a_removal_and_with_strict_an_addition(self):
        before = (self.folder / "filter").read_bytes()
        bad = self.write("bad", self.users([5]) + "no address\n")
        for options in (["remove", "filter", bad], ["add", "filter", bad, "--strict"]):
            _, err = self.check(EX_DATAERR, *options)
            self.assertIn("nothing was changed", err)
            self.assertEqual((self.folder / "filter").read_bytes(), before)
        self.assertEqual(self.change("add", "no address\nnew@example.org\n")["rejected"], 1)

    def test_entries_that_share_counters_which_are_not_enough_for_both_are_counted(self):
        # One hash in a full block: strangers look like entries, and several have the counter of one.
        self.build(self.users(range(200)), "--layout", "counting", "--hashes", "1", "--seed", "1")
        candidates = "".join(f"stranger{i}@example.net\n" for i in range(100_000))
        found = self.run_program("query", "filter", "--listed", "--list", self.write("c", candidates)).stdout.decode()
        strangers = "".join(line.split("\t")[1] + "\n" for line in found.splitlines())
        everybody = self.write("everybody", strangers + self.users(range(200)))
        before = (self.folder / "filter").read_bytes()
        _, err = self.check(EX_DATAERR, "remove", "filter", everybody, "--strict")
        self.assertIn("nothing was changed", err)
        self.assertEqual((self.folder / "filter").read_bytes(), before)
        out, err = self.check(0, "remove", "filter", everybody)
        self.assertEqual(err, "")
        self.assertRegex(out, r"(?m)^not there 0 lines, and [\d,]+ addresses that share counters with others of the lists")
        self.assertRegex(out, r"(?m)^removed +200$")
        self.assertRegex(out, r"(?m)^saturated 0 of 0 counters in use$")

    def test_a_saturated_counter_stays_and_info_counts_it(self):
        self.build(self.users(range(5)), "--layout", "counting", *self.SEED)
        one = self.write("one", self.users([7]))
        for _ in range(16):
            self.check(0, "add", "filter", one, "--quiet")
        self.assertEqual(json.loads(self.check(0, "info", "filter", "--json")[0])["saturated"], 6)
        self.assertRegex(self.check(0, "info", "filter")[0], r"(?m)^saturated +6 of 36 counters in use$")
        for _ in range(16):
            self.check(0, "remove", "filter", one)
        self.check(0, "query", "filter", "user7@example.org")
        self.check(0, "export", "filter", "-o", "export")
        self.assertIsNone(json.loads(self.check(0, "info", "export", "--json")[0])["saturated"])

    def test_too_many_addresses_are_warned_of(self):
        _, err = self.check(0, "add", "filter", self.write("many", self.users(range(10_000, 20_001))), "--quiet")
        self.assertIn("warning: filter holds more addresses than it was built for", err)

    def test_what_is_replaced_can_be_kept_and_put_back(self):
        before = (self.folder / "filter").read_bytes()
        self.change("remove", self.users(range(100)), "--keep", "1")
        self.assertNotEqual((self.folder / "filter").read_bytes(), before)
        self.check(0, "rollback", "filter")
        self.assertEqual((self.folder / "filter").read_bytes(), before)
        for _ in range(2):
            self.check(0, "export", "filter", "-o", "export", "--keep", "3")
        self.assertIn("export.1", self.names())

    def test_other_commands_refuse_it_and_it_refuses_what_it_cannot_keep(self):
        self.check(0, "build", "-o", "page", "list")
        self.check(0, "build", "-o", "stored", "--store", "store", "list")
        for command in (["merge", "-o", "x"], ["intersect", "-o", "x"], ["compare"]):
            for filters in (["filter", "filter"], ["page", "filter"], ["filter", "page"]):
                _, err = self.check(EX_DATAERR, *command, *filters)
                self.assertIn("'bloomgate export filter --output FILTER'", err)
        counting = ("--layout", "counting", "-o", "x")
        for status, arguments, text in (
            (EX_USAGE, ("build", *counting, "--store", "y", "list"), "goes without stores"),
            (EX_USAGE, ("build", *counting, "store"), "goes without stores"),
            (EX_USAGE, ("build", *counting, "--not", "list", "list"), "--not does not go with --layout counting"),
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
        data = bytearray((self.folder / "filter").read_bytes())
        data[6000] ^= 1
        (self.folder / "filter").write_bytes(data)
        for arguments in (("add", "filter", "list"), ("remove", "filter", "list"), ("export", "filter", "-o", "x")):
            self.assertIn("damaged in the MiB at offset 4096", self.check(EX_DATAERR, *arguments)[1])
        self.assertEqual((self.folder / "filter").read_bytes(), data)
        self.assertNotIn("x", self.names())

    def test_a_second_change_at_the_same_time_is_refused(self):
        first = subprocess.Popen([BLOOMGATE, "add", "filter", "-"], cwd=self.folder, stdin=subprocess.PIPE,
                                 stdout=subprocess.DEVNULL)  # fmt: skip
        self.addCleanup(first.wait)
        self.addCleanup(first.stdin.close)
        deadline = time.monotonic() + 30
        while "filter" not in open_files_of(first.pid):
            self.assertLess(time.monotonic(), deadline)
        while "changed by another command" not in self.run_program("remove", "filter", "list").stderr.decode():
            self.assertLess(time.monotonic(), deadline)

    def test_a_change_killed_at_any_moment_leaves_the_old_file_or_the_new_one(self):
        """BLOOMGATE_KILLS tells how often; by default a handful."""
        lines = self.write("lines", self.users(range(10_000, 60_000)))
        old = (self.folder / "filter").read_bytes()
        began = time.monotonic()
        self.check(0, "add", "filter", lines)
        lasts = time.monotonic() - began
        new = (self.folder / "filter").read_bytes()
        ended = 0
        kills = int(os.environ.get("BLOOMGATE_KILLS", 20))
        for i in range(kills):
            (self.folder / "filter").write_bytes(old if i % 2 else new)
            process = subprocess.Popen([BLOOMGATE, "add" if i % 2 else "remove", "filter", lines], cwd=self.folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
            time.sleep(random.random() * 1.2 * lasts)  # a random moment: whichever it is, there is a sound file
            process.kill()
            ended += process.wait() == 0
            self.assertIn((self.folder / "filter").read_bytes(), (old, new))
        self.assertLess(ended, kills)

    def test_size_knows_that_it_is_four_times_as_large(self):
        sizes = {layout: json.loads(self.check(0, "size", "--entries", "1e9", "--layout", layout, "--json")[0])["file_bytes"]
                 for layout in ("page", "counting")}  # fmt: skip
        self.assertAlmostEqual(sizes["counting"] / sizes["page"], 4, places=3)
        fits = json.loads(self.check(0, "size", "--memory", "1G", "--layout", "counting", "--json")[0])
        self.assertLess(fits["file_bytes"], 2**30)
        self.assertGreater(fits["file_bytes"], 0.999 * 2**30)


class StoreTest(ProgramTest):
    """build --store, and what is done with a store."""

    def build_pair(self, name="filter", count=2000, *options):
        text = "".join(f"user{i}@example.org\n" for i in range(count)) + "@partner.example\n"
        return self.check(0, "build", "-o", name, "--store", name + ".store", *options, self.write("list", text))

    def test_strangers_that_the_filter_finds_are_not_confirmed(self):
        self.build_pair("filter", 2000, "--bits-per-entry", "1", "--hashes", "1")
        strangers = self.write("strangers", "".join(f"stranger{i}@example.org\n" for i in range(2000)))
        count = ("query", "filter", "--count", "--list", strangers)
        without = dict(line.split("\t") for line in self.check(1, *count)[0].splitlines())
        self.assertGreater(int(without["listed"]), 50)
        confirmed = dict(line.split("\t") for line in self.check(1, *count, "--confirm", "filter.store")[0].splitlines())
        self.assertEqual(confirmed["listed"], "0")
        members = self.write("members", "".join(f"user{i}@example.org\n" for i in range(2000)))
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

    def test_verify_checks_a_store_alone_and_with_its_filter(self):
        self.build_pair()
        self.assertIn("2,000 addresses and 1 domain entries", self.check(0, "verify", "filter.store")[0])
        output, _ = self.check(0, "verify", "filter", "--confirm", "filter.store", "--against", "list")
        self.assertRegex(output, r"found +2,001 entries")
        self.assertRegex(output, r"confirmed +0 of these")
        data = bytearray((self.folder / "filter.store").read_bytes())
        data[5000] ^= 1
        (self.folder / "filter.store").write_bytes(data)
        _, errors = self.check(EX_DATAERR, "verify", "filter.store")
        self.assertIn("the section pages is damaged in the MiB at offset 4096", errors)
        self.check(EX_DATAERR, "verify", "filter", "--confirm", "filter.store")

    def test_info_shows_the_identity_of_both(self):
        self.build_pair()
        store = json.loads(self.check(0, "info", "filter.store", "--json")[0])
        self.assertEqual((store["addresses"], store["domain_entries"]), (2000, 1))
        self.assertEqual(json.loads(self.check(0, "info", "filter", "--json")[0])["store_identity"], store["identity"])
        self.assertIn(store["identity"], self.check(0, "info", "filter")[0])
        self.assertIn(store["identity"], self.check(0, "info", "filter.store")[0])
        self.build("a@example.org")
        self.assertIsNone(json.loads(self.check(0, "info", "filter", "--json")[0])["store_identity"])

    def test_what_cannot_have_a_store_is_refused_before_anything_is_written(self):
        arguments = ("build", "-o", "filter", self.write("list", "a@example.org\n"))
        for options in (("--store", "s", "--layout", "classic"), ("--store", "filter"), ("--store", "list")):
            self.check(EX_USAGE, *arguments, *options)
            self.assertEqual(self.names(), ["list"])
        self.check(EX_CANTCREAT, *arguments, "--store", "missing/s")
        self.assertEqual(self.names(), ["list"])

    def identities(self, *names):
        return [json.loads(self.check(0, "info", name, "--json")[0])["identity"] for name in names]

    def test_a_store_is_an_input_beside_lists_and_other_stores(self):
        self.build_pair("whole", 3000, "--seed", "7", "--store-seed", "5")
        self.build_pair("part", 2000, "--seed", "7", "--store-seed", "5")
        rest = self.write("rest", "".join(f"user{i}@example.org\n" for i in range(1990, 3000)))
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
        self.assertEqual((self.folder / "0").read_bytes(), (self.folder / "whole").read_bytes())
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
                        ("--layout", "classic"), ("--store", "a.store")):  # fmt: skip
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
        report, _ = self.check(0, "build", "-o", "f", "--store", "f.store", "--json", "--except",
                               self.write("except", "user3@example.org\n"), "a.store")  # fmt: skip
        self.assertEqual(json.loads(report)["excepted"], 1)
        self.check(1, "query", "f", "--confirm", "f.store", "user3@example.org")
        self.check(0, "query", "f", "--confirm", "f.store", "user4@example.org", "x@partner.example")
        _, errors = self.check(EX_USAGE, "build", "-o", "f", "--except", self.write("except", "@example.org\n"), "a.store")
        self.assertIn("cannot be left out", errors)

    def test_a_damaged_store_is_refused_as_an_input(self):
        self.build_pair("a", 2000)
        data = bytearray((self.folder / "a.store").read_bytes())
        for offset in (60, 4096 + 100, len(data) // 2, len(data) - 1):
            (self.folder / "a.store").write_bytes(data[:offset] + bytes([data[offset] ^ 4]) + data[offset + 1 :])
            self.check(EX_DATAERR, "build", "-o", "f", "a.store")
            self.assertNotIn("f", self.names())

    def test_a_build_killed_at_any_moment_leaves_a_pair(self):
        self.build_pair("filter", 1000)
        text = self.write("other-list", "".join(f"other{i}@example.org\n" for i in range(200_000)))
        for i in range(25):
            process = subprocess.Popen([BLOOMGATE, "build", "-o", "filter", "--store", "filter.store", text],
                                       cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.004 * i)  # a random moment: whichever it is, there is a pair
            process.kill()
            process.wait()
            self.check(0, "verify", "filter", "--confirm", "filter.store")


class UpdateTest(ProgramTest):
    """update, and the pair that it leaves."""

    SEEDS = ("--seed", "7", "--store-seed", "5")

    def build_pair(self, text, name="filter", *options):
        return self.check(0, "build", "-o", name, "--store", name + ".store", *options, self.write(name + ".txt", text))

    def update(self, *options, status=0):
        output, errors = self.check(status, "update", "--store", "filter.store", "-o", "filter", *options)
        return (json.loads(output) if "--json" in options else output) if status == 0 else errors

    def check_listed(self, listed, not_listed):
        names = [*listed, *not_listed]
        lines = self.run_program("query", "filter", "--confirm", "filter.store", *names).stdout.decode().splitlines()
        self.assertEqual([line.split("\t")[0] for line in lines],
                         ["listed"] * len(listed) + ["not-listed"] * len(not_listed))  # fmt: skip

    def contents(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def users(self, numbers):
        return "".join(f"user{i}@example.org\n" for i in numbers)

    def test_entries_are_added_and_removed_exactly_and_counted(self):
        self.build_pair(self.users(range(3000)) + "@partner.example\n@.old.example\n")
        add = self.write("add", self.users(range(2990, 3100)) + "@new.example\n@partner.example\nuser3099@example.org\n")
        remove = self.write("remove", self.users([0, 1, 3050, 9000]) + "@.old.example\n@.nobody.example\n")
        report = self.update("--add", add, "--remove", remove, "--json")
        wanted = {"addresses": 3097, "domain_entries": 2, "entries": 3099, "added": 100, "already_there": 11, "removed": 3,
                  "not_there": 3, "both": 1, "rejected": 0, "file": "filter", "store": "filter.store"}  # fmt: skip
        self.assertEqual({name: report[name] for name in wanted}, wanted)
        self.check(0, "verify", "filter", "--confirm", "filter.store")
        self.check_listed(["user2@example.org", "user3049@example.org", "x@new.example", "x@partner.example"],
                          ["user0@example.org", "user3050@example.org", "x@old.example", "x@a.old.example"])  # fmt: skip
        output = self.update("--remove", remove)
        self.assertRegex(output, r"(?m)^removed +0, 6 others were not there$")
        self.assertRegex(self.update("--add", add), r"(?m)^added +1, 111 others were there already$")
        self.assertRegex(self.update("--add", remove, "--remove", remove), r"(?m)^both +6 were to be added and to be removed")

    def test_a_filter_that_keeps_known_strangers_out_is_updated_with_their_lists_only(self):
        strangers = self.write("not", "".join(f"stranger{i}@example.com\n" for i in range(1000)))
        self.build_pair(self.users(range(9000)), "filter", "--bits-per-entry", "5", "--not", strangers)
        before = self.contents()
        add = self.write("add", "new@example.org\nstranger7@example.com\n")
        self.assertRegex(self.update("--add", add, status=64), "filter keeps known strangers out.*--not")
        self.assertEqual({name: text for name, text in self.contents().items() if name != "add"}, before)
        report = self.update("--add", add, "--not", strangers, "--json")
        counts = report["known_strangers"]
        self.assertEqual((counts["known"], counts["entries"], counts["rejected"]), (1000, 1, 0))
        self.assertGreater(counts["excluded"], 2)
        self.check_listed(["new@example.org", "user0@example.org", "user8999@example.org", "stranger7@example.com"], [])
        out, _ = self.check(1, "query", "filter", "--count", "--list", strangers)
        self.assertEqual(out, "listed\t1\nnot-listed\t999\nrejected\t0\n")

    def test_the_known_strangers_of_an_update_are_those_of_a_build_with_the_same_seeds(self):
        strangers = self.write("not", "".join(f"stranger{i}@example.com\n" for i in range(20_000)) + "user3@example.org\n"
                                      "eve@b.example\nnobody\n@b.example\n")  # fmt: skip
        for layout in ("page", "ribbon"):
            for threads in ("1", "3"):
                with self.subTest(layout=layout, threads=threads):
                    options = ("--layout", layout, *self.SEEDS)
                    self.build_pair(self.users(range(20_000)), "filter", *options)
                    self.build_pair(self.users(range(21_000)) + "@b.example\n", "want", *options, "--not", strangers)
                    add = self.write("add", self.users(range(19_000, 21_000)) + "@b.example\n")
                    output, errors = self.check(0, "update", "--store", "filter.store", "-o", "filter", "--add", add, "--not",
                                                strangers, "--seed", "7", "--threads", threads)  # fmt: skip
                    self.assertEqual((self.folder / "filter").read_bytes(), (self.folder / "want").read_bytes())
                    self.assertRegex(output, r"(?m)^strangers 20,002; .* 1 entries; 1 listed by their domains$")
                    self.assertIn("no entry  1 lines", output)
                    self.assertIn("user3@example.org is an entry", errors)
        before = (self.folder / "filter").read_bytes()
        self.assertIn("3 are entries and 1 are no addresses", self.update("--not", strangers, "--strict", status=EX_DATAERR))
        self.assertEqual((self.folder / "filter").read_bytes(), before)
        self.assertIn("would overwrite the list", self.update("--not", str(self.folder / "filter"), status=EX_USAGE))

    def test_an_update_gives_the_bytes_of_a_build_from_the_changed_list(self):
        for layout in ("page", "line", "ribbon"):
            with self.subTest(layout=layout):
                options = ("--layout", layout, "--bits-per-entry", "9")
                self.build_pair(self.users(range(20_000)) + "@a.example\n", "filter", *options, *self.SEEDS)
                changed = self.users(range(5_000, 26_000)) + "@b.example\n"
                self.build_pair(changed, "want", *options, *self.SEEDS)
                add = self.write("add", self.users(range(19_000, 26_000)) + "@b.example\n")
                remove = self.write("remove", self.users(range(5_000)) + "@a.example\n")
                # Layout and bits per entry are those of the old filter.
                self.update("--add", add, "--remove", remove, "--seed", "7")
                for end in ("", ".store"):
                    self.assertEqual((self.folder / f"filter{end}").read_bytes(), (self.folder / f"want{end}").read_bytes())

    def test_more_changes_than_memory_holds_are_made_all_the_same(self):
        options = ("--expected-entries", "800000", *self.SEEDS)
        domains = "".join(f"@d{i}.example\n" for i in range(600_000))
        self.build_pair(self.users(range(699_990, 700_010)) + "@d7.example\n@kept.example\n", "filter", *options)
        self.build_pair(self.users(range(700_010)) + "@kept.example\n" + domains, "want", *options)
        small = ("--memory", "1M", "--threads", "1", "--seed", "7", "--expected-entries", "800000", "--json")
        report = self.update("--add", self.write("changes", self.users(range(700_000)) + domains), *small)
        wanted = {"addresses": 700_010, "domain_entries": 600_001, "added": 1_299_989, "already_there": 11}
        self.assertEqual({name: report[name] for name in wanted}, wanted)
        for end in ("", ".store"):
            self.assertTrue(filecmp.cmp(self.folder / f"filter{end}", self.folder / f"want{end}", shallow=False), end)
        report = self.update("--remove", "changes", *small)
        wanted = {"addresses": 10, "domain_entries": 1, "removed": 1_300_000, "not_there": 0}
        self.assertEqual({name: report[name] for name in wanted}, wanted)
        self.check_listed(["user700009@example.org", "x@kept.example"], ["user699999@example.org", "x@d7.example"])

    def test_each_update_gives_the_filter_another_seed_and_keeps_that_of_the_store(self):
        self.build_pair(self.users(range(100)), "filter", *self.SEEDS)
        seeds = set()
        for _ in range(2):
            self.update()
            shown = json.loads(self.check(0, "info", "filter.store", "--json")[0])["seed"]
            self.assertEqual(int(shown, 16), 5)
            seeds.add(json.loads(self.check(0, "info", "filter", "--json")[0])["seed"])
            self.check_listed(["user0@example.org", "user99@example.org"], [])
        self.assertEqual(len(seeds), 2)

    def test_the_size_of_the_filter_follows_the_store_and_does_not_grow_by_itself(self):
        self.build_pair(self.users(range(10_000)), "filter", "--bits-per-entry", "10.5", "--hashes", "7")
        size = (self.folder / "filter").stat().st_size
        for i in range(4):
            self.update("--add", self.write("add", self.users([10_000 + i])))
        self.assertEqual((self.folder / "filter").stat().st_size, size)
        info = json.loads(self.check(0, "info", "filter", "--json")[0])
        self.assertEqual((info["hashes"], info["expected_entries"]), (7, 10_004))
        self.update("--bits-per-entry", "16", "--layout", "line", "--hashes", "9", "--expected-entries", "20000")
        info = json.loads(self.check(0, "info", "filter", "--json")[0])
        self.assertEqual((info["hashes"], info["layout"], info["body_bytes"]), (9, "line", 40_000))

    def test_a_new_store_leaves_the_old_pair_as_it_is(self):
        self.build_pair(self.users(range(100)))
        before = self.contents()
        self.check(0, "update", "--store", "filter.store", "--new-store", "new.store", "-o", "new", "--add",
                   self.write("add", "new@example.org\n"))  # fmt: skip
        for name, data in before.items():
            self.assertEqual((self.folder / name).read_bytes(), data)
        self.check(0, "query", "new", "--confirm", "new.store", "new@example.org", "user5@example.org")

    def test_a_store_can_be_added_and_removed(self):
        self.build_pair(self.users(range(100)), "filter", "--store-seed", "5")
        self.build_pair(self.users(range(90, 120)), "other", "--store-seed", "5")
        self.build_pair(self.users(range(90, 120)), "foreign", "--store-seed", "6")
        self.assertEqual(self.update("--add", "other.store", "--json")["added"], 20)
        self.assertEqual(self.update("--remove", "other.store", "--json")["removed"], 30)
        self.check_listed(["user89@example.org"], ["user90@example.org", "user119@example.org"])
        self.assertIn("--store-seed", self.update("--add", "foreign.store", status=EX_USAGE))

    def test_what_cannot_be_done_is_refused_and_changes_nothing(self):
        self.build_pair(self.users(range(100)))
        self.build_pair(self.users(range(100)), "other")
        self.build("a@example.org\n")
        os.rename(self.folder / "filter", self.folder / "alone")
        self.build_pair(self.users(range(100)))
        bad = self.write("bad", "no address\n")
        good = self.write("good", "x@example.org\n")
        before = self.contents()
        update = ("update", "--store", "filter.store")
        for status, arguments, text in (
            (EX_DATAERR, (*update, "-o", "other"), "not the store of other"),
            (EX_DATAERR, (*update, "-o", "alone"), "without a store"),
            (EX_USAGE, (*update, "-o", "missing"), "--new-store"),
            (EX_USAGE, (*update, "-o", "filter.store"), "same file"),
            (EX_USAGE, (*update, "-o", "filter", "--new-store", "filter.store"), "same file"),
            (EX_USAGE, (*update, "-o", "filter", "--add", "filter"), "overwrite"),
            (EX_USAGE, (*update, "-o", "filter", "--layout", "classic"), "layout"),
            (EX_NOINPUT, (*update, "-o", "filter", "--add", "missing"), "missing"),
            (EX_NOINPUT, ("update", "--store", "missing", "-o", "filter"), "missing"),
            (EX_DATAERR, (*update, "-o", "filter", "--remove", bad), "would stay listed"),
            (EX_DATAERR, (*update, "-o", "filter", "--add", bad, "--strict"), "nothing was changed"),
            (EX_CANTCREAT, (*update, "-o", "filter", "--add", good, "--new-store", "none/s"), "none"),
            (EX_CANTCREAT, (*update, "-o", "filter", "--add", good, "--scratch", "none"), "none (--scratch)"),
        ):
            with self.subTest(arguments=arguments):
                self.assertIn(text, self.check(status, *arguments)[1])
                self.assertEqual(self.contents(), before)

    def test_a_second_update_of_a_store_at_the_same_time_is_refused(self):
        self.build_pair(self.users(range(100)))
        first = subprocess.Popen([BLOOMGATE, "update", "--store", "filter.store", "-o", "filter", "--add", "-"],
                                 cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)  # fmt: skip
        self.addCleanup(first.wait)
        self.addCleanup(first.stdin.close)
        deadline = time.monotonic() + 30
        while "filter.store" not in open_files_of(first.pid):
            self.assertLess(time.monotonic(), deadline)
        while "changed by another command" not in self.run_program("update", "--store", "filter.store", "-o", "filter").stderr.decode():
            self.assertLess(time.monotonic(), deadline)
        before = self.contents()
        build = ("build", "-o", "filter", "--store", "filter.store", "filter.txt")
        self.assertIn("being changed by another command", self.check(EX_CANTCREAT, *build)[1])
        self.check(0, "build", "-o", "other", "--store", "other.store", "filter.txt")
        self.assertEqual({name: data for name, data in self.contents().items() if "other" not in name}, before)
        first.stdin.close()
        self.assertEqual(first.wait(), 0)
        self.check(0, *build)
        self.check(0, "verify", "filter", "--confirm", "filter.store")

    def test_builds_of_one_pair_at_once_leave_a_pair(self):
        for i in range(3):
            self.write(f"{i}.txt", self.users(range(1000 * i, 1000 * i + 20_000)))
        for _ in range(3):
            for name in ("filter", "filter.store"):
                (self.folder / name).unlink(missing_ok=True)
            builds = [subprocess.Popen([BLOOMGATE, "build", "-o", "filter", "--store", "filter.store", f"{i}.txt"],
                                       cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                      for i in range(3)]  # fmt: skip
            # The first makes the store; the others may come too late for that.
            self.assertIn(0, [build.wait() for build in builds])
            self.check(0, "verify", "filter", "--confirm", "filter.store")
            self.assertEqual([name for name in self.names() if "." in name and not name.endswith((".txt", ".store"))], [])

    def test_a_bit_flipped_in_any_section_of_the_filter_is_refused(self):
        strangers = self.write("not", "".join(f"stranger{i}@example.com\n" for i in range(2000)))
        self.build_pair(self.users(range(5000)) + "@a.example\n@b.example\n", "filter", "--not", strangers)
        whole = (self.folder / "filter").read_bytes()
        info = json.loads(self.check(0, "info", "filter", "--json")[0])
        self.assertEqual([section["kind"] for section in info["sections"]], ["bits", "domains", "excluded"])
        places = [20, *(section["offset"] + part for section in info["sections"] for part in (0, section["bytes"] - 1))]
        for place in places:
            with self.subTest(place=place):
                (self.folder / "filter").write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
                self.check(EX_DATAERR, "verify", "filter", "--confirm", "filter.store")

    def test_a_bit_flipped_in_any_section_of_the_store_is_refused_and_the_pair_stays(self):
        self.build_pair(self.users(range(5000)) + "@a.example\n@b.example\n")
        store = (self.folder / "filter.store").read_bytes()
        info = json.loads(self.check(0, "info", "filter.store", "--json")[0])
        places = [60, *(section["offset"] + part for section in info["sections"] for part in (0, section["bytes"] - 1))]
        self.assertEqual(len(places), 7)
        for place in places:
            with self.subTest(place=place):
                damaged = store[:place] + bytes([store[place] ^ 16]) + store[place + 1 :]
                (self.folder / "filter.store").write_bytes(damaged)
                before = self.contents()
                # Refused, and not written into another store.
                self.check(EX_DATAERR, "update", "--store", "filter.store", "-o", "filter")
                self.assertEqual(self.contents(), before)

    def test_a_full_disk_leaves_the_old_pair(self):
        self.build_pair(self.users(range(1000)))
        add = self.write("add", self.users(range(200_000)))
        before = self.contents()
        most = (self.folder / "add").stat().st_size // 20

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        process = subprocess.run([BLOOMGATE, "update", "--store", "filter.store", "-o", "filter", "--add", add],
                                 cwd=self.folder, capture_output=True, preexec_fn=limit, timeout=60)  # fmt: skip
        self.assertEqual(process.returncode, EX_CANTCREAT, process.stderr)
        self.assertEqual(self.contents(), before)

    def test_an_update_or_a_build_killed_at_any_moment_leaves_the_old_pair_or_the_new_one(self):
        """BLOOMGATE_KILLS tells how often; by default a handful."""
        self.build_pair(self.users(range(40_000)))
        add, remove = self.write("add", "new@example.org\n"), self.write("remove", "new@example.org\n")
        update = [BLOOMGATE, "update", "--store", "filter.store", "-o", "filter"]
        build = [BLOOMGATE, "build", "-o", "filter", "--store", "filter.store", "filter.txt"]
        began = time.monotonic()
        self.check(0, *update[1:])
        lasts = time.monotonic() - began
        kills = int(os.environ.get("BLOOMGATE_KILLS", 20))
        ended = 0
        for i in range(kills):
            arguments = (update + ["--add", add], update + ["--remove", remove], build)[i % 3]
            process = subprocess.Popen(arguments, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(random.random() * 1.2 * lasts)  # a random moment: whichever it is, there is a pair
            process.kill()
            ended += process.wait() == 0
            self.check(0, "verify", "filter", "--confirm", "filter.store")
            found = self.run_program("query", "filter", "--confirm", "filter.store", "--count", "--list", "filter.txt")
            self.assertEqual(found.returncode, 0, found.stdout)
        self.assertLess(ended, kills)

    def test_random_changes_are_those_of_a_set(self):
        """Sequences of build, update, a store as an input, and known strangers, beside sets of Python."""
        names = [f"user{i}@example.org" for i in range(4_000)] + [f"@domain{i}.example" for i in range(200)]
        asked = [name.replace("@domain", "x@domain") for name in names]
        listing = self.write("names", "".join(f"{name}\n" for name in asked))
        for seed in range(2 if IS_SANITIZED else 4):
            chance = random.Random(seed)
            layout = ("--layout", chance.choice(("page", "ribbon")), "--bits-per-entry", chance.choice(("2", "8")))
            wanted = set(chance.sample(names, 1_000))
            self.build_pair("".join(f"{name}\n" for name in wanted), "filter", *layout)
            strangers = set()
            for _ in range(6):
                added, removed = (set(chance.sample(names, chance.choice((0, 1, 40, 2_000)))) for _ in range(2))
                add = self.write("add", "".join(f"{name}\n" for name in added))
                remove = self.write("remove", "".join(f"{name}\n" for name in removed))
                # An update never forgets them, so that it wants them again.
                strangers = set(chance.sample(asked, chance.choice((1, 700, 3_000)))) if strangers or chance.random() < 0.6 else set()
                not_list = ("--not", self.write("not", "".join(f"{name}\n" for name in strangers))) if strangers else ()
                if chance.random() < 0.3:
                    os.rename(self.folder / "filter.store", self.folder / "input.store")
                    self.check(0, "build", "-o", "filter", "--store", "filter.store", *layout, *not_list, "input.store", add)
                    wanted |= added
                else:
                    report = self.update("--add", add, "--remove", remove, *not_list, "--json", "--memory",
                                         chance.choice(("1M", "64M")))  # fmt: skip
                    self.assertEqual(report["added"], len(added - removed - wanted))
                    self.assertEqual(report["removed"], len(wanted & removed))
                    self.assertEqual(report["both"], len(added & removed))
                    self.assertEqual(report["known_strangers"]["known"], len(strangers))
                    wanted = (wanted | added) - removed
                listed = self.listed_of(listing)
                for name, question, passes, is_confirmed in zip(names, asked, listed, self.listed_of(listing, "--confirm", "filter.store")):
                    self.assertEqual(is_confirmed, name in wanted, question)
                    self.assertTrue(passes or name not in wanted, question)
                    self.assertFalse(passes and question in strangers and name not in wanted, question)
                store = json.loads(self.check(0, "info", "filter.store", "--json")[0])
                self.assertEqual(store["addresses"] + store["domain_entries"], len(wanted))

    def listed_of(self, listing, *options):
        answers = self.run_program("query", "filter", *options, "--list", listing).stdout.decode()
        return [line.startswith("listed") for line in answers.splitlines()]


class CombineTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.make("a", range(0, 60_000))
        self.make("b", range(40_000, 100_000))

    def make(self, name, numbers, *options):
        options = options or ("--seed", "1", "--expected-entries", "100000")
        self.write("list", "".join(f"user{i}@example.org\n" for i in numbers))
        self.check(0, "build", "-o", name, *options, "list")

    def test_a_merge_is_what_a_build_from_both_lists_gives(self):
        self.check(0, "merge", "-o", "merged", "a", "b")
        # Built with each entry of the overlap twice, as it was inserted twice.
        self.make("both", [*range(0, 60_000), *range(40_000, 100_000)])
        self.assertEqual((self.folder / "merged").read_bytes(), (self.folder / "both").read_bytes())
        self.check(0, "verify", "merged")

    def test_an_intersection_lists_the_common_entries_and_few_others(self):
        self.check(0, "intersect", "-o", "common", "a", "b")
        self.check(0, "verify", "common")
        common = self.write("common.txt", "".join(f"user{i}@example.org\n" for i in range(40_000, 60_000)))
        self.assertRegex(self.check(0, "verify", "common", "--against", common)[0], r"(?m)^found +20,000 ")
        only_a = "".join(f"user{i}@example.org\n" for i in range(0, 40_000))
        out, _ = self.check(1, "query", "common", "-", stdin=only_a.encode())
        self.assertLess(out.count("\nlisted"), 40_000 * 0.01)

    def test_a_comparison_estimates_the_overlap(self):
        estimate = json.loads(self.check(0, "compare", "a", "b", "--json")[0])
        for name, want in (("a", 60_000), ("b", 60_000), ("either", 100_000), ("both", 20_000)):
            self.assertAlmostEqual(estimate[name], want, delta=800, msg=name)
        self.assertRegex(
            self.check(0, "compare", "a", "b")[0], r"(?m)^in both: (19|20),\d\d\d addresses, 0 domain entries$"
        )

    def test_domain_entries_are_put_together_and_compared_exactly(self):
        options = ("--seed", "1", "--expected-entries", "1000")
        domains = {"a": range(0, 3000), "b": range(1000, 5000), "c": range(2000, 9000), "none": ()}
        for name, numbers in domains.items():
            lines = [f"user{i}@example.org\n" for i in range(500)] + [f"@.{i}.example\n" for i in numbers]
            self.write(f"{name}.txt", "".join(lines))
            self.check(0, "build", "-o", name, *options, f"{name}.txt")
        self.check(0, "merge", "-o", "merged", "a", "b", "c", "none")
        self.check(0, "build", "-o", "all", *options, "a.txt", "b.txt", "c.txt", "none.txt")
        self.assertEqual((self.folder / "merged").read_bytes(), (self.folder / "all").read_bytes())
        self.check(0, "intersect", "-o", "common", "a", "b", "c")
        self.check(0, "verify", "common", "--against", self.write("want", "".join(f"@.{i}.example\n" for i in range(2000, 3000))))
        self.assertEqual(json.loads(self.check(0, "info", "common", "--json")[0])["domain_entries"], 1000)
        self.check(1, "query", "common", "x@1999.example")
        self.check(0, "intersect", "-o", "common", "a", "none")
        self.assertEqual(json.loads(self.check(0, "info", "common", "--json")[0])["domain_entries"], 0)
        overlap = json.loads(self.check(0, "compare", "a", "b", "--json")[0])
        self.assertEqual(overlap["domain_entries"], {"a": 3000, "b": 4000, "either": 5000, "both": 2000})

    def test_an_intersection_never_has_more_ones_than_its_addresses_can_set(self):
        # A few common ones from entries that differ: the estimate from the fill alone would round them away.
        options = ("--seed", "1", "--expected-entries", "600")
        for seed in range(5):
            self.make("a", range(seed * 1000, seed * 1000 + 50), *options)
            self.make("b", range(seed * 1000 + 500, seed * 1000 + 550), *options)
            self.check(0, "intersect", "-o", "common", "a", "b")
            self.check(0, "verify", "common")
            info = json.loads(self.check(0, "info", "common", "--json")[0])
            self.assertLessEqual(info["bits_set"], info["hashes"] * info["addresses"])

    def test_the_result_may_replace_one_of_the_filters(self):
        self.check(0, "merge", "-o", "a", "a", "b")
        self.check(0, "query", "a", "user1@example.org", "user99999@example.org")

    def test_what_does_not_fit_together_is_refused_with_the_difference(self):
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
                                  ["compare", "a", "other"]):  # fmt: skip
                    _, err = self.check(EX_USAGE, *arguments)
                    self.assertIn(difference, err)
        self.assertNotIn("out", self.names())

    def test_a_damaged_filter_is_not_merged(self):
        data = bytearray((self.folder / "b").read_bytes())
        data[5000] ^= 1
        (self.folder / "b").write_bytes(data)
        self.check(EX_DATAERR, "merge", "-o", "out", "a", "b")
        self.assertNotIn("out", self.names())


class SizeTest(ProgramTest):
    def test_the_default_is_the_mission(self):
        out, _ = self.check(0, "size", "--entries", "1e9")
        self.assertRegex(out, r"(?m)^bits per entry +8\.00$")
        self.assertRegex(out, r"(?m)^hashes +6$")
        self.assertRegex(out, r"1,000,0\d\d,\d\d\d bytes")
        self.assertRegex(out, r"(?m)^FPR +2\.16 %")

    def test_a_rate_or_a_memory_gives_the_rest(self):
        out, _ = self.check(0, "size", "--entries", "50000000", "--fpr", "0.1%")
        self.assertRegex(out, r"(?m)^bits per entry +14\.\d\d$")
        self.assertRegex(out, r"(?m)^FPR +0\.100 %")
        out, _ = self.check(0, "size", "--entries", "1e9", "--memory", "2G")
        size = int(re.search(r"(?m)^size .*\(([\d,]+) bytes\)", out).group(1).replace(",", ""))
        self.assertLessEqual(size, 2 * 1024**3)
        self.assertGreater(size, 2 * 1024**3 - 20_000)

    def test_each_layout_has_its_own_rate_and_best_k(self):
        for layout, hashes, rate in (
            ("page", 11, "0.0464"),
            ("line", 9, "0.0844"),
            ("classic", 11, "0.0459"),
            ("partitioned", 11, "0.0459"),
        ):
            out, _ = self.check(0, "size", "--entries", "1e9", "--bits-per-entry", "16", "--layout", layout)
            self.assertRegex(out, rf"(?m)^layout +{layout}$")
            self.assertRegex(out, rf"(?m)^hashes +{hashes}$")
            self.assertRegex(out, rf"(?m)^FPR +{rate} %")
        small, large = (
            re.search(r"(?m)^FPR +([\d.]+) %", self.check(0, "size", "--entries", "1e9", "--layout", "line", *size)[0])
            for size in ([], ["--block-bytes", "512"])
        )
        self.assertGreater(float(small.group(1)), float(large.group(1)))

    def size(self, *arguments):
        return json.loads(self.check(0, "size", "--json", *arguments)[0])

    def test_any_sufficient_set_gives_the_same_filter(self):
        whole = self.size("--entries", "1e8", "--bits-per-entry", "10")
        self.assertEqual((whole["hashes"], whole["bits_per_entry"]), (7, 10))
        self.assertAlmostEqual(whole["fpr"], 0.00822, delta=0.00001)
        self.assertAlmostEqual(whole["file_bytes"], 125_000_000, delta=20_000)
        given = {name.replace("_", "-"): str(whole[name]) for name in ("entries", "bits_per_entry", "hashes", "fpr")}
        given["memory"] = str(whole["file_bytes"])
        for names in (
            ["entries", "bits-per-entry", "hashes"],
            ["entries", "fpr"],
            ["entries", "fpr", "hashes"],
            ["entries", "memory"],
            ["entries", "memory", "hashes"],
            ["bits-per-entry", "memory"],
            ["fpr", "memory"],
            ["fpr", "hashes", "memory"],
            ["bits-per-entry", "hashes", "memory"],
        ):
            with self.subTest(names=names):
                got = self.size(*(part for name in names for part in ("--" + name, given[name])))
                self.assertEqual(got["hashes"], 7)
                for name in ("entries", "bits_per_entry", "file_bytes"):
                    self.assertAlmostEqual(got[name] / whole[name], 1, delta=1e-3, msg=name)
                self.assertAlmostEqual(got["fpr"] / whole["fpr"], 1, delta=5e-3)

    def test_without_entries_or_memory_there_is_no_size(self):
        got = self.size("--fpr", "1%", "--layout", "classic")
        # The value that every calculator gives: -ln 0.01 / (ln 2)^2, a little more since k is whole.
        self.assertAlmostEqual(got["bits_per_entry"], 9.585, delta=0.01)
        self.assertEqual((got["hashes"], got["entries"], got["file_bytes"]), (7, None, None))
        self.assertRegex(self.check(0, "size", "--fpr", "1%")[0], r"(?m)^entries +any number$")

    def test_a_rate_at_known_bits_gives_the_fewest_hashes(self):
        got = self.size("--bits-per-entry", "16", "--fpr", "0.1%")
        self.assertEqual(got["hashes"], 6)
        self.assertLess(got["fpr"], 0.001)
        self.assertGreater(self.size("--bits-per-entry", "16", "--hashes", "5")["fpr"], 0.001)

    def test_the_tables_have_the_values_of_the_textbook(self):
        got = self.size("--entries", "1e9", "--layout", "classic")
        self.assertEqual([row["layout"] for row in got["layouts"]], ["page", "line", "classic", "partitioned", "ribbon", "counting"])
        self.assertEqual([row["hashes"] for row in got["layouts"]], [6, 5, 6, 6, 1, 6])
        rows = {row["bits_per_entry"]: row for row in got["table"]}
        self.assertEqual(sorted(rows), list(range(4, 13)))
        # Fan, Cao, Almeida, Broder, "Summary cache", 2000: the appendix's table of m/n and k.
        for bits, hashes, rate in ((4, 4, 0.160), (5, 4, 0.0920), (8, 4, 0.0240), (8, 5, 0.0217), (8, 6, 0.0216), (8, 7, 0.0229),
                                   (8, 8, 0.0255), (10, 7, 0.00819), (12, 8, 0.00314)):  # fmt: skip
            self.assertAlmostEqual(rows[bits]["fpr_by_hashes"][str(hashes)] / rate, 1, delta=0.005)
        text, _ = self.check(0, "size", "--entries", "1e9", "--layout", "classic")
        self.assertRegex(text, r"(?m)^line +5 +2\.33 % +953\.69 MiB$")
        self.assertRegex(text, r"(?m)^10 +7 +0\.819 % +1\.16 GiB +1\.18 % +0\.943 % +0\.844 % +0\.819 % +0\.846 %$")
        self.assertNotRegex(text, r"(?m) $")

    def test_plots_are_drawn_for_the_terminal_and_as_svg(self):
        out, _ = self.check(0, "size", "--entries", "1e9", "--plot")
        plot = out[out.index("FPR over") :].splitlines()
        self.assertEqual(len(plot), 1 + 20 + 1 + 1)
        self.assertTrue(all(len(line) <= 80 for line in plot))
        self.assertEqual(plot[-1], "\u25cf 2.16 % at 8 bits per entry (page)")
        marked = [line for line in plot[1:21] if "\u25cf" in line]
        self.assertEqual(len(marked), 1)
        # The mark stands above the 8 of the axis.
        self.assertLessEqual(abs(marked[0].index("\u25cf") - plot[21].index(" 8 ") - 1), 1)
        # The curve falls from left to right, and every row but the last ones has a piece of it.
        ends = [len(line) for line in plot[1:15]]
        self.assertEqual(ends, sorted(ends))
        self.check(0, "size", "--fpr", "0.5%", "--layout", "line", "--plot", "plot.svg", "--json")
        svg = xml.etree.ElementTree.parse(self.folder / "plot.svg").getroot()
        name = "{http://www.w3.org/2000/svg}"
        curves = svg.findall(f".//{name}polyline")
        self.assertEqual(len(curves), 5)
        for curve in curves:
            points = [tuple(map(float, point.split(","))) for point in curve.get("points").split()]
            self.assertEqual(points, sorted(points))
            self.assertEqual([y for _, y in points], sorted(y for _, y in points))
            self.assertTrue(all(0 <= x <= 640 and 0 <= y <= 400 for x, y in points))
        self.assertIn("0.500 % at 11.54 bits per entry (line)", "".join(svg.itertext()))
        self.check(EX_CANTCREAT, "size", "--fpr", "0.5%", "--plot", "no/such/folder/plot.svg")

    def test_what_cannot_be_is_refused(self):
        for arguments in (
            [],
            ["--entries", "0"],
            ["--entries", "-5"],
            ["--entries", "1e30"],
            ["--entries", "10", "--fpr", "0"],
            ["--entries", "10", "--fpr", "100%"],
            ["--entries", "10", "--bits-per-entry", "8", "--memory", "1G"],
            ["--bits-per-entry", "8", "--hashes", "6", "--fpr", "0.1"],
            ["--entries", "1e6", "--memory", "1M", "--hashes", "6", "--fpr", "0.1"],
            ["--hashes", "6"],
            *(["--bits-per-entry", bits] for bits in ("nan", "inf", "0.5", "65", "-8")),
            ["--entries", "1e6", "--memory", "1M", "--fpr", "0.01"],  # not reached by any k
            ["--hashes", "1", "--fpr", "1e-6"],
            ["--memory", "4K"],
            ["--entries", "10", "--json", "--plot"],
            ["--entries", "1e9", "--memory", "64M"],
            ["--entries", "10", "--memory", "1X"],
            ["--entries", "10", "--hashes", "33"],
            ["--entries", "10", "--layout", "square"],
            ["--entries", "10", "--block-bytes", "64"],
            ["--entries", "10", "--layout", "partitioned", "--block-bytes", "64"],
        ):
            with self.subTest(arguments=arguments):
                self.check(EX_USAGE, "size", *arguments)


class HarvestTest(ProgramTest):
    """harvest, and build --newest."""

    RECEIVED = "postfix/submission/smtpd[1]: {id}: client=pc[192.0.2.7], sasl_method=PLAIN, sasl_username=ann"
    SENDER = "postfix/qmgr[1]: {id}: from=<{user}@ours.example>, size=400, nrcpt=1 (queue active)"
    SENT = ("postfix/smtp[1]: {id}: to=<{contact}>, relay=mx.example.org[203.0.113.1]:25, delay=0.1, dsn=2.0.0, "
            "status=sent (250 Ok)")
    REMOVED = "postfix/qmgr[1]: {id}: removed"
    LINES = (RECEIVED, SENDER, SENT, REMOVED)

    def log(self, *mails, first=0, lines=LINES):
        """The log of messages, each given as (user, contact)."""
        return "".join(f"Nov 20 10:00:00 mx {line.format(id=f'4F{first + number:06X}', user=user, contact=contact)}\n"
                       for number, (user, contact) in enumerate(mails) for line in lines)

    def harvest(self, *sources, options=("--for-all",), stdin=b""):
        """The lines of the list, and the report."""
        (self.folder / "lists").mkdir(exist_ok=True)
        out, _ = self.check(0, "harvest", "--output", "lists", "--own-domain", "ours.example", "--json", *options, "--",
                            *sources, stdin=stdin)
        report = json.loads(out)
        lines = subprocess.run(["zstd", "-dc", self.folder / report["list"]], capture_output=True, check=True).stdout
        return lines.decode().splitlines(), report

    def test_pairs_that_it_writes_can_be_built(self):
        self.harvest(self.write("log", self.log(("ann", "joe@example.org"))), options=["--pairs"])
        self.check(0, "build", "--strict", "-o", "filter", "lists")
        self.check(0, "query", "filter", "joe@example.org > ann@ours.example")
        self.check(1, "query", "filter", "joe@example.org")

    def test_a_list_is_sorted_without_duplicates_and_named_after_its_day(self):
        log = self.write("log", self.log(("ann", "joe@example.org"), ("bob", "Joe@example.org"), ("ann", "#a@example.org"),
                                         ("ann", "abe@example.com"), ("ann", "bob@ours.example")))
        lines, report = self.harvest(log, options=["--for-all", "--date", "2026-11-20"])
        self.assertEqual(lines, ["<#a@example.org>", "abe@example.com", "joe@example.org"])
        self.assertEqual(report["list"], "lists/2026-11-20.txt.zst")
        self.assertEqual((report["entries"], report["messages"], report["recipients"]), (3, 4, 4))
        self.assertEqual(report["left_out"]["own_domain"], 1)
        self.assertEqual(os.stat(self.folder / report["list"]).st_mode & 0o777, 0o640)
        # A second run of the day leaves the first one's list alone.
        again, report = self.harvest(log, options=["--for-all", "--date", "2026-11-20"])
        self.assertEqual((again, report["list"]), (lines, "lists/2026-11-20.2.txt.zst"))

    def test_pairs_and_how_often(self):
        log = self.write("log", self.log(("ann", "joe@example.org"), ("bob", "joe@example.org"), ("ann", "abe@example.org"),
                                         ("ann", "abe@example.org")))
        self.assertEqual(self.harvest(log, options=["--pairs"])[0],
                         ["abe@example.org > ann@ours.example", "joe@example.org > ann@ours.example",
                          "joe@example.org > bob@ours.example"])
        self.assertEqual(self.harvest(log, options=["--pairs", "--at-least", "2"])[0],
                         ["abe@example.org > ann@ours.example"])
        self.assertEqual(self.harvest(log, options=["--for-all", "--at-least", "2"])[0], ["joe@example.org"])

    def test_a_message_may_begin_in_one_rotated_log_and_end_in_the_next(self):
        mail = [("ann", "joe@example.org")]
        with gzip.open(self.folder / "mail.log.1", "wb") as file:
            file.write(self.log(*mail, lines=self.LINES[:2]).encode())
        self.write("mail.log", self.log(*mail, lines=self.LINES[2:]))
        os.utime(self.folder / "mail.log.1", (1_000_000_000, 1_000_000_000))
        self.assertEqual(self.harvest("mail.log", "mail.log.1")[0], ["joe@example.org"])

    def test_a_log_that_grows_is_read_as_far_as_it_went_and_a_journal_by_a_pipe(self):
        text = self.log(("ann", "joe@example.org"))
        self.assertEqual(self.harvest("-", stdin=text.encode())[0], ["joe@example.org"])
        # Its last line is still being written.
        half = self.write("half", text.rsplit("\n", 3)[0])
        self.assertEqual(self.harvest(half)[0], [])

    def test_more_than_memory_holds_goes_to_disk_and_leaves_nothing(self):
        mails = [("ann", f"joe{number % 1000}@example.org") for number in range(5000)]
        log = self.write("log", self.log(*mails))
        lines, report = self.harvest(log, options=["--for-all", "--memory", "20K", "--threads", "3"])
        self.assertEqual(lines, sorted({contact for _, contact in mails}))
        self.assertGreater(report["spilled_bytes"], 0)
        self.assertEqual(os.listdir(self.folder / "lists"), [report["list"].partition("/")[2]])

    def test_build_takes_the_newest_lists_of_a_folder(self):
        today = time.strftime("%Y-%m-%d", time.gmtime())
        log = self.write("log", self.log(("ann", "new@example.org")))
        self.harvest(log)
        old = self.write("old-log", self.log(("ann", "old@example.org")))
        self.harvest(old, options=["--for-all", "--date", "2020-01-01"])
        self.write("lists/partners.txt", "partner@example.org\n")
        self.assertIn(f"{today}.txt.zst", os.listdir(self.folder / "lists"))
        addresses = ["new@example.org", "old@example.org", "partner@example.org"]
        for options, want in (((), ["listed"] * 3), (("--newest", "180d"), ["listed", "not-listed", "listed"])):
            self.check(0, "build", "-o", "filter", "--bits-per-entry", "64", *options, "lists")
            answers = self.run_program("query", "filter", *addresses).stdout.decode().splitlines()
            self.assertEqual([answer.partition("\t")[0] for answer in answers], want, options)
        _, err = self.check(EX_DATAERR, "build", "-o", "filter", "--newest", "1d", "lists/2020-01-01.txt.zst")
        self.assertIn("no list is newer than", err)
        self.check(EX_USAGE, "build", "-o", "filter", "--newest", "soon", "lists")

    def test_folders_of_sent_mail_and_address_books(self):
        def message(to, user="ann@ours.example"):
            return f"From: {user}\r\nTo: {to}\r\n\r\nTo: body@example.org\r\n"

        for folder in ("new", "cur", "tmp"):
            (self.folder / ".Sent" / folder).mkdir(parents=True)
        self.write(".Sent/cur/1.mx:2,S", message("cur@example.org"))
        self.write(".Sent/cur/2.mx:2,DS", message("draft@example.org"))
        self.write(".Sent/cur/3.mx:2,S", gzip.compress(message("compressed@example.org").encode()))
        self.write(".Sent/cur/4.mx:2,S", message("stranger@example.org", "evil@example.org"))
        self.write(".Sent/new/5.mx", message("new@example.org"))
        self.write(".Sent/tmp/6.mx", message("half@example.org"))
        self.write(".Sent/dovecot-uidlist", "3 V1 N2\n")
        self.write("mbox", "From ann Fri Nov 20 10:00:00 2026\n" + message("mbox@example.org") * 1)
        self.write("letter.eml", message("eml@example.org"))
        self.write("book.vcf", "BEGIN:VCARD\r\nEMAIL;TYPE=home:vcard@example.org\r\nEND:VCARD\r\n")
        self.write("book.csv", 'Name,E-mail Address\r\n"a\r\nb",csv@example.org\r\n')
        sources = [".Sent", "mbox", "letter.eml", "book.vcf", "book.csv"]
        lines, report = self.harvest(*sources)
        self.assertEqual(lines, [f"{name}@example.org" for name in
                                 ("compressed", "csv", "cur", "eml", "mbox", "new", "vcard")])
        self.assertEqual(report["skipped_files"], 1)
        self.assertEqual(report["left_out"]["foreign_sender"], 1)
        pairs, _ = self.harvest("book.vcf", "book.csv", options=["--pairs", "--user", "Ann@ours.example"])
        self.assertEqual(pairs, ["csv@example.org > ann@ours.example", "vcard@example.org > ann@ours.example"])
        lines, _ = self.harvest("-", stdin=b'"user","contact"\n"ann@ours.example","joe@example.org"\n')
        self.assertEqual(lines, ["joe@example.org"])
        before = os.listdir(self.folder / "lists")
        good = ["harvest", "--output", "lists", "--own-domain", "ours.example"]
        self.assertIn("name its user by --user", self.check(EX_USAGE, *good, "--pairs", "book.vcf")[1])
        self.assertIn("--user takes an address", self.check(EX_USAGE, *good, "--pairs", "--user", "ann", "book.vcf")[1])
        self.assertIn("dovecot-uidlist is neither", self.check(EX_DATAERR, *good, "--for-all", ".Sent/dovecot-uidlist")[1])
        self.assertEqual(os.listdir(self.folder / "lists"), before)

    def test_build_leaves_exceptions_out_exactly(self):
        entries = ["joe@example.org", "Bob@Example.org", "@gone.example", "ann@gone.example", "ann@a.tree.example"]
        gone = self.write("gone", "bob@example.org # has left\n@gone.example\n@.tree.example\n")
        out, _ = self.build("\n".join(entries) + "\n", "--bits-per-entry", "64", "--except", gone, "--json")
        report = json.loads(out)
        self.assertEqual((report["entries"], report["excepted"]), (1, 4))
        answers = self.run_program("query", "filter", *entries[:2], *entries[3:]).stdout.decode().splitlines()
        self.assertEqual([answer.partition("\t")[0] for answer in answers], ["listed"] + ["not-listed"] * 3)
        self.assertIn("excepted  4 entries left out", self.build("\n".join(entries), "--except", gone)[0])
        _, err = self.check(EX_DATAERR, "build", "-o", "filter", "--except", self.write("bad", "\nnobody\n"), "list")
        self.assertIn("bad:2: ", err)
        self.check(EX_NOINPUT, "build", "-o", "filter", "--except", "missing", "list")
        self.assertIn("overwrite the list gone", self.check(EX_USAGE, "build", "-o", "gone", "--except", "gone", "list")[1])

    def test_no_known_stranger_passes_and_no_entry_is_lost(self):
        entries = [f"user{i}@example.org" for i in range(8000)]
        strangers = [f"stranger{i}@example.net" for i in range(3000)]
        not_list = self.write("not", "# rejected last month\n" + "\n".join(strangers) + "\n")
        for layout in ("page", "line", "classic", "partitioned", "ribbon"):
            options = ["--layout", layout, *([] if layout == "ribbon" else ["--hashes", "2"]), "--bits-per-entry", "4"]
            self.build("\n".join(entries), "--seed", "1", *options)
            before = self.run_program("query", "filter", "--listed", "--list", not_list).stdout.decode().splitlines()
            self.assertGreater(len(before), 20, layout)
            out, err = self.build("\n".join(entries), "--seed", "1", *options, "--not", not_list, "--json")
            self.assertEqual(err, "")
            counts = {"known": 3000, "hits": len(before), "excluded": len(before), "entries": 0, "by_domain": 0}
            self.assertEqual(json.loads(out)["known_strangers"], {**counts, "rejected": 0})
            self.assertEqual(json.loads(self.check(0, "info", "--json", "filter")[0])["known_strangers"], counts)
            self.check(0, "verify", "filter", "--against", "list")
            self.assertEqual(self.check(1, "query", "filter", "--listed", "--list", not_list)[0], "")
            self.assertEqual(self.check(1, "query", "filter", "--count", "--list", not_list)[0].split()[1], "0")
            answers = self.run_program("query", "filter", "--list", not_list).stdout.decode().splitlines()
            excluded = [line.split("\t")[1] for line in answers if line.endswith("\texcluded")]
            self.assertEqual(excluded, [line.split("\t")[1] for line in before])
            self.assertEqual(self.check(1, "query", "filter", excluded[0])[0], f"not-listed\t{excluded[0]}\texcluded\n")
            self.assertIn(f"3,000; {len(before)} hit the bits: {len(before)} excluded, 0 entries",
                          self.check(0, "info", "filter")[0])

    def test_a_known_stranger_that_is_an_entry_is_reported_and_stays_listed(self):
        lines = ["joe@example.org", "@corp.example", "@.tree.example", "ann@example.org"]
        not_list = self.write("not", "\nJoe@Example.org # left\neve@corp.example\neve@a.tree.example\n@corp.example\n"
                                     "@example.org\nnobody\neve@example.org\njoe@example.org\n")
        out, err = self.build("\n".join(lines), "--not", not_list)
        self.assertEqual(err.splitlines(), [
            f"{not_list}:2: warning: joe@example.org is an entry, and stays listed",
            f"{not_list}:3: warning: eve@corp.example is listed by its domain, and stays listed",
            f"{not_list}:4: warning: eve@a.tree.example is listed by its domain, and stays listed",
            f"{not_list}:5: warning: @corp.example is an entry, and stays listed",
            f"{not_list}:9: warning: joe@example.org is an entry, and stays listed"])
        self.assertIn("strangers 4; 1 hit the bits: 0 excluded, 1 entries; 2 listed by their domains\n", out)
        self.assertIn("no entry  1 lines of the lists of --not\n", out)
        self.check(0, "query", "filter", "joe@example.org", "eve@corp.example", "eve@a.tree.example", "@corp.example")
        self.check(1, "query", "filter", "eve@example.org")

        before = (self.folder / "filter").read_bytes()
        self.assertIn("4 are entries and 1 are no addresses", self.check(
            EX_DATAERR, "build", "-o", "filter", "--strict", "--not", not_list, "list")[1])
        self.assertEqual((self.folder / "filter").read_bytes(), before)
        self.check(EX_DATAERR, "build", "-o", "filter", "--strict", "--not", self.write("junk", "nobody\n"), "list")
        self.check(0, "build", "-o", "filter", "--strict", "--not", self.write("good", "eve@example.org\n"), "list")
        self.assertEqual(self.names(), ["filter", "good", "junk", "list", "not"])

    def test_of_many_known_strangers_that_are_entries_the_first_are_shown(self):
        lines = "\n".join(f"user{i}@example.org" for i in range(30))
        first, second = self.write("a", lines[:lines.index("\nuser7@") + 1]), self.write("b", lines)
        _, err = self.build(lines, "--not", first, "--not", second)
        shown = err.splitlines()
        self.assertEqual(len(shown), 11)
        self.assertTrue(shown[7].startswith(f"{second}:1: warning: user0@"))
        self.assertTrue(shown[9].startswith(f"{second}:3: warning: user2@"))
        self.assertIn("only counted", shown[10])

    def test_a_list_of_strangers_that_cannot_be_read_twice_is_refused(self):
        self.write("list", "joe@example.org\n")
        os.mkfifo(self.folder / "pipe")
        for name in ("-", "pipe"):
            self.assertIn("read twice", self.check(EX_DATAERR, "build", "-o", "filter", "--not", name, "list")[1])
        self.check(EX_NOINPUT, "build", "-o", "filter", "--not", "missing", "list")
        self.assertIn("overwrite the list list", self.check(EX_USAGE, "build", "-o", "list", "--not", "list", "list")[1])
        self.assertEqual(self.names(), ["list", "pipe"])

    def test_filters_with_known_strangers_are_not_combined(self):
        not_list = self.write("not", "eve@example.org\n")
        options = ["--expected-entries", "10", "--seed", "1", self.write("list", "joe@example.org\n")]
        self.check(0, "build", "-o", "a", *options)
        self.check(0, "build", "-o", "b", "--not", not_list, *options)
        for command in ("merge", "intersect"):
            for filters in (["a", "b"], ["b", "a"]):
                _, err = self.check(EX_USAGE, command, "-o", "c", *filters)
                self.assertIn("b was built with --not", err)
                self.assertIn("build a new filter from the lists", err)
        self.check(0, "compare", "a", "b")
        self.assertNotIn("c", self.names())

    def test_wrong_uses_are_told_before_anything_is_read(self):
        log = self.write("log", "")
        (self.folder / "lists").mkdir()
        good = ["--output", "lists", "--own-domain", "ours.example", "--for-all"]
        for status, arguments, want in (
                (EX_USAGE, good, "name at least one"),
                (EX_USAGE, [*good, "--pairs", log], "either --for-all or --pairs"),
                (EX_USAGE, [*good[:-1], log], "either --for-all or --pairs"),
                (EX_USAGE, [*good[:2], "--for-all", log], "own-domain"),
                (EX_USAGE, [*good, "--own-domain", "ann@ours.example", log], "not 'ann@ours.example'"),
                (EX_USAGE, [*good, "--date", "yesterday", log], "--date takes a day"),
                (EX_USAGE, [*good, "--at-least", "0", log], "--at-least"),
                (EX_NOINPUT, [*good, "missing"], "missing"),
                (EX_CANTCREAT, ["--output", "nowhere", *good[2:], log], "nowhere")):
            self.assertIn(want, self.check(status, "harvest", *arguments)[1])
        self.assertEqual(os.listdir(self.folder / "lists"), [])


class LearnedTest(ProgramTest):
    """learned list, forget and export: on a database that another hand than ours has made."""

    MONDAY = 20780  # 2026-11-23, in days from 1970 on
    PAIRS = [("ann@ours.example", "joe@example.org", MONDAY - 300, MONDAY),
             ("ann@ours.example", "#bob@example.org", MONDAY, MONDAY),
             ("zoe@ours.example", "abe@example.com", 0, 1)]

    def database(self, pairs=PAIRS, version=1):
        path = self.folder / "learned.db"
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute(
                "CREATE TABLE pairs (change INTEGER PRIMARY KEY, user TEXT NOT NULL, correspondent TEXT NOT NULL, "
                "first_use INTEGER NOT NULL, last_use INTEGER NOT NULL, UNIQUE (user, correspondent)) STRICT")
            database.execute("CREATE TABLE state (one INTEGER PRIMARY KEY, last_change INTEGER NOT NULL, "
                             "forgets INTEGER NOT NULL, pairs INTEGER NOT NULL) STRICT")
            database.execute("CREATE TABLE forgotten (number INTEGER PRIMARY KEY, person INTEGER NOT NULL, "
                             "time INTEGER NOT NULL, day INTEGER NOT NULL) STRICT")
            database.executemany("INSERT INTO pairs VALUES (NULL, ?, ?, ?, ?)", pairs)
            database.execute("INSERT INTO state VALUES (1, ?, 0, ?)", (len(pairs), len(pairs)))
            database.execute("PRAGMA application_id = 0x426c4c72")
            database.execute(f"PRAGMA user_version = {version}")
        return "learned.db"

    def export(self, *options):
        (self.folder / "lists").mkdir(exist_ok=True)
        out, _ = self.check(0, "learned", "export", self.database(), "--output", "lists", *options)
        return out

    def test_list_shows_the_pairs_of_everybody_or_of_one_person(self):
        file = self.database()
        ann = ("2026-11-23\t2026-11-23\t<#bob@example.org> > ann@ours.example\n"
               "2026-11-23\t2026-01-27\tjoe@example.org > ann@ours.example\n")
        zoe = "1970-01-02\t1970-01-01\tabe@example.com > zoe@ours.example\n"
        self.assertEqual(self.check(0, "learned", "list", file)[0], ann + zoe)
        self.assertEqual(self.check(0, "learned", "list", file, "Ann@Ours.example")[0], ann)
        self.assertEqual(self.check(0, "learned", "list", file, "@.com")[0], zoe)
        self.assertEqual(self.check(0, "learned", "list", file, "--newest", "100y", "@example.com")[0], zoe)
        self.assertEqual(self.check(0, "learned", "list", file, "--newest", "1d", "@example.com")[0], "")
        self.assertEqual(json.loads(self.check(0, "learned", "list", file, "--json", "abe@example.com")[0]),
                         {"pairs": [{"correspondent": "abe@example.com", "user": "zoe@ours.example",
                                     "first_use": "1970-01-01", "last_use": "1970-01-02"}]})
        self.assertEqual(json.loads(self.check(0, "learned", "list", file, "--json", "@no.example")[0]), {"pairs": []})

    def test_forget_takes_a_person_out_on_both_sides(self):
        file = self.database()
        out, _ = self.check(0, "learned", "forget", file, "joe@example.org", "zoe@ours.example")
        self.assertEqual(out, "forgotten 2\nleft      1\n")
        self.assertEqual(self.check(0, "learned", "list", file)[0].count("\n"), 1)
        out, _ = self.check(0, "learned", "forget", file, "joe@example.org", "--json")
        self.assertEqual(json.loads(out), {"forgotten": 0, "left": 1})

    def test_export_writes_a_list_that_build_takes(self):
        out = self.export("--date", "2026-11-20")
        self.assertEqual(out, "exported  lists/2026-11-20.txt.zst\nentries   3\n")
        path = self.folder / "lists" / "2026-11-20.txt.zst"
        lines = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout.decode()
        self.assertEqual(lines, "<#bob@example.org> > ann@ours.example\nabe@example.com > zoe@ours.example\n"
                                "joe@example.org > ann@ours.example\n")
        self.assertEqual(path.stat().st_mode & 0o777, 0o640)
        self.check(0, "build", "--strict", "-o", "filter", "lists")
        self.check(0, "query", "filter", "abe@example.com > zoe@ours.example")
        self.check(1, "query", "filter", "abe@example.com > ann@ours.example")

    def test_what_is_no_such_database_is_refused_with_its_name(self):
        self.write("text", "x" * 5000)
        self.write("empty", "")
        (self.folder / "lists").mkdir()
        database = self.database(version=2)
        for status, want, arguments in [
                (EX_NOINPUT, "missing", ["list", "missing"]),
                (EX_DATAERR, "text: file is not a database", ["list", "text"]),
                (EX_DATAERR, "empty", ["forget", "empty", "a@example.org"]),
                (EX_DATAERR, "found version 2", ["export", database, "--output", "lists"]),
                (EX_USAGE, "say what to do", []),
                (EX_USAGE, "name the file", ["list"]),
                (EX_USAGE, "not 'shred'", ["shred", database]),
                (EX_USAGE, "at least one address", ["forget", database]),
                (EX_USAGE, "'joe' is no address", ["forget", database, "joe"]),
                (EX_USAGE, "--output", ["export", database]),
                (EX_USAGE, "--output", ["list", database, "--output", "lists"]),
                (EX_USAGE, "--newest", ["list", database, "--newest", "3"]),
                (EX_USAGE, "--date", ["export", database, "--output", "lists", "--date", "today"])]:
            with self.subTest(arguments=arguments):
                self.assertIn(want, self.check(status, "learned", *arguments)[1])
        self.assertEqual(os.listdir(self.folder / "lists"), [])


class ReportTest(ProgramTest):
    """report: what the daemon decided, from its log."""

    FOLDER = pathlib.Path(__file__).parents[2] / "golden/report"

    def run_program(self, *arguments, stdin=b""):
        zone = {**os.environ, "TZ": "CET-1"}
        return subprocess.run([BLOOMGATE, *arguments], input=stdin, capture_output=True, cwd=self.folder, timeout=60, env=zone)

    def decision(self, seconds=0, decision="check", date=None, number=1):
        date = date or time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(time.time() - seconds))
        return (f"{date} mx bloomgate-milter[1]: queue_id={number} sender=<a@b.example> decision={decision} reason=not-listed "
                "time_us=1.5 identity=none authentication=none whitelist=- header_from=-\n")

    def messages(self, *arguments, stdin=b""):
        return json.loads(self.check(0, "report", "--json", *arguments, stdin=stdin)[0])["messages"]

    def test_the_golden_log_gives_the_golden_pages(self):
        for name, options in (("report.txt", []), ("report.html", ["--html"]), ("report.json", ["--json"])):
            with self.subTest(name):
                out, _ = self.check(0, "report", *options, self.FOLDER / "mail.log")
                self.assertEqual(out, (self.FOLDER / name).read_text())

    def test_compressed_and_rotated_logs_standard_input_and_folders_are_read(self):
        whole = (self.FOLDER / "mail.log").read_bytes()
        want = self.messages("-", stdin=whole)
        (self.folder / "logs").mkdir()
        lines = whole.splitlines(keepends=True)
        (self.folder / "logs/mail.log").write_bytes(b"".join(lines[40:]))
        (self.folder / "logs/mail.log.1.gz").write_bytes(gzip.compress(b"".join(lines[:40])))
        self.assertEqual(self.messages("logs"), want)
        self.assertEqual(self.messages("logs/mail.log", "logs/mail.log.1.gz"), want)

    def test_since_leaves_out_what_is_older(self):
        log = self.write("log", self.decision(30) + self.decision(7200, number=2) + self.decision(3 * 86400, number=3))
        self.assertEqual(self.messages(log), 3)
        self.assertEqual(self.messages("--since", "1h", log), 1)
        self.assertEqual(self.messages("--since", "24h", log), 2)
        self.assertEqual(self.messages("--since", "2020-01-01", log), 3)

    def test_who_finds_nothing_is_told_what_was_looked_at_and_what_to_do(self):
        other = self.write("other", "Nov 20 10:00:00 mx postfix/smtpd[1]: connect from x\n")
        quiet = self.write("quiet", "Nov 20 10:00:00 mx bloomgate-milter[1]: stopping\n")
        old = self.write("old", self.decision(7200))
        for arguments, want in (((other,), "1 lines, 0 of them of bloomgate-milter\n.*log-target.*--journal"),
                                ((quiet,), "1 of them of bloomgate-milter\n.*log-level"),
                                (("--since", "1h", old), "1 are older\n.*--since")):
            out, err = self.check(1, "report", *arguments)
            self.assertEqual(out, "")
            self.assertRegex(err, re.compile(f"no decision found in {re.escape(arguments[-1])}: .*{want}", re.DOTALL))

    def test_the_journal_is_asked_by_arguments_and_not_through_a_shell(self):
        (self.folder / "bin").mkdir()
        asked = self.folder / "asked"
        program = self.folder / "bin/journalctl"
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {asked}\nprintf "%s" "$LINES_OF_IT"\nexit "$STATUS"\n')
        program.chmod(0o755)

        def report(status, *arguments, path=program.parent):
            environment = {**os.environ, "PATH": f"{path}:/usr/bin:/bin", "STATUS": str(status),
                           "LINES_OF_IT": self.decision(30)}
            return subprocess.run([BLOOMGATE, "report", "--json", *arguments], capture_output=True, text=True, timeout=60,
                                  cwd=self.folder, env=environment)

        done = report(0, "--journal", "--since", "2026-11-20")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["messages"], 1)
        since = asked.read_text().splitlines()[-1]
        self.assertEqual(asked.read_text().splitlines()[:-1],
                         ["--unit=bloomgate-milter", "--output=short-iso", "--no-pager", "--quiet"])
        self.assertRegex(since, r"^--since=@\d+$")
        self.assertEqual(report(0, "--journal").returncode, 0)
        self.assertAlmostEqual(int(asked.read_text().splitlines()[-1].split("@")[1]), time.time() - 86400, delta=600)
        failed = report(3, "--journal")
        self.assertEqual(failed.returncode, 74)
        self.assertIn("journalctl ended with exit status 3", failed.stderr)
        program.unlink()
        missing = subprocess.run([BLOOMGATE, "report", "--journal"], capture_output=True, text=True, timeout=60,
                                 env={**os.environ, "PATH": str(program.parent)})
        self.assertEqual(missing.returncode, EX_NOINPUT)
        self.assertIn("name log files instead", missing.stderr)

    def test_wrong_uses_are_refused(self):
        log = self.write("log", self.decision())
        for status, arguments, want in (
                (EX_USAGE, [], "name at least one log"),
                (EX_USAGE, ["--journal", log], "and not both"),
                (EX_USAGE, ["--html", "--json", log], "either --html or --json"),
                (EX_USAGE, ["--since", "yesterday", log], "--since takes a time"),
                (EX_USAGE, ["--top", "0", log], "--top"),
                (EX_NOINPUT, ["missing"], "missing")):
            self.assertIn(want, self.check(status, "report", *arguments)[1])

    def test_memory_stays_bounded_however_many_domains_there_are(self):
        log = self.folder / "log"
        with open(log, "w") as file:
            for number in range(300_000):
                file.write(f"2026-11-20T10:00:00+00:00 mx bloomgate-milter[1]: queue_id={number} sender=<a@{'x' * 60}.d{number}.attacker.example> "
                           "decision=check reason=not-listed time_us=1.5 header_from=-\n")
        program = subprocess.Popen([BLOOMGATE, "report", "--quiet", log], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(program.returncode, 0)
        if not IS_SANITIZED:
            self.assertLess(usage.ru_maxrss, 100 * 1024)


class HelpTest(ProgramTest):
    def test_every_command_has_help_with_examples(self):
        out, _ = self.check(0, "--help")
        commands = re.findall(r"(?m)^  (\w+) {2,}", out)
        self.assertEqual(commands, ["build", "update", "add", "remove", "export", "append", "fold", "harvest", "learned", "report", "query", "info", "verify", "sign", "rollback", "merge", "intersect", "join", "compare", "size"])
        for command in commands:
            out, _ = self.check(0, command, "--help")
            self.assertTrue(out.startswith(f"usage: bloomgate {command} "))
            self.assertIn(f"examples:\n  bloomgate {command} ", out)

    def test_the_manual_names_every_option_of_every_command(self):
        manual = (pathlib.Path(__file__).parents[3] / "filter/cli/bloomgate.1").read_text()
        sections = dict(re.findall(r"(?ms)^\.Ss (\w+)\n(.*?)(?=^\.Ss |^\.Sh )", manual))
        for command in sections:
            out, _ = self.check(0, command, "--help")
            in_help = set(re.findall(r"(?m)^  (?:-\w \[ )?--([\w-]+)", out)) - {"help"}
            in_manual = set(re.findall(r"(?m)^\.It .*?Fl Fl ([\w-]+)", sections[command]))
            self.assertEqual(in_help, in_manual, command)

    def test_version_and_wrong_commands(self):
        self.assertRegex(self.check(0, "--version")[0], r"^bloomgate \d+\.\d+\.\d+\n$")
        for arguments in (["info", "a", "b"], ["verify"], ["size", "--entries", "5", "extra"], ["compare", "a"], ["merge", "-o", "c", "a"]):
            self.check(EX_USAGE, *arguments)
        self.check(EX_USAGE)
        self.assertIn("there is no command 'bild'", self.check(EX_USAGE, "bild")[1])


if __name__ == "__main__":
    BLOOMGATE = os.path.abspath(sys.argv.pop(1))
    unittest.main()
