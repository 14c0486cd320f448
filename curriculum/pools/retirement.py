"""Retirement of mastered problems by a test that remains valid when evaluated after every visit.

The e-process tests H0 "the success rate is at most p0" by betting. A bet q > p0 multiplies its stake by

    (q/p0)^correct * ((1-q)/(1-p0))^wrong

at each visit. Under H0 the stake never grows in expectation, however the rate varies below p0. It is spread over the
possible first visits of the bet, weight 1/(t(t+1)) on visit t, so that a problem learned late is also found:

    R <- factor * (R + 1/(t(t+1)))        e = mean over bets of R + 1/(t+1), the weight not yet started

By Ville's inequality P(e ever reaches 1/alpha) <= alpha under H0. (Waudby-Smith and Ramdas, "Estimating means of
bounded random variables by betting", 2023; mixture over start times as in the e-detectors of Shin, Ramdas and Rinaldo,
2023.) `threshold` and `posterior` are the rules of public systems, for comparison; they have no such bound.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from curriculum.config import CurriculumConfig
from curriculum.statistics.stats import Stats
from curriculum.statistics.visits import Batch, Floats

NUM_BETS: Final = 4


def bets(p0: float) -> Floats:
    """The grid of bets, shape (NUM_BETS,): fixed fractions of the way from p0 to 1."""
    return p0 + (1.0 - p0) * np.array([0.25, 0.5, 0.75, 0.95])


def is_mastered(stats: Stats, batch: Batch, config: CurriculumConfig) -> npt.NDArray[np.bool_]:
    """Whether each visited problem passes the configured rule; updates the e-process of those judged."""
    judged = batch.judged
    if config.rule == "e_process":
        add_evidence(stats, batch, config.p0)
        return e_value(stats, batch.row) >= 1.0 / config.alpha
    if config.rule == "threshold":
        return (judged > 0) & (batch.correct >= config.threshold * judged)
    if config.rule == "posterior":
        from scipy.special import betainc

        a, b = stats.posterior(batch.row)
        above: Floats = 1.0 - betainc(a, b, config.p0)
        return (judged > 0) & (above > 1.0 - config.alpha)
    return np.zeros(len(batch.row), np.bool_)


def add_evidence(stats: Stats, batch: Batch, p0: float) -> None:
    """Apply the bets of one visit; a visit without judged completions is ignored."""
    seen = batch.judged > 0
    row, correct, wrong = batch.row[seen], batch.correct[seen, None], batch.wrong[seen, None]
    stats.num_tested[row] += 1
    visit = stats.num_tested[row].astype(np.float64)
    begins = 1.0 / (visit * (visit + 1.0))
    q = bets(p0)
    with np.errstate(over="ignore"):  # a group of thousands can make the stake infinite
        factor = np.exp(correct * np.log(q / p0) + wrong * np.log((1.0 - q) / (1.0 - p0)))
        stats.evidence[row] = factor * (stats.evidence[row] + begins[:, None])


def e_value(stats: Stats, rows: npt.NDArray[np.int64]) -> Floats:
    """Evidence against H0, per row; 1 before the first visit."""
    mean: Floats = stats.evidence[rows].mean(axis=1)
    return mean + 1.0 / (stats.num_tested[rows] + 1.0)


def restart(stats: Stats, rows: npt.NDArray[np.int64]) -> None:
    """Reset the evidence: a reopened problem is tested from the start."""
    stats.evidence[rows] = 0.0
    stats.num_tested[rows] = 0
