"""Whichever call of a command fails, the old file is whole, or the new one is."""
import errno
import itertools
import os
import pathlib
import shutil
import signal

from faulty_commands import (COMMANDS, DurabilityTest, EX_CANTCREAT, EX_IOERR, EX_NOINPUT, OLD, SOME_COMMANDS, SPILLED, lists,
                             main, some_of)


class FailureTest(DurabilityTest):
    # In which a failure is no fault of the file: where another way is taken, or after the rename.
    HARMLESS = {"unlink"}
    # What was done, and to which file.
    WORDS = {"fsync": r"sync \S*filter\S*: ", "rename": r"rename the finished file to \S*filter\S*: "}

    def test_if_any_call_fails_the_old_file_or_the_new_one_is_whole(self):
        for name, arguments in SOME_COMMANDS.items():
            sound = self.check_sound(arguments)
            for call in sorted({call.name for call in sound.calls} - self.HARMLESS):
                for number in some_of(range(1, len(sound.of(call)) + 1)):
                    with self.subTest(command=name, call=call, number=number):
                        result = self.run_faulty(arguments, f"{call} {number} {errno.EIO}")
                        if result.status == 0 or (call, number) == ("fsync", 2):
                            self.assertEqual(result.written, sound.written)
                            self.assertEqual(result.names, ["filter"])
                        elif result.written == sound.written:
                            self.assertEqual((call, number), ("open", len(sound.of("open"))))  # that of the folder
                        else:
                            self.check_failed(result, result.status, "Input/output error")
                            self.assertIn(result.status, (EX_CANTCREAT, EX_IOERR, EX_NOINPUT))

    def test_repeated_failures_of_a_call_are_always_reported(self):
        """A failure past the page cache may be made good within it; one of both kinds may not."""
        for name, arguments in SOME_COMMANDS.items():
            sound = self.check_sound(arguments)
            for call, status in (("pwrite", EX_CANTCREAT), ("pread", EX_IOERR), ("fsync", EX_CANTCREAT),
                                 ("rename", EX_CANTCREAT), ("ftruncate", EX_CANTCREAT),
                                 ("posix_fallocate", EX_CANTCREAT), ("fchmod", EX_CANTCREAT)):
                for number in some_of(self.numbers_of_output(sound, call) or [1]):
                    for error in (errno.EIO, errno.ENOSPC):
                        with self.subTest(command=name, call=call, number=number, error=error):
                            result = self.run_faulty(arguments, f"{call} {number}+ {error}")
                            if self.is_reached(result, call, number, sound):
                                self.check_failed(result, status, self.WORDS.get(call, "") + os.strerror(error))

    def test_if_any_thread_cannot_start_the_build_ends_with_the_filter_or_the_reason(self):
        """Up to the last of them, whatever is already under way in others."""
        for name in ("build", "build in parallel"):
            sound = self.check_sound(COMMANDS[name])
            # A call that is counted and never reached leaves the build as it is.
            started = len(self.run_faulty(COMMANDS[name], f"pthread_create 1000000 {errno.EAGAIN}").of("pthread_create"))
            self.assertGreater(started, 0)
            for number in some_of(range(1, started + 1)):
                result = self.run_faulty(COMMANDS[name], f"pthread_create {number} {errno.EAGAIN}")
                with self.subTest(command=name, number=number):
                    if result.status == 0:
                        self.assertEqual(result.written, sound.written)
                    else:
                        self.assertEqual(result.written, OLD)
                        self.assertIn("Resource temporarily unavailable", result.errors)
                    self.assertEqual(result.names, ["filter"])

    def test_a_failed_build_without_an_old_file_leaves_none(self):
        for fault in (f"pwrite 1+ {errno.EIO}", f"fsync 1 {errno.EIO}", f"rename 1 {errno.EIO}", "pwrite 1 flipped"):
            with self.subTest(fault=fault):
                result = self.run_faulty(COMMANDS["build"], fault, old=None)
                self.assertNotEqual(result.status, 0)
                self.assertEqual(result.names, [])

    def test_a_file_system_that_cannot_reserve_space_is_no_error(self):
        want = self.check_sound(COMMANDS["build"]).written
        for error in (errno.EOPNOTSUPP, errno.EINVAL):
            self.assertEqual(self.run_faulty(COMMANDS["build"], f"posix_fallocate 1 {error}").written, want)

    def test_a_taken_temporary_name_is_replaced_by_another(self):
        sound = self.check_sound(COMMANDS["build"])
        number = self.numbers_of_output(sound, "open")[0]
        result = self.run_faulty(COMMANDS["build"], f"open {number} {errno.EEXIST}")
        self.assertEqual(result.written, sound.written)
        names = [call.path for call in result.of("open") if self.is_of_output(call)]
        self.assertNotEqual(names[0], names[1])

    def test_an_input_that_shrinks_while_it_is_open_is_an_error_with_that_reason(self):
        for command in ("merge", "intersect"):
            for number in (1, 2):
                with self.subTest(command=command, number=number):
                    result = self.run_faulty(COMMANDS[command], f"mmap {number} cut", copy=True)
                    self.check_failed(result, EX_IOERR, "was written to, shrank or became unreadable while it was open")

    def test_a_stop_at_any_write_ends_the_command_before_the_next_and_leaves_the_old_file(self):
        allowed = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, allowed)
        os.sched_setaffinity(0, {min(allowed)})  # one thread, where a command is not told how many
        for name, arguments in SOME_COMMANDS.items():
            sound = self.check_sound(arguments)
            writes = sound.of("pwrite")
            # The last four are the tables of the three sections, and the header; from there on nothing is stopped.
            for number in some_of(range(1, len(writes) + 1)):
                with self.subTest(command=name, number=number):
                    result = self.run_faulty(arguments, f"pwrite {number} terminate")
                    if number <= len(writes) - 4:
                        self.check_failed(result, 128 + signal.SIGTERM, "stopped before the filter was complete")
                        if name != "build in parallel":  # there each thread may be at a write
                            self.assertLessEqual(len(result.of("pwrite")), number + 1)
                    else:
                        self.assertEqual(result.status, 0)
                        self.assertEqual(result.written, sound.written)

    def test_a_write_that_does_nothing_is_an_error(self):
        for name, arguments in SOME_COMMANDS.items():
            sound = self.check_sound(arguments)
            for call, status, reason in (("pwrite", EX_CANTCREAT, "No space"), ("pread", EX_IOERR, "Input/output")):
                for number in some_of(self.numbers_of_output(sound, call)):
                    with self.subTest(command=name, call=call, number=number):
                        result = self.run_faulty(arguments, f"{call} {number}+ end")
                        if self.is_reached(result, call, number, sound):
                            self.check_failed(result, status, reason)

    def test_short_and_interrupted_calls_are_continued(self):
        for name, arguments in SOME_COMMANDS.items():
            want = self.check_sound(arguments).written
            for call in ("pwrite", "pread"):
                for fault in ("1+ short", "2+ short", "1+ interrupted", "2+ interrupted"):
                    with self.subTest(command=name, call=call, fault=fault):
                        result = self.run_faulty(arguments, f"{call} {fault}")
                        self.assertEqual(result.status, 0, result.errors)
                        self.assertEqual(result.written, want)


