"""The text of main.cf and master.cf, changed in place: comments, blank lines and the way in which a person wrote the
rest stay as they are. (postconf -e writes a parameter of several lines anew, and its comments lose their place.)

Postfix's rules: a line that begins with a blank continues the one before; a line that is blank, or whose first
character but blanks is #, is skipped, in the middle of a parameter too.
"""

import re
from dataclasses import dataclass

ITEM = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|[^\s,{}]+")
WORD = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\S+")


@dataclass(frozen=True)
class Span:
    start: int
    end: int
    text: str


def masked(text):
    """The text with blanks in the place of comments; the offsets stay the same."""
    return re.sub(r"(?m)^[ \t]*#.*$", lambda found: " " * len(found.group()), text)


def entries(text):
    """The spans of the parameters of main.cf, or of the services of master.cf, with all their lines."""
    plain, found, at = masked(text), [], 0
    for line in plain.splitlines(keepends=True):
        end = at + len(line)
        if line.strip():
            if line[0] in " \t" and found:
                found[-1] = (found[-1][0], end)
            else:
                found.append((at, end))
        at = end
    return [Span(start, end, plain[start:end]) for start, end in found]


def ended(text):
    """With a line end at its end: what is put after it would go on in the last line."""
    return text if not text or text.endswith("\n") else text + "\n"


# --- main.cf


def parameter(text, name):
    """The last one of that name, which is the one that counts; None if there is none."""
    found = [entry for entry in entries(text) if entry.text.partition("=")[0].strip() == name]
    return found[-1] if found else None


def items(text, entry):
    """The items of a list: separated by blanks or commas; one in braces is whole."""
    value = entry.start + entry.text.index("=") + 1
    return [Span(found.start(), found.end(), found.group())
            for found in ITEM.finditer(masked(text)[:entry.end], value)]


def with_item(text, name, item, position):
    """The item at that position of the parameter's list, on a line of its own."""
    text = ended(text)
    entry = parameter(text, name)
    present = items(text, entry)
    if present and position == 0:
        at, new = present[0].start, f"{item}\n    "
    elif present:
        at, new = present[min(position, len(present)) - 1].end, f"\n    {item}"
    else:
        at, new = text.index("\n", entry.start), f"\n    {item}"
    return text[:at] + new + text[at:]


def without_items(text, name, is_ours):
    """Without the items of that parameter for which is_ours(item) holds."""
    entry = parameter(text, name)
    if entry is None:
        return text
    for item in reversed(items(text, entry)):
        if is_ours(item.text):
            text = cut(text, item.start, item.end)
    return text


def cut(text, start, end):
    """Without that part, the comma after it, and its line if nothing else is on it."""
    end += len(re.match(r"[ \t]*,?[ \t]*", text[end:]).group())
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip() and text[end:end + 1] == "\n":
        return text[:line] + text[end + 1:]
    return text[:start] + text[end:]


def without_parameter(text, name):
    entry = parameter(text, name)
    return text if entry is None else text[:entry.start] + text[entry.end:]


def value_of(text, name):
    """Its value on one line; None if it is not set."""
    entry = parameter(text, name)
    return None if entry is None else " ".join(entry.text.partition("=")[2].split())


# --- master.cf


def service(text, key):
    """key: name/type, as postconf -M has it."""
    for entry in entries(text):
        if "/".join(entry.text.split()[:2]) == key:
            return entry
    return None


def fields(text, entry):
    """name, type, private, unpriv, chroot, wakeup, maxproc, command, and the command's arguments."""
    return [Span(found.start(), found.end(), found.group())
            for found in WORD.finditer(masked(text)[:entry.end], entry.start)]


def with_field(text, key, number, value):
    found = fields(text, service(text, key))[number]
    return text[:found.start] + value + text[found.end:]


def option(text, key, name):
    """The argument of the service's last `-o name=value`; None if it has none."""
    words, last = fields(text, service(text, key)), None
    for before, word in zip(words, words[1:]):
        if before.text == "-o" and word.text.strip("{ \t\n").partition("=")[0].strip() == name:
            last = word
    return last


def own_milters(argument):
    """The items of `smtpd_milters=…` or `{ smtpd_milters = … }`."""
    inner = argument[1:-1] if argument.startswith("{") else argument
    return ITEM.findall(inner.partition("=")[2])


def milters_option(milters):
    return "{ smtpd_milters = " + " ".join(milters) + " }"


def without_service(text, key):
    entry = service(text, key)
    return text if entry is None else text[:entry.start] + text[entry.end:]
