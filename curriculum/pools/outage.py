"""Outage detection: outcomes that are nearly impossible under the curriculum's statistics are discarded.

There are two signs, checked in the whole batch and in each source: almost no success in all batches since the last
success, where the problems' statistics predict many; or mostly undecided verdicts. A dead verifier, an endpoint without
answers or a broken chat template has these signs; learning from it would park or reopen every problem of the batch.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from curate.errors import UserError
from curriculum.config import CurriculumConfig
from curriculum.statistics.stats import Stats
from curriculum.statistics.visits import Floats, Ints, Visit

BATCH: Final = "all sources"
# fewer problems than this may all be undecided without an outage
MIN_BATCH_PROBLEMS: Final = 2
MIN_SOURCE_PROBLEMS: Final = 4
# share of the expected successes; a higher share is a model that got worse, not an outage
NEARLY_NONE: Final = 0.05
LEAST: Final = -500.0  # lower bound of a log probability, so that it stays finite


class Outage(UserError):  # noqa: N818  # the word is the error
    """Several consecutive batches were outages: something that training depends on is down."""


class Sign(NamedTuple):
    """What is down (a source, or `BATCH`) and the evidence."""

    where: str
    detail: str


def find_outages(
    stats: Stats, visits: list[Visit], sources: list[str], doubts: dict[str, float], config: CurriculumConfig
) -> list[Sign]:
    """Outages in this batch: the whole batch, or else some of its sources; `sources` is parallel to `visits`.

    `doubts` maps a source or `BATCH` to the log probability of all results since its last success, and is updated.
    """
    parts = {BATCH: visits}
    for visit, source in zip(visits, sources, strict=True):
        parts.setdefault(source, []).append(visit)
    found: list[Sign] = []
    for where, part in parts.items():
        if detail := _sign(stats, where, part, doubts, config):
            found.append(Sign(where, detail))
            if where == BATCH:
                break  # it includes every source
        if len(parts) == 2:
            break  # the only source is the whole batch
    return found


def in_a_row(counts: dict[str, int], down: list[Sign], sources: list[str]) -> dict[str, int]:
    """Consecutive outages by source or `BATCH`, after a batch with outages `down` and visits to `sources`."""
    places = {sign.where for sign in down}
    # a source that was not visited, or not checked separately, keeps its count
    up = set() if BATCH in places else {BATCH, *sources} - places
    kept = {where: count for where, count in counts.items() if where not in up}
    return kept | {where: counts.get(where, 0) + 1 for where in places}


def believed(visits: list[Visit], sources: list[str], down: list[Sign]) -> list[Visit]:
    """The visits that no outage affects."""
    places = {sign.where for sign in down}
    if BATCH in places:
        return []
    return [visit for visit, source in zip(visits, sources, strict=True) if source not in places]


def refuse_lasting(counts: dict[str, int], down: list[Sign], step: int, limit: int) -> None:
    """Raise `Outage` if an outage of this batch reaches `limit` in a row."""
    for sign in down:
        if counts[sign.where] >= limit:
            raise Outage(
                f"training stopped at step {step}: {counts[sign.where]} batches in a row were outages "
                f"({sign.where}: {sign.detail}); repair the verifier or the model and resume"
            )


def _sign(stats: Stats, where: str, visits: list[Visit], doubts: dict[str, float], config: CurriculumConfig) -> str:
    """The evidence of an outage in these visits; empty if there is none."""
    num_undecided = sum(visit.num_undecided for visit in visits)
    correct = np.array([visit.num_correct for visit in visits], np.int64)
    judged = correct + np.array([visit.num_wrong for visit in visits], np.int64)
    total = num_undecided + int(judged.sum())
    min_problems = MIN_BATCH_PROBLEMS if where == BATCH else MIN_SOURCE_PROBLEMS
    if len({visit.row for visit in visits}) >= min_problems and num_undecided > config.outage_undecided * total:
        return f"{num_undecided} of {total} verdicts undecided"
    rows = np.array([visit.row for visit in visits], np.int64)
    chance = log_chance(int(correct.sum()), stats.successes[rows], stats.failures[rows], judged)
    doubts[where] = 0.0 if chance is None else max(doubts.get(where, 0.0) + chance, LEAST)
    if config.outage_p > 0 and doubts[where] < math.log(config.outage_p):
        return (
            f"{correct.sum()} of {judged.sum()} correct; probability of so little success {math.exp(doubts[where]):.1g}"
        )
    return ""


def log_chance(num_correct: int, successes: Floats, failures: Floats, judged: Ints) -> float | None:
    """Exact log P(at most `num_correct` successes in all groups); None above `NEARLY_NONE` of the expected ones.

    Groups are beta-binomial. The success rate of each is Beta(successes - 1, failures + 1), lower than the posterior:
    a problem that never succeeded, or once by luck, predicts no success, and a pool of hopeless problems is no outage.
    """
    a, b = np.maximum(successes - 1.0, 1e-9), failures + 1.0
    if num_correct > NEARLY_NONE * (judged * a / (a + b)).sum():
        return None
    mass: Floats = np.ones(1)
    for part in _beta_binomials(a, b, judged):
        # only totals up to num_correct matter
        mass = np.convolve(mass, part)[: num_correct + 1].astype(np.float64)
    return max(math.log(max(mass.sum(), sys.float_info.min)), LEAST)


def _beta_binomials(a: Floats, b: Floats, num: Ints) -> Iterator[Floats]:
    from scipy.special import betaln, gammaln

    for a_i, b_i, n in zip(a, b, num, strict=True):
        k = np.arange(n + 1)
        log_choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
        mass: Floats = np.exp(log_choose + betaln(a_i + k, b_i + n - k) - betaln(a_i, b_i))
        yield mass
