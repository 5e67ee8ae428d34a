"""The faults of tests/mutation/faults, read and checked."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAULTS = Path(__file__).resolve().parent / "faults"


class ListError(Exception):
    """A list of faults that does not fit the code; the text says where, and what was expected."""


@dataclass(frozen=True)
class Test:
    """What must notice: cases of a Catch program, or tests that ctest knows."""
    program: str  # empty where ctest runs them
    pattern: str  # of Catch, empty for all of the program's cases; or ctest's regular expression
    targets: tuple  # what is built for it

    def __str__(self):
        return f"{self.program or 'ctest'}: {self.pattern or 'all cases'}"


@dataclass(frozen=True)
class Fault:
    file: str  # below the project's folder
    line: int
    text: str
    replacement: str
    tests: tuple
    equivalent: str = ""  # why no test can notice it; empty for a fault that one must
    alone: bool = False  # not to be woven with others: see `run --help`

    def __str__(self):
        def short(text):
            return " ".join(text.split()) or "nothing"

        return f"{self.file}:{self.line}: {short(self.text)}  =>  {short(self.replacement)}"

    def apply(self, source: str) -> str:
        return source.replace(self.text, self.replacement)


def parse_test(text: str, targets, where: str) -> Test:
    program, separator, pattern = text.partition(":")
    program, pattern = program.strip(), pattern.strip()
    if program == "ctest":
        if not pattern or not targets:
            raise ListError(f"{where}: '{text}' wants a regular expression, and 'targets' that say what to build")
        return Test("", pattern, tuple(targets))
    if not program or (separator and not pattern):
        raise ListError(f"{where}: '{text}' is not 'PROGRAM', 'PROGRAM: CASES' or 'ctest: REGEX'")
    return Test(program, pattern, tuple(targets) or (program,))


def parse_entry(entry, source, file, tests, targets, where, equivalent, alone) -> Fault:
    if not isinstance(entry, list) or len(entry) not in ((3,) if equivalent else (2, 3)) or not all(
            isinstance(part, str) for part in entry):
        wanted = "[text, replacement, reason]" if equivalent else "[text, replacement] or [text, replacement, test]"
        raise ListError(f"{where}: expected {wanted}, got {entry!r}")
    text, replacement = entry[:2]
    count = source.count(text) if text else 0
    if count != 1:
        raise ListError(f"{where}: this text must occur once, and occurs {count} times; where the code has changed, "
                        f"change the fault with it:\n{text}")
    if text == replacement:
        raise ListError(f"{where}: text and replacement are the same:\n{text}")
    line = source[:source.index(text)].count("\n") + 1
    if equivalent:
        return Fault(file, line, text, replacement, (), entry[2])
    if len(entry) == 3:
        tests = (parse_test(entry[2], targets, where),)
    if not tests:
        raise ListError(f"{where}: no 'tests' say what must notice the faults")
    return Fault(file, line, text, replacement, tests, alone=alone)


def read_room(path: Path, root: Path) -> list:
    """Every fault and equivalent of one list, in its order."""
    try:
        room = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ListError(f"{path}: {error}") from error
    found, errors = [], []
    for file, table in room.items():
        where = f"{path.name}: {file}"
        unknown = set(table) - {"tests", "targets", "alone", "faults", "equivalents"}
        if unknown:
            raise ListError(f"{where}: unknown key '{sorted(unknown)[0]}'")
        try:
            source = (root / file).read_text(encoding="utf-8")
        except OSError as error:
            raise ListError(f"{where}: {error.strerror}") from error
        targets = table.get("targets", [])
        tests = tuple(parse_test(test, targets, where) for test in table.get("tests", []))
        changes = set()
        for equivalent in (False, True):
            for entry in table.get("equivalents" if equivalent else "faults", []):
                try:
                    fault = parse_entry(entry, source, file, tests, targets, where, equivalent, table.get("alone") is True)
                except ListError as error:
                    errors.append(str(error))
                    continue
                change = fault.apply(source)
                if change in changes:
                    errors.append(f"{where}: listed twice: {fault}")
                changes.add(change)
                found.append(fault)
    if errors:
        raise ListError("\n".join(errors))
    return found


def read_faults(wanted=(), root: Path = ROOT, folder: Path = FAULTS) -> list:
    """The faults of the rooms and files that are `wanted`, each given by its name or its path; of all without any.

    Every list is read and checked whichever are wanted."""
    lists = sorted(folder.glob("*.toml"))
    if not lists:
        raise ListError(f"{folder}: no list of faults is there")
    all_rooms, errors = {}, []
    for path in lists:
        try:
            all_rooms[path.stem] = read_room(path, root)
        except ListError as error:
            errors.append(str(error))
    if errors:
        raise ListError("\n".join(errors))
    if not wanted:
        return [fault for room in all_rooms.values() for fault in room]
    chosen = {}
    for name in wanted:
        path = Path(name)
        stem = path.stem if path.suffix == ".toml" else name.rstrip("/")
        matching = all_rooms.get(stem) or [
            fault for room in all_rooms.values() for fault in room
            if fault.file == name or fault.file.endswith("/" + name) or fault.file.startswith(stem + "/")]
        if not matching:
            raise ListError(f"'{name}' is neither a list ({', '.join(all_rooms)}) nor a file or folder of one")
        chosen.update(dict.fromkeys(matching))
    return list(chosen)
