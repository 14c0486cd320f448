"""Moves of problems between the pools after a visit, each with its reason.

    active -> retired       the retirement rule fired
    retired -> active       a re-check fell below p0: forgotten; the earlier counts are stale and discarded
    active -> parked        no success in `park_after` consecutive visits
    parked -> active        one success, but a suspect stays
    active -> parked        a suspect: completions agree on another answer than the truth (`suspect_alpha`)
    active -> quarantined   `quarantine_after` consecutive visits mostly undecided, or its source is left out
    quarantined -> active   a re-check could be judged again

No pool is final: retired and quarantined problems are re-checked at growing intervals.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from curriculum.config import CurriculumConfig
from curriculum.pools.retirement import e_value, is_mastered, restart
from curriculum.statistics.stats import ACTIVE, PARKED, QUARANTINED, RETIRED, Stats
from curriculum.statistics.visits import Batch, Ints

MAX_INTERVAL: Final = 2**30
SUSPECTED: Final = "suspected"
EVENTS: Final = ("retired", "reopened", "checked", "parked", "returned", "quarantined", "released", SUSPECTED)


class Move(NamedTuple):
    """An event of a problem, one of `EVENTS`, and its reason."""

    row: int
    event: str
    detail: str


def apply_moves(stats: Stats, batch: Batch, step: int, config: CurriculumConfig) -> list[Move]:
    """Move the problems of a batch whose counts are already updated; returns the moves in the batch's order."""
    before = stats.status[batch.row].copy()
    moves = [
        *_recheck(stats, batch.where(before == RETIRED), step, config),
        *_recheck_quarantined(stats, batch.where(before == QUARANTINED), step, config),
        *_return(stats, batch.where(before == PARKED)),
        *_leave(stats, batch.where(before == ACTIVE), step, config),
        *_quarantine(stats, batch, step, config),
    ]
    place = {int(row): number for number, row in enumerate(batch.row)}
    return sorted(moves, key=lambda move: place[move.row])


def quarantine(stats: Stats, rows: Ints, step: int, config: CurriculumConfig) -> int:
    """Quarantine those of `rows` that are drawn for training; returns their number."""
    trained = rows[(stats.status[rows] == ACTIVE) | (stats.status[rows] == PARKED)]
    stats.status[trained] = QUARANTINED
    _begin_checks(stats, trained, step, config)
    return len(trained)


def park_suspects(stats: Stats, suspects: Mapping[int, str], moves: list[Move]) -> list[Move]:
    """Park the active problems of a batch that are suspects, each with the evidence; returns the moves that remain.

    A suspect that was parked stays so, whatever its successes: it does not return to be parked again.
    """
    back = {move.row for move in moves if move.event == "returned" and move.row in suspects}
    new = [row for row in suspects if row not in back and stats.status[row] == ACTIVE]
    stats.status[[*back, *new]] = PARKED
    return [*(move for move in moves if move.row not in back), *(Move(row, SUSPECTED, suspects[row]) for row in new)]


def _recheck(stats: Stats, batch: Batch, step: int, config: CurriculumConfig) -> list[Move]:
    judged = batch.judged
    is_failed = (judged > 0) & (batch.correct < config.p0 * judged)
    is_passed = (judged > 0) & ~is_failed
    failed, passed = batch.where(is_failed), batch.where(is_passed)
    stats.status[failed.row] = ACTIVE
    stats.successes[failed.row], stats.failures[failed.row] = failed.correct, failed.wrong
    restart(stats, failed.row)
    _schedule(stats, batch.row[~is_failed], np.where(is_passed, config.recheck_growth, 1.0)[~is_failed], step)
    return [
        *_moves(failed, "reopened", _counts(failed)),
        *_moves(passed, "checked", _counts(passed)),
    ]


def _recheck_quarantined(stats: Stats, batch: Batch, step: int, config: CurriculumConfig) -> list[Move]:
    is_clear = stats.num_unclear[batch.row] == 0
    clear = batch.where(is_clear)
    stats.status[clear.row] = ACTIVE
    _schedule(stats, batch.row[~is_clear], np.full((~is_clear).sum(), config.recheck_growth), step)
    return _moves(clear, "released", _counts(clear))


def _return(stats: Stats, batch: Batch) -> list[Move]:
    lucky = batch.where(batch.correct > 0)
    stats.status[lucky.row] = ACTIVE
    return _moves(lucky, "returned", _counts(lucky))


def _leave(stats: Stats, batch: Batch, step: int, config: CurriculumConfig) -> list[Move]:
    mastered = is_mastered(stats, batch, config)
    done, dry = batch.where(mastered), batch.where(~mastered & (stats.num_dry[batch.row] >= config.park_after))
    stats.status[done.row], stats.status[dry.row] = RETIRED, PARKED
    _begin_checks(stats, done.row, step, config)
    if config.rule == "e_process":
        why = [f"e = {value:.3g}, needed {1 / config.alpha:.3g}" for value in e_value(stats, done.row)]
    else:
        why = [f"rule {config.rule}: {counts}" for counts in _counts(done)]
    no_success = [f"no success in {count} visits in a row" for count in stats.num_dry[dry.row]]
    return [*_moves(done, "retired", why), *_moves(dry, "parked", no_success)]


def _quarantine(stats: Stats, batch: Batch, step: int, config: CurriculumConfig) -> list[Move]:
    status = stats.status[batch.row]
    is_trained = (status == ACTIVE) | (status == PARKED)
    unclear = batch.where(is_trained & (stats.num_unclear[batch.row] >= config.quarantine_after))
    stats.status[unclear.row] = QUARANTINED
    _begin_checks(stats, unclear.row, step, config)
    why = [
        f"{count} visits in a row mostly undecided" + (f", last: {reason}" if reason else "")
        for count, reason in zip(stats.num_unclear[unclear.row], unclear.reasons, strict=True)
    ]
    return _moves(unclear, "quarantined", why)


def _begin_checks(stats: Stats, rows: Ints, step: int, config: CurriculumConfig) -> None:
    stats.check_interval[rows] = config.recheck_after
    stats.next_check[rows] = step + config.recheck_after


def _schedule(stats: Stats, rows: Ints, growth: npt.NDArray[np.float64], step: int) -> None:
    interval = np.minimum(np.ceil(stats.check_interval[rows] * growth), MAX_INTERVAL)
    stats.check_interval[rows] = interval
    stats.next_check[rows] = np.minimum(step + interval, 2 * MAX_INTERVAL - 1)


def _moves(batch: Batch, event: str, details: list[str]) -> list[Move]:
    return [Move(int(row), event, detail) for row, detail in zip(batch.row, details, strict=True)]


def _counts(batch: Batch) -> list[str]:
    return [f"{correct} of {judged} correct" for correct, judged in zip(batch.correct, batch.judged, strict=True)]
