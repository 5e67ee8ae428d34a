"""The table of faults in README.md names tests that there are."""

import functools
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROWS = [[cell.strip() for cell in line.strip("|").split("|")]
        for line in (HERE / "README.md").read_text(encoding="utf-8").splitlines() if re.match(r"\| .*`\s*\|$", line)]


def test_there_are_faults_of_every_part():
    assert len(ROWS) >= 50
    assert all(len(row) == 3 for row in ROWS)


@pytest.mark.parametrize("fault, test", [(fault, test.strip("`")) for fault, _, test in ROWS],
                         ids=[fault for fault, _, _ in ROWS])
def test_each_row_s_test_is_there(fault, test):
    if test.startswith("ctest: "):
        name = test.rpartition(": ")[2]
        assert any(name in case for case in unit_tests())
    elif test.startswith("systemd: "):
        name = test.removeprefix("systemd: ")
        assert re.search(rf"(?m)^check_\w*{name}\w*\(\)", (HERE / "systemd/checks.sh").read_text(encoding="utf-8"))
    else:
        file, name = test.split("::")
        assert re.search(rf"(?m)^def {name}\(", (HERE / file).read_text(encoding="utf-8"))


@functools.cache
def unit_tests():
    """What ctest calls them, without what stands before the last colon."""
    tests = HERE.parent
    return [*(case for file in tests.rglob("*_test.cpp")
              for case in re.findall(r'TEST_CASE(?:\(|_METHOD\(\w+,\s*)"(.*?)"', file.read_text(encoding="utf-8"))),
            *(name for file in tests.rglob("*_test.py")
              for name in re.findall(r"(?m)^class (\w+)\(", file.read_text(encoding="utf-8")))]
