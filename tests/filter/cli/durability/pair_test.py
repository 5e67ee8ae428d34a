"""A filter and its store, where a call fails: no filter is left without its store."""
import errno
import os
import pathlib

from faulty_commands import DurabilityTest, EX_CANTCREAT, lists, main, run_program, some_of


class Pairs(DurabilityTest):
    """A filter and its store, of which only one can get its name at a time: what the tests of these have in common."""

    OLD_PAIR = ["build", "-o", "filter", "--store", "filter.store", "--seed", "1", "--threads", "1", "a.txt"]
    NEW_PAIR = ["-o", "filter", "--store", "filter.store", "--seed", "2", "--threads", "1"]
    NEW_PAIRS = {"build": ["build", *NEW_PAIR, "b.txt"],
                 "update": ["update", *NEW_PAIR, "--add", "b.txt", "--remove", "gone.txt"]}

    def setUp(self):
        super().setUp()
        self.folder.mkdir()
        for path in pathlib.Path(lists().name).glob("?.txt"):
            os.link(path, self.folder / path.name)
        a, b = ((self.folder / name).read_text().splitlines() for name in ("a.txt", "b.txt"))
        (self.folder / "gone.txt").write_text("".join(f"{line}\n" for line in sorted(set(a) - set(b))))
        self.run_here(self.OLD_PAIR)
        self.old = self.files()

    def files(self):
        return [(self.folder / name).read_bytes() for name in ("filter", "filter.store")]

    def start_again(self):
        for path in self.folder.glob("*filter*"):
            path.unlink()
        for name, content in zip(("filter", "filter.store"), self.old):
            (self.folder / name).write_bytes(content)

    def check_pair(self):
        """There is a pair, which has the entries of one of the lists, all of them and no other. Returns its list."""
        member = {"a": "user1@example.org", "b": "user5999@example.org"}
        listed = []
        for name, address in member.items():
            result = run_program(self.folder, "query", "filter", "--confirm", "filter.store", address)
            self.assertIn(result.returncode, (0, 1), result.stderr)
            listed += [name] if result.returncode == 0 else []
        self.assertEqual(len(listed), 1)
        verify = run_program(self.folder, "verify", "filter", "--confirm", "filter.store", "--against", f"{listed[0]}.txt")
        self.assertEqual(verify.returncode, 0, verify.stderr)
        return listed[0]


class PairTest(Pairs):
    CALLS = ("fsync", "rename")  # between which the names change

    def check_each_call(self, fault):
        for command, arguments in self.NEW_PAIRS.items():
            with self.subTest(command=command):
                self.start_again()
                self.check_each_call_of(arguments, fault)

    def check_each_call_of(self, arguments, fault):
        sound = self.run_here(arguments)
        self.assertEqual(sound.status, 0, sound.errors)
        self.assertEqual(self.check_pair(), "b")
        new = self.files()
        ends = set()
        for name in self.CALLS:
            self.assertNotEqual(sound.of(name), [])
            for number in some_of(range(1, len(sound.of(name)) + 1)):
                with self.subTest(call=name, number=number):
                    self.start_again()
                    result = self.run_here(arguments, f"{name} {number} {fault}")
                    listed = self.check_pair()
                    if result.status == 0:
                        self.assertEqual(listed, "b")
                    ends.add(listed)
                    # The next build works with any leftovers, and removes them.
                    again = self.run_here(arguments)
                    self.assertEqual(again.status, 0, again.errors)
                    self.assertEqual(self.files(), new)
                    self.assertEqual(sorted(path.name for path in self.folder.glob("*filter*")), ["filter", "filter.store"])
        self.assertEqual(ends, {"a", "b"})

    def test_killed_at_any_call_a_build_or_an_update_leaves_the_old_pair_or_the_new_one(self):
        self.check_each_call("kill")

    def test_a_pair_that_was_left_half_replaced_stays_one_whenever_the_next_build_is_killed(self):
        self.assertEqual(self.run_here(self.NEW_PAIRS["build"]).status, 0)
        filter_, store = self.files()

        def leave_half_replaced():
            self.start_again()
            (self.folder / "filter").write_bytes(filter_)
            (self.folder / "filter.store.next").write_bytes(store)

        leave_half_replaced()
        self.assertEqual(self.check_pair(), "b")
        sound = self.run_here(self.OLD_PAIR)
        self.assertEqual(self.check_pair(), "a")
        for name in self.CALLS:
            for number in some_of(range(1, len(sound.of(name)) + 1)):
                with self.subTest(call=name, number=number):
                    leave_half_replaced()
                    self.run_here(self.OLD_PAIR, f"{name} {number} kill")
                    self.check_pair()

    def test_if_any_call_fails_there_is_the_old_pair_or_the_new_one(self):
        self.check_each_call(errno.EIO)


