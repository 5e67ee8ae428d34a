"""What the tests of folders of layers share."""
from program import ProgramTest


class Layers(ProgramTest):
    """Makes lists of addresses, and layers of them in the folder `layers`."""

    def setUp(self):
        super().setUp()
        self.layers = self.folder / "layers"
        self.lists = 0

    def run_it(self, *arguments, status=0, given=""):
        done = self.run_program(*map(str, arguments), stdin=given.encode(), timeout=120)
        done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        return done

    def new_list(self, count):
        self.lists += 1
        path = self.folder / f"list{self.lists}.txt"
        path.write_text("".join(f"u{i}@list{self.lists}.example\n" for i in range(count)))
        return path

    def names(self):
        return sorted(path.name for path in self.layers.glob("*.bloom"))

    def assert_all_listed(self, lists):
        text = "".join(path.read_text() for path in lists)
        found = self.run_it("query", self.layers, "--count", "-", given=text).stdout
        self.assertEqual(found, f"listed\t{text.count(chr(10))}\nnot-listed\t0\nrejected\t0\n")
