"""An index over benchmark texts that finds, for a batch of texts, the items whose n-grams they hold.

A `GramIndex` knows for one view the n-grams of every item, each weighted by how rare it is among the items (inverse
document frequency from the index alone, so that a pool's batches cannot change a score). `candidates` gives the pairs
(text, item) whose weighted coverage may reach a threshold; `coverage` is exact. All work is on flat arrays: a filter
table first, since nearly every n-gram of a pool is in no benchmark.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from curate.minhash import ranges
from curate.sieve import Sieve
from curate.token_views import Counts, Hashes, View, every_gram, ngrams

Weights = npt.NDArray[np.float64]
_COMMON: Final = 64  # an n-gram of more items than this proposes no candidates: boilerplate


@dataclass(frozen=True)
class GramIndex:
    """The n-grams of a benchmark's items in one view.

    size: tokens an n-gram.
    grams: distinct n-grams, sorted; weights: the rarity of each, log(1 + items / items that have it).
    first, items: items of gram g are `items[first[g]:first[g + 1]]`.
    by_item: the positions in `grams` of each item's n-grams.
    totals: summed weight of each item; common: its part in n-grams too common to propose it.
    sieve: what turns away nearly every n-gram that is not among `grams`.
    """

    size: int
    grams: Hashes
    weights: Weights
    first: Counts
    items: Counts
    by_item: list[Counts]
    totals: Weights
    common: Weights
    sieve: Sieve


def gram_index(view: View, size: int) -> GramIndex:
    """Index the texts of a view, one an item."""
    hashes, item_of = ngrams(view, size)
    num_items = len(view.starts) - 1
    pairs = _distinct(hashes, item_of)
    hashes, item_of = hashes[pairs], item_of[pairs]
    is_first = np.concatenate(([True], hashes[1:] != hashes[:-1])) if len(hashes) else np.zeros(0, bool)
    grams = hashes[is_first]
    gram_of = np.cumsum(is_first) - 1
    first = np.concatenate((np.flatnonzero(is_first), [len(hashes)])).astype(np.int64)
    weights = np.log1p(num_items / np.maximum(np.diff(first), 1))
    order = np.argsort(item_of, kind="stable")
    bounds = np.searchsorted(item_of[order], np.arange(num_items + 1))
    by_item = [gram_of[order[start:end]] for start, end in pairwise(bounds.tolist())]
    is_common = np.diff(first) > _COMMON
    return GramIndex(
        size=size,
        grams=grams,
        weights=weights,
        first=first,
        items=item_of,
        by_item=by_item,
        totals=np.bincount(item_of, weights[gram_of], num_items).astype(np.float64),
        common=np.bincount(item_of, (weights * is_common)[gram_of], num_items).astype(np.float64),
        sieve=Sieve.of(grams),
    )


def candidates(index: GramIndex, view: View, threshold: float) -> tuple[Counts, Counts]:
    """The pairs (text, item) whose coverage may reach `threshold`, as two arrays in order of text, then item."""
    grams, text_of = _known(index, view)
    counts = np.diff(index.first)[grams]
    is_telling = counts <= _COMMON
    grams, text_of, counts = grams[is_telling], text_of[is_telling], counts[is_telling]
    # one row for each (n-gram in a text) x (item with that n-gram)
    items = index.items[ranges(index.first[grams], index.first[grams + 1])]
    num_items = len(index.totals)
    pairs = np.repeat(text_of, counts) * num_items + items
    order = np.argsort(pairs, kind="stable")
    pairs, weights = pairs[order], np.repeat(index.weights[grams], counts)[order]
    starts = np.flatnonzero(np.concatenate(([True], pairs[1:] != pairs[:-1]))) if len(pairs) else np.zeros(0, int)
    covered = np.add.reduceat(weights, starts) if len(starts) else np.zeros(0)
    texts, found = np.divmod(pairs[starts], max(num_items, 1))
    may_reach = covered + index.common[found] >= threshold * index.totals[found]
    return texts[may_reach], found[may_reach]


def coverage(index: GramIndex, item: int, held: Hashes) -> float:
    """The share of an item's n-gram weight that stands in a text; `held` are the text's n-grams, sorted."""
    grams = index.by_item[item]
    if not len(grams) or not len(held):
        return 0.0
    place = np.minimum(np.searchsorted(held, index.grams[grams]), len(held) - 1)
    is_held = held[place] == index.grams[grams]
    return float(index.weights[grams][is_held].sum() / index.totals[item])


def _known(index: GramIndex, view: View) -> tuple[Counts, Counts]:
    """The n-grams of some texts that the index has, as positions in it, once a text."""
    grams = every_gram(view, index.size)
    # the sieve first: few places are left to ask which text they are in
    places, text_of = view.inside(index.sieve.passed(grams), index.size)
    hashes = grams[places]
    if not len(index.grams):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    place = np.minimum(np.searchsorted(index.grams, hashes), len(index.grams) - 1)
    is_known = index.grams[place] == hashes
    place, text_of = place[is_known], text_of[is_known]
    pairs = np.sort(text_of * len(index.grams) + place)
    distinct = pairs[np.concatenate(([True], pairs[1:] != pairs[:-1]))] if len(pairs) else pairs
    texts, known = np.divmod(distinct, len(index.grams))
    return known, texts


def _distinct(hashes: Hashes, text_of: Counts) -> Counts:
    """Positions of each distinct (n-gram, text) pair, ordered by n-gram, then text."""
    order = np.lexsort((text_of, hashes))
    is_new = np.ones(len(order), bool)
    is_new[1:] = (hashes[order][1:] != hashes[order][:-1]) | (text_of[order][1:] != text_of[order][:-1])
    positions: Counts = order[is_new].astype(np.int64)
    return positions
