"""Outage detection: outcomes that are nearly impossible under the curriculum's statistics are discarded.

There are two signs: almost no success in all batches since the last success, where the problems' statistics predict
many; or mostly undecided verdicts. A dead verifier, an endpoint without answers or a broken chat template has these
signs; learning from it would park or reopen every problem of the batch. A sign of some sources discards their visits
only, and a source whose verdicts stay undecided is left out while the others go on; a sign of all sources that lasts
stops training.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from curate.errors import UserError
from curriculum.config import CurriculumConfig
from curriculum.statistics.stats import QUARANTINED, Stats
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
    """What is down (a source, or `BATCH`), the evidence, and whether that is undecided verdicts."""

    where: str
    detail: str
    is_undecided: bool


def find_outages(
    stats: Stats, visits: list[Visit], sources: list[str], doubts: dict[str, float], config: CurriculumConfig
) -> list[Sign]:
    """Outages in this batch, by source or of the whole batch; `sources` is parallel to `visits`.

    `doubts` maps a source or `BATCH` to the log probability of all results since its last success, and is updated.
    """
    parts: dict[str, list[Visit]] = {}
    for visit, source in zip(visits, sources, strict=True):
        if not _is_expected(stats, visit, config):
            parts.setdefault(source, []).append(visit)
    everything = [visit for part in parts.values() for visit in part]
    is_down = len({visit.row for visit in everything}) >= MIN_BATCH_PROBLEMS and _is_unclear(everything, config)
    bad = [
        where
        for where, part in parts.items()
        if _is_unclear(part, config) and (is_down or len({visit.row for visit in part}) >= MIN_SOURCE_PROBLEMS)
    ]
    found = [Sign(where, _undecided(parts[where]), is_undecided=True) for where in bad]
    good = {where: part for where, part in parts.items() if where not in bad}
    return [*found, *_without_success(stats, good, doubts, config)]


def _without_success(
    stats: Stats, parts: dict[str, list[Visit]], doubts: dict[str, float], config: CurriculumConfig
) -> list[Sign]:
    """The sources that nearly lack the predicted successes, or else the whole batch."""
    everything = [visit for part in parts.values() for visit in part]
    whole = _no_success(stats, BATCH, everything, doubts, config)
    if len(parts) < 2:  # the only source is the whole batch
        return [Sign(BATCH, whole, is_undecided=False)] if whole else []
    details = {where: _no_success(stats, where, part, doubts, config) for where, part in parts.items()}
    is_up = {where: doubts[where] == 0 and any(visit.num_correct for visit in part) for where, part in parts.items()}
    if whole and not any(is_up.values()):
        return [Sign(BATCH, whole, is_undecided=False)]
    down = {where: detail or (whole if not is_up[where] else "") for where, detail in details.items()}
    return [Sign(where, detail, is_undecided=False) for where, detail in down.items() if detail]


def of_all(down: list[Sign], trained: set[str]) -> list[Sign]:
    """The signs, with those of undecided sources as one of `BATCH` where they are all the sources that are trained on.

    A batch of one bad source, drawn by chance, is thus not taken for an outage of everything.
    """
    undecided = [sign for sign in down if sign.is_undecided]
    if not undecided or not trained <= {sign.where for sign in undecided}:
        return down
    return [Sign(BATCH, "; ".join(_named(sign, len(undecided)) for sign in undecided), is_undecided=True)]


def _named(sign: Sign, num: int) -> str:
    return f"{sign.where}: {sign.detail}" if num > 1 else sign.detail


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


def lasting(counts: dict[str, int], down: list[Sign], step: int, limit: int) -> list[Sign]:
    """The sources to leave out: undecided in `limit` batches in a row. Raise `Outage` if another sign lasts as long."""
    found = [sign for sign in down if counts[sign.where] >= limit]
    for sign in found:
        if sign.where == BATCH or not sign.is_undecided:
            raise Outage(
                f"training stopped at step {step}: {counts[sign.where]} batches in a row were outages "
                f"({sign.where}: {sign.detail}); repair the verifier or the model and resume"
            )
    return found


def _is_expected(stats: Stats, visit: Visit, config: CurriculumConfig) -> bool:
    """Whether the visit only re-checked a quarantined problem, and could not judge it again."""
    num = visit.num_correct + visit.num_wrong + visit.num_undecided
    return bool(stats.status[visit.row] == QUARANTINED and visit.num_undecided > config.quarantine_rate * num)


def _is_unclear(visits: list[Visit], config: CurriculumConfig) -> bool:
    num_undecided, total = _counts(visits)
    return num_undecided > config.outage_undecided * total


def _undecided(visits: list[Visit]) -> str:
    num_undecided, total = _counts(visits)
    return f"{num_undecided} of {total} verdicts undecided"


def _counts(visits: list[Visit]) -> tuple[int, int]:
    """Undecided completions, and all."""
    num_undecided = sum(visit.num_undecided for visit in visits)
    return num_undecided, num_undecided + sum(visit.num_correct + visit.num_wrong for visit in visits)


def _no_success(
    stats: Stats, where: str, visits: list[Visit], doubts: dict[str, float], config: CurriculumConfig
) -> str:
    """The evidence that these visits nearly lack the predicted successes; empty if they do not."""
    correct = np.array([visit.num_correct for visit in visits], np.int64)
    judged = correct + np.array([visit.num_wrong for visit in visits], np.int64)
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
