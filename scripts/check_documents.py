"""Checks what the files for people promise about themselves. `scripts/test` runs it.

README.md has at most 100 lines, so that a new user reads it to its end. A file of tests has at most 600. mandoc finds
nothing wrong with a manual page, and the three large ones have at most 14,000 words together.
"""
import os
import pathlib
import shutil
import subprocess
import sys

MOST_README_LINES = 100
MOST_TEST_LINES = 600
MOST_WORDS = 14_000
LARGE_MANUALS = ("filter/cli/bloomgate.1", "milter/bloomgate-milter.8", "config/bloomgate-milter.conf.5")
# Whether a manual is found depends on the machine, and examples of one line may be long.
NO_FAULTS = ("referenced manual not found", "outdated mandoc.db", "input text line longer than 80 bytes")
ROOT = pathlib.Path(__file__).resolve().parents[1]


def too_long(path, most):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    return [f"{path.relative_to(ROOT)} has {lines} lines, and at most {most} are allowed"] if lines > most else []


def test_files():
    for pattern in ("*_test.cpp", "*_test.py", "test_*.py"):
        yield from sorted((ROOT / "tests").rglob(pattern))


def manual_pages():
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name not in ("build", ".git"))
        pages = [name for name in sorted(names) if name.endswith((".1", ".5", ".8"))]
        yield from (pathlib.Path(folder, name).relative_to(ROOT) for name in pages)


def mandoc(kind, path):
    """What mandoc prints. Not man: in a small Debian it is often a script that prints no page."""
    return subprocess.run(["mandoc", "-T", kind, path], cwd=ROOT, capture_output=True, encoding="utf-8")


def faults_of_page(path):
    done = mandoc("lint", path)
    said = done.stdout.splitlines() + done.stderr.splitlines()
    return [line for line in said if not any(message in line for message in NO_FAULTS)]


def too_many_words():
    """The words of a page with its header and footer; `man -l` hyphenates, and so prints up to one in a hundred more."""
    words = sum(len(mandoc("utf8", path).stdout.split()) for path in LARGE_MANUALS)
    if words <= MOST_WORDS:
        return []
    return [f"{', '.join(LARGE_MANUALS)} have {words} words together, and at most {MOST_WORDS} are allowed"]


def faults_of_manuals():
    if shutil.which("mandoc") is None:
        return ["mandoc, which checks the manuals, is not installed: run scripts/install-dependencies test"]
    pages = list(manual_pages())
    missing = [f"there is no {path}" for path in LARGE_MANUALS if pathlib.Path(path) not in pages]
    return missing + [fault for path in pages for fault in faults_of_page(path)] + too_many_words()


def main():
    faults = too_long(ROOT / "README.md", MOST_README_LINES)
    for path in test_files():
        faults += too_long(path, MOST_TEST_LINES)
    faults += faults_of_manuals()
    print("\n".join(faults), end="\n" if faults else "")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
