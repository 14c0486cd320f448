"""Policies that assign slots to candidate problems: `(forecast, rows, num, rng, config) -> distinct rows` each.

`rows` are the candidates, at least `num` of them. Weighted draws without replacement use exponential keys: the `num`
smallest of E_i / w_i, with E_i standard exponential, are a weighted sample (Efraimidis and Spirakis, "Weighted random
sampling with a reservoir", 2006). The E_i are generated in increasing order and only while they can still be among the
smallest, so that a draw from a million problems examines a few thousand. No function loops over problems in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from curriculum.config import CurriculumConfig
from curriculum.forecast.forecast import Forecast
from curriculum.statistics.stats import Stats
from curriculum.statistics.visits import Floats, Ints

Policy = Callable[[Forecast, Ints, int, np.random.Generator, CurriculumConfig], Ints]
CONTEST_ROWS: Final = 16_384
MAX_LEARNABILITY: Final = 0.25


def uniform(_: Forecast, rows: Ints, num: int, rng: np.random.Generator, __: CurriculumConfig) -> Ints:
    """Equal weight for every candidate."""
    chosen: Ints = rng.choice(rows, num, replace=False, shuffle=False)
    return chosen


def prioritized(forecast: Forecast, rows: Ints, num: int, rng: np.random.Generator, _: CurriculumConfig) -> Ints:
    """Weight 1 - success rate (Kimi k1.5, 2501.12599, section 2.3.4)."""
    return _weighted(rows, num, rng, lambda some: 1.0 - forecast.mean_rate(some), 1.0)


def easy_to_hard(forecast: Forecast, rows: Ints, num: int, _: np.random.Generator, __: CurriculumConfig) -> Ints:
    """Passes over the candidates, each from the easiest to the hardest (by `difficulty`, fixed at the start)."""
    # first every candidate that the last pass left out, then the easiest of the next pass
    stats = forecast.stats
    visits = stats.num_visits[rows]
    cut = int(np.searchsorted(np.cumsum(np.bincount(visits)), num))
    behind, level = rows[visits < cut], rows[visits == cut]
    return np.concatenate([behind, level[_smallest(stats.difficulty[level], num - len(behind))]])


def learnability(forecast: Forecast, rows: Ints, num: int, rng: np.random.Generator, _: CurriculumConfig) -> Ints:
    """Weight p(1-p) at a Thompson draw p of each success rate: the variance of one reward."""

    def weigh(some: Ints) -> Floats:
        p = forecast.sample(some, rng)
        return p * (1.0 - p)

    return _weighted(rows, num, rng, weigh, MAX_LEARNABILITY)


def target(forecast: Forecast, rows: Ints, num: int, rng: np.random.Generator, config: CurriculumConfig) -> Ints:
    """Candidates whose Thompson draw of the success rate is nearest to `target`.

    Of more than `CONTEST_ROWS` candidates (or 32 per slot), a random subset of that size is examined.
    """
    contest = max(CONTEST_ROWS, 32 * num)
    some = rows if len(rows) <= contest else uniform(forecast, rows, contest, rng, config)
    distance = np.abs(forecast.sample(some, rng) - config.target)
    return some[_smallest(distance, num)]


POLICIES: Final[dict[str, Policy]] = {
    "uniform": uniform,
    "prioritized": prioritized,
    "easy_to_hard": easy_to_hard,
    "learnability": learnability,
    "target": target,
}


def hardest(stats: Stats, rows: Ints, share: float) -> Ints:
    """Candidates among the hardest `share` of all problems; all candidates if none is."""
    hard = rows[stats.difficulty[rows] >= np.quantile(stats.difficulty, 1.0 - share)]
    return hard if len(hard) else rows


def _weighted(
    rows: Ints, num: int, rng: np.random.Generator, weigh: Callable[[Ints], Floats], max_weight: float
) -> Ints:
    """An exact weighted sample without replacement; `weigh` is called only for problems that can still be in it.

    Sorted, the E_i of N problems belong to them in random order and increase by e/N, e/(N-1), ... with e standard
    exponential (Renyi, 1953). Since E_i / w_i >= E_i / max_weight, the sample is final once `num` keys are at most the
    last E / max_weight.
    """
    is_left = np.ones(len(rows), np.bool_)
    seen, keys, last = np.empty(0, np.int64), np.empty(0), 0.0
    while True:
        left = np.flatnonzero(is_left)
        some: Ints = rng.choice(left, min(len(left), 4 * max(num, len(seen))), replace=False)
        is_left[some] = False
        growing = last + np.cumsum(rng.standard_exponential(len(some)) / (len(left) - np.arange(len(some))))
        seen, last = np.concatenate([seen, some]), float(growing[-1])
        keys = np.concatenate([keys, growing / np.maximum(weigh(rows[some]), np.finfo(np.float64).tiny)])
        winners = _smallest(keys, num)
        if len(seen) == len(rows) or keys[winners].max() <= last / max_weight:
            return rows[seen[winners]]


def _smallest(keys: Floats, num: int) -> Ints:
    """Positions of the `num` smallest keys, in order of position; ties go to the first positions."""
    if num >= len(keys):
        return np.arange(len(keys))
    cut = np.partition(keys, num - 1)[num - 1]
    below, equal = np.flatnonzero(keys < cut), np.flatnonzero(keys == cut)
    return np.sort(np.concatenate([below, equal[: num - len(below)]]))
