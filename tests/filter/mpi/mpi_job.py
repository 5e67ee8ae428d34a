"""What the tests of bloomgate-mpi share: a folder, lists, and jobs that mpirun starts.

The tests take BLOOMGATE BLOOMGATE_MPI as their first arguments.
"""
import functools
import gzip
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))

from some_of import TAKES_ALL, some_of  # noqa: E402,F401

BLOOMGATE, BLOOMGATE_MPI = map(os.path.abspath, sys.argv[1:3])
# A filter and a store, by their first bytes: another file is not replaced.
OLD, OLD_STORE = b"\x89BLM\r\n\x1a\nthe old one", b"\x89BLS\r\n\x1a\nthe old one"
MEANT = ("--allow-empty", "--allow-rejects", "--allow-shrink")  # see "LISTS THAT ARE REFUSED" in bloomgate(1)
SECONDS = 30 if "BLOOMGATE_FAULT" in os.environ else 120  # that a run may take; a fault of tests/mutation may hang it

# One machine, its processors shared as may be, nothing on its network, and no memory of another process read, which
# containers forbid. Debian 12 has Open MPI 4, Debian 13 has 5, which starts its ranks by PRRTE.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_plm": "isolated", "OMPI_MCA_btl": "self,vader",
               "OMPI_MCA_oob_tcp_if_include": "lo", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
               "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_sm_segment_size": "4194304",
               "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


def numbers_of_ranks(*numbers):
    """The last one alone, unless all are taken: mpirun needs longer for a job than the job."""
    return numbers if TAKES_ALL else numbers[-1:]


def mpirun(*options):
    """The command that starts ranks."""
    return ["mpirun", "--bind-to", "none", *quietly(), *map(str, options)]


def mpirun_each(*commands):
    """The command that starts a rank for each of them. mpirun's own way, with colons, ends in a crash of version 5.0.7
    where a rank ends the job."""
    choose = 'shift "$OMPI_COMM_WORLD_RANK"; eval "exec $1"'
    return [*mpirun("-n", len(commands)), "sh", "-c", choose, "sh", *(shlex.join(map(str, each)) for each in commands)]


def inside(folder):
    """What runs a command in that folder, when put before it."""
    return ["sh", "-c", 'cd "$1"; shift; exec "$@"', "sh", folder]


def with_files_of(blocks):
    """What runs a command that may make no file of more than so many blocks of 512 bytes."""
    return ["sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh"]


@functools.cache
def quietly():
    """What keeps mpirun from telling more than the ranks do. From version 5 on it has no such option."""
    version = subprocess.check_output(["mpirun", "--version"], text=True, env=ENVIRONMENT)
    return ["-q"] if re.search(r"\(Open MPI\) [1-4]\.", version) else []


