"""Who tries to be taught by logs, sent mail, tables and address books: `bloomgate harvest` lists those to whom a user has
written, and nobody else. The table is in the folder `taught`. usage: taught_test.py BLOOMGATE [unittest arguments]"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from taught import logs, mail, tables  # noqa: E402
from taught.case import Link, Names, Pipe  # noqa: E402

BLOOMGATE = os.path.abspath(sys.argv.pop(1))
# Sent mail of all cases is below one folder, as on a server.
SHARED = "vmail/"


class Run:
    """One run of the program, of several cases with the same options, in a folder of its own."""

    def __init__(self, cases):
        self.cases = [(case, Names(number)) for number, case in cases]
        self.is_alone = len(cases) == 1

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="bloomgate-test-")
        self.folder = Path(self._folder.name)
        for number, (case, names) in enumerate(self.cases):
            for order, (path, content) in enumerate(case.files.items()):
                # Logs are read in the order in which they were written.
                self.write(self.place(path, names), content, names, 1_000_000_000 + 100 * number + order)
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def place(self, path, names):
        path = names.of(path)
        return path if self.is_alone or path.startswith(SHARED) else f"{names.tag}/{path}"

    def write(self, name, content, names, time):
        path = self.folder / name
        if name.endswith("/"):
            return path.mkdir(parents=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Link):
            return path.symlink_to(self.folder / self.place(content.to, names))
        if isinstance(content, Pipe):
            return os.mkfifo(path)
        path.write_bytes(names.content(content) if isinstance(content, (str, bytes)) else content.bytes(names))
        os.utime(path, (time, time))

    def words(self):
        case, names = self.cases[0]
        options = [names.of(word) for word in case.options]
        sources = [self.place(source, names) for case, names in self.cases for source in case.sources or case.files]
        return ["harvest", "--output", "lists", "--date", "2026-11-20", "--own-domain", self.own_domain(), *options,
                "--", *dict.fromkeys(sources)]

    def own_domain(self):
        case, names = self.cases[0]
        # All below ours.example are own domains, too, unless a case asks for one domain.
        return case.own_domain if case.own_domain.startswith(".") else names.of(case.own_domain)

    def environment(self):
        case, names = self.cases[0]
        if not case.journal:
            return None
        (self.folder / "journal").write_text(names.of(case.journal))
        program = self.folder / "journalctl"
        program.write_text(f"#!/bin/sh\ncat {self.folder}/journal\n")
        program.chmod(0o755)
        return {**os.environ, "PATH": f"{self.folder}:/usr/bin:/bin"}

    def harvest(self):
        """The exit status, what was said, and the entries of the list."""
        (self.folder / "lists").mkdir(exist_ok=True)
        done = subprocess.run([BLOOMGATE, *self.words()], cwd=self.folder, capture_output=True, timeout=60, text=True,
                              errors="replace", env=self.environment(), stdin=subprocess.DEVNULL)
        lists = sorted((self.folder / "lists").iterdir())
        entries = subprocess.run(["zstd", "-dc", *lists], capture_output=True, check=True).stdout.decode() if lists else ""
        return done.returncode, done.stdout + done.stderr, entries.splitlines()


def by_case(entries):
    """Tag -> entries; under "" those that belong to no case."""
    found = {}
    for each in entries:
        tag = re.search(r"\b(c\d{3})\.", each)
        found.setdefault(tag.group(1) if tag else "", set()).add(each)
    return found


class TaughtTest(unittest.TestCase):
    def check(self, cases):
        cases = list(enumerate(cases))
        alone = [case for case in cases if case[1].is_alone()]
        groups = {}
        for case in cases:
            if case not in alone:
                groups.setdefault(case[1].options, []).append(case)
        for case in alone:
            self.check_run([case])
        for group in groups.values():
            self.check_run(group)

    def check_run(self, cases):
        with Run(cases) as run:
            status, said, entries = run.harvest()
        if status != 0 and len(cases) > 1:
            # It should not have ended; which case has done it, each by itself shows.
            for case in cases:
                self.check_run([case])
            return self.fail(f"a run of {len(cases)} cases has ended with {status}: {said}")
        found = by_case(entries)
        for case, names in run.cases:
            with self.subTest(case.what):
                self.assertEqual(status, case.status, said)
                self.assertIn(names.of(case.said), said)
                self.assertEqual(found.pop(names.tag, set()), {names.of(each) for each in case.entries()})
        self.assertEqual(found, {}, "entries of no case")

    def test_logs(self):
        self.check(logs.CASES)

    def test_sent_mail(self):
        self.check(mail.CASES)

    def test_tables_and_address_books(self):
        self.check(tables.CASES)

    def test_the_table_has_its_cases_each_once(self):
        names = [f"{part.__name__}: {case.what}" for part in (logs, mail, tables) for case in part.CASES]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreaterEqual(len(names), 150)


if __name__ == "__main__":
    unittest.main()
