"""A private copy of the sources with a build folder of its own, in which one fault at a time is tried."""

import fcntl
import itertools
import os
import resource
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from fault_list import ROOT

# A test that passes within its own time, and this, has not hung.
PATIENCE_SECONDS = 20
PATIENCE_FACTOR = 5
MAY_USE_BYTES = 8 << 30
BUILD_SECONDS = 900


class BuildError(Exception):
    """What is unchanged does not build or does not pass; the text is the end of what was printed."""


def run(command, seconds, output: Path, folder: Path, environment=None):
    """The exit status, None where it took longer; whatever it has started ends with it."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MAY_USE_BYTES, MAY_USE_BYTES))

    with output.open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd=folder,
                                   env=environment, start_new_session=True, preexec_fn=limits)
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


class Workbench:
    """One of the copies: the first that no other run has; used by one thread at a time."""

    def __init__(self, all_of_them: Path, jobs: int):
        for number in itertools.count(1):
            self.folder, self.jobs = all_of_them / str(number), jobs
            self.folder.mkdir(parents=True, exist_ok=True)
            self.lock = (self.folder / "lock").open("w")
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                self.lock.close()
        folder = self.folder
        self.source, self.build = folder / "source", folder / "build"
        self.output = folder / "output.log"
        self.seconds = {}  # what each test takes on unchanged code
        self.environment = os.environ | {
            # What one copy has compiled is in the cache for the other.
            "CCACHE_BASEDIR": str(folder), "CCACHE_NOHASHDIR": "1", "NINJA_STATUS": ""}

    def prepare(self, tests):
        """Brings the copy up to date, builds what the tests need, and sees each of them pass."""
        self.copy_sources()
        if not (self.build / "build.ninja").exists():
            self.configure()
        for test in tests:
            if self.compile(test.targets) != 0:
                raise BuildError(f"{test} does not build on unchanged code:\n{self.last_lines()}")
        for test in tests:
            started = time.monotonic()
            if self.run_test(test, BUILD_SECONDS) != 0:
                raise BuildError(f"{test} does not pass on unchanged code:\n{self.last_lines()}")
            self.seconds[test] = time.monotonic() - started

    def copy_sources(self):
        """Every file that git knows or would; one that is the same is left as it is, so that nothing is built twice."""
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                                check=True, capture_output=True).stdout.decode().split("\0")
        names = {name for name in listed if name and (ROOT / name).is_file()}
        for name in names:
            self.copy_file(name)
        for old in [path for path in self.source.rglob("*") if path.is_file()]:
            if str(old.relative_to(self.source)) not in names:
                old.unlink()

    def copy_file(self, name):
        wanted, there = ROOT / name, self.source / name
        if not there.is_file() or there.read_bytes() != wanted.read_bytes():
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(wanted, there)
            shutil.copymode(wanted, there)

    def configure(self):
        # Warnings are errors: a fault that leaves a variable unused must be compiled all the same. What takes its time
        # after each link, the linking itself and a list of the cases, is left out or made quick.
        linker = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld"] if shutil.which("ld.lld") else []
        status = run(["cmake", "-G", "Ninja", "-S", self.source, "-B", self.build, "-DCMAKE_BUILD_TYPE=",
                      "-DCMAKE_CXX_COMPILER=g++", "-DCMAKE_CXX_FLAGS=-O0 -w -D_GLIBCXX_ASSERTIONS",
                      "-DCMAKE_CATCH_DISCOVER_TESTS_DISCOVERY_MODE=PRE_TEST", *linker],
                     BUILD_SECONDS, self.output, self.folder, self.environment)
        if status != 0:
            raise BuildError(f"cmake failed:\n{self.last_lines()}")

    def compile(self, targets):
        return run(["ninja", "-C", self.build, f"-j{self.jobs}", *targets], BUILD_SECONDS, self.output, self.folder,
                   self.environment)

    def last_lines(self, count=25):
        return "\n".join(self.output.read_text(errors="replace").splitlines()[-count:])

    def command_of(self, test):
        if not test.program:
            return ["ctest", "--test-dir", self.build, "--no-tests=error", "--output-on-failure", "-j", str(self.jobs),
                    "-R", test.pattern]
        for built in self.build.glob(f"tests/**/{test.program}"):
            # With the file of each case as a tag, so that a list can name a file of tests: [#alignment_test].
            return [built, "--abort", "--warn", "NoTests", "--filenames-as-tags", *([test.pattern] if test.pattern else [])]
        raise BuildError(f"there is no test program '{test.program}'")

    def run_test(self, test, seconds):
        with tempfile.TemporaryDirectory(prefix="bloomgate-mutation-", ignore_cleanup_errors=True) as temporary:
            return run(self.command_of(test), seconds, self.output, self.folder, self.environment | {"TMPDIR": temporary})

    def attempt(self, fault):
        """'noticed', 'unseen', 'hung' or 'does not compile'; and by which test, or the compiler's last words."""
        changed = self.source / fault.file
        original = changed.read_text(encoding="utf-8")
        changed.write_text(fault.apply(original), encoding="utf-8")
        try:
            for test in fault.tests:
                if self.compile(test.targets) != 0:
                    return "does not compile", self.last_lines()
                status = self.run_test(test, PATIENCE_SECONDS + PATIENCE_FACTOR * self.seconds[test])
                if status is None:
                    return "hung", str(test)
                if status != 0:
                    return "noticed", self.noticing_case(test)
            return "unseen", shlex.join(map(str, fault.tests))
        finally:
            changed.write_text(original, encoding="utf-8")

    def noticing_case(self, test):
        """The case that failed, as Catch prints it between two rules."""
        lines = self.output.read_text(errors="replace").splitlines()
        for rule, name in zip(lines, lines[1:]):
            if rule.startswith("-----") and name and not name.startswith("-----"):
                return name.strip()
        return str(test)