class KeepTest(DurabilityTest):
    def test_if_a_name_cannot_be_given_the_filter_in_use_is_the_old_one(self):
        old = (pathlib.Path(lists().name) / "a").read_bytes()
        arguments = ["build", "--seed", "2", "--threads", "1", "--keep", "1", "a.txt", "b.txt"]
        sound = self.run_faulty(arguments, old=old)
        self.assertEqual((sound.status, sound.names), (0, ["filter", "filter.1"]), sound.errors)
        self.assertNotEqual(sound.written, old)
        self.assertEqual((self.folder / "filter.1").read_bytes(), old)
        faults = [(name, number) for name in ("link", "rename") for number in range(1, len(sound.of(name)) + 1)]
        self.assertGreater(len(faults), 3)
        for name, number in faults:
            with self.subTest(call=name, number=number):
                result = self.run_faulty(arguments, f"{name} {number} {errno.EIO}", old=old)
                self.assertEqual(result.status, EX_CANTCREAT, result.errors)
                self.assertIn("Input/output error", result.errors)
                self.assertEqual(result.written, old)
                self.assertIn(result.names, (["filter"], ["filter", "filter.1"]))

    def roll_back(self, fault):
        """Exchanges the filter `a`, in use, with the filter `b`."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        names = {"filter": "a", "filter.1": "b"}
        filters = {name: (pathlib.Path(lists().name) / old).read_bytes() for name, old in names.items()}
        for name, content in filters.items():
            (self.folder / name).write_bytes(content)
        run = self.run_here(["rollback", str(self.folder / "filter")], fault)
        found = {name: (self.folder / name).read_bytes() for name in os.listdir(self.folder)}
        return run, filters, found

    def test_without_an_exchange_of_names_in_the_file_system_links_do_it(self):
        for number in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
            run, filters, found = self.roll_back(f"renameat2 1 {number}")
            self.assertEqual(run.status, 0, run.errors)
            self.assertEqual(len(run.of("link")), 1)
            self.assertEqual(found, {"filter": filters["filter.1"], "filter.1": filters["filter"]})

    def test_names_that_cannot_be_exchanged_are_left(self):
        run, filters, found = self.roll_back(f"renameat2 1 {errno.EIO}")
        self.assertEqual(run.status, EX_CANTCREAT, run.errors)
        self.assertIn("Input/output error", run.errors)
        self.assertEqual(found, filters)


class SpillTest(DurabilityTest):
    """Hashes that do not fit into memory go through a file without a name."""

    def is_of_spill(self, call):
        return "/scratch" in call.path

    def test_an_error_of_the_spill_file_fails_the_build(self):
        sound = self.check_sound(SPILLED)
        for call, status in (("pwrite", EX_CANTCREAT), ("pread", EX_IOERR)):
            calls = sound.of(call)
            of_spill = [i + 1 for i, each in enumerate(calls) if self.is_of_spill(each)]
            self.assertGreater(len(of_spill), 2)
            numbers = sorted({of_spill[0], of_spill[len(of_spill) // 2], of_spill[-1]})
            faults = ((errno.ENOSPC, "No space left"), (errno.EIO, "Input/output error"), ("end", ""))
            for number, (fault, reason) in some_of(itertools.product(numbers, faults)):
                with self.subTest(call=call, number=number, fault=fault):
                    result = self.run_faulty(SPILLED, f"{call} {number} {fault}")
                    self.check_failed(result, status, f"in scratch: .*{reason}")
        opened = [i + 1 for i, each in enumerate(sound.of("open")) if self.is_of_spill(each)]
        self.assertEqual(len(opened), 2)  # one for addresses, one for domain entries
        for number in opened:
            result = self.run_faulty(SPILLED, f"open {number} {errno.EACCES}")
            self.check_failed(result, EX_CANTCREAT, "create a temporary file in scratch: Permission denied")
            # Where no file can be without a name, it has one for a moment.
            for error in (errno.EOPNOTSUPP, errno.EISDIR):
                result = self.run_faulty(SPILLED, f"open {number} {error}")
                self.assertEqual((result.status, result.written, result.names), (0, sound.written, ["filter"]), result.errors)
                self.assertEqual(len(result.of("unlink")), len(sound.of("unlink")) + 1)

    def test_short_and_interrupted_calls_change_nothing(self):
        want = self.check_sound(SPILLED).written
        for fault in ("pwrite 1+ short", "pread 1+ short", "pwrite 1+ interrupted", "pread 1+ interrupted"):
            with self.subTest(fault=fault):
                self.assertEqual(self.run_faulty(SPILLED, fault).written, want)


if __name__ == "__main__":
    main()
