"""The search through a pool: which rows are the same problem, and which are variants of one.

Rows are numbered by rank, the order in which they would stay. `Twins` unites rows that are alike and that no guard sets
apart; where only their answers differ as text, `settle` asks `verify` at the end, since `1/2` and `0.5` are one answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import polars as pl

from curate.dedup.clusters import Clusters, Flags, Remembered, compare_stars
from curate.dedup.fingerprints import Fingerprints, answer_of
from curate.dedup.pairs import CHUNK_PAIRS, answers_agree, are_similar, have_same_figures, have_same_words
from curate.dedup.rarity import Rarity, frequencies
from curate.dedup.second_look import candidates, judged
from curate.progress import Progress
from curate.text.minhash import I64
from curate.verify.conflicts import compare_answers

Pool = Callable[[], Iterator[pl.DataFrame]]
CONFLICTS: Final = {"rank": pl.Int64(), "against": pl.Int64(), "answer": pl.String(), "other_answer": pl.String()}


class Twins:
    """Rows that are the same problem, and the pairs for which only the answers speak against it."""

    def __init__(self, prints: Fingerprints, position: I64, threshold: float, rare_count: int) -> None:
        """`position` gives the row in the pool of each rank."""
        self._prints, self._position = prints, position
        self._threshold, self._rare_count = threshold, rare_count
        self._rarity = Rarity.of(prints.frequency, len(position), rare_count)
        self._doubts: list[tuple[I64, I64]] = []
        self._other_words: list[tuple[I64, I64]] = []
        self._num_gone = 0
        self._clusters = Clusters(len(position))

    def search(self, progress: Progress) -> None:
        """Compare the rows of every band and unite those that are the same problem."""
        ranks = with_tokens(self._prints, self._position)
        guard = self._prints.guard[self._position]
        is_twin = Remembered(self._is_twin)
        num_bands = self._prints.bands.num_bands
        for band in range(num_bands):
            progress.tick(0, f"read; comparing, band {band + 1} of {num_bands}")
            # rows that differ in a number or an operator never meet
            keys = self._prints.band(band)[self._position] ^ guard
            compare_stars(keys[ranks], ranks, self._clusters, is_twin, self._may_join)

    def roots(self) -> I64:
        """By rank, the rank of the row that stays for it."""
        return self._clusters.all_roots()

    def settle(self, pool: Pool) -> pl.DataFrame:
        """Look again at pairs that words or answers kept apart; `CONFLICTS` of rows with one text and two answers.

        Words may no longer be rare among the rows that stay, so that dropping twice would drop more; answers may have
        one value.
        """
        clashes = [pl.DataFrame(schema=CONFLICTS)]
        num_asked = -1
        while len(self._doubts) != num_asked:
            num_asked = len(self._doubts)
            self._settle_words()
            clashes.append(self._settle_answers(pool))
        self._look_again(pool)
        return pl.concat(clashes).unique("rank", keep="first", maintain_order=True)

    def _settle_answers(self, pool: Pool) -> pl.DataFrame:
        one, other = _distinct(self._doubts)
        roots = self.roots()
        is_open = roots[one] != roots[other]
        one, other = one[is_open], other[is_open]
        texts = _answers_at(pool, self._position, np.union1d(one, other))
        pairs = [(texts[a], texts[b]) for a, b in zip(one.tolist(), other.tolist(), strict=True)]
        relations = np.array(compare_answers(pairs), np.str_)
        whole = self._prints.whole[self._position]
        is_one_text = whole[one] == whole[other]
        # answers that cannot be judged prove nothing, but one text is one problem
        agreeing = ((relations == "same") | is_one_text & (relations == "undecided")) & self._is_same(one, other)
        self._clusters.unite(one[agreeing], other[agreeing], self._is_same)
        clash = is_one_text & (relations == "different")
        sides = np.concatenate([one[clash], other[clash]]).tolist()
        against = np.concatenate([other[clash], one[clash]]).tolist()
        rows = [(rank, foe, texts[rank], texts[foe]) for rank, foe in zip(sides, against, strict=True)]
        return pl.DataFrame(rows, CONFLICTS, orient="row")

    def _look_again(self, pool: Pool) -> None:
        """Unite rows with one answer that differ in what does not change it."""
        ranks = with_tokens(self._prints, self._position)
        ranks = ranks[self._clusters.roots(ranks) == ranks]
        one, other = candidates(self._prints, self._position, ranks, self._threshold)
        is_one = judged(pool, self._position, np.union1d(one, other))
        found = is_one(one, other)
        self._clusters.unite(one[found], other[found], is_one)

    def _settle_words(self) -> None:
        one, other = _distinct(self._other_words)
        while len(one):
            roots = self.roots()
            is_open = roots[one] != roots[other]
            one, other = one[is_open], other[is_open]
            gone = np.flatnonzero(roots != np.arange(len(roots)))
            if len(gone) == self._num_gone:
                return
            self._num_gone = len(gone)
            tokens = (self._prints.tokens.of(self._position[some])[0] for some in _pieces(gone))
            left = self._prints.frequency.without(frequencies(tokens))
            self._rarity = Rarity.of(left, len(roots) - len(gone), self._rare_count)
            may_join = self._may_join(one, other)
            self._clusters.unite(one[may_join], other[may_join], self._may_join)

    def _is_twin(self, one: I64, other: I64) -> Flags:
        found = are_similar(self._prints, self._position[one], self._position[other], self._threshold)
        found[found] = self._may_join(one[found], other[found])
        return found

    def _may_join(self, one: I64, other: I64) -> Flags:
        found = self._is_same(one, other)
        agree = answers_agree(self._prints, self._position[one], self._position[other])
        if (doubt := found & ~agree).any():
            self._doubts.append((one[doubt], other[doubt]))
        return found & agree

    def _is_same(self, one: I64, other: I64) -> Flags:
        found = have_same_figures(self._prints, self._position[one], self._position[other])
        here = np.flatnonzero(found)
        same = have_same_words(self._prints, self._position[one[here]], self._position[other[here]], self._rarity)
        found[here] = same
        self._other_words.append((one[here[~same]], other[here[~same]]))
        return found


def families(prints: Fingerprints, position: I64, ranks: I64, threshold: float) -> I64:
    """By rank, the rank of the first variant of the same problem, looked for among `ranks` alone.

    Variants differ in their numbers and nothing else, or are alike and were found to be different problems.
    """
    clusters = Clusters(len(position))
    ranks = np.intersect1d(ranks, with_tokens(prints, position))

    def is_variant(one: I64, other: I64) -> Flags:
        return are_similar(prints, position[one], position[other], threshold)

    remembered = Remembered(is_variant)
    compare_stars(prints.masked[position][ranks], ranks, clusters, _always, _always)
    for band in range(prints.bands.num_bands):
        compare_stars(prints.band(band)[position][ranks], ranks, clusters, remembered, _always)
    return clusters.all_roots()


def _pieces(rows: I64) -> Iterator[I64]:
    return (rows[start : start + CHUNK_PAIRS] for start in range(0, len(rows), CHUNK_PAIRS))


def _distinct(pairs: list[tuple[I64, I64]]) -> tuple[I64, I64]:
    none = np.empty(0, np.int64)
    one = np.concatenate([none, *(side for side, _ in pairs)])
    other = np.concatenate([none, *(side for _, side in pairs)])
    both = np.unique(np.stack([np.minimum(one, other), np.maximum(one, other)]), axis=1)
    return both[0], both[1]


def with_tokens(prints: Fingerprints, position: I64) -> I64:
    """The ranks of rows that have tokens: those without would agree on every band."""
    return np.flatnonzero(np.diff(prints.starts)[position])


def _always(one: I64, _: I64) -> Flags:
    return np.ones(len(one), np.bool_)


def _answers_at(pool: Pool, position: I64, ranks: I64) -> dict[int, str]:
    """The answers of some rows, by rank, read from the pool once more."""
    found: dict[int, str] = {}
    if not len(ranks):
        return found
    order = np.argsort(position[ranks])
    places, ranks = position[ranks][order], ranks[order]
    start = 0
    for batch in pool():
        first, last = np.searchsorted(places, [start, start + batch.height])
        answers = answer_of(batch[places[first:last] - start])
        found |= dict(zip(ranks[first:last].tolist(), answers, strict=True))
        start += batch.height
    return found
