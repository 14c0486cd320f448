"""The alarm: success on canaries above the rate of luck, by a test that holds at every time.

The null hypothesis is that completions know nothing of the truth by which they are judged. The truth of a visit is
chosen afresh, so the share X of its completions that is judged correct has an expectation of at most m, the rate of
luck, whatever came before, and however alike the completions of a group are. A bet f in (0, 1) multiplies its stake by

    1 - f + f X / m

which does not grow in expectation (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting",
2024). Stakes are spread over `BETS` and over the visit at which betting begins, as in `pools.retirement`, so that what
begins late is found. By Ville's inequality the evidence ever reaches 1/alpha with probability at most alpha.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from curriculum.canaries.problems import LUCK
from curriculum.config import CurriculumConfig
from curriculum.statistics.clock import Canaries
from curriculum.statistics.visits import Ints, Visit

BETS: Final = (0.01, 0.03, 0.1, 0.3, 0.7)
MOST: Final = 1e300  # so that a stake stays finite


def evidence(canaries: Canaries) -> float:
    """The e-value against "completions know nothing of the truth"; 1 before the first visit."""
    stakes = canaries.stakes or [0.0]
    return sum(stakes) / len(stakes) + 1.0 / (canaries.num_visits + 1.0)


class Event(NamedTuple):
    """`canary` for a canary of which completions are judged correct, or `alarm`, once in a run."""

    event: str
    row: int | None
    detail: str


def learn(
    canaries: Canaries, visits: Sequence[Visit], step: int, config: CurriculumConfig
) -> tuple[list[Event], dict[str, float]]:
    """Add the visits of canaries at a step; returns events, and figures for the log."""
    if not config.canaries:
        return [], {}
    before, events = replace(canaries), []
    for visit in visits:
        num = visit.num_correct + visit.num_wrong + visit.num_undecided
        if num:
            _bet(canaries, visit.num_correct / num)
        canaries.num_completions += num
        canaries.num_correct += visit.num_correct
        if visit.num_correct:
            events.append(Event("canary", visit.row, f"{visit.num_correct} of {num} judged correct"))
    if canaries.alarm_step is None and evidence(canaries) >= 1.0 / config.canary_alpha:
        canaries.alarm_step = step
        events.append(Event("alarm", None, told(canaries)))
    figures = {"canary_evidence": evidence(canaries)}
    if num := canaries.num_completions - before.num_completions:
        figures["canary_correct"] = (canaries.num_correct - before.num_correct) / num
    return events, figures


def told(canaries: Canaries) -> str:
    """The figures in words."""
    seen = f"{canaries.num_correct:,} of {canaries.num_completions:,} completions on canaries are judged correct"
    return f"{seen}, by luck at most {LUCK:.1%} are (e = {evidence(canaries):.3g})"


def due(canaries: Canaries, rows: Ints, num: int, config: CurriculumConfig) -> Ints:
    """The canaries of a batch of `num`, in turn; the exact share over all batches, what is owed is carried.

    rows: canaries that may be drawn. A batch has never only canaries.
    """
    owed = canaries.owed + config.canaries * num
    drawn = max(0, min(int(owed + 1e-9), num - 1, len(rows)))
    canaries.owed = min(owed - drawn, 1.0)
    chosen: Ints = rows[(canaries.num_drawn + np.arange(drawn)) % max(1, len(rows))]
    canaries.num_drawn += drawn
    return chosen


def _bet(canaries: Canaries, share: float) -> None:
    canaries.num_visits += 1
    begins = 1.0 / (canaries.num_visits * (canaries.num_visits + 1.0))
    stakes = canaries.stakes or [0.0] * len(BETS)
    canaries.stakes = [
        min(MOST, (1.0 - bet + bet * share / LUCK) * (stake + begins)) for bet, stake in zip(BETS, stakes, strict=True)
    ]
