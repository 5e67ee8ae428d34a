"""A whitelist does not vanish by a slip: which lists are refused, what is said then, and that the old filter stays."""
import gzip
import io
import os
import subprocess
import tarfile
import zipfile

from program import EX_CANTCREAT, EX_DATAERR, ProgramTest, main, users

TABLE = "name,email\n" + "".join(f"User {i},user{i}@example.org\n" for i in range(40))


def tar_of(text):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        member = tarfile.TarInfo("list")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text.encode()))
    return packed.getvalue()


def zip_of(text):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("list", text)
    return packed.getvalue()


# What somebody gives for a list, the options, and what is said, which names the file as "it".
SLIPS = {
    "a table": (TABLE, (), "it looks like a table: try --format csv:email"),
    "a table with semicolons": (TABLE.replace(",", ";"), (), "try --format csv:email"),
    "a table with tabs": (TABLE.replace(",", "\t"), (), "try --format csv:email"),
    "a table with a name of two words": (TABLE.replace("email", "e mail"), (), "try --format 'csv:e mail'"),
    "a table without names": (TABLE[11:], (), "try --format csv:2"),
    "a table, compressed": (gzip.compress(TABLE.encode()), (), "it looks like a table: try --format csv:email"),
    "a table, by the wrong column": (TABLE, ("--format", "csv:name"), "40 of 40 lines were rejected (40 missing-at-sign)"),
    "a list for a table": (users(range(40)), ("--format", "csv:2"), "40 csv-missing-field"),
    "bytes by chance": (bytes(range(128, 256)) * 40, (), "1 of 1 line was rejected (1 too-long)"),
    "an empty file": ("", (), "no entry would be in it"),
    "comments": ("# joe@example.org\n\n", (), "no entry would be in it"),
    "a tenth of its lines, and one more": (users(range(89)) + "joe\n" * 11, (), "11 of 100 lines were rejected (11 missing-at-sign)"),
    "a tar archive": (tar_of(users(range(40))), (), "it is no list, but a tar archive; unpack it"),
    "a ZIP archive": (zip_of(users(range(40))), (), "it is no list, but a ZIP archive"),
    "UTF-16": (users(range(40)).encode("utf-16"), (), "it is no list, but text in UTF-16; convert it: iconv -f UTF-16"),
    "UTF-32": (users(range(40)).encode("utf-32"), (), "it is no list, but text in UTF-32; convert it: iconv -f UTF-32"),
    "UTF-16 without a mark": (users(range(40)).encode("utf-16-le"), (), "convert it: iconv -f UTF-16LE"),
    "UTF-16 of the other order": (users(range(40)).encode("utf-16-be"), (), "convert it: iconv -f UTF-16BE"),
    "a web page": ("\n<!DOCTYPE html>\n<p>joe@example.org\n", (), "it is no list, but a web page"),
    "a web page for a table": ("<html>\n<p>joe@example.org\n", ("--format", "csv:1"), "it is no list, but a web page"),
    "JSON": ('[\n"joe@example.org"\n]\n', (), "it is no list, but a JSON document"),
    "an address book": ("BEGIN:VCARD\nEMAIL:joe@example.org\nEND:VCARD\n", (), "'bloomgate harvest' makes a list of it"),
    "mail": ("From joe@example.org Sat Nov 21 10:00:00 2026\n", (), "it is no list, but mail"),
    "a database": (b"SQLite format 3\0" + bytes(80), (), "it is no list, but an SQLite database"),
    "a store whose first byte was damaged": (b"\x88BLS\r\n\x1a\n" + bytes(80), (), "it is no list, but a damaged filter or store"),
    "a filter that was cut": (b"\x89BLM\r", (), "it is no list, but a damaged filter or store"),
    "a spreadsheet": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(80), (), "a document of an office program"),
    "a list of less than half": (users(range(9)), (), "filter has 20 entries, and 9 would be left"),
}


class RefusedListTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.build(users(range(20)), "--store", "store")
        self.before = {name: self.read(name) for name in ("filter", "store")}

    def check_refused(self, *arguments, says, stdin=b""):
        said = self.check(EX_DATAERR, *arguments, stdin=stdin)[1]
        self.assertIn(says, said.replace(str(self.folder / "it"), "it"))
        self.assertIn("nothing was changed" if "is no list" not in said else "it", said)
        self.assertEqual({name: self.read(name) for name in self.before}, self.before)
        self.assertEqual(self.names(), ["filter", "it", "list", "store"])

    def test_a_slip_leaves_the_filter_and_says_what_to_do(self):
        for name, (content, options, says) in SLIPS.items():
            with self.subTest(name):
                self.write("it", content)
                self.check_refused("build", "-o", "filter", "--store", "store", *options, "it", says=says)

    def test_a_filter_or_a_store_is_no_list(self):
        self.write("it", self.before["filter"])
        self.check_refused("build", "-o", "filter", "it", says="it is no list, but a filter; name the lists")
        self.check_refused("build", "-o", "filter", "-", stdin=self.before["store"], says="standard input is no list, but a store")

    def test_a_store_that_is_damaged_or_empty_is_no_list_without_entries(self):
        for content in (b"", b"\x89B", bytes(100), users(range(3)).encode()):
            self.write("more.store", content)
            said = self.check(EX_DATAERR, "build", "-o", "new", "list", "more.store")[1]
            self.assertIn("more.store is named as a store, but does not begin as one", said)

    def test_a_program_that_sends_nothing_has_failed_and_sent_no_empty_list(self):
        os.mkfifo(self.folder / "pipe")
        for name, shown in ("-", "standard input"), ("pipe", "pipe"):
            with subprocess.Popen(["sh", "-c", "exec true > pipe"], cwd=self.folder) as failing:
                said = self.check(EX_DATAERR, "build", "-o", "new", "list", name, stdin=b"")[1]
                failing.kill()
            self.assertIn(f"{shown} was empty, so no filter was built; if that is meant, send one comment line: #", said)
        self.check(0, "build", "-o", "new", "list", "-", stdin=b"#\n")
        self.check(0, "build", "-o", "new", "--allow-empty", "list", "-", stdin=b"")

    def test_what_is_meant_is_allowed_by_name(self):
        for text, option, entries in (("# nobody\n", "--allow-empty", 0), (users(range(15)) + "joe\n" * 5, "--allow-rejects", 15),
                                      (users(range(3)), "--allow-shrink", 3)):
            self.write("it", text)
            self.check(EX_DATAERR, "build", "-o", "filter", "it")
            self.check(0, "build", "-o", "filter", option, "it")
            self.assertEqual(self.info()["entries"], entries)
            self.build(users(range(20)))

    def test_what_the_daemon_refuses_all_the_same_is_said(self):
        for kept, warns in (2, False), (1, True):
            self.build(users(range(20)), "--store", "store")
            self.write("it", users(range(kept)))
            said = self.check(0, "build", "-o", "filter", "--allow-shrink", "--quiet", "it")[1]
            self.assertEqual("filter had 20 entries, and has 1 now, less than a tenth: a daemon that uses it keeps the old ones until "
                             "bloomgate-milter.conf has allow-shrunken-whitelist = yes" in said, warns, said)
        self.build(users(range(20)), "--store", "store")
        self.write("it", users(range(1, 20)))
        said = self.check(0, "update-store", "--store", "store", "-o", "filter", "--remove", "it", "--allow-shrink")[1]
        self.assertIn("filter had 20 entries, and has 1 now", said)

    def test_a_tenth_of_rejected_lines_and_half_of_the_entries_are_no_slip(self):
        self.write("it", users(range(10)) + "# comment\n\n" * 50 + "joe\n")
        self.check(0, "build", "-o", "filter", "it")
        self.assertEqual(self.info()["entries"], 10)

    def test_the_filter_that_a_script_will_replace_counts(self):
        self.write("it", users(range(9)))
        refused = self.check(EX_DATAERR, "build", "-o", "new", "--replaces", "filter", "it")[1]
        self.assertIn("filter has 20 entries, and 9 would be left", refused)
        for typed, status, text in (("none", EX_DATAERR, "filter has 20 entries, and 9 would be left"),
                                    ("other", EX_DATAERR, "other is not a Bloomgate filter"), (".", EX_DATAERR, "regular file")):
            self.write("other", "joe@example.org\n" * 500)
            said = self.check(status, "build", "-o", "filter", "--replaces", typed, "it")[1]
            self.assertIn(text, said)
            self.assertEqual("warning: none is not there, so the new filter is compared with filter" in said, typed == "none")
        self.flip("filter", 100)  # a damaged filter has nothing to lose
        for typed in ("none", "filter", self.write("empty", "")):
            self.check(0, "build", "-o", "new", "--replaces", typed, "it")

    def test_an_entry_that_a_list_names_again_does_not_count(self):
        lists = {name: self.write(name, users(range(count)) * times)
                 for name, count, times in (("once", 2000, 1), ("thrice", 2000, 3), ("few", 500, 1), ("few4", 500, 4))}
        for options in ((), ("--layout", "classic"), ("--store", "filter.store")):
            with self.subTest(options):
                self.check(0, "build", "-o", "filter", *options, "--allow-shrink", lists["thrice"])
                self.check(0, "build", "-o", "filter", *options, lists["once"])
                for old in ("once", "thrice"):
                    self.check(0, "build", "-o", "filter", *options, lists[old])
                    before, names = self.read("filter"), self.names()
                    for new in ("few", "few4"):
                        said = self.check(EX_DATAERR, "build", "-o", "filter", *options, lists[new])[1]
                        self.assertRegex(said, r"filter has (2,000 entries|about (2,0|1,9)\d\d distinct entries), and "
                                               r"(500|about (5[0-2]|4[89])\d distinct ones) would be left")
                        self.assertEqual((self.read("filter"), self.names()), (before, names))

    def test_another_file_is_never_replaced_by_a_filter(self):
        self.write("it", users(range(30)))
        other = self.write("other", "the only copy")
        for option in ("-o", "--store"):
            command = {"-o": "filter", "--store": "store", option: other}
            said = self.check(EX_CANTCREAT, "build", *[word for pair in command.items() for word in pair], "it")[1]
            self.assertIn("is neither a filter nor a store", said)
        self.assertEqual(self.read("other"), b"the only copy")

    def test_rejected_lines_are_summed_by_kind_with_two_examples_each(self):
        self.write("it", users(range(100)) + "joe\n" * 4 + "@\n" * 3 + "joe@example..org\n")
        said = self.check(0, "build", "-o", "filter", "it")[1]
        self.assertEqual([said.count(f"{kind}: ") for kind in ("missing-at-sign", "empty-domain", "empty-label")], [2, 2, 1])
        self.assertIn("it:101: missing-at-sign: there is no '@'; an address is local-part@domain", said)
        self.assertIn(": 'joe'\n", said)
        self.assertIn("rejected: 4 missing-at-sign, 3 empty-domain, 1 empty-label\n", said)

    def test_what_cannot_be_seen_is_named(self):
        self.write("it", users(range(100)) + "\u200bjoe@example.org\n*@example.net\n")
        said = self.check(0, "build", "-o", "filter", "it")[1]
        self.assertIn("it:101: invisible-character: ", said)
        self.assertIn("U+200B (ZERO WIDTH SPACE); type it again instead of copying it: '\\xe2\\x80\\x8bjoe@example.org'\n", said)
        self.assertRegex(said, r"it:102: wildcard: .*; write @example.net: ")
        self.assertIn("ZERO WIDTH SPACE", self.check(1, "query", "filter", "\u200bjoe@example.org")[0])

    def test_an_update_is_refused_for_the_same_reasons(self):
        update = ("update", "--store", "store", "-o", "filter")
        self.write("it", TABLE)
        self.check_refused(*update, "--add", "it", says="try --format csv:email")
        self.write("it", users(range(20)))
        self.check_refused(*update, "--remove", "it", says="no entry would be in it")
        self.write("it", users(range(11)))
        self.check_refused(*update, "--remove", "it", says="filter has 20 entries, and 9 would be left")
        self.check(0, *update, "--remove", "it", "--allow-shrink")
        self.assertEqual(self.info()["entries"], 9)

    def test_a_layer_is_refused_for_the_same_reasons(self):
        os.mkdir(self.folder / "layers")
        self.write("table", TABLE)
        said = self.check(EX_DATAERR, "add-layer", "layers", "table")[1]
        self.assertIn("try --format csv:email", said)
        self.write("none", "")
        self.check(EX_DATAERR, "add-layer", "layers", "none")
        self.assertEqual(os.listdir(self.folder / "layers"), [])
        self.check(0, "add-layer", "layers", "list")
        self.check(EX_DATAERR, "add-layer", "layers", "none")
        self.write("few", users(range(9)))
        self.assertIn("9 would be left", self.check(EX_DATAERR, "fold-layers", "layers", "few")[1])
        self.assertEqual(os.listdir(self.folder / "layers"), ["0001.bloom"])

    def test_an_export_a_union_and_an_intersection_do_not_replace_a_larger_filter(self):
        self.write("few", users(range(9)))
        shape = ("--seed", "1", "--expected-entries", "20")
        self.check(0, "build", "-o", "counting", "--layout", "counting", *shape, "few")
        self.check(0, "build", "-o", "small", *shape, "few")
        self.check(0, "build", "-o", "large", *shape, "list")
        for command in (("export", "counting"), ("intersect", "small", "large")):
            self.assertIn("9 would be left", self.check(EX_DATAERR, *command, "-o", "filter")[1])
            self.assertEqual(self.read("filter"), self.before["filter"])
        self.check(0, "intersect", "small", "large", "-o", "filter", "--allow-shrink")

    def test_an_export_and_an_intersection_say_what_the_daemon_refuses_all_the_same(self):
        self.write("few", users(range(1)))
        shape = ("--seed", "1", "--expected-entries", "20")
        self.check(0, "build", "-o", "counting", "--layout", "counting", *shape, "few")
        self.check(0, "build", "-o", "small", *shape, "few")
        self.check(0, "build", "-o", "large", *shape, "list")
        for command in (("export", "counting"), ("intersect", "small", "large")):
            self.build(users(range(20)))
            said = self.check(0, *command, "-o", "filter", "--allow-shrink", "--quiet")[1]
            self.assertIn("filter had 20 entries, and has 1 now, less than a tenth", said)
            self.assertEqual(self.check(0, *command, "-o", "filter", "--allow-shrink", "--quiet")[1], "")

    def test_a_counting_filter_is_not_emptied_by_a_slip(self):
        self.check(0, "build", "-o", "counting", "--layout", "counting", "--seed", "1", "list")
        before = self.read("counting")
        self.write("table", TABLE)
        self.assertIn("try --format csv:email", self.check(EX_DATAERR, "counting-add", "counting", "table")[1])
        self.check(EX_DATAERR, "counting-remove", "counting", "list")
        self.assertEqual(self.read("counting"), before)
        self.check(0, "counting-remove", "counting", "list", "--allow-empty")


class LineEndTest(ProgramTest):
    def test_each_of_the_three_line_ends_gives_the_same_filter(self):
        lines = ["# a list", "", *(f"user{i}@example.org" for i in range(3000)), "<ann@example.net> # her"]
        self.build("\n".join(lines))
        unix = self.read("filter")
        for end in ("\r\n", "\r"):
            for packed in (str.encode, lambda text: gzip.compress(text.encode())):
                self.build(packed(end.join(lines) + end))
                self.assertEqual(self.read("filter"), unix)

    def test_a_line_that_ends_otherwise_hides_none(self):
        self.build("ann@example.org # her\rjoe@example.org\r\nzoe@example.org\n# x\reve@example.org\n")
        self.assertEqual(self.info()["entries"], 4)
        self.assertEqual(self.answers("filter", "joe@example.org", "eve@example.org"), ["listed", "listed"])

    def test_a_table_may_have_such_line_ends_and_tabs_or_semicolons(self):
        for separator in ",;\t":
            for end in ("\n", "\r"):
                self.build(end.join([f"name{separator}email", f"Joe{separator}joe@example.org", ""]), "--format", "csv:email")
                self.assertEqual(self.info()["entries"], 1)


if __name__ == "__main__":
    main()
