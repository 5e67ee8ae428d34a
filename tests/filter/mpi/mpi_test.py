"""`bloomgate-mpi build` as a user runs it, by mpirun: the ranks of a job make the file that one machine makes.

usage: mpi_test.py BLOOMGATE BLOOMGATE_MPI
"""
import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BLOOMGATE, BLOOMGATE_MPI = map(os.path.abspath, sys.argv[1:3])
SECONDS = 120  # that a run may take

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
                self.write("long.txt", b"x" * 600_000 + b"@example.org\nshort@example.org\n")]

    def test_each_number_of_ranks_makes_the_file_of_one_machine(self):
        lists = self.some_lists()
        for options in (["--layout", "page"], ["--layout", "ribbon"], ["--layout", "line", "--hashes", 5], ["--tag-separators", "+", "--hash", "xxh3"],
                        ["--expected-entries", 900_000], ["--except", self.addresses("left_out.txt", 500, 100)]):
            arguments = ["--seed", 7, "--bits-per-entry", 64, *options, *lists]
            wanted, _ = self.reference(*arguments)
            self.assertGreater(len(wanted), 2 << 20, "so little that one rank would have all of it")
            for ranks in (1, 2, 3):
                with self.subTest(ranks=ranks, options=options):
                    done = self.build(ranks, *arguments)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertTrue(self.output.read_bytes() == wanted, done.stdout)

    def test_a_filter_smaller_than_a_share_for_each_rank_is_the_same_too(self):
        for text in (b"", b"a@b.example\n", b"a@b.example\n@c.example\n" * 50):
            few = self.write("few.txt", text)
            wanted, _ = self.reference("--seed", 1, few)
            for ranks in (1, 3):
                with self.subTest(text=text[:20], ranks=ranks):
                    done = self.build(ranks, "--seed", 1, few)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertTrue(self.output.read_bytes() == wanted)

    def test_an_address_that_is_there_again_and_again_goes_to_one_rank(self):
        same = self.write("same.txt", b"joe@example.org\n" * 4_000_000 + b"ann@example.org\n")
        # In the layout ribbon with so little memory that hashes go into a file.
        for options in ([], ["--layout", "ribbon", "--memory", "1M", "--scratch", self.folder]):
            with self.subTest(options=options):
                arguments = ["--seed", 3, "--expected-entries", 1_000_000, "--bits-per-entry", 64, *options, same]
                wanted, _ = self.reference(*arguments)
                done = self.build(3, *arguments)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(self.output.read_bytes() == wanted)

    def test_random_lists_in_random_pieces(self):
        chance = random.Random(20261124)
        for round_ in range(4):
            text = b"".join(b"u%d@%s.example%s" % (chance.randrange(10**9), b"d" * chance.randrange(1, 60),
                                                   chance.choice((b"\n", b"\r\n", b"\n\n", b"\n# x\n")))
                            for _ in range(30_000))
            lists = []
            while text:
                end = text.find(b"\n", chance.randrange(1, 1_000_000)) + 1 or len(text)
                lists.append(self.write(f"{round_}-{len(lists)}.txt", text[:end]))
                text = text[end:]
            arguments = ["--seed", round_, "--bits-per-entry", 64, *lists]
            wanted, _ = self.reference(*arguments)
            done = self.build(3, *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(self.output.read_bytes() == wanted)

    def test_a_random_seed_is_that_of_all_ranks(self):
        some = self.addresses("some.txt", 100_000)
        done = self.build(3, "--bits-per-entry", 64, "--json", some)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["entries"], 100_000)
        checked = self.run_command([BLOOMGATE, "verify", self.output, "--against", some])
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_bad_lines_have_the_numbers_that_they_have_on_one_machine(self):
        lines = [b"user%d@example.org" % i for i in range(60_000)]
        for number in (0, 17_001, 17_002, 40_000, 59_998):
            lines[number] = b"no address %d" % number
        bad = self.write("bad.txt", b"\n".join(lines) + b"\n")
        wanted, said = self.reference("--seed", 1, bad)
        self.assertIn(":17002: ", said)
        done = self.build(3, "--seed", 1, "--reject-file", self.folder / "rejects", bad)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(done.stderr.splitlines()), sorted(said.splitlines()))
        self.assertRegex(done.stdout, r"(?m)^rejected +5$")
        self.assertTrue(self.output.read_bytes() == wanted)
        kept = [line for rank in range(3) for line in (self.folder / f"rejects.{rank}").read_text().splitlines()]
        self.assertEqual(kept[1::2], [f"no address {number}" for number in (0, 17_001, 17_002, 40_000, 59_998)])
        self.assertRegex(kept[4], r"^# .*bad.txt:17003: ")

        self.output.write_text("the old one")
        done = self.build(2, "--strict", bad)
        self.assertEqual(done.returncode, os.EX_DATAERR, done.stderr)
        self.assertIn("5 lines were rejected and --strict was given", done.stderr)
        self.assertEqual(self.output.read_text(), "the old one")

    def test_known_strangers_are_left_out_as_on_one_machine(self):
        lists = self.some_lists()
        # Strangers, most of whom no rank alone would know to hit, entries, listed ones by their domains, pairs, and lines
        # that are no addresses.
        strangers = [self.addresses("strangers.txt", 120_000, 500_000), self.write("others.txt", b"".join([
            b"user7@example7.org\nONLY@example.org\nann@corp.example\nbob@deep.big.example\n",
            b"friend3@example.net > user3@ours.example\nfriend3@example.net > user4@ours.example\n",
            b"eve@x.example > ann@ours.example\n@corp.example\nno address\n# remark\n"]))]
        known = [word for path in strangers for word in ("--not", path)]
        for options in (["--bits-per-entry", 48, "--hashes", 2], ["--bits-per-entry", 64, "--layout", "line", "--hashes", 1],
                        ["--bits-per-entry", 10, "--layout", "ribbon", self.addresses("more.txt", 600_000, 10**6)],
                        ["--expected-entries", 1_300_000, "--hashes", 2]):
            arguments = ["--seed", 7, *known, *options, *lists]
            wanted, said = self.reference(*arguments)
            self.assertIn("others.txt:1: ", said)
            self.assertGreater(len(wanted), 1 << 20, "so little that one rank would have all of it")
            for ranks in (1, 2, 3):
                with self.subTest(ranks=ranks, options=options):
                    done = self.build(ranks, "--json", *arguments)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertTrue(self.output.read_bytes() == wanted, done.stdout)
                    self.assertEqual(sorted(done.stderr.splitlines()), sorted(said.splitlines()))
                    told = json.loads(done.stdout)["known_strangers"]
                    self.assertEqual((told["rejected"], told["by_domain"]), (1, 3))
                    self.assertGreater(told["excluded"], 10)
        self.output.write_text("the old one")
        done = self.build(3, "--strict", *known, lists[0])
        self.assertEqual(done.returncode, os.EX_DATAERR, done.stderr)
        self.assertRegex(done.stderr, r"rank 0 on \S+: of what the lists of --not name, 1 are entries and 1 are no addr")
        self.assertEqual(self.output.read_text(), "the old one")

    def test_strangers_of_a_filter_of_which_one_rank_has_all_bits(self):
        few = self.write("few.txt", b"a@b.example\n")
        stranger = self.addresses("strangers.txt", 1000)
        wanted, _ = self.reference("--seed", 1, "--bits-per-entry", 2, "--expected-entries", 1, "--not", stranger, few)
        done = self.build(3, "--seed", 1, "--bits-per-entry", 2, "--expected-entries", 1, "--not", stranger, few)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(self.output.read_bytes() == wanted)

    def test_ranks_that_have_other_strangers_are_told_apart(self):
        some = self.addresses("some.txt", 200_000)
        strangers = self.addresses("strangers.txt", 1000, 500_000)
        other = self.addresses("other.txt", 1000, 600_000)
        self.output.write_text("the old one")

        def two(first, second):
            """Two ranks that are given lists of --not of their own, if any."""
            program = [BLOOMGATE_MPI, "build", "--output", self.output, "--threads", 2, "--bits-per-entry", 64, some]
            return self.run_command([*mpirun("-n", 1), *program, *first, ":", "-n", 1, *program, *second])

        for first, second in (([], ["--not", strangers]), (["--not", strangers], [])):
            done = two(first, second)
            self.assertEqual(done.returncode, os.EX_DATAERR, done.stderr)
            self.assertRegex(done.stderr, r"rank 1 on \S+: this rank sees other lists than rank 0")
        # By one path, but with other lines: each rank sees it in a folder of its own.
        shell = ["sh", "-c", 'cd "$1"; shift; exec "$@"', "sh"]
        folders = [self.folder / "a", self.folder / "b"]
        for folder, content in zip(folders, (strangers, other)):
            folder.mkdir()
            (folder / "not.txt").write_bytes(content.read_bytes())
        program = [BLOOMGATE_MPI, "build", "--output", self.output, "--bits-per-entry", 64, "--not", "not.txt", some]
        done = self.run_command([*mpirun("-n", 1), *shell, folders[0], *program, ":", "-n", 1, *shell, folders[1], *program])
        self.assertEqual(done.returncode, os.EX_DATAERR, done.stderr)
        self.assertRegex(done.stderr, r"rank 0 on \S+: rank 1 has read other lists of --not than this rank")
        self.assertEqual(self.output.read_text(), "the old one")

    def test_what_goes_with_one_machine_alone_is_refused_once(self):
        some = self.addresses("some.txt", 10)
        store = self.folder / "s.store"
        self.reference("--store", store, some)
        for arguments, word in ((["--store", self.folder / "x", some], "--store"),
                                (["--layout", "classic", some], "--layout classic"), ([store], "a store among the inputs"),
                                (["-"], "standard input"), (["--nonsense", some], "--nonsense")):
            with self.subTest(word=word):
                done = self.build(2, *arguments)
                self.assertEqual(done.returncode, os.EX_USAGE, done.stderr)
                self.assertEqual(done.stderr.count(word), 1, done.stderr)
        self.assertFalse(self.output.exists())

    def test_help_and_version_are_said_once(self):
        for arguments, word in (([], "usage: mpirun"), (["--help"], "usage: mpirun"), (["--version"], "bloomgate-mpi "),
                                (["build", "--help"], "Builds by the ranks")):
            done = self.run_command([*mpirun("-n", 3), BLOOMGATE_MPI, *arguments])
            self.assertEqual(done.returncode, 0 if arguments else os.EX_USAGE, done.stderr)
            self.assertEqual((done.stdout + done.stderr).count(word), 1)

    def test_a_rank_that_cannot_read_its_list_ends_the_job_with_its_reason(self):
        some = self.addresses("some.txt", 200_000)
        self.output.write_text("the old one")

        def two(first, second):
            """Two ranks with a list each."""
            program = [BLOOMGATE_MPI, "build", "--output", self.output, "--threads", 2]
            return self.run_command([*mpirun("-n", 1), *program, first, ":", "-n", 1, *program, second])

        done = two(some, self.folder / "missing.txt")
        self.assertEqual(done.returncode, os.EX_NOINPUT, done.stderr)
        self.assertRegex(done.stderr, r"bloomgate-mpi build: rank 1 on \S+: .*missing\.txt")
        done = two(some, self.addresses("other.txt", 200_000))
        self.assertEqual(done.returncode, os.EX_DATAERR, done.stderr)
        self.assertRegex(done.stderr, r"rank 1 on \S+: this rank sees other lists than rank 0")
        damaged = self.write("damaged.txt.gz", gzip.compress(some.read_bytes())[:-200])
        done = self.build(2, some, damaged)
        self.assertEqual(done.returncode, os.EX_DATAERR, done.stderr)
        self.assertRegex(done.stderr, r"rank 1 on \S+: .*damaged\.txt\.gz")
        self.assertEqual(self.output.read_text(), "the old one")
        self.assertEqual(list(self.folder.glob("whitelist*")), [self.output])

    def test_a_rank_that_is_killed_ends_the_job_and_leaves_the_old_filter(self):
        some = self.addresses("some.txt", 300_000)
        for victim in ("0", "1", "2"):
            self.output.write_text("the old one")
            with subprocess.Popen([*mpirun("-n", 3), BLOOMGATE_MPI, "build", "--bits-per-entry", "64", "--output",
                                   str(self.output), str(some)], env=ENVIRONMENT, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT) as job:
                # Stopped before it does anything, so that the others are somewhere in the work, and wait for it.
                process = self.await_rank(job, victim)
                os.kill(process, signal.SIGSTOP)
                os.kill(process, signal.SIGKILL)
                said, _ = job.communicate(timeout=SECONDS)
            self.assertNotEqual(job.returncode, 0, said)
            self.assertEqual(self.output.read_text(), "the old one")
            self.assertEqual(list(self.folder.glob("whitelist*")), [self.output])

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

    def test_a_full_disk_is_told_by_the_rank_that_writes(self):
        some = self.addresses("some.txt", 1_500_000)
        self.output.write_text("the old one")
        # A filter of 12 MB, and files of 10 MB at most: MPI has some of its own. It is noticed before the work where the
        # size is known by then, and else when the filter is written.
        for size in ([], ["--expected-entries", 1_500_000]):
            done = self.run_command([*mpirun("-n", 2), "sh", "-c", 'ulimit -f 20000; exec "$@"', "sh", BLOOMGATE_MPI,
                                     "build", *size, "--bits-per-entry", 64, "--output", self.output, some])
            self.assertEqual(done.returncode, os.EX_CANTCREAT, done.stderr)
            self.assertRegex(done.stderr, r"rank 0 on \S+: .*" + re.escape(str(self.output)))
            self.assertEqual(self.output.read_text(), "the old one")
            self.assertEqual(list(self.folder.glob("whitelist*")), [self.output])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
