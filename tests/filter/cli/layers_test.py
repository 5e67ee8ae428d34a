#!/usr/bin/env python3
"""Folders of layers: `bloomgate append` and `fold`, and `info`, `query` and `verify` of a folder.

usage: layers_test.py PATH-OF-BLOOMGATE [unittest arguments]

BLOOMGATE_KILLS=500 kills append and fold that often instead of a few times.
"""
import fcntl
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from timely import TimelyTestCase  # noqa: E402

BLOOMGATE = None
EX_USAGE, EX_DATAERR, EX_CONFIG = 64, 65, 78
KILLS = int(os.environ.get("BLOOMGATE_KILLS", "12"))


def wait_until_it_waits_for_a_lock(pid):
    """Until the kernel says of the process that it is blocked by another one's lock."""
    deadline = time.monotonic() + 60
    while not any("->" in line and f" {pid} " in line for line in pathlib.Path("/proc/locks").read_text().splitlines()):
        assert time.monotonic() < deadline, "it does not wait"
        time.sleep(0.01)


class Layers(TimelyTestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bloomgate-layers-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.layers = self.root / "layers"
        self.lists = 0

    def run_it(self, *arguments, status=0, given=""):
        done = subprocess.run([BLOOMGATE, *map(str, arguments)], input=given, capture_output=True, text=True, timeout=120)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        return done

    def new_list(self, count):
        self.lists += 1
        path = self.root / f"list{self.lists}.txt"
        path.write_text("".join(f"u{i}@list{self.lists}.example\n" for i in range(count)))
        return path

    def names(self):
        return sorted(path.name for path in self.layers.glob("*.bloom"))

    def assert_all_listed(self, lists):
        text = "".join(path.read_text() for path in lists)
        found = self.run_it("query", self.layers, "--count", "-", given=text).stdout
        self.assertEqual(found, f"listed\t{text.count(chr(10))}\nnot-listed\t0\nrejected\t0\n")


class CommandsTest(Layers):
    def test_each_append_makes_the_next_layer_and_the_sum_of_rates_stays_bounded(self):
        lists = [self.new_list(150_000) for _ in range(6)]
        for path in lists:
            self.run_it("append", self.layers, path, "--quiet")
        self.assertEqual(self.names(), [f"000{i}.bloom" for i in range(1, 7)])
        told = json.loads(self.run_it("info", self.layers, "--json").stdout)
        rates = [layer["fpr"] for layer in told["layers"]]
        for one, next_one in zip(rates, rates[1:]):
            self.assertLess(next_one, 0.6 * one)
        self.assertLess(told["fpr"], 2 * rates[0])
        self.assertLess(told["fpr"], sum(rates))
        self.assertEqual(told["entries"], 900_000)
        self.assertEqual(len({layer["seed"] for layer in told["layers"]}), 6)
        self.assert_all_listed(lists)
        self.assertIn("layers           6", self.run_it("info", self.layers).stdout)
        self.assertEqual(self.run_it("verify", self.layers, "--quiet").stdout.count("sound "), 6)

    def test_a_stranger_is_listed_by_no_layer(self):
        self.run_it("append", self.layers, self.new_list(10), "--quiet")
        self.run_it("append", self.layers, self.new_list(10), "--quiet")
        answer = self.run_it("query", self.layers, "u1@list1.example", "u1@list2.example", "who@other.example", status=1)
        self.assertEqual(answer.stdout, "listed\tu1@list1.example\nlisted\tu1@list2.example\nnot-listed\twho@other.example\n")

    def test_a_bound_that_is_met_is_told_with_the_remedy_and_nothing_is_made(self):
        self.run_it("append", self.layers, self.new_list(30_000), "--quiet")
        refused = self.run_it("append", self.layers, self.new_list(10), "--fpr", "1%", status=EX_USAGE)
        self.assertIn("bloomgate fold", refused.stderr)
        self.assertEqual(self.names(), ["0001.bloom"])
        # The bound of a layer that has more entries than it was made for is what it has become.
        full = self.root / "full"
        self.run_it("append", full, self.new_list(30_000), "--expected-entries", "10000", "--quiet")
        self.run_it("append", full, self.new_list(10), "--quiet")

    def test_a_layer_spells_addresses_as_the_last_one_does(self):
        self.run_it("append", self.layers, self.new_list(10), "--tag-separators", "+", "--keep-case", "--quiet")
        self.run_it("append", self.layers, self.new_list(10), "--quiet")
        self.run_it("query", self.layers, "u1+tag@list2.example")
        self.run_it("query", self.layers, "U1@list2.example", status=1)
        third = self.new_list(10)
        self.run_it("append", self.layers, third, "--tag-separators", "-", "--keep-case", "--quiet")
        self.run_it("append", self.layers, self.new_list(10), "--quiet")
        self.run_it("query", self.layers, "u1-tag@list4.example")
        self.run_it("query", self.layers, "u1+tag@list4.example", status=1)
        self.run_it("fold", self.layers, third, "--quiet")
        self.run_it("query", self.layers, "u1-tag@list3.example")
        self.run_it("query", self.layers, "U1@list3.example", status=1)
        plain = self.root / "plain"
        self.run_it("append", plain, third, "--quiet")
        self.run_it("append", plain, self.new_list(10), "--quiet")
        self.run_it("query", plain, "U1@list5.example")

    def test_names_go_on_from_the_highest_number_and_a_folder_has_64_layers_at_most(self):
        self.run_it("append", self.layers, self.new_list(10), "--quiet")
        first = (self.layers / "0001.bloom").rename(self.layers / "0007.bloom")
        for name in ("12ab", "x99", "99999999999999999999999"):
            shutil.copy(first, self.layers / f"{name}.bloom")
        self.run_it("append", self.layers, self.new_list(10), "--fpr", "50%", "--quiet")
        self.assertIn("0008.bloom", self.names())
        for i in range(63 - len(self.names())):
            shutil.copy(first, self.layers / f"copy{i}.bloom")
        last = self.new_list(10)
        self.run_it("append", self.layers, last, "--fpr", "50%", "--quiet")
        self.assertEqual(len(self.names()), 64)
        self.assert_all_listed([last])
        refused = self.run_it("append", self.layers, last, "--fpr", "50%", status=EX_USAGE)
        self.assertIn("has 64 layers", refused.stderr)
        self.assertEqual(len(self.names()), 64)

    def test_a_layer_of_each_layout_has_its_share_of_the_bound(self):
        for layout in ("page", "line", "classic", "ribbon"):
            with self.subTest(layout=layout):
                folder, path = self.root / layout, self.new_list(50_000)
                sized = ["--layout", layout, "--fpr", "2%", "--seed", "1", "--quiet"]
                self.run_it("append", folder, path, *sized)
                told = json.loads(self.run_it("info", folder, "--json").stdout)
                self.assertTrue(0.0075 < told["fpr"] < 0.0104, told["fpr"])
                self.assertEqual(told["layers"][0]["hashes"], {"page": 7, "line": 6, "classic": 7, "ribbon": 1}[layout])
                self.run_it("append", folder, self.new_list(50_000), *sized)
                self.assertLess(json.loads(self.run_it("info", folder, "--json").stdout)["fpr"], 0.0155)
                self.run_it("fold", folder, path, "--layout", layout, "--bits-per-entry", "16", "--quiet")
                (told,) = json.loads(self.run_it("info", folder, "--json").stdout)["layers"]
                self.assertTrue(98_000 < told["body_bytes"] < 106_000, told["body_bytes"])
                self.run_it("query", folder, "--count", "-", given=path.read_text())
        self.run_it("append", self.layers, self.new_list(10), "--fpr", "0.00000003%", "--quiet")

    def test_options_of_a_build_make_the_layer(self):
        listed, strangers = self.new_list(1000), self.new_list(1000)
        shape = ["--bits-per-entry", "2", "--hashes", "1", "--seed", "1", "--quiet"]
        self.run_it("append", self.layers, listed, "--except", strangers, "--seed", "9", "--quiet")
        self.assertEqual(json.loads(self.run_it("info", self.layers, "--json").stdout)["layers"][0]["seed"],
                         "0x0000000000000009")  # fmt: skip
        self.run_it("fold", self.layers, listed, strangers, *shape, "--except", strangers)
        self.assertEqual(json.loads(self.run_it("info", self.layers, "--json").stdout)["entries"], 1000)
        found = self.run_it("query", self.layers, "--count", "-", given=strangers.read_text(), status=1).stdout
        self.assertNotIn("not-listed\t1000\n", found)  # with so few bits many strangers pass
        self.run_it("fold", self.layers, listed, *shape, "--not", strangers)
        found = self.run_it("query", self.layers, "--count", "-", given=strangers.read_text(), status=1).stdout
        self.assertIn("not-listed\t1000\n", found)

    def test_a_fold_of_lists_holds_them_and_nothing_else(self):
        kept, dropped = self.new_list(1000), self.new_list(1000)
        for path in (kept, dropped):
            self.run_it("append", self.layers, path, "--quiet")
        self.run_it("fold", self.layers, kept, "--bits-per-entry", "24", "--hashes", "16", "--quiet")
        self.assertEqual(self.names(), ["0001.bloom"])
        self.assert_all_listed([kept])
        found = self.run_it("query", self.layers, "--count", "-", given=dropped.read_text(), status=1).stdout
        self.assertIn("not-listed\t1000\n", found)

    def test_a_fold_without_lists_is_the_union_of_layers_of_one_shape_and_refuses_others(self):
        lists = [self.new_list(1000), self.new_list(1000)]
        self.layers.mkdir()
        shape = ["--seed", "1", "--expected-entries", "4000", "--quiet"]
        for path, name in zip(lists, ("one", "two")):
            self.run_it("build", "--output", self.layers / f"{name}.bloom", *shape, path)
        self.run_it("fold", self.layers)
        self.assertEqual(self.names(), ["one.bloom"])
        self.assert_all_listed(lists)
        self.run_it("append", self.layers, self.new_list(10), "--quiet")
        refused = self.run_it("fold", self.layers, status=EX_USAGE)
        self.assertIn("name the lists or stores that hold all entries: bloomgate fold", refused.stderr)
        self.assertEqual(self.names(), ["0001.bloom", "one.bloom"])
        ribbons = self.root / "ribbons"
        ribbons.mkdir()
        for path, name in zip(lists, ("one", "two")):
            self.run_it("build", "--output", ribbons / f"{name}.bloom", *shape, "--layout", "ribbon", path)
        refused = self.run_it("fold", ribbons, status=EX_USAGE)
        self.assertIn("name the lists or stores that hold all entries: bloomgate fold", refused.stderr)
        self.assertEqual(len(list(ribbons.iterdir())), 2)

    def test_damage_of_a_layer_is_not_taken_into_the_union(self):
        self.layers.mkdir()
        for name in ("one", "two"):
            self.run_it("build", "--output", self.layers / f"{name}.bloom", "--seed", "1", "--expected-entries", "4000",
                        "--quiet", self.new_list(1000))  # fmt: skip
        data = bytearray((self.layers / "two.bloom").read_bytes())
        data[5000] ^= 1
        (self.layers / "two.bloom").write_bytes(data)
        before = (self.layers / "one.bloom").read_bytes()
        self.assertIn("two.bloom", self.run_it("fold", self.layers, status=65).stderr)
        self.assertEqual(self.names(), ["one.bloom", "two.bloom"])
        self.assertEqual((self.layers / "one.bloom").read_bytes(), before)

    def test_layers_are_signed_as_they_are_made_or_all_at_once_later(self):
        key, lists = self.root / "key", [self.new_list(10), self.new_list(10)]
        public = self.run_it("sign", "--new-key", key).stdout.strip()

        def is_signed(status=0):
            return self.run_it("verify", self.layers, "--quiet", "--trusted-key", public, status=status)

        self.run_it("append", self.layers, lists[0], "--quiet", "--sign-key", key)
        is_signed()
        self.run_it("append", self.layers, lists[1], "--quiet")
        self.assertIn("0002.bloom is not signed", is_signed(65).stderr)
        told = self.run_it("sign", "--key", key, self.layers).stdout
        self.assertRegex(told, r"^unchanged  .*0001.bloom.*\nsigned     .*0002.bloom\n$")
        is_signed()
        self.run_it("fold", self.layers, *lists, "--quiet", "--sign-key", key)
        is_signed()
        self.assertEqual(self.names(), ["0001.bloom"])
        self.assert_all_listed(lists)
        before = self.names()
        self.run_it("append", self.layers, lists[0], "--quiet", "--sign-key", self.root / "none", status=66)
        self.assertEqual(self.names(), before)

    def test_a_union_of_layers_is_signed_with_the_key_that_is_given_and_else_not_at_all(self):
        key, lists = self.root / "key", [self.new_list(100), self.new_list(100)]
        public = self.run_it("sign", "--new-key", key).stdout.strip()
        self.layers.mkdir()
        for signing, status in ([], 65), (["--sign-key", key], 0):
            for path, name in zip(lists, ("one", "two")):
                self.run_it("build", "--output", self.layers / f"{name}.bloom", "--seed", "1", "--expected-entries", "400",
                            "--sign-key", key, "--quiet", path)
            self.run_it("fold", self.layers, *signing)
            self.assertEqual(self.names(), ["one.bloom"])
            self.run_it("verify", self.layers, "--quiet", "--trusted-key", public, status=status)
        self.run_it("build", "--output", self.layers / "one.bloom", "--quiet", lists[0])
        self.run_it("fold", self.layers, "--sign-key", key)
        self.run_it("verify", self.layers, "--quiet", "--trusted-key", public)

    def test_a_fold_of_lists_without_an_entry_changes_nothing_unless_that_is_asked_for(self):
        old = self.new_list(20)
        self.run_it("append", self.layers, old, "--quiet")
        self.run_it("append", self.layers, self.new_list(20), "--quiet")
        empty = self.root / "empty"
        empty.mkdir()
        (empty / "2020-01-01.txt").write_text("joe@example.org\n")
        (self.root / "comment.txt").write_text("# nobody\n")
        for words in ([self.root / "comment.txt"], [empty, "--newest", "10d"]):
            refused = self.run_it("fold", self.layers, *words, "--quiet", status=EX_DATAERR if len(words) == 1 else None)
            self.assertNotEqual(refused.returncode, 0)
            self.assertEqual(self.names(), ["0001.bloom", "0002.bloom"])
            self.assert_all_listed([old])
        self.assertIn("no entries", self.run_it("fold", self.layers, self.root / "comment.txt", status=EX_DATAERR).stderr)
        self.run_it("fold", self.layers, self.root / "comment.txt", "--allow-empty", "--quiet")
        self.assertEqual(self.names(), ["0001.bloom"])
        self.run_it("query", self.layers, "u1@list1.example", status=1)

    def test_lists_without_an_entry_make_no_layer_beside_others(self):
        none = self.root / "none.txt"
        none.write_text("# nobody\n")
        said = self.run_it("append", self.layers, none, "--quiet")
        self.assertEqual(self.names(), ["0001.bloom"])  # a daemon needs a whitelist to begin with
        self.assertNotIn("no layer", said.stdout)
        self.run_it("append", self.layers, self.new_list(5), "--quiet")
        before = {path.name: path.read_bytes() for path in self.layers.iterdir()}
        said = self.run_it("append", self.layers, none, "--keep", 2, "--quiet")
        self.assertEqual(said.stdout, "no layer was made: the lists hold no entries\n")
        said = self.run_it("append", self.layers, none, "--json", "--quiet")
        self.assertEqual(json.loads(said.stdout), {"file": None, "entries": 0})
        self.assertEqual({path.name: path.read_bytes() for path in self.layers.iterdir()}, before)
        self.assertFalse((self.root / "layers.1").exists())
        bad = self.root / "bad.txt"
        bad.write_text("no address\n")
        self.run_it("append", self.layers, bad, "--strict", "--quiet", status=EX_DATAERR)

    def test_a_build_keeps_the_filter_where_the_lists_must_not_be_empty(self):
        output, store = self.root / "w.bloom", self.root / "w.store"
        self.run_it("build", "--output", output, "--store", store, "--not-empty", self.new_list(5), "--quiet")
        before = output.read_bytes(), store.read_bytes()
        (self.root / "none.txt").write_text("\n")
        self.run_it("build", "--output", output, "--store", store, "--not-empty", self.root / "none.txt", status=EX_DATAERR)
        self.assertEqual((output.read_bytes(), store.read_bytes()), before)

    def test_what_cannot_be_is_refused_and_changes_nothing(self):
        self.run_it("append", self.layers, self.new_list(10), "--quiet")
        bad = self.root / "bad.txt"
        bad.write_text("no address\n")
        cases = [(["append", self.layers], EX_USAGE), (["append", self.layers, "--strict", "--quiet", bad], 65),
                 (["append", self.layers, self.root / "none.txt"], 66), (["fold"], EX_USAGE),
                 (["fold", self.layers, self.layers / "0001.bloom"], EX_USAGE),
                 (["fold", self.layers, "--json"], EX_USAGE), (["fold", self.layers, "--bits-per-entry", "8"], EX_USAGE),
                 (["fold", self.layers, "--hashes", "3"], EX_USAGE), (["fold", self.layers, "--strict", bad], 65),
                 (["verify", self.layers, "--against", bad], EX_USAGE),
                 (["append", self.layers, "--layout", "counting", bad], EX_USAGE),
                 (["fold", self.layers, "--layout", "counting", bad], EX_USAGE),
                 (["query", self.layers, "--list", bad], EX_USAGE), (["fold", self.root / "none"], 66)]
        refused = self.run_it("fold", self.layers, self.layers / "0001.bloom", status=EX_USAGE)
        self.assertIn("0001.bloom is a layer", refused.stderr)
        self.run_it("append", self.root / "new", status=EX_USAGE)
        self.assertFalse((self.root / "new").exists())
        before = (self.layers / "0001.bloom").read_bytes()
        for arguments, status in cases:
            with self.subTest(arguments=arguments):
                self.run_it(*arguments, status=status)
                self.assertEqual([path.name for path in self.layers.iterdir()], ["0001.bloom"])
                self.assertEqual((self.layers / "0001.bloom").read_bytes(), before)
        (self.root / "empty").mkdir()
        self.run_it("info", self.root / "empty", status=EX_CONFIG)
        self.run_it("fold", self.root / "empty", status=EX_CONFIG)
        self.run_it("fold", self.root / "empty", self.new_list(10), "--quiet")
        self.assertEqual([path.name for path in (self.root / "empty").iterdir()], ["0001.bloom"])

    def test_where_the_new_layer_cannot_be_made_a_fold_takes_none_away(self):
        for _ in range(2):
            self.run_it("append", self.layers, self.new_list(10), "--quiet")
        bad = self.root / "bad.txt"
        bad.write_text("no address\n")
        self.run_it("fold", self.layers, "--strict", "--quiet", bad, status=65)
        self.assertEqual(self.names(), ["0001.bloom", "0002.bloom"])

    def test_appends_at_once_lose_nothing(self):
        lists = [self.new_list(2000) for _ in range(6)]
        running = [subprocess.Popen([BLOOMGATE, "append", self.layers, path, "--quiet"], stdout=subprocess.DEVNULL)
                   for path in lists]
        self.assertEqual([each.wait(120) for each in running], [0] * 6)
        self.assertEqual(len(self.names()), 6)
        self.assert_all_listed(lists)


class KeptTest(Layers):
    """append --keep and fold --keep, and rollback of a folder."""

    def setUp(self):
        super().setUp()
        self.all = [self.new_list(100) for _ in range(4)]

    def lists_now(self, folder=None):
        """The numbers of the lists of which everybody is listed: no other list of a hundred strangers passes."""
        found = ""
        for number, path in enumerate(self.all):
            done = self.run_it("query", folder or self.layers, "--count", "-", given=path.read_text(), status=None)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            found += str(number) if "\nnot-listed\t0\n" in done.stdout else ""
        return found

    def append(self, number, *options, status=0):
        return self.run_it("append", self.layers, self.all[number], "--quiet", *options, status=status)

    def folders(self):
        return sorted(path.name for path in self.root.iterdir() if path.is_dir())

    def test_the_last_append_is_taken_back_and_that_too(self):
        self.append(0, "--keep", "2")
        self.assertEqual(self.folders(), ["layers"])  # there was nothing to keep
        self.append(1, "--keep", "2")
        self.append(2, "--keep", "2")
        self.assertEqual(self.folders(), ["layers", "layers.1", "layers.2"])
        self.assertEqual([self.lists_now(self.root / name) for name in self.folders()], ["012", "01", "0"])
        inode = (self.layers / "0001.bloom").stat().st_ino
        out = self.run_it("rollback", f"{self.layers}/").stdout
        self.assertRegex(out, r"(?m)^in place  .*/layers: 200 entries in 2 layers, built 20\d\d-")
        self.assertRegex(out, r"(?m)^replaced  .*/layers\.1: 300 entries in 3 layers, built 20\d\d-")
        self.assertEqual((self.lists_now(), self.names()), ("01", ["0001.bloom", "0002.bloom"]))
        self.assertEqual((self.layers / "0001.bloom").stat().st_ino, inode)
        self.run_it("rollback", self.layers)
        self.assertEqual(self.lists_now(), "012")
        told = json.loads(self.run_it("rollback", self.layers, "--to", "2", "--json").stdout)
        self.assertEqual((told["in_place"]["layers"], told["replaced"]["layers"]), (1, 3))
        self.assertEqual(self.lists_now(), "0")

    def test_after_a_fold_the_old_layers_come_back(self):
        for number in range(3):
            self.append(number)
        shape = ["--bits-per-entry", "24", "--hashes", "16", "--quiet"]
        self.run_it("fold", self.layers, *shape, "--keep", "1", self.all[0], self.all[3])
        self.assertEqual((self.lists_now(), self.names()), ("03", ["0001.bloom"]))
        self.run_it("rollback", self.layers)
        self.assertEqual((self.lists_now(), self.names()), ("012", ["0001.bloom", "0002.bloom", "0003.bloom"]))
        self.append(3, "--keep", "1")
        self.assertEqual((self.lists_now(), self.lists_now(self.root / "layers.1")), ("0123", "012"))
        self.assertEqual(self.folders(), ["layers", "layers.1"])

    def test_a_union_is_taken_back_too(self):
        self.layers.mkdir()
        for name, path in zip(("one", "two"), self.all):
            self.run_it("build", "--output", self.layers / f"{name}.bloom", "--seed", "1", "--expected-entries", "400",
                        "--quiet", path)  # fmt: skip
        self.run_it("fold", self.layers, "--keep", "1")
        self.assertEqual(self.names(), ["one.bloom"])
        self.run_it("rollback", self.layers)
        self.assertEqual((self.lists_now(), self.names()), ("01", ["one.bloom", "two.bloom"]))

    def test_no_more_states_are_kept_than_asked_for_and_a_folder_by_another_path_is_the_same(self):
        (self.root / "link").symlink_to("layers")
        for number in range(3):
            self.append(number, "--keep", "1")
        self.run_it("append", self.root / "link" / ".", self.all[3], "--quiet", "--keep", "1")
        self.assertEqual(self.folders(), ["layers", "layers.1", "link"])
        self.assertEqual(self.lists_now(self.root / "layers.1"), "012")
        self.run_it("rollback", self.root / "link")
        self.assertTrue((self.root / "link").is_symlink())
        self.assertEqual(self.lists_now(), "012")
        self.append(3)
        self.assertEqual(self.folders(), ["layers", "layers.1", "link"])  # without --keep nothing is kept or removed
        self.assertEqual(self.lists_now(self.root / "layers.1"), "0123")

    def test_a_folder_without_layers_is_no_state_to_go_back_to(self):
        self.append(0, "--keep", "1")
        self.assertEqual(self.folders(), ["layers"])

    def test_what_a_killed_command_has_left_is_removed_and_nothing_else(self):
        self.append(0)
        for name in (".layers.kept-123", ".layers.kept-mine", ".layers.kept-", ".other.kept-123"):
            (self.root / name).mkdir()
        self.append(1, "--keep", "1")
        self.assertEqual(sorted(path.name for path in self.root.glob(".*")),
                         [".layers.kept-", ".layers.kept-mine", ".other.kept-123"])  # fmt: skip

    def test_a_state_whose_layers_have_the_same_names_is_another_state(self):
        self.append(0)
        for number in (1, 2):
            self.run_it("fold", self.layers, "--keep", "2", "--quiet", self.all[number])
        self.assertEqual([self.lists_now(self.root / name) for name in self.folders()], ["2", "1", "0"])
        self.run_it("rollback", self.layers, "--to", "2")
        self.assertEqual(self.lists_now(), "0")

    def test_a_kept_folder_has_the_mode_of_the_folder(self):
        self.append(0)
        self.layers.chmod(0o750)
        self.append(1, "--keep", "1")
        self.run_it("rollback", self.layers)
        self.assertEqual([path.stat().st_mode & 0o777 for path in (self.layers, self.root / "layers.1")], [0o750] * 2)

    def test_a_change_that_fails_keeps_and_removes_nothing(self):
        for number in range(3):
            self.append(number, "--keep", "2")
        bad = self.root / "bad.txt"
        bad.write_text("no address\n")
        for command in ("append", "fold"):
            self.run_it(command, self.layers, bad, "--strict", "--quiet", "--keep", "2", status=EX_DATAERR)
            self.assertEqual(self.folders(), ["layers", "layers.1", "layers.2"])
            self.assertEqual([self.lists_now(self.root / name) for name in self.folders()], ["012", "01", "0"])
        self.append(3, "--keep", "100", status=EX_USAGE)
        self.run_it("fold", self.layers, "--keep", "100", status=EX_USAGE)
        self.assertEqual(self.lists_now(), "012")

    def test_info_shows_what_is_kept(self):
        for number in range(2):
            self.append(number, "--keep", "1")
        self.assertRegex(self.run_it("info", self.layers).stdout,
                         r"(?m)^kept +.*/layers\.1: 100 entries in 1 layer, built ")
        (self.root / "layers.1/0001.bloom").unlink()
        (self.root / "layers.1/0001.bloom").write_bytes(b"nonsense")
        (kept,) = json.loads(self.run_it("info", self.layers, "--json").stdout)["kept"]
        self.assertTrue(kept["number"] == 1 and kept["fault"])

    def test_what_is_damaged_or_not_there_is_not_put_back(self):
        self.append(0)
        refused = self.run_it("rollback", self.layers, status=66)
        self.assertIn("layers.1 is not there", refused.stderr)
        self.append(1)
        self.run_it("fold", self.layers, "--keep", "1", "--quiet", self.all[2])
        data = bytearray((self.root / "layers.1/0002.bloom").read_bytes())
        data[5000] ^= 1
        (self.root / "layers.1/0002.bloom").write_bytes(data)
        self.assertIn("0002.bloom", self.run_it("rollback", self.layers, status=EX_DATAERR).stderr)
        self.assertEqual(self.lists_now(), "2")
        self.assertIn("--store", self.run_it("rollback", self.layers, "--store", "x", status=EX_USAGE).stderr)

    def test_a_damaged_layer_pushes_no_good_state_out(self):
        self.append(0)
        self.append(1, "--keep", "1")
        data = bytearray((self.layers / "0002.bloom").read_bytes())
        data[5000] ^= 1
        (self.layers / "0002.bloom").write_bytes(data)
        told = self.run_it("fold", self.layers, "--keep", "1", "--quiet", *self.all)
        self.assertIn("warning: the old layers are not kept: ", told.stderr)
        self.assertEqual(self.lists_now(self.root / "layers.1"), "0")

    def test_what_is_no_layer_does_not_go_with_the_folder(self):
        self.append(0)
        self.append(1, "--keep", "1")
        for place in (self.layers, self.root / "layers.1"):
            (place / "notes.txt").write_text("mine")
            refused = self.run_it("rollback", self.layers, status=EX_DATAERR)
            self.assertIn("notes.txt is no layer", refused.stderr)
            self.assertEqual(self.lists_now(), "01")
            if place == self.layers:
                (place / "notes.txt").unlink()
        self.append(2, "--keep", "1", status=EX_DATAERR)  # would have to remove it
        self.assertTrue((self.root / "layers.1/notes.txt").exists() or (self.root / "layers.2/notes.txt").exists())

    def test_a_command_that_has_waited_for_a_rollback_changes_the_folder_that_is_in_place(self):
        self.append(0)
        self.append(1, "--keep", "1")
        folder = os.open(self.layers, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            waiting = subprocess.Popen([BLOOMGATE, "append", self.layers, self.all[2], "--quiet"],
                                       stdout=subprocess.DEVNULL)
            wait_until_it_waits_for_a_lock(waiting.pid)
            (self.root / "layers.1").rename(self.root / "other")
            self.layers.rename(self.root / "layers.1")
            (self.root / "other").rename(self.layers)
        finally:
            os.close(folder)
        self.assertEqual(waiting.wait(60), 0)
        self.assertEqual((self.lists_now(), self.lists_now(self.root / "layers.1")), ("02", "01"))


class ModelTest(Layers):
    def test_appended_folded_and_expired_layers_list_what_an_exact_set_lists(self):
        chance = random.Random(14)
        model = {}  # the name of a layer: its lists
        for _ in range(40):
            action = chance.choices(["append", "fold", "expire"], [6, 1, 2])[0]
            if action == "append" and len(model) < 8:
                path = self.new_list(chance.choice([1, 100, 5000, 20_000]))
                before = set(self.names())
                self.run_it("append", self.layers, path, "--fpr", "6%", "--quiet")
                (made,) = set(self.names()) - before
                model[made] = [path]
            elif action == "fold" and model:
                lists = [path for layer in model.values() for path in layer]
                self.run_it("fold", self.layers, "--quiet", *lists)
                model = {min(model): lists}
            elif action == "expire" and len(model) > 1:
                oldest = chance.choice(sorted(model))
                (self.layers / oldest).unlink()
                del model[oldest]
            if not model:
                continue
            self.assertEqual(self.names(), sorted(model))
            self.assert_all_listed([path for layer in model.values() for path in layer])
            told = json.loads(self.run_it("info", self.layers, "--json").stdout)
            self.assertLess(told["fpr"], 0.06)


class KilledTest(Layers):
    def kill_after(self, seconds, *arguments):
        """Whether it was done before it was killed."""
        running = subprocess.Popen([BLOOMGATE, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(seconds)  # where it is killed is left to chance
        running.send_signal(signal.SIGKILL)
        return running.wait(60) == 0

    def assert_sound(self, lists):
        self.run_it("verify", self.layers, "--quiet")
        self.assert_all_listed(lists)

    def test_killed_at_any_moment_an_append_and_a_fold_leave_a_folder_that_lists_all(self):
        kept = [self.new_list(20_000)]
        began = time.monotonic()
        self.run_it("append", self.layers, kept[0], "--quiet")
        takes = time.monotonic() - began
        for i in range(KILLS):
            path = self.new_list(2000)
            if self.kill_after(takes * i / KILLS, "append", self.layers, path, "--fpr", "10%", "--quiet"):
                kept.append(path)
            self.assert_sound(kept)
            if len(self.names()) > 3 or i % 5 == 4:
                self.kill_after(takes * i / KILLS, "fold", self.layers, "--quiet", *kept)
                self.assert_sound(kept)
            if len(self.names()) > 12 or len(kept) > 20:
                del kept[1:]  # else each look would take longer than the one before
                self.run_it("fold", self.layers, "--quiet", *kept)
        self.run_it("append", self.layers, kept[0], "--fpr", "20%", "--quiet")
        self.run_it("fold", self.layers, "--quiet", *kept)
        self.assertEqual(len(self.names()), 1)
        self.assert_sound(kept)

    def test_killed_at_any_moment_what_is_kept_put_back_or_folded_is_whole(self):
        """Who is in every state is listed at every moment, and what has a number can be put back."""
        always, other = self.new_list(20_000), self.new_list(2000)
        began = time.monotonic()
        self.run_it("append", self.layers, always, "--quiet")
        takes = time.monotonic() - began
        chance = random.Random(7)
        for i in range(KILLS):
            command = chance.choice([["append", self.layers, other, "--fpr", "20%"], ["fold", self.layers, always],
                                     ["rollback", self.layers, "--to", str(chance.choice([1, 2]))]])  # fmt: skip
            keep = [] if command[0] == "rollback" else ["--keep", "2", "--quiet"]
            self.kill_after(takes * i / KILLS, *command, *keep)
            for folder in self.root.glob("layers*"):
                self.run_it("verify", folder, "--quiet")
                found = self.run_it("query", folder, "--count", "-", given=always.read_text()).stdout
                self.assertIn("\nnot-listed\t0\n", found)
            if len(self.names()) > 6:
                self.run_it("fold", self.layers, always, "--quiet", "--keep", "2")
        self.run_it("append", self.layers, other, "--fpr", "30%", "--keep", "2", "--quiet")
        self.run_it("rollback", self.layers)
        self.run_it("fold", self.layers, always, "--keep", "2", "--quiet")
        names = sorted(path.name for path in self.root.iterdir() if path.suffix != ".txt")
        self.assertLessEqual(set(names), {"layers", "layers.1", "layers.2"})  # nothing hidden is left


if __name__ == "__main__":
    BLOOMGATE = sys.argv.pop(1)
    unittest.main(failfast="BLOOMGATE_FAULT" in os.environ)  # tests/mutation only asks whether it fails
