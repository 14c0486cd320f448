"""Generator of pools with planted copies and variants, by whole columns so that millions of rows take little time."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
import polars as pl

from curate.records import PROBLEM, schema

VOCABULARY: Final = 20_000
NUM_WORDS: Final = 50
NUMBER_AT: Final = (7, 19, 33)
COPY, VARIANT = "copy", "variant"


def made_pool(num_rows: int, seed: int) -> pl.DataFrame:
    """Problems of about 50 words with a column `made`: copies, variants, and rows alone.

    A fifth are copies of the row before (one word in twenty replaced), a fifth variants of it (another number).
    """
    dice = np.random.default_rng(seed)
    shares = 1 / np.arange(2, VOCABULARY + 2)
    texts = dice.choice(VOCABULARY, (num_rows, NUM_WORDS), p=shares / shares.sum())
    texts[:, NUMBER_AT] = VOCABULARY + dice.integers(2, 999, (num_rows, len(NUMBER_AT)))
    fate = dice.random(num_rows)
    copies, variants = texts[fate < 1 / 3], texts[fate > 2 / 3]
    is_changed = (dice.random(copies.shape) < 0.05) & (copies < VOCABULARY)
    copies[is_changed] = dice.integers(0, VOCABULARY, int(is_changed.sum()))
    variants[:, NUMBER_AT[1]] += dice.integers(1, 9, len(variants))
    order = np.argsort(
        np.concatenate([np.arange(num_rows), np.flatnonzero(fate < 1 / 3), np.flatnonzero(fate > 2 / 3)]), kind="stable"
    )
    made = np.repeat([None, COPY, VARIANT], [num_rows, len(copies), len(variants)])[order[:num_rows]]
    return _problems(_sentences(np.concatenate([texts, copies, variants])[order[:num_rows]]), made.tolist())


@cache
def _words() -> pl.Series:
    dice = np.random.default_rng(0)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "el", "or")]
    words = sorted({"".join(dice.choice(syllables, 3)) for _ in range(2 * VOCABULARY)})[:VOCABULARY]
    return pl.Series([*words, *map(str, range(1_010))])


def _sentences(texts: np.ndarray) -> pl.Series:
    """Word numbers as sentences: a comma in the middle, a question mark at the end."""
    halves = [
        _words().gather(part.ravel()).reshape((len(part), part.shape[1])).arr.join(" ")
        for part in np.split(texts, 2, axis=1)
    ]
    return pl.select(pl.format("{}, {}?", *halves)).to_series()


def _problems(prompts: pl.Series, made: list[str | None]) -> pl.DataFrame:
    rows = pl.DataFrame({"prompt": prompts, "made": pl.Series(made, dtype=pl.String)}).with_row_index("source_row")
    rows = rows.with_columns(key=pl.format("{}", "source_row"), kind=pl.lit("math"), source=pl.lit("made"))
    empty = [pl.lit(None, column.dtype).alias(name) for name, column in PROBLEM.items() if name not in rows.columns]
    return rows.with_columns(empty).with_columns(pl.col("source_row").cast(pl.Int64)).select(*schema(PROBLEM), "made")
