"""The learned part of the forecasts: the pool's priors and the model's progress, updated by each batch of visits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from curriculum.config import CurriculumConfig
from curriculum.forecast.forecast import Forecast
from curriculum.forecast.population import Population
from curriculum.forecast.progress import Outcomes, Progress
from curriculum.statistics.stats import Stats, update
from curriculum.statistics.visits import Batch


@dataclass
class Forecaster:
    """State of the forecasts beside the counts of `Stats`; all of it is saved."""

    population: Population
    progress: Progress

    @classmethod
    def fit(cls, names: list[str], stats: Stats) -> Self:
        """Before the first visit: priors fitted to the measured counts, no progress. `names`: of the groups."""
        return cls(Population.fit(names, stats), Progress.start(len(names)))

    def forecast(self, stats: Stats, step: int) -> Forecast:
        """The success rates at a step."""
        return Forecast(stats, step, self.population, self.progress)

    def learn(self, stats: Stats, batch: Batch, step: int, config: CurriculumConfig) -> None:
        """Add a batch of visits to the counts, the progress and the priors."""
        row, group = batch.row, stats.group[batch.row].astype(np.int64)
        before, is_judged = self.forecast(stats, step).belief(row), batch.judged > 0
        # a problem without evidence has no share in the fitted prior yet
        had_evidence = (stats.successes[row] + stats.failures[row] > 0)[:, None]
        seen = (group[is_judged], batch.correct[is_judged], batch.judged[is_judged], before[is_judged])
        self.progress.observe(Outcomes(*seen), step, config.gain_half_life)
        update(stats, batch, step, config, self.progress.mean[:, group])
        after = self.forecast(stats, step).belief(row)
        self.population.move(group[is_judged], (before * had_evidence)[is_judged], after[is_judged])

    def mean_progress(self) -> tuple[float, float]:
        """Log scale and shift, averaged over the problems with evidence."""
        weight = self.population.shares.sum(axis=1) + 1e-9
        scale, shift = (self.progress.mean * (weight / weight.sum())).sum(axis=1).tolist()
        return scale, shift

    def to_json(self) -> dict[str, Any]:
        """As JSON values; floats round-trip exactly."""
        return {"population": self.population.to_json(), "progress": self.progress.to_json()}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Self:
        """The forecaster that `to_json` wrote."""
        return cls(Population.from_json(saved["population"]), Progress.from_json(saved["progress"]))

    def regrouped(self, names: list[str], stats: Stats, step_0: int = 0) -> Self:
        """The forecaster for other groups, with `stats` grouped by `names`; `step_0` becomes step 0.

        A group that is new has the mean progress of the others. The priors are fitted again.
        """
        place = {name: number for number, name in enumerate(self.population.names)}
        pick = np.zeros((len(names), len(place)))
        for number, name in enumerate(names):
            pick[number] = np.eye(len(place))[place[name]] if name in place else 1.0 / len(place)
        both = np.kron(np.eye(2), pick)
        progress = Progress(
            self.progress.mean @ pick.T, both @ self.progress.covariance @ both.T, self.progress.step - step_0
        )
        return type(self)(Population.fit(names, stats), progress)
