"""The manifest of a signed whitelist: what writes it, its number, `revoked` beside the layers, and rollback."""
import datetime
import hashlib
import os
import re
import shutil
import time

from program import EX_DATAERR, EX_NOINPUT, EX_USAGE, main
from published import Published

DAY = 24 * 3600
FAR = 2**40  # a number that no clock gives for 30,000 years: that of the last manifest counts


def seconds(text):
    return int(datetime.datetime.strptime(text + "+0000", "%Y-%m-%dT%H:%M:%SZ%z").timestamp())


class FolderManifestTest(Published):
    """Of a folder of layers: append, fold and sign."""

    def test_each_command_with_a_key_names_what_is_there_under_a_number_that_grows(self):
        before, last = int(time.time()), 0
        fold = ["fold-layers", self.layers, *self.all, "--sign-key", self.key]
        for words in (["add-layer", self.layers, self.all[0], "--sign-key", self.key],
                      ["add-layer", self.layers, self.all[1], "--sign-key", self.key],
                      ["sign", "--key", self.key, self.layers], fold, ["sign", "--key", self.key, f"{self.layers}/"]):
            said = self.run_it(*words).stdout
            self.assert_names_what_is_there()
            manifest = self.manifest()
            self.assertGreater(manifest["number"], last)
            last = manifest["number"]
            self.assertRegex(said, rf"manifest +\S+/manifest: list layers, number {last}, made 20\d\d-.* holds until 20")
            self.assertEqual((manifest["list"], manifest["signer"]), ("layers", self.public))
            self.assertEqual(seconds(manifest["holds-until"]) - seconds(manifest["made"]), 14 * DAY)
        self.assertTrue(before <= seconds(self.manifest()["made"]) <= time.time())
        self.assertEqual((self.layers / "manifest").stat().st_mode & 0o777, 0o644)

    def test_the_first_number_is_the_time_and_one_follows_the_last_where_the_clock_is_behind(self):
        before = int(time.time())
        self.signed(0)
        self.assertTrue(before <= self.number() <= time.time())
        self.set_number(FAR)
        self.signed(1)
        self.assertEqual(self.number(), FAR + 1)
        self.run_it("sign", "--key", self.key, self.layers)
        self.assertEqual(self.number(), FAR + 2)
        self.run_it("fold", self.layers, *self.all, "--quiet", "--sign-key", self.key)
        self.assertEqual(self.number(), FAR + 3)
        self.set_number(2**63 - 1)
        self.assertIn("last number", self.run_it("sign", "--key", self.key, self.layers, status=EX_DATAERR).stderr)

    def test_a_damaged_manifest_and_one_of_another_key_give_the_time_and_a_warning(self):
        self.signed(0, "--list-name", "mine")
        self.set_number(FAR)
        good = (self.layers / "manifest").read_bytes()
        other = self.folder / "other"
        self.run_it("sign", "--new-key", other)
        for damage in (good + b"x", good.replace(b"mine", b"yours"), b"", None):
            if damage is None:
                (self.layers / "manifest").write_bytes(good)
                self.run_it("sign", "--key", other, self.layers)
                self.resign(r"\nnumber \d+\n", f"\nnumber {FAR}\n", other)
            else:
                (self.layers / "manifest").write_bytes(damage)
            told = self.run_it("sign", "--key", self.key, self.layers).stderr
            self.assertIn("warning: the last manifest is not used, so the new one has the time for its number, and calls the "
                          "list layers: ", told)
            self.assertLess(self.number(), FAR)
            self.assert_names_what_is_there()

    def test_a_lost_manifest_is_written_again_and_a_kept_state_knows_the_last_number(self):
        self.signed(0, "--list-name", "mine")
        self.set_number(FAR)
        self.signed(1, "--keep", "1")
        (self.layers / "manifest").unlink()
        self.assertIsNone(self.info(self.layers)["manifest"])
        self.run_it("sign", "--key", self.key, self.layers)
        self.assertEqual((self.number(), self.manifest()["list"]), (FAR + 1, "mine"))
        self.assert_names_what_is_there()
        (self.layers / "manifest").write_text("damaged")
        told = self.run_it("sign", "--key", self.key, self.layers).stderr
        self.assertIn("so the new one has the number after the one of a kept state, and calls the list mine: ", told)
        self.assertEqual(self.number(), FAR + 1)
        (self.layers / "manifest").unlink()
        self.run_it("sign", "--key", self.key, self.layers, "--list-name", "other")
        self.assertEqual((self.number(), self.manifest()["list"]), (FAR + 1, "other"))

    def test_a_list_keeps_its_name_and_another_name_is_refused_before_anything_changes(self):
        self.signed(0, "--list-name", "customers")
        self.signed(1)
        self.assertEqual(self.manifest()["list"], "customers")
        names, number = self.names(), self.number()
        for words in (["append", self.layers, self.all[2], "--sign-key", self.key], ["sign", self.layers, "--key", self.key],
                      ["fold", self.layers, *self.all, "--sign-key", self.key]):
            said = self.run_it(*words, "--list-name", "partners", status=EX_USAGE).stderr
            self.assertIn("is of the list customers, and --list-name is partners", said)
        self.assertEqual((self.names(), self.number()), (names, number))
        self.signed(2, "--list-name", "customers")
        strange = self.folder / "white list"
        for name in ((), ("--list-name", ".hidden"), ("--list-name", "a/b"), ("--list-name", "a" * 64)):
            said = self.run_it("append", strange, self.all[0], "--sign-key", self.key, *name, status=EX_USAGE).stderr
            self.assertIn("give --list-name of 1 to 63 letters", said)
        self.assertFalse(strange.exists())

    def test_how_long_it_holds_can_be_said_and_is_shown(self):
        self.signed(0, "--holds", "2w")
        self.run_it("sign", "--key", self.key, self.layers, "--holds", "30d")
        manifest = self.manifest()
        self.assertEqual(seconds(manifest["holds-until"]) - seconds(manifest["made"]), 30 * DAY)
        self.resign(r"(made|holds-until) \S+", r"\1 2020-01-02T03:04:05Z")
        self.assertRegex(self.run_it("info", self.layers).stdout,
                         r"(?m)^holds until +2020-01-02 03:04:05 UTC, and has expired: write another with 'bloomgate sign")
        for words in (["--holds", "soon"], ["--holds", "0d"], ["--holds", "14"]):
            self.signed(1, *words, status=EX_USAGE)
        for words in (["--holds", "14d"], ["--list-name", "layers"]):
            self.assertIn("goes with --sign-key", self.append(1, *words, status=EX_USAGE).stderr)
        self.assertEqual(self.names(), ["0001.bloom"])

    def test_the_next_key_stays_named_until_it_signs_and_goes_on_with_the_numbers(self):
        self.signed(0)
        self.set_number(FAR)
        key, sign = self.folder / "next", ["sign", self.layers, "--key"]
        public = self.run_it("sign", "--new-key", key).stdout.strip()
        self.run_it(*sign, self.key, "--next-key", public)
        self.signed(1)
        self.assertEqual(self.manifest()["next-key"], public)
        self.assertRegex(self.run_it("info", self.layers).stdout, rf"(?m)^next key +{re.escape(public)}$")
        self.run_it(*sign, self.key, "--next-key", "none")
        self.assertNotIn("next-key", self.manifest())
        self.run_it(*sign, self.key, "--next-key", public)
        done = self.run_it(*sign, key)
        self.assertEqual(done.stderr, "")
        manifest = self.manifest()
        self.assertEqual((manifest["number"], manifest["signer"]), (FAR + 5, public))
        self.assertNotIn("next-key", manifest)
        for words in ([*sign, key, "--next-key", "short"], [*sign, key, "--next-key", public]):
            self.run_it(*words, status=EX_USAGE)
        self.assertEqual(self.number(), FAR + 5)

    def test_layers_of_a_key_that_readers_of_the_manifest_need_not_trust_are_not_named(self):
        self.signed(0)
        key, before = self.folder / "other", (self.layers / "manifest").read_bytes()
        public = self.run_it("sign", "--new-key", key).stdout.strip()
        said = self.append(1, "--sign-key", key, status=EX_DATAERR).stderr
        self.assertRegex(said, rf"0001\.bloom is signed by {re.escape(self.public)}, and .*{re.escape(public)} has signed need not "
                               r"trust that key; sign it with 'bloomgate sign --key FILE \S+/layers', where FILE has the key of")
        self.assertEqual((self.names(), (self.layers / "manifest").read_bytes()), (["0001.bloom"], before))
        self.run_it("sign", "--key", key, self.layers)
        self.append(1, "--sign-key", key)
        self.assert_names_what_is_there()
        self.assertEqual(self.manifest()["signer"], public)

    def test_layers_of_the_key_that_has_named_the_signer_stay(self):
        self.signed(0)
        key = self.folder / "next"
        public = self.run_it("sign", "--new-key", key).stdout.strip()
        self.run_it("sign", "--key", self.key, self.layers, "--next-key", public)
        for number in (1, 2):
            self.append(number, "--sign-key", key, "--keep", "2")
            self.assert_names_what_is_there()
            self.assertEqual(self.manifest()["signer"], public)
        self.run_it("rollback", self.layers, "--sign-key", key)
        self.assert_names_what_is_there()

    def test_a_night_without_entries_renews_the_manifest(self):
        self.signed(0)
        number = self.number()
        (self.folder / "empty.txt").write_text("")
        words = ["add-layer", self.layers, self.folder / "empty.txt", "--allow-empty"]
        said = self.run_it(*words, "--sign-key", self.key).stdout
        self.assertRegex(said, r"^no layer was made.*\nmanifest  .*/manifest: list layers, number ")
        self.assertGreater(self.number(), number)
        self.assertEqual(self.run_it(*words).stderr, "")  # nothing has changed that would need another

    def test_without_a_key_the_manifest_stays_and_a_warning_says_how_to_renew_it(self):
        self.signed(0)
        before = (self.layers / "manifest").read_bytes()
        said = self.append(1).stderr
        self.assertRegex(said, r"warning: \S+/manifest is not renewed without a key.*'bloomgate sign --key FILE \S+layers'")
        self.assertEqual((self.layers / "manifest").read_bytes(), before)
        shown = self.info(self.layers)["manifest"]
        self.assertEqual((shown["files"], shown["unnamed"]), ([{"name": "0001.bloom", "fault": ""}], ["0002.bloom"]))
        self.assertRegex(self.run_it("info", self.layers).stdout, r"(?m)^does not name +0002\.bloom, ")
        said = self.signed(2, status=EX_DATAERR).stderr  # before the work
        self.assertRegex(said, r"0002\.bloom is not signed.*sign it with 'bloomgate sign --key FILE \S+/layers'")
        self.assertEqual(self.names(), ["0001.bloom", "0002.bloom"])
        self.run_it("sign", "--key", self.key, self.layers)
        self.assert_names_what_is_there()
        self.run_it("fold", self.layers, *self.all, "--quiet")
        self.assertIn("0001.bloom is not the file that the manifest names", self.run_it("info", self.layers).stdout)

    def test_info_shows_a_damaged_manifest_and_files_that_are_not_as_it_says(self):
        self.signed(0)
        (self.layers / "revoked").write_text("eve@example.org\n")
        self.run_it("sign", "--key", self.key, self.layers)
        (self.layers / "revoked").write_text("ann@example.org\n")
        shown = self.info(self.layers)["manifest"]
        self.assertEqual([bool(each["fault"]) for each in shown["files"]], [False, True])
        self.assertIn("expected the digest", shown["files"][1]["fault"])
        (self.layers / "revoked").unlink()
        self.assertIn("No such file", self.info(self.layers)["manifest"]["files"][1]["fault"])
        (self.layers / "manifest").write_text("bloomgate-manifest 2\n")
        self.assertIn("line 1: expected 'bloomgate-manifest 1'", self.info(self.layers)["manifest"]["fault"])
        self.assertRegex(self.run_it("info", self.layers).stdout, r"(?m)^manifest +cannot be used: .*, line 1: ")


