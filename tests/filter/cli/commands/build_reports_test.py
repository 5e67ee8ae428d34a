"""`bloomgate build`: how it shows its progress, and its warnings of entries that list too many senders."""
import json
import os
import pathlib
import pty
import re
import subprocess
import time

from program import EX_NOINPUT, MEANT, ProgramTest, REPOSITORY, main, read_rest, users


class ProgressTest(ProgramTest):
    """A build whose list comes through a pipe, so that it lasts as long as the test wants."""

    def start_build(self, *options, stderr):
        read_end, self.list = os.pipe()
        command = ["build", "-o", "filter", *MEANT, *options, "-"]
        environment = dict(os.environ, TERM="xterm")
        process = self.start(*command, stdin=read_end, stdout=subprocess.PIPE, stderr=stderr, env=environment)
        os.close(read_end)
        os.write(self.list, b"joe@example.org\nbad,,line@example.org\n")
        return process

    def finish(self, process):
        os.close(self.list)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        if "--quiet" in process.args:
            self.assertEqual(out, b"")
        else:
            self.assertRegex(out, rb"(?m)^entries +1$")
        return err

    def read_until(self, file, text):
        """Reads `file` up to `text`; ctest ends a test that hangs here."""
        got = b""
        while text not in got:
            piece = os.read(file, 4096)
            self.assertTrue(piece, got)
            got += piece
        return got

    def test_a_terminal_shows_a_progress_bar_until_the_report(self):
        master, slave = pty.openpty()
        process = self.start_build(stderr=slave)
        os.close(slave)
        shown = self.read_until(master, b"\r\x1b[Kreading  38 bytes  ")
        self.finish(process)
        shown += read_rest(master)
        self.assertIn(b"standard input:2: bad-local-part-character: ", shown)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown)

    def test_without_a_terminal_a_line_is_printed_every_ten_seconds(self):
        process = self.start_build(stderr=subprocess.PIPE)
        started = time.monotonic()
        shown = self.read_until(process.stderr.fileno(), b"reading: 38 bytes, 3 bytes/s, 0:10\n")
        self.assertGreater(time.monotonic() - started, 9)
        self.assertNotIn(b"\x1b", shown + self.finish(process))

    def test_quiet_shows_only_bad_lines(self):
        master, slave = pty.openpty()
        process = self.start_build("--quiet", stderr=slave)
        os.close(slave)
        shown = self.read_until(master, b"\n")
        time.sleep(0.5)  # more than the bar's interval: that nothing comes cannot be awaited
        self.finish(process)
        shown += read_rest(master)
        self.assertRegex(shown, rb"\Astandard input:2: bad-local-part-character: [^\r\n]*\r\n\Z")

    def test_more_addresses_than_expected_give_a_warning_with_the_rate_also_if_quiet(self):
        self.write("list", users(range(2000)))
        self.write("more", users(range(3000)))
        os.mkdir(self.folder / "layers")
        few = ("--expected-entries", "500")
        for quiet in ((), ("--quiet",)):
            for holder, command in (("lists hold", ("build", "-o", "filter", "--store", "store", *few, "list")),
                                    ("store holds", ("update-store", "--store", "store", "-o", "filter", *few, "--add", "more")),
                                    ("lists hold", ("add-layer", "layers", "--fpr", "50%", *few, "list"))):
                err = self.check(0, *command, *quiet)[1]
                self.assertRegex(err, rf"(?m)^warning: the {holder} more addresses than expected, "
                                      r"so the false-positive rate is higher: [0-9.]+ %$")

    def test_before_it_reads_a_build_says_what_the_sender_domains_may_take_if_that_is_much(self):
        large = ("--expected-entries", "70000000", "--bits-per-entry", "1")
        process = self.start_build(*large, stderr=subprocess.PIPE)
        shown = self.read_until(process.stderr.fileno(), b"--no-sender-domains leaves them out\n")
        self.assertIn(b"the domains of all addresses take up to 303.72 MiB (318,471,520 bytes) of the filter, if each", shown)
        self.finish(process)
        process = self.start_build(*large, "--store", "store", stderr=subprocess.PIPE)
        self.assertIn(b" of the filter and 534.06 MiB (560,000,000 bytes) of the store, if each", self.finish(process))
        for options in (large[2:], (*large, "--quiet"), (*large, "--no-sender-domains")):
            process = self.start_build(*options, stderr=subprocess.PIPE)
            self.assertNotIn(b"domains of all addresses", self.finish(process))

    def test_the_report_as_json_has_what_the_text_has(self):
        text, _ = self.build("a@example.org\na@example.org\nnonsense\n", "--seed", "5")
        report = json.loads(self.build("a@example.org\na@example.org\nnonsense\n", "--seed", "5", "--json")[0])
        self.assertEqual(report["file"], "filter")
        self.assertEqual((report["entries"], report["rejected"], report["distinct_entries"]), (2, 1, 1))
        self.assertEqual(report["file_bytes"], (self.folder / "filter").stat().st_size)
        self.assertEqual(report["bits_per_entry"], 4096 * 8 / 2)
        self.assertEqual(report["seed"], "0x0000000000000005")
        self.assertEqual(report["fpr"], self.info()["fpr"])
        self.assertEqual((report["sender_domains"], report["sender_domains_bytes"]), (1, 16))
        self.assertGreater(report["seconds"], 0)
        # The rate is a whole number.
        self.assertAlmostEqual(report["entries_per_second"] * report["seconds"], 2, delta=0.1 + report["seconds"])
        for pattern in (r"^entries +2$", r"^rejected +1$", r"^distinct +1 ", r"^seed +0x0{15}5$", r"16,384 bits per entry \(the smallest file\)$",
                        r"^senders +at 1 domain, 16 bytes; at any other domain no address is found by chance$"):
            self.assertRegex(text, "(?m)" + pattern)

    def test_only_a_file_that_cannot_be_smaller_is_called_the_smallest(self):
        for layout in ("page", "line", "classic", "partitioned", "ribbon"):
            self.assertNotIn("the smallest file", self.build(users(range(20_000)), "--layout", layout)[0], layout)

    def test_an_empty_list_has_no_bits_per_entry(self):
        self.assertIsNone(json.loads(self.build("", "--json")[0])["bits_per_entry"])

    def test_closed_output_pipes_fail_the_command_and_keep_the_filter(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        command = ["build", "-o", "filter", *MEANT, self.write("list", "nonsense\n")]
        result = self.run_program(*command, stdout=write_end, stderr=write_end)
        os.close(write_end)
        self.assertEqual(result.returncode, 74)
        self.assertEqual(self.names(), ["filter", "list"])


class BroadEntryTest(ProgramTest):
    """Entries that list anybody, as a whole public suffix does or a free-mail domain."""

    SHIPPED = str(REPOSITORY / "config/free-mail-domains.txt")

    def report(self, text, *options, free_mail=SHIPPED):
        out, err = self.build(text, "--json", "--free-mail-domains", free_mail, *options)
        report = json.loads(out)
        return report["public_suffixes"], report["free_mail_domains"], err

    def test_each_broad_entry_gets_a_warning_with_its_place_and_stays_listed(self):
        text = "joe@gmail.com\n@gmail.com\n\n@.Co.UK # all of it\nbad\n@.example.org\n@.outlook.com\n"
        suffixes, free_mail, err = self.report(text)
        self.assertEqual((suffixes, free_mail), (1, 2))
        self.assertIn("list:2: warning: @gmail.com is a free-mail domain: anybody can have an address there", err)
        self.assertIn("list:4: warning: @.co.uk is a public suffix: anybody can have a domain below it", err)
        self.assertIn("list:7: warning: @.outlook.com is a free-mail domain", err)
        self.assertEqual(err.count("warning"), 3)
        self.check(0, "query", "filter", "x@gmail.com", "x@shop.co.uk", "x@outlook.com")

    def test_other_domain_entries_get_no_warning(self):
        text = "@example.co.uk\n@.example.com\n@mail.intranet\n@[192.0.2.1]\n@mail.gmail.com\nco.uk@example.org\n"
        self.assertEqual(self.report(text), (0, 0, ""))

    def test_a_domain_without_a_dot_gets_a_warning_and_stays_listed(self):
        text = "@intranet\n@.unheard-of\n@localhost > ann@ours.example\n@example signed-by esp.example\n@example.org\n@com\n"
        out, err = self.build(text, "--json")
        report = json.loads(out)
        self.assertEqual((report["dotless_domains"], report["public_suffixes"]), (4, 1))
        self.assertIn("list:1: warning: @intranet has a domain without a dot, as only a network of its own has; if it was cut "
                      "short, write it whole\n", err)
        self.assertIn("list:2: warning: @.unheard-of has a domain without a dot", err)
        self.assertIn("list:3: warning: @localhost > ann@ours.example has a domain without a dot", err)
        self.assertIn("list:4: warning: @example signed-by esp.example has a domain without a dot", err)
        self.check(0, "query", "filter", "joe@intranet")
        self.assertIn("0 free-mail domains, 1 domain without a dot\n", self.build("@intranet\n")[0])

    def test_an_address_whose_domain_has_no_dot_gets_a_warning_in_a_short_list_and_at_the_beginning_of_a_long_one(self):
        text = "joe@example\njoe@example.org\nann@partner > joe@ours.example\nann@[IPv6:2001:db8::1]\n\"a@b.c\"@partner\n"
        out, err = self.build(text, "--json")
        self.assertEqual(json.loads(out)["dotless_domains"], 3)
        self.assertIn("list:1: warning: joe@example has a domain without a dot", err)
        self.assertIn("list:3: warning: ann@partner > joe@ours.example has a domain without a dot", err)
        self.check(0, "query", "filter", "joe@example")
        usual = "".join(f"user{number}@example.org\n" for number in range(20000))
        out, err = self.build("joe@example\n" + usual + "ann@example\n", "--json")
        self.assertEqual(json.loads(out)["dotless_domains"], 1)

    def test_public_suffixes_are_recognised_in_every_spelling(self):
        for entry in ("@com", "@.com", "@.github.io", "@.\u516c\u53f8.cn", "@.xn--55qx5d.cn", "@.KAWASAKI.jp", "@.ck"):
            with self.subTest(entry=entry):
                self.assertEqual(self.report(entry)[:2], (1, 0))

    def test_the_first_ten_broad_entries_are_shown_and_all_are_counted(self):
        # Several blocks of lines, so that the places are counted across them.
        text = "".join("user%d@example.org\n" % i + ("@gmail.com\n" if i % 1000 == 7 else "") for i in range(400_000))
        suffixes, free_mail, err = self.report(text, "--threads", "2")
        self.assertEqual((suffixes, free_mail), (0, 400))
        shown = re.findall(r"list:(\d+): warning: @gmail", err)
        self.assertEqual([int(number) for number in shown], [9 + 1001 * i for i in range(10)])
        self.assertEqual(err.count("further warnings of that kind are only counted"), 1)

    def test_broad_entries_are_no_error_with_strict(self):
        self.assertEqual(self.report("@gmail.com\n@.com\n", "--strict")[:2], (1, 1))

    def test_the_text_report_counts_broad_entries_only_if_there_are_any(self):
        out, _ = self.build("@.com\n@gmail.com\n", "--free-mail-domains", self.SHIPPED)
        self.assertRegex(out, r"(?m)^broad +for anyone: 1 public suffix, 1 free-mail domain$")
        self.assertNotIn("broad", self.build("@example.org\n", "--free-mail-domains", self.SHIPPED)[0])

    def test_the_operator_chooses_the_free_mail_domains(self):
        own = self.write("own", "# ours\n\n  @Freemail.example # a provider\r\nb\u00fccher.example\n")
        text = "@gmail.com\n@freemail.example\n@xn--bcher-kva.example\n"
        self.assertEqual(self.report(text, free_mail=own)[:2], (0, 2))
        self.assertEqual(self.report(text, free_mail="/dev/null")[:2], (0, 0))

    def test_a_bad_line_of_the_free_mail_file_is_shown_and_the_build_continues(self):
        own = self.write("own", "gmail.com\ngmail com\n@.gmx.de\njoe@web.de\n")
        suffixes, free_mail, err = self.report("@gmail.com\n@gmx.de\n@web.de\n", free_mail=own)
        self.assertEqual((suffixes, free_mail), (0, 1))
        for number in (2, 3, 4):
            self.assertIn(f"own:{number}: not a free-mail domain: ", err)

    def test_a_missing_free_mail_file_is_an_error(self):
        self.write("list", "@gmail.com\n")
        _, err = self.check(EX_NOINPUT, "build", "-o", "filter", "--free-mail-domains", "missing", "list")
        self.assertIn("missing", err)
        self.assertEqual(self.names(), ["list"])

    def test_the_shipped_free_mail_file_has_each_domain_once_and_no_bad_line(self):
        lines = pathlib.Path(self.SHIPPED).read_text().splitlines()
        domains = [line for line in lines if line and not line.startswith("#")]
        self.assertGreater(len(domains), 100)
        self.assertEqual(len(set(domains)), len(domains))
        suffixes, free_mail, err = self.report("".join(f"@{domain}\n" for domain in domains))
        self.assertEqual((suffixes, free_mail), (0, len(domains)))
        self.assertNotIn("not a free-mail domain", err)


class SharedSignerTest(ProgramTest):
    """Entries whose signer signs for anybody, and lists below a public suffix."""

    SHIPPED = str(REPOSITORY / "config/shared-signers.txt")
    FREE_MAIL = str(REPOSITORY / "config/free-mail-domains.txt")

    def report(self, text, *options, signers=SHIPPED):
        out, err = self.build(text, "--json", "--free-mail-domains", self.FREE_MAIL, "--shared-signers", signers, *options)
        report = json.loads(out)
        return [report[name] for name in ("public_suffixes", "free_mail_domains", "shared_signers")], err

    def test_an_entry_that_a_service_signs_for_anybody_gets_a_warning_and_stays_listed(self):
        text = ("billing@bank.example signed-by sendgrid.net\n@shop.example signed-by U123.SendGrid.net\n"
                "list:a.example signed-by mail17.atl51.rsgsv.net\nbilling@bank.example signed-by mg.bank.example\n")
        counts, err = self.report(text)
        self.assertEqual(counts, [0, 0, 3])
        self.assertIn("list:1: warning: billing@bank.example signed-by sendgrid.net: sendgrid.net signs for every customer of a "
                      "service, and any of them may write as this sender unless the service prevents it; ask the sender for a "
                      "signature of its own domain\n", err)
        self.assertIn("list:2: warning: @shop.example signed-by u123.sendgrid.net: u123.sendgrid.net signs for every customer", err)
        self.assertIn("list:3: warning: list:a.example signed-by mail17.atl51.rsgsv.net: ", err)
        self.assertEqual(err.count("warning"), 3)
        self.check(0, "query", "filter", "billing@bank.example signed-by sendgrid.net")

    def test_a_public_suffix_or_a_free_mail_domain_as_a_signer_gets_a_warning(self):
        counts, err = self.report("billing@bank.example signed-by co.uk\nbilling@bank.example signed-by gmail.com\n"
                                  "list:a.example signed-by com\n")
        self.assertEqual(counts, [0, 0, 3])
        self.assertIn("list:1: warning: billing@bank.example signed-by co.uk: co.uk is a public suffix: ", err)
        self.assertIn("list:2: warning: billing@bank.example signed-by gmail.com: gmail.com is a free-mail domain, which signs for "
                      "anybody; ", err)

    def test_a_provider_that_signs_for_its_own_address_gets_no_warning(self):
        self.assertEqual(self.report("joe@gmail.com signed-by gmail.com\n"), ([0, 0, 0], ""))
        self.assertEqual(self.report("joe@hotmail.com signed-by gmail.com\n")[0], [0, 0, 1])
        self.assertEqual(self.report("@gmail.com signed-by gmail.com\n")[0], [0, 1, 0])
        self.assertEqual(self.report("joe@xgmail.com signed-by gmail.com\n")[0], [0, 0, 1])

    def test_a_usual_signer_leaves_the_entry_to_be_judged(self):
        counts, err = self.report("@gmail.com signed-by esp.example\n@.co.uk signed-by esp.example\n@x.example signed-by esp.example\n")
        self.assertEqual(counts, [1, 1, 0])
        self.assertIn("list:1: warning: @gmail.com signed-by esp.example is a free-mail domain: ", err)
        self.assertIn("list:2: warning: @.co.uk signed-by esp.example is a public suffix: ", err)
        self.assertEqual(self.report("@gmail.com signed-by sendgrid.net\n")[0], [0, 0, 1])

    def test_mailing_lists_below_a_public_suffix_get_a_warning(self):
        counts, err = self.report("list:*.co.uk\nlist:*.com > ann@ours.example\nlist:*.github.io signed-by esp.example\n"
                                  "list:*.example.co.uk\nlist:co.uk\nlist:*.gmail.com\nlist:*.unheard-of\n")
        self.assertEqual(counts, [3, 0, 0])
        self.assertIn("list:1: warning: list:*.co.uk is below a public suffix: anybody can have a mailing list there; list single "
                      "ones\n", err)
        self.assertIn("list:2: warning: list:*.com > ann@ours.example is below a public suffix: ", err)

    def test_a_mailing_list_that_its_host_may_not_sign_gets_a_warning_unless_a_signer_is_named(self):
        out, err = self.build("list:dev.example.org\nlist:dev.example.org signed-by example.org\nlist:a.b.example.org\n"
                              "list:news.example.co.uk > ann@ours.example\nlist:*.example.org\nlist:news.example\n", "--json")
        self.assertEqual(json.loads(out)["lists_without_signer"], 2)
        self.assertIn("list:1: warning: list:dev.example.org counts only where dev.example.org itself signs: everybody at "
                      "example.org could write that List-Id; if another domain signs the list, name it: "
                      "list:dev.example.org signed-by DOMAIN\n", err)
        self.assertIn("list:4: warning: list:news.example.co.uk > ann@ours.example counts only where news.example.co.uk ", err)
        self.assertEqual(err.count("warning"), 2)
        self.assertIn("0 free-mail domains, 1 mailing list without its signer\n", self.build("list:dev.example.org\n")[0])

    def test_the_longest_entry_with_a_signer_is_judged(self):
        host = ".".join(["a" * 63] * 3 + ["b" * 61])
        self.assertEqual(self.report(f"@.{host} signed-by {host}\nlist:*.{host} signed-by {host}\n"), ([0, 0, 0], ""))

    def test_only_a_host_of_one_customer_gets_no_warning(self):
        text = "".join(f"@bank.example signed-by {signer}\n" for signer in
                       ("bank.onmicrosoft.com", "bank-example.20230601.gappssmtp.com", "onmicrosoft.com", "gappssmtp.com"))
        counts, err = self.report(text)
        self.assertEqual((counts, re.findall(r"list:(\d+)", err)), ([0, 0, 2], ["3", "4"]))

    def test_the_text_report_counts_shared_signers_only_if_there_are_any(self):
        files = ("--free-mail-domains", self.FREE_MAIL, "--shared-signers", self.SHIPPED)
        out, _ = self.build("joe@example.org signed-by sendgrid.net\n", *files)
        self.assertRegex(out, r"(?m)^broad +for anyone: 0 public suffixes, 0 free-mail domains, 1 shared signer$")
        self.assertNotIn("broad", self.build("joe@example.org signed-by esp.example\n", *files)[0])

    def test_the_operator_chooses_the_shared_signers(self):
        own = self.write("own", "# ours\n\n  @Esp.example # a service\r\n.b\u00fccher.example\n")
        text = "".join(f"joe@example.org signed-by {signer}\n" for signer in
                       ("sendgrid.net", "esp.example", "mail.esp.example", "xn--bcher-kva.example", "a.b.xn--bcher-kva.example"))
        self.assertEqual(self.report(text, signers=own)[0], [0, 0, 3])
        self.assertEqual(self.report(text, signers="/dev/null")[0], [0, 0, 0])

    def test_a_bad_line_of_the_file_is_shown_and_the_build_continues(self):
        own = self.write("own", "esp.example\nesp example\njoe@esp.example\nlist:a.example\n")
        counts, err = self.report("joe@example.org signed-by esp.example\n", signers=own)
        self.assertEqual(counts, [0, 0, 1])
        for number in (2, 3, 4):
            self.assertIn(f"own:{number}: not a signer: ", err)

    def test_a_missing_file_is_an_error(self):
        self.write("list", "joe@example.org\n")
        _, err = self.check(EX_NOINPUT, "build", "-o", "filter", "--shared-signers", "missing", "list")
        self.assertIn("missing", err)
        self.assertEqual(self.names(), ["list"])

    def test_the_shipped_file_has_each_domain_once_and_no_bad_line(self):
        lines = pathlib.Path(self.SHIPPED).read_text().splitlines()
        domains = [line.lstrip(".") for line in lines if line and not line.startswith("#")]
        self.assertGreater(len(domains), 10)
        self.assertEqual(len(set(domains)), len(domains))
        counts, err = self.report("".join(f"joe@example.org signed-by {domain}\n" for domain in domains))
        self.assertEqual(counts, [0, 0, len(domains)])
        self.assertNotIn("not a signer", err)

    def test_each_command_that_adds_entries_warns(self):
        add = self.write("add", "joe@example.org signed-by sendgrid.net\n")
        signers = ("--shared-signers", self.SHIPPED)
        warning = "add:1: warning: joe@example.org signed-by sendgrid.net: "
        self.build("joe@example.net\n", "--store", "store")
        self.assertIn(warning, self.check(0, "update-store", "--store", "store", "-o", "filter", "--add", add, *signers)[1])
        self.build("joe@example.net\n", "--layout", "counting", "--expected-entries", "10")
        self.assertIn(warning, self.check(0, "counting-add", "filter", add, *signers)[1])
        self.assertIn(warning, self.check(0, "add-layer", "folder", add, *signers)[1])


if __name__ == "__main__":
    main()
