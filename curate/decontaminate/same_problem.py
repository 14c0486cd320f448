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
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final, Literal, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from curate.text.differences import are_telling, state_the_same, statements
from curate.text.spelling import normalised
from curate.text.surroundings import bare
from curate.text.views import MASKS, Hashes, Views, sequence_hash, views
from curate.text.word_kinds import Flag
from curate.verify.conflicts import Relation, compare_answers

Fate = Literal["contaminated", "variant"]
Match = tuple[int, int, int]  # place in the item, place in the row, number of equal tokens
_DRAWING: Final = r"(?s)\[asy\].*?(?:\[/asy\]|\z)"
_ABOUT_OPTIONS: Final = re.compile(r"which|following|下列|以下|选项|哪", re.IGNORECASE)
MAX_WORDS_LOST: Final = 0.04  # of an item's tokens, as content words, where the answers prove nothing
_SENTENCE: Final = re.compile(r"(?<=[.?!:;。？！：；])\s+|(?<=[。？！；])|\n+")
_WHOLE: Final = 0.999  # coverage that is complete but for rounding


@dataclass(frozen=True)
class Texts:
    """Texts to compare, with the other fields that separate two problems.

    views: the texts without their drawings; `exact` holds them as they are, drawings and all.
    figures: a hash of each text's drawings ([asy] code) but for the names in them, 0 where it has none.
    is_prompt: whether they are prompts, which are `bare`, or solutions and ground truths.
    prompts, ground_truths, choices: what `answer` and `asks_about_options` look at, of the few texts that are judged.
    """

    views: Views
    exact: Hashes
    figures: Hashes
    is_prompt: bool
    prompts: pl.Series
    ground_truths: pl.Series
    choices: pl.Series

    def answer(self, place: int) -> str | None:
        """A text's ground truth; the option's content where it names one."""
        return _content(self.ground_truths[place], self.options(place))

    def options(self, place: int) -> list[str] | None:
        """A text's options."""
        options = self.choices[place]
        return None if options is None else options.to_list()

    def asks_about_options(self, place: int) -> bool:
        """Whether a question is incomplete without its options ("which of the following")."""
        return _ABOUT_OPTIONS.search(self.prompts[place]) is not None


def texts_of(problems: pl.DataFrame, column: str = "prompt") -> Texts:
    """The texts of a column, with answers and options of their problems."""
    whole = problems[column].fill_null("")
    if column == "prompt":
        whole = bare(whole)
    drawn = whole.str.contains("[asy]", literal=True).arg_true()
    texts, drawings = whole, whole.gather(drawn)
    if len(drawn):
        texts = whole.clone().scatter(drawn, drawings.str.replace_all(_DRAWING, " "))
        drawings = drawings.str.extract_all(_DRAWING).list.join(" ")
    both = views(pl.concat([texts, drawings]))
    without, drawn_views = both.part(0, len(whole)), both.part(len(whole), len(whole) + len(drawn))
    exact, figures = sequence_hash(without.exact), np.zeros(len(whole), np.uint64)
    exact[drawn.to_numpy()] ^= sequence_hash(drawn_views.exact)
    figures[drawn.to_numpy()] = sequence_hash(drawn_views.renamed)
    return Texts(
        views=without,
        exact=exact,
        figures=figures,
        is_prompt=column == "prompt",
        prompts=whole,
        ground_truths=problems["ground_truth"],
        choices=problems["choices"],
    )


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


@dataclass(frozen=True)
class Pair:
    """An item of a benchmark and a row of the pool, by their numbers in two `Texts`."""

    items: Texts
    item: int
    rows: Texts
    row: int

    def plain(self) -> tuple[Hashes, Hashes]:
        """The plain tokens of item and row."""
        return self.items.views.plain.of(self.item), self.rows.views.plain.of(self.row)

    def renamed(self) -> tuple[Hashes, Hashes]:
        """The same with names and variables masked."""
        return self.items.views.renamed.of(self.item), self.rows.views.renamed.of(self.row)

    def flags(self) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint16]]:
        """What the plain tokens of item and row are."""
        return self.items.views.flags_of(self.item), self.rows.views.flags_of(self.row)

    def answers(self) -> Relation:
        """What the answers of item and row are to each other; undecided where one is not known."""
        return relation_of(self.items.answer(self.item), self.rows.answer(self.row))


@lru_cache(maxsize=20_000)  # sums and integrals are compared by a worker process, half a second each
def relation_of(one: str | None, other: str | None) -> Relation:
    """What `verify` finds of two answers; undecided where one is not known."""
    return compare_answers([(one, other)])[0] if one and other else "undecided"


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
    matches = _matches(*pair.plain())
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
    if reached and _differs_in_words_only(pair, _matches(*pair.plain())):
        return "contaminated", *reached
    if is_renamed:
        matches = _matches(*pair.renamed())
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
    return is_like and _differs_in_words_only(pair, _matches(*pair.plain()))


def is_same_task(pair: Pair) -> bool:
    """Whether drawings are the same where both problems have them, and options where the question is about them."""
    drawings = {texts.figures[place] for texts, place in ((pair.items, pair.item), (pair.rows, pair.row))} - {0}
    ours, theirs = pair.items.options(pair.item), pair.rows.options(pair.row)
    is_about_options = pair.items.asks_about_options(pair.item)
    return len(drawings) < 2 and (not is_about_options or not ours or not theirs or _as_set(ours) == _as_set(theirs))


def _content(ground_truth: str | None, choices: list[str] | None) -> str | None:
    """The answer itself where the ground truth is the letter of an option; None for a letter without its option."""
    letter = re.fullmatch(r"\W*([A-J])\W*", ground_truth or "")
    if letter is None:
        return ground_truth
    place = ord(letter[1]) - ord("A")
    return choices[place] if choices and place < len(choices) else None


def _as_set(choices: list[str]) -> frozenset[str]:
    return frozenset(normalised(pl.Series(choices, dtype=pl.String)))


def holds_numbers(pair: Pair) -> bool:
    """Whether every figure of the item occurs in the row, as often."""
    ours, theirs = pair.flags()
    item, row = pair.plain()
    return Counter(item[(ours & Flag.FIGURE) > 0].tolist()) <= Counter(row[(theirs & Flag.FIGURE) > 0].tolist())


def _matches(item: Hashes, row: Hashes) -> list[Match]:
    """Runs of equal tokens, in order."""
    matcher = SequenceMatcher(None, item.tolist(), row.tolist(), autojunk=False)
    return [(block.a, block.b, block.size) for block in matcher.get_matching_blocks() if block.size]


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
