#!/usr/bin/env python3
"""What `bloomgate` leaves on the disk when any of its calls to the file system fails, or tells a lie.

The calls are made to fail, and are recorded, by a preloaded library: see tests/support/faulty_calls.cpp.

usage: durability_test.py PATH-OF-BLOOMGATE PATH-OF-FAULTY_CALLS [unittest arguments]
"""
import errno
import functools
import itertools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import typing
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

from faulty_calls import Call, FaultyRun, run_faulty  # noqa: E402
from timely import TimelyTestCase  # noqa: E402

BLOOMGATE = None
FAULTY_CALLS = None
EX_DATAERR, EX_NOINPUT, EX_CANTCREAT, EX_IOERR = 65, 66, 73, 74
OLD = b"the old file"


class Result(typing.NamedTuple):
    command: str
    run: FaultyRun
    written: bytes
    names: list

    @property
    def status(self):
        return self.run.status

    @property
    def errors(self):
        return self.run.errors

    @property
    def calls(self):
        return self.run.calls

    def of(self, name):
        return self.run.of(name)


# What each command that writes a filter is called with. The lists have addresses and domain entries, so that a filter
# has both sections; that of `spilled` does not fit into the memory that it may take.
COMMANDS = {
    "build": ["build", "--seed", "1", "--threads", "1", "--expected-entries", "3200000", "a.txt", "b.txt"],
    "build in parallel": ["build", "--seed", "1", "--threads", "3", "--layout", "classic", "a.txt", "b.txt"],
    "merge": ["merge", "a", "b"],
    "intersect": ["intersect", "a", "b"],
    "export": ["export", "--threads", "1", "counting"],
}
SPILLED = ["build", "--seed", "1", "--threads", "1", "--memory", "1M", "--scratch", "scratch", "--layout",
           "partitioned", "--hashes", "3", "--bits-per-entry", "32", "large.txt"]  # fmt: skip


@functools.cache
def lists():
    """A folder with the lists and filters that the commands above name."""
    folder = tempfile.TemporaryDirectory(prefix="bloomgate-test-")
    path = pathlib.Path(folder.name)
    for name, first in (("a", 0), ("b", 2_000)):
        lines = [f"user{i}@example.org\n" for i in range(first, first + 4_000)]
        lines += [f"@.{i}.example\n" for i in range(first, first + 3_000)]
        (path / f"{name}.txt").write_text("".join(lines))
        # More than two MiB of bits: several pieces, and one that is not whole.
        subprocess.run([BLOOMGATE, "build", "-o", name, "--seed", "1", "--expected-entries", "2200000", f"{name}.txt"],
                       cwd=path, check=True, capture_output=True, timeout=60)  # fmt: skip
    subprocess.run([BLOOMGATE, "build", "-o", "counting", "--seed", "1", "--layout", "counting", "--expected-entries", "2200000",
                    "a.txt"], cwd=path, check=True, capture_output=True, timeout=60)  # fmt: skip
    subprocess.run([BLOOMGATE, "sign", "--new-key", "key"], cwd=path, check=True, capture_output=True, timeout=60)
    (path / "large.txt").write_text("".join(f"user{i}@example.org\n@{i}.example\n" for i in range(450_000)))
    return folder


