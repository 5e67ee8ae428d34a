"""Puts many faults into one source file, of which a variable of the environment chooses one when the program runs.

Compiling is what takes the time. So the body of a function becomes a switch over copies of itself, each with one fault,
and what was there by default. A fault in a constexpr function shows only where that function is called at run time.
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


def weave(source: str, faults: dict, name: str):
    """`faults` by their numbers, from 1. Returns the source with all of them."""
    of_body = {}
    for number, fault in faults.items():
        of_body.setdefault(fault.body, []).append(number)
    woven, at = [CHOICE, f'#line 1 "{name}"\n'], 0
    for place, numbers in sorted(of_body.items(), key=lambda item: item[0].begin):
        begin, end = place.begin, place.end
        body = source[begin:end]
        unless = "std::is_constant_evaluated() ? 0 : " if place.is_constexpr else ""
        woven.append(f"{source[at:begin]}\nswitch ({unless}bloomgate_chosen_fault()) {{")
        for number in numbers:
            woven.append(f'\ncase {number}: {{\n#line 1 "{PLACE.format(number)}"\n{faults[number].apply(body, begin)}\n}} break;')
        line = source[:begin].count("\n") + 1
        woven.append(f'\ndefault: {{\n#line {line} "{name}"\n{body}\n}} break;\n}}\n#line {line} "{name}"\n')
        at = end
    woven.append(source[at:])
    return "".join(woven)
