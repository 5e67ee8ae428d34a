"""`bloomgate pull`: a folder of layers is brought up to what a web server shows, and nothing else gets in."""
import datetime
import json
import os
import re
import shutil
import signal
import subprocess

from program import EX_DATAERR, EX_TEMPFAIL, EX_USAGE, main
from published import Published
from web_server import WebServer, cut_after, stalls_after, with_body


class Pulled(Published):
    """A folder of layers that is shown by a web server, and a folder that it is pulled into."""

    def setUp(self):
        super().setUp()
        self.web = WebServer(self.layers)
        self.addCleanup(self.web.close)
        self.front = self.folder / "front"
        self.signed(0)

    def pull(self, *options, status=0, key=None):
        return self.run_it("pull", self.web.url, self.front, "--trusted-key", key or self.public, *options, status=status)

    def new_key(self, name):
        """The secret key's file, and the public key."""
        path = self.folder / name
        return path, self.run_it("sign", "--new-key", path).stdout.strip()

    def pulled(self, *options):
        return json.loads(self.pull("--json", *options).stdout)

    def files(self):
        """What a daemon sees in the folder."""
        return {path.name: path.read_bytes() for path in self.front.iterdir() if not path.name.startswith(".")}

    def assert_as_published(self):
        want = {path.name: path.read_bytes() for path in self.layers.iterdir() if not path.name.startswith(".")}
        self.assertEqual(self.files(), want)
        self.assertEqual([path.name for path in self.front.glob(".*.pull")], [])

    def assert_refused(self, words, *options, status=EX_DATAERR, key=None):
        """And what is in the folder stays."""
        before = self.files() if self.front.exists() else {}
        done = self.pull(*options, status=status, key=key)
        self.assertRegex(done.stderr, words)
        self.assertEqual(self.files(), before)

class PullTest(Pulled):
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
                self.assert_refused("manifest is longer than the 65536 bytes" if len(body) > 65536 else
                                    "manifest.*it is no manifest that can be used: see whether the URL is right")

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

    def test_an_answer_without_a_file_is_no_file(self):
        for name in ("manifest", "0001.bloom"):
            for status in (204, 304):
                with self.subTest(name=name, status=status):
                    self.web.faults = {name: with_body(b"", status)}
                    self.assert_refused(f"{name} cannot be fetched: the server answers {status}.*see whether the URL is right",
                                        status=EX_TEMPFAIL)

    def test_a_server_without_parts_sends_the_whole(self):
        whole = (self.layers / "0001.bloom").read_bytes()
        self.web.faults["0001.bloom"] = cut_after(5000, times=2)
        self.pull(status=EX_TEMPFAIL)
        self.web.faults["0001.bloom"] = with_body(whole)
        self.pull()
        self.assert_as_published()

    def test_only_https_and_this_machine_are_asked(self):
        for url, words in (("http://lists.example.org/", "neither https"), ("ftp://127.0.0.1/", "neither https"),
                           ("file:///etc/", "neither https"), ("https://joe:pw@lists.example.org/", "password"), ("", "a URL"),
                           ("http://127.evil.example/", "neither https"), ("http://127.0.0.1.evil.example/", "neither https"),
                           ("http://localhost.evil.example/", "neither https"), ("http://128.0.0.1/", "neither https"),
                           ("https://lists.example.org/?list=", "a query"), ("https://lists.example.org/#a", "a fragment")):
            with self.subTest(url=url):
                done = self.run_it("pull", url, self.front, "--trusted-key", self.public, status=EX_USAGE)
                self.assertRegex(done.stderr, words)
                self.assertNotIn("joe:pw", done.stderr)
        self.run_it("pull", self.web.url, self.front, status=EX_USAGE)
        for host in ("localhost", "127.0.0.2", "[::1]"):
            self.run_it("pull", f"http://{host}:1/", self.front, "--trusted-key", self.public, status=EX_TEMPFAIL)

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
        self.pull(key=self.new_key("third.key")[1], status=EX_DATAERR)
        shutil.rmtree(self.front)
        self.assert_refused(r"add this key to the trusted ones \(trusted-key\) if a manifest of a trusted key has named it")
        self.pull("--trusted-key", public)
        self.assert_as_published()

    def test_after_a_stolen_key_is_replaced_its_last_number_binds_nothing(self):
        self.set_number(2**63 - 1)
        self.pull()
        key, public = self.new_key("second.key")
        self.run_it("sign", "--key", key, self.layers)
        self.assert_refused("an old state has come back", "--trusted-key", public)
        self.pull(key=public)
        self.assert_as_published()
        self.assert_refused("no trusted key", key=self.public)

    def test_another_list_of_the_same_key_is_refused_by_its_name_before_a_layer_is_fetched(self):
        self.assert_refused("is of the list 'layers', and --list-name is 'customers'", "--list-name", "customers")
        self.assertEqual([path for path, *_ in self.web.asked], ["/manifest"])
        self.assert_refused("--list-name takes 1 to 63 letters", "--list-name", "a/b", status=EX_USAGE)
        self.pull("--list-name", "layers")
        self.assert_as_published()

    def test_a_date_of_a_far_year_has_not_passed(self):
        self.resign(r"(?m)^holds-until .*", "holds-until 9999-12-31T23:59:59Z")
        self.assertFalse(self.pulled()["overdue"])
        self.assertNotIn("has expired", self.run_it("info", self.layers).stdout)

    def test_a_layer_of_a_key_that_is_not_trusted_is_kept_and_told_with_its_signer(self):
        key, public = self.new_key("second.key")
        self.resign(r"(?m)^signer .*", f"signer {public}", key)
        size = (self.layers / "0001.bloom").stat().st_size
        for _ in range(2):
            self.assert_refused(f"0001.bloom is signed by {re.escape(self.public)}, which is no trusted key, and a trusted key has "
                                "signed the manifest that names it", key=public)
            self.assertEqual([path.stat().st_size for path in self.front.glob(".*.pull")], [size])
        self.assertEqual(self.web.bytes_of("0001.bloom"), size)
        shutil.copyfile(self.layers / "0001.bloom", self.front / "0001.bloom")
        self.assert_refused("0001.bloom is signed by", key=public)
        self.assertEqual(self.web.bytes_of("0001.bloom"), size)

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


