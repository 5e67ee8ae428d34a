"""The store of `bloomgate-mpi build`, and who writes the files.

usage: mpi_store_test.py BLOOMGATE BLOOMGATE_MPI
"""
import fcntl
import json
import os

from mpi_job import BLOOMGATE_MPI, MpiTest, OLD, OLD_STORE, inside, mpirun_each, run_tests


class StoreTest(MpiTest):
    def setUp(self):
        super().setUp()
        self.store = self.folder / "whitelist.store"

    def pair_of_one_machine(self, *arguments):
        store = self.folder / "one.store"
        filter_bytes, said = self.reference("--store", store, *arguments)
        return (filter_bytes, store.read_bytes()), said

    def pair(self):
        return self.output.read_bytes(), self.store.read_bytes()

    def test_each_number_of_ranks_makes_the_filter_and_the_store_of_one_machine(self):
        lists = self.some_lists()
        strangers = self.addresses("strangers.txt", 60_000, 500_000)
        many = self.addresses("more.txt", 600_000, 10**6)
        for options in ([], ["--layout", "ribbon", "--bits-per-entry", 10, many], ["--layout", "line", "--store-seed", 11],
                        ["--never-match", strangers, "--bits-per-entry", 40, "--hashes", 2], ["--expected-entries", 900_000],
                        ["--memory", "1M", "--scratch", self.folder]):
            arguments = ["--seed", 7, "--bits-per-entry", 64, *options, *lists]
            if "--bits-per-entry" in options:
                del arguments[2:4]
            wanted, said = self.pair_of_one_machine(*arguments)
            self.assertGreater(len(wanted[1]), 1 << 20, "so little that one rank would have all of it")
            for ranks in (1, 2, 3):
                with self.subTest(ranks=ranks, options=options):
                    done = self.build(ranks, "--store", self.store, *arguments)
                    self.assertTrue(self.pair() == wanted, done.stdout)
                    self.assertEqual(sorted(done.stderr.splitlines()), sorted(said.splitlines()))

    def test_stores_of_few_hashes_are_the_same_as_of_one_machine(self):
        for text in (b"", b"a@b.example\n", b"a@b.example\n@c.example\n" * 50):
            few = self.write("few.txt", text)
            for size in ([], ["--expected-entries", 500_000, "--bits-per-entry", 64]):  # so large that each rank has bits
                wanted, _ = self.pair_of_one_machine("--seed", 1, *size, few)
                for ranks in (1, 3):
                    with self.subTest(text=text[:20], ranks=ranks, size=size):
                        self.build(ranks, "--seed", 1, *size, "--store", self.store, few)
                        self.assertTrue(self.pair() == wanted)

    def test_a_random_seed_of_the_store_is_that_of_all_ranks(self):
        some = self.addresses("some.txt", 100_000)
        done = self.build(3, "--bits-per-entry", 64, "--json", "--store", self.store, some)
        self.assertEqual(json.loads(done.stdout)["entries"], 100_000)
        self.verify(self.output, "--against", some)
        self.verify(self.store)
        wanted, _ = self.pair_of_one_machine("--seed-from", self.output, "--bits-per-entry", 64, some)
        self.assertTrue(self.pair() == wanted)

    def test_a_store_that_another_program_changes_is_left_alone(self):
        some = self.addresses("some.txt", 1000)
        self.store.write_bytes(OLD_STORE)
        with self.store.open() as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.build(2, "--store", self.store, some, status=os.EX_CANTCREAT)
        self.assertEqual(self.store.read_bytes(), OLD_STORE)
        self.assertFalse(self.output.exists())

    def test_the_replaced_pair_can_be_kept(self):
        first, second = self.addresses("first.txt", 1000), self.addresses("second.txt", 2000)
        for some in (first, second):
            self.build(2, "--store", self.store, "--keep", 1, some)
        for end, some in ((".1", first), ("", second)):
            self.verify(f"{self.output}{end}", "--against", some)
            self.verify(f"{self.store}{end}")


class SharingTest(MpiTest):
    def in_own_folders(self, ranks, *arguments):
        """Ranks that do not see each other's files, as the path of the output begins where each is."""
        commands = []
        for rank in range(ranks):
            folder = self.folder / str(rank)
            folder.mkdir(exist_ok=True)
            commands.append([*inside(folder), BLOOMGATE_MPI, "build", "--threads", 2, "--output", "whitelist.bloom", *arguments])
        return self.run_command(mpirun_each(*commands), 0)

    def test_a_rank_that_sees_the_file_writes_its_part_and_another_sends_it(self):
        some = self.addresses("some.txt", 800_000)
        arguments = ["--seed", 7, "--bits-per-entry", 64]
        one = self.folder / "one.store"
        wanted, _ = self.reference(*arguments, "--store", one, some)
        for ranks, options, writers in ((1, [], "1 of 1"), (3, [], "3 of 3"), (3, ["--rank-0-writes"], "1 of 3")):
            with self.subTest(options=options, ranks=ranks):
                done = self.build(ranks, *arguments, *options, "--store", self.folder / "s.store", some)
                self.assertRegex(done.stdout, rf"(?m)^written +by {writers} ranks$")
                # Of 800,000 hashes two thirds belong to another rank than the one that reads them.
                self.assertRegex(done.stdout, r"(?m)^exchanged 0 bytes " if ranks == 1 else r"(?m)^exchanged (3\.[89]|4\.[0-3])\d? MiB ")
                self.assertTrue(self.output.read_bytes() == wanted)
                self.assertTrue((self.folder / "s.store").read_bytes() == one.read_bytes())
        done = self.in_own_folders(3, *arguments, "--store", "s.store", some)
        self.assertRegex(done.stdout, r"(?m)^written +by 1 of 3 ranks$")
        self.assertTrue((self.folder / "0/whitelist.bloom").read_bytes() == wanted)
        self.assertTrue((self.folder / "0/s.store").read_bytes() == one.read_bytes())
        self.assertEqual([os.listdir(self.folder / rank) for rank in "12"], [[], []])

    def test_the_file_has_the_permissions_of_the_one_that_it_replaces(self):
        self.output.write_bytes(OLD)
        self.output.chmod(0o640)
        self.build(3, "--bits-per-entry", 64, self.addresses("some.txt", 400_000))
        self.assertEqual(self.output.stat().st_mode & 0o777, 0o640)


if __name__ == "__main__":
    run_tests()
