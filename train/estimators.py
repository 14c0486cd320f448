"""Estimates from n graded completions of each problem, with their uncertainty, as plain functions.

Counts are per problem: `num_correct` of `num_judged` completions; undecided ones are in neither. Problems are the
sampling unit of every interval: completions of one problem are not independent evidence of the benchmark's score.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

RESAMPLES: Final = 10_000

Rates = npt.NDArray[np.float64]


class Estimate(NamedTuple):
    """A value with the ends of its 95% interval."""

    value: float
    low: float
    high: float


def average(rates: Sequence[float], seed: int = 0) -> Estimate:
    """avg@n: the mean of the problems' success rates, with an interval for the mean over all such problems.

    A Bayesian bootstrap over problems (Rubin 1981) with one problem more, of rate 0 for the low end and 1 for the high
    one: Gaffke's bounds (2005), of which no distribution of rates is known that they hold in less than 95% of samples.
    With one completion a problem they are those of Clopper and Pearson.
    """
    values: Rates = np.asarray(rates, np.float64)
    generator = np.random.default_rng(seed)
    lows, highs = zip(*(_with_one_more(values, generator, RESAMPLES // 10) for _ in range(10)), strict=True)
    mean = float(values.mean())
    low, high = np.quantile(np.concatenate(lows), 0.025), np.quantile(np.concatenate(highs), 0.975)
    # where all rates are equal, an end is the mean itself, up to rounding
    return Estimate(mean, min(float(low), mean), max(min(float(high), 1.0), mean))


def _with_one_more(values: Rates, generator: np.random.Generator, num: int) -> tuple[Rates, Rates]:
    """Means of the rates and one more of 0, and of 1, under random weights."""
    weights = generator.standard_exponential((num, len(values) + 1))
    total = weights.sum(axis=1)
    lows: Rates = weights[:, :-1] @ values / total
    return lows, lows + weights[:, -1] / total


def pass_at_k(num_judged: int, num_correct: int, k: int) -> float:
    """Probability that at least one of k completions is correct, unbiased from n >= k: Chen et al. 2021, eq. 1."""
    if k > num_judged:
        raise ValueError(f"pass@{k} needs {k} judged completions, not {num_judged}")
    return 1.0 - math.comb(num_judged - num_correct, k) / math.comb(num_judged, k)


def majority(votes: Sequence[str | None], correct: str) -> float:
    """maj@n of one problem: 1 where most completions agree on the right answer, a share where that is a tie.

    votes: each completion's answer, `correct` for every right one, None for one without an answer.
    """
    counts = Counter(vote for vote in votes if vote is not None)
    if not counts:
        return 0.0
    most = max(counts.values())
    winners = [vote for vote, count in counts.items() if count == most]
    return 1.0 / len(winners) if correct in winners else 0.0


def paired_difference(before: Sequence[float], after: Sequence[float], seed: int = 0) -> Estimate:
    """Mean of after - before over the same problems, with a percentile bootstrap interval over problems."""
    differences: Rates = np.asarray(after, np.float64) - np.asarray(before, np.float64)
    generator = np.random.default_rng(seed)
    # in parts: a thousand resamples of a large benchmark at a time
    means = [_resampled(differences, generator, RESAMPLES // 10) for _ in range(10)]
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return Estimate(float(differences.mean()), float(low), float(high))


def _resampled(values: Rates, generator: np.random.Generator, num: int) -> Rates:
    chosen: Rates = values[generator.integers(len(values), size=(num, len(values)))]
    means: Rates = chosen.mean(axis=1)
    return means
