"""`bloomgate pull`: a folder of layers is brought up to what a web server shows, and nothing else gets in."""
import datetime
import json
import shutil
import signal
import subprocess

from program import EX_DATAERR, EX_TEMPFAIL, EX_USAGE, main
from published import Published
from web_server import WebServer, cut_after, stalls_after, with_body


class PullTest(Published):
    def setUp(self):
        super().setUp()
        self.web = WebServer(self.layers)
        self.addCleanup(self.web.close)
        self.front = self.folder / "front"
        self.signed(0)

    def pull(self, *options, status=0, key=None):
        return self.run_it("pull", self.web.url, self.front, "--trusted-key", key or self.public, *options, status=status)

    def pulled(self, *options):
        return json.loads(self.pull("--json", *options).stdout)

    def files(self):
        """What a daemon sees in the folder."""
        return {path.name: path.read_bytes() for path in self.front.iterdir() if not path.name.startswith(".")}

    def assert_as_published(self):
        want = {path.name: path.read_bytes() for path in self.layers.iterdir() if not path.name.startswith(".")}
        self.assertEqual(self.files(), want)
        self.assertEqual([path.name for path in self.front.glob(".*.pull")], [])

    def assert_refused(self, words, *options, status=EX_DATAERR):
        """And what is in the folder stays."""
        before = self.files() if self.front.exists() else {}
        done = self.pull(*options, status=status)
        self.assertRegex(done.stderr, words)
        self.assertEqual(self.files(), before)

    def test_only_what_is_new_is_fetched_and_what_goes_is_removed(self):
        first = self.pulled()
        self.assertEqual((first["changed"], first["files_fetched"], first["list"]), (True, 1, "layers"))
        self.assert_as_published()
        self.assert_all_listed(self.all[:1])
        again = self.pulled()
        self.assertEqual((again["changed"], again["files_fetched"], again["bytes_fetched"]), (False, 0, 0))
        self.assertEqual(self.web.asked[-1], ("/manifest", 304, 0))

        self.signed(1)
        (self.layers / "revoked").write_text("eve@list1.example\n")
        self.run_it("sign", "--key", self.key, self.layers)
        self.assertEqual(self.pulled()["files_fetched"], 2)
        self.assert_as_published()
        self.assertEqual(self.web.bytes_of("0001.bloom"), (self.layers / "0001.bloom").stat().st_size)

        self.run_it("fold", self.layers, *self.all[:2], "--sign-key", self.key, "--quiet")
        self.pull()
        self.assert_as_published()
        self.assertEqual([path.name for path in self.front.glob("*.bloom")], ["0001.bloom"])

    def test_what_was_lost_here_is_fetched_again(self):
        self.pull()
        layer = self.front / "0001.bloom"
        layer.write_bytes(layer.read_bytes()[:-1])
        self.assertTrue(self.pulled()["changed"])
        self.assert_as_published()

    def test_an_old_state_another_list_and_another_key_are_refused(self):
        self.pull()
        old = self.folder / "old"
        shutil.copytree(self.layers, old)
        self.signed(1)
        self.pull()
        self.web.folder = old
        self.assert_refused("an old state has come back")
        self.web.folder = self.layers

        self.resign(r"\nlist layers\n", "\nlist other\n")
        self.assert_refused("is of the list 'other'")
        self.resign(r"\nlist other\n", "\nlist layers\n")
        self.resign(r"(?m)^holds-until 20", "holds-until 21")
        self.assert_refused("says something else")

        other = self.folder / "other.key"
        self.run_it("sign", "--new-key", other)
        self.resign(r"(?m)^signer .*", "signer " + self.run_it("sign", "--public-key", other).stdout.strip(), key=other)
        self.assert_refused("no trusted key")

    def test_what_does_not_hold_any_longer_is_refused_but_for_what_is_there(self):
        day = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=1)
        past = f"{day:%Y-%m-%dT%H:%M:%SZ}"
        self.resign(r"(?m)^made .*\nholds-until .*", f"made {past}\nholds-until {past}")
        self.assert_refused("does not hold any longer")
        self.front.mkdir(exist_ok=True)
        shutil.copytree(self.layers, self.front, dirs_exist_ok=True)
        self.assertRegex(self.pull().stderr, "nothing newer is published")

    def test_layers_of_two_days_a_changed_byte_and_another_file_are_refused(self):
        self.pull()
        layer = self.layers / "0001.bloom"
        old = layer.read_bytes()
        self.run_it("fold", self.layers, self.all[1], "--sign-key", self.key, "--quiet", "--allow-shrink")
        new = layer.read_bytes()
        changed = bytearray(new)
        changed[5000] ^= 1
        for body, words in ((old, "is not the file that the manifest names"), (bytes(changed), "is not the file"),
                            (b"", "is not the file"), (new[:-1], "is not the file"), (new + b"x", "longer than the")):
            with self.subTest(words=words, size=len(body)):
                self.web.faults["0001.bloom"] = with_body(body)
                self.assert_refused(words)
        self.web.faults.clear()
        self.pull()
        self.assert_as_published()

    def test_a_hostile_manifest_is_refused(self):
        self.pull()
        self.signed(1)
        text = (self.layers / "manifest").read_bytes()
        for body in (b"", b"x", text[:-1], text + b"\n", text.replace(b"0001", b"0009"), b"a" * 70_000):
            with self.subTest(body=body[:20]):
                self.web.faults["manifest"] = with_body(body)
                self.assert_refused("manifest")

    def test_a_transfer_that_is_cut_goes_on_where_it_ended(self):
        size = (self.layers / "0001.bloom").stat().st_size
        self.web.faults["0001.bloom"] = cut_after(5000)
        self.pull()
        self.assert_as_published()
        self.assertEqual(self.web.bytes_of("0001.bloom"), size)

        shutil.rmtree(self.front)
        self.web.asked.clear()
        self.web.faults["0001.bloom"] = cut_after(1000, times=3)
        self.assert_refused("cannot be fetched", status=EX_TEMPFAIL)
        self.pull()
        self.assert_as_published()
        self.assertEqual(self.web.bytes_of("0001.bloom"), size)

    def test_a_killed_run_is_gone_on_with(self):
        size = (self.layers / "0001.bloom").stat().st_size
        self.web.faults["0001.bloom"] = stalls_after(8000)
        process = self.start("pull", self.web.url, str(self.front), "--trusted-key", self.public)
        self.addCleanup(process.wait)
        self.until(lambda: any(path.stat().st_size == 8000 for path in self.front.glob(".*.pull")), "the first bytes")
        process.kill()
        process.wait()
        self.web.faults.clear()
        self.pull()
        self.assert_as_published()
        self.assertEqual(self.web.bytes_of("0001.bloom"), size)

    def test_what_a_killed_run_has_left_damaged_is_fetched_anew(self):
        self.web.faults["0001.bloom"] = cut_after(5000, times=2)
        self.pull(status=EX_TEMPFAIL)
        part, = self.front.glob(".*.pull")
        part.write_bytes(b"x" * 9000)
        self.pull()
        self.assert_as_published()

    def test_a_server_that_fails_or_stalls_is_an_error_of_the_moment(self):
        self.pull()
        self.signed(1)
        for fault, words in ((with_body(b"", 500), "500"), (with_body(b"", 404), "404"), (stalls_after(1), "timed out"),
                             (with_body(b"x", 206, Content_Range="bytes 7-7/8"), "another part"),
                             (with_body(b"", 302, Location="http://127.0.0.1:1/"), "not supported|disabled")):
            for name in ("manifest", "0002.bloom"):
                with self.subTest(words=words, name=name):
                    self.web.faults = {name: fault}
                    self.assert_refused(words, "--timeout", "1", status=EX_TEMPFAIL)
        self.web.faults.clear()
        self.pull()
        self.assert_as_published()

    def test_a_server_without_parts_sends_the_whole(self):
        whole = (self.layers / "0001.bloom").read_bytes()
        self.web.faults["0001.bloom"] = cut_after(5000, times=2)
        self.pull(status=EX_TEMPFAIL)
        self.web.faults["0001.bloom"] = with_body(whole)
        self.pull()
        self.assert_as_published()

    def test_only_https_and_this_machine_are_asked(self):
        for url, words in (("http://lists.example.org/", "neither https"), ("ftp://127.0.0.1/", "neither https"),
                           ("file:///etc/", "neither https"), ("https://joe:pw@lists.example.org/", "password"), ("", "a URL")):
            with self.subTest(url=url):
                done = self.run_it("pull", url, self.front, "--trusted-key", self.public, status=EX_USAGE)
                self.assertRegex(done.stderr, words)
                self.assertNotIn("joe:pw", done.stderr)
        self.run_it("pull", self.web.url, self.front, status=EX_USAGE)

    def test_too_much_is_refused_before_it_is_fetched(self):
        self.assert_refused("--most-bytes", "--most-bytes", "1K")
        self.assertEqual([path for path, *_ in self.web.asked], ["/manifest"])

    def test_a_key_that_a_manifest_names_is_trusted_as_long_as_its_namer_is(self):
        second = self.folder / "second.key"
        public = self.run_it("sign", "--new-key", second).stdout.strip()
        self.run_it("sign", "--key", self.key, "--next-key", public, self.layers)
        self.pull()
        for number in (1, 2):
            self.append(number, "--sign-key", second)
            self.pull()
            self.assert_as_published()
        third = self.folder / "third.key"
        self.pull(key=self.run_it("sign", "--new-key", third).stdout.strip(), status=EX_DATAERR)

    def test_twenty_fronts_pull_beside_each_other(self):
        fronts = [self.folder / f"front{i}" for i in range(20)]
        processes = [self.start("pull", self.web.url, str(front), "--trusted-key", self.public) for front in fronts]
        self.assertEqual([process.wait(60) for process in processes], [0] * 20)
        for self.front in fronts:
            self.assert_as_published()

    def test_two_runs_into_one_folder_wait_for_each_other(self):
        processes = [self.start("pull", self.web.url, str(self.front), "--trusted-key", self.public) for _ in range(4)]
        self.assertEqual([process.wait(60) for process in processes], [0] * 4)
        self.assert_as_published()
        self.assertEqual(self.web.bytes_of("0001.bloom"), (self.layers / "0001.bloom").stat().st_size)

    def test_watching_takes_what_is_published_and_outlives_faults(self):
        output = self.folder / "output"
        with open(output, "wb") as file:
            process = self.start("pull", self.web.url, str(self.front), "--trusted-key", self.public, "--watch", "1",
                                 stdout=file, stderr=subprocess.STDOUT)
        self.addCleanup(process.kill)
        self.until(lambda: "manifest" in self.files_if_any(), "the first state")
        self.web.faults["manifest"] = with_body(b"", 500)
        self.until(lambda: "500" in output.read_text(), "the fault to be told")
        self.signed(1)
        self.web.faults.clear()
        self.until(lambda: "0002.bloom" in self.files_if_any() and "number" in output.read_text(), "the next state")
        self.until(lambda: self.files() == {p.name: p.read_bytes() for p in self.layers.iterdir() if p.name[0] != "."}, "all")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(30), 0)
        self.assertEqual(output.read_text().count("500"), 1)

    def files_if_any(self):
        return self.files() if self.front.exists() else {}


if __name__ == "__main__":
    main()
