"""Slips of a tired operator: what is mistyped, swapped or forgotten ends in a sentence that leads on, and costs no file."""
import gzip
import os
import shutil
import subprocess

from program import EX_CANTCREAT, EX_DATAERR, EX_NOINPUT, EX_USAGE, ProgramTest, main, users

EX_NOPERM = 77
NOBODY = 65534

# The words after `bloomgate`, the exit code, and what is said. In each folder there are: a list, a filter with its store, an
# empty folder, a folder of lists, a link that leads nowhere, a folder with such a link, and a text that nobody has twice.
OPTIONS = {
    "a command mistyped": ("buidl -o new list", EX_USAGE, "there is no command 'buidl' (did you mean build?)"),
    "a command with a capital": ("Query filter joe@example.org", EX_USAGE, "'Query' (did you mean query?)"),
    "a command with dashes": ("--build -o new list", EX_USAGE, "a command is a word without dashes"),
    "a command of another program": ("start", EX_USAGE, "'bloomgate --help' lists the commands"),
    "an option mistyped": ("build -o new --expected-entires 9 list", EX_USAGE, "(did you mean --expected-entries?)"),
    "an option mistyped, with its value": ("build -o new --expected-entires=9 list", EX_USAGE, "(did you mean --expected-entries?)"),
    "a command with a letter missing": ("ifo filter", EX_USAGE, "(did you mean info?)"),
    "a program mistyped": ("import --from rspamdd list", EX_USAGE, "not 'rspamdd' (did you mean rspamd?)"),
    "a layout mistyped": ("build -o new --layout pgae list", EX_USAGE, "not 'pgae' (did you mean page?)"),
    "a hash mistyped": ("build -o new --hash murmur list", EX_USAGE, "not 'murmur' (did you mean murmur3?)"),
    "a format mistyped": ("build -o new --format postfix_map list", EX_USAGE, "not 'postfix_map' (did you mean postfix-map?)"),
    "an action mistyped": ("learned lst list", EX_USAGE, "not 'lst' (did you mean list?)"),
    "an option of the daemon": ("build -o new --mode observe list", EX_USAGE, "unrecognised option '--mode'"),
    "one dash for two": ("build -output new list", EX_USAGE, "'-output' has one dash; write --output"),
    "one dash and an equals sign": ("build -o new -threads=2 list", EX_USAGE, "'-threads' has one dash; write --threads"),
    "spaces around an equals sign": ("build --output = new list", EX_USAGE, "write --output=VALUE"),
    "an option without its value": ("build --output= list", EX_USAGE, "'--output' should follow immediately after"),
    "an option twice": ("build -o new -o other list", EX_USAGE, "'--output' cannot be specified more than once"),
    "no output": ("build --quiet list", EX_USAGE, "bloomgate build --output /var/lib/bloomgate/whitelist.bloom --quiet list"),
    "a size for a number": ("build -o new --expected-entries 8G list", EX_USAGE, "a whole number such as 1000000 or 1e9, not '8G'"),
    "a number with commas": ("size --entries 1,000,000", EX_USAGE, "such as 1000000 or 1e9, not '1,000,000'"),
    "a negative number": ("size --entries -5", EX_USAGE, "not '-5'"),
    "a number with a unit": ("size --entries 9 --bits-per-entry 8GB", EX_USAGE, "--bits-per-entry takes a number such as 8 or 9.5, not '8GB'"),
    "a number in words": ("build -o new --threads two list", EX_USAGE, "--threads takes a whole number, not 'two'"),
    "an age without a unit": ("build -o new --newest 180 list", EX_USAGE, "a time such as 180d, 26w or 1y, not '180'"),
    "a number without its option": ("size 1e9", EX_USAGE, "'1e9' belongs to no option"),
}
PATHS = {
    "a folder for the output": ("build -o folder list", EX_DATAERR, "folder is a folder, and the name of the file is missing; add it, such as folder/whitelist.bloom"),
    "this folder for the output": ("build -o . list", EX_DATAERR, ". is a folder, and the name of the file is missing; add it"),
    "a name for an address": ("query joe", EX_USAGE, "there is no file joe, and an address has an '@': bloomgate query joe@example.org"),
    "a dash for the output": ("build -o - list", EX_USAGE, "cannot go to standard output; name a file"),
    "a dash for the store": ("build -o new --store - list", EX_USAGE, "cannot go to standard output; name a file"),
    "a layer of a list that is not there": ("add-layer new none", EX_NOINPUT, "open none: No such file or directory"),
    "a compressed list of another program": ("import compressed", EX_DATAERR, "compressed is compressed; decompress it"),
    "a list of another program in UTF-16": ("import --from microsoft utf16", EX_DATAERR, "utf16 is no list, but text in UTF-16; convert it"),
    "a folder for the output that is not there": ("build -o none/ list", EX_DATAERR, "such as none/whitelist.bloom"),
    "a folder for the store": ("build -o new --store folder/ list", EX_DATAERR, "such as folder/whitelist.store"),
    "a device for the output": ("build -o /dev/null list", EX_DATAERR, "/dev/null exists and is not a regular file"),
    "a folder that is not there": ("build -o none/new list", EX_CANTCREAT, "make it: mkdir -p none"),
    "a folder without lists": ("build -o new folder", EX_DATAERR, "the folder folder holds no file"),
    "a list that is not there": ("build -o new none/list", EX_NOINPUT, "No such file or directory; there is no folder none"),
    "a link that leads nowhere": ("build -o new dangling", EX_NOINPUT, "it is a link to nowhere, which is not there"),
    "a link in a folder that leads nowhere": ("build -o new links", EX_NOINPUT,
                                              "links/b.txt: No such file or directory; it is a link to nowhere, which is not there"),
    "a link in a folder of what is left out": ("build -o new --leave-out links -- list", EX_NOINPUT, "it is a link to nowhere"),
    "a file for a folder": ("query list/filter joe@example.org", EX_NOINPUT, "Not a directory; it is no folder: list"),
    "a file for a folder of layers": ("append filter list", EX_NOINPUT, "open the folder filter: Not a directory; name a folder"),
    "the arguments of append swapped": ("append list layers", EX_NOINPUT, "open the folder list: Not a directory; name a folder"),
    "a folder without layers": ("query folder joe@example.org", 78, "bloomgate add-layer folder LIST"),
    "the arguments of query swapped": ("query joe@example.org filter", EX_USAGE,
                                        "name the filter before the addresses: bloomgate query filter ADDRESS..."),
    "a list and a counting filter swapped": ("counting-add list filter", EX_USAGE, "name the counting filter first, then the lists"),
    "the same for removal": ("counting-remove list list filter", EX_USAGE, "name the counting filter first, then the lists"),
    "a list for a filter": ("info list", EX_DATAERR, "list is not a filter of Bloomgate: it has"),
    "a store for a filter": ("merge -o new filter store", EX_DATAERR, "store is a store, and a filter is wanted here; name the other file of the pair"),
    "a filter for a store": ("query filter --confirm filter joe@example.org", EX_DATAERR, "filter is a filter, and a store is wanted here"),
    "a list for a store": ("query filter --confirm list joe@example.org", EX_DATAERR, "list is not a store of Bloomgate: it has"),
    "an empty file for a filter": ("info empty", EX_DATAERR, "empty has 0 bytes, less than the header of 4096; copy or build"),
    "a filter for a secret key": ("sign --key filter filter", EX_DATAERR, "filter is not the file of a secret key"),
    "a filter for what was learned": ("learned list filter", EX_DATAERR, "name the file of the option learn-file; if this is it"),
    "what was never kept": ("rollback filter", EX_NOINPUT, "'bloomgate build --keep 2' keeps two from now on"),
}
# What would cost a file that cannot be made again.
LOSSES = {
    "the list is the output": ("build -o list list", EX_USAGE, "--output would overwrite the list list"),
    "a filter over the store": ("build -o store list", EX_CANTCREAT, "store is a store, which a filter would replace"),
    "a store over the filter": ("build -o new --store filter list", EX_CANTCREAT, "filter is a filter, which a store would replace"),
    "output and store swapped": ("build -o store --store filter list", EX_CANTCREAT, "name another file"),
    "a text as the output": ("build -o text list", EX_CANTCREAT, "text is neither a filter nor a store"),
    "a text as the union": ("merge -o text filter filter", EX_CANTCREAT, "text is neither a filter nor a store"),
    "the store as the union": ("merge -o store filter filter", EX_CANTCREAT, "store is a store"),
    "a text as the signed copy": ("sign --key key filter -o text", EX_CANTCREAT, "text is neither a filter nor a store"),
    "rejected lines over the filter": ("build -o new --reject-file filter list", EX_CANTCREAT,
                                       "filter is a filter, which rejected lines would replace"),
    "rejected lines over a text": ("build -o new --reject-file text list", EX_CANTCREAT,
                                   "text has other content, which rejected lines would replace; name another file with --reject-file"),
    "rejected lines over the key": ("part --of 2 --index 0 --store-seed 1 -o new --reject-file key list", EX_CANTCREAT,
                                    "key has other content, which rejected lines would replace"),
    "a plot over the key": ("size --fpr 0.01 --plot=key", EX_CANTCREAT,
                            "key has other content, which a plot would replace; name another file with --plot"),
    "a plot over the store": ("size --fpr 0.01 --plot=store", EX_CANTCREAT, "store is a store, which a plot would replace"),
    "a new key over the old one": ("sign --new-key key", EX_CANTCREAT, "key is there already"),
}


class SlipsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.build(users(range(20)), "--store", "store")
        self.check(0, "sign", "--new-key", "key")
        self.write("text", "the only copy\n")
        self.write("empty", "")
        self.write("compressed", gzip.compress(b"bank.example\n"))
        self.write("utf16", "name,address\r\nJoe,joe@example.org\r\n".encode("utf-16"))
        for name in ("folder", "layers", "links"):
            os.mkdir(self.folder / name)
        self.write("links/a.txt", users(range(3)))
        os.symlink("nowhere", self.folder / "links/b.txt")
        self.write("layers/a.txt", users(range(3)))
        os.symlink("nowhere", self.folder / "dangling")

    def check_slips(self, slips):
        files = [name for name in self.names() if (self.folder / name).is_file()]
        before = {name: self.read(name) for name in files}
        there = self.names()
        for name, (words, status, says) in slips.items():
            with self.subTest(name):
                said = self.check(status, *words.split())[1]
                self.assertIn(says, said)
                self.assertEqual(said.count("\n"), 1, said)
                self.assertEqual({each: self.read(each) for each in files}, before)
                self.assertEqual(self.names(), there)

    def test_a_mistyped_command_line_says_what_it_takes(self):
        self.check_slips(OPTIONS)

    def test_a_wrong_path_is_named_with_what_is_there(self):
        self.check_slips(PATHS)

    def test_no_slip_costs_a_file(self):
        self.check_slips(LOSSES)


