"""The model's gain on problems between visits, and their current success rates.

A problem's counts describe its rate at its visits; the model keeps learning from other problems. The gain is
one number for all problems, `rate` in logits per training step: a problem whose evidence is `age` steps old has the
odds of its counts times exp(rate * age). It is fitted to what visits find: the slope of a logistic regression on age,
with the counts' own logit as offset, by one Newton step from 0 (McCullagh and Nelder, Generalized Linear Models, 4.4).
The offset never holds the gain itself, so that an error cannot feed on itself. A visit's weight is that of a
beta-binomial count, since its rate is known only as well as its counts allow (ibid., 4.5); a normal prior of mean 0 and
standard deviation `PRIOR_RATE` keeps a fit on little evidence near none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from curriculum.statistics.stats import Stats
from curriculum.statistics.visits import Batch, Floats, Ints

PRIOR_RATE: Final = 0.02
MAX_SHIFT: Final = 3.0  # logits; a larger shift has no evidence


@dataclass
class Drift:
    """The score and the information of the gain, summed over batches that lose half their weight in a half-life."""

    score: float = 0.0
    information: float = 0.0
    step: int = 0  # of the last batch in them

    @property
    def rate(self) -> float:
        """Logits per training step."""
        return self.score / (self.information + PRIOR_RATE**-2)

    def observe(self, stats: Stats, batch: Batch, step: int, half_life: float) -> None:
        """Learn from visits at `step`, with `stats` from before them; a half-life of 0 steps learns nothing."""
        if half_life == 0:
            return
        left, self.step = 0.5 ** ((step - self.step) / half_life), step
        a, b = stats.posterior(batch.row)
        p, n, age = a / (a + b), batch.judged, step - stats.seen_at[batch.row]
        # the variance of a beta-binomial count over that of a binomial one
        spread = 1.0 + (n - 1.0) / (a + b + 1.0)
        weight = np.where(n > 0, 1.0 / spread, 0.0)
        self.score = left * self.score + float((weight * (batch.correct - n * p) * age).sum())
        self.information = left * self.information + float((weight * n * p * (1.0 - p) * age**2).sum())


@dataclass(frozen=True)
class Forecast:
    """Success rates at a step: the counts of `stats`, carried on by a gain of `rate` logits per step."""

    stats: Stats
    step: int
    rate: float = 0.0

    def posterior(self, rows: Ints | slice = slice(None)) -> tuple[Floats, Floats]:
        """Parameters (a, b) of a Beta of the success rate now: the counts' own, its mean moved, as sure as before."""
        a, b = self.stats.posterior(rows)
        shift = np.clip(self.rate * (self.step - self.stats.seen_at[rows]), -MAX_SHIFT, MAX_SHIFT)
        mean = a / (a + b * np.exp(-shift))
        return (a + b) * mean, (a + b) * (1.0 - mean)

    def mean_rate(self, rows: Ints | slice = slice(None)) -> Floats:
        """Mean success rate now."""
        a, b = self.posterior(rows)
        return a / (a + b)
