"""The option --json of every command: a result and an error are objects that parse."""
import json
import re

import harvest_test
import learned_test
from program import EX_CANTCREAT, EX_DATAERR, EX_NOINPUT, EX_TEMPFAIL, EX_USAGE, ProgramTest, REPOSITORY, main, users
from web_server import WebServer

LOG = str(REPOSITORY / "tests/golden/report/mail.log")
HARVEST = ["-o", "lists", "--own-domain", "ours.example", "--for-all"]
# Command, its arguments, and those of an error with the status and the code of it.
COMMANDS = (
    ("build", ["-o", "out", "list"], ["-o", "out", "none"], EX_NOINPUT, "cannot_open"),
    ("update-store", ["--store", "store", "-o", "store.bloom", "--add", "list"], ["--store", "none", "-o", "out", "--add", "list"], EX_NOINPUT, "cannot_open"),
    ("counting-add", ["counting", "list"], ["list", "list2"], EX_CANTCREAT, "cannot_write"),
    ("counting-remove", ["counting", "list"], ["filter", "list"], EX_USAGE, "bad_argument"),
    ("counting-export", ["counting", "-o", "out"], ["none", "-o", "out"], EX_NOINPUT, "cannot_open"),
    ("add-layer", ["layers", "list"], ["layers", "none"], EX_NOINPUT, "cannot_open"),
    ("fold-layers", ["layers", "list"], ["none"], EX_NOINPUT, "cannot_open"),
    ("harvest", [*HARVEST, "sent"], [*HARVEST, "none"], EX_NOINPUT, "cannot_open"),
    ("import", ["--from", "exim", "-o", "imported", "list"], ["-o", "imported", "none"], EX_NOINPUT, "cannot_open"),
    ("learned", ["list", "learned.db"], ["list", "none"], EX_NOINPUT, "cannot_open"),
    ("report", [LOG], ["none"], EX_NOINPUT, "cannot_open"),
    ("query", ["filter", "user1@example.org"], ["damaged", "a@b.example"], EX_DATAERR, "too_short"),
    ("info", ["filter"], ["none"], EX_NOINPUT, "cannot_open"),
    ("verify", ["filter", "--against", "list"], ["broken"], EX_DATAERR, "bad_body_checksum"),
    ("sign", ["--key", "key", "filter", "-o", "out"], ["--key", "key", "store"], EX_DATAERR, "bad_input"),
    ("share", ["learned.db", "shared", "--learn-key", "learn.key", "--sign-key", "key"], ["nothing.db", "shared", "--learn-key", "learn.key", "--sign-key", "key"], EX_NOINPUT, "cannot_open"),
    ("pull", ["URL", "front", "--trusted-key", "KEY"], ["http://127.0.0.1:1/", "front", "--trusted-key", "KEY"], EX_TEMPFAIL, "no_answer"),
    ("rollback", ["kept"], ["kept", "--to", "9"], EX_NOINPUT, "cannot_open"),
    ("merge", ["-o", "out", "filter", "filter2"], ["-o", "out", "filter", "broken"], EX_DATAERR, "bad_body_checksum"),
    ("intersect", ["-o", "out", "filter", "filter2"], ["-o", "out", "filter", "none"], EX_NOINPUT, "cannot_open"),
    ("part", ["--of", "2", "--index", "1", "--store-seed", "7", "-o", "out.store", "list"], ["--of", "2", "--index", "1", "--store-seed", "7", "-o", "out", "none"], EX_NOINPUT, "cannot_open"),
    ("compare", ["filter", "filter2"], ["filter", "none"], EX_NOINPUT, "cannot_open"),
    ("size", ["--entries", "1e6"], ["--entries", "many"], EX_USAGE, "usage"),
)


class JsonTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("list", users(range(1000)))
        self.write("list2", users(range(500, 1500)))
        self.write("damaged", b"BLOOM")
        self.write("sent", harvest_test.HarvestTest.log(self, ("ann", "joe@example.org")))
        learned_test.LearnedTest.database(self)
        for folder in ("layers", "lists"):
            (self.folder / folder).mkdir()
        shape = ("--seed", "1", "--expected-entries", "2000")
        self.check(0, "build", "-o", "filter", *shape, "list")
        for name, more in (("broken", ()), ("filter2", ()), ("store.bloom", ("--store", "store")), ("kept", ()),
                           ("kept", ("--keep", "1")), ("counting", ("--layout", "counting"))):
            self.check(0, "build", "-o", name, *shape, *more, "list2")
        self.check(0, "counting-add", "counting", "list")
        self.flip("broken", 5000)
        for name in ("list", "list2"):
            self.check(0, "add-layer", "layers", name)
        key = self.check(0, "sign", "--new-key", "key")[0].strip()
        self.check(0, "share", "--new-learn-key", "learn.key")
        self.check(0, "add-layer", "published", "list", "--sign-key", "key")
        web = WebServer(self.folder / "published")
        self.addCleanup(web.close)
        self.meant = {"URL": web.url, "KEY": key}  # what these words of COMMANDS stand for

    def check(self, status, *arguments, **settings):
        return super().check(status, *(getattr(self, "meant", {}).get(word, word) for word in arguments), **settings)

    def error(self, status, *arguments):
        """The error, which is the only object on standard output; standard error has its sentence, too."""
        out, err = self.check(status, *arguments)
        (line,) = out.splitlines()
        (name, error), = json.loads(line).items()
        self.assertEqual((name, list(error)), ("error", ["code", "message", "path", "offset"]))
        self.assertIn(error["message"], err)
        return error

    def test_every_command_prints_a_result_and_an_error_as_an_object(self):
        names = re.findall(r"(?m)^  ([\w-]+) {2,}", self.check(0, "--help")[0])
        self.assertEqual(sorted(names), sorted(name for name, *_ in COMMANDS))
        for name, arguments, wrong, status, code in COMMANDS:
            with self.subTest(name):
                self.assertIsInstance(json.loads(self.check(0, name, "--json", *arguments)[0]), dict)
                self.assertEqual(self.error(status, name, *wrong, "--json")["code"], code)
                self.assertEqual(self.check(status, name, *wrong)[0], "")

    def test_a_command_line_that_cannot_be_followed_is_an_error_too(self):
        for name, *_ in COMMANDS:
            with self.subTest(name):
                error = self.error(EX_USAGE, name, "--json", "--nonsense")
                self.assertEqual((error["code"], error["path"], error["offset"]), ("usage", None, None))
        self.assertIn("no command 'bild'", self.error(EX_USAGE, "bild", "--json")["message"])
        self.assertEqual(self.check(EX_USAGE, "info", "--", "--json", "b")[0], "")

    def test_a_fold_without_lists_prints_the_layer_that_it_has_made(self):
        self.check(0, "add-layer", "new", "list")
        report = json.loads(self.check(0, "fold-layers", "new", "--json")[0])
        self.assertEqual([report[key] for key in ("file", "folded", "entries")], ["new/0001.bloom", 1, 1000])

    def test_an_error_has_the_place_of_the_damage(self):
        error = self.error(EX_DATAERR, "verify", "broken", "--json")
        self.assertEqual((error["path"], error["offset"]), ("broken", 4096))

    def test_query_prints_an_object_for_each_address(self):
        self.build("joe@example.org\n@example.net\n", "--bits-per-entry", "64", "--hashes", "32")
        asked = ["joe@example.org", "x@example.net", "z@example.de", "nonsense"]
        want = [{"entry": "joe@example.org", "listed": True}, {"entry": "x@example.net", "listed": True, "by": "@example.net"},
                {"entry": "z@example.de"}, {}]
        for arguments, stdin in ((asked, b""), (["-"], "\n".join(asked).encode())):
            out, _ = self.check(1, "query", "filter", "--json", *arguments, stdin=stdin)
            answers = [json.loads(line) for line in out.splitlines()]
            fault = answers[-1]["fault"]
            self.assertEqual((fault["code"], list(fault)), ("missing-at-sign", ["code", "message"]))
            want[-1]["fault"] = fault
            self.assertEqual(answers, [{"entry": None, "listed": False, "by": None, "excluded": False, "fault": None, **each} for each in want])
        self.assertEqual(json.loads(self.check(1, "query", "filter", "--json", "<>")[0])["entry"], "<>")
        out, _ = self.check(1, "query", "filter", "--json", "--count", *asked)
        self.assertEqual(json.loads(out), {"listed": 2, "not_listed": 1, "rejected": 1})

    def test_verify_prints_what_it_has_checked(self):
        out, _ = self.check(1, "verify", "filter", "--json", "--against", "list", "list2")
        result = json.loads(out)
        self.assertEqual([each["file"] for each in result["filters"]], ["filter"])
        self.assertEqual(result["filters"][0]["sections"], ["bits", "sender-domains"])
        self.assertEqual(sum(result["lists"].values()), 2000)
        self.assertGreater(result["lists"]["missing"], 450)
        self.assertTrue(result["random_addresses"]["agrees"])
        out, _ = self.check(0, "verify", "store.bloom", "--json", "--confirm", "store")
        self.assertEqual(json.loads(out)["store"], {"file": "store", "addresses": 1000, "domain_entries": 0})
        self.assertEqual([each["file"] for each in json.loads(self.check(0, "verify", "layers", "--json")[0])["filters"]],
                         sorted(str(path.relative_to(self.folder)) for path in (self.folder / "layers").glob("*.bloom")))

    def test_sign_prints_keys_and_which_filters_it_has_changed(self):
        key = json.loads(self.check(0, "sign", "--public-key", "key", "--json")[0])["public_key"]
        for changed in (True, False):
            report = json.loads(self.check(0, "sign", "--key", "key", "filter", "--json")[0])
            (manifest,) = report.pop("manifests")
            self.assertEqual(report, {"signer": key, "filters": [{"file": "filter", "changed": changed}]})
            self.assertEqual({name: manifest[name] for name in ("file", "list", "signer", "next_key")},
                             {"file": "filter.manifest", "list": "filter", "signer": key, "next_key": None})
            self.assertEqual(set(manifest) - {"file", "list", "signer", "next_key"}, {"number", "made", "holds_until"})
        self.assertEqual(list(json.loads(self.check(0, "sign", "--new-key", "new", "--json")[0])), ["public_key"])

    def test_the_manual_names_every_code(self):
        codes = re.findall(r'return "(\w+)";', (REPOSITORY / "filter/base/error.cpp").read_text())
        page = (REPOSITORY / "filter/cli/bloomgate.1").read_text().replace("\\\n", "")  # a line may continue in the next one
        manual = re.search(r"(?ms)^\.Sh JSON$(.*?)^\.Sh ", page)[1]
        lists = re.findall(r"(?m)^\.It Cm (.*)", manual[manual.index("internal_error"):])
        self.assertEqual(sorted(set(codes) - {"unknown"}), sorted(" , ".join(lists).split(" , ")))


if __name__ == "__main__":
    main()
