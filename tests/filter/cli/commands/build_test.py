"""`bloomgate build`: the filter that it makes."""
import filecmp
import json
import os
import re
import resource
import signal
import subprocess
import tempfile

from program import EX_CANTCREAT, EX_DATAERR, EX_NOINPUT, EX_USAGE, ProgramTest, TAKES_ALL, limited, main, users


class BuildTest(ProgramTest):
    def test_the_report_has_entries_rejected_lines_size_rate_and_time(self):
        out, err = self.build(users(range(10_000)) + "bad line\n")
        self.assertRegex(out, r"(?m)^entries +10,000$")
        self.assertRegex(out, r"(?m)^rejected +1$")
        self.assertRegex(out, r"(?m)^distinct +(9,9|10,0)\d\d ")
        self.assertRegex(out, r"(?m)^size +20\.02 KiB")
        self.assertRegex(out, r"(?m)^senders +at 1 domain, 16 bytes; at any other domain no address is found by chance$")
        self.assertRegex(out, r"(?m)^FPR +0\.[89]\d+ % ")
        self.assertRegex(out, r"(?m)^time +\d+\.\d\d s, [\d,]+ entries per second$")

    def test_several_files_and_standard_input_are_read(self):
        a, b = self.write("a", "a@example.org\n"), self.write("b", "b@example.org")
        self.check(0, "build", "--output", "filter", a, "-", b, stdin=b"c@example.org\n")
        self.check(0, "query", "filter", "a@example.org", "b@example.org", "c@example.org")

    def test_bad_lines_are_shown_with_their_place_and_all_are_in_the_reject_file(self):
        bad = "".join(f"bad{i},comma@example.org\n" for i in range(25))
        _, err = self.build("good@example.org\n" + bad, "--reject-file", "rejects")
        shown = re.findall(r"list:(\d+): bad-local-part-character: ", err)
        self.assertEqual(shown, ["2", "3"])
        self.assertEqual(err.splitlines()[-1], "rejected: 25 bad-local-part-character; the lines are in rejects")
        rejects = (self.folder / "rejects").read_text()
        self.assertEqual(re.sub(r"(?m)^#.*\n", "", rejects), bad)
        self.assertEqual(len(re.findall(r"(?m)^# .*list:\d+: bad-local-part-character$", rejects)), 25)

    def test_a_reject_file_replaces_an_empty_file_or_another_reject_file(self):
        self.write("rejects", "")
        for line in ("bad one", "bad two"):
            self.build(line + "\ngood@example.org\n", "--reject-file", "rejects")
            self.assertEqual(self.read("rejects").decode(), f"# {self.folder}/list:1: missing-at-sign\n{line}\n")
        for other in ("# customers: 2026\n", "# a:1: b c\n", "#a:1: b\n", "# a1: b\n", "# a:1: \n", "# :b\n"):
            self.write("rejects", other)
            self.check(EX_CANTCREAT, "build", "-o", "filter", "--reject-file", "rejects", "list")
            self.assertEqual(self.read("rejects").decode(), other)
        self.check(0, "build", "-o", "filter", "--allow-rejects", "--reject-file", "/dev/stderr", "list")

    def test_a_corrected_reject_file_can_be_built(self):
        self.build("a,,b@example.org\n", "--reject-file", "rejects")
        fixed = (self.folder / "rejects").read_text().replace(",,", ".")
        self.build(fixed, "--strict")
        self.check(0, "query", "filter", "a.b@example.org")

    def test_strict_fails_and_leaves_the_old_filter(self):
        self.build("old@example.org\n")
        before = self.read("filter")
        result = self.run_program("build", "-o", "filter", "--strict", self.write("list", "new@example.org\nnonsense\n"))
        self.assertEqual(result.returncode, EX_DATAERR)
        self.assertIn(b"list:2: missing-at-sign", result.stderr)
        self.assertEqual(self.read("filter"), before)

    def test_the_same_seed_gives_the_same_bytes_and_no_seed_a_random_one(self):
        contents = []
        for options in (["--seed", "42"], ["--seed", "0x2a"], [], []):
            self.check(0, "build", "-o", "filter", *options, self.write("list", "a@example.org\nb@example.org\n"))
            contents.append(self.read("filter"))
        self.assertEqual(contents[0], contents[1])
        self.assertEqual(len(set(contents)), 3)

    def test_the_seed_of_an_earlier_filter_is_kept(self):
        lines = users(range(200_000))
        self.build(lines, "--expected-entries", "200000")
        os.rename(self.folder / "filter", self.folder / "earlier")
        self.build(lines + "one-more@example.org\n", "--expected-entries", "200000", "--seed-from", "earlier")
        seeds = [self.info(name)["seed"] for name in ("earlier", "filter")]
        self.assertEqual(seeds[0], seeds[1])
        earlier, new = (self.read(name)[4096 : 4096 + 49 * 4096] for name in ("earlier", "filter"))
        self.assertLessEqual(sum(a != b for a, b in zip(earlier, new)), 6)
        self.build("a@example.org\n", "--seed-from", "filter")  # the very one that is replaced
        self.assertEqual(self.info()["seed"], seeds[0])
        self.check(EX_USAGE, "build", "-o", "filter", "--seed", "1", "--seed-from", "earlier", "list")
        self.check(EX_DATAERR, "build", "-o", "filter", "--seed-from", "list", "list")
        self.check(EX_NOINPUT, "build", "-o", "filter", "--seed-from", "missing", "list")

    def test_options_reach_the_filter(self):
        options = "--bits-per-entry 16 --hashes 11 --expected-entries 1e6 --seed 7 --keep-case".split()
        self.build("Joe@Example.ORG\n@example.net\n", *options)
        info = self.info()
        self.assertEqual(info["hashes"], 11)
        self.assertEqual(info["expected_entries"], 1_000_000)
        self.assertEqual(info["block_count"], 489)
        self.assertEqual(info["seed"], "0x0000000000000007")
        self.assertTrue(info["keep_local_part_case"])
        self.assertEqual((info["addresses"], info["domain_entries"]), (1, 1))
        self.check(0, "query", "filter", "Joe@example.org")
        self.check(1, "query", "filter", "joe@example.org")

    def test_tags_are_removed_if_separators_are_given(self):
        # Long and short lines, with and without a tag, a domain with a separator in it.
        names = [f"user{i}" for i in range(5000)] + [f"name.of.user.number-{i}-in-a-long-line" for i in range(5000)]
        tags = ["", "+news", "+a+b", "+A=1", "+"]
        tagged = [f"{name}{tags[i % len(tags)]}@My-Host.example" for i, name in enumerate(names)]
        options = ("--seed", "1", "--expected-entries", "10000", "--tag-separators", "+=")
        self.build("".join(f"{line}\n" for line in tagged), *options)
        with_tags = self.read("filter")
        self.build("".join(f"{name}@my-host.example\n" for name in names), *options)
        self.assertEqual(self.read("filter"), with_tags)
        self.check(0, "verify", "filter", "--against", self.write("tagged", "\n".join(tagged)))
        self.assertIn("\tuser7@my-host.example\n", self.check(0, "query", "filter", "user7+x@my-host.example")[0])
        self.assertEqual(self.info()["tag_separators"], "+=")
        self.assertRegex(self.check(0, "info", "filter")[0], r"(?m)^local parts +case-folded, tags cut off at \+=$")

    def test_without_separators_a_tag_is_part_of_the_address(self):
        self.build("joe@example.org\nann+x@example.org\n")
        self.check(1, "query", "filter", "joe+x@example.org")
        self.check(1, "query", "filter", "ann@example.org")
        self.check(0, "query", "filter", "ann+x@example.org")
        self.assertEqual(self.info()["tag_separators"], "")

    def test_invalid_separators_are_refused(self):
        self.write("list", "joe@example.org\n")
        for separators in (".", "+a", "@", " ", "ü"):
            with self.subTest(separators=separators):
                _, err = self.check(EX_USAGE, "build", "-o", "filter", "--tag-separators", separators, "list")
                self.assertIn("--tag-separators takes characters out of", err)
        self.assertEqual(self.names(), ["list"])

    def test_every_layout_and_hash_family_is_built_shown_and_queried(self):
        entries = users(range(20_000))
        for layout, parts in (
            ("page", "page: 5 blocks of 4,096 bytes"),
            ("line", "line: 313 blocks of 64 bytes"),
            ("classic", "classic: 1 array of 20,000 bytes"),
            ("partitioned", "partitioned: 6 slices of 3,336 bytes"),
        ):
            for family in ("xxh3", "murmur3", "fnv1a-murmur3"):
                with self.subTest(layout=layout, family=family):
                    self.build(entries, "--layout", layout, "--hash", family)
                    if TAKES_ALL or family == "xxh3":
                        out, _ = self.check(0, "verify", "filter", "--against", "list")
                        self.assertRegex(out, r"(?m)^found +20,000 entries")
                    text, _ = self.check(0, "info", "filter")
                    self.assertIn(parts, text)
                    self.assertIn(f"{family}, seed", text)
                    info = self.info()
                    self.assertEqual((info["layout"], info["hash_family"]), (layout, family))

    def test_blocks_have_the_requested_size(self):
        for layout, size in (("page", "64K"), ("line", "256")):
            self.build("joe@example.org\n", "--layout", layout, "--block-bytes", size)
            self.check(0, "query", "filter", "joe@example.org")
            info = self.info()
            self.assertEqual(info["block_bytes"], {"64K": 65536, "256": 256}[size])

    def test_a_failed_build_leaves_no_files(self):
        empty = tempfile.TemporaryDirectory(prefix="bloomgate-test-")
        self.addCleanup(empty.cleanup)
        usage = ("", "--bits-per-entry 65 list", "--bits-per-entry eight list", "--hashes 0 list", "--seed -1 list",
                 "--expected-entries many list", "--unknown list", "--layout pages list", "--hash md5 list",
                 "--block-bytes 4095 list", "--block-bytes 2M list", "--layout line --block-bytes 4096 list",
                 "--layout classic --block-bytes 8 list")
        self.write("list", "a@example.org\n")
        for status, arguments in (*((EX_USAGE, arguments) for arguments in usage), (EX_NOINPUT, "missing"),
                                  (EX_DATAERR, f"{empty.name}/"),
                                  (EX_DATAERR, "--expected-entries 9e18 --bits-per-entry 64 list"),
                                  (EX_CANTCREAT, "--output no/such/folder/filter list")):
            with self.subTest(arguments=arguments):
                output = [] if "--output" in arguments else ["--output", "filter"]
                _, err = self.check(status, "build", *output, "--reject-file", "rejects", *arguments.split())
                self.assertTrue(err.startswith("bloomgate build: "), err)
                self.assertEqual(self.names(), ["list"])

    def test_a_list_is_never_overwritten(self):
        path = self.write("list", "a@example.org\n")
        self.check(EX_USAGE, "build", "-o", path, "list")
        self.check(EX_USAGE, "build", "-o", "filter", "--reject-file", path, "./list")
        self.check(EX_USAGE, "build", "-o", "filter", "--reject-file", "filter", "list")
        self.assertEqual((self.folder / "list").read_text(), "a@example.org\n")

    def test_the_bytes_do_not_depend_on_threads_memory_order_or_kind_of_input(self):
        # Lines of many lengths, over several blocks, so that lines lie across the ends of blocks.
        lines = [f"user{i}.{'x' * (1 + i * 7919 % 40)}@Example{i % 97}.org\n" for i in range(150_000)]
        whole = self.write("whole", "".join(lines))
        parts = [self.write(f"part{i}", "".join(lines[i * 50_000 : (i + 1) * 50_000])) for i in range(3)]
        self.check(0, "build", "-o", "want", "--seed", "1", "--threads", "1", whole)
        want = self.read("want")
        self.assertRegex(self.check(0, "verify", "want", "--against", *parts)[0], r"(?m)^found +150,000 ")
        for arguments in (
            ["--threads", "2", "--layout", "page", "--hash", "xxh3", "--block-bytes", "4096", whole],
            ["--threads", "7", *parts], ["--threads", "3", *reversed(parts)], ["--memory", "16M", whole],
            ["--memory", "16M", "--expected-entries", "150000", whole], ["--threads", "4", "-"],
            ["--threads", "4", parts[2], "-", parts[0]],
        ):
            with self.subTest(arguments=arguments):
                stdin = "".join(lines if arguments[-1] == "-" else lines[50_000:100_000]).encode()
                self.check(0, "build", "-o", "got", "--seed", "1", *arguments, stdin=stdin)
                self.assertEqual(self.read("got"), want)

    def test_hashes_beyond_memory_go_to_disk_and_the_bytes_are_the_same(self):
        path = self.write("whole", "".join(f"user{i}@example{i % 97}.org\n" for i in range(700_000)))
        scratch = self.folder / "scratch"
        scratch.mkdir()
        for layout in ("page", "partitioned", "ribbon", "counting"):
            hashes = [] if layout == "ribbon" else ["--hashes", "3"]
            shape = ["--layout", layout, *hashes, "--seed", "1", "--json", path]
            spilled = []
            for name, options in (("a", []), ("b", ["--memory", "1M", "--threads", "1", "--scratch", "scratch"])):
                out, _ = self.check(0, "build", "-o", name, *options, *shape)
                spilled.append(json.loads(out)["spilled_bytes"])
            self.assertEqual(spilled[0], 0)
            self.assertGreater(spilled[1], 1_000_000)
            self.assertEqual(self.read("a"), self.read("b"), layout)
        self.assertEqual(os.listdir(scratch), [])

    def test_a_filter_larger_than_the_memory_is_made_in_parts(self):
        limit = limited(resource.RLIMIT_AS, 160_000_000)
        # A thread that allocates may reserve 64 MiB of address space for an arena of malloc's own. Whether it gets them
        # before the builder gets what it needs is up to the scheduler.
        one_arena = os.environ | {"MALLOC_ARENA_MAX": "1"}
        if self.run_program("--version", preexec_fn=limit).returncode != 0:
            self.skipTest("with a sanitizer there is no address space to limit")
        self.write("list", "".join(f"user{i}@example{i % 97}.org\n" for i in range(100_000)))
        for layout in ("page", "classic"):
            command = ["build", "--layout", layout, "--seed", "1", "--expected-entries", "200000000", "list"]
            self.check(0, *command, "-o", "want")
            result = self.run_program(*command, "-o", "got", preexec_fn=limit, env=one_arena)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(filecmp.cmp(self.folder / "want", self.folder / "got", shallow=False), layout)

    def test_a_list_with_misleading_samples_is_sized_by_its_entries(self):
        # More than a GiB, nearly all of it one bad line, so that the samples differ from the rest.
        path = self.write("list", "bad,,line@example.org\n")
        os.truncate(path, 2**30)
        with open(path, "a") as file:
            file.write("\n" + users(range(100_000)) + "bad,end@example.org\n")
        out, err = self.check(0, "build", "-o", "filter", "--reject-file", "rejects", path)
        self.assertRegex(out, r"(?m)^entries +100,000$")
        self.assertRegex(out, r"(?m)^rejected +3$")
        self.assertEqual(len(re.findall(r"list:\d+: ", err)), 3)
        self.assertEqual(len(re.findall(r"(?m)^# ", (self.folder / "rejects").read_text())), 3)
        info = self.info()
        self.assertEqual(info["expected_entries"], 100_000)
        self.assertAlmostEqual(info["body_bytes"] * 8 / 100_000, 8, delta=0.2)  # 25 whole pages

    def test_line_numbers_are_right_in_every_block_of_a_large_list(self):
        lines = [f"user{i}@example.org\n" for i in range(200_000)]
        bad = list(range(17, 200_000, 9973))
        for line in bad:
            lines[line - 1] = f"bad,{line}@example.org\n"
        text = "".join(lines)
        for arguments, stdin in (([self.write("list", text)], b""), (["-"], text.encode())):
            self.check(0, "build", "-o", "filter", "--threads", "4", "--reject-file", "rejects", *arguments, stdin=stdin)
            rejects = re.findall(r"(?m)^# .*:(\d+): bad-local-part-character\nbad,(\d+)@", (self.folder / "rejects").read_text())
            self.assertEqual(rejects, [(str(line), str(line)) for line in bad])

    def test_a_filter_of_nobody_lists_nobody(self):
        self.build("# nobody\n\n")
        self.check(1, "query", "filter", "a@example.org")

    def test_hostile_lines_are_rejected_and_the_rest_is_built(self):
        long_line = b"x" * 5_000_000 + b"@example.org\n"
        text = long_line + b"\x00\x01\xff\n" + b"\xef\xbb\xbfgood@example.org\r\n" + b"last@example.org"
        out, err = self.build(text, "--reject-file", "rejects")
        self.assertRegex(out, r"(?m)^entries +2$")
        self.assertRegex(err, r"list:1: too-long: ")
        self.assertRegex(err, r"list:2: control-character: ")
        self.assertLess((self.folder / "rejects").stat().st_size, 5000)
        self.check(0, "query", "filter", "good@example.org", "last@example.org")

    def test_a_stop_signal_leaves_the_old_filter_and_nothing_else(self):
        self.build("old@example.org\n")
        before = self.read("filter")
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                read_end, write_end = os.pipe()
                command = ["build", "-o", "filter", "--reject-file", "rejects", "-"]
                process = self.start(*command, stdin=read_end, stderr=subprocess.PIPE)
                os.close(read_end)
                os.write(write_end, b"bad,,line@example.org\n")
                process.stderr.readline()  # the bad line was read, so the program is at work
                process.send_signal(number)
                _, err = process.communicate(timeout=30)
                os.close(write_end)
                self.assertEqual(process.returncode, 128 + number, err)
                self.assertEqual(self.read("filter"), before)
                self.assertEqual(self.names(), ["filter", "list"])


