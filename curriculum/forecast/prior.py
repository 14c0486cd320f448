"""Statistics before the first visit, from the difficulty stage's samples and, if configured, from levels."""

from __future__ import annotations

import json
import re
from typing import Final

import numpy as np
import polars as pl

from curate.errors import UserError
from curriculum.config import CurriculumConfig
from curriculum.forecast.groups import codes, group_labels
from curriculum.pools.retirement import NUM_BETS
from curriculum.statistics.stats import NEVER, Stats
from curriculum.statistics.visits import Floats

_ZEROS: Final = (
    "num_correct",
    "num_wrong",
    "num_undecided",
    "num_visits",
    "num_dry",
    "num_unclear",
    "num_tested",
    "next_check",
    "check_interval",
)


def new_stats(problems: pl.DataFrame, config: CurriculumConfig) -> Stats:
    """Statistics before the first visit, from `num_correct` and `num_samples` where the dataset has them."""
    num = problems.height
    correct, samples = _counts(problems, "num_correct"), _counts(problems, "num_samples")
    if (correct > samples).any():
        row = int(np.argmax(correct > samples))
        raise UserError(f"problem {problems['key'][row]}: num_correct exceeds num_samples; run difficulty again")
    scale = np.minimum(1.0, config.prior_weight / np.maximum(samples, 1.0))
    measured = (correct + 1.0) / (samples + 2.0)
    group, _ = codes(group_labels(problems, config))
    return Stats(
        status=np.zeros(num, np.int8),
        successes=correct * scale,
        failures=(samples - correct) * scale,
        **{name: np.zeros(num, np.int32) for name in _ZEROS},
        last_step=np.full(num, NEVER, np.int32),
        seen_at=np.zeros(num),
        scale_at=np.zeros(num),
        shift_at=np.zeros(num),
        group=group.astype(np.int32),
        tokens_correct=_lengths(problems, "mean_tokens_correct"),
        tokens_wrong=_lengths(problems, "mean_tokens_wrong"),
        difficulty=1.0 - measured if config.level is None else _levels(problems, config.level),
        evidence=np.zeros((num, NUM_BETS)),
    )


def _counts(problems: pl.DataFrame, name: str) -> Floats:
    if not {"num_correct", "num_samples"} <= set(problems.columns):
        return np.zeros(problems.height)
    # one count without the other is no measurement
    both = pl.col("num_correct").is_not_null() & pl.col("num_samples").is_not_null()
    return problems.select(pl.when(both).then(pl.col(name)).otherwise(0).cast(pl.Float64)).to_series().to_numpy().copy()


def _lengths(problems: pl.DataFrame, name: str) -> Floats:
    if name not in problems.columns:
        return np.full(problems.height, np.nan)
    return problems[name].cast(pl.Float64).fill_null(np.nan).to_numpy().copy()


def _levels(problems: pl.DataFrame, name: str) -> Floats:
    """Levels as numbers: `3`, `"Level 3"`; a problem without one gets the median."""
    if name in problems.columns:
        values = problems[name].to_list()
    elif "extra" in problems.columns:
        values = [json.loads(text or "{}").get(name) for text in problems["extra"].to_list()]
    else:
        values = []
    levels = np.array([_level(value) for value in values])
    if not len(levels) or np.isnan(levels).all():
        raise UserError(f"curriculum.level: no problem has a level {name!r}, as a column or in extra; leave it out")
    return np.where(np.isnan(levels), np.nanmedian(levels), levels)


def _level(value: object) -> float:
    found = re.search(r"-?\d+(\.\d+)?", str(value)) if value is not None else None
    return float(found.group()) if found else np.nan