class VerifiedFolderTest(Published):
    """`bloomgate verify FOLDER --trusted-key` says whether a daemon with that key would use the folder."""

    def verify(self, status=0, key=None):
        return self.run_it("verify", self.layers, "--trusted-key", key or self.public, status=status).stderr

    def test_a_folder_that_lacks_a_layer_of_its_manifest_or_has_another_one_is_not_sound(self):
        self.signed(0)
        self.signed(1)
        (self.layers / "revoked").write_text("eve@example.org\n")
        self.run_it("sign", "--key", self.key, self.layers)
        self.verify()
        lost = self.folder / "lost"
        (self.layers / "0002.bloom").rename(lost)
        self.assertRegex(self.verify(EX_DATAERR), r"0002\.bloom is not there, and \S+/manifest names it")
        lost.rename(self.layers / "0002.bloom")
        shutil.copyfile(self.layers / "0001.bloom", self.layers / "0003.bloom")
        self.assertRegex(self.verify(EX_DATAERR), r"0003\.bloom is a layer that \S+/manifest does not name")
        (self.layers / "0003.bloom").rename(self.layers / "0002.bloom")
        self.assertRegex(self.verify(EX_DATAERR), r"0002\.bloom is not the file that the manifest names")
        self.run_it("sign", "--key", self.key, self.layers)
        (self.layers / "revoked").write_text("ann@example.org\n")
        self.assertRegex(self.verify(EX_DATAERR), r"revoked is not the file that the manifest names")

    def test_a_folder_whose_manifest_is_missing_or_of_another_key_is_not_sound(self):
        self.signed(0)
        self.verify()
        key = self.folder / "other"
        public = self.run_it("sign", "--new-key", key).stdout.strip()
        self.resign(r"(?m)^signer .*", f"signer {public}", key)
        self.assertRegex(self.verify(EX_DATAERR), r"manifest is signed by .*, which is no trusted key")
        (self.layers / "manifest").unlink()
        self.assertRegex(self.verify(EX_DATAERR), r"layers/manifest is not there, and a daemon with trusted keys uses only what it names")
        self.run_it("verify", self.layers)


