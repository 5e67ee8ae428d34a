"""The help of every command, and the manual."""
import os
import re

from program import EX_USAGE, ProgramTest, REPOSITORY, main, users


COMMANDS = ["build", "query", "info", "report", "harvest", "rollback", "import", "learned", "add-layer", "fold-layers", "update-store",
            "counting-add", "counting-remove", "counting-export", "sign", "pull", "share", "part", "verify", "merge", "intersect",
            "compare", "size"]
OLD_NAMES = {"append": "add-layer", "fold": "fold-layers", "update": "update-store", "add": "counting-add", "remove": "counting-remove",
             "export": "counting-export"}


class HelpTest(ProgramTest):
    def test_every_command_has_help_with_examples(self):
        out, _ = self.check(0, "--help")
        commands = re.findall(r"(?m)^  ([\w-]+) {2,}", out)
        self.assertEqual(sorted(commands), sorted(COMMANDS))
        short, _ = self.check(0, "-h")
        self.assertEqual(re.findall(r"(?m)^  ([\w-]+) {2,}", short), ["build", "query", "info", "report", "harvest", "rollback"])
        for command in commands:
            self.assertRegex(short, rf"(?m)\b{command}\b")
        for command in commands:
            out, _ = self.check(0, command, "--help")
            self.assertTrue(out.startswith(f"usage: bloomgate {command} "))
            self.assertIn(f"examples:\n  bloomgate {command} ", out)
            self.assertNotRegex(out, r"\[ --|\(=")

    def test_the_manual_has_every_command_and_every_option(self):
        manual = (REPOSITORY / "filter/cli/bloomgate.1").read_text()
        sections = dict(re.findall(r"(?ms)^\.Sh ([A-Z ]+)\n(.*?)(?=^\.Sh |\Z)", manual))
        commands = set(re.findall(r"(?m)^  ([\w-]+) {2,}", self.check(0, "--help")[0]))
        self.assertEqual(commands, set(re.findall(r"(?m)^\.It Cm ([\w-]+)", sections["COMMANDS"])))
        entries = re.findall(r"(?ms)^\.It (?:Fl \w , )?Fl Fl ([\w-]+)(.*?)(?=^\.It |^\.El)", sections["OPTIONS"])
        self.assertEqual(len(entries), sections["OPTIONS"].count("\n.It "))
        self.assertEqual([name for name, _ in entries], sorted({name for name, _ in entries}))
        in_manual = {name: self.commands_of_entry(text) for name, text in entries}
        self.assertLessEqual(set().union(*in_manual.values()), commands)
        helps = {command: self.check(0, command, "--help")[0] for command in commands}
        in_help = {command: set(re.findall(r"(?m)^  (?:-\w, |    )--([\w-]+)", helps[command])) - {"help"} for command in commands}
        self.assertEqual(set(in_manual), set().union(*in_help.values()))
        # An entry without commands is an option that nearly all commands have.
        of_most = {name for name, having in in_manual.items() if not having}
        for command in commands:
            self.assertEqual(in_help[command] - of_most, {name for name, having in in_manual.items() if command in having}, command)
        for name in of_most:
            self.assertGreater(sum(name in options for options in in_help.values()), 0.6 * len(commands), name)

    @staticmethod
    def commands_of_entry(text):
        """The commands that have an option: the last sentence of its entry, '.Pq Cm build , part', or the same between .Po and .Pc."""
        last = re.search(r"(?s)\n\.(?:Pq (Cm [^\n]*)|Po (Cm (?:(?!\n\.Po ).)*)\n\.Pc)\n\Z", text)
        return set(re.findall(r"[\w-]+", last[1] or last[2])) - {"Cm"} if last else set()

    def test_old_names_of_commands_and_options_mean_the_same(self):
        for old, new in OLD_NAMES.items():
            self.assertEqual(self.check(0, old, "--help"), self.check(0, new, "--help"))
        lists = self.write("list", users(range(20))), self.write("some", users(range(5)) + "other@example.org\n")
        for old, new in (["--except", lists[1]], ["--leave-out", lists[1]]), ([f"--not={lists[1]}"], ["--never-match", lists[1]]):
            for name, words in ("old", old), ("new", new):
                self.check(0, "build", "-o", name, "--seed", "1", *words, lists[0])
            self.assertEqual(self.read("old"), self.read("new"))
        self.assertIn("unrecognised option '--not'", self.check(EX_USAGE, "size", "--not", "x")[1])

    def test_with_quiet_a_command_that_succeeds_prints_nothing(self):
        lists = self.write("list", users(range(20))), self.write("new", users(range(20, 30)))
        os.mkdir(self.folder / "layers")
        os.mkdir(self.folder / "more")
        self.check(0, "sign", "--new-key", "key")
        shape = ("--expected-entries", "100", "--seed", "1")
        for words in (("build", "-o", "filter", "--store", "store", *shape, lists[0]), ("build", "-o", "one", *shape, lists[0]), ("build", "-o", "other", *shape, lists[1]),
                      ("build", "-o", "counters", "--layout", "counting", "--expected-entries", "100", lists[0]),
                      ("merge", "-o", "both", "one", "other"), ("intersect", "-o", "same", "one", "both"),
                      ("update-store", "--store", "store", "-o", "filter", "--add", lists[1], "--keep", "1"),
                      ("rollback", "filter", "--store", "store"), ("verify", "filter", "--against", lists[0]),
                      ("counting-add", "counters", lists[1]), ("counting-remove", "counters", lists[1]),
                      ("counting-export", "counters", "-o", "exported"), ("add-layer", "layers", lists[0]), ("add-layer", "layers", lists[1]),
                      ("fold-layers", "layers", *lists), ("sign", "--key", "key", "filter"),
                      ("part", "--of", "1", "--index", "0", "--store-seed", "1", "-o", "part", lists[0])):
            self.assertEqual(self.check(0, *words, "--quiet"), ("", ""), words)
            self.assertNotEqual(self.run_program(*words, "--quiet", "--json").stdout, b"", words)

    def test_version_and_wrong_commands(self):
        for word in ("--version", "-V", "version"):
            self.assertRegex(self.check(0, word)[0], r"^bloomgate \d+\.\d+\.\d+\n$")
        for arguments in (["info", "a", "b"], ["verify"], ["size", "--entries", "5", "extra"], ["compare", "a"], ["merge", "-o", "c", "a"]):
            self.check(EX_USAGE, *arguments)
        self.check(EX_USAGE)
        self.assertIn("there is no command 'bild'", self.check(EX_USAGE, "bild")[1])


if __name__ == "__main__":
    main()
