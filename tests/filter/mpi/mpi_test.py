"""`bloomgate-mpi build` as a user runs it, by mpirun: the ranks of a job make the file that one machine makes.

usage: mpi_test.py BLOOMGATE BLOOMGATE_MPI
"""
import json
import os
import random

from mpi_job import BLOOMGATE, BLOOMGATE_MPI, MpiTest, OLD, mpirun, numbers_of_ranks, run_tests, some_of


class BytesTest(MpiTest):
    def test_each_number_of_ranks_makes_the_file_of_one_machine(self):
        lists = self.some_lists()
        for options in some_of([
                ["--layout", "page"], ["--layout", "line", "--hashes", 5], ["--tag-separators", "+", "--hash", "xxh3"],
                ["--expected-entries", 900_000], ["--leave-out", self.addresses("left_out.txt", 500, 100)],
                ["--layout", "ribbon"]]):
            arguments = ["--seed", 7, "--bits-per-entry", 64, *options, *lists]
            wanted, _ = self.reference(*arguments)
            self.assertGreater(len(wanted), 2 << 20, "so little that one rank would have all of it")
            for ranks in numbers_of_ranks(1, 2, 3):
                with self.subTest(ranks=ranks, options=options):
                    done = self.build(ranks, *arguments)
                    self.assertTrue(self.output.read_bytes() == wanted, done.stdout)

    def test_a_filter_smaller_than_a_share_for_each_rank_is_that_of_one_machine(self):
        for text in (b"", b"a@b.example\n", b"a@b.example\n@c.example\n" * 50):
            few = self.write("few.txt", text)
            wanted, said = self.reference("--seed", 1, few)
            for ranks in numbers_of_ranks(1, 3):
                with self.subTest(text=text[:20], ranks=ranks):
                    done = self.build(ranks, "--seed", 1, few)
                    self.assertTrue(self.output.read_bytes() == wanted)
                    self.assertEqual(done.stderr, said)

    def test_more_domains_than_a_rank_gathers_at_once_are_those_of_one_machine(self):
        lines = b"".join(b"joe%d@d%d.example\n" % (i, i * 7 % 150_001) for i in range(400_000))
        domains = self.write("domains.txt", lines)
        wanted, _ = self.reference("--seed", 7, domains)
        for ranks in numbers_of_ranks(1, 3):
            done = self.build(ranks, "--seed", 7, domains)
            self.assertIn("senders   at 150,001 domains, ", done.stdout)
            self.assertTrue(self.output.read_bytes() == wanted)

    def test_an_address_that_is_repeated_often_goes_to_one_rank(self):
        same = self.write("same.txt", b"joe@example.org\n" * 4_000_000 + b"ann@example.org\n")
        # In the layout ribbon with so little memory that hashes go into a file.
        for options in ([], ["--layout", "ribbon", "--memory", "1M", "--scratch", self.folder]):
            with self.subTest(options=options):
                arguments = ["--seed", 3, "--expected-entries", 1_000_000, "--bits-per-entry", 64, *options, same]
                wanted, _ = self.reference(*arguments)
                self.build(3, *arguments)
                self.assertTrue(self.output.read_bytes() == wanted)

    def test_random_lists_in_random_pieces_give_the_file_of_one_machine(self):
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
            self.build(3, *arguments)
            self.assertTrue(self.output.read_bytes() == wanted)

    def test_a_random_seed_is_that_of_all_ranks(self):
        some = self.addresses("some.txt", 100_000)
        done = self.build(3, "--bits-per-entry", 64, "--json", some)
        self.assertEqual(json.loads(done.stdout)["entries"], 100_000)
        self.verify(self.output, "--against", some)

    def test_excluded_senders_of_a_filter_with_all_bits_in_one_rank_are_excluded(self):
        few = self.write("few.txt", b"a@b.example\n")
        stranger = self.addresses("strangers.txt", 1000)
        wanted, _ = self.reference("--seed", 1, "--bits-per-entry", 2, "--expected-entries", 1, "--never-match", stranger, few)
        self.build(3, "--seed", 1, "--bits-per-entry", 2, "--expected-entries", 1, "--never-match", stranger, few)
        self.assertTrue(self.output.read_bytes() == wanted)

    def test_senders_are_excluded_as_on_one_machine(self):
        lists = self.some_lists()
        # Strangers, most of whom no rank alone would know to hit, entries, listed ones by their domains, pairs, and lines
        # that are no addresses.
        strangers = [self.addresses("strangers.txt", 120_000, 500_000), self.write("others.txt", b"".join([
            b"user7@example7.org\nONLY@example.org\nann@corp.example\nbob@deep.big.example\n",
            b"friend3@example.net > user3@ours.example\nfriend3@example.net > user4@ours.example\n",
            b"eve@x.example > ann@ours.example\n@corp.example\nno address\n# remark\n"]))]
        known = [word for path in strangers for word in ("--never-match", path)]
        for options in some_of([
                ["--bits-per-entry", 48, "--hashes", 2], ["--bits-per-entry", 64, "--layout", "line", "--hashes", 1],
                ["--expected-entries", 1_300_000, "--hashes", 2],
                ["--bits-per-entry", 10, "--layout", "ribbon", self.addresses("more.txt", 600_000, 10**6)]]):
            arguments = ["--seed", 7, *known, *options, *lists]
            wanted, said = self.reference(*arguments)
            self.assertIn("others.txt:1: ", said)
            self.assertGreater(len(wanted), 1 << 20, "so little that one rank would have all of it")
            for ranks in numbers_of_ranks(1, 2, 3):
                with self.subTest(ranks=ranks, options=options):
                    done = self.build(ranks, "--json", *arguments)
                    self.assertTrue(self.output.read_bytes() == wanted, done.stdout)
                    self.assertEqual(sorted(done.stderr.splitlines()), sorted(said.splitlines()))
                    told = json.loads(done.stdout)["known_strangers"]
                    self.assertEqual((told["rejected"], told["by_domain"]), (1, 3))
                    self.assertGreater(told["excluded"], 10)
        self.output.write_bytes(OLD)
        done = self.build(3, "--strict", *known, lists[0], status=os.EX_DATAERR)
        self.assertRegex(done.stderr, r"rank 0 on \S+: of what the lists of --never-match name, 1 are entries and 1 are no addr")
        self.assertEqual(self.output.read_bytes(), OLD)


