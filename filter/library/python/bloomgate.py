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

A filter by parts, the same file as `bloomgate build --expected-entries N --seed S` makes:

    shape = bloomgate.Shape(expected_entries=N, seed=S)          # the same in all tasks
    parts, hashes = shape.partition(addresses, 64)               # a task for each piece of the list
    shape.write_part(part, 64, hashes, "parts/7.part")           # a task for each part, with its hashes out of all pieces
    bloomgate.join(["parts/0.part", ...], "whitelist.bloom")     # or the command `bloomgate join`
"""
from __future__ import annotations

import ctypes
import enum
import os
from typing import Any, Iterable, Sequence, Tuple, Union

import numpy as np

__all__ = ["Answer", "Error", "Filter", "Shape", "join", "version"]

Column = Union[np.ndarray, Sequence[Any], Tuple[Any, np.ndarray]]


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


class Error(Exception):
    """What libbloomgate refuses. `name` is a stable word, such as "bad_magic"; the text is for a person."""

    def __init__(self, code: int, name: str, text: str):
        super().__init__(text)
        self.code, self.name = code, name

    def __reduce__(self):
        # From a worker process back to who asked it.
        return (Error, (self.code, self.name, self.args[0]))


_KIND_ADDRESS = 3
_VERIFY = 1

_library = ctypes.CDLL("libbloomgate.so.1")
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
    "shape_new": [_u64, _u64, _pointer],
    "shape_set": [_pointer, *_text, *_text],
    "shape_number": [_pointer, ctypes.c_int, _pointer],
    "hash_column64": [_pointer, _pointer, _size, _pointer, _size, _pointer, _pointer],
    "blocks_of_part": [_pointer, _u64, _u64, _pointer, _pointer],
    "parts_of_hashes": [_pointer, _u64, _pointer, _size, _pointer],
    "part_new": [_pointer, _u64, _u64, _pointer],
    "part_add": [_pointer, _pointer, _size],
    "part_write": [_pointer, *_text],
    "join": [_pointer, _pointer, _size, *_text],
}.items():
    getattr(_library, f"bloomgate_{_name}").argtypes = _arguments
for _name in ("close", "shape_free", "part_free"):
    getattr(_library, f"bloomgate_{_name}").argtypes = [_pointer]
    getattr(_library, f"bloomgate_{_name}").restype = None
for _name in ("version", "last_error", "error_name", "text"):
    getattr(_library, f"bloomgate_{_name}").restype = ctypes.c_char_p
_library.bloomgate_text.argtypes = [_pointer, ctypes.c_int]


def _call(name: str, *arguments: Any) -> None:
    code = getattr(_library, f"bloomgate_{name}")(*arguments)
    if code != 0:
        raise Error(code, _library.bloomgate_error_name(code).decode(), _library.bloomgate_last_error().decode("utf-8", "replace"))


def _bytes(text: Union[str, bytes, os.PathLike]) -> bytes:
    return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else bytes(text)


def _address(array: np.ndarray) -> int:
    return array.ctypes.data


def version() -> str:
    """The version of libbloomgate."""
    return _library.bloomgate_version().decode()


def _fixed(column: Column) -> Union[np.ndarray, None]:
    """A column of a fixed width, each text with NULs behind it; nothing if it is none."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "U":
        column = np.char.encode(column, "utf-8", "surrogateescape")
    if isinstance(column, np.ndarray) and column.dtype.kind == "S":
        if column.ndim != 1:
            raise ValueError("a column has one dimension")
        return np.ascontiguousarray(column)
    return None


def _packed(column: Column) -> Tuple[np.ndarray, np.ndarray]:
    """The bytes of all texts one behind the other, and the offsets."""
    if isinstance(column, tuple):
        data, offsets = column
        offsets = np.ascontiguousarray(offsets)
        if offsets.dtype not in (np.int32, np.int64) or offsets.ndim != 1 or len(offsets) == 0:
            raise ValueError("offsets are an array of int32 or int64, one more than there are texts")
        return np.frombuffer(data, np.uint8) if len(data) else np.zeros(0, np.uint8), offsets
    fixed = _fixed(column)
    if fixed is not None:
        width = fixed.dtype.itemsize
        lengths = np.char.str_len(fixed)
        cells = fixed.view(np.uint8).reshape(len(fixed), width) if width and len(fixed) else np.zeros((len(fixed), 0), np.uint8)
        data = cells[np.arange(cells.shape[1]) < lengths[:, None]]
    else:
        texts = [b"" if text is None else _bytes(text) for text in column]
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        data = np.frombuffer(b"".join(texts), np.uint8) if texts else np.zeros(0, np.uint8)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return np.ascontiguousarray(data), offsets