class MpiTest(unittest.TestCase):
    """Base of the tests."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bloomgate-mpi-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.output = self.folder / "whitelist.bloom"

    def run_command(self, command, status=None):
        """Runs the command, which has to end with that status (None: with any)."""
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=SECONDS, env=ENVIRONMENT,
                              check=False)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def build(self, ranks, *arguments, output=None, status=0):
        return self.run_command([*mpirun("-n", ranks), BLOOMGATE_MPI, "build", "--threads", 2, *MEANT, "--output",
                                 output or self.output, *arguments], status)

    def reference(self, *arguments):
        """What one machine makes, and what it says on standard error."""
        path = self.folder / "one.bloom"
        done = self.run_command([BLOOMGATE, "build", *MEANT, "--output", path, *arguments], status=0)
        return path.read_bytes(), done.stderr

    def verify(self, *arguments):
        self.run_command([BLOOMGATE, "verify", *arguments], 0)

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text)
        return path

    def addresses(self, name, count, first=0, end=b"\n"):
        return self.write(name, b"".join(b"User%d@example%d.org" % (i, i % 97) + end for i in range(first, first + count)))

    def some_lists(self):
        """Of every kind, and none that divides evenly by two or three."""
        pairs = b"".join(b"friend%d@example.net > user%d@ours.example\n" % (i, i % 31) for i in range(50_001))
        compressed = gzip.compress(b"".join(b"z%d@example.org\n" % i for i in range(10_007)))
        return [self.addresses("many.txt", 200_003), self.addresses("crlf.txt", 70_001, 150_000, b"\r\n"),
                self.write("pairs.txt", pairs), self.write("packed.txt.gz", compressed), self.write("empty.txt", b""),
                self.write("one.txt", b"only@example.org"),
                self.write("domains.txt", b"@corp.example\n@.big.example\n@corp.example\n@x.example > ann@ours.example\n"),
                self.write("mixed.txt", b"".join(b"m%d@example.org\n@d%d.example\n" % (i, i * 7 % 501) for i in range(120_000))),
                self.write("long.txt", b"x" * 600_000 + b"@example.org\nshort@example.org\n")]

    def ranks(self):
        """The processes of the job that makes the output, with their environments."""
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                command = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
                environment = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
            except OSError:
                continue
            if command[0] == BLOOMGATE_MPI.encode() and str(self.output).encode() in command:
                yield int(process), environment

    def await_rank(self, job, rank):
        """The process that is this rank of the job."""
        wanted = b"OMPI_COMM_WORLD_RANK=" + rank.encode()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and job.poll() is None:
            for process, environment in self.ranks():
                if wanted in environment:
                    return process
        return self.fail(f"rank {rank} did not start")

    def await_end(self, job):
        """What a job said of which a rank was killed. The libraries of mpirun may wait for themselves at its very end
        (PMIx 4.2 of Debian 12, in pmix_rte_finalize): what is left of it then has no rank, and is ended."""
        end = time.monotonic() + SECONDS
        idle_since = None
        while True:
            try:
                return job.communicate(timeout=1)[0]
            except subprocess.TimeoutExpired:
                now = time.monotonic()
                idle_since = None if any(self.ranks()) else idle_since or now
                is_stuck = idle_since is not None and now > idle_since + SECONDS / 6
                if is_stuck or now > end:
                    job.kill()
                if now > end and not is_stuck:
                    self.fail("the job goes on without its rank")

    def kill_rank(self, command, rank, is_time=lambda _: True):
        """Starts the job, and kills that rank of it once `is_time` says of its process that it is time for it."""
        with subprocess.Popen(list(map(str, command)), env=ENVIRONMENT, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as job:
            process = self.await_rank(job, rank)
            end = time.monotonic() + SECONDS
            while not is_time(process) and time.monotonic() < end:
                pass
            # Stopped first, so that the others are somewhere in the work, and wait for it.
            os.kill(process, signal.SIGSTOP)
            os.kill(process, signal.SIGKILL)
            said = self.await_end(job)
        self.assertNotEqual(job.returncode, 0, said)

    def write_old_pair(self):
        """Returns the path of the store."""
        store = self.folder / "whitelist.store"
        self.output.write_bytes(OLD)
        store.write_bytes(OLD_STORE)
        return store

    def has_begun_to_write(self, _process):
        return list(self.folder.glob(".whitelist.bloom.tmp-*"))


class PairTest(MpiTest):
    """Base of the tests of updates: an old pair, and what becomes of it."""

    def setUp(self):
        super().setUp()
        self.store = self.folder / "whitelist.store"
        self.old = (self.folder / "old.bloom", self.folder / "old.store")

    def make_old(self, *arguments):
        self.run_command([BLOOMGATE, "build", *MEANT, "--seed", 3, "--output", self.old[0], "--store", self.old[1], *arguments], 0)

    def put_old(self, *places):
        for old, place in zip(self.old, places):
            shutil.copy(old, place)

    def pair(self):
        return self.output.read_bytes(), self.store.read_bytes()

    def old_pair(self):
        return tuple(path.read_bytes() for path in self.old)

    def assert_only_the_old_pair_is_there(self):
        self.assertEqual(sorted(path.name for path in self.folder.iterdir() if "whitelist" in path.name),
                         ["whitelist.bloom", "whitelist.store"])
        self.assertTrue(self.pair() == self.old_pair())

    def command(self, *arguments):
        return [BLOOMGATE_MPI, "update", "--threads", 2, *MEANT, "--store", self.store, "--output", self.output, *arguments]

    def update(self, ranks, *arguments, status=0):
        """Of the old pair."""
        self.put_old(self.output, self.store)
        return self.run_command([*mpirun("-n", ranks), *self.command(*arguments)], status)

    def one_machine(self, *arguments):
        """The pair that one machine makes of the old one, and what it says."""
        places = (self.folder / "one.bloom", self.folder / "one.store")
        self.put_old(*places)
        done = self.run_command([BLOOMGATE, "update", *MEANT, "--json", "--store", places[1], "--output", places[0], *arguments], 0)
        return tuple(path.read_bytes() for path in places), done

    def told(self, done):
        """The report, but for what is of this run alone."""
        report = json.loads(done.stdout)
        return {name: value for name, value in report.items() if name not in ("file", "store", "spilled_bytes", "seconds")}

    def assert_as_on_one_machine(self, ranks, *arguments):
        wanted, said = self.one_machine(*arguments)
        for count in numbers_of_ranks(*ranks):
            with self.subTest(ranks=count, arguments=arguments):
                done = self.update(count, "--json", *arguments)
                self.assertTrue(self.pair() == wanted, done.stdout)
                self.assertEqual(self.told(done), self.told(said))
                said_of_pair = said.stderr.replace("one.bloom", "whitelist.bloom")
                self.assertEqual(sorted(done.stderr.splitlines()), sorted(said_of_pair.splitlines()))
        return self.told(said)


def run_tests():
    # tests/mutation only asks whether it fails
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], failfast="BLOOMGATE_FAULT" in os.environ)