class RollbackManifestTest(Published):
    """What is kept, and put back, of a folder with a manifest and with what is revoked."""

    def rollback(self, *options, status=0):
        return self.run_it("rollback", self.layers, *options, status=status)

    def test_rollback_writes_a_new_manifest_and_is_refused_without_a_key(self):
        self.signed(0)
        self.set_number(FAR)
        self.signed(1, "--keep", "2")
        before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        said = self.rollback(status=EX_USAGE).stderr
        self.assertRegex(said, r"layers/manifest is signed, so readers refuse .*give --sign-key FILE")
        self.assertEqual({path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}, before)
        for number, names in (2, ["0001.bloom"]), (3, ["0001.bloom", "0002.bloom"]):
            said = self.rollback("--sign-key", self.key).stdout
            self.assertRegex(said, rf"(?m)^manifest  \S+/layers/manifest: list layers, number {FAR + number}, ")
            self.assertEqual((self.number(), self.names()), (FAR + number, names))
            self.assert_names_what_is_there()
        # Also where the manifest of one state alone is there.
        (self.layers / "manifest").unlink()
        self.assertIn("layers.1/manifest is signed", self.rollback(status=EX_USAGE).stderr)

    def test_what_is_revoked_stays_revoked(self):
        for signing in ([], ["--sign-key", self.key]):
            for path in (self.layers, self.folder / "layers.1"):
                shutil.rmtree(path, ignore_errors=True)
            self.append(0, *signing)
            (self.layers / "revoked").write_text("eve@example.org\n")
            self.append(1, "--keep", "1", *signing)
            (self.folder / "new").write_text("eve@example.org\nmallory@example.org\n")
            (self.folder / "new").rename(self.layers / "revoked")
            (self.folder / "layers.1" / ".revoked.new").write_text("of a command that was killed")
            for _ in range(2):
                self.rollback(*signing)
                self.assertEqual((self.layers / "revoked").read_text(), "eve@example.org\nmallory@example.org\n")
                if signing:
                    self.assert_names_what_is_there(revoked=True)
            (self.layers / "revoked").unlink()
            self.rollback(*signing)
            self.assertFalse((self.layers / "revoked").exists())
            if signing:
                self.assert_names_what_is_there()

    def test_a_kept_state_has_its_manifest_and_what_was_revoked_then(self):
        self.signed(0)
        (self.layers / "revoked").write_text("eve@example.org\n")
        self.run_it("sign", "--key", self.key, self.layers)
        self.signed(1, "--keep", "1")
        self.assert_names_what_is_there(self.folder / "layers.1", revoked=True)
        self.assert_names_what_is_there(revoked=True)
        self.assertEqual(sorted(path.name for path in (self.folder / "layers.1").iterdir()),
                         ["0001.bloom", "manifest", "revoked"])
        (self.layers / "0002.bloom").rename(self.layers / "s.bloom")  # behind `revoked` in the order of names
        self.run_it("sign", "--key", self.key, self.layers)
        self.assertEqual([name for name, *_ in self.manifest()["files"]], ["0001.bloom", "revoked", "s.bloom"])

    def test_an_unsigned_or_missing_state_is_refused_before_anything_changes(self):
        self.append(0)
        self.append(1, "--keep", "1")
        self.run_it("sign", "--key", self.key, self.layers)  # new files: the kept ones stay unsigned
        before = (self.layers / "manifest").read_bytes(), self.names()
        self.assertRegex(self.rollback("--sign-key", self.key, status=EX_DATAERR).stderr, r"layers\.1/0001\.bloom is not signed")
        self.rollback("--sign-key", self.key, "--to", "2", status=EX_NOINPUT)
        self.rollback("--sign-key", self.folder / "none", status=EX_NOINPUT)
        self.assertEqual(((self.layers / "manifest").read_bytes(), self.names()), before)
        self.run_it("sign", "--key", self.key, self.folder / "layers.1")
        self.rollback("--sign-key", self.key)
        self.assert_names_what_is_there()

    def test_a_layer_that_was_signed_by_itself_does_not_stand_in_the_way(self):
        self.append(0)
        self.append(1, "--keep", "1")
        self.run_it("sign", "--key", self.key, self.layers / "0001.bloom")
        self.assertTrue((self.layers / "0001.bloom.manifest").exists())
        self.rollback()
        self.assertEqual(self.names(), ["0001.bloom"])


