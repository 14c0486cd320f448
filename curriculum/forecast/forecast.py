"""Forecast of current success rates: the belief about each problem and the rates that it stands for now."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from curriculum.forecast.grid import SPACING, binomial, draw_cells, log_likelihood, logits, normalised
from curriculum.forecast.population import Population
from curriculum.forecast.progress import Progress
from curriculum.statistics.stats import Stats
from curriculum.statistics.visits import Floats, Ints

Rows = Ints | slice
ALL = slice(None)


@dataclass(frozen=True)
class Forecast:
    """Success rates at a step: the group's prior, updated by the problem's counts, moved by the model's progress.

    It is valid until the next visits are learned.
    """

    stats: Stats
    step: int
    population: Population
    progress: Progress

    @cached_property
    def _log_priors(self) -> Floats:
        return np.log(self.population.priors())

    @cached_property
    def _rates(self) -> Floats:
        return self.progress.cell_rates()

    def belief(self, rows: Rows = ALL) -> Floats:
        """Probability of each cell, shape (rows, CELLS)."""
        stats = self.stats
        evidence = (stats.successes[rows], stats.failures[rows], stats.scale_at[rows], stats.shift_at[rows])
        return normalised(log_likelihood(*evidence) + self._log_priors[stats.group[rows]])

    def cell_rates(self, rows: Rows = ALL) -> Floats:
        """Current success rate of each cell, shape (rows, CELLS)."""
        return self._rates[self.stats.group[rows]]

    def mean_rate(self, rows: Rows = ALL) -> Floats:
        """Mean of the current success rate."""
        mean: Floats = (self.belief(rows) * self.cell_rates(rows)).sum(axis=1)
        return mean

    def no_signal(self, rows: Ints, size: int) -> Floats:
        """P(all or none of a group of `size` are correct): every advantage is 0."""
        rate = self.cell_rates(rows)
        if size == 1:
            return np.ones(len(rows))
        lost: Floats = (self.belief(rows) * (rate**size + (1.0 - rate) ** size)).sum(axis=1)
        return lost

    def log_chance(self, rows: Ints, correct: Ints, judged: Ints) -> Floats:
        """Log P(exactly `correct` of `judged`) per row: the proper score of a forecast."""
        mass = binomial(correct[:, None], judged[:, None], self.cell_rates(rows))
        log_chance: Floats = np.log(np.maximum((self.belief(rows) * mass).sum(axis=1), 1e-300))
        return log_chance

    def sample(self, rows: Ints, rng: np.random.Generator) -> Floats:
        """A success rate per row, drawn from the belief (Thompson sampling)."""
        cells = draw_cells(self.belief(rows), rng)
        group, jitter = self.stats.group[rows], rng.uniform(-0.5, 0.5, len(rows))
        # within a cell abilities are spread evenly, so that no two draws tie
        scale, shift = self.progress.mean
        logit = logits(scale, shift)[group, cells] + np.exp(scale[group]) * SPACING * jitter
        rate: Floats = 1.0 / (1.0 + np.exp(-logit))
        return rate
