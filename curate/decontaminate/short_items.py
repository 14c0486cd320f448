"""Items of a benchmark that are too short for coverage: found only as a whole, on lines of their own.

"Compute $17^2 - 3$." is a problem of a benchmark and a phrase that a longer problem may use. It counts where whole
lines or sentences of a text are the item, and the rest of the text does not speak of its variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from curate.text.ngrams import grams_at, rolled
from curate.text.sieve import Sieve
from curate.text.spelling import normalised
from curate.text.views import Counts, Flags, Hashes, Views
from curate.text.word_kinds import Flag

MIN_TOKENS: Final = 4
_VARIABLE: Final = r"\b[b-z]\b"
_BREAK: Final = re.compile(r"\n+|(?<=[.?!:。？！：])\s*")


@dataclass(frozen=True)
class ShortItems:
    """The short items by number, and by length in tokens their sorted hashes and numbers.

    texts: their normalised texts. num_parts: how many lines or sentences each has.
    sieve: lets through the short hashes of their first `MIN_TOKENS` tokens, and few others.
    """

    texts: dict[int, str]
    num_parts: dict[int, int]
    by_length: dict[int, tuple[Hashes, Counts]]
    sieve: Sieve


def short_items(prompts: pl.Series, texts: Views, is_short: Flags) -> ShortItems:
    """Index the short ones among a benchmark's items, only those with a figure: `Find it.` identifies no item."""
    lengths = texts.exact.lengths()
    has_figure = np.array([(texts.flags_of(text) & Flag.FIGURE).any() for text in range(len(lengths))], bool)
    is_taken = is_short & has_figure & (lengths >= MIN_TOKENS)
    begins = texts.exact.starts[:-1][is_taken]
    by_length: dict[int, tuple[Hashes, Counts]] = {}
    for size in np.unique(lengths[is_taken]).tolist():
        items = np.flatnonzero(is_taken & (lengths == size))
        hashes = grams_at(texts.exact, texts.exact.starts[items], size)
        order = np.argsort(hashes, kind="stable")
        by_length[size] = hashes[order], items[order]
    numbers = np.flatnonzero(is_taken).tolist()
    known = dict(zip(numbers, _normalised(prompts.gather(numbers)), strict=True))
    parts = {item: len(_parts(prompts[item])) for item in numbers}
    return ShortItems(known, parts, by_length, Sieve.of(rolled(texts.exact, MIN_TOKENS)[begins]))


def found_whole(short: ShortItems, prompts: pl.Series, of_prompts: Views) -> Iterator[tuple[int, int]]:
    """The pairs (text, item) in which a short item is a paragraph of its own in a longer text."""
    cuts = [
        _Cut(text, item, *cut)
        for text, item in _hits(short, of_prompts)
        for cut in _cuts(_parts(prompts[text]), short.num_parts[item])
    ]
    # all in one call: the cost of a few texts is nearly that of one
    spans = _normalised(cut.span() for cut in cuts)
    equal = [cut for cut, span in zip(cuts, spans, strict=True) if span == short.texts[cut.item]]
    variables = {cut.item: set(re.findall(_VARIABLE, short.texts[cut.item])) for cut in equal}
    yield from ((cut.text, cut.item) for cut in equal if not variables[cut.item])
    equal = [cut for cut in equal if variables[cut.item]]
    for cut, rest in zip(equal, _normalised(cut.rest() for cut in equal), strict=True):
        if variables[cut.item].isdisjoint(re.findall(_VARIABLE, rest)):
            yield cut.text, cut.item


def _hits(short: ShortItems, of_prompts: Views) -> Iterator[tuple[int, int]]:
    """The pairs (text, item) in which all tokens of a short item are consecutive."""
    view = of_prompts.exact
    starts = short.sieve.passed(rolled(view, MIN_TOKENS)) if short.texts else np.zeros(0, np.int64)
    for size, (hashes, items) in short.by_length.items():
        fitting, texts = view.inside(starts, size)
        grams = grams_at(view, fitting, size)
        at = np.minimum(np.searchsorted(hashes, grams), len(hashes) - 1)
        found = np.flatnonzero(hashes[at] == grams)
        yield from dict.fromkeys(zip(texts[found].tolist(), items[at[found]].tolist(), strict=True))


class _Cut(NamedTuple):
    """Some consecutive lines or sentences of a text, as many as an item has, and the others."""

    text: int
    item: int
    parts: list[str]
    start: int
    end: int

    def span(self) -> str:
        return " ".join(self.parts[self.start : self.end])

    def rest(self) -> str:
        return " ".join(self.parts[: self.start] + self.parts[self.end :])


def _cuts(parts: list[str], size: int) -> Iterator[tuple[list[str], int, int]]:
    for start in range(max(len(parts) - size + 1, 0)):
        yield parts, start, start + size


def _parts(text: str) -> list[str]:
    """The lines and sentences of a text."""
    return [part for part in _BREAK.split(text) if part.strip()]


def _normalised(texts: Iterable[str]) -> list[str]:
    column = pl.Series(list(texts), dtype=pl.String)
    return normalised(column).to_list() if len(column) else []
