"""`bloomgate add-layer --keep`, `fold-layers --keep` and `rollback` of a folder of layers."""
import fcntl
import json
import os
import pathlib
import time

from layer_folder import Layers
from program import EX_DATAERR, EX_USAGE, main


def wait_until_it_waits_for_a_lock(pid):
    """Until the kernel says of the process that it is blocked by another one's lock."""
    deadline = time.monotonic() + 60
    while not any("->" in line and f" {pid} " in line for line in pathlib.Path("/proc/locks").read_text().splitlines()):
        assert time.monotonic() < deadline, "it does not wait"
        time.sleep(0.01)


class KeptTest(Layers):
    """add-layer --keep and fold-layers --keep, and rollback of a folder."""

    def setUp(self):
        super().setUp()
        self.all = [self.new_list(100) for _ in range(4)]

    def lists_now(self, folder=None):
        """The numbers of the lists whose addresses are all listed: a hundred non-members never pass by chance."""
        found = ""
        for number, path in enumerate(self.all):
            done = self.run_it("query", folder or self.layers, "--count", "-", given=path.read_text(), status=None)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            found += str(number) if "\nnot-listed\t0\n" in done.stdout else ""
        return found

    def append(self, number, *options, status=0):
        return self.run_it("append", self.layers, self.all[number], "--quiet", *options, status=status)

    def folders(self):
        return sorted(path.name for path in self.folder.iterdir() if path.is_dir())

    def test_rollback_undoes_the_last_append_and_then_itself(self):
        self.append(0, "--keep", "2")
        self.assertEqual(self.folders(), ["layers"])  # there was nothing to keep
        self.append(1, "--keep", "2")
        self.append(2, "--keep", "2")
        self.assertEqual(self.folders(), ["layers", "layers.1", "layers.2"])
        self.assertEqual([self.lists_now(self.folder / name) for name in self.folders()], ["012", "01", "0"])
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

    def test_rollback_undoes_a_fold(self):
        for number in range(3):
            self.append(number)
        shape = ["--bits-per-entry", "24", "--hashes", "16", "--quiet"]
        self.run_it("fold", self.layers, *shape, "--keep", "1", self.all[0], self.all[3])
        self.assertEqual((self.lists_now(), self.names()), ("03", ["0001.bloom"]))
        self.run_it("rollback", self.layers)
        self.assertEqual((self.lists_now(), self.names()), ("012", ["0001.bloom", "0002.bloom", "0003.bloom"]))
        self.append(3, "--keep", "1")
        self.assertEqual((self.lists_now(), self.lists_now(self.folder / "layers.1")), ("0123", "012"))
        self.assertEqual(self.folders(), ["layers", "layers.1"])

    def test_rollback_undoes_a_union(self):
        self.layers.mkdir()
        for name, path in zip(("one", "two"), self.all):
            self.run_it("build", "--output", self.layers / f"{name}.bloom", "--seed", "1", "--expected-entries", "400",
                        "--quiet", path)
        self.run_it("fold", self.layers, "--keep", "1")
        self.assertEqual(self.names(), ["one.bloom"])
        self.run_it("rollback", self.layers)
        self.assertEqual((self.lists_now(), self.names()), ("01", ["one.bloom", "two.bloom"]))

    def test_no_more_states_are_kept_than_asked_for_and_a_folder_by_another_path_is_the_same(self):
        (self.folder / "link").symlink_to("layers")
        for number in range(3):
            self.append(number, "--keep", "1")
        self.run_it("append", self.folder / "link" / ".", self.all[3], "--quiet", "--keep", "1")
        self.assertEqual(self.folders(), ["layers", "layers.1", "link"])
        self.assertEqual(self.lists_now(self.folder / "layers.1"), "012")
        self.run_it("rollback", self.folder / "link")
        self.assertTrue((self.folder / "link").is_symlink())
        self.assertEqual(self.lists_now(), "012")
        self.append(3)
        self.assertEqual(self.folders(), ["layers", "layers.1", "link"])  # without --keep nothing is kept or removed
        self.assertEqual(self.lists_now(self.folder / "layers.1"), "0123")

    def test_leftovers_of_a_killed_command_are_removed_and_nothing_else(self):
        self.append(0)
        for name in (".layers.kept-123", ".layers.kept-mine", ".layers.kept-", ".other.kept-123"):
            (self.folder / name).mkdir()
        self.append(1, "--keep", "1")
        self.assertEqual(sorted(path.name for path in self.folder.glob(".*")),
                         [".layers.kept-", ".layers.kept-mine", ".other.kept-123"])

    def test_a_state_whose_layers_have_the_same_names_is_another_state(self):
        self.append(0)
        for number in (1, 2):
            self.run_it("fold", self.layers, "--keep", "2", "--quiet", self.all[number])
        self.assertEqual([self.lists_now(self.folder / name) for name in self.folders()], ["2", "1", "0"])
        self.run_it("rollback", self.layers, "--to", "2")
        self.assertEqual(self.lists_now(), "0")
        # The same layer under another name is another state, too.
        (self.layers / "0001.bloom").rename(self.layers / "renamed.bloom")
        self.append(3, "--keep", "9")
        self.assertEqual([path.name for path in (self.folder / "layers.1").iterdir()], ["renamed.bloom"])
        self.assertEqual(self.folders(), ["layers", "layers.1", "layers.2", "layers.3"])

    def test_a_kept_folder_has_the_owner_and_mode_of_the_folder(self):
        self.append(0)
        owner = 12345 if os.geteuid() == 0 else os.geteuid()
        os.chown(self.layers, owner, -1)
        self.layers.chmod(0o2750)
        self.append(1, "--keep", "1")
        self.run_it("rollback", self.layers)
        for path in (self.layers, self.folder / "layers.1"):
            self.assertEqual((path.stat().st_uid, path.stat().st_mode & 0o7777), (owner, 0o2750))

    def test_a_failed_change_keeps_and_removes_nothing(self):
        for number in range(3):
            self.append(number, "--keep", "2")
        bad = self.folder / "bad.txt"
        bad.write_text("no address\n")
        for command in ("append", "fold"):
            self.run_it(command, self.layers, bad, "--strict", "--quiet", "--keep", "2", status=EX_DATAERR)
            self.assertEqual(self.folders(), ["layers", "layers.1", "layers.2"])
            self.assertEqual([self.lists_now(self.folder / name) for name in self.folders()], ["012", "01", "0"])
        self.append(3, "--keep", "100", status=EX_USAGE)
        self.run_it("fold", self.layers, "--keep", "100", status=EX_USAGE)
        self.assertEqual(self.lists_now(), "012")

    def test_info_shows_the_kept_states(self):
        for number in range(2):
            self.append(number, "--keep", "1")
        self.assertRegex(self.run_it("info", self.layers).stdout,
                         r"(?m)^kept +.*/layers\.1: 100 entries in 1 layer, built ")
        (self.folder / "layers.1/0001.bloom").unlink()
        (self.folder / "layers.1/0001.bloom").write_bytes(b"nonsense")
        (kept,) = self.info(self.layers)["kept"]
        self.assertTrue(kept["number"] == 1 and kept["fault"])

    def test_a_damaged_or_missing_state_is_not_restored(self):
        self.append(0)
        refused = self.run_it("rollback", self.layers, status=66)
        self.assertRegex(refused.stderr, "layers.1 is not there: those layers were not kept.* 'bloomgate add-layer --keep 2' and")
        self.append(1)
        self.run_it("fold", self.layers, "--keep", "1", "--quiet", self.all[2])
        self.flip("layers.1/0002.bloom", 5000)
        self.assertIn("0002.bloom", self.run_it("rollback", self.layers, status=EX_DATAERR).stderr)
        self.assertEqual(self.lists_now(), "2")
        self.assertIn("--store", self.run_it("rollback", self.layers, "--store", "x", status=EX_USAGE).stderr)

    def test_a_damaged_layer_does_not_displace_a_kept_sound_state(self):
        self.append(0)
        self.append(1, "--keep", "1")
        self.flip("layers/0002.bloom", 5000)
        told = self.run_it("fold", self.layers, "--keep", "1", "--quiet", *self.all)
        self.assertIn("warning: the old layers are not kept: ", told.stderr)
        self.assertEqual(self.lists_now(self.folder / "layers.1"), "0")

    def test_rollback_refuses_a_folder_with_files_that_are_not_layers(self):
        self.append(0)
        self.append(1, "--keep", "1")
        for place, name in ((self.layers, "notes.manifest"), (self.layers, "notes.txt"), (self.folder / "layers.1", "notes.txt")):
            (place / name).write_text("mine")
            refused = self.run_it("rollback", self.layers, status=EX_DATAERR)
            self.assertIn(f"{name} is no layer", refused.stderr)
            self.assertEqual(self.lists_now(), "01")
            if place == self.layers:
                (place / name).unlink()

    def test_a_change_that_would_remove_a_foreign_file_with_a_kept_folder_is_refused_before_it(self):
        self.append(0)
        self.append(1, "--keep", "1")
        (self.folder / "layers.1/notes.txt").write_text("mine")
        (self.folder / "layers.3").mkdir()
        for place in ("layers.1", "layers.3"):  # one that moves on, and one past the number
            for command in ("append", "fold"):
                refused = self.run_it(command, self.layers, self.all[2], "--keep", "1", "--quiet", status=EX_DATAERR)
                self.assertIn(f"{place}/notes.txt is no layer", refused.stderr)
                self.assertEqual((self.lists_now(), self.names()), ("01", ["0001.bloom", "0002.bloom"]))
                self.assertEqual(self.folders(), ["layers", "layers.1", "layers.3"])
            if place == "layers.1":
                (self.folder / "layers.1/notes.txt").rename(self.folder / "layers.3/notes.txt")
        self.append(2, "--keep", "3")  # nothing has to go
        self.assertEqual(self.folders(), ["layers", "layers.1", "layers.2", "layers.3"])

    def test_a_command_that_waited_for_a_rollback_changes_the_folder_now_in_place(self):
        self.append(0)
        self.append(1, "--keep", "1")
        folder = os.open(self.layers, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            waiting = self.start("add-layer", self.layers, self.all[2], "--quiet")
            wait_until_it_waits_for_a_lock(waiting.pid)
            (self.folder / "layers.1").rename(self.folder / "other")
            self.layers.rename(self.folder / "layers.1")
            (self.folder / "other").rename(self.layers)
        finally:
            os.close(folder)
        self.assertEqual(waiting.wait(60), 0)
        self.assertEqual((self.lists_now(), self.lists_now(self.folder / "layers.1")), ("02", "01"))


if __name__ == "__main__":
    main()
