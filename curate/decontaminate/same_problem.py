"""Is this pair of texts the same problem? The verdict on a candidate that n-grams proposed.

The texts are aligned token for token. What differs decides: words may differ, names and variables may be exchanged
one for one; a figure, an operator or a word such as `least` makes another problem of it, a variant. So do other
options, another drawing, and two answers that differ. Method and score are those of the view in which the pair agrees.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, Protocol

import numpy as np
import polars as pl

from curate.decontaminate.pairs import Match, Pair, matches_of
from curate.text.differences import are_telling, state_the_same, statements
from curate.text.spelling import normalised
from curate.text.views import MASKS
from curate.text.word_kinds import Flag

Fate = Literal["contaminated", "variant"]
MAX_WORDS_LOST: Final = 0.04  # of an item's tokens, as content words, where the answers prove nothing
MIN_OPTION_TOKENS: Final = 2  # of an option and its letter, in a text with the options in it
MIN_OPTIONS: Final = 0.5  # of an item's options in such a text; the others may be spelt otherwise
MIN_ALIKE: Final = 0.5  # of an item's tokens in a row whose solution is the item's
_SENTENCE: Final = re.compile(r"(?<=[.?!:;。？！：；])\s+|(?<=[。？！；])|\n+")
_WHOLE: Final = 0.999  # coverage that is complete but for rounding


@dataclass(frozen=True)
class Thresholds:
    """Least coverage, as a share of an item's n-gram weight, for each method, and least Jaccard similarity."""

    coverage: float
    renamed: float
    variant: float
    jaccard: float


class Scores(Protocol):
    """The share of an item's n-gram weight in the row, in each view, and the similarity of the two as a whole.

    Whoever gives them may work them out when asked: most verdicts need one or two.
    """

    @property
    def coverage(self) -> float:
        """Of the plain n-grams."""

    @property
    def renamed(self) -> float:
        """With names and variables masked."""

    @property
    def renumbered(self) -> float:
        """With figures masked."""

    @property
    def jaccard(self) -> float:
        """Of the plain word triples."""


def judge(pair: Pair, scores: Scores, least: Thresholds) -> tuple[Fate, str, float] | None:
    """What the row is to the item: (fate, method, score), or None where they have too little in common."""
    is_one_task = is_same_task(pair)
    if is_one_task and holds_numbers(pair):
        same = _as_same(pair, scores, least)
        if same is not None and not _goes_on(pair):
            return same
    found = _as_variant(scores, least)
    if found is not None and is_one_task and _states_the_item(pair):
        return "contaminated", *found[1:]
    return found


def _states_the_item(pair: Pair) -> bool:
    """Whether a prompt has the item's answer and differs from it in what does not change the answer."""
    if not (pair.items.is_prompt and pair.rows.is_prompt) or pair.answers() != "same":
        return False
    item, row = statements([pair.items.prompts[pair.item], pair.rows.prompts[pair.row]])
    (telling,) = are_telling(pl.Series([pair.items.answer(pair.item)], dtype=pl.String))
    return state_the_same(item, row, telling=telling, within=True)


def _goes_on(pair: Pair) -> bool:
    """Whether the row goes on with the formula with which the item ends: 25!! is not 25!, and y = x^2 - 4 not y = x^2.

    Where the answers agree it does not matter.
    """
    matches = pair.matches
    if not matches or not pair.rows.is_prompt:
        return False
    end, (ours, theirs) = matches[-1][1] + matches[-1][2], pair.flags()
    is_formula = Flag.FIGURE | Flag.OPERATOR | Flag.VARIABLE
    if end == len(theirs):
        return False
    goes_on = bool(theirs[end] & Flag.OPERATOR or (ours[-1] & is_formula and theirs[end] & is_formula))
    return goes_on and end not in _sentence_ends(pair.rows.prompts[pair.row]) and pair.answers() != "same"


def _sentence_ends(text: str) -> set[int]:
    """Behind which plain tokens a sentence or line of a text ends, by number."""
    parts = [part for part in _SENTENCE.split(text) if part.strip()]
    return set(np.cumsum([len(statement.tokens) for statement in statements(parts)]).tolist())


def _as_same(pair: Pair, scores: Scores, least: Thresholds) -> tuple[Fate, str, float] | None:
    reached, is_renamed = _likeness(scores, least), scores.renamed >= least.renamed
    if scores.coverage >= _WHOLE:
        return "contaminated", "coverage", scores.coverage
    # answers last: where no threshold is reached they need no comparison
    if not (reached or is_renamed) or pair.answers() == "different":
        return None
    if reached and _differs_in_words_only(pair, pair.matches):
        return "contaminated", *reached
    if is_renamed:
        matches = matches_of(*pair.renamed())
        if _differs_in_words_only(pair, matches) and _is_renaming(pair, matches):
            return "contaminated", "renamed_coverage", scores.renamed
    return None


def _likeness(scores: Scores, least: Thresholds) -> tuple[str, float] | None:
    if scores.coverage >= least.coverage:
        return "coverage", scores.coverage
    return ("jaccard", scores.jaccard) if scores.jaccard >= least.jaccard else None


