"""Filters of entries that are on many machines: each task writes a part, and a build makes the filter of all parts."""
from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Set, Union

import numpy as np

from .columns import TEXTS_AT_ONCE, Column, Text, lines_of
from .errors import Error

PathName = Union[str, bytes, "os.PathLike[Any]"]
Setting = Union[None, str, int, float, bool, PathName, Sequence[PathName]]


@dataclass(frozen=True)
class Part:
    """What a part has. All but `path` is the same on every machine where it is made of the same entries."""

    path: str
    index: int
    parts: int
    addresses: int
    domains: int
    rejected: int  # texts that are not valid entries


def write_part(entries: Union[Column, Iterable[Union[Column, Optional[Text]]]], path: PathName, *, index: int, parts: int,
               store_seed: int, **options: Setting) -> Part:
    """Writes part number `index` of `parts`, counted from 0, of these entries, which no other task has: a column, or an
    iterator of columns or of texts. None is an empty text. The file is there when all of it is, and never in part, also where
    this process is killed.

    Options are those of `bloomgate part`, with underscores: run="2026-11-29", keep_case=True, tag_separators="+". They, the
    seed and the number of parts are the same in all tasks. Raises Error, and what `entries` raises; then nothing is written.
    """
    if "format" in options:
        raise ValueError("entries are texts as they stand in a list: they have no other format")
    words = [*_part_words(path, index, parts, options), "--local-lists", "-"]
    return _part(path, _run(words, _columns(entries), store_seed))


def write_part_of_lists(lists: Iterable[PathName], path: PathName, *, index: int, parts: int, store_seed: int,
                        **options: Setting) -> Part:
    """The same for lists in files that all tasks see: reads the part of them that no other task reads."""
    return _part(path, _run([*_part_words(path, index, parts, options), *_files(lists)], seed=store_seed))


def build(inputs: Iterable[PathName], path: PathName, **options: Setting) -> Dict[str, Any]:
    """Makes the filter of all parts, or of lists, as `bloomgate build` does, and gives its report. Options are those of that
    command, with underscores: layout="ribbon", store="whitelist.store", leave_out=["closed.txt"]. Raises Error; then no file
    has changed."""
    return _run(["build", "--output", _output(path), *_words(options), *_files(inputs)])


def _output(path: PathName) -> str:
    name = os.fsdecode(path)
    if name in ("", "-"):
        raise ValueError("name the file to write")
    return name


def _files(paths: Iterable[PathName]) -> List[str]:
    names = [os.fsdecode(path) for path in paths]
    if "-" in names:
        raise ValueError("a list must be a file, not standard input; './-' is a file of that name")
    return ["--", *names]


def _part(path: PathName, report: Dict[str, Any]) -> Part:
    return Part(os.fsdecode(path), report["part"], report["parts"], report["addresses"], report["domains"], report["rejected"])


def _part_words(path: PathName, index: int, parts: int, options: Dict[str, Setting]) -> List[str]:
    return ["part", "--of", str(parts), "--index", str(index), "--output", _output(path), *_words(options)]


def _words(options: Dict[str, Setting]) -> Iterator[str]:
    for name, value in options.items():
        option = f"--{name.rstrip('_').replace('_', '-')}"
        if option == "--help":
            raise ValueError("the manual bloomgate(1) has the options")
        if isinstance(value, bool):
            yield from [option] * value
            continue
        for each in value if isinstance(value, (list, tuple)) else [] if value is None else [value]:
            if isinstance(each, (bytes, os.PathLike)):
                each = os.fsdecode(each)
            if isinstance(each, bool) or not isinstance(each, (str, int, float)):
                raise TypeError(f"{name}: expected a text, a number, a path or True, got {type(each).__name__}")
            yield from (option, str(each))


