"""`bloomgate-mpi update`: the ranks of a job make the pair that one machine makes, or leave the old one.

usage: mpi_update_test.py BLOOMGATE BLOOMGATE_MPI
"""
import fcntl
import os

from mpi_job import BLOOMGATE, BLOOMGATE_MPI, PairTest, inside, mpirun, mpirun_each, run_tests, some_of, with_files_of


class UpdateTest(PairTest):
    def changes(self):
        """Of every kind, and none that divides evenly: new ones, ones that are there, ones that are not, and both."""
        both = b"".join(b"both%d@example.org\n" % i for i in range(100))
        add = self.write("add.txt", both + b"".join(b"new%d@example.org\n@n%d.example\n" % (i, i % 77) for i in range(60_001)) +
                         b"".join(b"friend%d@example.net > user%d@ours.example\n" % (i, i % 31) for i in range(49_000, 53_000)) +
                         b"User5@example5.org\nonly@example.org\nbob@both.example\n@new.example > ann@ours.example\n")
        remove = self.write("remove.txt", both + b"".join(b"User%d@example%d.org\r\n" % (i, i % 97) for i in range(7, 90_000, 3)) +
                            b"".join(b"nobody%d@example.org\n" % i for i in range(1001)) +
                            b"@corp.example\n@nobody.example\nfriend1@example.net > user1@ours.example\nbob@both.example\n")
        return ["--add", add, "--remove", remove]

    def test_each_number_of_ranks_makes_the_pair_of_one_machine(self):
        lists = self.some_lists()
        strangers = self.addresses("strangers.txt", 60_000, 500_000)
        self.make_old("--bits-per-entry", 64, "--store-seed", 11, *lists)
        changes = self.changes()
        for options in some_of([
                ["--layout", "ribbon", "--bits-per-entry", 20], [], ["--layout", "line", "--hashes", 5],
                ["--expected-entries", 900_000], ["--memory", "1M", "--scratch", self.folder],
                ["--never-match", strangers, "--bits-per-entry", 40, "--hashes", 2]]):
            told = self.assert_as_on_one_machine((1, 2, 3), "--seed", 7, *options, *changes)
            self.assertGreater(told["store_bytes"], 1 << 20, "so little that one rank would have all of it")
            self.assertEqual((told["not_there"], told["both"]), (1103, 101))
            self.assertGreater(told["already_there"], 1000)
            self.assertGreater(told["removed"], 20_000)

    def test_stores_of_few_hashes_are_the_same_as_of_one_machine(self):
        nothing, one = self.write("nothing.txt", b""), self.write("one.txt", b"a@b.example\n@c.example\n")
        for text in (b"", b"a@b.example\n", b"a@b.example\n@c.example\n"):
            # The second size is so large that each rank has bits.
            for size in ([], ["--expected-entries", 500_000, "--bits-per-entry", 64]):
                self.make_old(*size, self.write("few.txt", text))
                for changes in ([], ["--add", nothing], ["--add", one], ["--remove", one], ["--add", one, "--remove", one]):
                    self.assert_as_on_one_machine((3,), "--seed", 1, *size, *changes)

    def test_mailing_lists_and_signers_are_added_and_removed_as_on_one_machine(self):
        some = self.addresses("some.txt", 20_000)
        signers = self.write("signers.txt", b"list:a.example\njoe@bank.example signed-by esp.example\n")
        lists = self.write("lists.txt", b"list:a.example\nlist:b.example\n")
        self.make_old("--bits-per-entry", 64, some, lists)
        self.assertFalse(self.assert_as_on_one_machine((3,), "--seed", 1, "--remove", lists)["signers"])
        self.assertTrue(self.assert_as_on_one_machine((1, 3), "--seed", 1, "--add", signers, "--remove", lists)["signers"])
        self.make_old("--bits-per-entry", 64, some, signers, lists)
        # Which of the hashes had a signer is not known: only without any hash is there none.
        self.assertTrue(self.assert_as_on_one_machine((3,), "--seed", 1, "--remove", signers)["signers"])
        self.assertFalse(self.assert_as_on_one_machine((3,), "--seed", 1, "--remove", signers, "--remove", lists)["signers"])

    def test_all_entries_can_be_added_and_all_removed(self):
        many = self.addresses("many.txt", 300_001)
        self.make_old("--bits-per-entry", 64, self.write("few.txt", b"a@b.example\n"))
        self.assert_as_on_one_machine((3,), "--seed", 1, "--add", many)
        self.make_old("--bits-per-entry", 64, many)
        self.assert_as_on_one_machine((3,), "--seed", 1, "--remove", many)

    def test_a_random_seed_is_that_of_all_ranks(self):
        some, more = self.addresses("some.txt", 100_000), self.addresses("more.txt", 50_000, 100_000)
        self.make_old("--bits-per-entry", 64, some)
        done = self.update(3, "--add", more)
        self.assertRegex(done.stdout, r"(?m)^added +50,000$")
        self.assertRegex(done.stdout, r"(?m)^written +by 3 of 3 ranks$")
        self.assertRegex(done.stdout, r"(?m)^exchanged [1-9]\S* \S+ .*between 3 ranks;")
        self.verify(self.output, "--against", some, more)
        self.verify(self.store)

    def test_a_new_store_leaves_the_old_one_and_the_replaced_pair_can_be_kept(self):
        more = self.addresses("more.txt", 50_000, 100_000)
        self.make_old("--bits-per-entry", 64, self.addresses("some.txt", 100_000))
        wanted, _ = self.one_machine("--seed", 1, "--bits-per-entry", 64, "--add", more)
        self.run_command([*mpirun("-n", 2), BLOOMGATE_MPI, "update", "--store", self.old[1], "--new-store", self.store,
                          "--output", self.output, "--seed", 1, "--bits-per-entry", 64, "--add", more], status=0)
        self.assertTrue(self.pair() == wanted)
        self.update(2, "--seed", 1, "--keep", 1, "--add", more)
        self.assertTrue(self.pair() == wanted)
        self.assertTrue(tuple((self.folder / name).read_bytes() for name in ("whitelist.bloom.1", "whitelist.store.1")) ==
                        self.old_pair())

    def test_each_rank_has_lists_of_its_own(self):
        self.make_old("--bits-per-entry", 64, self.addresses("some.txt", 200_000))
        parts = [self.addresses("add0.txt", 30_000, 190_000), self.addresses("add1.txt", 40_000, 215_000)]
        gone = [self.addresses("gone0.txt", 1000), self.write("gone1.txt", b"User3@example3.org\nno@body.example\n")]
        parts[1].write_bytes(parts[1].read_bytes() + b"no address\n")
        wanted, said = self.one_machine("--seed", 2, *(word for add, remove in zip(parts, gone)
                                                       for word in ("--add", add, "--remove", remove)))
        self.put_old(self.output, self.store)
        done = self.run_command(mpirun_each(
            *(self.command("--json", "--seed", 2, "--local-lists", "--add", parts[rank], "--remove", gone[rank]) for rank in (0, 1))), 0)
        self.assertTrue(self.pair() == wanted)
        self.assertEqual(self.told(done), self.told(said))
        self.assertRegex(done.stderr, r"(?m)^rank 1: .*add1\.txt:40001: ")


