"""`bloomgate add-layer` and `fold`, and `info`, `query`, `verify` and `sign` of a folder of layers."""
import json
import random
import shutil

from layer_folder import Layers
from program import EX_CONFIG, EX_DATAERR, EX_USAGE, TAKES_ALL, main


class CommandsTest(Layers):
    def test_each_append_makes_the_next_layer_and_the_total_rate_stays_bounded(self):
        lists = [self.new_list(150_000) for _ in range(6)]
        for path in lists:
            self.run_it("append", self.layers, path, "--quiet")
        self.assertEqual(self.names(), [f"000{i}.bloom" for i in range(1, 7)])
        told = self.info(self.layers)
        rates = [layer["fpr"] for layer in told["layers"]]
        for one, next_one in zip(rates, rates[1:]):
            self.assertLess(next_one, 0.6 * one)
        self.assertLess(told["fpr"], 2 * rates[0])
        self.assertLess(told["fpr"], sum(rates))
        self.assertEqual(told["entries"], 900_000)
        self.assertEqual(len({layer["seed"] for layer in told["layers"]}), 6)
        self.assert_all_listed(lists)
        self.assertIn("layers           6", self.run_it("info", self.layers).stdout)
        self.assertEqual(self.run_it("verify", self.layers).stdout.count("sound "), 6)

    def test_an_unlisted_sender_is_in_no_layer(self):
        self.run_it("append", self.layers, self.new_list(10), "--quiet")
        self.run_it("append", self.layers, self.new_list(10), "--quiet")
        answer = self.run_it("query", self.layers, "u1@list1.example", "u1@list2.example", "who@other.example", status=1)
        self.assertEqual(answer.stdout, "listed\tu1@list1.example\nlisted\tu1@list2.example\nnot-listed\twho@other.example\n")

    def test_a_layer_beyond_the_rate_limit_is_refused_with_the_remedy(self):
        self.run_it("append", self.layers, self.new_list(30_000), "--quiet")
        refused = self.run_it("append", self.layers, self.new_list(10), "--fpr", "1%", status=EX_USAGE)
        self.assertIn("bloomgate fold-layers", refused.stderr)
        self.assertEqual(self.names(), ["0001.bloom"])
        # A layer with more entries than it was made for counts with its real rate.
        full = self.folder / "full"
        self.run_it("append", full, self.new_list(30_000), "--expected-entries", "10000", "--quiet")
        self.run_it("append", full, self.new_list(10), "--quiet")

    def test_a_layer_has_the_address_profile_of_the_last_one(self):
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
        plain = self.folder / "plain"
        self.run_it("append", plain, third, "--quiet")
        self.run_it("append", plain, self.new_list(10), "--quiet")
        self.run_it("query", plain, "U1@list5.example")

    def test_names_continue_from_the_highest_number_up_to_64_layers(self):
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

    def test_a_layer_of_each_layout_keeps_to_its_share_of_the_rate_limit(self):
        for layout in ("page", "line", "classic", "ribbon"):
            with self.subTest(layout=layout):
                folder, path = self.folder / layout, self.new_list(50_000)
                sized = ["--layout", layout, "--fpr", "2%", "--seed", "1", "--quiet"]
                self.run_it("append", folder, path, *sized)
                told = self.info(folder)
                self.assertTrue(0.0075 < told["fpr"] < 0.0104, told["fpr"])
                self.assertEqual(told["layers"][0]["hashes"], {"page": 7, "line": 6, "classic": 7, "ribbon": 1}[layout])
                self.run_it("append", folder, self.new_list(50_000), *sized)
                self.assertLess(self.info(folder)["fpr"], 0.0155)
                self.run_it("fold", folder, path, "--layout", layout, "--bits-per-entry", "16", "--quiet")
                (told,) = self.info(folder)["layers"]
                self.assertTrue(98_000 < told["body_bytes"] < 106_000, told["body_bytes"])
                self.run_it("query", folder, "--count", "-", given=path.read_text())
        self.run_it("append", self.layers, self.new_list(10), "--fpr", "0.00000003%", "--quiet")

    def test_options_of_a_build_make_the_layer(self):
        listed, strangers = self.new_list(1000), self.new_list(1000)
        shape = ["--bits-per-entry", "2", "--hashes", "1", "--seed", "1", "--quiet", "--no-sender-domains"]
        self.run_it("append", self.layers, listed, "--leave-out", strangers, "--seed", "9", "--quiet")
        self.assertEqual(self.info(self.layers)["layers"][0]["seed"], "0x0000000000000009")
        self.run_it("fold", self.layers, listed, strangers, *shape, "--leave-out", strangers)
        self.assertEqual(self.info(self.layers)["entries"], 1000)
        found = self.run_it("query", self.layers, "--count", "-", given=strangers.read_text(), status=1).stdout
        self.assertNotIn("not-listed\t1000\n", found)  # with so few bits many non-members pass
        self.run_it("fold", self.layers, listed, *shape, "--never-match", strangers)
        found = self.run_it("query", self.layers, "--count", "-", given=strangers.read_text(), status=1).stdout
        self.assertIn("not-listed\t1000\n", found)

    def test_a_folder_that_has_more_than_layers_is_refused_and_the_folder_meant_is_named(self):
        path = self.new_list(10)
        self.run_it("append", self.layers, path, "--quiet")
        self.run_it("build", "--output", self.folder / "whitelist.bloom", "--quiet", path)
        for command in ("append", "fold"):
            refused = self.run_it(command, self.folder, path, "--quiet", status=EX_USAGE)
            self.assertRegex(refused.stderr, r"/layers shows that .* is no folder of layers; .* such as .*/layers\n")
        for name in ("learned", "lists", "a.store"):
            data = self.folder / f"data of {name}"
            data.mkdir()
            shutil.copy(self.folder / "whitelist.bloom", data)
            (data / name).touch() if "." in name else (data / name).mkdir()
            for command in ("append", "fold"):
                refused = self.run_it(command, data, path, "--quiet", status=EX_USAGE)
                self.assertRegex(refused.stderr, rf"/{name} shows that .* is no folder of layers; .* such as .*/layers\n")
            self.assertEqual(sorted(each.name for each in data.iterdir()), sorted([name, "whitelist.bloom"]))

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
        self.assertIn("name the lists or stores that hold all entries: bloomgate fold-layers", refused.stderr)
        self.assertEqual(self.names(), ["0001.bloom", "one.bloom"])
        ribbons = self.folder / "ribbons"
        ribbons.mkdir()
        for path, name in zip(lists, ("one", "two")):
            self.run_it("build", "--output", ribbons / f"{name}.bloom", *shape, "--layout", "ribbon", path)
        refused = self.run_it("fold", ribbons, status=EX_USAGE)
        self.assertIn("name the lists or stores that hold all entries: bloomgate fold-layers", refused.stderr)
        self.assertEqual(len(list(ribbons.iterdir())), 2)

    def test_a_fold_has_the_domains_of_its_senders_if_it_is_built_or_if_all_layers_have_them(self):
        lists = [self.new_list(1000), self.new_list(1000)]
        other = "".join(f"u{i}@elsewhere.example\n" for i in range(2000))
        self.layers.mkdir()

        def make_layers(*options_of_second):
            shape = ["--seed", "1", "--expected-entries", "2000", "--bits-per-entry", "2", "--hashes", "1", "--quiet"]
            for path, name, options in zip(lists, ("0001", "0002"), ((), options_of_second)):
                self.run_it("build", "--output", self.layers / f"{name}.bloom", *shape, *options, path)

        def found_elsewhere():
            found = self.run_it("query", self.layers, "--count", "-", given=other, status=1).stdout
            return int(found.split()[1])

        make_layers()
        self.assertEqual(found_elsewhere(), 0)
        self.assertEqual(self.run_it("fold", self.layers).stderr, "")
        self.assertEqual([layer["sender_domains"] for layer in self.info(self.layers)["layers"]], [2])
        self.assert_all_listed(lists)
        self.assertEqual(found_elsewhere(), 0)

        make_layers("--no-sender-domains")
        folded = self.run_it("fold", self.layers).stderr
        self.assertEqual(folded.count("\n"), 1)
        self.assertIn("warning: not all filters have the domains of their senders, so the union is without them", folded)
        self.assertEqual([layer["sender_domains"] for layer in self.info(self.layers)["layers"]], [None])
        self.assert_all_listed(lists)
        self.assertGreater(found_elsewhere(), 100)

        make_layers("--no-sender-domains")
        self.assertEqual(self.run_it("fold", self.layers, *lists, "--quiet").stderr, "")
        self.assertEqual([layer["sender_domains"] for layer in self.info(self.layers)["layers"]], [2])
        self.assert_all_listed(lists)
        self.run_it("append", self.layers, self.new_list(10), "--quiet")
        self.assertEqual([layer["sender_domains"] for layer in self.info(self.layers)["layers"]], [2, 1])

    def test_a_damaged_layer_is_not_merged(self):
        self.layers.mkdir()
        for name in ("one", "two"):
            self.run_it("build", "--output", self.layers / f"{name}.bloom", "--seed", "1", "--expected-entries", "4000",
                        "--quiet", self.new_list(1000))
        self.flip("layers/two.bloom", 5000)
        before = (self.layers / "one.bloom").read_bytes()
        self.assertIn("two.bloom", self.run_it("fold", self.layers, status=65).stderr)
        self.assertEqual(self.names(), ["one.bloom", "two.bloom"])
        self.assertEqual((self.layers / "one.bloom").read_bytes(), before)

    def test_layers_are_signed_when_made_or_together_later(self):
        key, lists = self.folder / "key", [self.new_list(10), self.new_list(10)]
        public = self.run_it("sign", "--new-key", key).stdout.strip()

        def is_signed(status=0):
            return self.run_it("verify", self.layers, "--quiet", "--trusted-key", public, status=status)

        self.run_it("append", self.layers, lists[0], "--quiet", "--sign-key", key)
        is_signed()
        self.run_it("append", self.layers, lists[1], "--quiet")
        self.assertIn("0002.bloom is not signed", is_signed(65).stderr)
        told = self.run_it("sign", "--key", key, self.layers).stdout
        self.assertRegex(told, r"^unchanged  .*0001.bloom.*\nsigned     .*0002.bloom\nmanifest   .*/manifest: list layers, ")
        is_signed()
        self.run_it("fold", self.layers, *lists, "--quiet", "--sign-key", key)
        is_signed()
        self.assertEqual(self.names(), ["0001.bloom"])
        self.assert_all_listed(lists)
        before = self.names()
        self.run_it("append", self.layers, lists[0], "--quiet", "--sign-key", self.folder / "none", status=66)
        self.assertEqual(self.names(), before)

    def test_a_union_of_layers_is_signed_only_if_a_key_is_given(self):
        key, lists = self.folder / "key", [self.new_list(100), self.new_list(100)]
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

    def test_a_fold_of_empty_lists_changes_nothing_without_allow_empty(self):
        old = self.new_list(20)
        self.run_it("append", self.layers, old, "--quiet")
        self.run_it("append", self.layers, self.new_list(20), "--quiet")
        empty = self.folder / "empty"
        empty.mkdir()
        (empty / "2020-01-01.txt").write_text("joe@example.org\n")
        (self.folder / "comment.txt").write_text("# nobody\n")
        for words in ([self.folder / "comment.txt"], [empty, "--newest", "10d"]):
            refused = self.run_it("fold", self.layers, *words, "--quiet", status=EX_DATAERR if len(words) == 1 else None)
            self.assertNotEqual(refused.returncode, 0)
            self.assertEqual(self.names(), ["0001.bloom", "0002.bloom"])
            self.assert_all_listed([old])
        self.assertIn("no entry", self.run_it("fold", self.layers, self.folder / "comment.txt", status=EX_DATAERR).stderr)
        self.run_it("fold", self.layers, self.folder / "comment.txt", "--allow-empty", "--quiet")
        self.assertEqual(self.names(), ["0001.bloom"])
        self.run_it("query", self.layers, "u1@list1.example", status=1)

    def test_empty_lists_make_no_layer_beside_others(self):
        none = self.folder / "none.txt"
        none.write_text("# nobody\n")
        said = self.run_it("append", self.layers, none, "--allow-empty")
        self.assertEqual(self.names(), ["0001.bloom"])  # a daemon needs a whitelist to begin with
        self.assertNotIn("no layer", said.stdout)
        self.run_it("append", self.layers, self.new_list(5), "--quiet")
        before = {path.name: path.read_bytes() for path in self.layers.iterdir()}
        said = self.run_it("append", self.layers, none, "--allow-empty", "--keep", 2)
        self.assertEqual(said.stdout, "no layer was made: the lists hold no entries\n")
        said = self.run_it("append", self.layers, none, "--allow-empty", "--json", "--quiet")
        self.assertEqual(json.loads(said.stdout), {"file": None, "entries": 0, "manifest": None})
        self.assertEqual({path.name: path.read_bytes() for path in self.layers.iterdir()}, before)
        self.assertFalse((self.folder / "layers.1").exists())
        bad = self.folder / "bad.txt"
        bad.write_text("no address\n")
        self.run_it("append", self.layers, bad, "--strict", "--quiet", status=EX_DATAERR)

    def test_invalid_arguments_are_refused_and_change_nothing(self):
        for _ in range(2):
            self.run_it("append", self.layers, self.new_list(10), "--quiet")
        bad = self.folder / "bad.txt"
        bad.write_text("no address\n")
        cases = [(["append", self.layers], EX_USAGE), (["append", self.layers, "--strict", "--quiet", bad], 65),
                 (["append", self.layers, self.folder / "none.txt"], 66), (["fold"], EX_USAGE),
                 (["fold", self.layers, self.layers / "0001.bloom"], EX_USAGE),
                 (["fold", self.layers, "--json"], EX_USAGE), (["fold", self.layers, "--bits-per-entry", "8"], EX_USAGE),
                 (["fold", self.layers, "--hashes", "3"], EX_USAGE), (["fold", self.layers, "--strict", bad], 65),
                 (["verify", self.layers, "--against", bad], EX_USAGE),
                 (["append", self.layers, "--layout", "counting", bad], EX_USAGE),
                 (["fold", self.layers, "--layout", "counting", bad], EX_USAGE),
                 (["query", self.layers, "--list", bad], EX_USAGE), (["fold", self.folder / "none"], 66)]
        refused = self.run_it("fold", self.layers, self.layers / "0001.bloom", status=EX_USAGE)
        self.assertIn("0001.bloom is a layer", refused.stderr)
        self.run_it("append", self.folder / "new", status=EX_USAGE)
        self.assertFalse((self.folder / "new").exists())
        before = (self.layers / "0001.bloom").read_bytes()
        for arguments, status in cases:
            with self.subTest(arguments=arguments):
                self.run_it(*arguments, status=status)
                self.assertEqual(sorted(path.name for path in self.layers.iterdir()), ["0001.bloom", "0002.bloom"])
                self.assertEqual((self.layers / "0001.bloom").read_bytes(), before)
        (self.folder / "empty").mkdir()
        self.run_it("info", self.folder / "empty", status=EX_CONFIG)
        self.run_it("fold", self.folder / "empty", status=EX_CONFIG)
        self.run_it("fold", self.folder / "empty", self.new_list(10), "--quiet")
        self.assertEqual([path.name for path in (self.folder / "empty").iterdir()], ["0001.bloom"])

    def test_appends_at_once_lose_nothing(self):
        lists = [self.new_list(2000) for _ in range(6)]
        running = [self.start("add-layer", self.layers, path, "--quiet") for path in lists]
        self.assertEqual([each.wait(120) for each in running], [0] * 6)
        self.assertEqual(len(self.names()), 6)
        self.assert_all_listed(lists)


class ModelTest(Layers):
    def test_appended_folded_and_expired_layers_list_what_an_exact_set_lists(self):
        chance = random.Random(14)
        model = {}  # the name of a layer: its lists
        for _ in range(40 if TAKES_ALL else 20):
            action = chance.choices(["append", "fold", "expire"], [6, 1, 2])[0]
            if action == "append" and len(model) < 8:
                path = self.new_list(chance.choice([1, 100, 5000]))
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
            told = self.info(self.layers)
            self.assertLess(told["fpr"], 0.06)


if __name__ == "__main__":
    main()
