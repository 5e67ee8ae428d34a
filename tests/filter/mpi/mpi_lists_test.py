"""The lists that the ranks of a job read: shares of them, their own, what is wrong in them, and how far the reading is.

usage: mpi_lists_test.py BLOOMGATE BLOOMGATE_MPI
"""
import json
import os
import re
import subprocess
import threading

from mpi_job import BLOOMGATE_MPI, ENVIRONMENT, OLD, SECONDS, MpiTest, inside, mpirun, mpirun_each, run_tests


class ListsTest(MpiTest):
    def test_bad_lines_have_the_numbers_that_they_have_on_one_machine(self):
        lines = [b"user%d@example.org" % i for i in range(60_000)]
        # No more than two of a kind, which are shown wherever they are.
        wrong = {0: b"no address", 17_001: b"nor here", 17_002: b"joe@", 40_000: b"ann@", 59_998: b"joe@example..org"}
        for number, line in wrong.items():
            lines[number] = line
        bad = self.write("bad.txt", b"\n".join(lines) + b"\n")
        wanted, said = self.reference("--seed", 1, bad)
        self.assertIn(":17002: ", said)
        done = self.build(3, "--seed", 1, "--reject-file", self.folder / "rejects", bad)
        self.assertEqual(sorted(done.stderr.splitlines()), sorted(said.splitlines()))
        self.assertRegex(done.stdout, r"(?m)^rejected +5$")
        self.assertTrue(self.output.read_bytes() == wanted)
        kept = [line for rank in range(3) for line in (self.folder / f"rejects.{rank}").read_text().splitlines()]
        self.assertEqual(kept[1::2], [line.decode() for line in wrong.values()])
        self.assertRegex(kept[4], r"^# .*bad.txt:17003: ")

        self.output.write_bytes(OLD)
        done = self.build(2, "--strict", bad, status=os.EX_DATAERR)
        self.assertIn("5 lines were rejected and --strict was given", done.stderr)
        self.assertEqual(self.output.read_bytes(), OLD)

    def test_mailing_lists_and_signers_are_kept_whichever_rank_has_read_them(self):
        lists = [self.addresses("many.txt", 60_001), self.write("signers.txt", b"list:a.example\nLIST:*.lists.example\n" * 9 +
                 b"list:a.example > ann@ours.example\njoe@bank.example signed-by esp.example\n@shop.example signed-by sends.example\n")]
        signers = self.write("shared.txt", b"sends.example\n")
        arguments = ["--seed", 1, "--bits-per-entry", 64, "--shared-signers", signers]
        wanted, said = self.reference(*arguments, *lists)
        self.assertIn("signers.txt:21: warning: @shop.example signed-by sends.example: ", said)
        for ranks in (1, 2, 3):
            done = self.build(ranks, "--json", *arguments, *lists)
            self.assertTrue(self.output.read_bytes() == wanted, done.stdout)
            self.assertEqual(sorted(done.stderr.splitlines()), sorted(said.splitlines()))
            report = json.loads(done.stdout)
            self.assertEqual((report["signers"], report["pairs"]["with_domains"], report["shared_signers"]), (True, True, 1))

    def test_ranks_with_different_excluded_senders_are_refused(self):
        some = self.addresses("some.txt", 200_000)
        strangers = self.addresses("strangers.txt", 1000, 500_000)
        other = self.addresses("other.txt", 1000, 600_000)
        self.output.write_bytes(OLD)

        def two(first, second):
            """Two ranks that are given lists of --never-match of their own, if any."""
            program = [BLOOMGATE_MPI, "build", "--output", self.output, "--threads", 2, "--bits-per-entry", 64, some]
            return self.run_command(mpirun_each([*program, *first], [*program, *second]), os.EX_DATAERR)

        for first, second in (([], ["--never-match", strangers]), (["--never-match", strangers], [])):
            done = two(first, second)
            self.assertRegex(done.stderr, r"rank 1 on \S+: this rank sees other lists than rank 0")
        # By one path, but with other lines: each rank sees it in a folder of its own.
        folders = [self.folder / "a", self.folder / "b"]
        for folder, content in zip(folders, (strangers, other)):
            folder.mkdir()
            (folder / "not.txt").write_bytes(content.read_bytes())
        program = [BLOOMGATE_MPI, "build", "--output", self.output, "--bits-per-entry", 64, "--never-match", "not.txt", some]
        done = self.run_command(mpirun_each(*([*inside(folder), *program] for folder in folders)), status=os.EX_DATAERR)
        self.assertRegex(done.stderr, r"rank 0 on \S+: rank 1 has read other lists of --never-match than this rank")
        self.assertEqual(self.output.read_bytes(), OLD)


