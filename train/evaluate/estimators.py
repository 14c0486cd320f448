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

Z95: Final = 1.959963984540054
RESAMPLES: Final = 10_000

Rates = npt.NDArray[np.float64]


class Estimate(NamedTuple):
    """A value with the ends of its 95% interval."""

    value: float
    low: float
    high: float


def average(rates: Sequence[float], num_completions: int) -> Estimate:
    """avg@n: the mean of the problems' success rates, with a Wilson interval at the effective sample size.

    That size is rate (1 - rate) / variance of the mean (Korn and Graubard 1998): completions of one problem resemble
    each other, so it is between the number of problems and `num_completions`, the number of all completions.
    """
    values = np.asarray(rates, np.float64)
    num, rate = len(values), float(values.mean())
    variance = float(values.var(ddof=1)) / num if num > 1 else 0.0
    effective = rate * (1 - rate) / variance if variance > 0 else (num_completions if 0 < rate < 1 else num)
    return _wilson(rate, min(max(effective, num), num_completions))


def _wilson(rate: float, num: float) -> Estimate:
    """Wilson 1927: the score interval of a share."""
    spread = Z95**2 / num
    middle = (rate + spread / 2) / (1 + spread)
    half = Z95 / (1 + spread) * math.sqrt(rate * (1 - rate) / num + spread / (4 * num))
    # at 0 and 1 one end is the rate itself, up to rounding
    return Estimate(rate, max(0.0, min(middle - half, rate)), min(1.0, max(middle + half, rate)))


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
