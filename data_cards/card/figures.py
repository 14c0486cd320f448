"""Plots of a dataset's rows and samples, shared by its card and its report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from curate.artifacts.manifest import Manifest
from curate.records import ADDED, schema
from data_cards.card import plots
from data_cards.dataset.facts import find_stage, model_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Picture(NamedTuple):
    """A figure, its file name and its alternative text."""

    name: str
    alt: str
    figure: Figure


def pictures(
    stages: Sequence[Manifest], kept: pl.LazyFrame, dropped: pl.LazyFrame, samples: pl.LazyFrame
) -> list[Picture]:
    """Pass rates, if measured; completion lengths of the most informative sampling stage."""
    drawn = []
    rated = {part: _rated(rows) for part, rows in (("kept", kept), ("dropped", dropped))}
    if any(frame.height for frame in rated.values()):
        model = model_name(stages) or "the model that graded them"
        drawn.append(Picture("difficulty.png", "Problems by pass rate", plots.difficulty(**rated, model=model)))
    if (stage := _sampling_stage(stages, samples)) is not None:
        of_stage = samples.filter(pl.col("stage") == stage).select("num_tokens", "verdict").collect()
        alt = f"Tokens of the completions of {stage}, by verdict"
        drawn.append(Picture("lengths.png", alt, plots.lengths(of_stage, stage)))
    return drawn


def _rated(rows: pl.LazyFrame) -> pl.DataFrame:
    columns = {name: ADDED[name] for name in ("pass_rate", "num_samples")}
    if not set(columns) <= set(rows.collect_schema()):
        return pl.DataFrame(schema=schema(columns))
    return rows.select(*columns).drop_nulls().collect()


def _sampling_stage(stages: Sequence[Manifest], samples: pl.LazyFrame) -> str | None:
    """The difficulty stage if it sampled, else the last stage that did: answers without thinking are always short."""
    named = set(samples.select(pl.col("stage").unique()).collect()["stage"])
    sampled = [stage.stage for stage in stages if stage.stage in named]
    measured = find_stage(stages, "difficulty")
    return measured.stage if measured and measured.stage in sampled else next(reversed(sampled), None)
