"""Items of a benchmark that are too short for coverage: found only where they stand whole, on lines of their own.

"Compute $17^2 - 3$." is a problem of a benchmark and a phrase that a longer problem may use. It counts where whole
lines or sentences of a text are the item, and the rest of the text does not speak of its variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from curate.sieve import Sieve
from curate.text import normalised
from curate.token_views import Counts, Flag, Flags, Hashes, Views, every_gram, grams_at

MIN_TOKENS: Final = 4
_BREAK = re.compile(r"\n+|(?<=[.?!:。？！：])\s*")


@dataclass(frozen=True)
class ShortItems:
    """The short items' texts by number, and by length in tokens their sorted hashes and numbers.

    openings: the sorted hashes of their first `MIN_TOKENS` tokens: where none of them stands, no short item does.
    sieve: what turns away nearly every other opening.
    """

    prompts: dict[int, str]
    by_length: dict[int, tuple[Hashes, Counts]]
    openings: Hashes
    sieve: Sieve


def short_items(prompts: pl.Series, texts: Views, is_short: Flags) -> ShortItems:
    """Index the short ones among a benchmark's items, only those with a figure: `Find it.` is nobody's."""
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
    openings = np.sort(grams_at(texts.exact, begins, MIN_TOKENS))
    known = {item: prompts[item] for item in np.flatnonzero(is_taken).tolist()}
    return ShortItems(known, by_length, openings, Sieve.of(openings))


def found_whole(short: ShortItems, prompts: pl.Series, of_prompts: Views) -> Iterator[tuple[int, int]]:
    """The pairs (text, item) in which a short item stands alone in a longer text."""
    if not len(short.openings):
        return
    view = of_prompts.exact
    openings = every_gram(view, MIN_TOKENS)
    starts = short.sieve.passed(openings)
    starts = starts[np.isin(openings[starts], short.openings)]
    for size, (hashes, items) in short.by_length.items():
        fitting, texts = view.inside(starts, size)
        grams = grams_at(view, fitting, size)
        at = np.minimum(np.searchsorted(hashes, grams), len(hashes) - 1)
        for hit in np.flatnonzero(hashes[at] == grams).tolist():
            item, text = int(items[at[hit]]), int(texts[hit])
            if _stands_alone(short.prompts[item], prompts[text]):
                yield text, item


def _stands_alone(item: str, text: str) -> bool:
    """Whether consecutive lines or sentences of a text are the item, and the rest does not speak of its variables."""
    parts = [part for part in _BREAK.split(text) if part.strip()]
    num_parts = len([part for part in _BREAK.split(item) if part.strip()])
    starts = range(max(len(parts) - num_parts + 1, 0))
    spans = [" ".join(parts[start : start + num_parts]) for start in starts]
    rests = [" ".join(parts[:start] + parts[start + num_parts :]) for start in starts]
    wanted, *others = normalised(pl.Series([item, *spans, *rests], dtype=pl.String)).to_list()
    variables = set(re.findall(r"\b[b-z]\b", wanted))
    return any(
        span == wanted and variables.isdisjoint(re.findall(r"\b[b-z]\b", rest))
        for span, rest in zip(others[: len(spans)], others[len(spans) :], strict=True)
    )
