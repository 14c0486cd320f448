"""MinHash bands over a benchmark's items: which items a text resembles as a whole, by Jaccard similarity.

Coverage asks whether a text holds an item; this asks whether the two are alike throughout, which survives a changed
word here and there where 5-grams do not. Items that agree with a text on a whole band of their signatures, as
`curate.text.minhash` makes them, are compared exactly: the score is the similarity itself and not an estimate.

Signatures cost more than all else, so only those texts get one that can resemble an item at all. Two sets of a and b
shingles of which s are in both have a Jaccard similarity of s / (a + b - s); for it to reach t, s must reach
t (a + b) / (1 + t). The items stand in groups by their size, and of how many shingles of a text are in a group, its s
with any item of the group cannot be more. No pair is lost by that, and most texts are passed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from curate.text.bytes import U8
from curate.text.minhash import (
    I64,
    SHINGLE,
    U32,
    U64,
    Bands,
    band_keys,
    bands_for,
    jaccard,
    ranges,
    row_sets,
    runs,
    shingle_hashes,
    signatures,
    taken,
)
from curate.text.ngrams import rolled
from curate.text.sieve import Sieve
from curate.text.views import View

_SLOTS: Final = np.uint64((1 << 22) - 1)
_LANES: Final = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).view(np.uint64)[:, 0]
_MAX_COUNT: Final = 255
_ROUNDING: Final = 1e-9


@dataclass(frozen=True)
class BandIndex:
    """The items' shingles, and their band keys in ascending order with the item of each.

    groups: by the low bits of a shingle's short hash, the groups of items in which such a shingle is, a bit each.
    least: the fewest distinct shingles of any item of each group.
    """

    bands: Bands
    keys: U64
    items: I64
    sieve: Sieve
    shingles: U32
    starts: I64
    groups: U8
    least: I64


def band_index(view: View, threshold: float) -> BandIndex:
    """Index the texts of a view, one an item, for similarities from `threshold` on."""
    shingles, starts = shingle_hashes(view.hashes, view.starts)
    bands = bands_for(threshold)
    keys, items = _keys(shingles, starts, bands)
    order = np.argsort(keys, kind="stable")
    return BandIndex(bands, keys[order], items[order], Sieve.of(keys), shingles, starts, *_groups(view))


def alike(index: BandIndex, view: View, threshold: float) -> tuple[I64, I64]:
    """The pairs (text, item) of at least this similarity, in order of text, then item."""
    promising = _promising(index, view, threshold)
    shingles, starts = shingle_hashes(*taken(view.hashes, view.starts, promising))
    keys, texts = _keys(shingles, starts, index.bands)
    may_be = index.sieve.passed(keys)
    keys, texts = keys[may_be], texts[may_be]
    first, last = (np.searchsorted(index.keys, keys, side=side) for side in ("left", "right"))
    items = index.items[ranges(first, last)]
    num_items = max(len(index.starts) - 1, 1)
    pairs = np.sort(np.repeat(texts, last - first) * num_items + items).astype(np.uint64)
    texts, items = np.divmod(pairs[runs(pairs)].astype(np.int64), num_items)
    ours, theirs = taken(shingles, starts, texts), taken(index.shingles, index.starts, items)
    score = jaccard(row_sets(*ours), row_sets(*theirs), len(texts))
    is_alike = score >= threshold
    return promising[texts[is_alike]], items[is_alike]


def _promising(index: BandIndex, view: View, threshold: float) -> I64:
    """The texts that may be this similar to some item."""
    sets, bounds = _short_sets(view)
    # eight counts in one number, a byte each; a set of more than a byte can count is looked at in any case
    counts = _LANES[index.groups[(sets & _SLOTS).view(np.int64)]]
    held = np.diff(np.concatenate([np.zeros(1, np.uint64), np.cumsum(counts)])[bounds]).view(np.uint8).reshape(-1, 8)
    sizes = np.diff(bounds)[:, None]
    can_be = held * (1 + threshold) + _ROUNDING >= threshold * (sizes + index.least)
    # a text of fewer tokens than a shingle is one shingle all the same
    return np.flatnonzero(can_be.any(axis=1) | (sizes[:, 0] > _MAX_COUNT) | (sizes[:, 0] == 0))


def _groups(view: View) -> tuple[U8, I64]:
    """The groups in which each short hash of a shingle is, by its low bits, and the least size in each group."""
    sets, bounds = _short_sets(view)
    sizes = np.diff(bounds)
    group = np.zeros(len(sizes), np.int64)
    group[np.argsort(sizes, kind="stable")] = np.arange(len(sizes)) * 8 // max(len(sizes), 1)
    table = np.zeros(int(_SLOTS) + 1, np.uint8)
    # the first group is the highest bit, as `_LANES` has it
    np.bitwise_or.at(table, (sets & _SLOTS).view(np.int64), np.repeat(np.uint8(128) >> group.astype(np.uint8), sizes))
    least = np.full(8, np.iinfo(np.int64).max)
    np.minimum.at(least, group, sizes)
    return table, least


def _short_sets(view: View) -> tuple[U64, I64]:
    """The distinct shingles of every text by their short hashes, as `row_sets`, and where each text's begin."""
    texts = np.arange(len(view.starts), dtype=np.uint64) << np.uint64(32)
    sets = np.repeat(texts[:-1], view.lengths())[: max(len(view.hashes) - SHINGLE + 1, 0)]
    sets |= rolled(view, SHINGLE)
    is_inside = np.ones(len(view.hashes), np.bool_)
    for behind in range(1, SHINGLE):
        # a run that begins here would reach into the next text
        is_inside[view.starts[1:][view.lengths() >= behind] - behind] = False
    sets = np.sort(sets[is_inside[: len(sets)]])
    sets = sets[runs(sets)]
    return sets, np.searchsorted(sets, texts)


def shingles_of(tokens: U64) -> U32:
    """The distinct shingles of one text's tokens, sorted."""
    flat = np.sort(shingle_hashes(tokens, np.array([0, len(tokens)]))[0])
    return flat[runs(flat)]


def similarity(index: BandIndex, item: int, shingles: U32) -> float:
    """The Jaccard similarity of an item with a text of these `shingles_of`."""
    theirs = np.sort(index.shingles[index.starts[item] : index.starts[item + 1]])
    theirs = theirs[runs(theirs)]
    num_shared = len(np.intersect1d(theirs, shingles, assume_unique=True))
    num_all = len(theirs) + len(shingles) - num_shared
    return num_shared / num_all if num_all else 1.0


def _keys(shingles: U32, starts: I64, bands: Bands) -> tuple[U64, I64]:
    """The band keys of the texts that have shingles, and the text of each."""
    filled = np.flatnonzero(np.diff(starts))
    keys = band_keys(signatures(shingles, starts, bands.num_bands * bands.num_rows), bands)[:, filled]
    return keys.ravel(), np.tile(filled, bands.num_bands)
