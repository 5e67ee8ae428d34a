"""A file that is compiled for newer processors has no function that the linker could choose for others, too.

Called with the objects of the rooms that have such files. An inline function of a shared header that the compiler has left
as a function is a weak symbol in each object, and the linker takes one of them for all.
"""
import pathlib
import platform
import re
import subprocess
import sys
import unittest

FOR_NEWER = re.compile(r"_(avx2|avx512|vbmi2)\.cpp\.o$")
objects = sys.argv[1:]


class InstructionSetsTest(unittest.TestCase):
    def test_what_is_made_for_newer_processors_is_used_by_no_other_file(self):
        for_newer = [path for path in objects if FOR_NEWER.search(path)]
        self.assertEqual(bool(for_newer), platform.machine() == "x86_64")
        for path in for_newer:
            symbols = subprocess.run(["nm", "-C", "--defined-only", path], check=True, capture_output=True, text=True).stdout
            shared = [line for line in symbols.splitlines() if re.match(r"[0-9a-f]* [Wu] ", line)]
            self.assertEqual(shared, [], pathlib.Path(path).name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
