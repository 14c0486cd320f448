"""Whether hashes are among some few: a table of low bits first, which turns away nearly all that are not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from curate.minhash import I64, U64

_TABLE_BITS: Final = 22


@dataclass(frozen=True)
class Sieve:
    """Whether some hash has these low bits: a cheap first look."""

    table: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, hashes: U64) -> Sieve:
        """A sieve that lets these hashes through, and few others."""
        table = np.zeros(1 << _TABLE_BITS, bool)
        table[_low_bits(hashes)] = True
        return cls(table)

    def passed(self, hashes: U64) -> I64:
        """The places of the hashes that it lets through."""
        return np.flatnonzero(self.table[_low_bits(hashes)])


def _low_bits(hashes: U64) -> I64:
    return (hashes & np.uint64((1 << _TABLE_BITS) - 1)).view(np.int64)