class RefusedUpdateTest(PairTest):
    def test_options_for_one_machine_only_are_refused_once(self):
        some = self.addresses("some.txt", 10)
        self.make_old(some)
        for arguments, word in ((["--add", "-"], "standard input"), (["--add", self.old[1]], "a store among the lists"),
                                (["--remove", self.old[1]], "a store among the lists"), (["--nonsense", some], "--nonsense"),
                                (["--layout", "classic"], "the layout classic"), (["--add", self.output], "would overwrite")):
            with self.subTest(word=word):
                done = self.update(2, *arguments, status=os.EX_USAGE)
                self.assertEqual(done.stderr.count(word), 1, done.stderr)
                self.assertIn("bloomgate-mpi update", done.stderr)
                self.assert_only_the_old_pair_is_there()

    def test_help_is_printed_once(self):
        done = self.run_command([*mpirun("-n", 3), BLOOMGATE_MPI, "update", "--help"], status=0)
        self.assertEqual(done.stdout.count("Makes by the ranks"), 1)

    def test_what_one_machine_refuses_is_refused_and_the_old_pair_stays(self):
        some = self.addresses("some.txt", 1000)
        bad = self.write("bad.txt", b"no address\nann@ours.example\n")
        self.make_old("--never-match", self.addresses("strangers.txt", 100, 5000), some)
        for arguments, status, words in (
                (["--remove", bad], os.EX_DATAERR, "1 line of --remove was rejected"),
                (["--strict", "--add", bad], os.EX_DATAERR, "1 line was rejected and --strict was given"),
                (["--strict", "--never-match", some], os.EX_DATAERR, "of what the lists of --never-match name"),
                ([], os.EX_USAGE, "keeps excluded senders out")):
            with self.subTest(words=words):
                strangers = [] if not arguments or "--never-match" in arguments else ["--never-match", self.folder / "strangers.txt"]
                done = self.update(3, *arguments, *strangers, status=status)
                one = self.run_command([BLOOMGATE, "update", "--store", self.store, "--output", self.output, *arguments,
                                        *strangers], status)
                for said in (done.stderr, one.stderr):
                    self.assertIn(words, said)
                self.assert_only_the_old_pair_is_there()

    def test_a_store_that_another_program_changes_is_left_alone(self):
        self.make_old(self.addresses("some.txt", 1000))
        self.put_old(self.output, self.store)
        with self.store.open() as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.run_command([*mpirun("-n", 2), *self.command()], status=os.EX_CANTCREAT)
        self.assert_only_the_old_pair_is_there()


