"""`bloomgate share`: what the daemon has learned is shown to other hosts, as hashes, and brought there by `bloomgate pull`."""
import base64
import contextlib
import json
import signal
import sqlite3
import struct
import subprocess
import time

import learned_test
from program import BLOOMGATE, EX_DATAERR, EX_NOINPUT, EX_USAGE, ProgramTest, main
from web_server import WebServer


def sip_hash(key, text):
    """SipHash-2-4 as its paper has it (Aumasson and Bernstein, 2012)."""
    def rotate(value, bits):
        return (value << bits | value >> 64 - bits) & 2**64 - 1

    def rounds(count):
        nonlocal a, b, c, d
        for _ in range(count):
            a = a + b & 2**64 - 1
            b = rotate(b, 13) ^ a
            a = rotate(a, 32)
            c = c + d & 2**64 - 1
            d = rotate(d, 16) ^ c
            a = a + d & 2**64 - 1
            d = rotate(d, 21) ^ a
            c = c + b & 2**64 - 1
            b = rotate(b, 17) ^ c
            c = rotate(c, 32)

    first, second = struct.unpack("<QQ", key)
    a, b = first ^ 0x736f6d6570736575, second ^ 0x646f72616e646f6d
    c, d = first ^ 0x6c7967656e657261, second ^ 0x7465646279746573
    padded = text + bytes(7 - len(text) % 8) + bytes([len(text) % 256])
    for (word,) in struct.iter_unpack("<Q", padded):
        d ^= word
        rounds(2)
        a ^= word
    c ^= 255
    rounds(4)
    return a ^ b ^ c ^ d


class ShareTest(ProgramTest):
    def setUp(self):
        super().setUp()
        learned_test.LearnedTest.database(self)
        self.check(0, "share", "--new-learn-key", "learn.key")
        self.public = self.check(0, "sign", "--new-key", "sign.key")[0].strip()

    def share(self, *options, status=0):
        return self.check(status, "share", "learned.db", "shared", "--learn-key", "learn.key", "--sign-key", "sign.key", *options)

    def shared(self, *options):
        return json.loads(self.share("--json", *options)[0])

    def pairs(self, folder="shared"):
        """By the page FORMAT.md: what the files make together, a dictionary from a pair's hash to its day."""
        pairs = {}
        names = [line.split()[1] for line in (self.folder / folder / "manifest").read_text().splitlines() if line.startswith("file ")]
        for name in names:
            content = (self.folder / folder / name).read_bytes()
            self.assertEqual(content[:8], b"\x89BLP\r\n\x1a\n")
            self.assertEqual(struct.unpack_from("<IH", content, 8), (1, int(name == names[0])))
            for pair, _, day, kind, _ in struct.iter_unpack("<QQHHI", content[56:]):
                if kind in (1, 5):
                    pairs[pair] = max(day, pairs.get(pair, 0))
                elif kind == 2:
                    pairs.pop(pair)
        return pairs

    def want(self, pairs):
        key = base64.b64decode((self.folder / "learn.key").read_text().splitlines()[-1])
        want = {}
        for user, correspondent, _, last in pairs:
            for text in (f"{correspondent}\n{user}", correspondent.split("@")[1]):
                name = sip_hash(key, text.encode())
                want[name] = max(last, want.get(name, 0))
        return want

    def test_the_hashes_are_those_of_the_page_and_no_address_is_in_them(self):
        self.assertEqual(self.share()[0][:10], "shared    ")
        self.assertEqual(self.pairs(), self.want(learned_test.LearnedTest.PAIRS))
        for path in (self.folder / "shared").iterdir():
            self.assertNotRegex(path.read_bytes(), rb"example|ann|joe")
        self.assertEqual(self.share()[0][:10], "unchanged ")

    def test_what_is_forgotten_is_shared_no_longer(self):
        self.share()
        self.check(0, "learned", "forget", "learned.db", "joe@example.org")
        done = self.shared()
        self.assertEqual((done["changed"], done["forgets"]), (True, 1))
        joe, *others = learned_test.LearnedTest.PAIRS
        self.assertEqual(set(self.want([joe])) - set(self.pairs()), set(self.want([joe])) - set(self.want(others)))

    def test_it_is_brought_to_another_host_and_watched(self):
        self.share()
        web = WebServer(self.folder / "shared")
        self.addCleanup(web.close)
        pull = ("pull", web.url, "front", "--trusted-key", self.public)
        self.check(0, *pull)
        command = [BLOOMGATE, "share", "learned.db", "shared", "--learn-key", "learn.key", "--sign-key", "sign.key", "--watch", "1"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True) as running:
            with contextlib.closing(sqlite3.connect(self.folder / "learned.db", isolation_level=None)) as database:
                database.execute("INSERT INTO pairs VALUES (NULL, 'pat@ours.example', 'new@example.org', 20780, 20780)")
                database.execute("UPDATE state SET last_change = last_change + 1, pairs = pairs + 1")
            self.assertIn("shared", running.stdout.readline())
            running.send_signal(signal.SIGTERM)
        self.assertEqual(running.returncode, 0)
        self.check(0, *pull)
        self.assertEqual(len(self.pairs("front")), 6)  # four pairs, two domains
        self.assertEqual(self.pairs("front"), self.pairs())

    def test_nothing_is_lost_when_it_is_killed_at_any_moment(self):
        command = [BLOOMGATE, "share", "learned.db", "shared", "--learn-key", "learn.key", "--sign-key", "sign.key", "--watch", "1",
                   "--quiet"]
        with contextlib.closing(sqlite3.connect(self.folder / "learned.db", isolation_level=None)) as database:
            for i in range(20):
                database.execute(f"INSERT INTO pairs VALUES (NULL, 'pat@ours.example', 'c{i}@example.org', 20780, 20780)")
                database.execute("UPDATE state SET last_change = last_change + 1, pairs = pairs + 1")
                with subprocess.Popen(command, cwd=self.folder) as running:
                    time.sleep(0.003 * i)
                    running.kill()
        self.share()
        pairs = learned_test.LearnedTest.PAIRS + [("pat@ours.example", f"c{i}@example.org", 20780, 20780) for i in range(20)]
        self.assertEqual(self.pairs(), self.want(pairs))

    def test_a_wrong_command_says_what_is_missing(self):
        for words, told in ((("learned.db",), "a folder"), (("learned.db", "out"), "--learn-key"),
                            (("learned.db", "out", "--learn-key", "learn.key"), "--sign-key"),
                            (("learned.db", "--new-learn-key", "k"), "takes no FILE and no FOLDER")):
            self.assertIn(told, self.check(EX_USAGE, "share", *words)[1])
        self.assertIn("--new-learn-key", self.check(EX_DATAERR, "share", "learned.db", "out", "--learn-key", "sign.key",
                                                    "--sign-key", "sign.key")[1])
        self.assertIn("nothing.db", self.check(EX_NOINPUT, "share", "nothing.db", "out", "--learn-key", "learn.key",
                                               "--sign-key", "sign.key")[1])


main()
