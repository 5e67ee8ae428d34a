"""`bloomgate info`."""
import json
import os
import re
import subprocess
import time

from program import ProgramTest, main, users


class InfoTest(ProgramTest):
    def test_text_and_json_have_the_same_figures(self):
        self.build("a@example.org\nb@example.org\n@example.net\n", "--seed", "5")
        text, _ = self.check(0, "info", "filter")
        info = self.info()
        self.assertEqual((info["format_version"], info["key_form"]), (1, 1))
        self.assertEqual(info["entries"], 3)
        self.assertEqual(info["distinct_entries"], 3)
        self.assertEqual(info["file_bytes"], (self.folder / "filter").stat().st_size)
        self.assertEqual(info["addresses"], 2)
        self.assertEqual(info["domain_entries"], 1)
        self.assertEqual(info["bits_set"], 12)
        self.assertAlmostEqual(info["fill"], 12 / 32768)
        self.assertEqual(
            info["sections"],
            [
                {"kind": "bits", "offset": 4096, "bytes": 4096, "items": 2},
                {"kind": "domains", "offset": 12288, "bytes": 8, "items": 1},
                {"kind": "sender-domains", "offset": 16384, "bytes": 16, "items": 1},
            ],
        )
        self.assertEqual((info["sender_domains"], info["sender_domains_bytes"]), (1, 16))
        self.assertAlmostEqual(info["fpr_other_domain"], info["fpr"] / 2**60)
        for pattern in (r"seed 0x0000000000000005", r"(?m)^addresses +2$", r"(?m)^domain entries +1 ", r"(?m)^hashes +6$",
                        r"(?m)^section +domains: 8 bytes at offset 12,288$",
                        r"(?m)^sender domains +at 1 domain, 16 bytes; ", r"(?m)^FPR .*, at the domains of its senders only$"):
            self.assertRegex(text, pattern)

    def test_a_filter_without_the_domains_of_its_senders_says_what_that_means(self):
        self.build("a@example.org\n", "--no-sender-domains")
        self.assertIn("\nsender domains   none: at any domain an address may be found by chance\n", self.check(0, "info", "filter")[0])
        info = self.info()
        self.assertIsNone(info["sender_domains"])
        self.assertEqual(info["fpr_other_domain"], info["fpr"])
        self.build("@example.org\n", "--no-sender-domains")
        self.assertIn("\nsender domains   none\n", self.check(0, "info", "filter")[0])

    def test_the_rates_of_a_message_and_of_a_look_up_are_shown(self):
        report = self.build(users(range(10_000)))
        text = self.check(0, "info", "filter")[0]
        info = self.info()
        self.assertAlmostEqual(info["fpr_either"], 1 - (1 - info["fpr"]) ** 2)
        self.assertAlmostEqual(info["fpr_both"], info["fpr"])
        rates = r"(?m)^messages +(\d\.\d\d) % for a message with identity = either, (0\.\d+) % with identity = both$"
        for out in (text, report[0]):
            either, both = (float(rate) for rate in re.search(rates, out).groups())
            self.assertAlmostEqual(either / 100, info["fpr_either"], delta=0.0001)
            self.assertAlmostEqual(both / 100, info["fpr_both"], delta=0.0001)

    def test_residency_shows_how_much_is_in_memory(self):
        lines = users(range(1000))
        self.build(lines, "--expected-entries", "30000000", "--store", "store")
        for name in ("filter", "store"):
            path = self.folder / name
            size = path.stat().st_size
            # Where memory is short, some of it may go again before it is looked at.
            end = time.monotonic() + 60
            while True:
                path.read_bytes()
                resident = json.loads(self.check(0, "info", name, "--residency", "--json")[0])["resident_bytes"]
                said = self.check(0, "info", name, "--residency")[0]
                if (resident == size and said.endswith(" 100 %\n")) or time.monotonic() > end:
                    break
            self.assertEqual(resident, size)
            self.assertRegex(said, rf"(?m)^in memory .*\({size:,} bytes\), 100 %$")
        self.assertNotIn("resident_bytes", self.info())
        if subprocess.check_output(["stat", "-f", "-c", "%T", self.folder]) == b"tmpfs\n":
            return  # all of it is memory
        with (self.folder / "filter").open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        # The header and what is read ahead with it come back.
        resident = json.loads(self.check(0, "info", "filter", "--residency", "--json")[0])["resident_bytes"]
        self.assertLess(resident, (self.folder / "filter").stat().st_size)

    def test_an_empty_filter_has_the_rate_0(self):
        self.build("")
        self.assertRegex(self.check(0, "info", "filter")[0], r"(?m)^FPR +0 %")


if __name__ == "__main__":
    main()
