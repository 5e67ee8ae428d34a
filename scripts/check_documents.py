"""Checks what the files for people promise about themselves. `scripts/test` runs it.

README.md has at most 100 lines, so that a new user reads it to its end. A file of tests has at most 600.
"""
import pathlib
import sys

MOST_README_LINES = 100
MOST_TEST_LINES = 600
ROOT = pathlib.Path(__file__).resolve().parents[1]


def too_long(path, most):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    return [f"{path.relative_to(ROOT)} has {lines} lines, and at most {most} are allowed"] if lines > most else []


def test_files():
    for pattern in ("*_test.cpp", "*_test.py", "test_*.py"):
        yield from sorted((ROOT / "tests").rglob(pattern))


def main():
    faults = too_long(ROOT / "README.md", MOST_README_LINES)
    for path in test_files():
        faults += too_long(path, MOST_TEST_LINES)
    print("\n".join(faults), end="\n" if faults else "")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