class FileManifestTest(Published):
    """Of a single filter."""

    def named(self, name="white.bloom"):
        return self.manifest(self.folder / f"{name}.manifest")

    def assert_fits(self, name="white.bloom"):
        content = self.read(name)
        self.assertEqual(self.named(name)["files"],
                         [(name, str(len(content)), hashlib.blake2b(content[:4096], digest_size=32).hexdigest())])
        self.assertEqual(self.info(name)["manifest"]["files"], [{"name": name, "fault": ""}])

    def test_whatever_makes_a_signed_filter_writes_its_manifest(self):
        made = ["-o", "white.bloom", "--sign-key", "key"]
        self.run_it("build", "-o", "counting", "--layout", "counting", self.all[0])
        self.run_it("build", "-o", "plain", self.all[0])
        last = 0
        for words in (["build", *made, "--store", "store", self.all[0]], ["update", *made, "--store", "store", "--add", self.all[1]],
                      ["export", "counting", *made, "--allow-shrink"], ["merge", "plain", "plain", *made],
                      ["intersect", "plain", "plain", *made], ["sign", "--key", "key", "plain", "-o", "white.bloom"]):
            said = self.run_it(*words).stdout
            self.assert_fits()
            self.assertGreater(self.named()["number"], last)
            last = self.named()["number"]
            self.assertRegex(said, rf"manifest +white\.bloom\.manifest: list white, number {last}, ")
        self.assertFalse((self.folder / "plain.manifest").exists())
        told = self.run_it("build", *made, "--list-name", "white", "--holds", "1w", "--json", self.all[0]).stdout
        self.assertIn('"list": "white"', told)
        self.run_it("build", *made, "--list-name", "black", self.all[0], status=EX_USAGE)
        self.assertIn("is not renewed without a key", self.run_it("build", "-o", "white.bloom", self.all[0]).stderr)

    def test_a_filter_whose_manifest_cannot_be_written_is_in_place_and_the_remedy_is_said(self):
        (self.folder / ".white.bloom.manifest.new").mkdir()
        done = self.run_it("build", "-o", "white.bloom", "--sign-key", "key", self.all[0], status=None)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("white.bloom itself is in place, but without a manifest that names it: write one with "
                      "'bloomgate sign --key FILE white.bloom'", done.stderr)
        self.run_it("verify", "white.bloom", "--trusted-key", self.public)
        (self.folder / ".white.bloom.manifest.new").rmdir()
        self.run_it("sign", "--key", "key", "white.bloom")
        self.assert_fits()

    def test_rollback_of_a_filter_needs_the_key_and_writes_the_manifest(self):
        for path in self.all[:2]:
            self.run_it("build", "-o", "white.bloom", "--keep", "1", "--sign-key", "key", path)
        before, number = self.read("white.bloom"), self.named()["number"]
        self.assertIn("give --sign-key FILE", self.run_it("rollback", "white.bloom", status=EX_USAGE).stderr)
        self.assertEqual(self.read("white.bloom"), before)
        self.run_it("rollback", "white.bloom", "--sign-key", "key")
        self.assertEqual(self.read("white.bloom.1"), before)
        self.assert_fits()
        self.assertGreater(self.named()["number"], number)
        self.run_it("build", "-o", "white.bloom", "--keep", "1", self.all[2])
        self.run_it("build", "-o", "white.bloom", "--keep", "1", "--sign-key", "key", self.all[2])
        refused = self.run_it("rollback", "white.bloom", "--sign-key", "key", status=EX_DATAERR)
        self.assertIn("white.bloom.1 is not signed", refused.stderr)
        self.assert_fits()

    def test_the_manifest_is_beside_the_file_that_a_link_leads_to(self):
        (self.folder / "there").mkdir()
        self.run_it("build", "-o", "there/white.bloom", self.all[0])
        os.symlink("there/white.bloom", self.folder / "link")
        self.run_it("sign", "--key", "key", "link")
        self.assertEqual(self.named("there/white.bloom")["files"][0][0], "white.bloom")
        self.assertEqual(self.info("link")["manifest"]["files"], [{"name": "white.bloom", "fault": ""}])
        self.assertEqual(self.info("link")["manifest"]["list"], "white")

    def test_a_hidden_filter_has_no_manifest_and_a_name_that_none_can_have_is_refused_before_the_work(self):
        self.run_it("build", "-o", ".white.bloom", "--sign-key", "key", self.all[0])
        self.run_it("sign", "--key", "key", ".white.bloom")
        self.assertFalse((self.folder / ".white.bloom.manifest").exists())
        for name in ("white list.bloom", "manifest", "a..b"):
            said = self.run_it("build", "-o", name, "--sign-key", "key", self.all[0], status=EX_USAGE).stderr
            self.assertIn("a manifest cannot name the filter", said)
            self.assertFalse((self.folder / name).exists())


if __name__ == "__main__":
    main()