class DurabilityTest(TimelyTestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bloomgate-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve() / "out"

    def run_faulty(self, arguments, fault="", old=OLD, copy=False):
        """Runs a command whose output is the file `filter` in a folder of its own. What it reads is there as a link,
        or as a copy, which a fault may spoil."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "scratch").mkdir(parents=True)
        for path in pathlib.Path(lists().name).iterdir():
            (shutil.copyfile if copy else os.link)(path, self.folder / path.name)
        given = set(os.listdir(self.folder))
        if old is not None:
            (self.folder / "filter").write_bytes(old)
        run = run_faulty([BLOOMGATE, arguments[0], "-o", "filter", *arguments[1:]], FAULTY_CALLS, self.folder, fault)
        path = self.folder / "filter"
        spills = {f"scratch/{name}" for name in os.listdir(self.folder / "scratch")}
        names = sorted((set(os.listdir(self.folder)) - given) | spills)
        written = path.read_bytes() if path.exists() else None
        return Result(arguments[0], run, written, names)

    def check_sound(self, arguments):
        result = self.run_faulty(arguments)
        self.assertEqual(result.status, 0, result.errors)
        self.assertEqual(result.names, ["filter"])
        self.assertNotEqual(result.written, OLD)
        return result

    def check_failed(self, result, status, reason):
        """The old file is there, alone, and the error says what failed and where."""
        self.assertEqual(result.status, status, result.errors)
        self.assertEqual(result.written, OLD)
        self.assertEqual(result.names, ["filter"])
        self.assertRegex(result.errors, rf"(?m)^bloomgate {result.command}: .*{reason}")
        self.assertRegex(result.errors, r"filter|counting|scratch|\.txt|\b[ab]\b")

    def is_of_output(self, call):
        return os.path.basename(call.path).startswith(".filter.tmp-")

    def numbers_of_output(self, result, name):
        """Which of the calls of that name are for the file that is written, counted from 1."""
        return [i + 1 for i, call in enumerate(result.of(name)) if self.is_of_output(call)]


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
        """All bytes, but those between two sections, which nobody wrote."""
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


class LayersTest(DurabilityTest):
    def test_where_the_folder_cannot_be_locked_no_layer_is_made_or_folded(self):
        layers = self.folder / "layers"
        layers.mkdir(parents=True)
        (self.folder / "a.txt").write_text("a@example.org\n")
        for command in (["append", "layers", "a.txt"], ["append", "layers", "a.txt"], ["fold", "layers", "a.txt"]):
            before = sorted(os.listdir(layers))
            refused = run_faulty([BLOOMGATE, *command], FAULTY_CALLS, self.folder, f"flock 1 {errno.ENOLCK}")
            self.assertEqual(refused.status, EX_CANTCREAT, refused.errors)
            self.assertRegex(refused.errors, rf"lock the folder layers.*{os.strerror(errno.ENOLCK)}")
            self.assertEqual(sorted(os.listdir(layers)), before)
            waited = run_faulty([BLOOMGATE, *command], FAULTY_CALLS, self.folder, f"flock 1 {errno.EINTR}")
            self.assertEqual(waited.status, 0, waited.errors)
        self.assertEqual(os.listdir(layers), ["0001.bloom"])

    def fold(self, fault=""):
        """Makes a folder of two layers and folds it under that fault."""
        layers = self.folder / "layers"
        shutil.rmtree(layers, ignore_errors=True)
        layers.mkdir(parents=True)
        (self.folder / "a.txt").write_text("a@example.org\n")
        for _ in range(2):
            subprocess.run([BLOOMGATE, "append", layers, self.folder / "a.txt"], check=True, capture_output=True, timeout=60)
        result = run_faulty([BLOOMGATE, "fold", "layers", "a.txt"], FAULTY_CALLS, self.folder, fault)
        return result, sorted(os.listdir(layers))

    def test_a_fold_takes_the_other_layers_away_when_the_new_one_is_safe_and_then_syncs_the_folder(self):
        result, names = self.fold()
        self.assertEqual((result.status, names), (0, ["0001.bloom"]), result.errors)
        ends = [(call.name, pathlib.Path(call.path).name) for call in result.calls
                if call.name in ("rename", "fsync", "unlink") and not pathlib.Path(call.path).name.startswith(".")]
        self.assertEqual(ends[-4:], [("rename", "0001.bloom"), ("fsync", "layers"), ("unlink", "0002.bloom"),
                                     ("fsync", "layers")])  # fmt: skip
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
               "rollback": ["rollback", "layers"]}  # fmt: skip

    def start_with_kept_layers(self):
        """`layers` has two of the list a, `layers.1` one of them."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for name in "ab":
            (self.folder / f"{name}.txt").write_text("".join(f"{name}{i}@example.org\n" for i in range(100)))
        for _ in range(2):
            subprocess.run([BLOOMGATE, "append", "layers", "a.txt", "--keep", "1"], cwd=self.folder, check=True,
                           capture_output=True, timeout=60)  # fmt: skip

    def assert_each_folder_is_whole(self):
        """Everybody of the list a is listed in the folder, and in each that was kept."""
        for layers in self.folder.glob("layers*"):
            found = subprocess.run([BLOOMGATE, "query", layers, "--count", "-"], capture_output=True, timeout=60,
                                   input=(self.folder / "a.txt").read_bytes())  # fmt: skip
            self.assertEqual(found.stdout, b"listed\t100\nnot-listed\t0\nrejected\t0\n", (layers, found.stderr))
        self.assertTrue((self.folder / "layers").is_dir())

    def test_what_is_kept_is_on_the_disk_before_the_layers_change_and_an_exchange_before_the_command_ends(self):
        keeps = [("link", "kept/0001.bloom"), ("link", "kept/0002.bloom"), ("fsync", "kept"), ("rename", "layers.2"),
                 ("rename", "layers.1"), ("fsync", ".")]  # fmt: skip
        for command, first in (("append", keeps), ("fold", keeps), ("rollback", [("renameat2", "layers.1"), ("fsync", ".")])):
            with self.subTest(command=command):
                self.start_with_kept_layers()
                done = run_faulty([BLOOMGATE, *self.KEEPING[command]], FAULTY_CALLS, self.folder)
                self.assertEqual(done.status, 0, done.errors)
                steps = [(call.name, re.sub(r"\.layers\.kept-\d+", "kept", os.path.relpath(call.path, self.folder)))
                         for call in done.calls if call.name in ("link", "fsync", "rename", "renameat2")]  # fmt: skip
                self.assertEqual(steps[: len(first)], first)
                if command == "rollback":
                    self.assertEqual(len(steps), len(first))

    def check_each_change_of_a_name(self, fault):
        for command, arguments in self.KEEPING.items():
            self.start_with_kept_layers()
            sound = run_faulty([BLOOMGATE, *arguments], FAULTY_CALLS, self.folder)
            self.assertEqual(sound.status, 0, sound.errors)
            names = ("fsync", "rename", "link", "unlink", "renameat2")
            calls = [(name, number) for name in names for number in range(1, len(sound.of(name)) + 1)]
            self.assertIn("renameat2" if command == "rollback" else "link", [name for name, _ in calls])
            for name, number in calls:
                with self.subTest(command=command, call=name, number=number):
                    self.start_with_kept_layers()
                    result = run_faulty([BLOOMGATE, *arguments], FAULTY_CALLS, self.folder, f"{name} {number} {fault}")
                    self.assertNotEqual(result.status, 0)
                    self.assert_each_folder_is_whole()
                    # Whatever was left, the next command tidies it up, and what it changes can be taken back.
                    for words in (self.KEEPING["fold"], self.KEEPING["rollback"]):
                        again = run_faulty([BLOOMGATE, *words], FAULTY_CALLS, self.folder)
                        self.assertEqual(again.status, 0, again.errors)
                        self.assert_each_folder_is_whole()
                    left = {path.name for path in self.folder.iterdir()}
                    self.assertEqual(left, {"a.txt", "b.txt", "layers", "layers.1"})

    def test_killed_at_any_change_of_a_name_the_folder_and_what_is_kept_are_whole(self):
        self.check_each_change_of_a_name("kill")

    def test_whichever_change_of_a_name_fails_the_folder_and_what_is_kept_are_whole(self):
        self.check_each_change_of_a_name(errno.EIO)

    def test_where_folders_cannot_be_exchanged_the_remedy_is_told(self):
        self.start_with_kept_layers()
        before = sorted(os.listdir(self.folder / "layers"))
        for error in (errno.EINVAL, errno.EBUSY):
            refused = run_faulty([BLOOMGATE, "rollback", "layers"], FAULTY_CALLS, self.folder, f"renameat2 1 {error}")
            self.assertEqual(refused.status, EX_CANTCREAT)
            self.assertRegex(refused.errors, rf"{os.strerror(error)}.*put the layers of .*layers.1 into .*layers by hand")
        self.assertEqual(sorted(os.listdir(self.folder / "layers")), before)
        refused = run_faulty([BLOOMGATE, *self.KEEPING["fold"]], FAULTY_CALLS, self.folder, f"link 1 {errno.EXDEV}")
        self.assertEqual(refused.status, EX_CANTCREAT)
        self.assertRegex(refused.errors, "whose parent is on the same file system, or without --keep")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.txt", "b.txt", "layers", "layers.1"])


class SigningTest(DurabilityTest):
    """`sign` and --sign-key: whatever happens, the file is the old one or one that is signed."""

    SIGN = ["sign", "--key", "key", "a"]
    SIGNING = {"sign": SIGN, "merge": ["merge", "--sign-key", "key", "a", "b"],
               "export": ["export", "--threads", "1", "--sign-key", "key", "counting"]}  # fmt: skip

    def is_signed(self):
        public = subprocess.run([BLOOMGATE, "sign", "--public-key", "key"], cwd=lists().name, check=True,
                                capture_output=True, text=True, timeout=60).stdout.strip()  # fmt: skip
        done = subprocess.run([BLOOMGATE, "verify", self.folder / "filter", "--trusted-key", public], capture_output=True,
                              text=True, timeout=60)  # fmt: skip
        return done.returncode == 0

    def test_the_signature_is_on_the_disk_before_the_file_has_its_name(self):
        for name, arguments in self.SIGNING.items():
            with self.subTest(command=name):
                result = self.check_sound(arguments)
                self.assertTrue(self.is_signed())
                calls = [call for call in result.calls if call.name in ("pwrite", "fsync", "rename")]
                signature = max(i for i, call in enumerate(calls) if call.name == "pwrite")
                self.assertEqual((calls[signature].offset, calls[signature].bytes), (0, 4096))
                self.assertEqual([call.name for call in calls[signature + 1 :]], ["fsync", "rename", "fsync"])

    def check_each_call(self, fault):
        for name, arguments in self.SIGNING.items():
            sound = self.check_sound(arguments)
            for call in ("pwrite", "pread", "fsync", "ftruncate", "fchmod", "rename"):
                for number in range(1, len(sound.of(call)) + 1):
                    with self.subTest(command=name, call=call, number=number):
                        result = self.run_faulty(arguments, f"{call} {number} {fault}")
                        if result.written != OLD:
                            self.assertEqual(result.written, sound.written)
                            self.assertTrue(self.is_signed())
                        if fault != "kill":
                            self.assertEqual(result.names, ["filter"])

    def test_whichever_call_fails_the_old_file_is_there_or_the_signed_one(self):
        self.check_each_call(errno.EIO)

    def test_killed_at_any_call_it_leaves_the_old_file_or_the_signed_one(self):
        self.check_each_call("kill")

    def test_a_signature_that_is_lost_or_changed_on_its_way_is_found_before_the_file_gets_its_name(self):
        last = len(self.check_sound(self.SIGN).of("pwrite"))
        for fault in ("lost", "flipped"):
            result = self.run_faulty(self.SIGN, f"pwrite {last} {fault}")
            self.check_failed(result, EX_DATAERR, "is not what was written there")
            self.assertEqual(result.of("rename"), [])


class NewKeyTest(DurabilityTest):
    """`sign --new-key`: a key whose public half was printed is on the disk, and half a key is nowhere."""

    def new_key(self, fault=""):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        run = run_faulty([BLOOMGATE, "sign", "--new-key", "new.key"], FAULTY_CALLS, self.folder, fault)
        return run, os.listdir(self.folder)

    def test_a_key_is_on_the_disk_before_its_public_half_is_told(self):
        run, names = self.new_key()
        self.assertEqual((run.status, names), (0, ["new.key"]), run.errors)
        calls = [call for call in run.calls if call.name in ("pwrite", "fsync")]
        key = str(self.folder / "new.key")
        self.assertEqual([(call.name, call.path) for call in calls],
                         [("pwrite", key), ("fsync", key), ("fsync", str(self.folder))])  # fmt: skip

    def test_whichever_call_fails_no_key_is_told_or_left(self):
        for fault in (f"open 1 {errno.EACCES}", f"pwrite 1 {errno.ENOSPC}", "pwrite 1 end", f"fsync 1 {errno.EIO}",
                      f"fsync 2 {errno.EIO}"):  # fmt: skip
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


class FailureTest(DurabilityTest):
    # In which a failure is no fault of the file: where another way is taken, or after the rename.
    HARMLESS = {"unlink"}

    def test_whichever_call_fails_the_old_file_is_whole_or_the_new_one_is(self):
        for name, arguments in COMMANDS.items():
            sound = self.check_sound(arguments)
            for call in sorted({call.name for call in sound.calls} - self.HARMLESS):
                for number in range(1, len(sound.of(call)) + 1):
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

    def test_calls_that_fail_from_one_on_are_never_swallowed(self):
        """A failure past the page cache may be made good within it; one of both kinds may not."""
        for name, arguments in COMMANDS.items():
            sound = self.check_sound(arguments)
            for call, status in (("pwrite", EX_CANTCREAT), ("pread", EX_IOERR), ("fsync", EX_CANTCREAT),
                                 ("rename", EX_CANTCREAT), ("ftruncate", EX_CANTCREAT),
                                 ("posix_fallocate", EX_CANTCREAT), ("fchmod", EX_CANTCREAT)):  # fmt: skip
                numbers = self.numbers_of_output(sound, call) or [1]
                for number in numbers:
                    for error in (errno.EIO, errno.ENOSPC):
                        with self.subTest(command=name, call=call, number=number, error=error):
                            result = self.run_faulty(arguments, f"{call} {number}+ {error}")
                            self.check_failed(result, status, os.strerror(error))

    def test_whichever_thread_cannot_be_started_the_build_ends_with_the_filter_or_with_the_reason(self):
        """Up to the last of them, whatever is already under way in others."""
        for name in ("build", "build in parallel"):
            sound = self.check_sound(COMMANDS[name])
            started = 0
            for number in itertools.count(1):
                result = self.run_faulty(COMMANDS[name], f"pthread_create {number} {errno.EAGAIN}")
                with self.subTest(command=name, number=number):
                    if result.status == 0:
                        self.assertEqual(result.written, sound.written)
                    else:
                        self.assertEqual(result.written, OLD)
                        self.assertIn("Resource temporarily unavailable", result.errors)
                    self.assertEqual(result.names, ["filter"])
                if len(result.of("pthread_create")) < number:
                    break
                started = number
            self.assertGreater(started, 0)

    def test_no_file_is_left_where_there_was_none(self):
        for fault in (f"pwrite 1+ {errno.EIO}", f"fsync 1 {errno.EIO}", f"rename 1 {errno.EIO}", "pwrite 1 flipped"):
            with self.subTest(fault=fault):
                result = self.run_faulty(COMMANDS["build"], fault, old=None)
                self.assertNotEqual(result.status, 0)
                self.assertEqual(result.names, [])

    def test_space_that_cannot_be_reserved_is_no_error_where_the_file_system_cannot_do_it(self):
        want = self.check_sound(COMMANDS["build"]).written
        for error in (errno.EOPNOTSUPP, errno.EINVAL):
            self.assertEqual(self.run_faulty(COMMANDS["build"], f"posix_fallocate 1 {error}").written, want)

    def test_a_name_that_is_taken_is_drawn_again(self):
        sound = self.check_sound(COMMANDS["build"])
        number = self.numbers_of_output(sound, "open")[0]
        result = self.run_faulty(COMMANDS["build"], f"open {number} {errno.EEXIST}")
        self.assertEqual(result.written, sound.written)
        names = [call.path for call in result.of("open") if self.is_of_output(call)]
        self.assertNotEqual(names[0], names[1])

    def test_an_input_that_is_cut_off_while_it_is_opened_is_told_so(self):
        for command in ("merge", "intersect"):
            for number in (1, 2):
                with self.subTest(command=command, number=number):
                    result = self.run_faulty(COMMANDS[command], f"mmap {number} cut", copy=True)
                    self.check_failed(result, EX_IOERR, "was written to, shrank or became unreadable while it was open")

    def test_a_stop_at_any_write_ends_the_command_before_the_next_and_leaves_the_old_file(self):
        allowed = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, allowed)
        os.sched_setaffinity(0, {min(allowed)})  # one thread, where a command is not told how many
        for name, arguments in COMMANDS.items():
            sound = self.check_sound(arguments)
            writes = sound.of("pwrite")
            # The last three are the tables of the two sections, and the header; from there on nothing is stopped.
            for number in range(1, len(writes) + 1):
                with self.subTest(command=name, number=number):
                    result = self.run_faulty(arguments, f"pwrite {number} terminate")
                    if number <= len(writes) - 3:
                        self.check_failed(result, 128 + signal.SIGTERM, "stopped before the filter was complete")
                        if name != "build in parallel":  # there each thread may be at a write
                            self.assertLessEqual(len(result.of("pwrite")), number + 1)
                    else:
                        self.assertEqual(result.status, 0)
                        self.assertEqual(result.written, sound.written)

    def test_a_write_that_does_nothing_is_an_error(self):
        for name, arguments in COMMANDS.items():
            sound = self.check_sound(arguments)
            for call, status, reason in (("pwrite", EX_CANTCREAT, "No space"), ("pread", EX_IOERR, "Input/output")):
                for number in self.numbers_of_output(sound, call):
                    with self.subTest(command=name, call=call, number=number):
                        self.check_failed(self.run_faulty(arguments, f"{call} {number}+ end"), status, reason)

    def test_short_and_interrupted_calls_are_gone_on_with(self):
        for name, arguments in COMMANDS.items():
            want = self.check_sound(arguments).written
            for call in ("pwrite", "pread"):
                for fault in ("1+ short", "2+ short", "1+ interrupted", "2+ interrupted"):
                    with self.subTest(command=name, call=call, fault=fault):
                        result = self.run_faulty(arguments, f"{call} {fault}")
                        self.assertEqual(result.status, 0, result.errors)
                        self.assertEqual(result.written, want)


