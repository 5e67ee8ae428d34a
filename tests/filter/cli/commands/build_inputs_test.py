"""`bloomgate build`: the lists that it reads, compressed ones, folders of them and tables."""
import os
import re
import resource
import subprocess

from program import EX_DATAERR, EX_USAGE, MEANT, ProgramTest, TAKES_ALL, limited, main, some_of, users


class InputTest(ProgramTest):
    TOOLS = {"gz": ["gzip"], "zst": ["zstd", "-q"], "xz": ["xz"], "bz2": ["bzip2"]}

    def compress(self, kind, text, *options):
        text = text.encode() if isinstance(text, str) else text
        return subprocess.run([*self.TOOLS[kind], *options, "-c"], input=text, capture_output=True, check=True).stdout

    def built_from(self, *inputs, stdin=b"", options=()):
        self.check(0, "build", "-o", "filter", "--seed", "1", "--strict", *options, *inputs, stdin=stdin)
        return self.read("filter")

    def test_a_folder_stands_for_the_files_in_it(self):
        deep = self.folder / "lists" / "b" / "c"
        deep.mkdir(parents=True)
        self.write("lists/z", "z@example.org\n")
        self.write("lists/b/y", "bad,y@example.org\ny@example.org\n")
        self.write("lists/b/c/x", "bad,x@example.org\nx@example.org\n")
        self.write("outside", "outside@example.org\n")
        os.symlink(self.folder / "outside", deep / "link")
        self.write("lists/.hidden", "hidden@example.org\n")
        (self.folder / "lists/.git").mkdir()
        self.write("lists/.git/config", "git@example.org\n")
        os.symlink("..", self.folder / "lists" / "loop")
        os.mkfifo(self.folder / "lists" / "fifo")
        _, err = self.check(0, "build", "-o", "filter", "--threads", "1", "--expected-entries", "1e5", *MEANT, "lists")
        self.assertEqual(re.findall(r"(?m)^(.*):1: bad-local-part-character", err), ["lists/b/c/x", "lists/b/y"])
        self.check(0, "query", "filter", *(f"{name}@example.org" for name in ("x", "y", "z", "outside")))
        for name in ("hidden", "git"):
            self.check(1, "query", "filter", f"{name}@example.org")
        # Two of the six lines are not entries.
        self.assertRegex(self.check(65, "verify", "filter", "--against", "lists")[0], r"(?m)^found +4 ")

    def test_an_existing_output_in_the_folder_of_lists_is_refused(self):
        (self.folder / "lists").mkdir()
        self.write("lists/a", "a@example.org\n")
        self.write("lists/filter", "not a filter\n")
        _, err = self.check(EX_USAGE, "build", "-o", "lists/filter", "lists")
        self.assertIn("--output would overwrite the list lists/filter", err)

    def test_a_pipe_or_a_terminal_is_one_input_only(self):
        self.write("list", users(range(9)))
        self.check(0, "build", "-o", "filter", "--store", "store", "list")
        self.check(0, "build", "-o", "counting", "--layout", "counting", "list")
        os.mkfifo(self.folder / "fifo")
        os.mkdir(self.folder / "layers")
        build, twice = ("build", "-o", "new"), "- is named twice, and can be read only once; name it once, or put it into a file"
        slips = ((*build, "-", "-"), twice), ((*build, "list", "-", "/dev/stdin"), "- and /dev/stdin are one stream"), \
            ((*build, "fifo", "./fifo"), "fifo and ./fifo are one stream"), ((*build, "-", "--leave-out", "-"), twice), \
            ((*build, "-", "--free-mail-domains", "/dev/stdin"), "- and /dev/stdin are one stream"), \
            (("add-layer", "layers", "-", "-"), twice), (("verify", "filter", "--against", "-", "-"), twice), \
            (("update-store", "--store", "store", "-o", "filter", "--add", "-", "--remove", "-"), twice), \
            (("counting-add", "counting", "-", "-"), twice), (("report", "-", "-"), twice)
        there = self.names()
        before = [self.read(name) for name in ("filter", "store", "counting")]
        for command, says in slips:
            with self.subTest(command):
                self.assertIn(says, self.check(EX_USAGE, *command, stdin=users(range(5)).encode())[1])
                self.assertEqual(self.names(), there)
        self.assertEqual([self.read(name) for name in ("filter", "store", "counting")], before)
        controller, terminal = os.openpty()
        self.addCleanup(os.close, controller)
        with os.fdopen(terminal) as keyboard:
            self.assertIn(twice, self.check(EX_USAGE, *build, "-", "-", stdin=keyboard)[1])
        with open(self.folder / "list") as read_in_part:
            os.lseek(read_in_part.fileno(), 18, os.SEEK_SET)
            self.assertIn(twice, self.check(EX_USAGE, *build, "-", "-", stdin=read_in_part)[1])
        self.check(0, *build, "list", "/dev/null", "/dev/null", "-", "list", stdin=b"#\n")

    def test_more_files_than_may_be_open_at_once_are_read(self):
        (self.folder / "lists").mkdir()
        for i in range(300):
            self.write(f"lists/{i}", f"user{i}@example.org\n")
        result = self.run_program("build", "-o", "filter", "--threads", "3", "lists",
                                  preexec_fn=limited(resource.RLIMIT_NOFILE, 32))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, rb"(?m)^entries +300$")

    def test_compressed_lists_give_the_same_filter_whatever_their_name(self):
        lines = [f"user{i}.{'x' * (1 + i * 7919 % 40)}@example{i % 97}.org\n" for i in range(40_000)]
        parts = ["".join(lines[:10_000]), "".join(lines[10_000:])[:-1]]
        want = self.built_from(self.write("plain", "".join(parts)))
        for kind in self.TOOLS:
            # Two files put together are one: members, frames and streams are read to the end.
            whole = self.compress(kind, parts[0]) + self.compress(kind, parts[1])
            with self.subTest(kind=kind, how="file"):
                self.assertEqual(self.built_from(self.write("list.txt", whole), options=["--threads", "3"]), want)
            with self.subTest(kind=kind, how="standard input"):
                self.assertEqual(self.built_from("-", stdin=whole), want)
            with self.subTest(kind=kind, how="two files"):
                names = [self.write(f"{kind}{i}", self.compress(kind, part)) for i, part in enumerate(parts)]
                self.assertEqual(self.built_from(*names, options=["--threads", "2"]), want)
            with self.subTest(kind=kind, how="verify"):
                found, _ = self.check(0, "verify", "filter", "--against", "list.txt")
                self.assertRegex(found, r"(?m)^found +40,000 ")

    def test_empty_members_and_skippable_frames_are_passed_over(self):
        text = "joe@example.org\n"
        for kind in self.TOOLS:
            empty = self.compress(kind, "")
            self.built_from(self.write("list", empty + self.compress(kind, text) + empty))
            self.check(0, "query", "filter", "joe@example.org")
        skippable = b"\x5e\x2a\x4d\x18\x05\x00\x00\x00hello"
        self.built_from(self.write("list", skippable + self.compress("zst", text) + skippable))
        self.check(0, "query", "filter", "joe@example.org")

    def test_zeros_behind_a_gzip_file_are_skipped_up_to_its_end_and_nothing_else_is(self):
        whole = self.compress("gz", "joe@example.org\n")
        for zeros in (1, 512, 200_000):
            self.built_from(self.write("list", whole + bytes(zeros)))
            self.check(0, "query", "filter", "joe@example.org")
        for more in (whole, b"x"):
            _, err = self.check(EX_DATAERR, "build", "-o", "filter", self.write("list", whole + bytes(512) + more))
            self.assertIn("are damaged or cut off", err)

    def test_text_that_starts_like_a_compressed_file_is_text(self):
        for text in ("BZh9@example.org\n", "BZh", "(\n", "P*M@example.org\n", ""):
            self.check(0, "build", "-o", "filter", *MEANT, "-", stdin=text.encode())
            self.check(0, "build", "-o", "filter", *MEANT, self.write("list", text))
        self.build("BZh91A@example.org\n", "--strict")
        self.check(0, "query", "filter", "BZh91A@example.org")

    def test_compressed_lists_that_are_cut_off_or_damaged_are_refused_by_name(self):
        self.build("old@example.org\n")
        before = self.read("filter")
        text = "".join(f"user{i * 7919 % 10007}@example.org\n" for i in range(2000))
        for kind in self.TOOLS:
            whole = self.compress(kind, text, *(["--check"] if kind == "zst" else []))
            cuts = [whole[:length] for length in (10, len(whole) // 2, len(whole) - 9, len(whole) - 1)]
            seconds = [whole + whole[:length] for length in (5, 12, len(whole) // 2)]
            damaged = [bytearray(whole), bytearray(whole)]
            damaged[0][len(whole) // 2] ^= 0x10
            damaged[1][-7] ^= 0x10  # in the checksum at the end; of xz, in its footer
            whole_and_more = whole + b"garbage that is no member"
            for number, content in some_of(enumerate([*cuts, *seconds, *map(bytes, damaged), whole_and_more])):
                for inputs, stdin in (([self.write("list", content)], b""), (["-"], content)):
                    with self.subTest(kind=kind, number=number, inputs=inputs):
                        _, err = self.check(EX_DATAERR, "build", "-o", "filter", "--reject-file", "rejects", *inputs, stdin=stdin)
                        self.assertRegex(err, rf" data of ({'|'.join(inputs)}|standard input) are damaged or cut off")
                        self.assertEqual(self.read("filter"), before)
                        self.assertEqual(self.names(), ["filter", "list"])

    def test_a_compression_bomb_is_read_within_the_memory_limit(self):
        # More text than the build may have memory, in one line or in short ones.
        mebibytes = 512 if TAKES_ALL else 128
        for name, unit in (("line", b"x" * (1 << 20)), ("lines", b"#" * 1023 + b"\n")):
            with self.subTest(name), open(self.folder / "bomb", "wb") as file:
                packer = subprocess.Popen(["gzip", "-1", "-c"], stdin=subprocess.PIPE, stdout=file)
                for _ in range(mebibytes):
                    packer.stdin.write(unit * ((1 << 20) // len(unit)))
                packer.stdin.write(b"\njoe@example.org\n")
                packer.stdin.close()
                self.assertEqual(packer.wait(), 0)
                used = self.kibibytes_used_by("build", "-o", "filter", "--threads", "2", "--memory", "32M", *MEANT, "bomb")
                self.assertLess(used, mebibytes * 800)  # a sanitizer takes much of it
                self.check(0, "query", "filter", "joe@example.org")

    def test_a_gzip_header_without_an_end_does_not_fill_the_memory(self):
        header = b"\x1f\x8b\x08\x08" + bytes(6)  # a name follows, up to a zero byte
        result = self.run_program("build", "-o", "filter", "-", stdin=header + b"x" * (80 << 20))
        self.assertEqual(result.returncode, EX_DATAERR)
        self.assertIn(b"gzip data of standard input are damaged", result.stderr)

    def test_lists_that_need_too_much_memory_to_decompress_are_refused_with_advice(self):
        text = b"joe@example.org\n" * 1000
        for kind, options, want in (
            ("xz", ["--lzma2=dict=1GiB"], "with 100 MiB of memory"),
            ("zst", ["--long=31", "--ultra"], "with a window of 128 MiB"),
        ):
            with self.subTest(kind):
                content = self.compress(kind, text, *options)
                _, err = self.check(EX_DATAERR, "build", "-o", "filter", "-", stdin=content)
                self.assertIn(want, err)

    def test_several_compressed_lists_are_read_at_once(self):
        # The first pipe is empty until the second was read: a build that reads one list at a time would wait for ever.
        fifos = [str(self.folder / name) for name in ("first", "second")]
        for fifo in fifos:
            os.mkfifo(fifo)
        command = ["build", "-o", "filter", "--threads", "2", *MEANT, *fifos]
        process = self.start(*command, stderr=subprocess.PIPE)
        first, second = (open(fifo, "wb") for fifo in fifos)
        second.write(self.compress("gz", "bad,,line@example.org\n"))
        second.close()
        self.assertIn(b"second:1: bad-local-part-character", process.stderr.readline())
        first.write(self.compress("xz", "joe@example.org\n"))
        first.close()
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.check(0, "query", "filter", "joe@example.org")


class FormatTest(ProgramTest):
    def test_rows_with_line_ends_in_them_are_read_whole_in_every_block(self):
        # Notes of three lines, whose middle line looks like a row: its address must not be listed.
        rows = [f'"note\nevil{i}@example.org,{"x" * (i * 7919 % 200)}\n",user{i}@example.org\r\n' for i in range(60_000)]
        rows[50_000] = "short\r\n"
        text = "note,mail\r\n" + "".join(rows)
        path = self.write("list", text)
        for inputs, stdin in (([path], b""), (["-"], text.encode())):
            out, err = self.check(0, "build", "-o", "filter", "--format", "csv:mail", "--threads", "3", *inputs, stdin=stdin)
            self.assertRegex(out, r"(?m)^entries +59,999$")
            self.assertRegex(out, r"(?m)^rejected +1$")
            self.assertIn(f":{2 + 3 * 50_000}: csv-missing-field: ", err)
        out, _ = self.check(0, "verify", "filter", "--format", "csv:2", "--against", path)
        self.assertRegex(out, r"(?m)^found +59,999 ")

    def test_each_list_has_its_own_first_line(self):
        a = self.write("a", "mail,id\na@example.org,1\n")
        b = self.write("b", "id,mail\n2,b@example.org\n")
        self.check(0, "build", "-o", "filter", "--format", "csv:mail", "--strict", a, b, self.write("empty", ""))
        self.check(0, "query", "filter", "a@example.org", "b@example.org")
        _, err = self.check(EX_DATAERR, "build", "-o", "filter", "--threads", "1", "--format", "csv:e-mail", a, b)
        self.assertIn("has no column 'e-mail': its first line has 'mail', 'id'", err)

    def test_a_quote_that_is_not_closed_loses_no_line_in_silence(self):
        rows = "".join(f"user{number}@example.org,x\n" for number in range(1000))
        stray = 'a@example.org,"x\n'
        late = "".join(f"late{number}@example.org,x\n" for number in range(50))
        # Up to the end of the list: each line counts as rejected, and all of them are in the reject file.
        out, err = self.check(0, "build", "-o", "filter", "--format", "csv:1", "--reject-file", "rejects",
                              self.write("list", "mail,note\n" + rows + stray + late))
        self.assertRegex(err, r"list:1002: csv-bad-quotes: .* \(51 lines\): 'a@example.org")
        self.assertRegex(out, r"(?m)^rejected +51$")
        self.assertIn(late, self.read("rejects").decode() + "\n")
        _, err = self.check(EX_DATAERR, "build", "-o", "other", "--format", "csv:1", self.write("list", "mail,note\n" + stray + rows))
        self.assertIn("1,001 of 1,001 lines were rejected", err)
        # Further than a block: nothing is built.
        for start in ("", '"' * 2 + "x" * 300_000 + "\n"):
            text = "mail,note\n" + start + stray + rows * 20
            _, err = self.check(EX_DATAERR, "build", "-o", "other", "--format", "csv:1", self.write("list", text))
            self.assertIn("list has a quote that does not end, in the row", err)
        self.assertNotIn("other", self.names())

    def test_an_overlong_row_without_line_ends_is_rejected_alone(self):
        text = "mail,note\na@example.org," + "x" * 2_000_000 + "\nb@example.org,\n"
        out, _ = self.check(0, "build", "-o", "filter", "--format", "csv:1", "--allow-rejects", self.write("list", text.replace("a@example.org,", "a")))
        self.check(0, "query", "filter", "b@example.org")
        self.assertRegex(out, r"(?m)^entries +1$")

    def test_rejected_entries_of_a_postfix_table_are_not_listed(self):
        access = "# access\ngood@example.org OK\n.example.net\tRELAY\nbad@example.org REJECT\nworse.example 550 no\nodd.example ?\n"
        out, err = self.check(0, "build", "-o", "filter", "--format", "postfix-map", *MEANT, self.write("access", access))
        self.assertRegex(out, r"(?m)^entries +2$")
        self.assertIn("access:6: map-unknown-value: ", err)
        self.check(0, "query", "filter", "good@example.org", "x@a.example.net", "x@example.net")
        for bad in ("bad@example.org", "x@worse.example", "x@odd.example"):
            self.check(1, "query", "filter", bad)

    def test_wrong_formats_are_refused(self):
        for name in ("csv", "csv:0", "json"):
            _, err = self.check(EX_USAGE, "build", "-o", "filter", "--format", name, self.write("list", ""))
            self.assertIn("--format ", err)


if __name__ == "__main__":
    main()
