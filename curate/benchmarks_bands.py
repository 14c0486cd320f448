"""MinHash bands over a benchmark's items: which items a text resembles as a whole, by Jaccard similarity.

Coverage asks whether a text holds an item; this asks whether the two are alike throughout, which survives a changed
word here and there where 5-grams do not. Items that agree with a text on a whole band of their signatures, as
`curate.minhash` makes them, are compared exactly: the score is the similarity itself and not an estimate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from curate.minhash import (
    I64,
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
from curate.sieve import Sieve
from curate.token_views import View


@dataclass(frozen=True)
class BandIndex:
    """The items' shingles, and their band keys in ascending order with the item of each."""

    bands: Bands
    keys: U64
    items: I64
    sieve: Sieve
    shingles: U32
    starts: I64


def band_index(view: View, threshold: float) -> BandIndex:
    """Index the texts of a view, one an item, for similarities from `threshold` on."""
    shingles, starts = shingle_hashes(view.hashes, view.starts)
    bands = bands_for(threshold)
    keys, items = _keys(shingles, starts, bands)
    order = np.argsort(keys, kind="stable")
    return BandIndex(bands, keys[order], items[order], Sieve.of(keys), shingles, starts)


def alike(index: BandIndex, view: View, threshold: float) -> tuple[I64, I64]:
    """The pairs (text, item) of at least this similarity, in order of text, then item."""
    shingles, starts = shingle_hashes(view.hashes, view.starts)
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
    return texts[is_alike], items[is_alike]


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
