"""The posterior of a pass rate after a few samples: Beta, under a uniform prior.

With s correct and f wrong the pass rate is Beta(1 + s, 1 + f), whatever rule stopped the sampling (the likelihood
principle). Its distribution function is a binomial tail, so whole numbers and `math.comb` are all it takes.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final, NamedTuple

INTERVAL: Final = 0.9


class Interval(NamedTuple):
    """Ends of an equal-tailed posterior interval."""

    low: float
    high: float


def binomial_tail(num_trials: int, rate: float, at_least: int) -> float:
    """P(X >= at_least) for X ~ Binomial(num_trials, rate)."""
    terms = (
        math.comb(num_trials, x) * rate**x * (1 - rate) ** (num_trials - x)
        for x in range(max(at_least, 0), num_trials + 1)
    )
    return min(1.0, math.fsum(terms))


def below(rate: float, num_correct: int, num_wrong: int) -> float:
    """Posterior probability that the pass rate is at most `rate`.

    I_x(a, b) = P(Bin(a + b - 1, x) >= a) for whole a and b, with a = 1 + num_correct and b = 1 + num_wrong.
    """
    return binomial_tail(num_correct + num_wrong + 1, rate, num_correct + 1)


def inside(low: float, high: float, num_correct: int, num_wrong: int) -> float:
    """Posterior probability that the pass rate is in [low, high]."""
    return max(0.0, below(high, num_correct, num_wrong) - below(low, num_correct, num_wrong))


@cache
def interval(num_correct: int, num_wrong: int, share: float = INTERVAL) -> Interval:
    """The equal-tailed posterior interval that holds `share` of the probability."""
    tail = (1 - share) / 2
    return Interval(_quantile(tail, num_correct, num_wrong), _quantile(1 - tail, num_correct, num_wrong))


def _quantile(probability: float, num_correct: int, num_wrong: int) -> float:
    from scipy.special import betaincinv

    return round(float(betaincinv(1 + num_correct, 1 + num_wrong, probability)), 12)
