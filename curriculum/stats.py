"""What is known of each problem: arrays over all problems, and what one batch of visits does to them.

The success rate of a problem has the posterior Beta(1 + successes, 1 + failures). Both counts start from the measured
samples, shrink by half every `half_life_visits` visits of that problem, and grow by what each visit saw. A problem
without measured samples starts from Beta(1, 1): unknown, not zero. Undecided completions are counted apart and enter
no rate.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from curate.errors import UserError
from curriculum.config import CurriculumConfig

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STATUSES: Final = ("active", "retired", "parked", "quarantined", "held_out")
ACTIVE, RETIRED, PARKED, QUARANTINED, HELD_OUT = range(5)
NEVER: Final = -1


@dataclass(frozen=True)
class Visit:
    """What one group of completions of the problem at position `row` came to.

    `undecided_reason` is the commonest reason code among the undecided ones. Mean lengths are in tokens, None where
    there was no such completion.
    """

    row: int
    num_correct: int
    num_wrong: int
    num_undecided: int
    mean_tokens_correct: float | None = None
    mean_tokens_wrong: float | None = None
    undecided_reason: str = ""


@dataclass(frozen=True)
class Batch:
    """Visits of distinct problems as arrays: the form in which statistics are updated."""

    row: Ints
    correct: Ints
    wrong: Ints
    undecided: Ints
    tokens_correct: Floats
    tokens_wrong: Floats
    reasons: npt.NDArray[np.str_]

    def where(self, chosen: npt.NDArray[np.bool_]) -> Batch:
        """The chosen visits only."""
        return Batch(**{field.name: self.__dict__[field.name][chosen] for field in fields(self)})

    @property
    def judged(self) -> Ints:
        """Completions that were judged correct or wrong, per visit."""
        return self.correct + self.wrong


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
    num_dry: npt.NDArray[np.int32]  # visits in a row without a success
    num_unclear: npt.NDArray[np.int32]  # visits in a row that were mostly undecided
    last_step: npt.NDArray[np.int32]  # NEVER where not visited
    tokens_correct: Floats  # discounted mean length; NaN where none was seen
    tokens_wrong: Floats
    difficulty: Floats  # fixed at the start: level, or 1 - measured pass rate
    num_tested: npt.NDArray[np.int32]  # visits that the retirement test has seen since it last began
    evidence: Floats  # (problems, bets): see retirement.py
    next_check: npt.NDArray[np.int32]  # step from which a retired or quarantined problem is due
    check_interval: npt.NDArray[np.int32]  # steps

    def __len__(self) -> int:
        return len(self.status)

    def posterior(self, rows: Ints | slice = slice(None)) -> tuple[Floats, Floats]:
        """Parameters (a, b) of the Beta posterior of the success rate."""
        return self.successes[rows] + 1.0, self.failures[rows] + 1.0

    def mean_rate(self, rows: Ints | slice = slice(None)) -> Floats:
        """Posterior mean of the success rate."""
        a, b = self.posterior(rows)
        return a / (a + b)

    def take(self, rows: Ints) -> Stats:
        """The same figures of the given problems, in that order, copied."""
        return Stats(**{field.name: self.__dict__[field.name][rows] for field in fields(self)})

    def put(self, rows: Ints, other: Stats) -> None:
        """Overwrite the figures of `rows` by those of `other`, in order."""
        for field in fields(self):
            self.__dict__[field.name][rows] = other.__dict__[field.name]


def new_stats(problems: pl.DataFrame, config: CurriculumConfig, num_bets: int) -> Stats:
    """Statistics before the first visit, from `num_correct` and `num_samples` where the dataset has them."""
    num = problems.height
    correct, samples = _counts(problems, "num_correct"), _counts(problems, "num_samples")
    if (correct > samples).any():
        row = int(np.argmax(correct > samples))
        raise UserError(f"problem {problems['key'][row]}: num_correct exceeds num_samples; run difficulty again")
    scale = np.minimum(1.0, config.prior_weight / np.maximum(samples, 1.0))
    measured = (correct + 1.0) / (samples + 2.0)
    return Stats(
        status=np.zeros(num, np.int8),
        successes=correct * scale,
        failures=(samples - correct) * scale,
        **{name: np.zeros(num, np.int32) for name in _ZEROS},
        last_step=np.full(num, NEVER, np.int32),
        tokens_correct=_lengths(problems, "mean_tokens_correct"),
        tokens_wrong=_lengths(problems, "mean_tokens_wrong"),
        difficulty=1.0 - measured if config.level is None else _levels(problems, config.level),
        evidence=np.zeros((num, num_bets)),
    )


_ZEROS: Final = (
    "num_correct",
    "num_wrong",
    "num_undecided",
    "num_visits",
    "num_dry",
    "num_unclear",
    "num_tested",
    "next_check",
    "check_interval",
)


def update(stats: Stats, batch: Batch, step: int, config: CurriculumConfig) -> None:
    """Add a batch of visits of distinct problems to the counts. Status and retirement test are decided elsewhere."""
    row, is_judged = batch.row, batch.judged > 0
    keep = np.where(is_judged, 0.5 ** (1.0 / config.half_life_visits), 1.0)
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
    # a visit that nobody could judge says nothing about success
    stats.num_dry[row] = np.where(batch.correct > 0, 0, stats.num_dry[row] + is_judged)
    is_unclear = batch.undecided > config.quarantine_rate * (batch.judged + batch.undecided)
    stats.num_unclear[row] = np.where(is_unclear, stats.num_unclear[row] + 1, 0)
    stats.last_step[row] = step


def as_batches(visits: list[Visit]) -> list[Batch]:
    """The visits as batches of distinct problems: a problem's second visit goes into the second batch."""
    rounds: list[list[Visit]] = []
    seen: dict[int, int] = {}
    for visit in visits:
        number = seen[visit.row] = seen.get(visit.row, -1) + 1
        rounds[number:] = rounds[number:] or [[]]
        rounds[number].append(visit)
    return [_batch(part) for part in rounds]


