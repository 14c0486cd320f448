"""MinHash in whole columns: tokens to shingle hashes, signatures and band keys, without a Python loop over rows.

The signatures are bit for bit those that `datasketch.MinHash` (2.0, scheme `affine32`) gives when it is updated with
the same 32-bit shingle hashes: `fmix32`, then a * h + b modulo 2^32 for each permutation, and the least of them. Here
rows of similar length are adjacent in a block, and one permutation is applied to a whole block, which makes it fast.

Ragged data comes as `(flat, starts)`: row i holds `flat[starts[i]:starts[i + 1]]`.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

NUM_PERM: Final = 128
SHINGLE: Final = 3
MIN_RECALL: Final = 0.98
BLOCK: Final = 1 << 16  # shingles at a time: they and their permuted copy stay in the processor's cache

U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

A = TypeVar("A", np.uint32, np.uint64, np.int64)

_ODD: Final = tuple(np.uint64(value) for value in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))
_HALF: Final = np.uint64(32)


class Bands(NamedTuple):
    """How a signature is cut: rows that agree on any whole band are compared."""

    num_bands: int
    num_rows: int


def bands_for(threshold: float) -> Bands:
    """The fewest candidates that still find a pair at the threshold with `MIN_RECALL`: 25 bands of 5 at 0.7.

    A pair of Jaccard similarity t agrees on one of b bands of r rows with probability 1 - (1 - t^r)^b (Leskovec,
    Rajaraman, Ullman, Mining of Massive Datasets, 3.4.2).
    """
    cuts = [Bands(NUM_PERM // num_rows, num_rows) for num_rows in range(NUM_PERM, 0, -1)]
    return next(
        cut for cut in cuts if 1 - (1 - threshold**cut.num_rows) ** cut.num_bands >= MIN_RECALL or cut.num_rows == 1
    )


def mixed(value: U64) -> U64:
    """A 64-bit bijection that spreads every bit over all others."""
    # from here on in place: a new array for each step would take twice as long
    value = value ^ (value >> _HALF)
    value *= _ODD[0]
    value ^= value >> np.uint64(29)
    value *= _ODD[1]
    value ^= value >> _HALF
    return value


def taken(flat: npt.NDArray[A], starts: I64, rows: I64) -> tuple[npt.NDArray[A], I64]:
    """Some rows of ragged data, as ragged data."""
    firsts, lasts = starts[rows], starts[rows + 1]
    return flat[ranges(firsts, lasts)], np.concatenate([[0], np.cumsum(lasts - firsts)])


def ranges(firsts: I64, lasts: I64) -> I64:
    """The whole numbers from each of `firsts` up to its one of `lasts`, one range after the other."""
    lengths = lasts - firsts
    before = np.cumsum(lengths) - lengths
    numbers: I64 = np.arange(lengths.sum()) + np.repeat(firsts - before, lengths)
    return numbers


def row_sets(flat: U32, starts: I64) -> U64:
    """The distinct elements of every row, as sorted numbers (row << 32 | element)."""
    rows = np.repeat(np.arange(len(starts) - 1, dtype=np.uint64), np.diff(starts))
    elements = np.sort(rows << _HALF | flat)
    # sort and mask: np.unique on uint64 hashes, which is many times slower
    return elements[runs(elements)]


def jaccard(one: U64, other: U64, num_rows: int) -> npt.NDArray[np.float64]:
    """The similarity of each row's two sets, as `row_sets` gives them: shared elements over all of either."""
    sizes = np.bincount(_row(one), minlength=num_rows) + np.bincount(_row(other), minlength=num_rows)
    both = np.sort(np.concatenate([one, other]))
    shared = np.bincount(_row(both[1:][both[1:] == both[:-1]]), minlength=num_rows)
    # two rows without elements share everything they have
    similarity: npt.NDArray[np.float64] = np.divide(shared, sizes - shared, out=np.ones(num_rows), where=sizes > 0)
    return similarity


def _row(elements: U64) -> I64:
    return (elements >> _HALF).astype(np.int64)


def runs(ordered: U32 | U64 | I64) -> I64:
    """Where each run of equal elements starts."""
    return np.flatnonzero(np.concatenate([np.ones(min(len(ordered), 1), np.bool_), ordered[1:] != ordered[:-1]]))


