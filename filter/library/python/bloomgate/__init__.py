"""Look-ups in Bloomgate's whitelist filters, and filters built by parts, for notebooks and data lakes.

    import bloomgate

    with bloomgate.Filter("whitelist.bloom") as filter:
        filter.look_up("joe@example.org")             # Answer.LISTED
        listed = filter.listed(addresses)             # of a column of addresses, an array of truth values

A column is what NumPy has of texts (dtype `S` or `U`), or, as Apache Arrow has it, a pair `(data, offsets)`: a buffer with
the texts one behind the other, and an array of int32 or int64 that says where each begins, and where the last one ends. Lists
and arrays of objects are taken, too, more slowly. Of texts that are not ASCII the bytes are UTF-8.

The work is done by libbloomgate without a loop in Python, and other threads run meanwhile. Its header, `bloomgate.h`, has what
this page leaves out: which errors there are, and what happens to a file that somebody changes.

A filter of entries that are on many machines, as `bloomgate build` makes it of all of them:

    bloomgate.write_part(entries, "parts/7.store", index=7, parts=64, store_seed=SEED, run="r1")   # a task for each part
    bloomgate.build(paths, "whitelist.bloom")                                           # of all parts
"""
from __future__ import annotations

import ctypes
import enum
import os
from pathlib import Path
from types import TracebackType
from typing import Any, Optional, Type, Union

import numpy as np
import numpy.typing as npt

from .columns import Column, Text, bytes_of, fixed, packed
from .errors import Error
from .parts import Part, build, write_part, write_part_of_lists

__all__ = ["Answer", "Column", "Error", "Filter", "Part", "build", "version", "write_part", "write_part_of_lists"]


class Answer(enum.IntEnum):
    """How a text is listed. Odd ones are listed, even ones are not; so they are in later versions."""

    NOT_LISTED = 0
    LISTED = 1
    EXCLUDED = 2
    BY_DOMAIN = 3
    NULL_SENDER = 4
    BY_DOMAIN_TREE = 5
    MALFORMED = 6
    BY_PAIR = 7
    BY_MAILING_LIST_TREE = 9


_VERIFY = 1

# In a wheel the library is beside this file; a package has it where the system looks.
_beside = Path(__file__).parent / "lib/libbloomgate.so.1"
_library = ctypes.CDLL(str(_beside) if _beside.exists() else "libbloomgate.so.1")
_pointer, _size, _u64 = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64
_text = [ctypes.c_char_p, _size]
for _name, _arguments in {
    "open": [*_text, ctypes.c_uint, _pointer],
    "number": [_pointer, ctypes.c_int, _pointer],
    "look_up": [_pointer, *_text, _pointer],
    "look_up_pair": [_pointer, *_text, *_text, _pointer],
    "look_up_entry": [_pointer, *_text, _pointer],
    "look_up_column32": [_pointer, _pointer, _size, _pointer, _size, _pointer],
    "look_up_column64": [_pointer, _pointer, _size, _pointer, _size, _pointer],
    "look_up_fixed": [_pointer, _pointer, _size, _size, _pointer],
}.items():
    getattr(_library, f"bloomgate_{_name}").argtypes = _arguments
_library.bloomgate_close.argtypes = [_pointer]
_library.bloomgate_close.restype = None
for _name in ("version", "last_error", "error_name", "text"):
    getattr(_library, f"bloomgate_{_name}").restype = ctypes.c_char_p
_library.bloomgate_text.argtypes = [_pointer, ctypes.c_int]


def _call(name: str, *arguments: Any) -> None:
    code = getattr(_library, f"bloomgate_{name}")(*arguments)
    if code != 0:
        raise Error(_library.bloomgate_error_name(code).decode(), _library.bloomgate_last_error().decode("utf-8", "replace"))


def _address(array: npt.NDArray[Any]) -> int:
    return array.ctypes.data


def version() -> str:
    """The version of libbloomgate."""
    return str(_library.bloomgate_version(), "ascii")


class Filter:
    """A filter file that is open. Any number of threads may ask it at once."""

    def __init__(self, path: Union[str, "os.PathLike[str]"], verify: bool = True):
        """Opens the file, and unless told otherwise reads it once, to check all that is in it."""
        self._handle = ctypes.c_void_p()
        name = os.fsencode(path)
        _call("open", name, len(name), _VERIFY if verify else 0, ctypes.byref(self._handle))

    def __enter__(self) -> "Filter":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def close(self) -> None:
        """No thread may ask it any more."""
        _library.bloomgate_close(self._handle)
        self._handle = ctypes.c_void_p()

    def _open(self) -> ctypes.c_void_p:
        if not self._handle:
            raise ValueError("this filter is closed")
        return self._handle

    def look_up(self, address: Text, recipient: Optional[Text] = None) -> Answer:
        """Whether an address is listed, as a mail server has it; with a recipient also for that recipient alone."""
        answer = ctypes.c_uint8()
        sender = bytes_of(address)
        if recipient is None:
            _call("look_up", self._open(), sender, len(sender), ctypes.byref(answer))
        else:
            to = bytes_of(recipient)
            _call("look_up_pair", self._open(), sender, len(sender), to, len(to), ctypes.byref(answer))
        return Answer(answer.value)

    def look_up_entry(self, entry: Text) -> Answer:
        """Whether an entry is listed as it stands in a list, by itself or by a wider one: `list:news.example.org`, `@example.org`,
        `joe@example.org > ann@ours.example`, `billing@bank.example signed-by esp.example`."""
        answer = ctypes.c_uint8()
        text = bytes_of(entry)
        _call("look_up_entry", self._open(), text, len(text), ctypes.byref(answer))
        return Answer(answer.value)

    def look_up_column(self, column: Column) -> npt.NDArray[np.uint8]:
        """An answer for each address of a column: an array of uint8, whose values are those of Answer."""
        cells = fixed(column)
        if cells is not None:
            answers = np.zeros(len(cells), np.uint8)
            _call("look_up_fixed", self._open(), _address(cells), cells.dtype.itemsize, len(cells), _address(answers))
            return answers
        data, offsets = packed(column)
        answers = np.zeros(len(offsets) - 1, np.uint8)
        _call(f"look_up_column{offsets.dtype.itemsize * 8}", self._open(), _address(data), len(data), _address(offsets),
              len(answers), _address(answers))
        return answers

    def listed(self, column: Column) -> npt.NDArray[np.bool_]:
        """The same as truth values: whether each address is listed."""
        return (self.look_up_column(column) & 1).astype(bool)

    @property
    def identity(self) -> str:
        """16 hexadecimal digits, equal for equal files."""
        return str(_library.bloomgate_text(self._open(), 3), "ascii")

    @property
    def addresses(self) -> int:
        """How many were added, each duplicate counted."""
        return self._number(3)

    @property
    def sender_domains(self) -> int:
        """How many domains the senders in the file have: at no other domain is an address listed by chance. 0 where the file
        does not have these domains."""
        return self._number(13)

    def _number(self, which: int) -> int:
        number = ctypes.c_uint64()
        _call("number", self._open(), which, ctypes.byref(number))
        return number.value