class KeptPairTest(Pairs):
    """Pairs that stay under further names, and come back."""

    KEEPING = {"build": ["build", "--keep", "1", *Pairs.NEW_PAIR, "b.txt"],
               "update": ["update", "--keep", "1", *Pairs.NEW_PAIR, "--add", "b.txt", "--remove", "gone.txt"],
               "rollback": ["rollback", "filter", "--store", "filter.store"]}
    NAMES = ("rename", "link", "renameat2", "unlink")

    def start_with(self, command):
        """The pair of the list `a`, and where one is to be put back, that of `b` beside it."""
        self.start_again()
        if command == "rollback":
            for name, content in zip(("filter.1", "filter.store.1"), self.new):
                (self.folder / name).write_bytes(content)

    def check_kept(self):
        """No kept filter has lost its store."""
        places = [path.name for path in self.folder.glob("filter.store*")]
        for filter_ in self.folder.glob("filter.[0-9]"):
            asked = (run_program(self.folder, "query", filter_.name, "--confirm", place, "x@example.org") for place in places)
            self.assertTrue(any(each.returncode in (0, 1) for each in asked), (filter_, places))

    def check_each_call_of(self, arguments, fault):
        command = arguments[0]
        self.start_with(command)
        sound = self.run_here(arguments)
        self.assertEqual(sound.status, 0, sound.errors)
        ends = set()
        # Between two changes of names nothing is written that a kill could cut; but whatever fails is reported.
        names = self.NAMES if fault == "kill" else ("fsync", *self.NAMES)
        calls = [(name, number) for name in names for number in range(1, len(sound.of(name)) + 1)]
        self.assertIn("link", [name for name, _ in calls])
        for name, number in calls:
            with self.subTest(call=name, number=number):
                self.start_with(command)
                self.run_here(arguments, f"{name} {number} {fault}")
                before = self.check_pair()
                ends.add(before)
                self.check_kept()
                if fault != "kill":
                    self.assertTrue(name == "unlink" or not list(self.folder.glob(".*")))
                    continue
                # A build works with any leftovers, and the pair that it replaces can be restored.
                again = self.run_here(self.KEEPING["build"])
                self.assertEqual(again.status, 0, again.errors)
                self.assertEqual(self.run_here(self.KEEPING["rollback"]).status, 0)
                self.assertEqual(self.check_pair(), before)
        self.assertEqual(ends, {"a", "b"})

    def check_each_call(self, fault):
        self.start_again()
        self.assertEqual(self.run_here(self.NEW_PAIRS["build"]).status, 0)
        self.new = self.files()
        for command, arguments in self.KEEPING.items():
            with self.subTest(command=command):
                self.check_each_call_of(arguments, fault)

    def test_killed_at_any_call_a_pair_is_in_place_and_no_kept_pair_is_separated(self):
        self.check_each_call("kill")

    def test_if_any_call_fails_a_pair_is_in_place_and_no_kept_pair_is_separated(self):
        self.check_each_call(errno.EIO)

    def test_names_are_exchanged_in_one_step_or_by_links_where_the_file_system_cannot(self):
        self.run_here(["build", "--keep", "1", *self.NEW_PAIR, "b.txt"])
        kept = [self.folder / name for name in ("filter.1", "filter", "filter.store.1", "filter.store")]
        for error, ends in ((None, 0), (errno.EINVAL, 0), (errno.EIO, EX_CANTCREAT), (errno.EPERM, EX_CANTCREAT)):
            with self.subTest(error=error):
                before = [path.stat().st_ino for path in kept]
                done = self.run_here(self.KEEPING["rollback"], f"renameat2 1 {error}" if error else "")
                self.assertEqual(done.status, ends, done.errors)
                after = [path.stat().st_ino for path in kept]
                self.assertEqual(after, [before[at] for at in (1, 0, 3, 2)] if ends == 0 else before)
                self.assertEqual(done.of("flock")[0].path, str(self.folder))
                if ends == 0:
                    self.assertEqual(done.of("fsync")[-1].path, str(self.folder))
                else:
                    self.assertRegex(done.errors, rf"keep \S*filter under another name: {os.strerror(error)}")
                    self.assertEqual("run this as root or as the owner of the file" in done.errors, error == errno.EPERM)

    def test_a_disk_that_is_full_from_some_write_on_leaves_the_old_pair_alone(self):
        for command, arguments in self.NEW_PAIRS.items():
            self.start_again()
            writes = len(self.run_here(arguments).of("pwrite"))
            for number in (1, writes // 2, writes):
                with self.subTest(command=command, number=number):
                    self.start_again()
                    result = self.run_here(arguments, f"pwrite {number}+ {errno.ENOSPC}")
                    self.assertEqual(result.status, EX_CANTCREAT, result.errors)
                    self.assertEqual(self.check_pair(), "a")
                    self.assertEqual(sorted(path.name for path in self.folder.glob("*filter*")), ["filter", "filter.store"])


if __name__ == "__main__":
    main()