class FailedUpdateTest(PairTest):
    def setUp(self):
        super().setUp()
        self.make_old("--bits-per-entry", 64, self.addresses("some.txt", 1_200_000))
        self.more = self.addresses("more.txt", 300_000, 1_200_000)

    def test_a_rank_that_reads_a_damaged_page_ends_the_job_with_its_reason(self):
        old = bytearray(self.old[1].read_bytes())
        old[4096 * 1200] ^= 1  # of 1,400 pages or so, and so in the last range of three
        self.old[1].write_bytes(old)
        done = self.update(3, "--add", self.more, status=os.EX_DATAERR)
        self.assertRegex(done.stderr, r"bloomgate-mpi update: rank 2 on \S+: .*whitelist\.store")
        self.assert_only_the_old_pair_is_there()

    def test_a_rank_that_sees_another_store_or_other_lists_ends_the_job(self):
        self.put_old(self.output, self.store)
        commands = []
        for rank in (0, 1):
            folder = self.folder / str(rank)
            folder.mkdir()
            self.run_command([BLOOMGATE, "build", "--seed", 3 + rank, "--output", folder / "a.bloom", "--store",
                              folder / "a.store", self.more])
            commands.append([*inside(folder), BLOOMGATE_MPI, "update", "--store", "a.store", "--output", "a.bloom", "--add",
                             self.more])
        done = self.run_command(mpirun_each(*commands), status=os.EX_DATAERR)
        self.assertRegex(done.stderr, r"rank 1 on \S+: this rank sees another store than rank 0 at a\.store")
        done = self.run_command(mpirun_each(self.command("--add", self.more), self.command("--remove", self.more)), os.EX_DATAERR)
        self.assertRegex(done.stderr, r"rank 1 on \S+: this rank sees other lists than rank 0")
        self.assert_only_the_old_pair_is_there()

    def test_a_full_disk_is_reported_by_its_rank(self):
        # Behind the tenth MB of a filter of 12 MB; and behind the fifth of its sorted hashes, of which half are 6 MB.
        for blocks, words in ((20_000, r"write .*\.whitelist\.bloom\.tmp-"), (10_000, "write the sorted hashes of the store")):
            self.put_old(self.output, self.store)
            limited = [*with_files_of(blocks), *self.command("--add", self.more)]
            done = self.run_command(mpirun_each(self.command("--add", self.more), limited), status=os.EX_CANTCREAT)
            self.assertRegex(done.stderr, rf"rank 1 on \S+: .*{words}")
            self.assert_only_the_old_pair_is_there()

    def killed(self, victim, is_time):
        """Kills a rank once `is_time` says of its process that it is time for it."""
        self.put_old(self.output, self.store)
        # So large that it is not written before this rank is stopped.
        command = [*mpirun("-n", 3), *self.command("--expected-entries", 150_000_000, "--bits-per-entry", 8, "--add", self.more)]
        self.kill_rank(command, victim, is_time)
        self.assert_only_the_old_pair_is_there()

    def has_opened_the_store(self, process):
        try:
            files = [os.readlink(f"/proc/{process}/fd/{name}") for name in os.listdir(f"/proc/{process}/fd")]
        except OSError:  # one of them is closed by now
            return False
        return str(self.store) in files

    def test_a_rank_that_is_killed_leaves_the_old_pair(self):
        # The others are somewhere in the work, and wait for it. (A rank that is killed while it makes itself known may
        # leave mpirun waiting for itself.)
        for victim in ("0", "1", "2"):
            self.killed(victim, self.has_opened_the_store)

    def test_a_rank_that_is_killed_while_the_files_are_written_leaves_the_old_pair(self):
        for victim in ("1", "2"):
            self.killed(victim, self.has_begun_to_write)


if __name__ == "__main__":
    run_tests()