class RibbonTest(ProgramTest):
    """What is different with --layout ribbon."""

    def setUp(self):
        super().setUp()
        self.build(users(range(50_000)), "--layout", "ribbon", "--seed", "1")

    def test_a_ribbon_has_all_entries_of_its_list_and_info_shows_its_rate(self):
        out, _ = self.check(0, "verify", "filter", "--against", "list")
        self.assertRegex(out, r"(?m)^found +50,000 ")
        out, _ = self.check(0, "info", "filter")
        self.assertRegex(out, r"(?m)^layout +ribbon: 13 blocks of 4,096 bytes$")
        self.assertRegex(out, r"(?m)^FPR +0\.[34]\d+ % for a look-up \(expected from the number of addresses\), at the domains of its senders only$")
        self.assertNotIn("distinct", out)
        self.assertIsNone(self.info()["distinct_entries"])
        self.check(0, "query", "filter", "User7@Example.ORG")
        self.check(1, "query", "filter", "--list", self.write("others", "".join(f"{i}@example.net\n" for i in range(99))))

    def test_the_bytes_of_a_ribbon_depend_neither_on_order_nor_on_duplicates(self):
        want = self.read("filter")
        lines = [f"user{i}@example.org\n" for i in reversed(range(50_000))]
        self.write("list", "".join(lines))
        self.check(0, "build", "-o", "got", "--layout", "ribbon", "--seed", "1", "list")
        self.assertEqual(self.read("got"), want)

    def test_a_ribbon_cannot_be_merged_intersected_or_compared(self):
        for command in (["merge", "-o", "x"], ["intersect", "-o", "x"], ["compare"]):
            _, err = self.check(EX_USAGE, *command, "filter", "filter")
            self.assertIn("layout ribbon, whose blocks are made of all their entries at once; build a new filter", err)
        self.assertNotIn("x", self.names())

    def test_a_ribbon_refuses_the_options_hashes_and_block_bytes(self):
        for options in (["--hashes", "6"], ["--block-bytes", "8192"]):
            self.check(EX_USAGE, "build", "-o", "x", "--layout", "ribbon", *options, "list")
            self.check(EX_USAGE, "size", "--entries", "1e9", "--layout", "ribbon", *options)
        out, _ = self.check(0, "size", "--entries", "1e9", "--layout", "ribbon")
        self.assertRegex(out, r"(?m)^FPR +0\.5\d+ %")
        self.assertNotIn("k=2", out)


if __name__ == "__main__":
    main()
