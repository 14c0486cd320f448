"""`gradus curriculum rules`: the behaviour of each retirement rule on problems of known success rate.

At rates up to p0 a retirement is false, and alpha bounds its share; above p0, fewer visits to retirement are better.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import Final, get_args

import numpy as np
import polars as pl
from pydantic import Field

from curate.config import Config
from curriculum.config import CurriculumConfig
from curriculum.forecast.prior import new_stats
from curriculum.pools.retirement import is_mastered
from curriculum.statistics.stats import update
from curriculum.statistics.visits import Batch, Floats, Ints

RULES: Final = tuple(rule for rule in get_args(CurriculumConfig.model_fields["rule"].annotation) if rule != "none")


class RulesConfig(Config):
    """Compare the retirement rules by simulation: false retirements below p0, visits needed above it.

    Example: gradus curriculum rules --p0 0.8 --alpha 0.05 --group-size 8
    """

    p0: float = Field(0.8, gt=0, lt=1, description="Success rate above which a problem is mastered.")
    alpha: float = Field(0.05, gt=0, lt=1, description="Bound on the probability of ever retiring a problem below p0.")
    threshold: float = Field(
        1.0, gt=0, le=1, description="Rule threshold: success rate of one group that retires a problem."
    )
    half_life_visits: float = Field(
        1e9, gt=0, description="Rule posterior: visits after which an outcome's weight halves."
    )
    group_size: int = Field(8, ge=1, description="Completions per visit.")
    num_visits: int = Field(200, ge=1, description="Maximum number of visits per problem.")
    num_problems: int = Field(20_000, ge=1, description="Simulated problems per rate.")
    seed: int = Field(0, ge=0, description="Seed of the simulated outcomes.")


@dataclass(frozen=True)
class Trial:
    """One rule at one success rate: share retired, and median visit of retirement, None if at most half were."""

    rule: str
    retired_rate: float
    median_visits: float | None


def try_rule(rule: str, rates: Iterable[Floats | float], config: RulesConfig) -> Trial:
    """Visit problems until retirement or `num_visits`; `rates` yields their success rates at each visit."""
    settings = {name: getattr(config, name) for name in ("p0", "alpha", "threshold", "half_life_visits")}
    curriculum = CurriculumConfig.model_validate({"rule": rule, **settings})
    stats = new_stats(pl.DataFrame({"key": range(config.num_problems)}), curriculum)
    retired_at = np.zeros(config.num_problems, np.int64)
    rng = np.random.default_rng(config.seed)
    for visit, now in zip(range(1, config.num_visits + 1), rates, strict=False):
        rows = np.flatnonzero(retired_at == 0)
        correct = rng.binomial(config.group_size, np.broadcast_to(now, config.num_problems)[rows])
        batch = _batch(rows, correct, config.group_size)
        update(stats, batch, visit, curriculum)
        retired_at[rows[is_mastered(stats, batch, curriculum)]] = visit
    visits = np.where(retired_at > 0, retired_at, np.iinfo(np.int64).max)
    is_half = (retired_at > 0).mean() > 0.5
    return Trial(rule, float((retired_at > 0).mean()), float(np.median(visits)) if is_half else None)


def compare(config: RulesConfig) -> str:
    """A table of all rules at rates around p0."""
    p0 = config.p0
    rates = sorted({round(p, 4) for p in (p0 - 0.1 * p0, p0, *(p0 + (1 - p0) * share for share in (0.5, 0.75, 0.95)))})
    head = f"{config.num_problems:,} problems per rate, {config.num_visits} visits of groups of {config.group_size}"
    lines = [
        f"{head}; p0 {p0:g}, alpha {config.alpha:g}",
        f"  {'rate':>6}  " + "".join(f"{rule:>24}" for rule in RULES),
    ]
    for rate in rates:
        trials = [try_rule(rule, repeat(rate), config) for rule in RULES]
        lines.append(f"  {rate:>6g}  " + "".join(f"{_cell(trial):>24}" for trial in trials))
    return "\n".join([*lines, f"A retirement at {p0:g} or below is false; only e_process bounds its share, by alpha."])


def _cell(trial: Trial) -> str:
    median = "" if trial.median_visits is None else f", median {trial.median_visits:g}"
    return f"{trial.retired_rate:.1%}{median}"


def _batch(rows: Ints, correct: Ints, group_size: int) -> Batch:
    none, unknown = np.zeros(len(rows), np.int64), np.full(len(rows), np.nan)
    return Batch(rows, correct, group_size - correct, none, unknown, unknown, np.full(len(rows), ""))
