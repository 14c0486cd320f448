"""The tokens of a pool in a file, read row by row through memory of which little stays with the process."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from os import SEEK_END
from pathlib import Path
from typing import Final

import numpy as np

from curate.text.minhash import I64, U32, taken

BLOCK_TOKENS: Final = 1 << 22
MAX_MAPPED_TOKENS: Final = 1 << 24  # a smaller file may stay in memory whole
PIECE_ROWS: Final = 1 << 12  # the system maps up to 64 KB of a file around each row


class TokenFile:
    """A file of 32-bit token hashes, row after row; `starts` gives the start of each row, `[rows + 1]`."""

    def __init__(self, path: Path, starts: I64) -> None:
        self._path, self._starts = path, starts
        with path.open("r+b") as file:
            num_bytes = file.seek(0, SEEK_END)
            file.truncate(max(4, num_bytes))  # no empty file can be mapped
            self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._stored = np.frombuffer(self._mapped, np.uint32, num_bytes // 4)

    def of(self, rows: I64) -> tuple[U32, I64]:
        """The tokens of some rows, flat, and their starts."""
        if len(self._stored) <= MAX_MAPPED_TOKENS:
            return taken(self._stored, self._starts, rows)
        # in the file's order: rows that are close together are mapped by one page fault
        order = np.argsort(rows)
        sorted_rows, pieces = rows[order], [np.empty(0, np.uint32)]
        for start in range(0, len(rows), PIECE_ROWS):
            pieces.append(taken(self._stored, self._starts, sorted_rows[start : start + PIECE_ROWS])[0])
            self._mapped.madvise(mmap.MADV_DONTNEED)
        lengths = self._starts[sorted_rows + 1] - self._starts[sorted_rows]
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return taken(np.concatenate(pieces), np.concatenate([[0], np.cumsum(lengths)]), back)

    def blocks(self) -> Iterator[U32]:
        """All tokens in order, some at a time."""
        with self._path.open("rb") as file:
            left = len(self._stored)
            while left:
                block = np.fromfile(file, np.uint32, min(BLOCK_TOKENS, left))
                left -= len(block)
                yield block
