"""`bloomgate sign` and --sign-key, where a call fails."""
import errno
import json
import os
import pathlib
import shutil

from faulty_commands import DurabilityTest, EX_CANTCREAT, EX_DATAERR, EX_IOERR, OLD, lists, main, run_program, some_of


class SigningTest(DurabilityTest):
    """`sign` and --sign-key: whatever happens, the file is the old one or one that is signed."""

    SIGN = ["sign", "--key", "key", "a"]
    SIGNING = {"sign": SIGN, "merge": ["merge", "--sign-key", "key", "a", "b"],
               "counting-export": ["counting-export", "--threads", "1", "--sign-key", "key", "counting"]}

    def is_signed(self):
        public = run_program(lists().name, "sign", "--public-key", "key", check=True, text=True).stdout.strip()
        done = run_program(self.folder, "verify", self.folder / "filter", "--trusted-key", public, text=True)
        return done.returncode == 0

    def is_named(self):
        """Whether the manifest is whole and fits the filter."""
        shown = json.loads(run_program(self.folder, "info", self.folder / "filter", "--json", check=True).stdout)["manifest"]
        return shown["fault"] == "" and shown["files"] == [{"name": "filter", "fault": ""}]

    def check_signed(self, arguments):
        result = self.run_faulty(arguments)
        self.assertEqual((result.status, result.names), (0, ["filter", "filter.manifest"]), result.errors)
        self.assertTrue(self.is_named())
        return result

    def test_the_signature_is_on_the_disk_before_the_file_has_its_name(self):
        for name, arguments in self.SIGNING.items():
            with self.subTest(command=name):
                result = self.check_signed(arguments)
                self.assertTrue(self.is_signed())
                calls = [call for call in result.calls if call.name in ("pwrite", "fsync", "rename")]
                signature = [i for i, call in enumerate(calls) if call.name == "pwrite"][-2]
                self.assertEqual((calls[signature].offset, calls[signature].bytes), (0, 4096))
                in_place = ["fsync", "rename", "fsync"]  # the filter, and then its manifest
                self.assertEqual([call.name for call in calls[signature + 1 :]], [*in_place, "pwrite", *in_place])
                self.assertEqual(calls[-1].path, str(self.folder))

    def check_each_call(self, fault):
        for name, arguments in self.SIGNING.items():
            sound = self.check_signed(arguments)
            for call in ("pwrite", "pread", "fsync", "ftruncate", "fchmod", "rename"):
                for number in some_of(range(1, len(sound.of(call)) + 1)):
                    with self.subTest(command=name, call=call, number=number):
                        result = self.run_faulty(arguments, f"{call} {number} {fault}")
                        if result.written != OLD:
                            self.assertEqual(result.written, sound.written)
                            self.assertTrue(self.is_signed())
                        names = set(result.names)
                        if fault != "kill":
                            self.assertLessEqual(names, {"filter", "filter.manifest"})
                        if "filter.manifest" in names:
                            self.assertTrue(self.is_named())
                        elif fault != "kill" and result.written != OLD:
                            self.assertIn("'bloomgate sign --key FILE filter'", result.errors)
                            self.assertNotEqual(result.status, 0)

    def test_if_any_call_fails_the_old_file_or_the_signed_one_is_there(self):
        self.check_each_call(errno.EIO)

    def test_killed_at_any_call_it_leaves_the_old_file_or_the_signed_one(self):
        self.check_each_call("kill")

    def test_a_signature_lost_or_changed_by_the_disk_is_noticed_before_the_file_gets_its_name(self):
        last = len(self.check_signed(self.SIGN).of("pwrite")) - 1  # the last one is of the manifest
        for fault in ("lost", "flipped"):
            result = self.run_faulty(self.SIGN, f"pwrite {last} {fault}")
            self.check_failed(result, EX_DATAERR, "is not what was written there")
            self.assertEqual(result.of("rename"), [])


class NewKeyTest(DurabilityTest):
    """`sign --new-key`: a key whose public half was printed is on the disk, and half a key is nowhere."""

    def new_key(self, fault=""):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        run = self.run_here(["sign", "--new-key", "new.key"], fault)
        return run, os.listdir(self.folder)

    def test_a_key_is_on_the_disk_before_its_public_half_is_printed(self):
        run, names = self.new_key()
        self.assertEqual((run.status, names), (0, ["new.key"]), run.errors)
        calls = [call for call in run.calls if call.name in ("pwrite", "fsync")]
        key = str(self.folder / "new.key")
        self.assertEqual([(call.name, call.path) for call in calls],
                         [("pwrite", key), ("fsync", key), ("fsync", str(self.folder))])

    def test_if_any_call_fails_no_key_is_printed_or_left(self):
        for fault in (f"open 1 {errno.EACCES}", f"pwrite 1 {errno.ENOSPC}", "pwrite 1 end", f"fsync 1 {errno.EIO}",
                      f"fsync 2 {errno.EIO}"):
            with self.subTest(fault=fault):
                run, names = self.new_key(fault)
                self.assertEqual((run.status, run.output, names), (EX_CANTCREAT, "", []))

    def test_a_key_that_cannot_be_read_signs_nothing(self):
        before = (pathlib.Path(lists().name) / "a").read_bytes()
        number = [call.path for call in self.run_faulty(SigningTest.SIGN).of("pread")].index(str(self.folder / "key")) + 1
        result = self.run_faulty(SigningTest.SIGN, f"pread {number} {errno.EIO}")
        self.assertEqual((result.status, result.written, result.names), (EX_IOERR, OLD, ["filter"]))
        self.assertEqual(result.errors, "bloomgate sign: read key: Input/output error\n")
        self.assertEqual((self.folder / "a").read_bytes(), before)


if __name__ == "__main__":
    main()
