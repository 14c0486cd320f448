"""How often words occur in a pool, and which are so rare that they are what a problem is about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from curate.text.minhash import I64, U32, runs

Flags = npt.NDArray[np.bool_]


class Frequencies(NamedTuple):
    """How often each token occurs: the tokens' hashes in ascending order, and their counts."""

    tokens: U32
    counts: I64

    def without(self, others: Frequencies) -> Frequencies:
        """The counts less those of a part of the same tokens."""
        counts = self.counts.copy()
        counts[np.searchsorted(self.tokens, others.tokens)] -= others.counts
        return Frequencies(self.tokens, counts)


def frequencies(blocks: Iterable[U32]) -> Frequencies:
    """How often each token occurs in some blocks of tokens."""
    known = Frequencies(np.empty(0, np.uint32), np.empty(0, np.int64))
    for block in blocks:
        ordered = np.sort(block)
        starts = runs(ordered)
        tokens = np.concatenate([known.tokens, ordered[starts]])
        counts = np.concatenate([known.counts, np.diff(starts, append=len(ordered))])
        order = np.argsort(tokens, kind="stable")
        starts = runs(tokens[order])
        known = Frequencies(tokens[order][starts], np.add.reduceat(counts[order], starts))
    return known


class Rarity(NamedTuple):
    """Which words are so rare in a pool that they are what a problem is about: those found at most `limit` times."""

    frequency: Frequencies
    limit: int

    @classmethod
    def of(cls, frequency: Frequencies, num_rows: int, rare_count: int) -> Rarity:
        """At most `rare_count`, and in a small pool, where every word is rare, at most one in a hundred rows."""
        return cls(frequency, min(rare_count, num_rows // 100))

    def holds(self, token_hashes: U32) -> Flags:
        """Which of these tokens are rare."""
        place = np.searchsorted(self.frequency.tokens, token_hashes)
        is_rare: Flags = self.frequency.counts[place] <= self.limit
        return is_rare
