"""Fills the slots of a batch: re-checks first, then floor slots, then the policy, then fillers for a shortage.

re-checks   retired and quarantined problems that are due, most overdue first, within the re-check share
floor       uniform draw from all active and parked problems: none has probability zero
policy      active problems by the configured policy
fill        too few active problems: due re-checks beyond the share, then parked problems
repeats     still too few: the batch's own problems again, evenly; the only case of duplicates in a batch
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from curriculum.config import CurriculumConfig
from curriculum.draw.own_policy import own_policy
from curriculum.draw.policies import POLICIES, hardest
from curriculum.forecast.forecast import Forecast
from curriculum.statistics.clock import Clock
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


class Mix(NamedTuple):
    """The part of each problem, and the slots of each part in a batch."""

    of: Ints
    quotas: Ints


@dataclass(frozen=True)
class Order:
    """Parameters of a draw: number of slots, maximum number of re-checks, rows to exclude, slots by part."""

    num: int
    max_rechecks: int
    exclude: frozenset[int] = frozenset()
    mix: Mix | None = None


def max_rechecks(clock: Clock, num: int, config: CurriculumConfig) -> int:
    """Maximum re-check slots of a batch of `num` that keep their share of all slots within the bound."""
    share = config.recheck_share
    allowed = int(share * (clock.num_slots + num)) - clock.num_rechecks
    return max(0, min(allowed, math.ceil(share * num)))


def fill_slots(forecast: Forecast, order: Order, config: CurriculumConfig, rng: np.random.Generator) -> Slots:
    """Choose the problems of the batch at the forecast's step; raises `PoolExhausted` if no problem is active."""
    stats = forecast.stats
    _refuse_exhausted(stats)
    free = stats.status.copy()  # the pools, minus the rows that this batch has taken
    free[list(order.exclude)] = TAKEN
    due = _due(stats, free, forecast.step)
    rechecks = _take(due[: min(order.max_rechecks, order.num)], free)
    draw = _Draw(forecast, free, config, rng)
    if order.mix is None:
        floor, chosen = draw.some(order.num - len(rechecks))
    else:
        floor, chosen = draw.by_part(order.mix, order.num, rechecks)
    parts = [rechecks, floor, chosen]
    fill = _take(_fill(free, due, order.num - sum(map(len, parts)), rng), free)
    found = np.concatenate([*parts, fill])
    repeats = _repeats(stats, found, order.num - len(found), rng)
    # a fixed order would put all re-checks on the first rank
    rows = rng.permutation(np.concatenate([found, repeats]))
    return Slots(rows, len(rechecks), len(floor), len(fill), len(repeats))


class _Draw(NamedTuple):
    """What floor slots and the policy's slots are drawn from; rows that they take are marked in `free`."""

    forecast: Forecast
    free: Pools
    config: CurriculumConfig
    rng: np.random.Generator

    def some(self, num: int, *, among: npt.NDArray[np.bool_] | None = None) -> tuple[Ints, Ints]:
        """Floor slots and the policy's, of all problems or of some."""
        free = self.free if among is None else np.where(among, self.free, np.int8(TAKEN))
        floor = _floor(free, int(self.rng.binomial(num, self.config.floor)), self.rng)
        free[floor] = TAKEN
        chosen = _by_policy(self.forecast, free, num - len(floor), self.config, self.rng)
        for rows in (floor, chosen):
            _take(rows, self.free)
        return floor, chosen

    def by_part(self, mix: Mix, num: int, rechecks: Ints) -> tuple[Ints, Ints]:
        """The same by the quotas of the parts, in which re-checks count; a part's shortage goes to the others."""
        left = mix.quotas - np.bincount(mix.of[rechecks], minlength=len(mix.quotas))
        left = np.maximum(left, 0)
        while left.sum() > num - len(rechecks):  # more re-checks of a part than its quota
            left[np.argmax(left)] -= 1
        drawn = [self.some(int(count), among=mix.of == part) for part, count in enumerate(left) if count]
        none = np.empty(0, np.int64)
        floor = np.concatenate([none, *(rows for rows, _ in drawn)])
        chosen = np.concatenate([none, *(rows for _, rows in drawn)])
        short = num - len(rechecks) - len(floor) - len(chosen)
        others = _take(_by_policy(self.forecast, self.free, short, self.config, self.rng), self.free)
        return floor, np.concatenate([chosen, others])


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
