"""What becomes of a job of bloomgate-mpi, and of its files, where one of its ranks fails.

usage: mpi_failures_test.py BLOOMGATE BLOOMGATE_MPI
"""
import gzip
import json
import os
import re

from mpi_job import BLOOMGATE_MPI, MpiTest, OLD, OLD_STORE, mpirun, mpirun_each, run_tests, with_files_of


class FailuresTest(MpiTest):
    def test_a_rank_that_cannot_read_its_list_ends_the_job_with_its_reason(self):
        some = self.addresses("some.txt", 200_000)
        self.output.write_bytes(OLD)

        def two(status, first, second, *options):
            """Two ranks with a list each."""
            program = [BLOOMGATE_MPI, "build", "--output", self.output, "--threads", 2, *options]
            return self.run_command(mpirun_each([*program, first], [*program, second]), status)

        done = two(os.EX_NOINPUT, some, self.folder / "missing.txt")
        self.assertRegex(done.stderr, r"bloomgate-mpi build: rank 1 on \S+: .*missing\.txt")
        self.assertEqual(done.stdout, "")
        lines = two(os.EX_NOINPUT, some, self.folder / "missing.txt", "--json").stdout.splitlines()
        # Rank 0 may say that it was stopped.
        errors = [error for error in (json.loads(line)["error"] for line in lines) if error["code"] != "interrupted"]
        self.assertEqual([error["path"] for error in errors], [str(self.folder / "missing.txt")])
        self.assertIn(errors[0]["message"], done.stderr)
        done = two(os.EX_DATAERR, some, self.addresses("other.txt", 200_000))
        self.assertRegex(done.stderr, r"rank 1 on \S+: this rank sees other lists than rank 0")
        damaged = self.write("damaged.txt.gz", gzip.compress(some.read_bytes())[:-200])
        for options in ([], ["--store", self.folder / "whitelist.store"]):
            done = self.build(2, *options, some, damaged, status=os.EX_DATAERR)
            self.assertRegex(done.stderr, r"rank 1 on \S+: .*damaged\.txt\.gz")
            self.assert_only_the_old_ones_are_there("whitelist.bloom")

    def test_a_rank_that_is_killed_ends_the_job_and_leaves_the_old_filter(self):
        some = self.addresses("some.txt", 300_000)
        for victim in ("0", "1", "2"):
            self.output.write_bytes(OLD)
            self.kill_rank([*mpirun("-n", 3), BLOOMGATE_MPI, "build", "--bits-per-entry", 64, "--output",
                            self.output, some],
                           victim)
            self.assertEqual(self.output.read_bytes(), OLD)
            self.assertEqual(list(self.folder.glob("whitelist*")), [self.output])

    def test_a_full_disk_is_reported_by_the_rank_that_writes(self):
        some = self.addresses("some.txt", 1_500_000)
        self.output.write_bytes(OLD)
        # A filter of 12 MB, and files of 10 MB at most: MPI has some of its own. It is noticed before the work where the
        # size is known by then, and else when the filter is written.
        for size in ([], ["--expected-entries", 1_500_000]):
            done = self.run_command([*mpirun("-n", 2), *with_files_of(20_000), BLOOMGATE_MPI, "build",
                                     *size, "--bits-per-entry", 64, "--output", self.output, some], status=os.EX_CANTCREAT)
            self.assertRegex(done.stderr, r"rank 0 on \S+: .*" + re.escape(str(self.output)))
            self.assertEqual(self.output.read_bytes(), OLD)
            self.assertEqual(list(self.folder.glob("whitelist*")), [self.output])

    def limited(self, limits, *arguments, status):
        """Ranks of whose files none may be larger than so many blocks of 512 bytes (None: no limit). MPI has some of its
        own."""
        build = [BLOOMGATE_MPI, "build", "--threads", 2, "--output", self.output, *arguments]
        shells = ([] if blocks is None else with_files_of(blocks) for blocks in limits)
        return self.run_command(mpirun_each(*([*shell, *build] for shell in shells)), status)

    def assert_only_the_old_ones_are_there(self, *names):
        self.assertEqual(sorted(path.name for path in self.folder.iterdir() if "whitelist" in path.name), sorted(names))
        for name in names:
            self.assertEqual((self.folder / name).read_bytes(), OLD_STORE if name.endswith(".store") else OLD)

    def test_a_full_disk_is_reported_by_any_rank_that_writes_its_part(self):
        some = self.addresses("some.txt", 1_500_000)
        store = self.write_old_pair()
        # The second of two writes behind the tenth MB of a filter of 12 MB.
        for arguments in (["--store", store], []):
            done = self.limited([None, 20_000], "--bits-per-entry", 64, *arguments, some, status=os.EX_CANTCREAT)
            self.assertRegex(done.stderr, r"rank 1 on \S+: .*write .*\.whitelist\.bloom\.tmp-")
            self.assertNotIn("rank 0 on ", done.stderr)
            self.assert_only_the_old_ones_are_there("whitelist.bloom", "whitelist.store")
        # Behind the seventh MB of a store of 8 MB; and behind the fifth of its sorted hashes, of which half are 6 MB.
        for blocks, bits, words in ((14_000, 8, r"write .*\.whitelist\.store\.tmp-"),
                                    (10_000, 64, "write the sorted hashes of the store")):
            done = self.limited([None, blocks], "--bits-per-entry", bits, "--store", store, some, status=os.EX_CANTCREAT)
            self.assertRegex(done.stderr, rf"rank 1 on \S+: .*{words}")
            self.assert_only_the_old_ones_are_there("whitelist.bloom", "whitelist.store")

    def test_a_rank_that_is_killed_while_the_files_are_written_leaves_the_old_ones_alone(self):
        some = self.addresses("some.txt", 300_000)
        for victim in ("1", "2"):
            store = self.write_old_pair()
            # So large that it is not written before this rank is stopped.
            command = [*mpirun("-n", 3), BLOOMGATE_MPI, "build", "--threads", 1, "--expected-entries", 150_000_000, "--output",
                       self.output, "--store", store, some]
            self.kill_rank(command, victim, self.has_begun_to_write)
            self.assert_only_the_old_ones_are_there("whitelist.bloom", "whitelist.store")


if __name__ == "__main__":
    run_tests()
