"""`bloomgate size`."""
import json
import re
import xml.etree.ElementTree

from program import EX_CANTCREAT, EX_USAGE, ProgramTest, main


class SizeTest(ProgramTest):
    def test_the_default_is_8_bits_per_entry_for_10_9_entries(self):
        out, _ = self.check(0, "size", "--entries", "1e9")
        self.assertRegex(out, r"(?m)^bits per entry +8$")
        self.assertRegex(out, r"(?m)^hashes +6$")
        self.assertRegex(out, r"1,000,0\d\d,\d\d\d bytes")
        self.assertRegex(out, r"(?m)^FPR +2\.16 %")

    def test_size_and_rate_follow_from_a_given_rate_or_memory(self):
        out, _ = self.check(0, "size", "--entries", "50000000", "--fpr", "0.1%")
        self.assertRegex(out, r"(?m)^bits per entry +14\.\d+$")
        self.assertRegex(out, r"(?m)^FPR +0\.100 %")
        out, _ = self.check(0, "size", "--entries", "1e9", "--memory", "2G")
        size = int(re.search(r"(?m)^size .*\(([\d,]+) bytes\)", out).group(1).replace(",", ""))
        self.assertLessEqual(size, 2 * 1024**3)
        self.assertGreater(size, 2 * 1024**3 - 20_000)

    def test_each_layout_has_its_own_rate_and_best_k(self):
        for layout, hashes, rate in (
            ("page", 11, "0.0464"),
            ("line", 9, "0.0844"),
            ("classic", 11, "0.0459"),
            ("partitioned", 11, "0.0459"),
        ):
            out, _ = self.check(0, "size", "--entries", "1e9", "--bits-per-entry", "16", "--layout", layout)
            self.assertRegex(out, rf"(?m)^layout +{layout}$")
            self.assertRegex(out, rf"(?m)^hashes +{hashes}$")
            self.assertRegex(out, rf"(?m)^FPR +{rate} %")
        small, large = (
            re.search(r"(?m)^FPR +([\d.]+) %", self.check(0, "size", "--entries", "1e9", "--layout", "line", *size)[0])
            for size in ([], ["--block-bytes", "512"])
        )
        self.assertGreater(float(small.group(1)), float(large.group(1)))

    def test_the_size_of_the_sender_domains_is_said_for_few_and_for_as_many_as_entries(self):
        self.assertIn("\nsender domains  557.11 KiB more for 100,000 of them, and at most 3.77 GiB more, if each",
                      self.check(0, "size", "--entries", "1e9")[0])
        self.assertAlmostEqual(self.size("--entries", "1e9")["most_sender_domains_bytes"], 4.043e9, delta=1e6)
        self.assertIn("\nsender domains  at most 6.38 KiB more", self.check(0, "size", "--entries", "1000")[0])
        # What the section of such a filter then has.
        self.build("".join(f"joe@d{i}.example\n" for i in range(1000)))
        self.assertEqual(self.info()["sender_domains_bytes"], self.size("--entries", "1000")["most_sender_domains_bytes"])
        self.assertIn("\nsender domains  4 to 7 bytes more for each", self.check(0, "size", "--fpr", "1%")[0])
        self.assertIsNone(self.size("--fpr", "1%")["most_sender_domains_bytes"])

    def size(self, *arguments):
        return json.loads(self.check(0, "size", "--json", *arguments)[0])

    def test_any_sufficient_set_gives_the_same_filter(self):
        whole = self.size("--entries", "1e8", "--bits-per-entry", "10")
        self.assertEqual((whole["hashes"], whole["bits_per_entry"]), (7, 10))
        self.assertAlmostEqual(whole["fpr"], 0.00822, delta=0.00001)
        self.assertAlmostEqual(whole["file_bytes"], 125_000_000, delta=20_000)
        given = {name.replace("_", "-"): str(whole[name]) for name in ("entries", "bits_per_entry", "hashes", "fpr")}
        given["memory"] = str(whole["file_bytes"])
        for names in (
            ["entries", "bits-per-entry", "hashes"], ["entries", "fpr"], ["entries", "fpr", "hashes"],
            ["entries", "memory"], ["entries", "memory", "hashes"], ["bits-per-entry", "memory"], ["fpr", "memory"],
            ["fpr", "hashes", "memory"], ["bits-per-entry", "hashes", "memory"],
        ):
            with self.subTest(names=names):
                got = self.size(*(part for name in names for part in ("--" + name, given[name])))
                self.assertEqual(got["hashes"], 7)
                for name in ("entries", "bits_per_entry", "file_bytes"):
                    self.assertAlmostEqual(got[name] / whole[name], 1, delta=1e-3, msg=name)
                self.assertAlmostEqual(got["fpr"] / whole["fpr"], 1, delta=5e-3)

    def test_without_entries_or_memory_there_is_no_size(self):
        got = self.size("--fpr", "1%", "--layout", "classic")
        # The value that every calculator gives: -ln 0.01 / (ln 2)^2, a little more since k is whole.
        self.assertAlmostEqual(got["bits_per_entry"], 9.585, delta=0.01)
        self.assertEqual((got["hashes"], got["entries"], got["file_bytes"]), (7, None, None))
        self.assertRegex(self.check(0, "size", "--fpr", "1%")[0], r"(?m)^entries +any number$")

    def test_a_rate_at_known_bits_gives_the_fewest_hashes(self):
        got = self.size("--bits-per-entry", "16", "--fpr", "0.1%")
        self.assertEqual(got["hashes"], 6)
        self.assertLess(got["fpr"], 0.001)
        self.assertGreater(self.size("--bits-per-entry", "16", "--hashes", "5")["fpr"], 0.001)

    def test_the_tables_have_the_published_values(self):
        got = self.size("--entries", "1e9", "--layout", "classic")
        self.assertEqual([row["layout"] for row in got["layouts"]], ["page", "line", "classic", "partitioned", "ribbon", "counting"])
        self.assertEqual([row["hashes"] for row in got["layouts"]], [6, 5, 6, 6, 1, 6])
        rows = {row["bits_per_entry"]: row for row in got["table"]}
        self.assertEqual(sorted(rows), list(range(4, 13)))
        # Fan, Cao, Almeida, Broder, "Summary cache", 2000: the appendix's table of m/n and k.
        for bits, hashes, rate in ((4, 4, 0.160), (5, 4, 0.0920), (8, 4, 0.0240), (8, 5, 0.0217), (8, 6, 0.0216), (8, 7, 0.0229),
                                   (8, 8, 0.0255), (10, 7, 0.00819), (12, 8, 0.00314)):
            self.assertAlmostEqual(rows[bits]["fpr_by_hashes"][str(hashes)] / rate, 1, delta=0.005)
        text, _ = self.check(0, "size", "--entries", "1e9", "--layout", "classic")
        self.assertRegex(text, r"(?m)^line +5 +2\.33 % +953\.69 MiB$")
        self.assertRegex(text, r"(?m)^10 +7 +0\.819 % +1\.16 GiB +1\.18 % +0\.943 % +0\.844 % +0\.819 % +0\.846 %$")
        self.assertNotRegex(text, r"(?m) $")

    def test_plots_are_drawn_for_the_terminal_and_as_svg(self):
        out, _ = self.check(0, "size", "--entries", "1e9", "--plot")
        plot = out[out.index("FPR over") :].splitlines()
        self.assertEqual(len(plot), 1 + 20 + 1 + 1)
        self.assertTrue(all(len(line) <= 80 for line in plot))
        self.assertEqual(plot[-1], "\u25cf 2.16 % at 8 bits per entry (page)")
        marked = [line for line in plot[1:21] if "\u25cf" in line]
        self.assertEqual(len(marked), 1)
        # The mark stands above the 8 of the axis.
        self.assertLessEqual(abs(marked[0].index("\u25cf") - plot[21].index(" 8 ") - 1), 1)
        # The curve falls from left to right, and every row but the last ones has a piece of it.
        ends = [len(line) for line in plot[1:15]]
        self.assertEqual(ends, sorted(ends))
        for layout in ("page", "line"):  # one plot replaces another
            self.check(0, "size", "--fpr", "0.5%", "--layout", layout, "--plot", "plot.svg", "--json")
        svg = xml.etree.ElementTree.parse(self.folder / "plot.svg").getroot()
        name = "{http://www.w3.org/2000/svg}"
        curves = svg.findall(f".//{name}polyline")
        self.assertEqual(len(curves), 5)
        for curve in curves:
            points = [tuple(map(float, point.split(","))) for point in curve.get("points").split()]
            self.assertEqual(points, sorted(points))
            self.assertEqual([y for _, y in points], sorted(y for _, y in points))
            self.assertTrue(all(0 <= x <= 640 and 0 <= y <= 400 for x, y in points))
        self.assertIn("0.500 % at 11.54 bits per entry (line)", "".join(svg.itertext()))
        self.check(EX_CANTCREAT, "size", "--fpr", "0.5%", "--plot", "no/such/folder/plot.svg")

    def test_impossible_sizes_are_refused(self):
        for arguments in (
                "", "--entries 0", "--entries -5", "--entries 1e30", "--entries 10 --fpr 0", "--entries 10 --fpr 100%",
                "--entries 10 --bits-per-entry 8 --memory 1G", "--bits-per-entry 8 --hashes 6 --fpr 0.1",
                "--entries 1e6 --memory 1M --hashes 6 --fpr 0.1", "--hashes 6",
                *(f"--bits-per-entry {bits}" for bits in ("nan", "inf", "0.5", "65", "-8")),
                "--entries 1e6 --memory 1M --fpr 0.01",  # not reached by any k
                "--hashes 1 --fpr 1e-6", "--memory 4K", "--entries 10 --json --plot", "--entries 1e9 --memory 64M",
                "--entries 10 --memory 1X", "--entries 10 --hashes 33", "--entries 10 --layout square",
                "--entries 10 --block-bytes 64", "--entries 10 --layout partitioned --block-bytes 64"):
            with self.subTest(arguments=arguments):
                self.check(EX_USAGE, "size", *arguments.split())


if __name__ == "__main__":
    main()