class PulledFolderTest(Pulled):
    """What is in the folder already: of others, damaged, or left by a run that was killed."""

    def damaged(self, path, at=-100):
        content = bytearray(path.read_bytes())
        content[at] ^= 1
        path.write_bytes(content)

    def test_a_whitelist_that_was_not_pulled_is_neither_replaced_nor_removed(self):
        self.front.mkdir()
        for name, content in (("whitelist.bloom", b"mine"), ("0001.bloom", b"mine"), ("revoked", b"eve@example.org\n")):
            with self.subTest(name=name):
                (self.front / name).write_bytes(content)
                self.assert_refused(rf"{name} was not pulled from the list 'layers'.*name another folder, or remove this file")
                (self.front / name).unlink()
        (self.front / "notes").write_bytes(b"mine")
        shutil.copyfile(self.layers / "0001.bloom", self.front / "0001.bloom")
        self.assertEqual(self.pulled()["files_fetched"], 0)
        (self.front / "notes").unlink()
        self.assert_as_published()

    def test_the_manifest_of_another_list_owns_nothing_here(self):
        other = self.folder / "other"
        self.front.mkdir()
        key, _ = self.new_key("second.key")
        # The manifest of a key that is not trusted is another list, whatever its name.
        for signer, name in ((self.key, "other"), (key, "layers")):
            with self.subTest(name=name):
                shutil.rmtree(other, ignore_errors=True)
                self.run_it("append", other, self.all[2], "--sign-key", signer, "--list-name", name, "--quiet")
                for path in other.iterdir():
                    shutil.copyfile(path, self.front / path.name)
                self.assert_refused("is of the list 'layers'" if name == "other" else "0001.bloom was not pulled from the list")

    def test_only_what_a_manifest_of_the_list_has_named_is_removed_or_replaced(self):
        self.signed(1)
        self.pull()
        (self.front / "mine.bloom").write_bytes(b"mine")
        self.run_it("fold", self.layers, *self.all[:2], "--sign-key", self.key, "--quiet")
        self.pull()
        self.assertEqual(self.files().pop("mine.bloom"), b"mine")
        self.assertNotIn("0002.bloom", self.files())
        (self.front / "0002.bloom").write_bytes(b"mine")
        self.signed(2)
        self.assert_refused("0002.bloom was not pulled from the list")
        for name in ("0002.bloom", "mine.bloom"):
            (self.front / name).unlink()
        self.pull()
        self.assert_as_published()

    def test_a_damaged_layer_is_fetched_again_and_a_sound_one_is_not(self):
        self.signed(1)
        self.pull()
        self.web.asked.clear()
        self.damaged(self.front / "0002.bloom")
        self.assertEqual(self.pulled()["files_fetched"], 1)
        self.assert_as_published()
        self.assertEqual((self.web.bytes_of("0001.bloom"), self.pulled()["changed"]), (0, False))

    def test_while_it_stays_it_says_once_that_what_is_there_holds_no_longer(self):
        self.pull()
        past = f"{datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"
        self.resign(r"(?m)^made .*\nholds-until .*", f"made {past}\nholds-until {past}")
        shutil.copytree(self.layers, self.front, dirs_exist_ok=True)
        output = self.folder / "output"
        with open(output, "wb") as file:
            process = self.start("pull", self.web.url, str(self.front), "--trusted-key", self.public, "--watch", "1",
                                 stdout=file, stderr=subprocess.STDOUT)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.until(lambda: "nothing newer is published" in output.read_text(), "the warning")

    def test_while_it_stays_a_layer_that_is_damaged_is_fetched_again(self):
        process = self.start("pull", self.web.url, str(self.front), "--trusted-key", self.public, "--watch", "1")
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.until(lambda: (self.front / ".pull.json").exists() and "manifest" in self.files(), "the first state")
        self.damaged(self.front / "0001.bloom")
        self.until(lambda: self.files()["0001.bloom"] == (self.layers / "0001.bloom").read_bytes(), "the repair")

    def test_a_damaged_manifest_or_state_is_an_error_whose_remedy_helps(self):
        for name, damage in (("manifest", b""), ("manifest", b"junk"), (".pull.json", b""), (".pull.json", b"junk"),
                             (".pull.json", b"[1]"), (".pull.json", b'{"names-key": "junk"}'), (".pull.json", b'{"manifest": "x"}')):
            with self.subTest(name=name, damage=damage):
                self.pull()
                (self.front / name).write_bytes(damage)
                file = f"remove {re.escape(str(self.front))}/manifest" if name == "manifest" else r"\.pull\.json.*; remove this file"
                self.assert_refused(f"{file} .*and pull again")
                (self.front / name).unlink()
                self.signed(1)  # the state that comes next is another one
                self.run_it("fold", self.layers, *self.all[:2], "--sign-key", self.key, "--quiet")
        self.pull()
        self.assert_as_published()

    def test_a_run_that_is_killed_before_the_manifest_is_there_is_completed_by_the_next_state(self):
        self.signed(1)
        shutil.copytree(self.layers, self.front)
        (self.front / "manifest").unlink()
        names = {"list": "layers", "names": ["0001.bloom", "0002.bloom"]}
        (self.front / ".pull.json").write_text(json.dumps({"placing": names}))
        self.run_it("fold", self.layers, *self.all[:2], "--sign-key", self.key, "--quiet")
        self.pull()
        self.assert_as_published()
        self.assertNotIn("placing", json.loads((self.front / ".pull.json").read_text()))

    def test_others_may_read_what_is_pulled_whatever_the_umask(self):
        self.signed(1)
        before = os.umask(0o077)
        self.addCleanup(os.umask, before)
        self.pull()
        modes = {path.name: path.stat().st_mode & 0o777 for path in (self.front, *self.front.iterdir())}
        self.assertEqual(modes, {"front": 0o755, **dict.fromkeys(("0001.bloom", "0002.bloom", "manifest", ".pull.json"), 0o644)})

    def test_a_folder_that_cannot_be_read_is_told_with_its_path(self):
        self.front.write_text("a file")
        done = self.pull(status=None)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(str(self.front), done.stderr)


if __name__ == "__main__":
    main()
