"""The grid of success rates on which the belief about a problem is stated.

A belief is a vector of `CELLS` probabilities: one per ability in `ABILITIES` (logits of the success rate at the start
of the run), then one for "never solved" and one for "always solved", `FAR` logits from one half. The model's progress
maps an ability u to the logit exp(scale) * u + shift: `shift` is gain, a positive `scale` is polarisation. The last two
cells do not move.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from curriculum.statistics.visits import Floats, Ints

ABILITIES: Final = np.linspace(-6.0, 6.0, 49)
SPACING: Final = float(ABILITIES[1] - ABILITIES[0])
CELLS: Final = len(ABILITIES) + 2
FAR: Final = 9.0


def log_likelihood(successes: Floats, failures: Floats, scale: Floats, shift: Floats) -> Floats:
    """Log likelihood of the counts in each cell, shape (problems, CELLS); scale and shift are those of the counts."""
    total, at_start = successes + failures, logits(np.zeros(1), np.zeros(1))
    out = successes[:, None] * at_start - total[:, None] * _softplus(at_start)
    # most problems of a large pool have only the counts from the start
    moved = np.flatnonzero((scale != 0.0) | (shift != 0.0))
    later = logits(scale[moved], shift[moved])
    out[moved] = successes[moved][:, None] * later - total[moved][:, None] * _softplus(later)
    return out


def logits(scale: Floats, shift: Floats) -> Floats:
    """Logit of each cell under each map, shape (maps, CELLS)."""
    out = np.empty((len(scale), CELLS))
    out[:, :-2] = np.exp(scale)[:, None] * ABILITIES + shift[:, None]
    out[:, -2:] = -FAR, FAR
    return out


def rates(scale: Floats, shift: Floats) -> Floats:
    """Success rate of each cell under each map, shape (maps, CELLS)."""
    # the ends of a steep map stay possible
    return np.clip(1.0 / (1.0 + np.exp(-logits(scale, shift))), 1e-9, 1.0 - 1e-9)


def normalised(log_weights: Floats) -> Floats:
    """Rows of probabilities from rows of log weights."""
    weights: Floats = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def binomial(correct: Ints, judged: Ints | int, rate: Floats) -> Floats:
    """P(exactly `correct` of `judged`) at a success rate; arguments broadcast."""
    from scipy.special import gammaln

    wrong = judged - correct
    log_choose = gammaln(judged + 1) - gammaln(correct + 1) - gammaln(wrong + 1)
    mass: Floats = np.exp(log_choose + correct * np.log(rate) + wrong * np.log1p(-rate))
    return mass


def outcome_mass(rate: Floats, num: int) -> Floats:
    """P(k of `num` correct) in each cell, shape (num + 1, *rate.shape)."""
    return binomial(np.arange(num + 1).reshape(-1, *([1] * rate.ndim)), num, rate)


def _softplus(logits: Floats) -> Floats:
    soft: Floats = np.maximum(logits, 0.0) + np.log1p(np.exp(-np.abs(logits)))
    return soft


def draw_cells(belief: Floats, rng: np.random.Generator) -> Ints:
    """One cell per row of `belief`, drawn with its probabilities."""
    edges = np.cumsum(belief, axis=1)
    cells: Ints = (edges < rng.random((len(belief), 1)) * edges[:, -1:]).sum(axis=1)
    return np.minimum(cells, CELLS - 1)
