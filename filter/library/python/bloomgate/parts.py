"""Filters of entries that are on many machines: each task writes a part, and a build makes the filter of all parts."""
from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Sequence, Union

import numpy as np

from .columns import Column, Text, bytes_of, lines_of
from .errors import Error

PathName = Union[str, "os.PathLike[str]"]
Setting = Union[str, int, float, bool, PathName, Sequence[PathName]]

_TEXTS_AT_ONCE = 100_000


@dataclass(frozen=True)
class Part:
    """What a part has. All but `path` is the same on every machine where it is made of the same entries."""

    path: str
    index: int
    parts: int
    addresses: int
    domains: int
    rejected: int  # texts that are no entries


def write_part(entries: Union[Column, Iterable[Union[Column, Text]]], path: PathName, *, index: int, parts: int,
               store_seed: int, **options: Setting) -> Part:
    """Writes part number `index` of `parts`, counted from 0, of these entries, which no other task has: a column, or an
    iterator of columns or of texts. The file is there when all of it is, and never in part, also where this process is killed.

    Options are those of `bloomgate part`, with underscores: run="2026-11-29", keep_case=True, tag_separators="+". They, the
    seed and the number of parts are the same in all tasks. Raises Error, and what `entries` raises; then nothing is written.
    """
    words = [*_part_words(path, index, parts, store_seed, options), "--local-lists", "-"]
    return _part(path, _run(words, _columns(entries)))


def write_part_of_lists(lists: Iterable[PathName], path: PathName, *, index: int, parts: int, store_seed: int,
                        **options: Setting) -> Part:
    """The same for lists in files that all tasks see: reads the part of them that no other task reads."""
    words = [*_part_words(path, index, parts, store_seed, options), "--"]
    return _part(path, _run([*words, *(os.fspath(each) for each in lists)]))


def build(inputs: Iterable[PathName], path: PathName, **options: Setting) -> Dict[str, Any]:
    """Makes the filter of all parts, or of lists, as `bloomgate build` does, and gives its report. Options are those of that
    command, with underscores: layout="ribbon", store="whitelist.store", except_=["closed.txt"]. Raises Error; then no file
    has changed."""
    return _run(["build", "--output", os.fspath(path), *_words(options), "--", *(os.fspath(each) for each in inputs)])


def _part(path: PathName, report: Dict[str, Any]) -> Part:
    return Part(os.fspath(path), report["part"], report["parts"], report["addresses"], report["domains"], report["rejected"])


def _part_words(path: PathName, index: int, parts: int, store_seed: int, options: Dict[str, Setting]) -> List[str]:
    return ["part", "--of", str(parts), "--index", str(index), "--store-seed", str(store_seed), "--output", os.fspath(path),
            *_words(options)]


def _words(options: Dict[str, Setting]) -> Iterator[str]:
    for name, value in options.items():
        option = f"--{name.rstrip('_').replace('_', '-')}"
        if isinstance(value, bool):
            yield from [option] * value
        else:
            for each in value if isinstance(value, (list, tuple)) else [value]:
                yield from (option, str(each))


def _columns(entries: Union[Column, Iterable[Union[Column, Text]]]) -> Iterator[Column]:
    if isinstance(entries, (np.ndarray, tuple, list)):
        yield entries
        return
    rest = iter(entries)
    for first in rest:
        if isinstance(first, (str, bytes)):
            yield [bytes_of(text) for text in itertools.chain([first], itertools.islice(rest, _TEXTS_AT_ONCE - 1))]
        else:
            yield first


def _program() -> str:
    """That of the wheel, or the one that is installed."""
    beside = Path(__file__).parent / "bin/bloomgate"
    found = str(beside) if beside.exists() else shutil.which("bloomgate")
    if found is None:
        raise Error("cannot_open", "the program 'bloomgate' is not installed: a package of the same name has it")
    return found


def _run(words: List[str], columns: Iterable[Column] = ()) -> Dict[str, Any]:
    """Runs the program with these lines on its standard input, and gives its report."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as said:
        program = subprocess.Popen([_program(), words[0], "--json", "--quiet", *words[1:]], stdin=subprocess.PIPE, stdout=output,
                                   stderr=said)
        try:
            _write(program, columns)
            program.wait()
        except BaseException:
            program.kill()
            program.wait()
            raise
        texts = []
        for file in (output, said):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    lines = texts[0].splitlines()
    report: Dict[str, Any] = json.loads(texts[0]) if program.returncode == 0 else json.loads(lines[-1]) if lines else {}
    if program.returncode == 0:
        return report
    error = report.get("error", {"code": "internal_error", "message": texts[1].strip() or f"exit status {program.returncode}"})
    raise Error(error["code"], error["message"])


def _write(program: "subprocess.Popen[bytes]", columns: Iterable[Column]) -> None:
    """In the format of gzip, which has an end: where this process is killed, the program sees that its input was cut off. It
    does not cost more than a checksum, since nothing is compressed."""
    assert program.stdin is not None
    packer = zlib.compressobj(level=0, wbits=31)
    try:
        for column in columns:
            program.stdin.write(packer.compress(lines_of(column)))
        program.stdin.write(packer.flush())
        program.stdin.close()
    except BrokenPipeError:
        with contextlib.suppress(BrokenPipeError):  # the program has ended, and says why
            program.stdin.close()
