"""One draw of problems, passed between the trainer's overrides around TRL's generation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Draw:
    """The problems of one generation over all processes, and the outcomes of their completions.

    rows: the problems' positions in the curriculum, one per group of `group_size` completions.
    number: number of the draw, from 1. step: its optimizer step, from 1, as in the log; a resume removes log
    lines of steps after its checkpoint.
    num_scored, is_correct, has_signal, totals: tensors with an entry per completion, None before judging: the rewarded
    completions of its group, whether it is correct, whether the rewards of its group differ, and the weighted sum of
    its rewards (NaN if undecided).
    """

    rows: tuple[int, ...]
    number: int
    step: int
    group_size: int
    num_scored: Any = None  # Any: torch is not imported here
    is_correct: Any = None
    has_signal: Any = None
    totals: Any = None

    def slots(self) -> list[int]:
        """The problem's position for each completion, group by group."""
        return [row for row in self.rows for _ in range(self.group_size)]

    def judged(self, rewards: Any, weights: Any, correctness: Any, has_signal: Any) -> Draw:
        """The draw with its outcome.

        rewards: completions x reward functions, NaN where undecided; weights: one of each function; correctness: the
        column of rewards for accuracy.
        """
        is_scored = ~rewards.isnan().all(dim=1)
        num_scored = is_scored.view(-1, self.group_size).sum(dim=1).repeat_interleave(self.group_size)
        totals = (rewards * weights).nansum(dim=1).masked_fill(~is_scored, float("nan"))
        return replace(self, num_scored=num_scored, is_correct=correctness == 1, has_signal=has_signal, totals=totals)
