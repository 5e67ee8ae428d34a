"""For the tests of the files that `bloomgate` leaves on the disk: commands whose calls to the file system fail or lie.

The calls are made to fail, and are recorded, by a preloaded library: see tests/support/faulty_calls.cpp.

usage of each test: FILE_test.py PATH-OF-BLOOMGATE PATH-OF-FAULTY_CALLS [unittest arguments]
"""
import functools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import typing
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))

from faulty_calls import Call, FaultyRun, run_faulty  # noqa: E402,F401
from some_of import some_of  # noqa: E402,F401
from timely import TimelyTestCase  # noqa: E402

BLOOMGATE, FAULTY_CALLS = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
EX_DATAERR, EX_NOINPUT, EX_CANTCREAT, EX_IOERR = 65, 66, 73, 74
OLD = b"\x89BLM\r\n\x1a\nthe old file"  # a filter, by its first bytes: another file is not replaced


def run_program(folder, *arguments, **settings):
    """Without faults."""
    return subprocess.run([BLOOMGATE, *arguments], cwd=folder, capture_output=True, timeout=60, **settings)


def main():
    unittest.main(failfast="BLOOMGATE_FAULT" in os.environ)  # tests/mutation only asks whether it fails


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
    "counting-export": ["counting-export", "--threads", "1", "counting"],
}
# Those that write in a way of their own, where each call of each command is tried.
SOME_COMMANDS = dict(some_of(COMMANDS.items()))
SPILLED = ["build", "--seed", "1", "--threads", "1", "--memory", "1M", "--scratch", "scratch", "--layout",
           "partitioned", "--hashes", "3", "--bits-per-entry", "32", "large.txt"]


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
        run_program(path, "build", "-o", name, "--seed", "1", "--expected-entries", "2200000", f"{name}.txt", check=True)
    run_program(path, "build", "-o", "counting", "--seed", "1", "--layout", "counting", "--expected-entries", "2200000", "a.txt",
                check=True)
    run_program(path, "sign", "--new-key", "key", check=True)
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

    def run_here(self, arguments, fault=""):
        """Runs a command in the folder as it is."""
        return run_faulty([BLOOMGATE, *arguments], FAULTY_CALLS, self.folder, fault)

    def check_sound(self, arguments):
        result = self.run_faulty(arguments)
        self.assertEqual(result.status, 0, result.errors)
        self.assertEqual(result.names, ["filter"])
        self.assertNotEqual(result.written, OLD)
        return result

    def is_reached(self, result, call, number, sound):
        """Whether the run came to that call. Two threads that write may put pieces together, and then there are fewer calls
        than in the sound run; nothing has failed."""
        if len(result.of(call)) >= number:
            return True
        self.assertEqual((result.status, result.written), (0, sound.written), result.errors)
        return False

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