class KeepTest(DurabilityTest):
    def test_whatever_name_cannot_be_given_the_filter_in_use_is_the_old_one(self):
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
        run = run_faulty([BLOOMGATE, "rollback", str(self.folder / "filter")], FAULTY_CALLS, self.folder, fault)
        found = {name: (self.folder / name).read_bytes() for name in os.listdir(self.folder)}
        return run, filters, found

    def test_where_the_file_system_cannot_exchange_two_names_links_do_it(self):
        for number in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
            run, filters, found = self.roll_back(f"renameat2 1 {number}")
            self.assertEqual(run.status, 0, run.errors)
            self.assertEqual(len(run.of("link")), 1)
            self.assertEqual(found, {"filter": filters["filter.1"], "filter.1": filters["filter"]})

    def test_names_that_cannot_be_exchanged_stay(self):
        run, filters, found = self.roll_back(f"renameat2 1 {errno.EIO}")
        self.assertEqual(run.status, EX_CANTCREAT, run.errors)
        self.assertIn("Input/output error", run.errors)
        self.assertEqual(found, filters)


class Pairs(DurabilityTest):
    """A filter and its store, of which only one can get its name at a time: what the tests of these have in common."""

    OLD_PAIR = ["build", "-o", "filter", "--store", "filter.store", "--seed", "1", "--threads", "1", "a.txt"]
    NEW_PAIR = ["-o", "filter", "--store", "filter.store", "--seed", "2", "--threads", "1"]
    NEW_PAIRS = {"build": ["build", *NEW_PAIR, "b.txt"],
                 "update": ["update", *NEW_PAIR, "--add", "b.txt", "--remove", "gone.txt"]}  # fmt: skip

    def setUp(self):
        super().setUp()
        self.folder.mkdir()
        for path in pathlib.Path(lists().name).glob("?.txt"):
            os.link(path, self.folder / path.name)
        a, b = ((self.folder / name).read_text().splitlines() for name in ("a.txt", "b.txt"))
        (self.folder / "gone.txt").write_text("".join(f"{line}\n" for line in sorted(set(a) - set(b))))
        self.build(self.OLD_PAIR)
        self.old = [(self.folder / name).read_bytes() for name in ("filter", "filter.store")]

    def build(self, arguments, fault=""):
        return run_faulty([BLOOMGATE, *arguments], FAULTY_CALLS, self.folder, fault)

    def start_again(self):
        for path in self.folder.glob("*filter*"):
            path.unlink()
        for name, content in zip(("filter", "filter.store"), self.old):
            (self.folder / name).write_bytes(content)

    def check_pair(self):
        """There is a pair, which has the entries of one of the lists, all of them and no other. Returns its list."""
        member = {"a": "user1@example.org", "b": "user5999@example.org"}
        listed = []
        for name, address in member.items():
            result = subprocess.run([BLOOMGATE, "query", "filter", "--confirm", "filter.store", address], cwd=self.folder,
                                    capture_output=True, timeout=60)  # fmt: skip
            self.assertIn(result.returncode, (0, 1), result.stderr)
            listed += [name] if result.returncode == 0 else []
        self.assertEqual(len(listed), 1)
        verify = subprocess.run([BLOOMGATE, "verify", "filter", "--confirm", "filter.store", "--against", f"{listed[0]}.txt"],
                                cwd=self.folder, capture_output=True, timeout=60)  # fmt: skip
        self.assertEqual(verify.returncode, 0, verify.stderr)
        return listed[0]


