"""Small faults, made from the text of a function: what `run` puts into a copy of the code, one at a time.

A rule is a pattern and what takes the place of its match. The patterns go by the spaces of our format: ` < ` compares, and
`vector<int>` does not.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from weave import blank, function_bodies

# Folder, and the test programs that could notice a fault in it, the quickest first; the first row that fits counts.
# "ctest: REGEX" stands for tests that ctest knows, with what is built for them.
PROGRAMS = (
    ("milter/fields", ("fields_tests", "policy_tests", "dkim_tests")),
    ("milter/policy", ("policy_tests",)),
    ("milter/deep_check", ("deep_check_tests", "milter_tests")),
    ("milter/names", ("names_tests", "dkim_tests", "config_tests")),
    ("milter/dkim", ("dkim_tests", "milter_tests")),
    ("milter/learning", ("learning_tests", "milter_tests")),
    ("milter/lookup", ("lookup_tests",)),
    ("milter/serving", ("lookup_tests", "monitoring_tests")),
    ("milter/monitoring", ("monitoring_tests", "milter_tests")),
    ("milter", ("milter_tests",)),
    ("config", ("config_tests", "milter_tests")),
    ("filter/library", ("library_tests",)),
    ("filter/mpi", ("mpi_tests", "ctest: the ranks of a job")),
    ("filter/jobs", ("filter_tests", "ctest: the program bloomgate|folders of layers")),
    ("filter/cli", ("filter_tests", "ctest: the program bloomgate|folders of layers")),
    ("filter", ("filter_tests",)),
)
BUILT_FOR_CTEST = ("bloomgate", "bloomgate-mpi")

RULES = tuple((re.compile(pattern), replacement) for pattern, replacement in (
    (r" == ", " != "), (r" != ", " == "),
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" && ", " || "), (r" \|\| ", " && "),
    (r"(?<=[( ])!(?=[\w(])", ""),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r" [+-] 1\b", ""), (r" \+ (?!1\b)", " - "), (r" - (?!1\b)", " + "),
    (r"(?<=return )0(?=;)", "1"), (r"\bbreak(?=;)", ""), (r"\bcontinue(?=;)", ""),
    (r"\.begin\(\)(?=[,)])", ".end()"),
    # A statement on a line of its own: a call or an assignment, not a return and not a declaration.
    (r"(?m)(?<=^)[ ]+(?!return|throw|co_|delete|using|case)[\w.:>\-\[\]]+(?:\(.*\)| [-+*|&^]?= .*);$", ""),
))
CONDITION = re.compile(r"\b(?:if|while) \(")


@dataclass(frozen=True)
class Test:
    """What must notice: a Catch program, or tests that ctest knows."""
    program: str  # empty where ctest runs them
    pattern: str  # ctest's regular expression, empty for a program
    targets: tuple  # what is built for it

    def __str__(self):
        return self.program or f"ctest: {self.pattern}"


@dataclass(frozen=True)
class Fault:
    file: str  # below the project's folder
    line: int
    begin: int  # of the text that changes, in the file
    text: str
    replacement: str
    tests: tuple

    def __str__(self):
        def short(text):
            return " ".join(text.split()) or "nothing"

        return f"{self.file}:{self.line}: {short(self.text)}  =>  {short(self.replacement)}"

    def apply(self, source: str, offset: int = 0) -> str:
        """`source` begins at `offset` of the file."""
        at = self.begin - offset
        return source[:at] + self.replacement + source[at + len(self.text):]


def tests_of(file: str) -> tuple:
    for folder, programs in PROGRAMS:
        if file.startswith(folder + "/"):
            return tuple(Test("", name.removeprefix("ctest: "), BUILT_FOR_CTEST) if name.startswith("ctest: ")
                         else Test(name, "", (name,)) for name in programs)
    raise ValueError(f"{file}: expected a file of config/, filter/ or milter/")


def condition_at(code: str, opening: int) -> int:
    """Behind the parenthesis that closes the one at `opening`."""
    depth = 0
    for at in range(opening, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at + 1
    return len(code)


def changes(code: str, source: str):
    """Of one body: (begin, text, replacement)."""
    for pattern, replacement in RULES:
        for found in pattern.finditer(code):
            # What a comment or a string has in this place is blank in `code`.
            yield found.start(), source[found.start():found.end()], replacement
    for found in CONDITION.finditer(code):
        begin, end = found.end() - 1, condition_at(code, found.end() - 1)
        condition = source[begin:end]
        if ";" not in condition and not re.match(r"\((?:const )?auto\b|\([\w:<>]+ [\w]+ =", condition):
            yield begin, condition, f"(!{condition})"


def mutants_of(path: Path, root: Path, lines=None) -> list:
    """The mutants of a file; with `lines`, those of these lines only."""
    file = str(path.relative_to(root))
    source = path.read_text(encoding="utf-8")
    code = blank(source)
    tests = tests_of(file)
    found = {}
    for begin, end, _ in function_bodies(source):
        for at, text, replacement in changes(code[begin:end], source[begin:end]):
            line = source[:begin + at].count("\n") + 1
            if lines is None or line in lines:
                fault = Fault(file, line, begin + at, text, replacement, tests)
                found[fault] = None
    return sorted(found, key=lambda fault: (fault.begin, fault.replacement))
