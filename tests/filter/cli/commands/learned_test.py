"""`bloomgate learned`, of a database that the test has made by itself."""
import contextlib
import fcntl
import gzip
import json
import os
import random
import resource
import sqlite3
import struct
import subprocess
import unittest

from program import BLOOMGATE, EX_CANTCREAT, EX_DATAERR, EX_NOINPUT, EX_USAGE, KILLS, ProgramTest, limited, main


class LearnedTest(ProgramTest):
    """learned list, forget and export: on a database that another hand than ours has made."""

    CHANCE = random.Random(5)
    MONDAY = 20780  # 2026-11-23, in days from 1970 on
    PAIRS = [("ann@ours.example", "joe@example.org", MONDAY - 300, MONDAY),
             ("ann@ours.example", "#bob@example.org", MONDAY, MONDAY),
             ("zoe@ours.example", "abe@example.com", 0, 1)]

    def database(self, pairs=PAIRS, version=2):
        path = self.folder / "learned.db"
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute(
                "CREATE TABLE pairs (change INTEGER PRIMARY KEY, user TEXT NOT NULL, correspondent TEXT NOT NULL, "
                "first_use INTEGER NOT NULL, last_use INTEGER NOT NULL, UNIQUE (user, correspondent)) STRICT")
            database.execute("CREATE TABLE state (one INTEGER PRIMARY KEY, last_change INTEGER NOT NULL, "
                             "forgets INTEGER NOT NULL, pairs INTEGER NOT NULL, source INTEGER NOT NULL, "
                             "shared_forgets INTEGER, shared_by INTEGER NOT NULL) STRICT")
            database.execute("CREATE TABLE forgotten (number INTEGER PRIMARY KEY, person INTEGER NOT NULL, "
                             "time INTEGER NOT NULL, day INTEGER NOT NULL, is_heard INTEGER NOT NULL) STRICT")
            database.execute("CREATE TABLE heard (host INTEGER PRIMARY KEY, source INTEGER NOT NULL, forgets INTEGER NOT NULL) STRICT")
            database.executemany("INSERT INTO pairs VALUES (NULL, ?, ?, ?, ?)", pairs)
            database.execute("INSERT INTO state VALUES (1, ?, 0, ?, 77, NULL, 0)", (len(pairs), len(pairs)))
            database.execute("PRAGMA application_id = 0x426c4c72")
            database.execute(f"PRAGMA user_version = {version}")
        return "learned.db"

    def export(self, *options):
        (self.folder / "lists").mkdir(exist_ok=True)
        out, _ = self.check(0, "learned", "export", self.database(), "--output", "lists", *options)
        return out

    def test_list_shows_all_pairs_or_those_of_one_person(self):
        file = self.database()
        ann = ("2026-11-23\t2026-11-23\t<#bob@example.org> > ann@ours.example\n"
               "2026-11-23\t2026-01-27\tjoe@example.org > ann@ours.example\n")
        zoe = "1970-01-02\t1970-01-01\tabe@example.com > zoe@ours.example\n"
        self.assertEqual(self.check(0, "learned", "list", file)[0], ann + zoe)
        self.assertEqual(self.check(0, "learned", "list", file, "Ann@Ours.example")[0], ann)
        self.assertEqual(self.check(0, "learned", "list", file, "@.com")[0], zoe)
        self.assertEqual(self.check(0, "learned", "list", file, "--newest", "100y", "@example.com")[0], zoe)
        self.assertEqual(self.check(0, "learned", "list", file, "--newest", "1d", "@example.com")[0], "")
        self.assertEqual(json.loads(self.check(0, "learned", "list", file, "--json", "abe@example.com")[0]),
                         {"pairs": [{"correspondent": "abe@example.com", "user": "zoe@ours.example",
                                     "first_use": "1970-01-01", "last_use": "1970-01-02"}]})
        self.assertEqual(json.loads(self.check(0, "learned", "list", file, "--json", "@no.example")[0]), {"pairs": []})

    def test_forget_removes_a_person_on_both_sides(self):
        file = self.database()
        out, _ = self.check(0, "learned", "forget", file, "joe@example.org", "zoe@ours.example")
        self.assertEqual(out, "forgotten 2\nleft      1\ndaemon    no daemon has the file in use\n")
        self.assertEqual(self.check(0, "learned", "list", file)[0].count("\n"), 1)
        out, _ = self.check(0, "learned", "forget", file, "joe@example.org", "--json")
        self.assertEqual(json.loads(out), {"forgotten": 0, "left": 1, "daemon": "none"})
        out, _ = self.check(0, "learned", "forget", file, "joe@example.org")
        self.assertIn("\nif a whitelist lists it: bloomgate-milter revoke ADDRESS\n", out)

    def test_forget_waits_for_the_daemon_and_fails_if_it_does_not_follow(self):
        file = self.database()
        self.write("learned.db-use", "")
        with open(self.folder / "learned.db-use", "rb") as use:
            def lock(kind, begin, count):
                fcntl.fcntl(use, fcntl.F_OFD_SETLK, struct.pack("hhqqi", kind, os.SEEK_SET, begin, count, 0))

            def set_applied(forgets):
                """As the daemon does."""
                lock(fcntl.F_RDLCK, forgets, 1)
                lock(fcntl.F_UNLCK, 0, forgets)

            set_applied(1)
            self.assertIn("daemon    in force\n", self.check(0, "learned", "forget", file, "joe@example.org")[0])
            out, _ = self.check(os.EX_TEMPFAIL, "learned", "forget", file, "zoe@ours.example")
            self.assertIn("forgotten 1\nleft      1\ndaemon    the daemon still uses it after 10 s: look at its log\n",
                          out)
            waiting = subprocess.Popen([BLOOMGATE, "learned", "forget", "--json", file, "<#bob@example.org>"],
                                       cwd=self.folder, stdout=subprocess.PIPE, text=True)
            set_applied(3)
            self.assertEqual(json.loads(waiting.communicate()[0]), {"forgotten": 1, "left": 0, "daemon": "in-force"})

    LIST = ("joe@example.org > ann@ours.example\nabe@example.com > zoe@ours.example\n"
            "joe@example.org > ann+news@ours.example\nann@ours.example > zoe@ours.example\n# by ann@ours.example\n"
            "list:dev.ours.example > zoe@ours.example\nann@ours.example signed-by esp.example\n")
    LEFT = ("abe@example.com > zoe@ours.example\n# by ann@ours.example\nlist:dev.ours.example > zoe@ours.example\n")

    def lists(self):
        """A folder of lists of each kind, and what a run that was killed has left."""
        for name in ("lists/2026-11-20T030000.1/harvested", "lists/2026-11-21T030000.1/learned", "lists/.update.xyz"):
            (self.folder / name).mkdir(parents=True)
        for name in ("2026-11-20T030000.1/harvested/2026-11-20.txt.zst", ".update.xyz/2026-11-22.txt.zst"):
            subprocess.run(["zstd", "-q", "-o", self.folder / "lists" / name], input=self.LIST.encode(), check=True)
        self.write("lists/2026-11-21T030000.1/learned/2026-11-21.txt", self.LIST)
        self.write("lists/2026-11-21T030000.1/learned/2026-11-21.2.txt", self.LEFT)
        self.write("lists/by-hand.txt", self.LIST)
        self.write("lists/.journal-cursor", "s=1;i=2\n2026-11-20\t2026-11-20\tc\t0\tmx AA\tann@ours.example\tann\n"
                                            "2026-11-20\t2026-11-20\tc\t0\tmx AB\tzoe@ours.example\tzoe\n")
        return [path for path in (self.folder / "lists").rglob("*.txt*") if path.parent.name != ".update.xyz"]

    def text_of(self, path):
        return subprocess.run(["zstd", "-dcqf", path], capture_output=True, check=True).stdout.decode()

    def test_forget_with_lists_removes_a_person_from_dated_lists_and_leaves_all_else_as_it_was(self):
        file, lists = self.database(), self.lists()
        for path in lists:
            os.chmod(path, 0o604)
            os.utime(path, ns=(10**18, 10**18 + 7))
        before = {path: (path.read_bytes(), path.stat().st_ino) for path in lists}
        out, _ = self.check(0, "learned", "forget", file, "ann@ours.example", "--lists", "lists")
        self.assertTrue(out.startswith("forgotten 2\nleft      1\ndaemon    no daemon has the file in use\n"
                                       "lists     8 lines removed from 2 of 4 lists\n"
                                       "by hand   lists/by-hand.txt names these people, and was not changed: edit it yourself\n"), out)
        self.assertIn("by hand   4 comments and invalid lines of lists name these people", out)  # a comment in each list
        self.assertIn("systemctl start bloomgate-update", out)
        for path, (content, inode) in before.items():
            changed = path.name in ("2026-11-20.txt.zst", "2026-11-21.txt")
            self.assertEqual(self.text_of(path), self.LEFT if changed or path.name.endswith(".2.txt") else self.LIST)
            self.assertEqual(path.read_bytes().startswith(b"\x28\xb5\x2f\xfd"), path.suffix == ".zst")
            status = path.stat()
            self.assertEqual((status.st_mode & 0o777, status.st_mtime_ns), (0o604, 10**18 + 7))
            self.assertEqual((path.read_bytes(), status.st_ino) == (content, inode), not changed)
        self.assertNotIn("ann@", (self.folder / "lists/.journal-cursor").read_text())
        self.assertIn("s=1;i=2\n2026-11-20\t2026-11-20\tc\t0\tmx AB\t", (self.folder / "lists/.journal-cursor").read_text())
        noted = (self.folder / "lists/.forgotten").read_text()
        self.assertRegex(noted, r"\Abloomgate-forgotten 1 [0-9a-f]{16}\n\d{4}-\d\d-\d\d [0-9a-f]{16}\n\Z")
        self.assertEqual((self.folder / "lists/.forgotten").stat().st_mode & 0o777, 0o640)
        self.assertEqual(sorted(path.name for path in (self.folder / "lists").iterdir()),
                         [".forgotten", ".journal-cursor", "2026-11-20T030000.1", "2026-11-21T030000.1", "by-hand.txt"])
        # Once more, and by a domain; without a file of what was learned.
        out, _ = self.check(0, "learned", "forget", "-", "--json", "--lists", "lists", "ann@ours.example", "@example.com")
        self.assertEqual(json.loads(out)["lists"], {"read": 4, "rewritten": 3, "lines": 3, "lines_of_no_entry": 4, "failed": 0,
                                                    "kept_by_hand": ["lists/by-hand.txt"]})
        self.assertEqual((self.folder / "lists/.forgotten").read_text().count("\n"), 3)

    def test_forget_names_each_list_that_it_cannot_change_and_finishes_when_it_is_run_again(self):
        file, lists = self.database(), self.lists()
        damaged, = (path for path in lists if path.suffix == ".zst")
        whole = damaged.read_bytes()
        damaged.write_bytes(whole[:-3])
        packed = self.folder / "lists/2026-11-19.txt.gz"
        packed.write_bytes(gzip.compress(self.LIST.encode()))
        self.write("lists/2026-11-18.txt", self.LIST * 3000)
        # A disk on which the larger list has no room.
        done = self.run_program("learned", "forget", file, "ann@ours.example", "--lists", "lists",
                                preexec_fn=limited(resource.RLIMIT_FSIZE, 50_000))
        out, err = done.stdout.decode(), done.stderr.decode()
        self.assertEqual(done.returncode, EX_CANTCREAT, err)
        self.assertIn("4 lines removed from 1 of ", out)
        for words in ("2026-11-20.txt.zst", "2026-11-19.txt.gz has lines of these people, and only a plain list",
                      "2026-11-18.txt: File too large", "not all lists were changed; run this again"):
            self.assertIn(words, err)
        self.assertEqual(damaged.read_bytes(), whole[:-3])
        self.assertEqual((self.folder / "lists/2026-11-18.txt").read_text(), self.LIST * 3000)
        damaged.write_bytes(whole)
        packed.write_bytes(self.LIST.encode())
        out, _ = self.check(0, "learned", "forget", file, "ann@ours.example", "--lists", "lists")
        self.assertIn("lines removed from 3 of 6 lists", out)
        self.assertEqual(list((self.folder / "lists").rglob(".update*")), [])

    def test_forget_waits_for_a_run_that_is_at_work_and_changes_nothing_in_a_wrong_folder(self):
        file = self.database()
        self.lists()
        (self.folder / "damaged").mkdir()
        self.write("damaged/.forgotten", "x\n")
        for status, want, folder in [(EX_NOINPUT, "none: expected the folder of lists", "none"),
                                     (EX_NOINPUT, "learned.db: expected the folder of lists", "learned.db"),
                                     (EX_NOINPUT, "no list or run of a day", "."),
                                     (EX_NOINPUT, "no list or run of a day", "lists/2026-11-20T030000.1/")]:
            self.assertIn(want, self.check(status, "learned", "forget", file, "joe@example.org", "--lists", folder)[1])
        self.assertEqual(self.check(0, "learned", "list", file)[0].count("\n"), 3)
        out, err = self.check(EX_DATAERR, "learned", "forget", file, "zoe@ours.example", "--lists", "damaged", "--lists", "lists")
        self.assertIn("damaged/.forgotten: line 1 is not as", err)
        self.assertIn("lines removed from ", out)
        folder = os.open(self.folder / "lists", os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        waiting = subprocess.Popen([BLOOMGATE, "learned", "forget", file, "joe@example.org", "--lists", "lists"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(waiting.stderr.readline(),
                         "bloomgate learned: waiting for bloomgate-update, which is at work in lists\n")
        os.close(folder)
        self.assertIn("lists     4 lines removed", waiting.communicate()[0])
        self.assertEqual(waiting.returncode, 0)

    @unittest.skipUnless(os.geteuid() == 0, "root alone can be another user")
    def test_a_user_who_may_not_change_the_lists_changes_nothing(self):
        file = self.database()
        self.lists()
        os.chmod(self.folder, 0o777)
        os.chmod(self.folder / file, 0o666)
        done = self.run_program("learned", "forget", file, "ann@ours.example", "--lists", "lists", user=65534)
        self.assertEqual(done.returncode, os.EX_NOPERM, done.stderr)
        self.assertIn(b"run this as root, as bloomgate-update does", done.stderr)
        self.assertEqual(self.check(0, "learned", "list", file)[0].count("\n"), 3)

    def test_killed_at_any_moment_each_list_is_whole_and_the_next_run_finishes(self):
        folder = self.folder / "lists"
        folder.mkdir()
        large = self.LIST * 1000
        for _ in range(KILLS):
            for day in range(10, 20):
                self.write(f"lists/2026-11-{day}.txt", large)
            self.kill_after(self.CHANCE.random() * 0.07, "learned", "forget", "-", "ann@ours.example", "--lists", "lists")
            for path in folder.glob("2026*"):
                self.assertIn(path.read_text(), (large, self.LEFT * 1000))
            self.check(0, "learned", "forget", "-", "ann@ours.example", "--lists", "lists")
            self.assertEqual({path.read_text() for path in folder.glob("2026*")}, {self.LEFT * 1000})
            self.assertEqual(list(folder.glob(".update*")), [])

    def test_export_writes_a_list_that_build_reads(self):
        out = self.export("--date", "2026-11-20")
        self.assertEqual(out, "exported  lists/2026-11-20.txt.zst\nentries   3\n")
        path = self.folder / "lists" / "2026-11-20.txt.zst"
        lines = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout.decode()
        self.assertEqual(lines, "<#bob@example.org> > ann@ours.example\nabe@example.com > zoe@ours.example\n"
                                "joe@example.org > ann@ours.example\n")
        self.assertEqual(path.stat().st_mode & 0o777, 0o640)
        self.check(0, "build", "--strict", "-o", "filter", "lists")
        self.check(0, "query", "filter", "abe@example.com > zoe@ours.example")
        self.check(1, "query", "filter", "abe@example.com > ann@ours.example")

    def test_a_file_that_is_not_a_database_of_pairs_is_refused_by_name(self):
        self.write("text", "x" * 5000)
        self.write("empty", "")
        (self.folder / "lists").mkdir()
        database = self.database(version=3)
        for status, want, arguments in [
                (EX_NOINPUT, "missing", ["list", "missing"]),
                (EX_DATAERR, "text: file is not a database", ["list", "text"]),
                (EX_DATAERR, "empty", ["forget", "empty", "a@example.org"]),
                (EX_DATAERR, "found version 3", ["export", database, "--output", "lists"]),
                (EX_USAGE, "say what to do", []),
                (EX_USAGE, "name the file", ["list"]),
                (EX_USAGE, "not 'shred'", ["shred", database]),
                (EX_USAGE, "at least one address", ["forget", database]),
                (EX_USAGE, "'joe' is no address", ["forget", database, "joe"]),
                (EX_USAGE, "--output", ["export", database]),
                (EX_USAGE, "--output", ["list", database, "--output", "lists"]),
                (EX_USAGE, "--newest", ["list", database, "--newest", "3"]),
                (EX_USAGE, "--lists goes with", ["list", database, "--lists", "lists"]),
                (EX_USAGE, "give --lists", ["forget", "-", "a@example.org"]),
                (EX_USAGE, "--date", ["export", database, "--output", "lists", "--date", "today"])]:
            with self.subTest(arguments=arguments):
                self.assertIn(want, self.check(status, "learned", *arguments)[1])
        self.assertEqual(os.listdir(self.folder / "lists"), [])


if __name__ == "__main__":
    main()
