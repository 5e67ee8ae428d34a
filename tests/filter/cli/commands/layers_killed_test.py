"""`bloomgate add-layer`, `fold` and `rollback` of a folder of layers, killed at any moment.

BLOOMGATE_KILLS=500 kills them that often instead of a few times.
"""
import os
import random
import time

from layer_folder import Layers
from program import main

KILLS = int(os.environ.get("BLOOMGATE_KILLS", 12))


class KilledTest(Layers):
    def assert_sound(self, lists):
        self.run_it("verify", self.layers, "--quiet")
        self.assert_all_listed(lists)

    def test_killed_at_any_moment_an_append_and_a_fold_leave_a_folder_that_lists_all(self):
        kept = [self.new_list(20_000)]
        began = time.monotonic()
        self.run_it("append", self.layers, kept[0], "--quiet")
        takes = time.monotonic() - began
        for i in range(KILLS):
            path = self.new_list(2000)
            if self.kill_after(takes * i / KILLS, "append", self.layers, path, "--fpr", "10%", "--quiet"):
                kept.append(path)
            self.assert_sound(kept)
            if len(self.names()) > 3 or i % 5 == 4:
                self.kill_after(takes * i / KILLS, "fold", self.layers, "--quiet", *kept)
                self.assert_sound(kept)
            if len(self.names()) > 12 or len(kept) > 20:
                del kept[1:]  # else each look would take longer than the one before
                self.run_it("fold", self.layers, "--quiet", "--allow-shrink", *kept)
        self.run_it("append", self.layers, kept[0], "--fpr", "20%", "--quiet")
        self.run_it("fold", self.layers, "--quiet", *kept)
        self.assertEqual(len(self.names()), 1)
        self.assert_sound(kept)

    def test_killed_at_any_moment_kept_restored_and_folded_layers_are_whole(self):
        """An entry of every state is listed at every moment, and each numbered state can be restored."""
        always, other = self.new_list(20_000), self.new_list(2000)
        began = time.monotonic()
        self.run_it("append", self.layers, always, "--quiet")
        takes = time.monotonic() - began
        chance = random.Random(7)
        for i in range(KILLS):
            command = chance.choice([["append", self.layers, other, "--fpr", "20%"], ["fold", self.layers, always],
                                     ["rollback", self.layers, "--to", str(chance.choice([1, 2]))]])
            keep = [] if command[0] == "rollback" else ["--keep", "2", "--quiet"]
            self.kill_after(takes * i / KILLS, *command, *keep)
            for folder in self.folder.glob("layers*"):
                self.run_it("verify", folder, "--quiet")
                found = self.run_it("query", folder, "--count", "-", given=always.read_text()).stdout
                self.assertIn("\nnot-listed\t0\n", found)
            if len(self.names()) > 6:
                self.run_it("fold", self.layers, always, "--quiet", "--keep", "2")
        self.run_it("append", self.layers, other, "--fpr", "30%", "--keep", "2", "--quiet")
        self.run_it("rollback", self.layers)
        self.run_it("fold", self.layers, always, "--keep", "2", "--quiet")
        names = sorted(path.name for path in self.folder.iterdir() if path.suffix != ".txt")
        self.assertLessEqual(set(names), {"layers", "layers.1", "layers.2"})  # nothing hidden is left


if __name__ == "__main__":
    main()
