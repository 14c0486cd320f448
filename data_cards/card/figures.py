"""Plots of a dataset's rows and samples, shared by its card and its report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from curate.artifacts.manifest import Manifest
from curate.difficulty import plot as pass_rates
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
    rated = _rated(kept), _rated(dropped)
    if any(frame.height for frame in rated):
        model = model_name(stages) or "the model that graded them"
        figure = pass_rates.figure(*rated, _num_samples(stages), model)
        drawn.append(Picture("difficulty.png", "Problems by pass rate", figure))
    if (stage := _sampling_stage(stages, samples)) is not None:
        of_stage = samples.filter(pl.col("stage") == stage).select("num_tokens", "verdict").collect()
        alt = f"Tokens of the completions of {stage}, by verdict"
        drawn.append(Picture("lengths.png", alt, plots.lengths(of_stage, stage)))
    return drawn


def _rated(rows: pl.LazyFrame) -> pl.DataFrame:
    known = {name: ADDED[name] for name in pass_rates.COLUMNS}
    named = set(rows.collect_schema())
    if not set(known) <= named:
        return pl.DataFrame(schema=schema(known) | {"drop_reason": pl.String})
    reason = pl.col("drop_reason") if "drop_reason" in named else pl.lit(None, pl.String).alias("drop_reason")
    return rows.select(*known, reason).drop_nulls(list(known)).collect()


def _num_samples(stages: Sequence[Manifest]) -> int | None:
    """The samples of a problem that did not stop early; None where the stage had no such number."""
    measured = find_stage(stages, "difficulty")
    return None if measured is None or measured.config.get("target_error") else measured.config.get("k")


def _sampling_stage(stages: Sequence[Manifest], samples: pl.LazyFrame) -> str | None:
    """The difficulty stage if it sampled, else the last stage that did: answers without thinking are always short."""
    named = set(samples.select(pl.col("stage").unique()).collect()["stage"])
    sampled = [stage.stage for stage in stages if stage.stage in named]
    measured = find_stage(stages, "difficulty")
    return measured.stage if measured and measured.stage in sampled else next(reversed(sampled), None)
