#!/usr/bin/python3
"""What `bloomgate-milter add`, `remove`, `revoke` and `unrevoke` leave of a list when a call to the file system fails.

usage: list_durability_test.py PATH-OF-BLOOMGATE-MILTER PATH-OF-FAULTY_CALLS [unittest arguments]
"""
import errno
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from faulty_calls import run_faulty  # noqa: E402
from timely import TimelyTestCase  # noqa: E402

BLOOMGATE_MILTER = None
FAULTY_CALLS = None
OLD = "# ours\njoe@example.org\nann@example.org\n"
COMMANDS = {
    ("add", "@new.example"): OLD + "@new.example\n",
    ("remove", "joe@example.org"): "# ours\nann@example.org\n",
    ("revoke", "bob@example.org"): OLD + "bob@example.org\n",
    ("unrevoke", "ann@example.org"): "# ours\njoe@example.org\n",
}


class ListDurabilityTest(TimelyTestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bloomgate-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve() / "lists"
        self.folder.mkdir()
        self.config = pathlib.Path(folder.name) / "bloomgate-milter.conf"
        self.config.write_text("".join(f"{name} = {self.folder}/list\n" for name in ("extra", "revoked")))

    def change(self, words, fault=""):
        (self.folder / "list").write_text(OLD)
        (self.folder / "list").chmod(0o640)
        command = [BLOOMGATE_MILTER, words[0], *words[1:], "--config", str(self.config)]
        run = run_faulty(command, FAULTY_CALLS, self.folder, fault)
        return run, (self.folder / "list").read_text(), sorted(os.listdir(self.folder))

    def test_the_new_list_is_written_and_synced_before_it_gets_its_name_and_then_its_folder_is(self):
        for words, want in COMMANDS.items():
            with self.subTest(words=words):
                run, text, names = self.change(words)
                self.assertEqual((run.status, text, names), (0, want, ["list"]), run.errors)
                writing = ("pwrite", "write", "fsync", "renameat2", "rename")
                calls = [call for call in run.calls if call.name in writing]
                replaces = [call.name for call in calls[2:-1]]
                self.assertIn(replaces, (["renameat2"], ["renameat2", "rename"]))  # not every file system exchanges
                self.assertEqual([call.name for call in calls], ["pwrite", "fsync", *replaces, "fsync"])
                self.assertEqual([call.path for call in calls], [f"{self.folder}/.list.edit"] * 2 +
                                 [f"{self.folder}/list"] * len(replaces) + [str(self.folder)])  # fmt: skip
                self.assertEqual(os.stat(self.folder / "list").st_mode & 0o7777, 0o640)

    def test_if_any_call_fails_the_list_is_the_old_one_or_the_new_one(self):
        for words, want in COMMANDS.items():
            sound, _, _ = self.change(words)
            # Some file systems have no locks: there a second look at the file has to do.
            for name in sorted({call.name for call in sound.calls} - {"unlink", "flock"}):
                for number in range(1, len(sound.of(name)) + 1):
                    with self.subTest(words=words, call=name, number=number):
                        run, text, names = self.change(words, f"{name} {number} {errno.EIO}")
                        self.assertEqual(names, ["list"])
                        self.assertNotEqual(run.status, 0)
                        self.assertIn("Input/output error", run.errors)
                        self.assertIn(str(self.folder), run.errors)
                        is_renamed = (name, number) == ("fsync", 2)
                        self.assertEqual(text, want if is_renamed else OLD)

    def test_an_error_of_permission_advises_root_and_other_errors_do_not(self):
        for number in (errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.ENOSPC):
            run, text, names = self.change(("add", "@new.example"), f"renameat2 1 {number}")
            self.assertNotEqual(run.status, 0)
            self.assertEqual((text, names), (OLD, ["list"]))
            is_about_rights = number in (errno.EACCES, errno.EPERM, errno.EROFS)
            self.assertEqual("run this as root" in run.errors, is_about_rights, run.errors)

    def test_without_an_exchange_of_files_the_new_list_is_renamed_over_the_old_one(self):
        for number in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
            run, text, names = self.change(("add", "@new.example"), f"renameat2 1 {number}")
            self.assertEqual((run.status, text, names), (0, OLD + "@new.example\n", ["list"]), run.errors)
            self.assertEqual(len(run.of("rename")), 1)
            self.assertIn("@new.example: is in the list", run.output)

    def test_a_list_that_is_saved_just_before_it_is_replaced_is_restored_and_edited_again(self):
        for words, want in COMMANDS.items():
            run, text, names = self.change(words, "renameat2 1 touched")
            if run.of("rename"):
                self.skipTest("this file system cannot exchange two files")
            self.assertEqual((run.status, text, names), (0, want, ["list"]), run.errors)
            self.assertEqual(len(run.of("renameat2")), 3)  # there, back, and there again

    def test_a_list_that_others_save_constantly_is_in_one_of_two_places_and_both_are_named(self):
        run, text, names = self.change(("add", "@new.example"), "renameat2 1+ touched")
        if run.of("rename"):
            self.skipTest("this file system cannot exchange two files")
        self.assertNotEqual(run.status, 0)
        self.assertIn(f"{self.folder}/list was saved by another program", run.errors)
        self.assertIn(f"{self.folder}/.list.edit", run.errors)
        self.assertEqual(names, [".list.edit", "list"])
        self.assertIn(OLD, (text, (self.folder / ".list.edit").read_text()))

    def test_short_and_interrupted_reads_and_writes_are_continued(self):
        for fault in ("pwrite 1+ short", "pwrite 1+ interrupted", "read 1+ short", "read 1+ interrupted"):
            for words, want in COMMANDS.items():
                run, text, names = self.change(words, fault)
                self.assertEqual((run.status, text, names), (0, want, ["list"]), run.errors)

    def test_a_list_that_is_written_to_while_it_is_read_is_read_again_a_bounded_number_of_times(self):
        run, text, _ = self.change(("add", "@new.example"), "read 1 touched")
        self.assertEqual((run.status, text), (0, OLD + "@new.example\n"), run.errors)
        self.assertEqual(len(run.of("renameat2")), 1)  # the edit that was made on the old text never came that far
        run, text, names = self.change(("add", "@new.example"), "read 1+ touched")
        self.assertNotEqual(run.status, 0)
        self.assertIn("keeps changing while it is read", run.errors)
        self.assertEqual((text, names), (OLD, ["list"]))

    def test_a_write_that_does_nothing_is_an_error(self):
        run, text, names = self.change(("add", "@new.example"), "pwrite 1 end")
        self.assertNotEqual(run.status, 0)
        self.assertEqual((text, names), (OLD, ["list"]))


if __name__ == "__main__":
    BLOOMGATE_MILTER = os.path.abspath(sys.argv.pop(1))
    FAULTY_CALLS = os.path.abspath(sys.argv.pop(1))
    unittest.main(failfast="BLOOMGATE_FAULT" in os.environ)  # tests/mutation only asks whether it fails