def _columns(entries: Union[Column, Iterable[Union[Column, Optional[Text]]]]) -> Iterator[Column]:
    if isinstance(entries, (str, bytes, bytearray, memoryview)):
        raise TypeError("entries are a column or an iterator of texts, not one text")
    if isinstance(entries, (np.ndarray, tuple, list)):
        yield entries
        return
    rest = iter(entries)
    for first in rest:
        if first is None or isinstance(first, (str, bytes)):
            yield list(itertools.chain([first], itertools.islice(rest, TEXTS_AT_ONCE - 1)))
        else:
            yield first


def _program() -> str:
    """That of the wheel, or the one that is installed."""
    beside = Path(__file__).parent / "bin/bloomgate"
    found = str(beside) if beside.exists() else shutil.which("bloomgate")
    if found is None:
        raise Error("cannot_open", "the program 'bloomgate' is not installed: a package of the same name has it")
    return found


# Where programs read from: a process that is forked meanwhile would keep these pipes open.
_open_pipes: Set[int] = set()


def _close_pipes_of_parent() -> None:
    while _open_pipes:
        os.close(_open_pipes.pop())


os.register_at_fork(after_in_child=_close_pipes_of_parent)


class _Pipe:
    """To the standard input of a program."""

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()
        self.is_open = True
        _open_pipes.add(self.writer)

    def close_reader(self) -> None:
        os.close(self.reader)

    def write(self, data: bytes) -> bool:
        """False: the program has closed it."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self.writer, rest):]
        except BrokenPipeError:
            return False
        return True

    def close(self) -> None:
        if self.is_open and self.writer in _open_pipes:  # a process that was forked has closed it
            _open_pipes.discard(self.writer)
            os.close(self.writer)
        self.is_open = False  # from now on another pipe may have that number


def _run(words: List[str], columns: Optional[Iterable[Column]] = None, seed: Optional[int] = None) -> Dict[str, Any]:
    """Runs the program, with these lines on its standard input, and gives its report. It reads the seed from a file, since other
    users of the machine see its arguments."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as seed_file:
        seed_words: List[str] = []
        if seed is not None:
            seed_file.write(str(seed).encode())
            seed_file.flush()
            seed_words = ["--store-seed-file", f"/dev/fd/{seed_file.fileno()}"]
        pipe = _Pipe() if columns is not None else None
        try:
            try:
                program = subprocess.Popen([_program(), words[0], "--json", "--quiet", *seed_words, *words[1:]], stdout=output,
                                           stderr=said, pass_fds=[seed_file.fileno()],
                                           stdin=pipe.reader if pipe else subprocess.DEVNULL)
            finally:
                if pipe:
                    pipe.close_reader()
            try:
                if pipe and columns is not None:
                    _write(pipe, columns)
                    pipe.close()
                program.wait()
            except BaseException:
                program.kill()
                program.wait()
                raise
        finally:
            if pipe:
                pipe.close()
        output.seek(0)
        said.seek(0)
        return _report(program.returncode, output.read(), said.read().decode("utf-8", "replace").strip())


def _report(status: int, output: bytes, said: str) -> Dict[str, Any]:
    """The object that the program has printed, whatever its status says: where the signal of a child's end is ignored, it says
    nothing."""
    try:
        lines = output.decode("utf-8", "replace").strip()
        report: Dict[str, Any] = json.loads(lines) if status == 0 else json.loads(lines.splitlines()[-1])
    except (ValueError, IndexError):
        ended = f"it was ended by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        raise Error("internal_error", f"{said or 'bloomgate said nothing'} ({ended})") from None
    if "error" in report:
        raise Error(report["error"]["code"], report["error"]["message"])
    if status != 0:
        raise Error("internal_error", said or f"exit status {status}")
    return report


def _write(pipe: _Pipe, columns: Iterable[Column]) -> None:
    """In the format of gzip, which has a beginning and an end: where this process is killed, the program sees that its input was
    cut off, or finds none at all, which it refuses. It does not cost more than a checksum, since nothing is compressed."""
    packer = zlib.compressobj(level=0, wbits=31)
    for column in columns:
        for lines in lines_of(column):
            if not pipe.write(packer.compress(lines)):
                return  # the program has ended, and says why
    pipe.write(packer.flush())
