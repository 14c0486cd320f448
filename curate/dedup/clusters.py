"""Groups of rows by union-find in whole columns, and the star comparison that finds the rows to unite.

Rows are numbered by rank: the lowest of a group is the one that stays. `compare_stars` takes rows that share a band key
and compares each with the lowest of its key; those that differ from it start over among themselves, so that every two
survivors of a key have been compared, and a second run over the survivors finds nothing new.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from curate.text.minhash import I64, U64, runs

Flags = npt.NDArray[np.bool_]
Compare = Callable[[I64, I64], Flags]


class Clusters:
    """A forest over rows 0..n-1 in which every row points towards the lowest row of its group."""

    def __init__(self, num_rows: int) -> None:
        self._parent = np.arange(num_rows)

    def roots(self, rows: I64) -> I64:
        """The lowest row of each row's group."""
        roots = self._parent[rows]
        while True:
            above = self._parent[roots]
            if np.array_equal(above, roots):
                # the next look-up takes one step
                self._parent[rows] = roots
                return roots
            roots = above

    def unite(self, one: I64, other: I64, may_join: Compare) -> None:
        """Put pairs that may join into the same group, where their groups' lowest rows may join as well.

        A row that says little is like two that differ from each other; asking the lowest rows keeps those apart.
        """
        while len(one):
            low, high = self.roots(one), self.roots(other)
            low, high = np.minimum(low, high), np.maximum(low, high)
            allowed = low != high
            unasked = np.flatnonzero(allowed & ((low != np.minimum(one, other)) | (high != np.maximum(one, other))))
            allowed[unasked] = may_join(low[unasked], high[unasked])
            one, other, low, high = one[allowed], other[allowed], low[allowed], high[allowed]
            # one step each time: a row is hung once, and not below one that is being hung itself
            _, first = np.unique(high, return_index=True)
            first = first[~np.isin(low[first], high)]
            self._parent[high[first]] = low[first]

    def all_roots(self) -> I64:
        """The lowest row of every row's group."""
        return self.roots(np.arange(len(self._parent)))


class Remembered:
    """A comparison that is not made twice of the same pair: bands bring many pairs together again and again."""

    def __init__(self, is_alike: Compare) -> None:
        self._is_alike = is_alike
        self._different = np.empty(0, np.uint64)  # pairs as one number each, ascending

    def __call__(self, one: I64, other: I64) -> Flags:
        """Which pairs are alike."""
        pairs = one.astype(np.uint64) << np.uint64(32) | other.astype(np.uint64)
        place = np.minimum(np.searchsorted(self._different, pairs), max(len(self._different) - 1, 0))
        is_new = self._different[place] != pairs if len(self._different) else np.ones(len(pairs), np.bool_)
        alike = is_new.copy()
        alike[is_new] = self._is_alike(one[is_new], other[is_new])
        self._different = np.sort(np.concatenate([self._different, pairs[is_new & ~alike]]))
        return alike


def compare_stars(keys: U64, rows: I64, clusters: Clusters, is_alike: Compare, may_join: Compare) -> None:
    """Compare rows with equal keys and unite those that are alike and whose groups may join.

    `keys` holds the key of each of `rows`.
    """
    shared = _shared(keys)
    keys, rows = keys[shared], rows[shared]
    order = np.argsort(keys)
    keys, rows = keys[order], rows[order]
    starts = runs(keys)
    while len(rows):
        lowest = np.minimum.reduceat(rows, starts)
        centres = np.repeat(lowest, np.diff(starts, append=len(rows)))
        is_open = centres != rows
        centres, rows, keys = centres[is_open], rows[is_open], keys[is_open]
        is_open = clusters.roots(centres) != clusters.roots(rows)
        centres, rows, keys = centres[is_open], rows[is_open], keys[is_open]
        alike = is_alike(centres, rows)
        clusters.unite(centres[alike], rows[alike], may_join)
        rows, keys = rows[~alike], keys[~alike]
        starts = runs(keys)


def lowest_pairs(keys: U64, rows: I64, most: int) -> tuple[I64, I64]:
    """The lowest of the rows of each key with each of the `most` lowest others."""
    shared = _shared(keys)
    keys, rows = keys[shared], rows[shared]
    order = np.lexsort((rows, keys))
    keys, rows = keys[order], rows[order]
    starts = runs(keys)
    sizes = np.diff(starts, append=len(rows))
    place = np.arange(len(rows)) - np.repeat(starts, sizes)
    chosen = (place > 0) & (place <= most)
    return np.repeat(rows[starts], sizes)[chosen], rows[chosen]


def _shared(keys: U64) -> I64:
    """The positions of keys that occur more than once, and a few by chance: most occur once and need no further look.

    The place takes a key's low bits, so that one sort of plain numbers does: `argsort` takes several times as long.
    """
    low = np.uint64((1 << len(keys).bit_length()) - 1)
    places = np.arange(len(keys), dtype=np.uint64)
    ordered = np.sort(keys & ~low | places)
    is_shared = np.zeros(len(keys) + 1, np.bool_)
    is_shared[1:-1] = (ordered[1:] ^ ordered[:-1]) <= low
    found: I64 = (ordered[is_shared[1:] | is_shared[:-1]] & low).astype(np.int64)
    return found