class Filter:
    """A filter file that is open. Any number of threads may ask it at once."""

    def __init__(self, path: Union[str, os.PathLike], verify: bool = True):
        """Opens the file, and unless told otherwise reads it once, to check all that is in it."""
        self._handle = ctypes.c_void_p()
        name = os.fsencode(path)
        _call("open", name, len(name), _VERIFY if verify else 0, ctypes.byref(self._handle))

    def __enter__(self) -> "Filter":
        return self

    def __exit__(self, *_: Any) -> None:
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

    def look_up(self, address: Union[str, bytes], recipient: Union[str, bytes, None] = None) -> Answer:
        """Whether an address is listed, as a mail server has it; with a recipient also for that recipient alone."""
        answer = ctypes.c_uint8()
        sender = _bytes(address)
        if recipient is None:
            _call("look_up", self._open(), sender, len(sender), ctypes.byref(answer))
        else:
            to = _bytes(recipient)
            _call("look_up_pair", self._open(), sender, len(sender), to, len(to), ctypes.byref(answer))
        return Answer(answer.value)

    def look_up_entry(self, entry: Union[str, bytes]) -> Answer:
        """Whether an entry is listed as it stands in a list, by itself or by a wider one: `list:news.example.org`, `@example.org`,
        `joe@example.org > ann@ours.example`, `billing@bank.example signed-by esp.example`."""
        answer = ctypes.c_uint8()
        text = _bytes(entry)
        _call("look_up_entry", self._open(), text, len(text), ctypes.byref(answer))
        return Answer(answer.value)

    def look_up_column(self, column: Column) -> np.ndarray:
        """An answer for each address of a column: an array of uint8, whose values are those of Answer."""
        fixed = _fixed(column)
        if fixed is not None:
            answers = np.zeros(len(fixed), np.uint8)
            _call("look_up_fixed", self._open(), _address(fixed), fixed.dtype.itemsize, len(fixed), _address(answers))
            return answers
        data, offsets = _packed(column)
        answers = np.zeros(len(offsets) - 1, np.uint8)
        _call(f"look_up_column{offsets.dtype.itemsize * 8}", self._open(), _address(data), len(data), _address(offsets),
              len(answers), _address(answers))
        return answers

    def listed(self, column: Column) -> np.ndarray:
        """The same as truth values: whether each address is listed."""
        return (self.look_up_column(column) & 1).astype(bool)

    @property
    def identity(self) -> str:
        """16 hexadecimal digits, equal for equal files."""
        return _library.bloomgate_text(self._open(), 3).decode()

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


class Shape:
    """What one filter of many parts has in common. It can be sent to other processes."""

    def __init__(self, expected_entries: int, seed: int, **settings: Union[str, int, float, bool]):
        """Settings are the options of `bloomgate build`, with underscores: layout ("page" or "line"), bits_per_entry, hashes,
        block_bytes, hash, keep_case (True or False), tag_separators."""
        self._made_of = (expected_entries, seed, settings)
        self._handle = ctypes.c_void_p()
        for number in (expected_entries, seed):
            if not 0 <= number < 2**64:
                raise ValueError(f"{number} is not a number of 64 bits")
        _call("shape_new", expected_entries, seed, ctypes.byref(self._handle))
        for name, value in settings.items():
            option = name.replace("_", "-").encode()
            text = ("yes" if value else "no") if isinstance(value, bool) else str(value)
            _call("shape_set", self._handle, option, len(option), text.encode(), len(text.encode()))

    def __reduce__(self):
        return (_shape, self._made_of)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _library.bloomgate_shape_free(self._handle)

    @property
    def blocks(self) -> int:
        """How many blocks the filter has: it can have as many parts."""
        number = ctypes.c_uint64()
        _call("shape_number", self._handle, 10, ctypes.byref(number))
        return number.value

    def hashes(self, column: Column) -> np.ndarray:
        """The hashes of the addresses in a column, as uint64. Leaves out texts that are not entries. Raises ValueError if there is
        an entry that a build by parts cannot have: of a domain, or a pair."""
        data, offsets = _packed(column)
        offsets = offsets.astype(np.int64, copy=False)
        hashes = np.zeros(len(offsets) - 1, np.uint64)
        kinds = np.zeros(len(hashes), np.uint8)
        _call("hash_column64", self._handle, _address(data), len(data), _address(offsets), len(hashes), _address(hashes),
              _address(kinds))
        if (kinds > _KIND_ADDRESS).any():
            raise ValueError(f"entry {int((kinds > _KIND_ADDRESS).argmax())} of the column is not an address: domain entries "
                             "and pairs need 'bloomgate build'")
        return hashes[kinds == _KIND_ADDRESS]

    def partition(self, column: Column, parts: int) -> Tuple[np.ndarray, np.ndarray]:
        """The hashes of the addresses in a column, and of each the number of its part: (parts, hashes), sorted by part."""
        hashes = self.hashes(column)
        numbers = np.zeros(len(hashes), np.uint64)
        _call("parts_of_hashes", self._handle, parts, _address(hashes), len(hashes), _address(numbers))
        order = np.argsort(numbers, kind="stable")
        return numbers[order], hashes[order]

    def write_part(self, part: int, parts: int, hashes: Union[np.ndarray, Iterable[np.ndarray]],
                   path: Union[str, os.PathLike]) -> str:
        """Writes a part file of these hashes: one array of uint64, or several. Gives the path."""
        first, blocks, handle = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_void_p()
        _call("blocks_of_part", self._handle, part, parts, ctypes.byref(first), ctypes.byref(blocks))
        _call("part_new", self._handle, first, blocks, ctypes.byref(handle))
        try:
            for piece in [hashes] if isinstance(hashes, np.ndarray) else hashes:
                if piece.dtype != np.uint64:
                    raise ValueError("hashes are an array of uint64")
                piece = np.ascontiguousarray(piece)
                _call("part_add", handle, _address(piece), len(piece))
            name = os.fsencode(path)
            _call("part_write", handle, name, len(name))
        finally:
            _library.bloomgate_part_free(handle)
        return os.fspath(path)


def _shape(expected_entries: int, seed: int, settings: dict) -> Shape:
    return Shape(expected_entries, seed, **settings)


def join(parts: Sequence[Union[str, os.PathLike]], path: Union[str, os.PathLike]) -> None:
    """Puts part files together, in any order, to a filter at `path`: whole, or not at all."""
    names = [os.fsencode(part) for part in parts]
    pointers = (ctypes.c_char_p * len(names))(*names)
    sizes = (ctypes.c_size_t * len(names))(*map(len, names))
    output = os.fsencode(path)
    _call("join", pointers, sizes, len(names), output, len(output))
