"""The kinds of single tokens, independent of their text: figures, operators, variables, telling words, function words.

The words that matter are few. `kinds_of` finds them among the hashes of many tokens by one look into a small table.
Dedup and decontamination distinguish problems by the same lists.
"""

from __future__ import annotations

import enum
import re
import unicodedata
from functools import cache
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from curate.text.cut import FIRST_BEYOND_ASCII, Cut, hashes_of
from curate.text.minhash import I64, U64
from curate.text.names import CAPITALS, NAME
from curate.text.spelling import NUMBER_WORDS, SIGNS
from curate.text.synonyms import SYNONYMS
from curate.text.words import FUNCTION_WORDS, LAYOUT_SIGNS, OPERATORS, TELLING_WORDS, TURNS, VARIABLES

U16 = npt.NDArray[np.uint16]
Flags = npt.NDArray[np.bool_]

_SKIPPED: Final = LAYOUT_SIGNS | {NAME, CAPITALS}
_TABLE_BITS: Final = 17


class Flag(enum.IntFlag):
    """What a token is, beside its hash."""

    NAME_MARK = 1
    CAPITALS_MARK = 2
    SKIPPED = 4
    FIGURE = 8
    NUMBER_WORD = 16
    OPERATOR = 32
    TURN = 64  # a word that makes another problem where only one of two texts has it
    FUNCTION = 128  # a word without content of its own
    VARIABLE = 256
    TELLING = 512  # a word that makes another problem if it replaces another telling word
    RESPELT = 1024  # another spelling of a word


class Kinds(NamedTuple):
    """What each of some tokens is: its `Flag`s, and the hash that stands for each number word and synonym, by place."""

    flags: U16
    places: I64
    figures: U64


def kinds_of(cut: Cut) -> Kinds:
    """What the tokens of some texts are."""
    known = _known()
    # the table proposes one word, which is the token or not
    word = known.table[_slots(cut.hashes, known.shift)]
    word *= known.hashes[word] == cut.hashes
    flags = known.flags[word]
    flags |= (cut.heads - np.uint8(ord("0")) < 10) * np.uint16(Flag.FIGURE)
    if len(cut.others):
        flags[cut.heads >= FIRST_BEYOND_ASCII] |= _flags_of_others(cut.others)
    places = np.flatnonzero(has(flags, Flag.NUMBER_WORD | Flag.RESPELT))
    return Kinds(flags, places, known.figures[word[places]])


def hashes_with(any_of: Flag) -> U64:
    """The hashes of the known words that are any of these."""
    known = _known()
    return known.hashes[has(known.flags, any_of)]


def has(flags: U16, any_of: Flag) -> Flags:
    """Which of some tokens are any of these; numpy would take a `Flag` for a 64-bit number."""
    is_any: Flags = (flags & np.uint16(any_of)) > 0
    return is_any


def _flags_of_others(words: pl.Series) -> U16:
    """Whether words beyond ASCII are figures or signs, decided once for each distinct word."""
    coded = words.cast(pl.Categorical(pl.Categories.random()))
    distinct = coded.unique()
    by_code = np.zeros(len(distinct) + 1, np.uint16)
    by_code[distinct.to_physical().to_numpy()] = [_flags_of_other(word) for word in distinct.cast(pl.String)]
    chosen: U16 = by_code[coded.to_physical().to_numpy()]
    return chosen


def _flags_of_other(word: str) -> int:
    # a pattern would be one more than the 32 that polars keeps compiled
    is_sign = unicodedata.category(word[0])[0] not in "LMN"
    return int(Flag.FIGURE) * word[0].isdecimal() + int(Flag.FUNCTION) * is_sign


class _Known(NamedTuple):
    """The known words by number, from 1 on; 0 is every other word.

    table: the number of the word whose hash has these `_TABLE_BITS` bits above `shift`.
    figures: the hash of the figure that a word names, or of the word that it is a spelling of; else its own.
    """

    shift: int
    table: U16
    hashes: U64
    flags: U16
    figures: U64


@cache
def _known() -> _Known:
    kinds = (NUMBER_WORDS, SYNONYMS, _SKIPPED, VARIABLES, OPERATORS, TURNS, TELLING_WORDS, FUNCTION_WORDS)
    words = sorted({*chain.from_iterable(kinds), *SIGNS})
    hashes = hashes_of(pl.Series(words))
    shift = next(shift for shift in range(64 - _TABLE_BITS) if len(np.unique(_slots(hashes, shift))) == len(words))
    table = np.zeros(1 << _TABLE_BITS, np.uint16)
    table[_slots(hashes, shift)] = np.arange(1, len(words) + 1)
    flags = np.array([0, *map(_flags_of, words)], np.uint16)
    figures = hashes_of(pl.Series([(NUMBER_WORDS | SYNONYMS).get(word, word) for word in words]))
    return _Known(shift, table, np.insert(hashes, 0, 0), flags, np.insert(figures, 0, 0))


def _slots(hashes: U64, shift: int) -> I64:
    return (hashes >> np.uint64(shift) & np.uint64((1 << _TABLE_BITS) - 1)).view(np.int64)


def _flags_of(word: str) -> int:
    is_number = re.match(r"\d", NUMBER_WORDS.get(word, word)) is not None
    facts = {
        Flag.NAME_MARK: word == NAME,
        Flag.CAPITALS_MARK: word == CAPITALS,
        Flag.SKIPPED: word in _SKIPPED,
        Flag.FIGURE: is_number,
        Flag.NUMBER_WORD: is_number and word in NUMBER_WORDS,
        Flag.OPERATOR: word in OPERATORS,
        Flag.TURN: word in TURNS,
        Flag.FUNCTION: word in FUNCTION_WORDS or re.search(r"\w", word) is None,
        Flag.VARIABLE: word in VARIABLES,
        Flag.TELLING: word in TELLING_WORDS,
        Flag.RESPELT: word in SYNONYMS,
    }
    return sum(int(flag) for flag, is_so in facts.items() if is_so)
