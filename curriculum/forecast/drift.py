"""Gain of the model on problems between their visits, and the current success rates that follow from it.

A problem's counts give its rate at the time of its visits; since then the model has learned from other problems. The
gain is one number for all problems, `rate` in logits per training step: a problem whose evidence is `age` steps old has
the odds of its counts times exp(rate * age). It is fitted to the outcomes of visits: the slope of a logistic regression
on age, with the counts' own logit as offset, by one Newton step from 0 (McCullagh and Nelder, Generalized Linear
Models, 4.4). The offset excludes the gain, so that an error cannot amplify itself. A visit has the weight of a
beta-binomial count, since its rate is only as certain as its counts (ibid., 4.5); a normal prior of mean 0 and standard
deviation `PRIOR_RATE` keeps a fit on little evidence near 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from curriculum.statistics.stats import Stats
from curriculum.statistics.visits import Batch, Floats, Ints

PRIOR_RATE: Final = 0.02
MAX_SHIFT: Final = 3.0  # logits; the extrapolation of a rate goes no further


@dataclass
class Drift:
    """Score and information of the gain, summed over batches whose weight halves every half-life."""

    score: float = 0.0
    information: float = 0.0
    step: int = 0  # of the last batch included

    @property
    def rate(self) -> float:
        """Logits per training step."""
        return self.score / (self.information + PRIOR_RATE**-2)

    def observe(self, stats: Stats, batch: Batch, step: int, half_life: float) -> None:
        """Add visits at `step`, with `stats` from before them; a half-life of 0 steps disables the estimate."""
        if half_life == 0:
            return
        left, self.step = 0.5 ** ((step - self.step) / half_life), step
        a, b = stats.posterior(batch.row)
        p, n, age = a / (a + b), batch.judged, step - stats.seen_at[batch.row]
        # variance of a beta-binomial count divided by that of a binomial one
        spread = 1.0 + (n - 1.0) / (a + b + 1.0)
        weight = np.where(n > 0, 1.0 / spread, 0.0)
        self.score = left * self.score + float((weight * (batch.correct - n * p) * age).sum())
        self.information = left * self.information + float((weight * n * p * (1.0 - p) * age**2).sum())


@dataclass(frozen=True)
class Forecast:
    """Success rates at a step: the counts of `stats`, extrapolated by a gain of `rate` logits per step."""

    stats: Stats
    step: int
    rate: float = 0.0

    def posterior(self, rows: Ints | slice = slice(None)) -> tuple[Floats, Floats]:
        """Beta parameters (a, b) of the current success rate: those of the counts with the mean shifted."""
        a, b = self.stats.posterior(rows)
        shift = np.clip(self.rate * (self.step - self.stats.seen_at[rows]), -MAX_SHIFT, MAX_SHIFT)
        mean = a / (a + b * np.exp(-shift))
        return (a + b) * mean, (a + b) * (1.0 - mean)

    def mean_rate(self, rows: Ints | slice = slice(None)) -> Floats:
        """Mean of the current success rate."""
        a, b = self.posterior(rows)
        return a / (a + b)
