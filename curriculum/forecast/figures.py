"""Figures of a batch for the trainer's log, `gradus curriculum plot` and comparisons between runs."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from curriculum.forecast.forecast import Forecast
from curriculum.statistics.stats import CANARY, HELD_OUT
from curriculum.statistics.visits import Floats, Ints, Visit

RATE_BINS: Final = 10
MAX_SHOWN: Final = 4_096  # problems; of more, an evenly spaced part stands for the pool


def batch_figures(forecast: Forecast, visits: list[Visit]) -> dict[str, float]:
    """Figures of visits, with the forecast from before them; a figure without data is left out.

    predicted_zero_variance, zero_variance: share of groups without a gradient, of those with a judged completion.
    undecided_rate: share of all completions.
    """
    correct = np.array([visit.num_correct for visit in visits], np.int64)
    judged = correct + np.array([visit.num_wrong for visit in visits], np.int64)
    undecided = sum(visit.num_undecided for visit in visits)
    is_judged = judged > 0
    is_dead = is_judged & ((correct == 0) | (correct == judged))
    rows = np.array([visit.row for visit in visits], np.int64)
    figures = {
        "predicted_zero_variance": predicted_zero_variance(forecast, rows[is_judged], judged[is_judged]),
        "zero_variance": is_dead.sum() / is_judged.sum() if is_judged.any() else math.nan,
        "undecided_rate": undecided / (undecided + judged.sum()) if undecided + judged.sum() else math.nan,
    }
    return {name: float(value) for name, value in figures.items() if not math.isnan(value)}


def predicted_zero_variance(forecast: Forecast, rows: Ints, sizes: Ints) -> float:
    """Expected share of groups without a gradient among groups of the given sizes; NaN if there are none."""
    rates = [forecast.no_signal(rows[sizes == size], int(size)) for size in np.unique(sizes)]
    return float(np.concatenate(rates).mean()) if rates else math.nan


def shown_rates(forecast: Forecast) -> Floats:
    """Mean success rates of the pool without probe set and canaries, or of an evenly spaced part of a large pool."""
    rows = np.flatnonzero(~np.isin(forecast.stats.status, (HELD_OUT, CANARY)))
    return forecast.mean_rate(rows[:: -(-len(rows) // MAX_SHOWN) or 1])


def rate_histogram(rates: Floats) -> list[int]:
    """Number of problems with an estimated success rate in [0, .1), [.1, .2), ... [.9, 1]."""
    places = np.minimum((rates * RATE_BINS).astype(np.int64), RATE_BINS - 1)
    return [int(count) for count in np.bincount(places, minlength=RATE_BINS)]
