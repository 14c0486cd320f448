"""A column of texts as one array of bytes, so that whole-array operations can look at every character of every text.

A byte is a character where a text is ASCII. Where what is beyond ASCII is dashes, quotation marks and the like, each of
their bytes may be taken for one more of these: `is_plain` marks such texts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.bool_]


class ByteTexts(NamedTuple):
    """The UTF-8 of all texts, one after the other; text i is `data[starts[i]:starts[i + 1]]`."""

    data: U8
    starts: I64


def is_plain(texts: pl.Series) -> pl.Series:
    """Which of the texts have no letter, digit or mathematical sign beyond ASCII."""
    is_ascii = texts.str.len_bytes() == texts.str.len_chars()
    if is_ascii.all():
        return is_ascii
    others = (~is_ascii).arg_true()
    return is_ascii.scatter(others, ~texts.gather(others).str.contains(r"[\w\p{Han}\p{Sm}&&[^\x00-\x7F]]"))


def byte_texts(texts: pl.Series) -> ByteTexts:
    """The bytes of a column without nulls; the memory is read-only."""
    column = texts.to_arrow(compat_level=pl.CompatLevel.oldest())
    _, starts, data = column.buffers()
    bounds = np.frombuffer(starts, np.int64)[column.offset : column.offset + len(column) + 1]
    whole = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return ByteTexts(whole[bounds[0] : bounds[-1]], bounds - bounds[0])


def column_of(texts: ByteTexts) -> pl.Series:
    """The texts as a column again."""
    import pyarrow as pa

    buffers = pa.py_buffer(np.ascontiguousarray(texts.starts)), pa.py_buffer(texts.data)
    column = pa.LargeStringArray.from_buffers(len(texts.starts) - 1, *buffers)
    return pl.Series(column)


def table_of(**characters: str) -> bytes:
    """A table for `bytes.translate`: the characters of the first kind are 1, those of the second 2, all others 0."""
    table = bytearray(256)
    for number, chosen in enumerate(characters.values(), 1):
        for character in chosen:
            table[ord(character)] = number
    return bytes(table)
