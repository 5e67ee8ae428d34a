"""What the tests of the program `bloomgate` share: a folder for each test, and the program run in it.

usage of each test: FILE_test.py PATH-OF-BLOOMGATE [unittest arguments]
"""
import contextlib
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "support"))

from some_of import TAKES_ALL, some_of  # noqa: E402,F401
from timely import TimelyTestCase  # noqa: E402

BLOOMGATE = os.path.abspath(sys.argv.pop(1))
# A sanitized program takes ten times as long, and finds in one seed or hash family what it finds in another.
IS_SANITIZED = bool(os.environ.get("BLOOMGATE_SANITIZE"))
KILLS = int(os.environ.get("BLOOMGATE_KILLS", 20))  # of the program by a test; scripts/test --all: 500, or 60 with a sanitizer
EX_USAGE, EX_DATAERR, EX_NOINPUT, EX_CANTCREAT, EX_IOERR, EX_TEMPFAIL, EX_CONFIG = 64, 65, 66, 73, 74, 75, 78
MEANT = ("--allow-empty", "--allow-rejects", "--allow-shrink")  # see "LISTS THAT ARE REFUSED" in bloomgate(1)
REPOSITORY = pathlib.Path(__file__).resolve().parents[4]


def main():
    unittest.main(failfast="BLOOMGATE_FAULT" in os.environ)  # tests/mutation only asks whether it fails


def users(numbers):
    return "".join(f"user{i}@example.org\n" for i in numbers)


def limited(kind, most):
    """For preexec_fn: sets a limit of the process."""
    return lambda: resource.setrlimit(kind, (most, most))


def open_files_of(pid):
    """The names, without their folders, of the files that a process has open; it may open and close some meanwhile."""
    names = set()
    for descriptor in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            names.add(descriptor.readlink().name)
    return names


def read_rest(terminal):
    """What is still to be read from a terminal that no process has open any more, and closes it."""
    rest = b""
    try:
        while piece := os.read(terminal, 4096):  # one for each write, perhaps
            rest += piece
    except OSError:  # nothing is left, and the terminal is gone with its last user
        pass
    finally:
        os.close(terminal)
    return rest


class ProgramTest(TimelyTestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bloomgate-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(path)

    def read(self, name):
        return (self.folder / name).read_bytes()

    def flip(self, name, offset, bits=1):
        """Damages one byte of a file; called again, it repairs the byte."""
        data = bytearray(self.read(name))
        data[offset] ^= bits
        (self.folder / name).write_bytes(data)

    def names(self):
        return sorted(os.listdir(self.folder))

    def run_program(self, *arguments, stdin=b"", **settings):
        """The standard input is bytes or a file."""
        source = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
        program = self.open_program() if "user" in settings else BLOOMGATE
        return subprocess.run([program, *arguments], **{
            "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.folder, "timeout": 60, **source, **settings})

    def open_program(self):
        """A copy that any user may run: the build folder may be in a home that is closed to others."""
        folder = tempfile.TemporaryDirectory(prefix="bloomgate-test-")
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)
        return shutil.copy(BLOOMGATE, folder.name)

    def check(self, status, *arguments, stdin=b""):
        """Runs the program, which has to end with that status. Returns its output and its errors."""
        result = self.run_program(*arguments, stdin=stdin)
        self.assertEqual(result.returncode, status, result.stdout.decode() + result.stderr.decode())
        return result.stdout.decode(), result.stderr.decode()

    def start(self, *arguments, **settings):
        """Starts the program, whose output and errors are dropped unless `settings` say otherwise."""
        return subprocess.Popen([BLOOMGATE, *arguments], **{
            "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": self.folder, **settings})

    def start_change(self, locked, change, other):
        """Starts the command `change`, which reads a list from its standard input, and waits until it has locked that file:
        until the command `other` is refused."""
        first = self.start(*change, stdin=subprocess.PIPE)
        self.addCleanup(first.wait)
        self.addCleanup(first.stdin.close)
        deadline = time.monotonic() + 30
        while locked not in open_files_of(first.pid):
            self.assertLess(time.monotonic(), deadline)
        while "changed by another command" not in self.run_program(*other).stderr.decode():
            self.assertLess(time.monotonic(), deadline)
        return first

    def until(self, is_so, what):
        """Waits for a condition that another process makes true."""
        deadline = time.monotonic() + 60
        while not is_so():
            self.assertLess(time.monotonic(), deadline, f"waited for {what}")
            time.sleep(0.01)

    def kill_after(self, seconds, *arguments):
        """Returns whether the program had succeeded before it was killed."""
        process = self.start(*arguments)
        time.sleep(seconds)  # the moment of the kill is chosen by the caller: there is nothing to wait for
        process.kill()
        return process.wait() == 0

    def kibibytes_used_by(self, *arguments):
        """Runs the program, which has to succeed, and returns the most memory that it had."""
        process = self.start(*arguments)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return usage.ru_maxrss

    def build(self, text, *options):
        """Builds the file "filter" of that list, whatever it holds and whatever was there: it is meant."""
        # With a seed that is drawn, any stranger is a false positive now and then.
        if not {"--seed", "--seed-from"} & set(options):
            options = ("--seed", "1", *options)
        return self.check(0, "build", "-o", "filter", *MEANT, *options, self.write("list", text))

    def info(self, name="filter", *options):
        return json.loads(self.check(0, "info", name, *options, "--json")[0])

    def answers(self, *arguments):
        """The first word of each answer of `query`: listed or not-listed."""
        answers = self.run_program("query", *arguments).stdout.decode()
        return [line.split("\t")[0] for line in answers.splitlines()]