class LocalListsTest(MpiTest):
    def test_lists_that_one_machine_refuses_are_refused_by_all_ranks(self):
        self.build(1, "--seed", 1, self.addresses("some.txt", 1_000))
        before = self.output.read_bytes()
        for text, says in ((b"name,email\nJoe,joe@example.org\n", "bad.txt looks like a table: try --format csv:email"),
                           (b"", "no entry would be in it"), (b"joe@example.org\n", "has 1,000 entries, and 1 would be left"),
                           (b"<html>\n", "is no list, but a web page")):
            done = self.run_command([*mpirun("-n", 3), BLOOMGATE_MPI, "build", "--output", self.output, self.write("bad.txt", text)],
                                    os.EX_DATAERR)
            self.assertIn(says, done.stderr)
            self.assertEqual(self.output.read_bytes(), before)

    def build_with_lists(self, *lists, options=(), each=(), status=0):
        """A rank for each list, which sees no other one. `each` has options of its own for each rank."""
        each = each or [()] * len(lists)
        program = [BLOOMGATE_MPI, "build", "--threads", 2, "--output", self.output, *options]
        return self.run_command(mpirun_each(*([*program, *own, path] for path, own in zip(lists, each))), status)

    def test_each_rank_reads_all_of_its_own_lists(self):
        lists = [self.addresses("a.txt", 120_001), self.addresses("b.txt", 60_007, 110_000),
                 self.write("c.txt", b"@corp.example\nfriend@example.net > ann@ours.example\n@x.example > ann@ours.example\n")]
        for options in ([], ["--expected-entries", 300_000]):
            arguments = ["--seed", 7, "--bits-per-entry", 64, *options]
            wanted, _ = self.reference(*arguments, *lists)
            done = self.build_with_lists(*lists, options=["--local-lists", *arguments])
            self.assertTrue(self.output.read_bytes() == wanted, done.stdout)

    def test_lists_of_one_path_may_differ_and_a_bad_line_names_its_rank(self):
        commands, lists = [], []
        for number in range(2):
            folder = self.folder / str(number)
            folder.mkdir()
            (folder / "list.txt").write_bytes(b"user%d@example.org\n" % number * 3 + b"no address %d\n" % number)
            lists.append(folder / "list.txt")
            commands.append([*inside(folder), BLOOMGATE_MPI, "build", "--local-lists", "--seed", 1, "--output", self.output,
                             "--reject-file", self.folder / "rejects", "--allow-rejects", "list.txt"])
        wanted, _ = self.reference("--seed", 1, *lists)
        done = self.run_command(mpirun_each(*commands), status=0)
        self.assertTrue(self.output.read_bytes() == wanted)
        for number in range(2):
            self.assertRegex(done.stderr, rf"(?m)^(bloomgate: )?rank {number}: .*list\.txt:4: ")
            self.assertIn(f"no address {number}", (self.folder / f"rejects.{number}").read_text())
        self.assertRegex(done.stdout, r"(?m)^rejected +2$")

    def test_excluded_entries_are_the_same_for_all_ranks(self):
        some, other = self.addresses("some.txt", 1000), self.addresses("other.txt", 1000, 500)
        self.output.write_bytes(OLD)
        for each in ((["--local-lists"], []), ([], ["--local-lists"]),
                     (["--local-lists", "--leave-out", other], ["--local-lists"]),
                     (["--local-lists"], ["--local-lists", "--never-match", other])):
            done = self.build_with_lists(some, some, each=each, status=os.EX_DATAERR)
            self.assertRegex(done.stderr, r"rank 1 on \S+: this rank (sees|was given) other lists")
        self.assertEqual(self.output.read_bytes(), OLD)
        arguments = ["--local-lists", "--seed", 3, "--leave-out", other]
        self.build_with_lists(some, some, options=arguments)
        self.assertTrue(self.output.read_bytes() == self.reference(*arguments[1:], some, some)[0])


class ProgressTest(MpiTest):
    def test_rank_0_shows_what_all_ranks_have_read(self):
        big = self.addresses("big.txt", 450_000)
        slow = self.folder / "slow.txt"
        os.mkfifo(slow)
        program = [BLOOMGATE_MPI, "build", "--local-lists", "--threads", 1, "--expected-entries", 2_000_000, "--output",
                   self.output]
        command = mpirun_each([*program, slow], [*program, big])
        with subprocess.Popen(list(map(str, command)), env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as job:
            watchdog = threading.Timer(SECONDS, job.kill)
            watchdog.start()
            # So much that rank 0 begins a round, and no end: it waits for more.
            text = b"".join(b"slow%d@example.org\n" % i for i in range(650_000))
            with slow.open("wb") as out:
                out.write(text)
                out.flush()
                shown = ""
                while "reading" not in shown and job.poll() is None:
                    shown = job.stderr.readline()
            said = shown + job.stderr.read()
            watchdog.cancel()
        self.assertEqual(job.returncode, 0, said)
        # Rank 0 has its list to itself, and may not have come to its end.
        read = float(re.search(r"reading\D*([\d.]+) MiB", shown)[1])
        self.assertGreater(read, len(text) / 2**20 + 1, shown)
        self.assertLess(read, (len(text) + big.stat().st_size) / 2**20 + 0.1, shown)
        self.assertEqual(said.count("reading"), 1, said)


if __name__ == "__main__":
    run_tests()
