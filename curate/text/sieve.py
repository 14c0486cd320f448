"""Whether hashes are among some few, and where: a table of low bits first, which turns away nearly all that are not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from curate.text.minhash import I64, U32, U64

_TABLE_BITS: Final = 22


@dataclass(frozen=True)
class Sieve:
    """Whether some hash has these low bits: a cheap first look."""

    table: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, hashes: U64 | U32) -> Sieve:
        """A sieve that lets these hashes through, and few others."""
        table = np.zeros(1 << _TABLE_BITS, bool)
        table[_low_bits(hashes)] = True
        return cls(table)

    def passed(self, hashes: U64 | U32) -> I64:
        """The places of the hashes that it lets through."""
        return np.flatnonzero(self.holds(hashes))

    def holds(self, hashes: U64 | U32) -> npt.NDArray[np.bool_]:
        """Which of the hashes it lets through."""
        return self.table[_low_bits(hashes)]


@dataclass(frozen=True)
class Directory:
    """Distinct hashes in ascending order, with where those of each first bits begin: quicker than a binary search.

    hashes: with one more at the end, the largest there is, at which every look ends.
    """

    hashes: U64
    begins: npt.NDArray[np.int32]
    shift: np.uint64

    @classmethod
    def of(cls, ordered: U64) -> Directory:
        """A directory of hashes that are distinct and in ascending order."""
        bits = len(ordered).bit_length() + 1
        shift = np.uint64(64 - bits)
        begins = np.searchsorted(ordered >> shift, np.arange(1 << bits, dtype=np.uint64))
        return cls(np.append(ordered, np.uint64(2**64 - 1)), begins.astype(np.int32), shift)

    def find(self, wanted: U64) -> tuple[I64, I64]:
        """Which of the wanted are there, and their places."""
        place = self.begins[(wanted >> self.shift).view(np.int64)].astype(np.int64)
        looking = np.flatnonzero(self.hashes[place] < wanted)
        while len(looking):
            place[looking] += 1
            looking = looking[self.hashes[place[looking]] < wanted[looking]]
        known = np.flatnonzero((self.hashes[place] == wanted) & (place < len(self.hashes) - 1))
        return known, place[known]


def _low_bits(hashes: U64 | U32) -> I64:
    if hashes.dtype == np.uint32:
        return (hashes & np.uint32((1 << _TABLE_BITS) - 1)).astype(np.int64)
    return (hashes & np.uint64((1 << _TABLE_BITS) - 1)).view(np.int64)
