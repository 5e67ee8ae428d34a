#!/usr/bin/python3
"""tests/bench/run at a tiny size: that its table is whole and right; of speed it says nothing.

usage: run_test.py BUILD-FOLDER [unittest arguments]
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

BUILD = None
RUN = pathlib.Path(__file__).with_name("run")
ENTRIES = 20_000


class RunTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="bloomgate-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_bench(self, *options, status=0):
        sizes = ["--entries", str(ENTRIES), "--probes", "3e5", "--repeat", "1"]
        command = [sys.executable, RUN, "--build", BUILD, *sizes, "--input", self.folder / "input", *options]
        result = subprocess.run(command, capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stdout

    def rows_of(self, text, heading):
        """The cells of the first table below a heading."""
        section = text.split(f"## {heading}\n", 1)[1]
        table = re.search(r"(?m)^\|.*\n\| ---.*\n((?:\|.*\n)+)", section).group(1)
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]

    def test_one_run_gives_every_table(self):
        plots = self.folder / "plots"
        self.run_bench("--out", self.folder / "table.md", "--results", self.folder / "results.json", "--plots", plots)
        text = (self.folder / "table.md").read_text()
        results = json.loads((self.folder / "results.json").read_text())

        cores = sorted({1, min(2, len(os.sched_getaffinity(0))), len(os.sched_getaffinity(0))})
        self.assertEqual([row[0] for row in self.rows_of(text, "The floor")], [str(count) for count in cores])
        self.assertEqual(results["floor"]["lines"], ENTRIES)
        layouts = ("page", "line", "classic", "partitioned")
        want = [[layout, str(count)] for layout in layouts for count in cores]
        self.assertEqual([row[:2] for row in self.rows_of(text, "The builder")], want)
        self.assertEqual([row[:2] for row in self.rows_of(text, "Look-ups")], want)
        # All but the bad lines are entries, and all of those are found.
        entries = {row["entries"] for part in ("builder", "query", "verify") for row in results[part]}
        self.assertEqual(len(entries), 1)
        self.assertTrue(0.99 * ENTRIES < entries.pop() < ENTRIES)
        self.assertEqual({row["missing"] for row in results["verify"]}, {0})
        for row, cells in zip(results["builder"], self.rows_of(text, "The builder")):
            # Of the floor means: of the same number of cores in the same run.
            floor = results["floor"]["cores"][str(row["cores"])]["rate"]
            self.assertAlmostEqual(float(cells[4]), row["entries"] / row["seconds"] / floor, delta=0.006)
        for row in self.rows_of(text, "False positives"):
            self.assertAlmostEqual(float(row[-1]), 1, delta=0.1)
        ways = {row[0]: row for row in self.rows_of(text, "What keeps strangers out")}
        self.assertEqual(list(ways), ["page", "ribbon", "page + --never-match", "page + store", "ribbon + store",
                                      "page of 5 bits + store"])  # fmt: skip
        for name, (*_, found, known) in ways.items():
            # Only a store keeps everybody out, and only --never-match those whom it knows.
            self.assertEqual(found.startswith("none of "), "store" in name, name)
            self.assertEqual(known.startswith("none of "), "store" in name or "--never-match" in name, name)
        self.assertLess(float(ways["ribbon"][-1].split()[0]), 0.5 * float(ways["page"][-1].split()[0]))
        for name in ("false-positives", "build-rate"):
            drawn = "".join(xml.etree.ElementTree.parse(plots / f"{name}.svg").getroot().itertext())
            self.assertTrue(all(way in drawn for way in ("page", "ribbon + store")), drawn)
        lecture = self.rows_of(text, "The lecture's table")
        self.assertEqual([row[0] for row in lecture], ["1", "2", "3", "4", "5", "8", "16"])
        self.assertEqual([row[3] for row in lecture], ["1", "1", "2", "3", "3", "6", "11"])
        for row in lecture[:5]:
            self.assertAlmostEqual(float(row[6]), 1, delta=0.2)
        classroom = self.rows_of(text, "The classroom's table")
        self.assertEqual([row[0] for row in classroom], ["555,888", "362,329", "278,494"])
        for row, project in zip(classroom, (1.04, 5.04, 10.14)):
            self.assertAlmostEqual(float(row[3].split()[0]) / project, 1, delta=0.03)
            self.assertAlmostEqual(float(row[5]), 1, delta=0.15)
        peers = self.rows_of(text, "Peers")
        self.assertEqual(len(peers), 4)
        for row in peers:
            self.assertTrue(row[2] == "not installed" or row[3].endswith(" M/s"), row)
        # Nothing stays but the list.
        self.assertEqual(os.listdir(self.folder / "input"), [f"addresses-{ENTRIES}.txt"])
        lines = (self.folder / "input" / f"addresses-{ENTRIES}.txt").read_text().splitlines()
        self.assertEqual(len(set(lines)), ENTRIES)

    def test_parts_run_by_themselves_and_add_to_earlier_results(self):
        results = self.folder / "results.json"
        text = self.run_bench("--only", "floor,tables", "--results", results)
        want = ["Machine", "The floor", "The lecture's table", "The classroom's table"]
        self.assertEqual(re.findall(r"(?m)^## (.*)", text), want)
        text = self.run_bench("--only", "fpr", "--results", results)
        self.assertEqual(len(re.findall(r"(?m)^## ", text)), 5)
        self.assertIn("## False positives", text)
        self.run_bench("--only", "speed", status=2)


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
