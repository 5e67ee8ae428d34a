"""Small faults, made from the parsed code (parsed.py): what `run` puts into a copy of it, one at a time."""

from dataclasses import dataclass
from pathlib import Path

from parsed import ENCODING, LOCK, Body, ParsedFile, flags_of

# Folder, and the test programs that could notice a fault in it, the quickest first; the first row that fits counts.
# "ctest: REGEX" stands for tests that ctest knows, with what is built for them.
PROGRAMS = (
    ("milter/fields", ("fields_tests", "policy_tests", "dkim_tests", "milter_tests")),
    ("milter/policy", ("policy_tests", "milter_tests")),
    ("milter/deep_check", ("deep_check_tests", "milter_tests")),
    ("milter/names", ("names_tests", "dkim_tests", "config_tests", "milter_tests")),
    ("milter/dkim", ("dkim_tests", "milter_tests")),
    ("milter/learning", ("learning_tests", "milter_tests")),
    ("milter/lookup", ("lookup_tests", "milter_tests")),
    ("milter/serving", ("lookup_tests", "monitoring_tests", "milter_tests")),
    ("milter/health", ("health_tests", "monitoring_tests", "milter_tests")),
    ("milter/monitoring", ("monitoring_tests", "milter_tests")),
    ("milter/why", ("why_tests", "milter_tests")),
    ("milter/lists", ("milter_tests", "ctest: lists are edited with failing system calls")),
    ("milter", ("milter_tests", "ctest: ^miltertest: (listed|exempt|opt_out|reload|stop)$")),
    ("config", ("config_tests", "milter_tests")),
    ("filter/library", ("library_tests",)),
    ("filter/mpi", ("mpi_tests", "ctest: the ranks of a job")),
    ("filter/jobs", ("filter_tests", "ctest: the program bloomgate|folders of layers")),
    ("filter/cli", ("filter_tests", "ctest: the program bloomgate|folders of layers")),
    ("filter/keep", ("filter_tests", "ctest: the program bloomgate: .*(Generations|KeptPairs|Manifest|Pull|Sign)|folders of layers",
                     "ctest: failing system calls: .*(Layers|Pair|Signing)")),
    ("filter/log", ("log_tests", "filter_tests")),
    ("filter/report", ("filter_tests", "log_tests", "ctest: the program bloomgate: ReportTest")),
    ("filter/foreign", ("filter_tests", "ctest: the program bloomgate: Import")),
    ("filter/pull", ("ctest: the program bloomgate: Pull",)),
    ("filter", ("filter_tests",)),
)
BUILT_FOR_CTEST = {"filter": ("bloomgate", "bloomgate-mpi", "faulty_calls"), "milter": ("bloomgate", "bloomgate-milter", "faulty_calls")}


@dataclass(frozen=True)
class Test:
    """What must notice: a Catch program, or tests that ctest knows."""
    program: str  # empty where ctest runs them
    pattern: str  # ctest's regular expression, empty for a program
    targets: tuple  # what is built for it
    only: tuple = ()  # names of a Catch program's files of tests; empty: all

    def __str__(self):
        return " ".join((self.program or f"ctest: {self.pattern}",) + self.only)


@dataclass(frozen=True)
class Fault:
    file: str  # below the project's folder
    line: int
    code: str  # of that line
    begin: int  # of the text that changes, in the file
    text: str
    replacement: str
    tests: tuple
    body: Body

    def __str__(self):
        return f"{self.file}:{self.line}: {self.change()}"

    def change(self):
        def short(text):
            return " ".join(text.encode(ENCODING).decode().split()) or "nothing"

        return f"{short(self.text)}  =>  {short(self.replacement)}"

    def name(self):
        """As the list `equivalents` has it: does not change when code moves."""
        return f"{self.file}: {self.code}  ::  {self.change()}"

    def is_lock(self):
        return LOCK.match(self.text) is not None and not self.replacement

    def apply(self, source: str, offset: int = 0) -> str:
        """`source` begins at `offset` of the file."""
        at = self.begin - offset
        return source[:at] + self.replacement + source[at + len(self.text):]


def tests_of(file: str, root: Path) -> tuple:
    """The tests of the same room first: they are the quickest, and most likely to notice."""
    of_room = tuple(path.stem for path in sorted((root / "tests" / file).parent.glob("*_test.cpp")))
    for folder, programs in PROGRAMS:
        if file.startswith(folder + "/"):
            first = (Test(programs[0], "", programs[:1], of_room),) if of_room else ()
            built = BUILT_FOR_CTEST.get(file.split("/")[0], ())
            return first + tuple(Test("", name.removeprefix("ctest: "), built) if name.startswith("ctest: ")
                                 else Test(name, "", (name,)) for name in programs)
    raise ValueError(f"{file}: expected a file of config/, filter/ or milter/")


def mutants_of(path: Path, root: Path, database: Path, lines=None) -> list:
    """The mutants of a file, which `database` says how to compile; with `lines`, those of these lines only."""
    file = str(path.relative_to(root))
    parsed = ParsedFile(path, flags_of(database, path, root))
    tests, code = tests_of(file, root), parsed.source.split("\n")
    found = {}
    for change in parsed.changes():
        line = parsed.source.count("\n", 0, change.begin) + 1
        if lines is None or line in lines:
            found[Fault(file, line, code[line - 1].strip(), change.begin, change.text, change.replacement, tests,
                        change.body)] = None
    return sorted(found, key=lambda fault: (fault.begin, fault.replacement))
