"""Fills the slots of a batch: re-checks first, then floor slots, then the policy, then fillers for a shortage.

re-checks   retired and quarantined problems that are due, most overdue first, within the re-check share
floor       uniform draw from all active and parked problems: none has probability zero
policy      active problems by the configured policy
fill        too few active problems: due re-checks beyond the share, then parked problems
repeats     still too few: the batch's own problems again, evenly; the only case of duplicates in a batch
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from curriculum.config import CurriculumConfig
from curriculum.draw.own_policy import own_policy
from curriculum.draw.policies import POLICIES, hardest
from curriculum.forecast.forecast import Forecast
from curriculum.statistics.stats import ACTIVE, PARKED, QUARANTINED, RETIRED, STATUSES, Stats
from curriculum.statistics.visits import Ints

TAKEN: Final = -1
Pools = npt.NDArray[np.int8]


class PoolExhausted(Exception):  # noqa: N818  # not an error: the curriculum has nothing left to teach
    """No active problem is left; training ends cleanly. The message gives the size of each pool."""


@dataclass(frozen=True)
class Slots:
    """Shuffled rows of a batch, and the counts of those that the policy did not choose."""

    rows: Ints
    num_rechecks: int
    num_floor: int
    num_fill: int
    num_repeats: int


@dataclass(frozen=True)
class Order:
    """Parameters of a draw: number of slots, maximum number of re-checks, and rows to exclude."""

    num: int
    max_rechecks: int
    exclude: frozenset[int] = frozenset()


def fill_slots(forecast: Forecast, order: Order, config: CurriculumConfig, rng: np.random.Generator) -> Slots:
    """Choose the problems of the batch at the forecast's step; raises `PoolExhausted` if no problem is active."""
    stats = forecast.stats
    _refuse_exhausted(stats)
    free = stats.status.copy()  # the pools, minus the rows that this batch has taken
    free[list(order.exclude)] = TAKEN
    due = _due(stats, free, forecast.step)
    rechecks = _take(due[: min(order.max_rechecks, order.num)], free)
    num_floor = int(rng.binomial(order.num - len(rechecks), config.floor))
    floor = _take(_floor(free, num_floor, rng), free)
    chosen = _take(_by_policy(forecast, free, order.num - len(rechecks) - len(floor), config, rng), free)
    parts = [rechecks, floor, chosen]
    fill = _take(_fill(free, due, order.num - sum(map(len, parts)), rng), free)
    found = np.concatenate([*parts, fill])
    repeats = _repeats(stats, found, order.num - len(found), rng)
    # a fixed order would put all re-checks on the first rank
    rows = rng.permutation(np.concatenate([found, repeats]))
    return Slots(rows, len(rechecks), len(floor), len(fill), len(repeats))


def _refuse_exhausted(stats: Stats) -> None:
    if not (stats.status == ACTIVE).any():
        counts = np.bincount(stats.status, minlength=len(STATUSES))
        where = ", ".join(f"{count} {name}" for name, count in zip(STATUSES, counts, strict=True) if count)
        raise PoolExhausted(f"no active problem is left ({where}): nothing more to learn here")


def _due(stats: Stats, free: Pools, step: int) -> Ints:
    out = np.flatnonzero((free == RETIRED) | (free == QUARANTINED))
    due = out[stats.next_check[out] <= step]
    return due[np.argsort(stats.next_check[due], kind="stable")]


def _floor(free: Pools, num: int, rng: np.random.Generator) -> Ints:
    return _some(np.flatnonzero((free == ACTIVE) | (free == PARKED)), num, rng) if num else np.empty(0, np.int64)


def _by_policy(forecast: Forecast, free: Pools, num: int, config: CurriculumConfig, rng: np.random.Generator) -> Ints:
    wanted = active = np.flatnonzero(free == ACTIVE)
    if config.hard_from_step is not None and forecast.step >= config.hard_from_step:
        wanted = hardest(forecast.stats, active, config.hard_share)
    if num >= len(wanted):
        # too few hard ones: the other active problems come before any parked one
        others = np.setdiff1d(active, wanted, assume_unique=True)
        return np.concatenate([wanted, _some(others, num - len(wanted), rng)])
    return POLICIES.get(config.policy, own_policy)(forecast, wanted, num, rng, config) if num else wanted[:0]


def _fill(free: Pools, due: Ints, num: int, rng: np.random.Generator) -> Ints:
    if num <= 0:
        return due[:0]
    more = due[free[due] != TAKEN][:num]
    return np.concatenate([more, _some(np.flatnonzero(free == PARKED), num - len(more), rng)])


def _repeats(stats: Stats, found: Ints, num: int, rng: np.random.Generator) -> Ints:
    if num <= 0:
        return found[:0]
    # if every row is excluded, the active problems repeat
    pool = found if len(found) else np.flatnonzero(stats.status == ACTIVE)
    return np.resize(rng.permutation(pool), num)


def _some(rows: Ints, num: int, rng: np.random.Generator) -> Ints:
    return rows[rng.choice(len(rows), min(num, len(rows)), replace=False, shuffle=False)] if num > 0 else rows[:0]


def _take(rows: Ints, free: Pools) -> Ints:
    free[rows] = TAKEN
    return rows