class ClockTest(ProgramTest):
    """A clock that is a year ahead, or a year behind the lists."""

    def test_lists_that_are_all_too_old_are_named_with_the_clock(self):
        os.rename(self.write("list", users(range(9))), self.folder / "2020-01-01.txt")
        said = self.check(EX_DATAERR, "build", "-o", "new", "--newest", "180d", "2020-01-01.txt")[1]
        self.assertRegex(said, r"the newest is of 2020-01-01, and today is [0-9-]{10} by this machine's clock; run")

    def test_a_list_of_a_day_to_come_is_named(self):
        os.rename(self.write("list", users(range(9))), self.folder / "2999-01-01.txt")
        said = self.check(0, "build", "-o", "new", "--newest", "180d", "2999-01-01.txt")[1]
        self.assertIn("warning: 2999-01-01.txt has a future date: today is ", said)


class FullDiskTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.build(users(range(20000)))
        self.full = self.folder / "full"
        os.mkdir(self.full)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", self.full], capture_output=True).returncode != 0:
            self.skipTest("no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", self.full], check=True)

    def test_a_full_disk_and_one_for_reading_only_are_named_and_stay_as_they_were(self):
        for output in ("full/new", "full/new.store"):
            outputs = ("-o", "new", "--store", output) if output.endswith("store") else ("-o", output)
            said = self.check(EX_CANTCREAT, "build", *outputs, "list")[1]
            self.assertIn("full/new", said)
            self.assertIn("No space left on device; make room there, or name another place", said)
        subprocess.run(["mount", "-o", "remount,ro", self.full], check=True)
        said = self.check(EX_CANTCREAT, "build", "-o", "full/new", "list")[1]
        self.assertIn("Read-only file system, in the folder full", said)
        self.assertEqual((os.listdir(self.full), self.names()), ([], ["filter", "full", "list"]))


class OtherUserTest(ProgramTest):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        self.build(users(range(20)))
        os.chmod(self.folder, 0o755)

    def check_as_nobody(self, status, says, *words):
        result = self.run_program(*words, user=NOBODY, group=NOBODY, extra_groups=[])
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertIn(says, result.stderr.decode())

    def test_another_user_is_told_what_is_closed_to_him(self):
        self.check_as_nobody(EX_CANTCREAT, "run this as root, or as the owner of that folder", "build", "-o", "new", "list")
        os.chmod(self.folder / "filter", 0o600)
        self.check_as_nobody(EX_NOINPUT, "open filter: Permission denied; the user nobody may not read it", "info", "filter")
        os.mkdir(self.folder / "closed", 0o700)
        shutil.copy(self.folder / "list", self.folder / "closed")
        self.check_as_nobody(EX_NOINPUT, "the user nobody may not enter the folder closed", "build", "-o", "new", "closed/list")

    def test_a_key_that_everybody_may_read_is_refused(self):
        self.check(0, "sign", "--new-key", "key")
        os.chmod(self.folder / "key", 0o644)
        said = self.check(EX_NOPERM, "sign", "--key", "key", "filter")[1]
        self.assertIn("chmod o= key", said)


if __name__ == "__main__":
    main()