class OptionsTest(MpiTest):
    def test_options_for_one_machine_only_are_refused_once(self):
        some = self.addresses("some.txt", 10)
        store = self.folder / "s.store"
        self.reference("--store", store, some)
        for arguments, word in ((["--layout", "classic", some], "--layout classic"), ([store], "a store among the inputs"),
                                (["-"], "standard input"), (["--nonsense", some], "--nonsense")):
            with self.subTest(word=word):
                done = self.build(2, *arguments, status=os.EX_USAGE)
                self.assertEqual(done.stderr.count(word), 1, done.stderr)
        self.assertFalse(self.output.exists())

    def test_help_and_version_are_printed_once(self):
        for arguments, word in (([], "usage: mpirun"), (["--help"], "usage: mpirun"), (["--version"], "bloomgate-mpi "),
                                (["-V"], "bloomgate-mpi "), (["build", "--help"], "Builds by the ranks")):
            done = self.run_command([*mpirun("-n", 3), BLOOMGATE_MPI, *arguments], status=0 if arguments else os.EX_USAGE)
            self.assertEqual((done.stdout + done.stderr).count(word), 1)

    def test_a_misspelt_command_gets_a_suggestion_once(self):
        done = self.run_command([*mpirun("-n", 3), BLOOMGATE_MPI, "biuld"], status=os.EX_USAGE)
        self.assertEqual(done.stderr.count("bloomgate-mpi: there is no command 'biuld' (did you mean build?); "), 1)
        self.assertNotIn("usage:", done.stderr)

    def test_an_output_that_would_overwrite_a_list_is_refused(self):
        some = self.addresses("some.txt", 10)
        for output, store in ((some, self.folder / "s.store"), (self.output, some)):
            before = some.read_bytes()
            done = self.build(2, "--store", store, some, output=output, status=os.EX_USAGE)
            self.assertIn("would overwrite the list", done.stderr)
            self.assertEqual(some.read_bytes(), before)


if __name__ == "__main__":
    run_tests()
