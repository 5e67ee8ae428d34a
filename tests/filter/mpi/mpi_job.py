"""What the tests of bloomgate-mpi share: a folder, lists, and jobs that mpirun starts.

The tests take BLOOMGATE BLOOMGATE_MPI as their first arguments.
"""
import gzip
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BLOOMGATE, BLOOMGATE_MPI = map(os.path.abspath, sys.argv[1:3])
SECONDS = 30 if "BLOOMGATE_FAULT" in os.environ else 120  # that a run may take; a fault of tests/mutation may hang it

# One machine, its processors shared as may be, nothing on its network, and no memory of another process read, which
# containers forbid.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_plm": "isolated", "OMPI_MCA_btl": "self,vader",
               "OMPI_MCA_oob_tcp_if_include": "lo", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
               "OMPI_MCA_mpi_yield_when_idle": "1"}


def mpirun(*options):
    """The command that starts ranks."""
    return ["mpirun", "--bind-to", "none", "-q", *map(str, options)]


class MpiTest(unittest.TestCase):
    """Base of the tests."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bloomgate-mpi-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.output = self.folder / "whitelist.bloom"

    def run_command(self, command, **options):
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=SECONDS, env=ENVIRONMENT,
                              check=False, **options)

    def build(self, ranks, *arguments, output=None):
        return self.run_command([*mpirun("-n", ranks), BLOOMGATE_MPI, "build", "--threads", 2, "--output",
                                 output or self.output, *arguments])

    def reference(self, *arguments):
        """What one machine makes, and what it says on standard error."""
        path = self.folder / "one.bloom"
        done = self.run_command([BLOOMGATE, "build", "--output", path, *arguments])
        self.assertEqual(done.returncode, 0, done.stderr)
        return path.read_bytes(), done.stderr

    def verify(self, *arguments):
        return self.run_command([BLOOMGATE, "verify", *arguments])

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

    def await_rank(self, job, rank):
        """The process that is this rank of the job."""
        wanted = b"OMPI_COMM_WORLD_RANK=" + rank.encode()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and job.poll() is None:
            for process in filter(str.isdigit, os.listdir("/proc")):
                try:
                    command = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
                    environment = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
                except OSError:
                    continue
                if command[0] == BLOOMGATE_MPI.encode() and str(self.output).encode() in command and wanted in environment:
                    return int(process)
        return self.fail(f"rank {rank} did not start")


def run_tests():
    # tests/mutation only asks whether it fails
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], failfast="BLOOMGATE_FAULT" in os.environ)
