"""A second look at rows with one answer that the guards kept apart: some differences do not change the answer.

Rows that agree on a band and have the same answer are candidates, each with the lowest of its group. Those that are
half alike, and do not both have figures that the other lacks, are read from the pool once more and compared token by
token (`curate.text.differences`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from curate.dedup.clusters import Flags, lowest_pairs
from curate.dedup.fingerprints import Fingerprints, answer_of, text_of
from curate.dedup.pairs import are_similar, have_figures_apart
from curate.text.differences import Statement, are_telling, state_the_same, statements
from curate.text.minhash import I64, mixed

MIN_SIMILARITY: Final = 0.5
_READ: Final = ("prompt", "choices", "ground_truth", "kind")
MAX_LOOKS: Final = 16  # at the rows of one group: a template with one answer has any number


class _Row(NamedTuple):
    statement: Statement
    is_telling: bool
    is_math: bool


def candidates(prints: Fingerprints, position: I64, ranks: I64, threshold: float) -> tuple[I64, I64]:
    """Pairs of ranks, among these, with one answer and much in common."""
    rows = position[ranks]
    is_answered = (prints.answer[rows] != 0) & (prints.starts[rows + 1] > prints.starts[rows])
    ranks, rows = ranks[is_answered], rows[is_answered]
    answer = mixed(prints.answer[rows])
    found = np.empty(0, np.uint64)
    for band in range(prints.bands.num_bands):
        one, other = lowest_pairs(prints.band(band)[rows] ^ answer, ranks, MAX_LOOKS)
        found = np.union1d(found, one.astype(np.uint64) << np.uint64(32) | other.astype(np.uint64))
    one, other = (found >> np.uint64(32)).astype(np.int64), (found & np.uint64(0xFFFFFFFF)).astype(np.int64)
    alike = are_similar(prints, position[one], position[other], min(threshold, MIN_SIMILARITY))
    alike[alike] = ~have_figures_apart(prints, position[one[alike]], position[other[alike]])
    return one[alike], other[alike]


def judged(pool: Callable[[], Iterator[pl.DataFrame]], position: I64, ranks: I64) -> Callable[[I64, I64], Flags]:
    """What says which pairs of these ranks state one problem; their texts are in memory."""
    rows = _rows_at(pool, position, ranks)

    def is_one_problem(one: I64, other: I64) -> Flags:
        pairs = ((rows[a], rows[b]) for a, b in zip(one.tolist(), other.tolist(), strict=True))
        return np.array([_is_one(*pair) for pair in pairs], np.bool_)

    return is_one_problem


def _is_one(one: _Row, other: _Row) -> bool:
    is_math = one.is_math and other.is_math
    return is_math and state_the_same(one.statement, other.statement, telling=one.is_telling)


def _rows_at(pool: Callable[[], Iterator[pl.DataFrame]], position: I64, ranks: I64) -> dict[int, _Row]:
    order = np.argsort(position[ranks])
    places, ranks = position[ranks][order], ranks[order]
    parts, start = [], 0
    for batch in pool() if len(ranks) else ():
        first, last = np.searchsorted(places, [start, start + batch.height])
        if first < last:
            parts.append(batch[places[first:last] - start].select(_READ))
        start += batch.height
    if not parts:
        return {}
    # together: each batch of texts compiles the patterns of `curate.text.spelling` again
    some = pl.concat(parts)
    columns = statements(text_of(some).to_list()), are_telling(answer_of(some)), some["kind"] == "math"
    return {rank: _Row(*row) for rank, *row in zip(ranks.tolist(), *columns, strict=True)}
