"""The code of a file as the compiler reads it (libclang): its functions, and the small changes that a body can have.

Places are those of libclang, in bytes. Text is decoded as latin-1, so that a byte is a character.
"""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from clang.cindex import Cursor, CursorKind, Index, TranslationUnitLoadError, TypeKind

ENCODING = "latin-1"

# What stands between two expressions, and what a mistake would have written.
OPERATORS = {
    "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "+": "-", "-": "+", "*": "/", "/": "*", "%": "/",
    "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=", "&": "|", "|": "&", ">>": "<<",
}
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
FUNCTIONS = (CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR,
             CursorKind.CONVERSION_FUNCTION, CursorKind.FUNCTION_TEMPLATE)
BRANCHES = (CursorKind.IF_STMT, CursorKind.WHILE_STMT, CursorKind.DO_STMT, CursorKind.CONDITIONAL_OPERATOR)
LOOPS = (CursorKind.WHILE_STMT, CursorKind.FOR_STMT, CursorKind.CXX_FOR_RANGE_STMT)
JUMPS = (CursorKind.BREAK_STMT, CursorKind.CONTINUE_STMT)
LOCK = re.compile(r"(?:const )?std::(?:lock_guard|scoped_lock|shared_lock|unique_lock)\b")


@dataclass(frozen=True)
class Body:
    """What is between the braces of a function that is no part of another."""
    begin: int
    end: int
    is_constexpr: bool


@dataclass(frozen=True)
class Change:
    """In a body: `text`, which begins at `begin` of the file, becomes `replacement`."""
    body: Body
    begin: int
    text: str
    replacement: str


def flags_of(database: Path, path: Path, root: Path) -> list:
    """What the compiler is told of a source file; of a header: of a source file in its folder, or in the nearest above."""
    entries = {entry["file"]: entry["command"] for entry in json.loads(database.read_text(encoding="utf-8"))}
    folder, command = path.parent, entries.get(str(path))
    while command is None and folder.is_relative_to(root):
        command = next((entry for file, entry in sorted(entries.items()) if Path(file).is_relative_to(folder)), None)
        folder = folder.parent
    if command is None:
        raise ValueError(f"{path}: is not compiled")
    words, flags = shlex.split(command), ["-xc++", "-Wno-everything"]
    for word, following in zip(words, words[1:] + [""]):
        if word in ("-isystem", "-include"):
            flags += [word, following]
        elif re.match(r"-[DI].|-std=", word):
            flags.append(word)
    return flags