def _as_variant(scores: Scores, least: Thresholds) -> tuple[Fate, str, float] | None:
    methods: tuple[tuple[str, Callable[[], float], float], ...] = (
        ("renumbered_coverage", lambda: scores.renumbered, least.variant),
        ("coverage", lambda: scores.coverage, least.variant),
        ("renamed_coverage", lambda: scores.renamed, least.variant),
        ("jaccard", lambda: scores.jaccard, least.jaccard),
    )
    return next((("variant", method, score()) for method, score, floor in methods if score() >= floor), None)


def holds_solution(pair: Pair, coverage: float) -> bool:
    """Whether a row's text holds a benchmark's solution, given how much of it; `pair` is of solutions."""
    if coverage >= _WHOLE:
        return True
    is_like = holds_numbers(pair) and pair.answers() != "different"
    return is_like and _differs_in_words_only(pair, pair.matches)


def asks_otherwise(pair: Pair) -> bool:
    """Whether two prompts that are alike ask for different things, although their reference solutions are the same.

    Each has a figure that the other lacks, or their answers differ: solutions are copied from one problem of a kind to
    the next.
    """
    ours, theirs = _figures(pair)
    if not (ours - theirs and theirs - ours) and pair.answers() != "different":
        return False
    return sum(size for _, _, size in pair.matches) >= MIN_ALIKE * len(pair.plain()[0])


def is_same_task(pair: Pair) -> bool:
    """Whether drawings are the same where both problems have them, and options where the question is about them."""
    drawings = {texts.figures[place] for texts, place in ((pair.items, pair.item), (pair.rows, pair.row))} - {0}
    return len(drawings) < 2 and _have_same_options(pair)


def _have_same_options(pair: Pair) -> bool:
    """Whether the options are the same, or the question is not about them; a row may have them in its text."""
    ours, theirs = pair.items.options(pair.item), pair.rows.options(pair.row)
    if not ours or not pair.items.asks_about_options(pair.item):
        return True
    if theirs:
        return _as_set(ours) == _as_set(theirs)
    more = len(pair.plain()[1]) - len(pair.plain()[0])
    if not pair.rows.is_prompt or more < MIN_OPTION_TOKENS * len(ours):
        return True
    text = f" {normalised(pair.rows.prompts[pair.row : pair.row + 1])[0]} "
    return sum(f" {option} " in text for option in _as_set(ours)) >= MIN_OPTIONS * len(ours)


def _as_set(choices: list[str]) -> frozenset[str]:
    return frozenset(normalised(pl.Series(choices, dtype=pl.String)))


def holds_numbers(pair: Pair) -> bool:
    """Whether every figure of the item occurs in the row, as often."""
    ours, theirs = _figures(pair)
    return ours <= theirs


def _figures(pair: Pair) -> tuple[Counter[int], Counter[int]]:
    """The figures of item and row, with how often each occurs."""
    ours, theirs = pair.flags()
    item, row = pair.plain()
    return Counter(item[(ours & Flag.FIGURE) > 0].tolist()), Counter(row[(theirs & Flag.FIGURE) > 0].tolist())


def _differs_in_words_only(pair: Pair, matches: list[Match]) -> bool:
    """Whether no figure, operator or decisive word is missing from the row or put between what matches.

    Where no answer proves that the two are one problem, few other words may be missing either.
    """
    if not matches:
        return False
    ours, theirs = pair.flags()
    missing, added = np.ones(len(ours), bool), np.zeros(len(theirs), bool)
    added[matches[0][1] : matches[-1][1] + matches[-1][2]] = True
    for place, other, size in matches:
        missing[place : place + size] = False
        added[other : other + size] = False
    is_proven = pair.answers() == "same"
    telling = Flag.FIGURE | Flag.OPERATOR | (Flag(0) if is_proven else Flag.TURN)
    lost = (ours & telling) > 0
    # a number word more, as in `the other four faces`, adds nothing
    gained = ((theirs & telling) > 0) & ((theirs & Flag.NUMBER_WORD) == 0)
    num_words_lost = (missing & ((ours & Flag.FUNCTION) == 0)).sum()
    is_enough = is_proven or num_words_lost <= MAX_WORDS_LOST * len(ours)
    return bool(is_enough and not (missing & lost).any() and not (added & gained).any())


def _is_renaming(pair: Pair, matches: list[Match]) -> bool:
    """Whether names and variables are exchanged consistently: nine in ten of them always for the same other one."""
    (masked, _), (plain, other) = pair.renamed(), pair.plain()
    exchanged = Counter(
        (int(plain[place + offset]), int(other[start + offset]))
        for place, start, size in matches
        for offset in range(size)
        if masked[place + offset] in MASKS
    )
    usual = {old: new for (old, new), _ in reversed(exchanged.most_common())}
    num_usual = sum(count for (old, new), count in exchanged.items() if usual[old] == new)
    return num_usual >= 0.9 * exchanged.total()
