"""Statistics of all problems as arrays, and their update by a batch of visits.

Successes and failures start from the measured samples, halve every `half_life_visits` visits of that problem, and grow
by the counts of each visit. Undecided completions are counted separately and enter no rate. By themselves the counts
give the posterior Beta(1 + successes, 1 + failures); draws use the forecast (`curriculum.forecast`), which adds what
the pool and the model's progress say.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import numpy.typing as npt

from curriculum.config import CurriculumConfig
from curriculum.statistics.visits import Batch, Floats, Ints

STATUSES: Final = ("active", "retired", "parked", "quarantined", "held_out", "canary")
ACTIVE, RETIRED, PARKED, QUARANTINED, HELD_OUT, CANARY = range(6)
NEVER: Final = -1


@dataclass
class Stats:
    """One array per figure, one element per problem, in the dataset's order. Changed in place by `update`."""

    status: npt.NDArray[np.int8]  # index into STATUSES
    successes: Floats  # discounted, measured samples included
    failures: Floats
    num_correct: npt.NDArray[np.int32]  # seen in training, not discounted
    num_wrong: npt.NDArray[np.int32]
    num_undecided: npt.NDArray[np.int32]
    num_visits: npt.NDArray[np.int32]
    num_dry: npt.NDArray[np.int32]  # consecutive visits without a success
    num_unclear: npt.NDArray[np.int32]  # consecutive visits that were mostly undecided
    last_step: npt.NDArray[np.int32]  # NEVER if not visited
    seen_at: Floats  # mean step of the completions behind successes and failures; measured ones: 0
    scale_at: Floats  # mean progress at those completions: log scale, and shift in logits
    shift_at: Floats
    group: npt.NDArray[np.int32]  # problems that move together: forecast/groups.py
    tokens_correct: Floats  # discounted mean length; NaN if none was seen
    tokens_wrong: Floats
    difficulty: Floats  # fixed at the start: level, or 1 - measured pass rate
    num_tested: npt.NDArray[np.int32]  # visits since the retirement test last started
    evidence: Floats  # (problems, bets): see retirement.py
    next_check: npt.NDArray[np.int32]  # step from which a retired or quarantined problem is due
    check_interval: npt.NDArray[np.int32]  # steps

    def __len__(self) -> int:
        return len(self.status)

    def posterior(self, rows: Ints | slice = slice(None)) -> tuple[Floats, Floats]:
        """Parameters (a, b) of the Beta posterior of the success rate, from the counts alone."""
        return self.successes[rows] + 1.0, self.failures[rows] + 1.0

    def mean_rate(self, rows: Ints | slice = slice(None)) -> Floats:
        """Posterior mean of the success rate, from the counts alone."""
        a, b = self.posterior(rows)
        return a / (a + b)

    def take(self, rows: Ints) -> Stats:
        """A copy of the statistics of the given rows, in that order."""
        return Stats(**{field.name: self.__dict__[field.name][rows] for field in fields(self)})

    def put(self, rows: Ints, other: Stats) -> None:
        """Overwrite the statistics of `rows` with those of `other`, in order."""
        for field in fields(self):
            self.__dict__[field.name][rows] = other.__dict__[field.name]


def update(stats: Stats, batch: Batch, step: int, config: CurriculumConfig, progress: Floats | None = None) -> None:
    """Add a batch of visits of distinct problems to the counts; status and retirement tests are unchanged.

    progress: log scale and shift at each visit, shape (2, visits); default: none.
    """
    row, is_judged = batch.row, batch.judged > 0
    keep = np.where(is_judged, 0.5 ** (1.0 / config.half_life_visits), 1.0)
    now = np.zeros((2, len(row))) if progress is None else progress
    for mean, value in ((stats.seen_at, float(step)), (stats.scale_at, now[0]), (stats.shift_at, now[1])):
        mean[row] = _mean_of_evidence(mean[row], value, stats, batch, keep)
    for old, count, length, seen in (
        (stats.successes, batch.correct, stats.tokens_correct, batch.tokens_correct),
        (stats.failures, batch.wrong, stats.tokens_wrong, batch.tokens_wrong),
    ):
        length[row] = _mean_length(length[row], old[row] * keep, seen, count)
        old[row] = old[row] * keep + count
    stats.num_correct[row] += batch.correct.astype(np.int32)
    stats.num_wrong[row] += batch.wrong.astype(np.int32)
    stats.num_undecided[row] += batch.undecided.astype(np.int32)
    stats.num_visits[row] += 1
    # a visit without judged completions is no evidence of failure
    stats.num_dry[row] = np.where(batch.correct > 0, 0, stats.num_dry[row] + is_judged)
    is_unclear = batch.undecided > config.quarantine_rate * (batch.judged + batch.undecided)
    stats.num_unclear[row] = np.where(is_unclear, stats.num_unclear[row] + 1, 0)
    stats.last_step[row] = step


def _mean_of_evidence(mean: Floats, value: Floats | float, stats: Stats, batch: Batch, keep: Floats) -> Floats:
    """Discounted mean over completions, after those of the batch, which all have `value`."""
    old = (stats.successes[batch.row] + stats.failures[batch.row]) * keep
    total = old + batch.judged
    return np.where(total > 0, (mean * old + value * batch.judged) / np.where(total > 0, total, 1.0), mean)


def _mean_length(old: Floats, old_weight: Floats, seen: Floats, count: Ints) -> Floats:
    """Discounted mean over completions; NaN means "none yet" on either side."""
    old_weight = np.where(np.isnan(old), 0.0, np.maximum(old_weight, 1e-9))
    count = np.where(np.isnan(seen), 0, count)
    total = old_weight + count
    mean = (np.nan_to_num(old) * old_weight + np.nan_to_num(seen) * count) / np.where(total > 0, total, 1.0)
    return np.where(total > 0, mean, np.nan)
