"""Outcomes of a batch: visits as the trainer reports them, and the arrays that update the statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Visit:
    """Verdict counts of one group of completions of the problem at position `row`.

    `answers` has, where suspects are looked for, each completion's answer in one spelling (None without one, or without
    a verdict) and whether it is correct, in order. `undecided_reason` is the most frequent reason code among the
    undecided ones; `num_truncated` of all completions were cut off, whatever their verdict. Mean lengths are in tokens,
    None without such a completion.
    """

    row: int
    num_correct: int
    num_wrong: int
    num_undecided: int
    mean_tokens_correct: float | None = None
    mean_tokens_wrong: float | None = None
    undecided_reason: str = ""
    num_truncated: int = 0
    answers: tuple[tuple[str | None, bool], ...] = ()


@dataclass(frozen=True)
class Batch:
    """Visits of distinct problems as arrays, for updates of the statistics."""

    row: Ints
    correct: Ints
    wrong: Ints
    undecided: Ints
    tokens_correct: Floats
    tokens_wrong: Floats
    reasons: npt.NDArray[np.str_]

    def where(self, chosen: npt.NDArray[np.bool_]) -> Batch:
        """The visits selected by a boolean mask."""
        return Batch(**{field.name: self.__dict__[field.name][chosen] for field in fields(self)})

    @property
    def judged(self) -> Ints:
        """Completions judged correct or wrong, per visit."""
        return self.correct + self.wrong


def check(visits: Sequence[Visit], num_problems: int) -> None:
    """Raise `ValueError` for a visit of no problem, or with a negative count."""
    for visit in visits:
        counts = (visit.num_correct, visit.num_wrong, visit.num_undecided)
        if not 0 <= visit.row < num_problems or min(counts) < 0:
            raise ValueError(f"{visit}: row outside 0 to {num_problems - 1}, or a negative count")


def as_batches(visits: list[Visit]) -> list[Batch]:
    """Split visits into batches of distinct problems: a problem's second visit goes into the second batch."""
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
