"""Progress of the model, by group: how the logits of success rates have moved since the start of the run.

A problem of ability u in group g has the logit exp(scale_g) * u + shift_g. Both start at 0 and follow a random walk,
tracked by an extended Kalman filter on the outcomes of visits. The evidence is the likelihood of a visit's outcome
given the problem's earlier counts, so that regression to the mean, which the prior explains, is not taken for progress,
and the choice of problems by a policy does not bias it. Groups share a part of every movement; the rest is their own.
The cells "never" and "always" (`grid.py`) take no part: what was never solved does not ride on the gains of others.

`gain_half_life` sets the size of the walk's steps: in that many steps it moves by the standard deviations `SCALE_SD`
and `SHIFT_SD`, in logits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from curriculum.forecast.grid import ABILITIES, outcome_mass, rates
from curriculum.statistics.visits import Floats, Ints

SCALE_SD: Final = 0.25
SHIFT_SD: Final = 0.5
SHARED: Final = 0.7  # share of the walk's variance that is common to all groups
MAX_SCALE: Final = 1.5
MAX_SHIFT: Final = 6.0
MAX_MOVE: Final = 1.0  # by one batch: the filter is linear, and the likelihood of a surprise is not


@dataclass
class Progress:
    """`mean` (2, groups): log scale and shift; `covariance` (2 * groups, 2 * groups) of both, in that order."""

    mean: Floats
    covariance: Floats
    step: int = 0  # of the last visits included

    @classmethod
    def start(cls, num_groups: int) -> Self:
        """No progress yet, known exactly: rates are measured at the start."""
        return cls(np.zeros((2, num_groups)), np.zeros((2 * num_groups, 2 * num_groups)))

    def cell_rates(self) -> Floats:
        """Current success rate of each cell in each group, shape (groups, CELLS)."""
        return rates(self.mean[0], self.mean[1])

    def observe(self, outcomes: Outcomes, step: int, half_life: float) -> None:
        """Learn from visits at `step`; a half-life of 0 keeps rates constant."""
        if half_life == 0 or not len(outcomes.group):
            return
        num = self.mean.shape[1]
        predicted = self.covariance + _walk(num) * (max(step - self.step, 0) / half_life)
        self.step = max(step, self.step)
        gradient, information = outcomes.score(self)
        # (P^-1 + H)^-1 = (I + P H)^-1 P, for a singular P too
        updated = np.linalg.solve(np.eye(2 * num) + predicted @ information, predicted)
        self.covariance = (updated + updated.T) / 2.0
        self.mean = self.mean + np.clip(self.covariance @ gradient, -MAX_MOVE, MAX_MOVE).reshape(2, num)
        self.mean[0] = np.clip(self.mean[0], -MAX_SCALE, MAX_SCALE)
        self.mean[1] = np.clip(self.mean[1], -MAX_SHIFT, MAX_SHIFT)

    def to_json(self) -> dict[str, Any]:
        """As JSON values; floats round-trip exactly."""
        return {"mean": self.mean.tolist(), "covariance": self.covariance.tolist(), "step": self.step}

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Self:
        """The progress that `to_json` wrote."""
        return cls(np.array(saved["mean"]), np.array(saved["covariance"]), saved["step"])


@dataclass(frozen=True)
class Outcomes:
    """Judged visits: group, correct and judged completions, and the belief before each, shape (visits, CELLS)."""

    group: Ints
    correct: Ints
    judged: Ints
    belief: Floats

    def score(self, progress: Progress) -> tuple[Floats, Floats]:
        """Gradient of the log likelihood in (scale, shift) of all groups, and its expected information."""
        num = progress.mean.shape[1]
        gradient, information = np.zeros(2 * num), np.zeros((2 * num, 2 * num))
        cells = progress.cell_rates()
        slopes = np.exp(progress.mean[0])[:, None] * ABILITIES
        for size in np.unique(self.judged):
            here = np.flatnonzero(self.judged == size)
            group = self.group[here]
            by_scale, by_shift, chance = _scores(self.belief[here], cells[group], slopes[group], int(size))
            place = (self.correct[here], np.arange(len(here)))
            np.add.at(gradient, group, by_scale[place])
            np.add.at(gradient, num + group, by_shift[place])
            np.add.at(information, (group, group), (chance * by_scale**2).sum(axis=0))
            np.add.at(information, (num + group, num + group), (chance * by_shift**2).sum(axis=0))
            both = (chance * by_scale * by_shift).sum(axis=0)
            np.add.at(information, (group, num + group), both)
            np.add.at(information, (num + group, group), both)
        return gradient, information


def _scores(belief: Floats, cells: Floats, slopes: Floats, size: int) -> tuple[Floats, Floats, Floats]:
    """Scores in scale and shift of each possible outcome, and its probability; shape (size + 1, visits) each."""
    joint = belief * outcome_mass(cells, size)
    chance = joint.sum(axis=2)
    residual = np.arange(size + 1)[:, None, None] - size * cells[:, :-2]
    weighted = joint[:, :, :-2] * residual / np.maximum(chance, 1e-300)[:, :, None]
    return (weighted * slopes).sum(axis=2), weighted.sum(axis=2), chance


def _walk(num: int) -> Floats:
    """Covariance of the walk over one half-life."""
    common = SHARED * np.ones((num, num)) + (1.0 - SHARED) * np.eye(num)
    zero = np.zeros((num, num))
    return np.block([[SCALE_SD**2 * common, zero], [zero, SHIFT_SD**2 * common]])
