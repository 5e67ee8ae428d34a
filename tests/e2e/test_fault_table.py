"""The table of faults in README.md names tests that exist."""

import re
from pathlib import Path

HERE = Path(__file__).parent
ROWS = [[cell.strip() for cell in line.strip("|").split("|")]
        for line in (HERE / "README.md").read_text(encoding="utf-8").splitlines() if re.match(r"\| .*`\s*\|$", line)]


def test_every_row_names_a_test_that_exists():
    assert len(ROWS) >= 50
    assert [row for row in ROWS if len(row) != 3] == []
    unit_tests = names_of_unit_tests()
    checks = (HERE / "systemd/checks.sh").read_text(encoding="utf-8")
    missing = [row[2] for row in ROWS if not exists(row[2].strip("`"), unit_tests, checks)]
    assert missing == []


def exists(test, unit_tests, checks):
    if test.startswith("ctest: "):
        return any(test.rpartition(": ")[2] in name for name in unit_tests)
    if test.startswith("systemd: "):
        return re.search(rf"(?m)^check_\w*{test.removeprefix('systemd: ')}\w*\(\)", checks)
    file, name = test.split("::")
    return re.search(rf"(?m)^def {name}\(", (HERE / file).read_text(encoding="utf-8"))


def names_of_unit_tests():
    """What ctest calls them, without what stands before the last colon."""
    tests = HERE.parent
    case_line = re.compile(r'TEST_CASE(?:_METHOD)?\(\s*(?:[\w:]+,\s*)?"(.*?)"')
    return [*(case for file in tests.rglob("*_test.cpp")
              for case in case_line.findall(file.read_text(encoding="utf-8"))),
            *(name for file in tests.rglob("*_test.py")
              for name in re.findall(r"(?m)^class (\w+)\(", file.read_text(encoding="utf-8")))]
