r"""Marks before the names and the words in capitals of a text, set before the tokenizer folds case.

A name is a capital with small letters behind it, between what is no letter and no backslash before it and no letter,
digit or underscore behind; 小明 is one too. Five capitals or more are a word in capitals, which is a parameter: the
letters of ALABAMA. `_MARKED` holds all this as patterns; texts without letters beyond ASCII, nearly all of most pools,
are marked by the same rules on whole arrays of bytes.
"""

from __future__ import annotations

from functools import cache
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Final

import numpy as np
import polars as pl

from curate.text.bytes import I64, U8, ByteTexts, Flags, byte_texts, column_of, is_plain, table_of
from curate.text.minhash import U64, mixed
from curate.text.spelling import MARKS, NUMBER_WORDS
from curate.text.synonyms import SYNONYMS
from curate.text.words import FUNCTION_WORDS, TELLING_WORDS, TURNS

NAME, CAPITALS = MARKS
_MARKED: Final = (
    (r"(^|[^\\\p{L}])(\p{Lu}{5,})\b", f"${{1}} {CAPITALS} ${{2}}"),
    (r"(^|[^\\\p{L}])(\p{Lu}\p{Ll}+)\b|(小)(\p{Han})", f"${{1}}${{3}} {NAME} ${{2}}${{4}}"),
)
_LEAST_CAPITALS: Final = 5
_BEGINNINGS: Final = (
    "simplify solve prove using note use since round expand factor graph choose select suppose according calculate "
    "arrange complete convert describe explain identify list make name order place rewrite subtract add multiply "
    "divide today there hence thus therefore because once first second next finally then now initially currently "
    "originally instead similarly equivalently specifically recall remember hint remark example figure"
).split()
_MAX_STEPS: Final = 32  # letters of a word that are compared one after the other, in all words together
_UPPER, _LOWER, _OTHER, _BACKSLASH = 1, 2, 3, 4
_KINDS: Final = table_of(upper=ascii_uppercase, lower=ascii_lowercase, others=digits + "_", backslash="\\")

_PREFIX: Final = 8  # letters of a name that are looked at


def name_hashes(data: U8, starts: I64) -> tuple[U64, I64]:
    """A hash of each name of some texts, but for words that begin sentences often, and where each text's begin."""
    word = np.zeros(len(data) + 2 * _PREFIX, np.uint8)
    word[: len(data)] = data
    is_lower = word - np.uint8(ord("a")) < len(ascii_lowercase)
    firsts = np.flatnonzero((data - np.uint8(ord("A")) < len(ascii_uppercase)) & is_lower[1 : len(data) + 1])
    before = word[firsts - 1]
    is_free = ((before | np.uint8(32)) - np.uint8(ord("a")) >= len(ascii_lowercase)) & (before != ord("\\"))
    place = np.minimum(np.searchsorted(starts, firsts), len(starts) - 1)
    firsts = firsts[is_free | (starts[place] == firsts)]
    spelt = (word[firsts] | np.uint8(32)).astype(np.uint64)
    goes_on = np.ones(len(firsts), np.bool_)
    for letter in range(1, _PREFIX):
        goes_on &= is_lower[firsts + letter]
        spelt += np.where(goes_on, word[firsts + letter], 0).astype(np.uint64) << np.uint64(8 * letter)
    common = _common_beginnings()
    is_name = common[np.minimum(np.searchsorted(common, spelt), len(common) - 1)] != spelt
    return mixed(spelt[is_name]), np.searchsorted(firsts[is_name], starts)


@cache
def _common_beginnings() -> U64:
    words = {*FUNCTION_WORDS, *TELLING_WORDS, *TURNS, *SYNONYMS, *SYNONYMS.values(), *NUMBER_WORDS, *_BEGINNINGS}
    letters = [word.encode()[:_PREFIX] for word in words if word.isascii()]
    return np.unique(np.array([int.from_bytes(word, "little") for word in letters], np.uint64))


def marked(texts: pl.Series) -> pl.Series:
    """The texts with ` NAME ` before each name and ` CAPITALS ` before each word in capitals, and no mark elsewhere."""
    bare = texts.str.replace_many(list(MARKS), [""] * len(MARKS))
    is_simple = is_plain(bare)
    if is_simple.all():
        return _marked_bytes(bare)
    order = np.argsort(np.argsort(~is_simple.to_numpy(), kind="stable"))
    parts = _marked_bytes(bare.filter(is_simple)), _marked_by_patterns(bare.filter(~is_simple))
    return pl.concat([part.rename("") for part in parts]).gather(order)


def _marked_by_patterns(texts: pl.Series) -> pl.Series:
    for pattern, replacement in _MARKED:
        texts = texts.str.replace_all(pattern, replacement)
    return texts


def _marked_bytes(texts: pl.Series) -> pl.Series:
    """The same for texts without letters beyond ASCII."""
    data, starts = byte_texts(texts)
    places, is_name = _marks(data, starts)
    # a mark between two spaces before each of these places
    mark_at = places + 3 * np.arange(len(places)) + 1
    is_old = np.ones(len(data) + 3 * len(places), np.bool_)
    for beside in (-1, 0, 1):
        is_old[mark_at + beside] = False
    out = np.full(len(is_old), ord(" "), np.uint8)
    out[is_old] = data
    out[mark_at] = np.where(is_name, ord(NAME), ord(CAPITALS))
    return column_of(ByteTexts(out, starts + 3 * np.searchsorted(places, starts)))


def _marks(data: U8, starts: I64) -> tuple[I64, Flags]:
    """Where names and words in capitals begin, and which of them are names."""
    kind = np.frombuffer(data.tobytes().translate(_KINDS) + b"\0", np.uint8)
    is_letter = kind - np.uint8(_UPPER) < _LOWER
    is_upper = kind == _UPPER
    # whether the letter continues the word of the letter before it
    goes_on = is_letter.copy()
    goes_on[1:] &= is_letter[:-1]
    goes_on[starts] = False
    firsts = np.flatnonzero(is_upper & ~goes_on)
    ends, num_upper = _words(firsts, goes_on, is_upper)
    is_start = np.zeros(len(kind), np.bool_)
    is_start[starts] = True
    is_word = is_start[ends] | (kind[ends] != _OTHER)
    is_word &= is_start[firsts] | (kind[firsts - 1] != _BACKSLASH)
    lengths = ends - firsts
    is_capitals = num_upper == lengths
    is_name = (num_upper == 1) & (lengths > 1)
    chosen = is_word & (is_name | is_capitals & (lengths >= _LEAST_CAPITALS))
    return firsts[chosen], is_name[chosen]


def _words(firsts: I64, goes_on: Flags, is_upper: Flags) -> tuple[I64, I64]:
    """Where the words end that begin at some places, and how many capitals they have."""
    ends, num_upper, going = firsts + 1, np.ones(len(firsts), np.int64), np.arange(len(firsts))
    for _ in range(_MAX_STEPS):
        going = going[goes_on[ends[going]]]
        num_upper[going] += is_upper[ends[going]]
        ends[going] += 1
    if len(going):
        stops, uppers = np.flatnonzero(~goes_on), np.concatenate([[0], np.cumsum(is_upper)])
        ends[going] = stops[np.searchsorted(stops, ends[going])]
        num_upper[going] = uppers[ends[going]] - uppers[firsts[going]]
    return ends, num_upper
