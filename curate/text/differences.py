"""Whether two texts with one answer state one problem: their tokens are aligned, and what differs is looked at.

Nearly always a difference changes the answer: another figure, operator, name, or word that decides. Where the answers
agree, some differences are known not to: a condition told twice, an example or a note on one side, a name for a sum
(`S =`), a sentence in another place, a word misspelt, a figure with its points named. An answer that many problems have
(3, yes) proves less than one that few have (2005^{1002}/2004!), and then a changed word counts as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Final, NamedTuple

import polars as pl

from curate.text.spelling import NUMBER_WORDS, normalised, tokens
from curate.text.synonyms import SYNONYMS
from curate.text.words import FUNCTION_WORDS, LAYOUT_SIGNS, OPERATORS, TELLING_WORDS, TURNS, VARIABLES

MIN_DIGITS: Final = 3  # of a telling answer
MIN_SIGNS: Final = 4
MIN_CLAUSE_WORDS: Final = 3  # of a part that only one text has
MIN_MOVED_WORDS: Final = 4  # of a part that stands in another place
MAX_REPLACED: Final = 0.1  # of the tokens, where the answer is telling
_MIN_LIKENESS: Final = 0.75  # of a word and its misspelling
_MIN_LABELS: Final = 3  # single letters that name a figure
_NAME: Final = re.compile(r"(?<![\w\\])[A-Z][a-z]+")
_ASIDE: Final = frozenset("example note recall reminder remember means namely called denotes".split())
_TASKS: Final = frozenset("find answer solve simplify express".split())


class Statement(NamedTuple):
    """A text as tokens that layout does not change, and those that are names in it."""

    tokens: tuple[str, ...]
    names: frozenset[str]


def statements(texts: Sequence[str]) -> list[Statement]:
    """The texts, which are `bare`, to compare."""
    lists = tokens(pl.Series(texts, dtype=pl.String)).to_list()
    return [
        Statement(
            tuple(SYNONYMS.get(word, word) for word in words if word not in LAYOUT_SIGNS),
            frozenset(name for name in map(str.lower, _NAME.findall(text)) if not _is_common(name)),
        )
        for text, words in zip(texts, lists, strict=True)
    ]


def are_telling(answers: pl.Series) -> list[bool]:
    """Whether few problems have each of these answers: three digits, or several signs."""
    return [_is_telling(spelt) for spelt in normalised(answers.fill_null(""))]


def _is_telling(spelt: str) -> bool:
    words = [word for word in spelt.split() if word not in LAYOUT_SIGNS]
    return sum(map(str.isdigit, spelt)) >= MIN_DIGITS or len(words) >= MIN_SIGNS


def state_the_same(one: Statement, other: Statement, *, telling: bool, within: bool = False) -> bool:
    """Whether the texts state one problem, given that their answers agree.

    telling: what `are_telling` says of the answer. within: `other` may hold more text before and behind.
    """
    found = _Differences(one, other, telling)
    return all(found.allows(*gap) for gap in _gaps(one.tokens, other.tokens, within=within)) and found.are_balanced()


def _gaps(one: Sequence[str], other: Sequence[str], *, within: bool) -> Iterator[tuple[list[str], list[str]]]:
    """What each has between what both have."""
    blocks = [block for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks() if block.size]
    ends = [
        (0, blocks[0].b if within and blocks else 0),
        *((block.a + block.size, block.b + block.size) for block in blocks),
    ]
    starts = [(block.a, block.b) for block in blocks]
    starts.append((len(one), ends[-1][1] if within and blocks else len(other)))
    for (a, b), (a_end, b_end) in zip(ends, starts, strict=True):
        if a < a_end or b < b_end:
            yield list(one[a:a_end]), list(other[b:b_end])


@dataclass
class _Differences:
    """What one text has lost and the other gained, gap by gap."""

    one: Statement
    other: Statement
    telling: bool
    lost: Counter[str] = field(default_factory=Counter)
    gained: Counter[str] = field(default_factory=Counter)
    most_words: int = 0
    num_replaced: int = 0

    def allows(self, lost: list[str], gained: list[str]) -> bool:
        """Whether the texts may be one problem for all that this gap says."""
        return self._allows_words(lost, gained) and self._allows_formulas(lost, gained)

    def are_balanced(self) -> bool:
        """Whether what was lost in places was gained in others, as a sentence that moved."""
        if self.num_replaced > (MAX_REPLACED * len(self.one.tokens) if self.telling else 0):
            return False
        return not (self.lost or self.gained) or (self.lost == self.gained and self.most_words >= MIN_MOVED_WORDS)

    def _allows_words(self, lost: list[str], gained: list[str]) -> bool:
        mine, theirs = _unlike(list(filter(_is_content, lost)), list(filter(_is_content, gained)))
        if mine and theirs:
            decisive = TELLING_WORDS | TURNS | self.one.names | self.other.names
            if decisive & {*mine} and decisive & {*theirs}:
                return False
            self.num_replaced += min(len(mine), len(theirs))
        one, other = (TURNS.intersection(words) for words in (lost, gained))
        is_aside = not (lost and gained) and len(mine or theirs) >= MIN_MOVED_WORDS
        return one == other or is_aside or (self.telling and not (one and other))

    def _allows_formulas(self, lost: list[str], gained: list[str]) -> bool:
        mine, theirs = list(filter(_is_formula, lost)), list(filter(_is_formula, gained))
        if mine == theirs:
            return True
        if not mine or not theirs:
            words, formula, rest = (lost, mine, self.other) if mine else (gained, theirs, self.one)
            if _is_name_for(words, formula) or self._is_clause(words, formula, rest):
                return True
        self.lost += Counter(mine)
        self.gained += Counter(theirs)
        self.most_words = max(self.most_words, *(sum(map(_is_content, words)) for words in (lost, gained)))
        return True

    def _is_clause(self, words: list[str], formula: list[str], rest: Statement) -> bool:
        """Whether this says again what the other text says, or is an example or a note."""
        num_words = sum(map(_is_content, words))
        if all(word in VARIABLES for word in formula):
            return (
                num_words > 0
                or any(word in FUNCTION_WORDS and len(word) > 1 for word in words)
                or len(formula) >= _MIN_LABELS
            )
        is_told_twice = {*filter(_is_figure, formula)} <= {*rest.tokens}
        return bool(_ASIDE.intersection(words)) or (num_words >= MIN_CLAUSE_WORDS and (self.telling or is_told_twice))


def _is_name_for(words: list[str], formula: list[str]) -> bool:
    """Whether this only names what follows: `S =`, `E(x, y) =`."""
    return bool(words) and words[-1] == "=" and all(word in VARIABLES or word == "=" for word in formula)


def _unlike(mine: list[str], theirs: list[str]) -> tuple[list[str], list[str]]:
    """The words of either without those that the other has too, perhaps in another form or misspelt."""
    left = [word for word in mine if not any(map(word.__eq__, theirs))]
    right = [word for word in theirs if word not in mine]
    for word in [*left]:
        near = next((other for other in right if _is_like(word, other)), None)
        if near is not None:
            left.remove(word)
            right.remove(near)
    return left, right


def _is_like(word: str, other: str) -> bool:
    return SequenceMatcher(None, word, other, autojunk=False).ratio() >= _MIN_LIKENESS


def _is_figure(word: str) -> bool:
    return word[0].isdigit()


def _is_formula(word: str) -> bool:
    return _is_figure(word) or word in OPERATORS or (word in VARIABLES and word not in FUNCTION_WORDS)


def _is_content(word: str) -> bool:
    return word[0].isalpha() and not (_is_formula(word) or _is_common(word))


def _is_common(word: str) -> bool:
    return word in FUNCTION_WORDS or word in _TASKS or word in NUMBER_WORDS