class ParsedFile:
    def __init__(self, path: Path, flags: list):
        self.path = str(path)
        self.source = path.read_bytes().decode(ENCODING)
        try:
            unit = Index.create().parse(self.path, flags)
        except TranslationUnitLoadError as error:
            raise ValueError(f"{path}: cannot be parsed: {error}") from error
        wrong = [str(d) for d in unit.diagnostics if d.severity >= d.Error]
        if wrong:
            raise ValueError(f"{path}: cannot be parsed: {wrong[0]}")
        self.unit = unit  # which the cursors belong to

    def text(self, begin, end):
        return self.source[begin:end]

    def range(self, cursor: Cursor):
        """(begin, end) in this file; of what a macro has made, an empty range."""
        start, end = cursor.extent.start, cursor.extent.end
        if start.file is None or start.file.name != self.path or end.file is None or end.file.name != self.path:
            return 0, 0
        return start.offset, max(start.offset, end.offset)

    def spelling(self, cursor: Cursor):
        return self.text(*self.range(cursor))

    def functions(self):
        """Cursor and body of each."""
        def below(cursor):
            for child in cursor.get_children():
                if child.location.file is None or child.location.file.name != self.path:
                    continue
                if child.kind not in FUNCTIONS:
                    yield from below(child)
                elif child.is_definition():
                    yield child

        for function in below(self.unit.cursor):
            # Of a function that is one try statement, its block.
            below_it = [under for child in function.get_children()
                        for under in (child.get_children() if child.kind == CursorKind.CXX_TRY_STMT else [child])]
            bodies = [child for child in below_it if child.kind == CursorKind.COMPOUND_STMT]
            begin, end = self.range(bodies[-1]) if bodies else (0, 0)
            if self.text(begin, begin + 1) == "{":
                header = self.text(self.range(function)[0], begin)
                if not re.search(r"\bconsteval\b", header):
                    yield function, bodies[-1], Body(begin + 1, end - 1, re.search(r"\bconstexpr\b", header) is not None)

    def changes(self):
        """Every Change that the file can have."""
        for function, compound, body in self.functions():
            found = list(self.early_return(function, compound))
            for cursor in walk(compound):
                for rule in RULES:
                    found += rule(self, cursor)
            for begin, end, replacement in found:
                text = self.text(begin, end)
                if body.begin <= begin and end <= body.end and text.strip() != replacement.strip():
                    yield Change(body, begin, text, replacement)

    def early_return(self, function, compound):
        if len(list(compound.get_children())) > 1:
            begin = self.range(compound)[0] + 1
            is_void = function.result_type.kind == TypeKind.VOID
            yield begin, begin, " return;" if is_void or not function.result_type.spelling else " return {};"

    def operator(self, cursor):
        """Of an expression with two operands, built in or overloaded: (left, operator, its begin, right)."""
        children = list(cursor.get_children())
        if cursor.kind.is_expression() and len(children) in (2, 3):
            left, right = children[0], children[-1]
            begin, end = self.range(left)[1], self.range(right)[0]
            between = self.text(begin, end)
            if between.strip() in OPERATORS or between.strip() in ("&&", "||"):
                return left, between.strip(), begin + len(between) - len(between.lstrip()), right
        return None

    # Rules: each gives (begin, end, replacement) for what it finds at a cursor.

    def other_operator(self, cursor):
        if (found := self.operator(cursor)) and found[1] in OPERATORS:
            _, written, begin, _ = found
            yield begin, begin + len(written), OPERATORS[written]

    def half_a_condition(self, cursor):
        if (found := self.operator(cursor)) and found[1] not in OPERATORS:
            for half in (found[0], found[3]):
                yield *self.range(cursor), self.spelling(half)

    def other_condition(self, cursor):
        if cursor.kind not in BRANCHES:
            return
        children = list(cursor.get_children())
        if cursor.kind == CursorKind.DO_STMT:
            at, condition, branch = None, children[-1], None
        else:
            at = place_of_condition(children)
            if at + 1 >= len(children):
                return
            condition, branch = children[at], children[at + 1]
        begin, end = self.range(condition)
        text = self.text(begin, end)
        if begin == end or text.startswith("std::is_constant_evaluated"):
            return
        if at is not None and at > 0 and children[at - 1].kind == CursorKind.VAR_DECL and self.range(children[at - 1])[1] >= end:
            # if (const auto found = find()): what is declared is the condition.
            end = self.range(children[at - 1])[1]
            yield end, end, f"; false && {text}" if self.only_leaves(branch) else f"; !{text}"
            return
        if cursor.kind == CursorKind.IF_STMT and self.only_leaves(branch):
            # A refusal that never comes.
            yield begin, end, f"(false && ({text}))"
        elif text.startswith("!"):
            yield begin, end, text[1:]
        elif not ((found := self.operator(without_wrapper(condition))) and found[1] in COMPARISONS + ("&&", "||")):
            yield begin, end, f"(!({text}))"

    def only_leaves(self, branch):
        last = branch
        if branch.kind == CursorKind.COMPOUND_STMT:
            last = ([branch] + list(branch.get_children()))[-1]
        return last.kind in (CursorKind.RETURN_STMT, CursorKind.CXX_THROW_EXPR) + JUMPS

    def other_constant(self, cursor):
        begin, end = self.range(cursor)
        text = self.text(begin, end)
        if cursor.kind == CursorKind.CXX_BOOL_LITERAL_EXPR and text in ("true", "false"):
            yield begin, end, "false" if text == "true" else "true"
        elif cursor.kind == CursorKind.INTEGER_LITERAL and re.match(r"\d", text):
            yield begin, end, "0" if text == "1" else "1" if text == "0" else f"({text} + 1)"

    def statement_left_out(self, cursor):
        for statement in self.statements(cursor):
            begin, end = self.range(statement)
            is_lock = statement.kind == CursorKind.DECL_STMT and LOCK.match(self.text(begin, end))
            is_return = statement.kind == CursorKind.RETURN_STMT and not list(statement.get_children())
            if begin < end and (is_lock or is_return or is_expression(statement) or statement.kind in JUMPS):
                yield begin, end, ""

    def statements_exchanged(self, cursor):
        statements = self.statements(cursor) if cursor.kind == CursorKind.COMPOUND_STMT else []
        for first, second in zip(statements, statements[1:]):
            # Of one function, as a.clear(); b.clear(), the order hardly ever matters.
            if is_call(first) and is_call(second) and first.spelling != second.spelling:
                yield from self.exchanged(first, second)

    def exchanged(self, first, second):
        (begin, middle), (after, end) = self.range(first), self.range(second)
        if begin < middle < after < end and self.text(begin, middle) != self.text(after, end):
            yield begin, end, self.text(after, end) + self.text(middle, after) + self.text(begin, middle)

    def statements(self, cursor):
        """Those that stand by themselves directly below it."""
        children = list(cursor.get_children())
        if cursor.kind in (CursorKind.COMPOUND_STMT, CursorKind.DEFAULT_STMT):
            return children
        if cursor.kind == CursorKind.CASE_STMT or cursor.kind in LOOPS:
            return children[-1:]
        if cursor.kind == CursorKind.IF_STMT:
            return children[place_of_condition(children) + 1:]
        return []

    def arguments_swapped(self, cursor):
        if cursor.kind != CursorKind.CALL_EXPR or cursor.spelling.startswith("operator"):
            return
        if cursor.spelling in ("min", "max"):
            begin, end = self.range(next(cursor.get_children()))
            text = self.text(begin, end)
            yield begin, end, text.replace("min", "max") if "min" in text else text.replace("max", "min")
            return
        arguments = [a for a in cursor.get_arguments() if a is not None and self.spelling(a)]
        for first, second in zip(arguments, arguments[1:]):
            if plain_type(first) and plain_type(first) == plain_type(second):
                yield from self.exchanged(first, second)

    def other_answer(self, cursor):
        children = list(cursor.get_children()) if cursor.kind == CursorKind.RETURN_STMT else []
        if not children:
            return
        begin, end = self.range(children[0])
        text = self.text(begin, end)
        if begin == end or text in ("true", "false", "{}", "nullptr", "std::nullopt", "0", "*this"):
            return
        if children[0].type.get_canonical().kind == TypeKind.BOOL:
            if not self.operator(children[0]):
                yield begin, end, f"!({text})"
        else:
            yield begin, end, "{}"

    def error_swallowed(self, cursor):
        if cursor.kind == CursorKind.CXX_CATCH_STMT:
            block = list(cursor.get_children())[-1]
            begin, end = self.range(block)
            if list(block.get_children()) and not re.search(r"\breturn\b[^;]", self.text(begin, end)):
                yield begin, end, "{}"


RULES = (ParsedFile.other_operator, ParsedFile.half_a_condition, ParsedFile.other_condition, ParsedFile.other_constant,
         ParsedFile.statement_left_out, ParsedFile.statements_exchanged, ParsedFile.arguments_swapped,
         ParsedFile.other_answer, ParsedFile.error_swallowed)


def walk(cursor):
    yield cursor
    for child in cursor.get_children():
        yield from walk(child)


def is_expression(cursor):
    return cursor.kind.is_expression()


def place_of_condition(children):
    """Of a branch's children: what is declared stands before the condition, the statements behind it."""
    return next((i for i, child in enumerate(children) if is_expression(child)), len(children))


def without_wrapper(cursor):
    """What is below conversions and temporaries that end here."""
    children = list(cursor.get_children())
    return without_wrapper(children[0]) if cursor.kind == CursorKind.UNEXPOSED_EXPR and len(children) == 1 else cursor


def is_call(cursor):
    cursor = without_wrapper(cursor)
    return cursor.kind == CursorKind.CALL_EXPR and not cursor.spelling.startswith("operator")


def plain_type(cursor):
    return re.sub(r"\bconst\b|[&\s]", "", cursor.type.get_canonical().spelling)