def _batch(visits: list[Visit]) -> Batch:
    def column(name: str, dtype: Any) -> Any:  # Any: numpy's dtype decides the array's type
        return np.array([getattr(visit, name) for visit in visits], dtype)

    return Batch(
        column("row", np.int64),
        column("num_correct", np.int64),
        column("num_wrong", np.int64),
        column("num_undecided", np.int64),
        column("mean_tokens_correct", np.float64),  # None becomes NaN
        column("mean_tokens_wrong", np.float64),
        column("undecided_reason", np.str_),
    )


def _mean_length(old: Floats, old_weight: Floats, seen: Floats, count: Ints) -> Floats:
    """Discounted mean over completions; NaN stands for "none yet" on either side."""
    old_weight = np.where(np.isnan(old), 0.0, np.maximum(old_weight, 1e-9))
    count = np.where(np.isnan(seen), 0, count)
    total = old_weight + count
    mean = (np.nan_to_num(old) * old_weight + np.nan_to_num(seen) * count) / np.where(total > 0, total, 1.0)
    return np.where(total > 0, mean, np.nan)


def _counts(problems: pl.DataFrame, name: str) -> Floats:
    if not {"num_correct", "num_samples"} <= set(problems.columns):
        return np.zeros(problems.height)
    # both or neither: one without the other is no measurement
    both = pl.col("num_correct").is_not_null() & pl.col("num_samples").is_not_null()
    return problems.select(pl.when(both).then(pl.col(name)).otherwise(0).cast(pl.Float64)).to_series().to_numpy().copy()


def _lengths(problems: pl.DataFrame, name: str) -> Floats:
    if name not in problems.columns:
        return np.full(problems.height, np.nan)
    return problems[name].cast(pl.Float64).fill_null(np.nan).to_numpy().copy()


def _levels(problems: pl.DataFrame, name: str) -> Floats:
    """Levels as numbers: `3`, `"Level 3"`; a problem without one stands in the middle."""
    if name in problems.columns:
        values = problems[name].to_list()
    elif "extra" in problems.columns:
        values = [json.loads(text or "{}").get(name) for text in problems["extra"].to_list()]
    else:
        values = []
    levels = np.array([_level(value) for value in values])
    if not len(levels) or np.isnan(levels).all():
        raise UserError(f"curriculum.level: no problem has a level {name!r}, as a column or in extra; leave it out")
    return np.where(np.isnan(levels), np.nanmedian(levels), levels)


def _level(value: object) -> float:
    found = re.search(r"-?\d+(\.\d+)?", str(value)) if value is not None else None
    return float(found.group()) if found else np.nan
