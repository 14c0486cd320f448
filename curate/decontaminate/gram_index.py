"""An index over benchmark texts that finds, for a batch of texts, the items whose n-grams they hold.

A `GramIndex` knows for one view the n-grams of every item, each weighted by how rare it is among the items (inverse
document frequency from the index alone, so that a pool's batches cannot change a score). `candidates` gives the pairs
(text, item) whose weighted coverage may reach a threshold; `coverage` is exact. All work is on flat arrays, the
cheapest look first, since nearly every n-gram of a pool is in no benchmark: a filter table of short hashes, the n-gram
itself, and whether all that is known in a text would be enough for an item.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from curate.text.minhash import U32, ranges, runs
from curate.text.ngrams import grams_at, ngrams, rolled
from curate.text.sieve import Directory, Sieve
from curate.text.views import Counts, Flags, Hashes, View

Weights = npt.NDArray[np.float64]
_ROUNDING: Final = 1e-9  # more than sums in another order may differ by
_COMMON: Final = 64  # an n-gram of more items than this proposes no candidates: boilerplate


@dataclass(frozen=True)
class GramIndex:
    """The n-grams of a benchmark's items in one view.

    size: tokens an n-gram.
    grams: distinct n-grams, sorted; weights: the rarity of each, log(1 + items / items that have it).
    first, items: items of gram g are `items[first[g]:first[g + 1]]`.
    by_item: the positions in `grams` of each item's n-grams.
    totals: summed weight of each item.
    needed: the weight that a text must hold of each item's less common n-grams, infinite where none is enough.
    sieve: what turns away nearly every n-gram that is not among `grams`, by its short hash; directory: where they are.
    """

    size: int
    grams: Hashes
    directory: Directory
    weights: Weights
    first: Counts
    items: Counts
    by_item: list[Counts]
    totals: Weights
    needed: Weights
    sieve: Sieve


def gram_index(view: View, size: int, threshold: float, is_sought: Flags) -> GramIndex:
    """Index the texts of a view, one an item; the sought ones are proposed from this coverage on."""
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
    # exact sums: the order of the hashes must not show in a score
    totals = np.array([math.fsum(weights[grams].tolist()) for grams in by_item], np.float64)
    common = np.bincount(item_of, (weights * (np.diff(first) > _COMMON))[gram_of], num_items)
    return GramIndex(
        size=size,
        grams=grams,
        directory=Directory.of(grams),
        weights=weights,
        first=first,
        items=item_of,
        by_item=by_item,
        totals=totals,
        needed=np.where(is_sought, threshold * totals - common - _ROUNDING, np.inf),
        sieve=Sieve.of(_inside(view, size)),
    )


def candidates(index: GramIndex, view: View) -> tuple[Counts, Counts]:
    """The pairs (text, item) whose coverage may reach the threshold, as two arrays in order of text, then item."""
    grams, text_of = _known(index, view)
    # no item can have more of a text than all that is known in it
    held = np.bincount(text_of, index.weights[grams], len(view.starts) - 1) + _ROUNDING
    may_do = held[text_of] >= index.needed.min(initial=np.inf)
    grams, text_of = grams[may_do], text_of[may_do]
    # one row for each (n-gram in a text) x (item with that n-gram)
    counts = index.first[grams + 1] - index.first[grams]
    items, text_of = index.items[ranges(index.first[grams], index.first[grams + 1])], np.repeat(text_of, counts)
    weights = np.repeat(index.weights[grams], counts)
    may_do = np.flatnonzero(held[text_of] >= index.needed[items])
    num_items = max(len(index.totals), 1)
    pairs = text_of[may_do] * num_items + items[may_do]
    order = np.argsort(pairs, kind="stable")
    pairs, weights = pairs[order], weights[may_do[order]]
    starts = runs(pairs)
    covered = np.add.reduceat(weights, starts) if len(starts) else np.zeros(0)
    texts, found = np.divmod(pairs[starts], num_items)
    may_reach = covered >= index.needed[found]
    return texts[may_reach], found[may_reach]


def coverage(index: GramIndex, item: int, held: Hashes) -> float:
    """The share of an item's n-gram weight that a text contains; `held` are the text's n-grams, sorted."""
    grams = index.by_item[item]
    if not len(grams) or not len(held):
        return 0.0
    place = np.minimum(np.searchsorted(held, index.grams[grams]), len(held) - 1)
    is_held = held[place] == index.grams[grams]
    return math.fsum(index.weights[grams][is_held].tolist()) / float(index.totals[item])


def _known(index: GramIndex, view: View) -> tuple[Counts, Counts]:
    """The less common n-grams of some texts that the index has, as positions in it, once a text."""
    # the sieve first: few places are left to ask which text they are in
    places, text_of = view.inside(index.sieve.passed(rolled(view, index.size)), index.size)
    found, grams = index.directory.find(grams_at(view, places, index.size))
    is_telling = index.first[grams + 1] - index.first[grams] <= _COMMON
    found, grams = found[is_telling], grams[is_telling]
    pairs = np.sort(text_of[found] * max(len(index.grams), 1) + grams)
    texts, known = np.divmod(pairs[runs(pairs)], max(len(index.grams), 1))
    return known, texts


def _inside(view: View, size: int) -> U32:
    """The short hashes of the n-grams that lie within one text."""
    grams = rolled(view, size)
    return grams[view.inside(np.arange(len(grams)), size)[0]]


def _distinct(hashes: Hashes, text_of: Counts) -> Counts:
    """Positions of each distinct (n-gram, text) pair, ordered by n-gram, then text."""
    order = np.lexsort((text_of, hashes))
    is_new = np.ones(len(order), bool)
    is_new[1:] = (hashes[order][1:] != hashes[order][:-1]) | (text_of[order][1:] != text_of[order][:-1])
    positions: Counts = order[is_new].astype(np.int64)
    return positions
