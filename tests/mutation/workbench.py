"""A private copy of the sources with a build folder of its own, in which faults are tried."""

import contextlib
import fcntl
import itertools
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from parsed import ENCODING
from weave import PLACES, VARIABLE, weave

ROOT = Path(__file__).resolve().parents[2]
# A test that passes within its own time, and this, has not hung.
PATIENCE_SECONDS = 20
PATIENCE_FACTOR = 5
MAY_USE_BYTES = 12 << 30  # of address space, of which the tests of the builder ask for more than 8 GiB
# From nothing, on a busy machine.
BUILD_SECONDS = 3600
# In memory where that can be: no test waits for a disk.
TEMPORARY = "/dev/shm" if os.access("/dev/shm", os.W_OK | os.X_OK) else None


class BuildError(Exception):
    """What is unchanged does not build or does not pass; the text is the end of what was printed."""


# Those that run now. Each leads a group, so that whatever it has started ends with it.
running = set()


def end_all():
    for leader in list(running):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(leader, signal.SIGKILL)


def run(command, seconds, output: Path, folder: Path, environment=None, may_use_bytes=MAY_USE_BYTES):
    """The exit status, None where it took longer; whatever it has started ends with it."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (may_use_bytes, may_use_bytes))

    with output.open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd=folder,
                                   env=environment, start_new_session=True, preexec_fn=limits)
        running.add(process.pid)
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            running.discard(process.pid)


class Workbench:
    """One of the copies: the first that no other run has. `preset`: release or tsan."""

    def __init__(self, all_of_them: Path, preset="release"):
        self.preset = preset
        for number in itertools.count(1):
            self.folder = all_of_them / str(number)
            self.folder.mkdir(parents=True, exist_ok=True)
            self.lock = (self.folder / "lock").open("w")
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                self.lock.close()
        # As deep in the sources as that of the usual build, so that both give the compiler the same paths.
        self.source, self.build = self.folder / "source", self.folder / "source/build" / preset
        self.seconds = {}  # what each test takes on unchanged code
        self.one_at_a_time = threading.Lock()
        self.environment = os.environ | {
            # What one copy has compiled is in the cache for the other.
            "CCACHE_BASEDIR": str(self.folder), "CCACHE_NOHASHDIR": "1", "NINJA_STATUS": "",
            # GLib hands on pieces of memory in a way that ThreadSanitizer does not see.
            "TSAN_OPTIONS": "halt_on_error=1", "G_SLICE": "always-malloc"}

    def copy_sources(self, woven=None):
        """Every file that git knows or would, those of `woven` with that text. One that is the same is left as it is,
        so that nothing is built twice."""
        woven = woven or {}
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                                check=True, capture_output=True).stdout.decode().split("\0")
        names = {name for name in listed if name and (ROOT / name).is_file()}
        for name in names:
            self.write(name, woven[name].encode(ENCODING) if name in woven else (ROOT / name).read_bytes())
            shutil.copymode(ROOT / name, self.source / name)
        for old in [path for path in self.source.rglob("*") if path.is_file()]:
            if str(old.relative_to(self.source)) not in names and not old.is_relative_to(self.source / "build"):
                old.unlink()
        if not (self.build / "build.ninja").exists():
            self.configure()

    def write(self, name, content: bytes):
        there = self.source / name
        if not there.is_file() or there.read_bytes() != content:
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(content)

    def configure(self):
        # What takes its time after each link, the linking itself and a list of the cases, is left out or made quick. A
        # file with faults is compiled with flags of its own (`compile`), so each file is compiled by itself.
        linker = "-Wl,--strip-debug" + (" -fuse-ld=lld" if shutil.which("ld.lld") else "")
        status = run(["cmake", "--preset", self.preset, f"-DCMAKE_EXE_LINKER_FLAGS={linker}",
                      f"-DCMAKE_CXX_COMPILER_LAUNCHER={Path(__file__).resolve().parent / 'compile'}",
                      # One file at a time is woven and compiled anew.
                      "-DBLOOMGATE_UNITY=1", "-DBLOOMGATE_PRECOMPILED_HEADERS=OFF",
                      "-DCMAKE_CATCH_DISCOVER_TESTS_DISCOVERY_MODE=PRE_TEST"],
                     BUILD_SECONDS, self.output(), self.source, self.environment)
        if status != 0:
            raise BuildError(f"cmake failed:\n{self.last_lines()}")

    def compile(self, tests):
        targets = dict.fromkeys(target for test in tests for target in test.targets)
        # All that is wrong at once.
        return run(["ninja", "-C", self.build, "-j2", "-k0", *targets], BUILD_SECONDS, self.output(), self.folder,
                   self.environment) == 0

    def output(self):
        return self.folder / f"output-{threading.get_ident()}.log"

    def last_lines(self, count=25):
        return "\n".join(self.output().read_text(errors="replace").splitlines()[-count:])

    def errors(self, count=25):
        """Of the compiler, which what else was built has moved out of the last lines."""
        lines = [line for line in self.output().read_text(errors="replace").splitlines() if "error:" in line]
        return "\n".join(lines[:count]) or self.last_lines()

    def launcher(self):
        # ThreadSanitizer does not start where the kernel spreads addresses widely.
        return ["setarch", "--addr-no-randomize"] if self.preset == "tsan" else []

    def command_of(self, test):
        if not test.program:
            return [*self.launcher(), "ctest", "--test-dir", self.build, "--no-tests=error", "--output-on-failure",
                    "--stop-on-failure", "-R", test.pattern]
        for built in self.build.glob(f"tests/**/{test.program}"):
            only = ",".join(f"[#{name}]" for name in test.only)
            return [*self.launcher(), built, "--abort", *(["-#", only] if only else [])]
        raise BuildError(f"there is no test program '{test.program}'")

    def run_test(self, test, seconds, number=0):
        with tempfile.TemporaryDirectory(dir=TEMPORARY, prefix="bloomgate-mutation-",
                                         ignore_cleanup_errors=True) as temporary:
            # A test that gives up its rights must still reach its files.
            Path(temporary).chmod(0o755)
            environment = self.environment | {"TMPDIR": temporary, VARIABLE: str(number)}
            # ThreadSanitizer's own memory has addresses far apart.
            may_use_bytes = resource.RLIM_INFINITY if self.preset == "tsan" else MAY_USE_BYTES
            return run(self.command_of(test), seconds, self.output(), self.folder, environment, may_use_bytes)

    def build_woven(self, faults: dict):
        """Builds the tests of these faults, by their numbers, with all of the faults in one build. Returns the
        numbers of those that do not compile."""
        tests = list(dict.fromkeys(test for fault in faults.values() for test in fault.tests))
        wrong = set()
        while True:
            sources = {}
            for name in dict.fromkeys(fault.file for fault in faults.values()):
                of_file = {number: fault for number, fault in faults.items()
                           if fault.file == name and number not in wrong}
                sources[name] = weave((ROOT / name).read_bytes().decode(ENCODING), of_file, name)
            self.copy_sources(sources)
            if self.compile(tests):
                return wrong
            found = {int(number) for number in PLACES.findall(self.output().read_text(errors="replace"))} - wrong
            if not found:
                raise BuildError(f"unchanged code does not build:\n{self.errors()}")
            wrong |= found

    def seconds_of(self, test):
        """On unchanged code, where it must pass."""
        with self.one_at_a_time:
            if test not in self.seconds:
                started = time.monotonic()
                if self.run_test(test, BUILD_SECONDS) != 0:
                    raise BuildError(f"{test} does not pass on unchanged code:\n{self.last_lines()}")
                self.seconds[test] = time.monotonic() - started
            return self.seconds[test]

    def try_tests(self, fault, number=0):
        """'noticed', 'hung' or 'unseen', and by which case."""
        for test in fault.tests:
            status = self.run_test(test, PATIENCE_SECONDS + PATIENCE_FACTOR * self.seconds_of(test), number)
            if status is None:
                return "hung", str(test)
            if status != 0:
                return "noticed", self.noticing_case(test)
        return "unseen", "; ".join(map(str, fault.tests))

    def noticing_case(self, test):
        """The case that failed, as Catch prints it between two rules."""
        lines = self.output().read_text(errors="replace").splitlines()
        for rule, name in zip(lines, lines[1:]):
            if rule.startswith("-----") and name and not name.startswith("-----"):
                return name.strip()
        return str(test)
