"""`bloomgate learned`, of a database that the test has made by itself."""
import contextlib
import fcntl
import json
import os
import sqlite3
import struct
import subprocess

from program import BLOOMGATE, EX_DATAERR, EX_NOINPUT, EX_USAGE, ProgramTest, main


class LearnedTest(ProgramTest):
    """learned list, forget and export: on a database that another hand than ours has made."""

    MONDAY = 20780  # 2026-11-23, in days from 1970 on
    PAIRS = [("ann@ours.example", "joe@example.org", MONDAY - 300, MONDAY),
             ("ann@ours.example", "#bob@example.org", MONDAY, MONDAY),
             ("zoe@ours.example", "abe@example.com", 0, 1)]

    def database(self, pairs=PAIRS, version=1):
        path = self.folder / "learned.db"
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute(
                "CREATE TABLE pairs (change INTEGER PRIMARY KEY, user TEXT NOT NULL, correspondent TEXT NOT NULL, "
                "first_use INTEGER NOT NULL, last_use INTEGER NOT NULL, UNIQUE (user, correspondent)) STRICT")
            database.execute("CREATE TABLE state (one INTEGER PRIMARY KEY, last_change INTEGER NOT NULL, "
                             "forgets INTEGER NOT NULL, pairs INTEGER NOT NULL) STRICT")
            database.execute("CREATE TABLE forgotten (number INTEGER PRIMARY KEY, person INTEGER NOT NULL, "
                             "time INTEGER NOT NULL, day INTEGER NOT NULL) STRICT")
            database.executemany("INSERT INTO pairs VALUES (NULL, ?, ?, ?, ?)", pairs)
            database.execute("INSERT INTO state VALUES (1, ?, 0, ?)", (len(pairs), len(pairs)))
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

            def go_by(forgets):
                """As the daemon does."""
                lock(fcntl.F_RDLCK, forgets, 1)
                lock(fcntl.F_UNLCK, 0, forgets)

            go_by(1)
            self.assertIn("daemon    in force\n", self.check(0, "learned", "forget", file, "joe@example.org")[0])
            out, _ = self.check(os.EX_TEMPFAIL, "learned", "forget", file, "zoe@ours.example")
            self.assertIn("forgotten 1\nleft      1\ndaemon    the daemon has not taken it in within 10 s: look at its log\n",
                          out)
            waiting = subprocess.Popen([BLOOMGATE, "learned", "forget", "--json", file, "<#bob@example.org>"],
                                       cwd=self.folder, stdout=subprocess.PIPE, text=True)
            go_by(3)
            self.assertEqual(json.loads(waiting.communicate()[0]), {"forgotten": 1, "left": 0, "daemon": "in-force"})

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
        database = self.database(version=2)
        for status, want, arguments in [
                (EX_NOINPUT, "missing", ["list", "missing"]),
                (EX_DATAERR, "text: file is not a database", ["list", "text"]),
                (EX_DATAERR, "empty", ["forget", "empty", "a@example.org"]),
                (EX_DATAERR, "found version 2", ["export", database, "--output", "lists"]),
                (EX_USAGE, "say what to do", []),
                (EX_USAGE, "name the file", ["list"]),
                (EX_USAGE, "not 'shred'", ["shred", database]),
                (EX_USAGE, "at least one address", ["forget", database]),
                (EX_USAGE, "'joe' is no address", ["forget", database, "joe"]),
                (EX_USAGE, "--output", ["export", database]),
                (EX_USAGE, "--output", ["list", database, "--output", "lists"]),
                (EX_USAGE, "--newest", ["list", database, "--newest", "3"]),
                (EX_USAGE, "--date", ["export", database, "--output", "lists", "--date", "today"])]:
            with self.subTest(arguments=arguments):
                self.assertIn(want, self.check(status, "learned", *arguments)[1])
        self.assertEqual(os.listdir(self.folder / "lists"), [])


if __name__ == "__main__":
    main()
