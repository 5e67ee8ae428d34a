"""What the scripts put into files, piece by piece. Each piece can be taken out of a file that others have edited
since, whatever else was put in or taken out before. Each is kept as JSON in the state folder, which also is the list
for those whose configuration management is to do the same.
"""

import re
from dataclasses import asdict, dataclass

from . import postfix_text

BEGIN, END = "Bloomgate: begin", "Bloomgate: end"


class Edit:
    """In words: said() is what --apply does, there() what it has added, also after "keeps", removed() what --undo does."""

    def there(self):
        return self.said()

    def removed(self):
        return self.there()


@dataclass(frozen=True)
class Item(Edit):
    """An item of a list in main.cf. identity: what tells ours from others, whatever its options are. made: the
    parameter was not there before."""

    file: str
    parameter: str
    item: str
    identity: str
    made: bool = False
    kind: str = "item"

    def said(self):
        return f"{self.parameter}: adds {self.item}"

    def there(self):
        return f"{self.item} in {self.parameter}"

    def taken_out(self, text):
        text = postfix_text.without_items(text, self.parameter, self._is_ours)
        if self.made and postfix_text.value_of(text, self.parameter) == "":
            text = postfix_text.without_parameter(text, self.parameter)
        return text

    def _is_ours(self, item):
        return self.identity in re.split(r"[\s,{}]+", item)


@dataclass(frozen=True)
class Setting(Edit):
    """A parameter of main.cf that was not there. marks: it is ours for as long as one of these is in its value."""

    file: str
    parameter: str
    value: str = ""
    marks: tuple = ()
    kind: str = "setting"

    def said(self):
        return f"{self.parameter} = {self.value}".rstrip()

    def taken_out(self, text):
        present = postfix_text.value_of(text, self.parameter)
        ours = present == " ".join(self.value.split()) or present == ""
        if present is not None and (ours or any(mark in present for mark in self.marks)):
            return postfix_text.without_parameter(text, self.parameter)
        return text


@dataclass(frozen=True)
class Service(Edit):
    """An entry of master.cf, with all its lines."""

    file: str
    service: str
    lines: str
    kind: str = "service"

    def said(self):
        return f"new service {self.service}"

    def there(self):
        return f"the service {self.service}"

    def taken_out(self, text):
        return postfix_text.without_service(text, self.service)


@dataclass(frozen=True)
class Chroot(Edit):
    """A service of master.cf that leaves its chroot."""

    file: str
    service: str
    before: str
    why: str
    kind: str = "chroot"

    def said(self):
        return f"{self.service} leaves its chroot ({self.before} -> n): {self.why}"

    def there(self):
        return f"{self.service} out of its chroot ({self.before} -> n): {self.why}"

    def removed(self):
        return f"{self.service} returns to its chroot (n -> {self.before})"

    def taken_out(self, text):
        entry = postfix_text.service(text, self.service)
        if entry and postfix_text.fields(text, entry)[4].text == "n":
            return postfix_text.with_field(text, self.service, 4, self.before)
        return text


@dataclass(frozen=True)
class ServiceMilters(Edit):
    """The milters that a service of master.cf has for itself, with ours among them. before, after: the argument
    of -o. identities: as of Item."""

    file: str
    service: str
    before: str
    after: str
    identities: tuple
    kind: str = "service-milters"

    def said(self):
        return f"{self.service} has milters of its own: -o {self.before} becomes -o {self.after}"

    def there(self):
        return f"{', '.join(self.identities)} in the milters of {self.service}"

    def taken_out(self, text):
        entry = postfix_text.service(text, self.service)
        present = entry and postfix_text.option(text, self.service, "smtpd_milters")
        if not present:
            return text
        old = self.before
        if present.text != self.after:
            # Somebody has changed it since: only our items go.
            old = postfix_text.milters_option([milter for milter in postfix_text.own_milters(present.text)
                                               if not set(self.identities) & set(re.split(r"[\s,{}]+", milter))])
        return text[:present.start] + old + text[present.end:]


@dataclass(frozen=True)
class Block(Edit):
    """Lines between two marked ones. comment: how the file writes a comment."""

    file: str
    lines: str
    what: str
    comment: str = "#"
    kind: str = "block"

    def said(self):
        return self.what

    def marked(self):
        return marked(self.lines, self.comment)

    def taken_out(self, text):
        """Without all that stands between the marks."""
        return re.sub(rf"(?ms)^{self.comment} {BEGIN}.*?^{self.comment} {END}[^\n]*\n", "", text)


@dataclass(frozen=True)
class Marks(Edit):
    """The marked lines round other pieces."""

    file: str
    kind: str = "marks"

    def said(self):
        return ""

    def taken_out(self, text):
        return re.sub(rf"(?m)^# ({BEGIN}|{END})\b.*\n", "", text)


@dataclass(frozen=True)
class NewFile(Edit):
    """A file that was not there."""

    file: str
    text: str
    what: str
    kind: str = "file"

    def said(self):
        return f"new file: {self.what}"

    def there(self):
        return f"the file: {self.what}"

    def taken_out(self, text):
        """Each of our lines, once; what others have added is kept."""
        theirs, ours = [], self.text.splitlines()
        for line in text.splitlines():
            if line in ours:
                ours.remove(line)
            else:
                theirs.append(line)
        return "".join(line + "\n" for line in theirs) if any(line.strip() for line in theirs) else None


@dataclass(frozen=True)
class Made(Edit):
    """A file that is made of another one, and is made anew when our pieces are out of that."""

    file: str
    what: str
    kind: str = "made"

    def said(self):
        return self.what

    def taken_out(self, text):
        return text


@dataclass(frozen=True)
class Group(Edit):
    """A user who joins a group of the machine."""

    user: str
    group: str
    why: str
    file: str = ""
    kind: str = "group"

    def said(self):
        return f"the user {self.user} joins the group {self.group}: {self.why}"

    def there(self):
        return f"the user {self.user} in the group {self.group}: {self.why}"

    def removed(self):
        return f"the user {self.user} leaves the group {self.group}"


@dataclass(frozen=True)
class Folder(Edit):
    """A folder for a user of the machine, who has the group of that name."""

    path: str
    user: str
    file: str = ""
    kind: str = "folder"

    def said(self):
        return f"{self.path}: a new folder, of the user {self.user}"

    def there(self):
        return f"the folder {self.path}, of the user {self.user}"


@dataclass(frozen=True)
class Command(Edit):
    """A program that puts the files into use, when they are there and when they are gone again."""

    command: tuple
    file: str = ""
    kind: str = "command"

    def said(self):
        return " ".join(self.command)


KINDS = {"item": Item, "setting": Setting, "service": Service, "chroot": Chroot, "service-milters": ServiceMilters,
         "block": Block, "marks": Marks, "file": NewFile, "made": Made, "group": Group,
         "folder": Folder, "command": Command}


def marked(lines, comment="#"):
    return (f"{comment} {BEGIN}. Put here by Bloomgate's setup script, and taken out again with --undo.\n"
            f"{lines}{comment} {END}.\n")


def to_json(edit):
    return {name: value for name, value in asdict(edit).items() if value not in ("", ())}


def from_json(found):
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}
    return KINDS[fields.pop("kind")](**fields)
