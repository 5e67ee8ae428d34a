"""`bloomgate add-layer`, `fold` and `rollback` of a folder of layers, where a call fails."""
import errno
import json
import os
import pathlib
import re
import shutil

from faulty_commands import DurabilityTest, EX_CANTCREAT, main, run_program, some_of


class LayersTest(DurabilityTest):
    def test_without_a_lock_of_the_folder_no_layer_is_made_or_folded(self):
        layers = self.folder / "layers"
        layers.mkdir(parents=True)
        (self.folder / "a.txt").write_text("a@example.org\n")
        for command in (["append", "layers", "a.txt"], ["append", "layers", "a.txt"], ["fold", "layers", "a.txt"]):
            before = sorted(os.listdir(layers))
            refused = self.run_here(command, f"flock 1 {errno.ENOLCK}")
            self.assertEqual(refused.status, EX_CANTCREAT, refused.errors)
            self.assertRegex(refused.errors, rf"lock the folder layers.*{os.strerror(errno.ENOLCK)}")
            self.assertEqual(sorted(os.listdir(layers)), before)
            waited = self.run_here(command, f"flock 1 {errno.EINTR}")
            self.assertEqual(waited.status, 0, waited.errors)
        self.assertEqual(os.listdir(layers), ["0001.bloom"])

    def fold(self, fault=""):
        """Makes a folder of two layers and folds it under that fault."""
        layers = self.folder / "layers"
        shutil.rmtree(layers, ignore_errors=True)
        layers.mkdir(parents=True)
        (self.folder / "a.txt").write_text("a@example.org\n")
        for _ in range(2):
            run_program(self.folder, "append", layers, self.folder / "a.txt", check=True)
        result = self.run_here(["fold", "layers", "a.txt"], fault)
        return result, sorted(os.listdir(layers))

    def test_a_fold_removes_the_other_layers_after_the_new_one_is_synced_and_then_syncs_the_folder(self):
        result, names = self.fold()
        self.assertEqual((result.status, names), (0, ["0001.bloom"]), result.errors)
        ends = [(call.name, pathlib.Path(call.path).name) for call in result.calls
                if call.name in ("rename", "fsync", "unlink") and not pathlib.Path(call.path).name.startswith(".")]
        self.assertEqual(ends[-4:], [("rename", "0001.bloom"), ("fsync", "layers"), ("unlink", "0002.bloom"),
                                     ("fsync", "layers")])
        synced = len(result.of("fsync"))
        taken = len(result.of("unlink"))
        result, names = self.fold(f"unlink {taken} {errno.EACCES}")
        self.assertEqual((result.status, names), (EX_CANTCREAT, ["0001.bloom", "0002.bloom"]))
        self.assertRegex(result.errors, rf"remove the layer .*0002.bloom.*{os.strerror(errno.EACCES)}")
        # Somebody else has taken it away.
        self.assertEqual(self.fold(f"unlink {taken} {errno.ENOENT}")[0].status, 0)
        result, _ = self.fold(f"fsync {synced} {errno.EIO}")
        self.assertEqual(result.status, EX_CANTCREAT)
        self.assertRegex(result.errors, rf"sync .*layers.*{os.strerror(errno.EIO)}")

    KEEPING = {"append": ["append", "layers", "b.txt", "--keep", "1", "--quiet"],
               "fold": ["fold", "layers", "b.txt", "a.txt", "--keep", "1", "--quiet"],
               "rollback": ["rollback", "layers"]}

    def start_with_kept_layers(self):
        """`layers` has two of the list a, `layers.1` one of them."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for name in "ab":
            (self.folder / f"{name}.txt").write_text("".join(f"{name}{i}@example.org\n" for i in range(100)))
        for _ in range(2):
            run_program(self.folder, "append", "layers", "a.txt", "--keep", "1", check=True)

    def assert_each_folder_is_whole(self):
        """Everybody of the list a is listed in the folder, and in each that was kept."""
        for layers in self.folder.glob("layers*"):
            found = run_program(self.folder, "query", layers, "--count", "-", input=(self.folder / "a.txt").read_bytes())
            self.assertEqual(found.stdout, b"listed\t100\nnot-listed\t0\nrejected\t0\n", (layers, found.stderr))
        self.assertTrue((self.folder / "layers").is_dir())

    def test_kept_layers_are_synced_before_the_layers_change_and_an_exchange_before_the_end(self):
        keeps = [("link", "kept/0001.bloom"), ("link", "kept/0002.bloom"), ("fsync", "kept"), ("rename", "layers.2"),
                 ("rename", "layers.1"), ("fsync", ".")]
        for command, first in (("append", keeps), ("fold", keeps), ("rollback", [("renameat2", "layers.1"), ("fsync", ".")])):
            with self.subTest(command=command):
                self.start_with_kept_layers()
                done = self.run_here(self.KEEPING[command])
                self.assertEqual(done.status, 0, done.errors)
                steps = [(call.name, re.sub(r"\.layers\.kept-\d+", "kept", os.path.relpath(call.path, self.folder)))
                         for call in done.calls if call.name in ("link", "fsync", "rename", "renameat2")]
                self.assertEqual(steps[: len(first)], first)
                if command == "rollback":
                    self.assertEqual(len(steps), len(first))

    def check_each_change_of_a_name(self, fault):
        for command, arguments in self.KEEPING.items():
            self.start_with_kept_layers()
            sound = self.run_here(arguments)
            self.assertEqual(sound.status, 0, sound.errors)
            names = ("fsync", "rename", "link", "unlink", "renameat2")
            calls = [(name, number) for name in names for number in range(1, len(sound.of(name)) + 1)]
            self.assertIn("renameat2" if command == "rollback" else "link", [name for name, _ in calls])
            for name, number in some_of(calls):
                with self.subTest(command=command, call=name, number=number):
                    self.start_with_kept_layers()
                    result = self.run_here(arguments, f"{name} {number} {fault}")
                    self.assertNotEqual(result.status, 0)
                    self.assert_each_folder_is_whole()
                    # The next command removes any leftovers, and rollback undoes its change.
                    for words in (self.KEEPING["fold"], self.KEEPING["rollback"]):
                        again = self.run_here(words)
                        self.assertEqual(again.status, 0, again.errors)
                        self.assert_each_folder_is_whole()
                    left = {path.name for path in self.folder.iterdir()}
                    self.assertEqual(left, {"a.txt", "b.txt", "layers", "layers.1"})

    def test_killed_at_any_change_of_a_name_the_folder_and_the_kept_layers_are_whole(self):
        self.check_each_change_of_a_name("kill")

    def test_if_any_change_of_a_name_fails_the_folder_and_the_kept_layers_are_whole(self):
        self.check_each_change_of_a_name(errno.EIO)

    def test_an_error_of_exchanging_folders_names_the_remedy(self):
        self.start_with_kept_layers()
        before = sorted(os.listdir(self.folder / "layers"))
        for error in (errno.EINVAL, errno.EBUSY):
            refused = self.run_here(["rollback", "layers"], f"renameat2 1 {error}")
            self.assertEqual(refused.status, EX_CANTCREAT)
            self.assertRegex(refused.errors, rf"{os.strerror(error)}.*put the layers of .*layers.1 into .*layers by hand")
        self.assertEqual(sorted(os.listdir(self.folder / "layers")), before)
        for error in (errno.EXDEV, errno.EPERM, errno.EACCES, errno.EROFS, errno.EBUSY, errno.EIO):
            refused = self.run_here(self.KEEPING["fold"], f"link 1 {error}")
            self.assertEqual(refused.status, EX_CANTCREAT)
            self.assertRegex(refused.errors, rf"keep the layers of \S+/layers beside it: {os.strerror(error)}")
            self.assertEqual("whose parent is on the same file system, or without --keep" in refused.errors, error != errno.EIO)
            self.assertEqual(sorted(os.listdir(self.folder)), ["a.txt", "b.txt", "layers", "layers.1"])


class SignedLayersTest(DurabilityTest):
    """The manifest of a folder, where the command is killed or a call fails."""

    COMMANDS = {"append": ["append", "layers", "b.txt", "--keep", "1", "--quiet", "--sign-key", "key"],
                "fold": ["fold", "layers", "a.txt", "b.txt", "--keep", "1", "--quiet", "--sign-key", "key"],
                "rollback": ["rollback", "layers", "--sign-key", "key"],
                "sign": ["sign", "--key", "key", "layers"]}

    def start_with_signed_layers(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for name in "ab":
            (self.folder / f"{name}.txt").write_text(f"{name}@example.org\n")
        run_program(self.folder, "sign", "--new-key", "key", check=True)
        for words in ([], ["--keep", "1"]):
            run_program(self.folder, "append", "layers", "a.txt", "--sign-key", "key", *words, check=True)
            (self.folder / "revoked").write_text("eve@example.org\n")
            (self.folder / "revoked").rename(self.folder / "layers" / "revoked")  # another file than the one that is kept
        run_program(self.folder, "sign", "--key", "key", "layers", check=True)

    def manifest(self):
        return json.loads(run_program(self.folder, "info", "layers", "--json", check=True).stdout)["manifest"]

    def check(self, command, number, outcome):
        """Whatever the folder is: its manifest is whole, no older one, and names what is there or shows that it does not."""
        now = self.manifest()
        self.assertEqual(now["fault"], "", outcome)
        self.assertGreaterEqual(now["number"], number)
        fits = not any(each["fault"] for each in now["files"])
        if command != "fold":
            self.assertTrue(fits, (now, outcome))
        if command in ("rollback", "sign"):
            self.assertEqual(now["unnamed"], [], outcome)
        self.assertEqual((self.folder / "layers" / "revoked").read_text(), "eve@example.org\n")
        return fits and not now["unnamed"]

    def check_each_call(self, fault):
        for command, arguments in self.COMMANDS.items():
            self.start_with_signed_layers()
            before = self.manifest()["number"]
            sound = self.run_here(arguments)
            self.assertEqual(sound.status, 0, sound.errors)
            self.assertTrue(self.check(command, before + 1, ""))
            names = ("fsync", "rename", "link", "unlink", "renameat2", "pwrite")
            calls = [(name, number) for name in names for number in range(1, len(sound.of(name)) + 1)]
            for name, number in some_of(calls):
                with self.subTest(command=command, call=name, number=number):
                    self.start_with_signed_layers()
                    before = self.manifest()["number"]
                    result = self.run_here(arguments, f"{name} {number} {fault}")
                    # A name that is left over does no harm.
                    if (name, fault) != ("unlink", errno.EIO):
                        self.assertNotEqual(result.status, 0)
                    self.check(command, before, result.errors)
                    run_program(self.folder, "sign", "--key", "key", "layers", check=True)
                    self.assertTrue(self.check("sign", before + 1, ""))

    def test_killed_at_any_call_the_manifest_fits_or_shows_that_it_does_not_and_sign_repairs_it(self):
        self.check_each_call("kill")

    def test_if_any_call_fails_the_manifest_fits_or_shows_that_it_does_not_and_sign_repairs_it(self):
        self.check_each_call(errno.EIO)

    def test_rollback_puts_layers_revoked_and_manifest_in_place_in_one_step(self):
        self.start_with_signed_layers()
        done = self.run_here(self.COMMANDS["rollback"])
        steps = [(call.name, os.path.relpath(call.path, self.folder)) for call in done.calls
                 if call.name in ("link", "rename", "renameat2")]
        self.assertEqual(steps, [("link", "layers.1/.revoked.new"), ("rename", "layers.1/revoked"),
                                 ("rename", "layers.1/manifest"), ("renameat2", "layers.1")])


if __name__ == "__main__":
    main()