def shingle_hashes(tokens: U64, starts: I64) -> tuple[U32, I64]:
    """32-bit hashes of every run of `SHINGLE` tokens; a row of fewer tokens is one shingle, a row of none has none."""
    tokens, starts = _padded(tokens, starts)
    lengths = np.diff(starts)
    num_runs = max(len(tokens) - SHINGLE + 1, 0)
    run = np.zeros(num_runs, np.uint64)
    for step in range(SHINGLE):
        run += tokens[step : step + num_runs] * _ODD[step]
    is_shingle = np.ones(len(tokens), np.bool_)
    for step in range(1, SHINGLE):
        # a run that begins here would reach into the next row
        is_shingle[starts[1:][lengths > 0] - step] = False
    hashes = (mixed(run[is_shingle[:num_runs]]) >> _HALF).astype(np.uint32)
    counts = np.maximum(lengths - SHINGLE + 1, 0)
    return hashes, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _padded(tokens: U64, starts: I64) -> tuple[U64, I64]:
    """The same with rows of one or two tokens filled up with zeros."""
    lengths = np.diff(starts)
    lacking = np.where(lengths > 0, np.maximum(SHINGLE - lengths, 0), 0)
    if not lacking.any():
        return tokens, starts
    tokens = np.insert(tokens, np.repeat(starts[1:], lacking), 0)
    return tokens, starts + np.concatenate([[0], np.cumsum(lacking)])


def signatures(shingles: U32, starts: I64, num_perm: int = NUM_PERM) -> U32:
    """The MinHash signatures, `[num_perm, rows]`; a row without shingles keeps the largest value everywhere."""
    multipliers, addends = permutations(num_perm)
    lengths = np.diff(starts)
    result = np.full((num_perm, len(lengths)), np.uint32(0xFFFFFFFF))
    hashes = _fmix32(shingles)
    order = np.argsort(lengths, kind="stable")
    order = order[np.searchsorted(lengths[order], 1) :]
    while len(order):
        rows = order[: _num_fitting(lengths[order])]
        order = order[len(rows) :]
        # a shorter row is filled up with its last shingle, which changes no minimum
        place = np.minimum(np.arange(lengths[rows[-1]])[:, None], lengths[rows] - 1)
        result[:, rows] = _minima(hashes[starts[rows] + place], multipliers, addends)
    return result


def _num_fitting(lengths: I64) -> int:
    """How many rows, of ascending lengths, fit a block when each takes as much room as the longest; one at least."""
    some = lengths[:BLOCK]
    return max(int(np.searchsorted(some * np.arange(1, len(some) + 1), BLOCK, side="right")), 1)


def _minima(hashes: U32, multipliers: U32, addends: U32) -> U32:
    """The least permuted hash of every column, `[num_perm, columns]`."""
    permuted = np.empty_like(hashes)
    least = np.empty((len(multipliers), hashes.shape[1]), np.uint32)
    for row, (multiplier, addend) in enumerate(zip(multipliers, addends, strict=True)):
        np.multiply(hashes, multiplier, out=permuted)
        np.add(permuted, addend, out=permuted)
        np.minimum.reduce(permuted, axis=0, out=least[row])
    return least


@cache
def permutations(num_perm: int) -> tuple[U32, U32]:
    """The multipliers and addends of datasketch's permutations, seed 1."""
    from datasketch import MinHash

    multipliers, addends = MinHash(num_perm=num_perm, seed=1, scheme="affine32").permutations
    return multipliers, addends


def _fmix32(value: U32) -> U32:
    """The finalizer of MurmurHash3 (A. Appleby), which datasketch puts before its permutations."""
    value = value ^ (value >> np.uint32(16))
    value *= np.uint32(0x85EBCA6B)
    value ^= value >> np.uint32(13)
    value *= np.uint32(0xC2B2AE35)
    value ^= value >> np.uint32(16)
    return value


def band_keys(signature: U32, bands: Bands) -> U64:
    """One 64-bit key a band and row, `[num_bands, rows]`: equal where the rows agree on the whole band."""
    keys = np.empty((bands.num_bands, signature.shape[1]), np.uint64)
    for band in range(bands.num_bands):
        key = np.full(signature.shape[1], np.uint64(band))
        for row in signature[band * bands.num_rows : (band + 1) * bands.num_rows]:
            key *= _ODD[0]
            key += row
        keys[band] = mixed(key)
    return keys
