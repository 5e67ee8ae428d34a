"""The help of every command, and the manual."""
import re

from program import EX_USAGE, ProgramTest, REPOSITORY, main


class HelpTest(ProgramTest):
    def test_every_command_has_help_with_examples(self):
        out, _ = self.check(0, "--help")
        commands = re.findall(r"(?m)^  (\w+) {2,}", out)
        self.assertEqual(sorted(commands), sorted(["build", "update", "add", "remove", "export", "append", "fold", "harvest", "import", "learned", "report", "query", "info", "verify", "sign", "share", "pull", "rollback", "merge", "intersect", "part", "compare", "size"]))
        short, _ = self.check(0, "-h")
        self.assertEqual(re.findall(r"(?m)^  (\w+) {2,}", short), ["build", "query", "info", "report", "harvest", "rollback"])
        for command in commands:
            self.assertRegex(short, rf"(?m)\b{command}\b")
        for command in commands:
            out, _ = self.check(0, command, "--help")
            self.assertTrue(out.startswith(f"usage: bloomgate {command} "))
            self.assertIn(f"examples:\n  bloomgate {command} ", out)
            self.assertNotRegex(out, r"\[ --|\(=")

    def test_the_manual_names_every_option_of_every_command(self):
        manual = (REPOSITORY / "filter/cli/bloomgate.1").read_text()
        sections = dict(re.findall(r"(?ms)^\.Ss (\w+)\n(.*?)(?=^\.Ss |^\.Sh )", manual))
        for command in sections:
            out, _ = self.check(0, command, "--help")
            in_help = set(re.findall(r"(?m)^  (?:-\w, |    )--([\w-]+)", out)) - {"help"}
            in_manual = set(re.findall(r"(?m)^\.It .*?Fl Fl ([\w-]+)", sections[command]))
            self.assertEqual(in_help, in_manual, command)

    def test_version_and_wrong_commands(self):
        for word in ("--version", "-V", "version"):
            self.assertRegex(self.check(0, word)[0], r"^bloomgate \d+\.\d+\.\d+\n$")
        for arguments in (["info", "a", "b"], ["verify"], ["size", "--entries", "5", "extra"], ["compare", "a"], ["merge", "-o", "c", "a"]):
            self.check(EX_USAGE, *arguments)
        self.check(EX_USAGE)
        self.assertIn("there is no command 'bild'", self.check(EX_USAGE, "bild")[1])


if __name__ == "__main__":
    main()