class PairTest(Pairs):
    CALLS = ("fsync", "rename")  # between which the names change

    def check_each_call(self, fault):
        for command, arguments in self.NEW_PAIRS.items():
            with self.subTest(command=command):
                self.start_again()
                self.check_each_call_of(arguments, fault)

    def check_each_call_of(self, arguments, fault):
        sound = self.build(arguments)
        self.assertEqual(sound.status, 0, sound.errors)
        ends = set()
        for name in self.CALLS:
            self.assertNotEqual(sound.of(name), [])
            for number in range(1, len(sound.of(name)) + 1):
                with self.subTest(call=name, number=number):
                    self.start_again()
                    result = self.build(arguments, f"{name} {number} {fault}")
                    listed = self.check_pair()
                    if result.status == 0:
                        self.assertEqual(listed, "b")
                    ends.add(listed)
                    # Whatever was left, the next build goes on from there, and tidies up.
                    again = self.build(arguments)
                    self.assertEqual(again.status, 0, again.errors)
                    self.assertEqual(self.check_pair(), "b")
                    self.assertEqual(sorted(path.name for path in self.folder.glob("*filter*")), ["filter", "filter.store"])
        self.assertEqual(ends, {"a", "b"})

    def test_killed_at_any_call_a_build_or_an_update_leaves_the_old_pair_or_the_new_one(self):
        self.check_each_call("kill")

    def test_a_pair_that_was_left_half_replaced_stays_one_whenever_the_next_build_is_killed(self):
        self.assertEqual(self.build(self.NEW_PAIRS["build"]).status, 0)
        filter_, store = ((self.folder / name).read_bytes() for name in ("filter", "filter.store"))

        def leave_half_replaced():
            self.start_again()
            (self.folder / "filter").write_bytes(filter_)
            (self.folder / "filter.store.next").write_bytes(store)

        leave_half_replaced()
        self.assertEqual(self.check_pair(), "b")
        sound = self.build(self.OLD_PAIR)
        self.assertEqual(self.check_pair(), "a")
        for name in self.CALLS:
            for number in range(1, len(sound.of(name)) + 1):
                with self.subTest(call=name, number=number):
                    leave_half_replaced()
                    self.build(self.OLD_PAIR, f"{name} {number} kill")
                    self.check_pair()

    def test_whichever_call_fails_there_is_the_old_pair_or_the_new_one(self):
        self.check_each_call(errno.EIO)


