"""The files of one set-up, and how they are to change.

The folder `bloomgate-setup` in the mail server's configuration keeps the state of the last --apply: what was put in,
piece by piece, and every file as it was before and after. If a file is still as --apply left it, --undo restores the
exact bytes. If somebody has edited it since, --undo takes out each of our pieces and keeps the rest.
"""

import difflib
import json
import os
import shutil
import tempfile
import time
from pathlib import Path

from . import edits

STATE_FOLDER = "bloomgate-setup"


class Refused(Exception):
    """Why nothing was done: what was found, where, and what to do."""


class Configuration:
    """The files by their paths, as they are (`current`) and as they were before us (`original`). None stands for a
    file that does not exist. applied: what the last --apply put in, of `edits`; empty if nothing is applied. left: those
    of these pieces whose steps failed, or had to wait for a step that did."""

    def __init__(self, folder, paths):
        self.folder = Path(folder)
        self.state = self.folder / STATE_FOLDER
        self.is_applied = self.state.is_dir()
        self.applied = self._pieces_of("edits.json")
        self.left = self._pieces_of("left.json")
        before = [edit.file for edit in self.applied if edit.file]
        self.paths = list(dict.fromkeys([*map(str, paths), *before]))
        self.current = {path: read(Path(path)) for path in self.paths}
        self.original = {path: self._without_us(path) for path in self.paths}

    def _pieces_of(self, name):
        journal = read(self.state / name)
        return [] if journal is None else [edits.from_json(found) for found in json.loads(journal)]

    def has(self, piece):
        """Whether the last --apply put the piece in, and it is still there."""
        current = self.current.get(piece.file)
        if piece not in self.applied or piece.kind == "command":
            return False
        if not piece.file:
            return True
        text = None if current is None else current.decode("utf-8", "surrogateescape")
        return text is not None and piece.taken_out(text) != text

    def remember_left(self, pieces):
        """The pieces whose steps the next --apply has to do: of a group, a folder or a command. None: all are done."""
        if not self.state.is_dir():
            return
        if pieces:
            write_pieces(self.state / "left.json", pieces)
        else:
            (self.state / "left.json").unlink(missing_ok=True)

    def _without_us(self, path):
        current = self.current[path]
        if not self.is_applied or current is None:
            return current
        if current == read(self.state / "after" / kept_name(path)):
            return read(self.state / "before" / kept_name(path))
        text = current.decode("utf-8", "surrogateescape")
        for edit in reversed(self.applied):
            if edit.file == path and text is not None:
                text = edit.taken_out(text)
        return None if text is None else text.encode("utf-8", "surrogateescape")

    def diff(self, wanted):
        """The changes from `current` to `wanted`, as diff -u prints them; '' if there are none."""
        lines = []
        for path in self.paths:
            old, new = (lines_of(files.get(path)) for files in (self.current, wanted))
            lines += difflib.unified_diff(old, new, path, f"{path} (new)")
        return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
                       for line in lines)

    def apply(self, wanted, put_in, check, chosen=None):
        """Puts `wanted` in place and calls check(). If check() raises, everything is put back. put_in: the pieces
        that wanted consists of; none for an undo. chosen: the options that made them."""
        new_state = self._remember(wanted, put_in, chosen) if put_in else None
        try:
            self._write(wanted)
            check()
        except BaseException:
            self._write(self.current)
            shutil.rmtree(new_state or "", ignore_errors=True)
            raise
        shutil.rmtree(self.state, ignore_errors=True)
        if new_state:
            new_state.rename(self.state)

    def _write(self, files):
        for path, content in files.items():
            if read(Path(path)) != content:
                replace(Path(path), content)

    def _remember(self, wanted, put_in, chosen):
        new = Path(tempfile.mkdtemp(prefix=STATE_FOLDER + ".", dir=self.folder))
        for part, files in (("before", self.original), ("after", wanted)):
            (new / part).mkdir()
            for path, content in files.items():
                if content is not None:
                    (new / part / kept_name(path)).write_bytes(content)
        write_pieces(new / "edits.json", put_in)
        (new / "options.json").write_text(json.dumps(chosen, indent=1) + "\n")
        return new


def write_pieces(path, pieces):
    path.write_text(json.dumps([edits.to_json(edit) for edit in pieces], indent=1) + "\n")


def folder_of(options):
    """The folder of the mail server's configuration."""
    if Path(options.config_dir).is_file():
        raise Refused(f"{options.config_dir} is a file: name the folder that it is in (--config-dir)")
    return Path(options.config_dir).resolve()


def chosen_before(folder):
    """The options of the last --apply in that configuration; None if nothing is applied."""
    found = read(Path(folder) / STATE_FOLDER / "options.json")
    return None if found is None else json.loads(found)


def kept_name(path):
    return str(path).strip("/").replace("/", "+")


def read(path):
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def lines_of(content):
    return (content or b"").decode("utf-8", "surrogateescape").splitlines(keepends=True)


def replace(path, content):
    """In one step, with the owner and the mode that the file had. A link stays: what it leads to is replaced."""
    path = path.resolve()
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
