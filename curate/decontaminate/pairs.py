"""Texts to compare and pairs of them: an item of a benchmark and a row of the pool, with the rest of both problems.

A `Texts` holds the views of a column with drawings, answers and options; a `Pair` names one of each of two by number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from curate.text.surroundings import bare
from curate.text.views import Hashes, Views, sequence_hash, views
from curate.verify.conflicts import Relation, compare_answers

Match = tuple[int, int, int]  # place in the item, place in the row, number of equal tokens
_DRAWING: Final = r"(?s)\[asy\].*?(?:\[/asy\]|\z)"
_ABOUT_OPTIONS: Final = re.compile(r"which|following|下列|以下|选项|哪", re.IGNORECASE)


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

    @cached_property
    def matches(self) -> list[Match]:
        """Runs of equal plain tokens, in order."""
        return matches_of(*self.plain())

    def answers(self) -> Relation:
        """What the answers of item and row are to each other; undecided where one is not known."""
        return relation_of(self.items.answer(self.item), self.rows.answer(self.row))


@lru_cache(maxsize=20_000)  # sums and integrals are compared by a worker process, half a second each
def relation_of(one: str | None, other: str | None) -> Relation:
    """What `verify` finds of two answers; undecided where one is not known."""
    return compare_answers([(one, other)])[0] if one and other else "undecided"


def matches_of(item: Hashes, row: Hashes) -> list[Match]:
    """Runs of equal tokens, in order."""
    matcher = SequenceMatcher(None, item.tolist(), row.tolist(), autojunk=False)
    return [(block.a, block.b, block.size) for block in matcher.get_matching_blocks() if block.size]


def _content(ground_truth: str | None, choices: list[str] | None) -> str | None:
    """The answer itself where the ground truth is the letter of an option; None for a letter without its option."""
    letter = re.fullmatch(r"\W*([A-J])\W*", ground_truth or "")
    if letter is None:
        return ground_truth
    place = ord(letter[1]) - ord("A")
    return choices[place] if choices and place < len(choices) else None
