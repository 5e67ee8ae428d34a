"""Columns of texts, as NumPy and Apache Arrow have them."""
from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

Text = Union[str, bytes]
Column = Union[npt.NDArray[Any], Sequence[Any], Tuple[Any, npt.NDArray[Any]]]


def bytes_of(text: Text) -> bytes:
    if isinstance(text, str):
        return text.encode("utf-8", "surrogateescape")
    if isinstance(text, (bytes, bytearray, memoryview)):
        return bytes(text)
    raise TypeError(f"a text is str or bytes, not {type(text).__name__}")


def fixed(column: Column) -> Optional[npt.NDArray[np.bytes_]]:
    """A column of a fixed width, each text with NULs behind it; nothing if it is none."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "U":
        column = np.char.encode(column, "utf-8", "surrogateescape")
    if isinstance(column, np.ndarray) and column.dtype.kind == "S":
        if column.ndim != 1:
            raise ValueError("a column has one dimension")
        return np.ascontiguousarray(column)
    return None


def packed(column: Column) -> Tuple[npt.NDArray[np.uint8], npt.NDArray[Any]]:
    """The bytes of all texts one behind the other, and the offsets."""
    if isinstance(column, tuple):
        data, offsets = column
        offsets = np.ascontiguousarray(offsets)
        if offsets.dtype not in (np.int32, np.int64) or offsets.ndim != 1 or len(offsets) == 0:
            raise ValueError("offsets are an array of int32 or int64, one more than there are texts")
        return np.frombuffer(data, np.uint8) if len(data) else np.zeros(0, np.uint8), offsets
    cells_of = fixed(column)
    if cells_of is not None:
        width = cells_of.dtype.itemsize
        lengths = np.char.str_len(cells_of)
        cells = cells_of.view(np.uint8).reshape(len(cells_of), width) if width and len(cells_of) else np.zeros((len(cells_of), 0), np.uint8)
        data = cells[np.arange(cells.shape[1]) < lengths[:, None]]
    else:
        texts = [b"" if text is None else bytes_of(text) for text in column]
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        data = np.frombuffer(b"".join(texts), np.uint8) if texts else np.zeros(0, np.uint8)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return np.ascontiguousarray(data), offsets


def lines_of(column: Column) -> bytes:
    """The texts as lines. A line feed within a text is a NUL there, which no entry has: so no text becomes two entries."""
    data, offsets = packed(column)
    first, last = int(offsets[0]), int(offsets[-1])
    lengths = np.diff(offsets)
    if first < 0 or last > len(data) or (lengths < 0).any():
        raise ValueError("offsets do not fall, and none is beyond the end of the data")
    lines = np.full(last - first + len(lengths), ord("\n"), np.uint8)
    texts = data[first:last]
    lines[np.arange(last - first) + np.repeat(np.arange(len(lengths)), lengths)] = np.where(texts == ord("\n"), 0, texts)
    return lines.tobytes()
