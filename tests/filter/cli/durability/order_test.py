"""A file is written, synced and read back before it gets its name."""
import errno
import os
import re

from faulty_commands import COMMANDS, Call, DurabilityTest, EX_CANTCREAT, EX_DATAERR, main


class OrderTest(DurabilityTest):
    def test_the_file_is_written_synced_read_back_renamed_and_its_folder_synced(self):
        for name, arguments in COMMANDS.items():
            with self.subTest(command=name):
                result = self.check_sound(arguments)
                calls = [call for call in result.calls if call.name not in ("open", "mmap", "unlink")]
                renames = [i for i, call in enumerate(calls) if call.name == "rename"]
                syncs = [i for i, call in enumerate(calls) if call.name == "fsync"]
                self.assertEqual(len(renames), 1)
                self.assertEqual(len(syncs), 2)
                self.assertLess(syncs[0], renames[0])
                self.assertTrue(self.is_of_output(calls[syncs[0]]))
                self.assertEqual(calls[renames[0]].path, str(self.folder / "filter"))
                self.assertEqual(calls[-1], Call("fsync", 0, 0, str(self.folder)))
                self.assertEqual(syncs[1], renames[0] + 1)
                self.assertEqual(result.of("unlink"), [])
                # Every write before the first sync; between that and the rename nothing but reads, of every byte.
                self.assertEqual({call.name for call in calls[syncs[0] + 1 : renames[0]]}, {"pread"})
                self.assert_all_read(calls[syncs[0] + 1 : renames[0]], len(result.written))

    def assert_all_read(self, calls, size):
        """All bytes but those between two sections, which are never written."""
        end = 0
        for call in sorted(calls, key=lambda call: call.offset):
            self.assertTrue(self.is_of_output(call))
            self.assertLess(call.offset - end, 4096)
            self.assertTrue(call.offset <= end or call.offset % 4096 == 0)
            end = max(end, call.offset + call.bytes)
        self.assertEqual(end, size)

    def test_the_space_is_reserved_before_anything_is_written(self):
        for name, arguments in COMMANDS.items():
            with self.subTest(command=name):
                result = self.check_sound(arguments)
                names = [call.name for call in result.calls]
                self.assertLess(names.index("posix_fallocate"), names.index("pwrite"))
                most = max(call.offset + call.bytes for call in result.of("pwrite"))
                self.assertGreaterEqual(result.of("posix_fallocate")[0].bytes, most)

    def test_a_folder_that_cannot_be_synced_is_an_error_and_leaves_the_new_file(self):
        for name, arguments in COMMANDS.items():
            with self.subTest(command=name):
                want = self.check_sound(arguments).written
                opens = len(self.run_faulty(arguments).of("open"))
                for fault in (f"fsync 2 {errno.EIO}", f"open {opens} {errno.EMFILE}"):
                    result = self.run_faulty(arguments, fault)
                    self.assertEqual(result.status, EX_CANTCREAT)
                    self.assertEqual(result.written, want)
                    self.assertEqual(result.names, ["filter"])
                    self.assertRegex(result.errors, "sync|open the folder")


class ReadBackTest(DurabilityTest):
    def test_any_lost_or_changed_write_is_noticed_before_the_file_gets_its_name(self):
        for name, arguments in COMMANDS.items():
            sound = self.check_sound(arguments)
            for number in range(1, len(sound.of("pwrite")) + 1):
                for fault in ("lost", "flipped"):
                    with self.subTest(command=name, number=number, fault=fault):
                        result = self.run_faulty(arguments, f"pwrite {number} {fault}")
                        if not self.is_reached(result, "pwrite", number, sound):
                            continue
                        self.check_failed(result, EX_DATAERR, r"the data at offset \d+ is not what was written there")
                        self.assertEqual(result.of("rename"), [])
                        offset = int(re.search(r"at offset (\d+)", result.errors)[1])
                        self.assertLessEqual(abs(result.of("pwrite")[number - 1].offset - offset), 2**20)

    def test_a_file_that_is_read_back_wrong_is_not_renamed(self):
        for name, arguments in COMMANDS.items():
            for number in self.numbers_of_output(self.check_sound(arguments), "pread"):
                with self.subTest(command=name, number=number):
                    result = self.run_faulty(arguments, f"pread {number} flipped")
                    self.check_failed(result, EX_DATAERR, "is not what was written there")


class EarlyReadBackTest(DurabilityTest):
    """Of a large file most is read back while the rest is written, if it can be read from the disk itself."""

    LARGE = ["build", "--seed", "1", "--threads", "1", "--expected-entries", "84000000", "a.txt"]  # 80 MiB
    MIB = 2**20

    def setUp(self):
        super().setUp()
        calls = [call for call in self.check_sound(self.LARGE).calls if self.is_of_output(call)]
        self.synced = next(i for i, call in enumerate(calls) if call.name == "fsync")
        self.reads = [(i, call) for i, call in enumerate(calls) if call.name == "pread" and call.bytes == self.MIB]
        # Asked of the file system itself: a builder that reads nothing early must not pass for one that cannot.
        try:
            os.close(os.open(self.folder / "filter", os.O_RDONLY | os.O_DIRECT))
        except OSError:
            self.skipTest("the file system reads through the page cache only")

    def test_each_mib_is_read_once_and_some_of_them_before_all_is_written(self):
        offsets = [call.offset for _, call in self.reads]
        self.assertEqual(len(offsets), len(set(offsets)))
        self.assertGreaterEqual(len(offsets), 80)
        early = sum(i < self.synced for i, _ in self.reads)
        self.assertTrue(10 <= early <= 20, early)  # 64 MiB behind what is written

    def test_a_damaged_mib_ends_the_build_before_all_is_written(self):
        for fault in ("pread {} flipped".format(self.number_of_first_read()), "pwrite 1 flipped", "pwrite 2 lost"):
            with self.subTest(fault=fault):
                result = self.run_faulty(self.LARGE, fault)
                self.check_failed(result, EX_DATAERR, "is not what was written there")
                self.assertEqual([call for call in result.of("fsync") if self.is_of_output(call)], [])

    def number_of_first_read(self):
        reads = self.check_sound(self.LARGE).of("pread")
        return next(i for i, call in enumerate(reads, 1) if self.is_of_output(call) and call.bytes == self.MIB)


if __name__ == "__main__":
    main()
