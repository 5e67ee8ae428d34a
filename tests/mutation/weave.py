"""Puts many faults into one source file, of which a variable of the environment chooses one when the program runs.

Compiling is what takes the time. So the body of a function becomes a switch over copies of itself, each with one fault,
and what was there by default. A fault that is not inside a function's body cannot be woven. One in a constexpr function
can, but shows only where that function is called at run time.
"""

import re

VARIABLE = "BLOOMGATE_FAULT"
# What a compiler's message calls the place of a fault.
PLACE = "fault-{}"
PLACES = re.compile(r"\bfault-(\d+)\b")

CHOICE = f"""#include <cstdlib>
#include <type_traits>
#ifndef BLOOMGATE_CHOSEN_FAULT
#define BLOOMGATE_CHOSEN_FAULT
inline int bloomgate_chosen_fault() noexcept {{
  static const char* const text = std::getenv("{VARIABLE}");
  static const int number = text == nullptr ? 0 : std::atoi(text);
  return number;
}}
#endif
"""

# Comments, strings and characters; the quotes of 1'000 are none.
SKIPPED = re.compile(r"""//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|^\#[^\n]*""",
                     re.DOTALL | re.MULTILINE)
SCOPE = re.compile(r"\b(namespace|class|struct|union|extern)\b")
# Of a class, whose parentheses are no parameters.
ALIGNMENT = re.compile(r"\balignas\s*\([^()]*\)")


def blank(source: str) -> str:
    """The same code at the same places, without anything in which a brace means nothing."""
    return SKIPPED.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), source)


def function_bodies(source: str) -> list:
    """Of each function that is no part of another: (begin, end) of what is between its braces, whether it is constexpr."""
    code = blank(source)
    bodies, stack = [], []  # of braces: "scope", "function", "other"
    header_from, body_from, is_constexpr = 0, 0, False
    for at, character in enumerate(code):
        inside = stack[-1] if stack else "scope"
        if character == "{":
            kind = "other"
            header = ALIGNMENT.sub("", code[header_from:at])
            if inside == "scope":
                # Such as b_{1} in the list of a constructor.
                is_member = "(" in header and re.search(r"\w$", header)
                is_function = "(" in header and "=" not in re.sub(r"\([^()]*\)|operator\S+|[=!<>]=", "", header)
                if is_function and not is_member:
                    kind, body_from = "function", at + 1
                    is_constexpr = re.search(r"\bconst(expr|eval)\b", header) is not None
                elif SCOPE.search(header) and "enum" not in header and "(" not in header:
                    kind = "scope"
            stack.append(kind)
            if kind == "scope":
                header_from = at + 1
        elif character == "}" and stack:
            kind = stack.pop()
            if kind == "function":
                bodies.append((body_from, at, is_constexpr))
            is_member = kind == "other" and "(" in code[header_from:at] and re.match(r"\s*[,{]", code[at + 1:])
            if (not stack or stack[-1] == "scope") and not is_member:
                header_from = at + 1
        elif character == ";" and inside == "scope":
            header_from = at + 1
    return bodies


def weave(source: str, faults: dict, name: str):
    """`faults` by their numbers, from 1. Returns the source with those that can be woven, and their numbers."""
    of_body = {}
    for number, fault in faults.items():
        for body in function_bodies(source):
            if body[0] <= fault.begin and fault.begin + len(fault.text) <= body[1]:
                of_body.setdefault(body, []).append(number)
    woven, at = [CHOICE, f'#line 1 "{name}"\n'], 0
    for (begin, end, is_constexpr), numbers in sorted(of_body.items()):
        body = source[begin:end]
        unless = "std::is_constant_evaluated() ? 0 : " if is_constexpr else ""
        woven.append(f"{source[at:begin]}\nswitch ({unless}bloomgate_chosen_fault()) {{")
        for number in numbers:
            woven.append(f'\ncase {number}: {{\n#line 1 "{PLACE.format(number)}"\n{faults[number].apply(body, begin)}\n}} break;')
        line = source[:begin].count("\n") + 1
        woven.append(f'\ndefault: {{\n#line {line} "{name}"\n{body}\n}} break;\n}}\n#line {line} "{name}"\n')
        at = end
    woven.append(source[at:])
    return "".join(woven), {number for numbers in of_body.values() for number in numbers}
