"""Files of one configuration folder, and how they are to change.

The folder `bloomgate-setup` beside them keeps the state of the last --apply: every file as it was before, and as
it was left. So --undo restores the exact bytes. If somebody has edited a file since, --undo takes out our part
and keeps theirs.
"""

import difflib
import os
import shutil
import tempfile
import time
from pathlib import Path

STATE_FOLDER = "bloomgate-setup"


class Refused(Exception):
    """Why nothing was done: what was found, where, and what to do."""


class Configuration:
    """The files of a folder by their names, as they are (`current`) and as they were before us (`original`).
    None stands for a file that does not exist."""

    def __init__(self, folder, names):
        self.folder = Path(folder)
        self.state = self.folder / STATE_FOLDER
        self.names = list(names)
        self.current = {name: read(self.folder / name) for name in self.names}
        self.applied = self.state.is_dir()
        self.original = {name: self._without_us(name) for name in self.names}

    def _without_us(self, name):
        current = self.current[name]
        if not self.applied:
            return current
        before, after = read(self.state / "before" / name), read(self.state / "after" / name)
        if current == after:
            return before
        if before is None:
            raise Refused(f"this script made {self.folder / name}, and somebody has edited it since: move it away, "
                          "or put your lines elsewhere, and try again")
        return taken_back(self.folder / name, current, after, before)

    def diff(self, wanted):
        """The changes from `current` to `wanted`, as diff -u prints them; '' if there are none."""
        lines = []
        for name in self.names:
            old, new = (text_of(files[name]) for files in (self.current, wanted))
            lines += difflib.unified_diff(old, new, str(self.folder / name), f"{self.folder / name} (new)")
        return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
                       for line in lines)

    def apply(self, wanted, check):
        """Puts `wanted` in place and calls check(). If check() raises Refused, everything is put back."""
        self._write(wanted)
        try:
            check()
        except BaseException:
            self._write(self.current)
            raise
        if wanted == self.original:
            shutil.rmtree(self.state, ignore_errors=True)
        else:
            self._remember(wanted)

    def _write(self, files):
        for name, content in files.items():
            if read(self.folder / name) != content:
                replace(self.folder / name, content)

    def _remember(self, wanted):
        new = Path(tempfile.mkdtemp(prefix=STATE_FOLDER + ".", dir=self.folder))
        for part, files in (("before", self.original), ("after", wanted)):
            (new / part).mkdir()
            for name, content in files.items():
                if content is not None:
                    (new / part / name).write_bytes(content)
        shutil.rmtree(self.state, ignore_errors=True)
        new.rename(self.state)


def read(path):
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def text_of(content):
    return (content or b"").decode("utf-8", "surrogateescape").splitlines(keepends=True)


def replace(path, content):
    """In one step, with the owner and the mode that the file had."""
    if content is None:
        path.unlink()
        return
    handle, name = tempfile.mkstemp(prefix=path.name + ".", dir=path.parent)
    with open(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    # Makes the file some seconds old: Postfix's programs wait until it is.
    os.utime(name, (time.time() - 2,) * 2)
    os.chmod(name, 0o644)
    if path.exists():
        shutil.copymode(path, name)
        os.chown(name, path.stat().st_uid, path.stat().st_gid)
    os.replace(name, path)


def taken_back(path, current, after, before):
    """`current` without the step from `before` to `after`: finds each run of lines that the step put in, and
    removes it or restores what was there."""
    if current is None:
        raise Refused(f"{path} is missing: put it back, or remove {path.parent / STATE_FOLDER}")
    lines, old, new = text_of(current), text_of(before), text_of(after)
    steps = difflib.SequenceMatcher(None, new, old, autojunk=False).get_opcodes()
    for _, start, end, old_start, old_end in (step for step in steps if step[0] != "equal"):
        ours = new[start:end]
        places = [at for at in range(len(lines) - len(ours) + 1) if lines[at:at + len(ours)] == ours]
        if len(places) != 1 or not ours:
            raise Refused(f"somebody has edited the lines that this script put into {path}, so they cannot be taken "
                          f"out alone. The file as it was before: {path.parent / STATE_FOLDER / 'before' / path.name}")
        lines[places[0]:places[0] + len(ours)] = old[old_start:old_end]
    return "".join(lines).encode("utf-8", "surrogateescape")
