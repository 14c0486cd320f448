"""How slots go to candidate problems: one function per policy, `(stats, rows, num, rng) -> num distinct rows`.

`rows` are the candidates, at least `num` of them. Weighted draws without replacement use exponential keys: the `num`
smallest of E_i / w_i, with E_i standard exponential, are a weighted sample (Efraimidis and Spirakis, "Weighted random
sampling with a reservoir", 2006). No function loops over problems in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from curriculum.config import CurriculumConfig
from curriculum.stats import Stats
from curriculum.visits import Floats, Ints

Policy = Callable[[Stats, Ints, int, np.random.Generator, CurriculumConfig], Ints]
CONTEST_ROWS: Final = 16_384
MAX_LEARNABILITY: Final = 0.25


def uniform(_: Stats, rows: Ints, num: int, rng: np.random.Generator, __: CurriculumConfig) -> Ints:
    """Every candidate alike."""
    chosen: Ints = rng.choice(rows, num, replace=False, shuffle=False)
    return chosen


def prioritized(stats: Stats, rows: Ints, num: int, rng: np.random.Generator, _: CurriculumConfig) -> Ints:
    """Weight 1 - success rate (Kimi k1.5, 2501.12599, section 2.3.4)."""
    keys = rng.standard_exponential(len(rows)) / (1.0 - stats.mean_rate(rows))
    return rows[_smallest(keys, num)]


def easy_to_hard(stats: Stats, rows: Ints, num: int, _: np.random.Generator, __: CurriculumConfig) -> Ints:
    """Passes over the candidates, each from the easiest to the hardest (by `difficulty`, fixed at the start)."""
    # the pass first: all that the last pass left behind, then the easiest of the next
    visits = stats.num_visits[rows]
    cut = np.partition(visits, num - 1)[num - 1]
    behind, level = rows[visits < cut], rows[visits == cut]
    return np.concatenate([behind, level[_smallest(stats.difficulty[level], num - len(behind))]])


def learnability(stats: Stats, rows: Ints, num: int, rng: np.random.Generator, _: CurriculumConfig) -> Ints:
    """Weight p(1-p) at a Thompson draw p of each success rate, the variance of one reward.

    The keys are exact but lazy: E_i / w_i >= E_i / max w, so problems are looked at in growing E_i only until none
    that is left can win; the Thompson draws of the others are never made.
    """
    exponential = rng.standard_exponential(len(rows))
    num_seen, keys = 0, np.empty(0)
    order = np.empty(0, np.int64)
    while True:
        num_next = min(len(rows), max(4 * num, 4 * num_seen))
        order = _continue_order(exponential, order, num_next)
        a, b = stats.posterior(rows[order[num_seen:]])
        p = rng.beta(a, b)
        weights = np.maximum(p * (1.0 - p), np.finfo(np.float64).tiny)
        keys = np.concatenate([keys, exponential[order[num_seen:]] / weights])
        num_seen = num_next
        winners = _smallest(keys, num)
        if num_seen == len(rows) or keys[winners].max() <= exponential[order].max() / MAX_LEARNABILITY:
            return rows[order[winners]]


def target(stats: Stats, rows: Ints, num: int, rng: np.random.Generator, config: CurriculumConfig) -> Ints:
    """Those whose Thompson draw of the success rate is nearest to `target`.

    Of more than `CONTEST_ROWS` candidates (or 64 per slot) a random part of that size is looked at.
    """
    contest = max(CONTEST_ROWS, 64 * num)
    some = rows if len(rows) <= contest else uniform(stats, rows, contest, rng, config)
    distance = np.abs(rng.beta(*stats.posterior(some)) - config.target)
    return some[_smallest(distance, num)]


POLICIES: Final[dict[str, Policy]] = {
    "uniform": uniform,
    "prioritized": prioritized,
    "easy_to_hard": easy_to_hard,
    "learnability": learnability,
    "target": target,
}


def hardest(stats: Stats, rows: Ints, share: float) -> Ints:
    """The candidates that belong to the hardest `share` of all problems; all of them where none does."""
    hard = rows[stats.difficulty[rows] >= np.quantile(stats.difficulty, 1.0 - share)]
    return hard if len(hard) else rows


def _smallest(keys: Floats, num: int) -> Ints:
    """Positions of the `num` smallest keys, in order of position; of equal keys the first."""
    if num >= len(keys):
        return np.arange(len(keys))
    cut = np.partition(keys, num - 1)[num - 1]
    below, equal = np.flatnonzero(keys < cut), np.flatnonzero(keys == cut)
    return np.sort(np.concatenate([below, equal[: num - len(below)]]))


def _continue_order(exponential: Floats, order: Ints, num: int) -> Ints:
    """`order`, the positions of the smallest values so far, lengthened to `num` without moving its beginning."""
    smallest = _smallest(exponential, num)
    if not len(order):
        return smallest
    is_new = np.ones(len(exponential), np.bool_)
    is_new[order] = False
    return np.concatenate([order, smallest[is_new[smallest]]])