class KeptPairTest(Pairs):
    """Pairs that stay under further names, and come back."""

    KEEPING = {"build": ["build", "--keep", "1", *Pairs.NEW_PAIR, "b.txt"],
               "update": ["update", "--keep", "1", *Pairs.NEW_PAIR, "--add", "b.txt", "--remove", "gone.txt"],
               "rollback": ["rollback", "filter", "--store", "filter.store"]}  # fmt: skip
    NAMES = ("rename", "link", "renameat2", "unlink")

    def start_with(self, command):
        """The pair of the list `a`, and where one is to be put back, that of `b` beside it."""
        self.start_again()
        if command == "rollback":
            for name, content in zip(("filter.1", "filter.store.1"), self.new):
                (self.folder / name).write_bytes(content)

    def check_kept(self):
        """No kept filter has lost its store."""
        places = [path.name for path in self.folder.glob("filter.store*")]
        for filter_ in self.folder.glob("filter.[0-9]"):
            asked = (subprocess.run([BLOOMGATE, "query", filter_.name, "--confirm", place, "x@example.org"],
                                    cwd=self.folder, capture_output=True, timeout=60) for place in places)  # fmt: skip
            self.assertTrue(any(each.returncode in (0, 1) for each in asked), (filter_, places))

    def check_each_call_of(self, arguments, fault):
        command = arguments[0]
        self.start_with(command)
        sound = self.build(arguments)
        self.assertEqual(sound.status, 0, sound.errors)
        ends = set()
        # Between two changes of names nothing is written that a kill could cut; but whatever fails is reported.
        names = self.NAMES if fault == "kill" else ("fsync", *self.NAMES)
        calls = [(name, number) for name in names for number in range(1, len(sound.of(name)) + 1)]
        self.assertIn("link", [name for name, _ in calls])
        for name, number in calls:
            with self.subTest(call=name, number=number):
                self.start_with(command)
                self.build(arguments, f"{name} {number} {fault}")
                before = self.check_pair()
                ends.add(before)
                self.check_kept()
                if fault != "kill":
                    continue
                # Whatever was left, a build goes on from there, and what it replaces can be put back.
                again = self.build(self.KEEPING["build"])
                self.assertEqual(again.status, 0, again.errors)
                self.assertEqual(self.build(self.KEEPING["rollback"]).status, 0)
                self.assertEqual(self.check_pair(), before)
        self.assertEqual(ends, {"a", "b"})

    def check_each_call(self, fault):
        self.start_again()
        self.assertEqual(self.build(self.NEW_PAIRS["build"]).status, 0)
        self.new = [(self.folder / name).read_bytes() for name in ("filter", "filter.store")]
        for command, arguments in self.KEEPING.items():
            with self.subTest(command=command):
                self.check_each_call_of(arguments, fault)

    def test_killed_at_any_call_a_pair_is_in_place_and_no_kept_one_is_parted(self):
        self.check_each_call("kill")

    def test_whichever_call_fails_a_pair_is_in_place_and_no_kept_one_is_parted(self):
        self.check_each_call(errno.EIO)

    def test_a_disk_that_is_full_from_some_write_on_leaves_the_old_pair_alone(self):
        for command, arguments in self.NEW_PAIRS.items():
            self.start_again()
            writes = len(self.build(arguments).of("pwrite"))
            for number in (1, writes // 2, writes):
                with self.subTest(command=command, number=number):
                    self.start_again()
                    result = self.build(arguments, f"pwrite {number}+ {errno.ENOSPC}")
                    self.assertEqual(result.status, EX_CANTCREAT, result.errors)
                    self.assertEqual(self.check_pair(), "a")
                    self.assertEqual(sorted(path.name for path in self.folder.glob("*filter*")), ["filter", "filter.store"])


class ReadBackTest(DurabilityTest):
    def test_whatever_write_is_lost_or_changed_is_found_before_the_file_gets_its_name(self):
        for name, arguments in COMMANDS.items():
            for number in range(1, len(self.check_sound(arguments).of("pwrite")) + 1):
                for fault in ("lost", "flipped"):
                    with self.subTest(command=name, number=number, fault=fault):
                        result = self.run_faulty(arguments, f"pwrite {number} {fault}")
                        self.check_failed(result, EX_DATAERR, r"the data at offset \d+ is not what was written there")
                        self.assertEqual(result.of("rename"), [])
                        offset = int(re.search(r"at offset (\d+)", result.errors)[1])
                        self.assertLessEqual(abs(result.of("pwrite")[number - 1].offset - offset), 2**20)

    def test_what_is_read_back_wrong_is_not_renamed(self):
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

    def test_what_is_wrong_in_such_a_mib_ends_the_build_before_all_is_written(self):
        for fault in ("pread {} flipped".format(self.number_of_first_read()), "pwrite 1 flipped", "pwrite 2 lost"):
            with self.subTest(fault=fault):
                result = self.run_faulty(self.LARGE, fault)
                self.check_failed(result, EX_DATAERR, "is not what was written there")
                self.assertEqual([call for call in result.of("fsync") if self.is_of_output(call)], [])

    def number_of_first_read(self):
        reads = self.check_sound(self.LARGE).of("pread")
        return next(i for i, call in enumerate(reads, 1) if self.is_of_output(call) and call.bytes == self.MIB)


class SpillTest(DurabilityTest):
    """Hashes that do not fit into memory go through a file without a name."""

    def is_of_spill(self, call):
        return "/scratch" in call.path

    def test_an_error_of_that_file_fails_the_build(self):
        sound = self.check_sound(SPILLED)
        for call, status in (("pwrite", EX_CANTCREAT), ("pread", EX_IOERR)):
            calls = sound.of(call)
            of_spill = [i + 1 for i, each in enumerate(calls) if self.is_of_spill(each)]
            self.assertGreater(len(of_spill), 2)
            for number in {of_spill[0], of_spill[len(of_spill) // 2], of_spill[-1]}:
                for fault, reason in ((errno.ENOSPC, "No space left"), (errno.EIO, "Input/output error"), ("end", "")):
                    with self.subTest(call=call, number=number, fault=fault):
                        result = self.run_faulty(SPILLED, f"{call} {number} {fault}")
                        self.check_failed(result, status, f"in scratch: .*{reason}")
        opened = [i + 1 for i, each in enumerate(sound.of("open")) if self.is_of_spill(each)]
        self.assertEqual(len(opened), 2)  # one for addresses, one for domain entries
        for number in opened:
            result = self.run_faulty(SPILLED, f"open {number} {errno.EACCES}")
            self.check_failed(result, EX_CANTCREAT, "create a temporary file in scratch: Permission denied")

    def test_short_and_interrupted_calls_change_nothing(self):
        want = self.check_sound(SPILLED).written
        for fault in ("pwrite 1+ short", "pread 1+ short", "pwrite 1+ interrupted", "pread 1+ interrupted"):
            with self.subTest(fault=fault):
                self.assertEqual(self.run_faulty(SPILLED, fault).written, want)


if __name__ == "__main__":
    BLOOMGATE = os.path.abspath(sys.argv.pop(1))
    FAULTY_CALLS = os.path.abspath(sys.argv.pop(1))
    unittest.main(failfast="BLOOMGATE_FAULT" in os.environ)  # tests/mutation only asks whether it fails
