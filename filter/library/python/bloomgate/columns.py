"""Columns of texts, as NumPy and Apache Arrow have them."""
from __future__ import annotations

from typing import Any, Iterator, Optional, Sequence, Tuple, Union, cast

import numpy as np
import numpy.typing as npt

Text = Union[str, bytes]
Column = Union[npt.NDArray[Any], Sequence[Any], Tuple[Any, npt.NDArray[Any]]]

TEXTS_AT_ONCE = 100_000
_BYTES_AT_ONCE = 4 << 20


def bytes_of(text: Text) -> bytes:
    if isinstance(text, str):
        try:
            return text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            return text.encode("utf-8", "surrogatepass")  # half of a surrogate pair: the program rejects these bytes
    if isinstance(text, (bytes, bytearray, memoryview)):
        return bytes(text)
    raise TypeError(f"a text is str or bytes, not {type(text).__name__}")


def fixed(column: Column) -> Optional[npt.NDArray[np.bytes_]]:
    """The column as an array of fixed width, padded with NULs; None for other columns. Masked texts are empty."""
    if not isinstance(column, np.ndarray):
        return None
    cells: npt.NDArray[Any] = column
    if isinstance(cells, np.ma.MaskedArray):
        cells = np.where(cells.mask, np.zeros((), cells.dtype), cells.data)
    if cells.dtype.kind == "U":
        try:
            cells = np.char.encode(cells, "utf-8", "surrogateescape")
        except UnicodeEncodeError:
            cells = np.char.encode(cells, "utf-8", "surrogatepass")
    if cells.dtype.kind != "S":
        return None
    if cells.ndim != 1:
        raise ValueError("a column has one dimension")
    return np.ascontiguousarray(cells)


def packed(column: Column) -> Tuple[npt.NDArray[np.uint8], npt.NDArray[Any]]:
    """The bytes of all texts one behind the other, and the offsets."""
    if isinstance(column, tuple):
        if len(column) != 2:
            raise ValueError("a column that is a tuple has two parts: data, and offsets")
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
        texts = [b"" if text is None else bytes_of(cast(Text, text)) for text in column]
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        data = np.frombuffer(b"".join(texts), np.uint8) if texts else np.zeros(0, np.uint8)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return np.ascontiguousarray(data), offsets


def lines_of(column: Column) -> Iterator[bytes]:
    """The texts as lines, some MiB at a time. A line end within a text is a NUL there, which no entry has: so no text becomes two
    entries. A carriage return at the end of a text stays: the column may come from a file with such lines."""
    if isinstance(column, tuple):
        yield from _pieces(*packed(column))
        return
    for begin in range(0, len(column), TEXTS_AT_ONCE):
        yield from _pieces(*packed(column[begin:begin + TEXTS_AT_ONCE]))


def _pieces(data: npt.NDArray[np.uint8], offsets: npt.NDArray[Any]) -> Iterator[bytes]:
    offsets = offsets.astype(np.int64, copy=False)
    if offsets[0] < 0 or offsets[-1] > len(data) or (np.diff(offsets) < 0).any():
        raise ValueError("offsets do not fall, and none is beyond the end of the data")
    begin, count = 0, len(offsets) - 1
    while begin < count:
        end = int(np.searchsorted(offsets, offsets[begin] + _BYTES_AT_ONCE, "right")) - 1
        end = min(max(end, begin + 1), begin + TEXTS_AT_ONCE, count)
        yield _lines(data, offsets[begin:end + 1])
        begin = end


def _lines(data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> bytes:
    texts = data[offsets[0]:offsets[-1]]
    lengths = np.diff(offsets)
    is_end = (texts == ord("\n")) | (texts == ord("\r"))
    last = (offsets[1:] - offsets[0] - 1)[lengths > 0]
    is_end[last] &= texts[last] != ord("\r")
    lines = np.full(len(texts) + len(lengths), ord("\n"), np.uint8)
    lines[np.arange(len(texts)) + np.repeat(np.arange(len(lengths)), lengths)] = np.where(is_end, 0, texts)
    return lines.tobytes()
