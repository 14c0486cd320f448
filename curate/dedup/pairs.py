"""Two rows side by side: their exact Jaccard similarity, and whether a word or number makes them different problems.

Each function handles many pairs in one call. A set is a sorted array of (pair, element) in one 64-bit number, so that
shared elements of two sets are adjacent after one sort.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from curate.dedup.fingerprints import Fingerprints
from curate.dedup.rarity import Rarity
from curate.text.minhash import I64, U32, U64, jaccard, row_sets, shingle_hashes
from curate.text.word_kinds import Flag, hashes_with

CHUNK_PAIRS: Final = 50_000

_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(0xFFFFFFFF)
Flags = npt.NDArray[np.bool_]


@cache
def _words(any_of: Flag) -> U32:
    # as the file of tokens has them: the lowest bit is for numbers, and no such word is one
    return np.sort((hashes_with(any_of) >> _HALF).astype(np.uint32) & np.uint32(0xFFFFFFFE))


def are_similar(prints: Fingerprints, one: I64, other: I64, threshold: float) -> Flags:
    """Which pairs of rows have a Jaccard similarity of shingles of at least `threshold`."""
    similar: Flags = prints.whole[one] == prints.whole[other]
    rest = np.flatnonzero(~similar)
    for chunk in _chunks(rest):
        similar[chunk] = _jaccard(prints, one[chunk], other[chunk]) >= threshold
    return similar


def have_same_figures(prints: Fingerprints, one: I64, other: I64) -> Flags:
    """Which pairs have the same numbers in the same places, the same operators and the same words in capitals."""
    same: Flags = prints.guard[one] == prints.guard[other]
    same &= (prints.sequence[one] == prints.sequence[other]) | (prints.context[one] == prints.context[other])
    same &= prints.capitals[one] == prints.capitals[other]
    return same


def have_same_words(prints: Fingerprints, one: I64, other: I64, rarity: Rarity) -> Flags:
    """Which pairs have the same turns, and differ in no telling or rare word on both sides."""
    same: Flags = prints.whole[one] == prints.whole[other]
    rest = np.flatnonzero(~same)
    for chunk in _chunks(rest):
        same[chunk] = ~_ask_otherwise(prints, one[chunk], other[chunk], rarity)
    return same


def have_figures_apart(prints: Fingerprints, one: I64, other: I64) -> Flags:
    """Which pairs have on each side a number that the other side lacks."""
    apart = np.zeros(len(one), np.bool_)
    for chunk in _chunks(np.arange(len(one))):
        first, second = (_bags(*prints.tokens.of(rows[chunk])) for rows in (one, other))
        sides = (_any(_without(*pair), _is_figure, len(chunk)) for pair in ((first, second), (second, first)))
        apart[chunk] = np.logical_and(*sides)
    return apart


def _is_figure(tokens: U32) -> Flags:
    found: Flags = (tokens & np.uint32(1)) > 0
    return found


def answers_agree(prints: Fingerprints, one: I64, other: I64) -> Flags:
    """Which pairs have the same ground truth as text, or lack one."""
    first, second = prints.answer[one], prints.answer[other]
    agree: Flags = (first == second) | (first == 0) | (second == 0)
    return agree


def _chunks(rows: I64) -> Iterator[I64]:
    return (rows[start : start + CHUNK_PAIRS] for start in range(0, len(rows), CHUNK_PAIRS))


def _jaccard(prints: Fingerprints, one: I64, other: I64) -> npt.NDArray[np.float64]:
    first, second = (row_sets(*shingle_hashes(*_wide(prints.tokens.of(rows)))) for rows in (one, other))
    return jaccard(first, second, len(one))


def _ask_otherwise(prints: Fingerprints, one: I64, other: I64, rarity: Rarity) -> Flags:
    first, second = (_bags(*prints.tokens.of(rows)) for rows in (one, other))
    only_first, only_second = _without(first, second), _without(second, first)

    def on_both_sides(is_such: Callable[[U32], Flags]) -> Flags:
        return _any(only_first, is_such, len(one)) & _any(only_second, is_such, len(one))

    telling, turns = _words(Flag.TELLING), _words(Flag.TURN)
    both = np.concatenate([only_first, only_second])
    return (
        on_both_sides(rarity.holds)
        | on_both_sides(lambda words: np.isin(words, telling))
        | _any(both, lambda words: np.isin(words, turns), len(one))
    )


def _any(elements: U64, is_such: Callable[[U32], Flags], num_pairs: int) -> Flags:
    found = np.zeros(num_pairs, np.bool_)
    found[_pair(elements)[is_such((elements & _LOW).astype(np.uint32))]] = True
    return found


def _wide(ragged: tuple[U32, I64]) -> tuple[U64, I64]:
    return ragged[0].astype(np.uint64), ragged[1]


def _bags(flat: U32, starts: I64) -> tuple[U64, U64]:
    """The elements of every row with repetitions: sorted numbers, different for each repetition, and the elements."""
    rows = np.repeat(np.arange(len(starts) - 1, dtype=np.uint64), np.diff(starts))
    elements = np.sort(rows << _HALF | flat)
    is_first = np.concatenate([np.ones(min(len(elements), 1), np.bool_), elements[1:] != elements[:-1]])
    place = np.arange(len(elements))
    repetition = place - np.maximum.accumulate(np.where(is_first, place, 0))
    numbers = elements & ~_LOW | (elements + repetition.astype(np.uint64) * np.uint64(0x9E3779B1)) & _LOW
    order = np.argsort(numbers)
    return numbers[order], elements[order]


def _without(bag: tuple[U64, U64], other: tuple[U64, U64]) -> U64:
    """The elements of one bag that another lacks, or has less often."""
    numbers, elements = bag
    if not len(other[0]):
        return elements
    place = np.minimum(np.searchsorted(other[0], numbers), len(other[0]) - 1)
    lacking: U64 = elements[other[0][place] != numbers]
    return lacking


def _pair(elements: U64) -> I64:
    return (elements >> _HALF).astype(np.int64)
