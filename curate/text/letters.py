"""Letters that are written together and stand for several things: the points ABC are A, B, C, the product xy is x, y.

Points are taken apart before letter case is lost: two to four capitals that are no word in capitals, or more that stand
in the order of the alphabet. Products are tokens of two or three small letters that no word, unit or function is.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from string import ascii_lowercase, ascii_uppercase
from typing import Final

import numpy as np
import polars as pl

from curate.text.bytes import I64, U8, ByteTexts, Flags, byte_texts, column_of
from curate.text.minhash import ranges

_KEPT_CAPITALS: Final = frozenset(
    "AM PM GCD LCM HCF MAX MIN MOD AND OR NOT IF IS IT ON OF TO IN AT BY NO ALL ANY ONE TWO MUST ONLY EACH BOTH SAME "
    "MOST WITH THAT THIS THE ARE FOR HOW MANY WHAT FROM LESS MORE THAN TRUE".split()
)
_MAX_POINTS: Final = 4
_MAX_IN_ORDER: Final = 8

_KEPT_PAIRS: Final = frozenset(
    "ah am an as at be by do go he hi if in is it me my no of oh ok on or ox so to up us we vs ln lg mu nu xi pi le ge "
    "ne gt lt cm mm km kg mg ml dl ft lb oz hr id mr ms dr pm tv re de la el en et il un du al".split()
)
_KEPT_TRIPLES: Final = frozenset(
    "gcd lcm hcf sgn csc cth mph kph pdf cdf why try cry dry fly fry shy sky sly spy ply pry gym hmm mrs vth".split()
)
_FIRST_LETTERS: Final = frozenset("abc abd acd bcd bca acb cba".split())
_WORDS_OF_CONSONANTS: Final = "bcdfghjklmnpqrstvwxyz"


@cache
def products() -> frozenset[str]:
    """The tokens that are products of variables."""
    pairs = {"".join(pair) for pair in product(ascii_lowercase, repeat=2)} - _KEPT_PAIRS
    triples = {"".join(triple) for triple in product(_WORDS_OF_CONSONANTS, repeat=3)} - _KEPT_TRIPLES
    return frozenset(pairs | triples | _FIRST_LETTERS)


@cache
def _tables() -> tuple[Flags, Flags, I64]:
    """By the first two bytes, whether a token of two is a product and one of three may be; the triples' own bytes."""
    words = {word: int.from_bytes(word.encode(), "little") for word in products()}
    pairs, begins = np.zeros(1 << 16, np.bool_), np.zeros(1 << 16, np.bool_)
    pairs[[number for word, number in words.items() if len(word) == 2]] = True
    triples = np.array(sorted(number for word, number in words.items() if len(word) > 2))
    begins[triples & 0xFFFF] = True
    return pairs, begins, triples


def parted(text: bytearray, firsts: I64, lengths: I64) -> tuple[I64, I64]:
    """The tokens of lower-case ASCII texts, by their firsts and lengths, with each letter of a product for itself.

    `text` goes on for a byte or more behind the last token.
    """
    pairs, begins, triples = _tables()
    data = np.frombuffer(text, np.uint8)
    two_bytes = np.ndarray(len(text) - 1, "<u2", text, strides=(1,))
    twos, threes = (np.flatnonzero(lengths == length) for length in (2, 3))
    twos, threes = twos[pairs[two_bytes[firsts[twos]]]], threes[begins[two_bytes[firsts[threes]]]]
    numbers = two_bytes[firsts[threes]].astype(np.int64) + (data[firsts[threes] + 2].astype(np.int64) << 16)
    threes = threes[triples[np.minimum(np.searchsorted(triples, numbers), len(triples) - 1)] == numbers]
    if not len(twos) and not len(threes):
        return firsts, lengths
    # few tokens are products: their further letters go in behind the first
    behind = np.concatenate([twos, threes, threes])
    letters = firsts[behind] + np.repeat([1, 1, 2], [len(twos), len(threes), len(threes)])
    order = np.argsort(letters)
    lengths = lengths.copy()
    lengths[behind] = 1
    at = behind[order] + 1
    return np.insert(firsts, at, letters[order]), np.insert(lengths, at, 1)


def with_parted_points(texts: pl.Series) -> pl.Series:
    """The texts with spaces between the letters of points; a byte beyond ASCII is no letter here, as in 三角形ABC中."""
    data, starts = byte_texts(texts)
    firsts, lengths = _capital_runs(data, starts)
    keys = np.zeros(len(firsts), np.int64)
    for place in range(_MAX_POINTS):
        at = np.minimum(firsts + place, len(data) - 1)
        keys += np.where(place < lengths, data[at].astype(np.int64), 0) << (8 * place)
    chosen = (lengths <= _MAX_POINTS) & ~np.isin(keys, _kept_keys())
    for run in np.flatnonzero((lengths > _MAX_POINTS) & (lengths <= _MAX_IN_ORDER)).tolist():
        chosen[run] = bytes(data[firsts[run] : firsts[run] + lengths[run]]).decode() in ascii_uppercase
    firsts, lengths = firsts[chosen], lengths[chosen]
    if not len(firsts):
        return texts
    at = ranges(firsts + 1, firsts + lengths)
    return column_of(ByteTexts(np.insert(data, at, np.uint8(ord(" "))), starts + np.searchsorted(at, starts)))


def word_capitals(data: U8, starts: I64) -> tuple[I64, I64]:
    """Where words in capitals begin that are no points, and how long they are: ALABAMA."""
    firsts, lengths = _capital_runs(data, starts)
    is_long = lengths > _MAX_POINTS
    for run in np.flatnonzero(is_long & (lengths <= _MAX_IN_ORDER)).tolist():
        is_long[run] = bytes(data[firsts[run] : firsts[run] + lengths[run]]).decode() not in ascii_uppercase
    return firsts[is_long], lengths[is_long]


def _capital_runs(data: U8, starts: I64) -> tuple[I64, I64]:
    """Where runs of two or more capitals begin between what is no letter, and how long they are; no commands."""
    is_upper = data - np.uint8(ord("A")) < len(ascii_uppercase)
    pairs = np.flatnonzero(is_upper[:-1] & is_upper[1:])
    if not len(pairs):
        return pairs, pairs
    pairs = pairs[~_are_among(pairs + 1, starts)]
    is_first = np.ones(len(pairs), np.bool_)
    is_first[1:] = np.diff(pairs) > 1
    places = np.flatnonzero(is_first)
    firsts, lengths = pairs[places], np.diff(places, append=len(pairs)) + 1
    ends = firsts + lengths
    before, behind = data[firsts - 1], data[np.minimum(ends, len(data) - 1)]
    is_free = _are_among(firsts, starts) | ~(_is_letter(before) | (before == ord("\\")))
    is_free &= _are_among(ends, starts) | ~_is_letter(behind)
    return firsts[is_free], lengths[is_free]


def _are_among(places: I64, starts: I64) -> Flags:
    """Which of these places begin a text, or end the last."""
    found: Flags = starts[np.minimum(np.searchsorted(starts, places), len(starts) - 1)] == places
    return found


def _is_letter(data: U8) -> Flags:
    found: Flags = (data | np.uint8(32)) - np.uint8(ord("a")) < len(ascii_lowercase)
    return found


@cache
def _kept_keys() -> I64:
    return np.array([int.from_bytes(word.encode(), "little") for word in sorted(_KEPT_CAPITALS)])
