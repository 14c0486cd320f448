"""The index of the benchmarks' prompts in every view: the passes that propose pairs, and what a pair scores in each."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Final, Literal, NamedTuple

import numpy as np

from curate.decontaminate.bands import BandIndex, alike, band_index, shingles_of, similarity
from curate.decontaminate.gram_index import GramIndex, candidates, coverage, gram_index
from curate.decontaminate.same_problem import Thresholds
from curate.text.minhash import U32
from curate.text.ngrams import every_gram
from curate.text.views import Counts, Flags, Hashes, View, Views

GRAM: Final = 5
VARIANT_GRAM: Final = 8


class PromptIndex(NamedTuple):
    """The items' prompts: their n-grams in each view, and their bands."""

    plain: GramIndex
    renamed: GramIndex
    renumbered: GramIndex
    bands: BandIndex
    min_jaccard: float

    def passes(self, texts: Views) -> dict[str, Callable[[], tuple[Counts, Counts]]]:
        """The passes over a batch's texts by name; each gives the pairs (text, item) that it proposes."""
        return {
            "coverage": lambda: candidates(self.plain, texts.plain),
            "renamed": lambda: candidates(self.renamed, texts.renamed),
            "renumbered": lambda: candidates(self.renumbered, texts.renumbered),
            "minhash": lambda: alike(self.bands, texts.plain, self.min_jaccard),
        }


def prompt_index(prompts: Views, least: Thresholds, is_sought: Flags) -> PromptIndex:
    """Index some prompts; n-grams propose only the sought ones."""
    return PromptIndex(
        gram_index(prompts.plain, GRAM, least.coverage, is_sought),
        gram_index(prompts.renamed, GRAM, least.renamed, is_sought),
        gram_index(prompts.renumbered, VARIANT_GRAM, least.variant, is_sought),
        band_index(prompts.plain, least.jaccard),
        least.jaccard,
    )


class PairScores:
    """What a text and an item have in common, each score worked out when it is first asked for."""

    def __init__(self, index: PromptIndex, held: HeldGrams, text: int, item: int) -> None:
        self._index, self._held, self._text, self._item = index, held, text, item

    @cached_property
    def coverage(self) -> float:
        """See `curate.decontaminate.same_problem.Scores`."""
        return coverage(self._index.plain, self._item, self._held.grams("plain", self._text, GRAM))

    @cached_property
    def renamed(self) -> float:
        """See `curate.decontaminate.same_problem.Scores`."""
        return coverage(self._index.renamed, self._item, self._held.grams("renamed", self._text, GRAM))

    @cached_property
    def renumbered(self) -> float:
        """See `curate.decontaminate.same_problem.Scores`."""
        return coverage(self._index.renumbered, self._item, self._held.grams("renumbered", self._text, VARIANT_GRAM))

    @cached_property
    def jaccard(self) -> float:
        """See `curate.decontaminate.same_problem.Scores`."""
        return similarity(self._index.bands, self._item, self._held.shingles(self._text))


class HeldGrams:
    """The sorted n-grams of single texts, made when first asked for."""

    def __init__(self, texts: Views) -> None:
        self._texts = texts
        self._made: dict[tuple[str, int], Hashes] = {}

    def grams(self, view: Literal["plain", "renamed", "renumbered"], text: int, size: int) -> Hashes:
        """The n-grams of a text in a view; the size is always the same for a view."""
        if (view, text) not in self._made:
            whole: View = getattr(self._texts, view)
            self._made[view, text] = np.sort(every_gram(whole.part(text, text + 1), size))
        return self._made[view, text]

    def shingles(self, text: int) -> U32:
        """The sorted distinct shingles of a text, as the bands see them."""
        return shingles_of(self._texts.plain.of(text))
