"""`bloomgate pull`, where a call fails, or the program is killed in it."""
import errno
import pathlib
import shutil
import sys

from faulty_commands import DurabilityTest, main, run_program, some_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "commands"))

from web_server import WebServer  # noqa: E402

CALLS = ("open", "pwrite", "ftruncate", "fchmod", "fsync", "rename", "unlink")


class PullTest(DurabilityTest):
    """The first state has two layers. In the second one the first is another, the second is gone, and `revoked` is new."""

    def setUp(self):
        super().setUp()
        self.folder.mkdir()
        self.front, self.made = self.folder / "front", self.folder.parent / "made"
        self.made.mkdir()
        self.public = run_program(self.made, "sign", "--new-key", "key", check=True).stdout.decode().strip()
        sign = ("--sign-key", "key")
        for name in "ab":
            (self.made / f"{name}.txt").write_text(f"{name}@example.org\n")
            run_program(self.made, "append", "layers", f"{name}.txt", *sign, check=True)
        self.states = [self.files(shutil.copytree(self.made / "layers", self.made / "first"))]
        (self.made / "layers/revoked").write_text("eve@example.org\n")
        run_program(self.made, "fold", "layers", "a.txt", "b.txt", *sign, check=True)
        self.states.append(self.files(self.made / "layers"))
        self.web = WebServer(self.made / "layers")
        self.addCleanup(self.web.close)

    def files(self, folder):
        return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}

    def pull(self, fault=""):
        return self.run_here(["pull", self.web.url, "front", "--trusted-key", self.public, "--quiet"], fault)

    def begin(self, state):
        """The folder has that state, as a pull leaves it, or nothing at all."""
        shutil.rmtree(self.front, ignore_errors=True)
        if state is not None:
            self.web.folder = self.made / "first"
            self.assertEqual(self.pull().status, 0)
            self.web.folder = self.made / "layers"

    def check_no_half_state(self, outcome):
        """Each file is one that was published, and a manifest is there only with all that it names."""
        found = self.files(self.front) if self.front.exists() else {}
        for name, content in found.items():
            self.assertIn(content, [state.get(name) for state in self.states], (name, outcome))
        if found.get("manifest") == self.states[1]["manifest"]:
            self.assertLessEqual(self.states[1].items(), found.items(), outcome)

    def check_each_call(self, state, fault):
        self.begin(state)
        sound = self.pull()
        self.assertEqual((sound.status, self.files(self.front)), (0, self.states[1]), sound.errors)
        calls = [(name, number) for name in CALLS for number in range(1, len(sound.of(name)) + 1)]
        self.assertLessEqual({"open", "pwrite", "fchmod", "fsync", "rename"}, {name for name, _ in calls})
        for name, number in some_of(calls):
            with self.subTest(call=name, number=number):
                self.begin(state)
                result = self.pull(f"{name} {number} {fault}")
                self.check_no_half_state(result.errors)
                if result.status == 0:
                    self.assertEqual(self.files(self.front), self.states[1])
                elif fault != "kill":
                    self.assertIn("Input/output error", result.errors)
                again = self.pull()
                self.assertEqual((again.status, self.files(self.front).keys()), (0, self.states[1].keys()), again.errors)
                self.assertEqual(self.files(self.front), self.states[1])
                self.assertEqual(list(self.front.glob(".*.pull")), [])

    def test_if_any_call_fails_no_half_state_is_there_and_the_next_run_does_the_rest(self):
        for state in (None, "first"):
            self.check_each_call(state, errno.EIO)

    def test_killed_at_any_call_no_half_state_is_there_and_the_next_run_does_the_rest(self):
        for state in (None, "first"):
            self.check_each_call(state, "kill")

    def test_after_a_kill_the_state_that_is_published_next_is_pulled(self):
        self.begin(None)
        renames = len(self.pull().of("rename"))
        for number in range(1, renames + 1):
            with self.subTest(number=number):
                self.begin(None)
                self.web.folder = self.made / "first"
                self.pull(f"rename {number} kill")
                self.web.folder = self.made / "layers"
                again = self.pull()
                self.assertEqual((again.status, self.files(self.front)), (0, self.states[1]), again.errors)

    def test_a_layer_that_a_killed_run_has_not_removed_goes_in_the_next_one(self):
        self.begin("first")
        paths = [pathlib.Path(call.path).name for call in self.pull().of("unlink")]
        self.begin("first")
        self.pull(f"unlink {paths.index('0002.bloom') + 1} kill")
        self.assertEqual(self.files(self.front).keys(), self.states[1].keys() | {"0002.bloom"})
        self.assertEqual(self.pull().status, 0)
        self.assertEqual(self.files(self.front).keys(), self.states[1].keys())

    def steps(self, run):
        names = ("fsync", "rename", "unlink")
        return [(call.name, pathlib.Path(call.path).name) for call in run.calls if call.name in names]

    def test_each_part_is_synced_before_it_has_its_name_and_the_names_before_the_manifest(self):
        self.begin("first")
        steps = self.steps(self.pull())
        synced = [name for call, name in steps if call == "fsync" and name.endswith(".pull")]
        self.assertEqual([name.split(".")[1] for name in synced], ["0001", "revoked"])
        ends = [step for step in steps if not step[1].startswith(".")]
        self.assertEqual(ends, [("fsync", "front"), ("rename", "0001.bloom"), ("rename", "revoked"), ("fsync", "front"),
                                ("rename", "manifest"), ("fsync", "front"), ("unlink", "0002.bloom"), ("fsync", "front"),
                                ("fsync", "front")])
        for name in synced:
            self.assertLess(steps.index(("fsync", name)), steps.index(("rename", "0001.bloom")))

    def test_a_part_that_a_killed_run_has_left_whole_is_synced_too(self):
        self.begin(None)
        part = next(i for i, call in enumerate(self.pull().of("fsync")) if call.path.endswith(".pull")) + 1
        self.begin(None)
        self.pull(f"fsync {part} kill")
        left, = (path.name for path in self.front.glob(".*.pull"))
        steps = self.steps(self.pull())
        self.assertLess(steps.index(("fsync", left)), steps.index(("rename", "0001.bloom")))
        self.assertEqual(self.web.bytes_of("0001.bloom"), 2 * len(self.states[1]["0001.bloom"]))


if __name__ == "__main__":
    main()
