"""Simulated model in training, for `gradus curriculum simulate`: success rates rise with practice and decay without.

A problem's success rate is the logistic of (measured logit + skill of its family + gain on the problem itself). A group
with k of n correct teaches in proportion to 4 k (n - k) / n^2, the variance of its rewards: nothing if it is unanimous.
Skill and gain decay a little every step. The verifier may err or stay undecided.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from curriculum.statistics.visits import Floats, Ints


class Habits(NamedTuple):
    """Learning parameters of a simulated model; gains in logits, chances per completion."""

    family_gain: float  # per step in which half of every group is correct
    own_gain: float  # per visit with half of the group correct
    decay: float  # share of all gains lost per step
    flip_chance: float  # the verdict is inverted
    undecided_chance: float


LEARNERS: Final[dict[str, Habits]] = {
    "still": Habits(0.0, 0.0, 0.0, 0.0, 0.0),
    "steady": Habits(0.02, 0.3, 0.0005, 0.0, 0.0),
    "forgetful": Habits(0.02, 0.5, 0.005, 0.0, 0.0),
    "isolated": Habits(0.0, 1.0, 0.0005, 0.0, 0.0),
    "noisy": Habits(0.02, 0.3, 0.0005, 0.03, 0.05),
}


class Outcome(NamedTuple):
    """Verdict counts of groups, and the true counts that the model learns from."""

    correct: Ints
    undecided: Ints
    truly_correct: Ints


class Learner:
    """Success rates of all problems under practice; `families` are codes from 0."""

    def __init__(self, rates: Floats, families: Ints, habits: Habits, rng: np.random.Generator) -> None:
        clipped = np.clip(rates, 1e-6, 1 - 1e-6)
        self._base = np.log(clipped / (1 - clipped))
        self._families, self._habits, self._rng = families, habits, rng
        self._skill = np.zeros(int(families.max()) + 1)
        self._own = np.zeros(len(rates))

    def rates(self) -> Floats:
        """Current true success rates."""
        rates: Floats = 1.0 / (1.0 + np.exp(-(self._base + self._skill[self._families] + self._own)))
        return rates

    def answer(self, rows: Ints, group_size: int) -> Outcome:
        """Sample a group for each row."""
        logits = self._base[rows] + self._skill[self._families[rows]] + self._own[rows]
        truth = self._rng.binomial(group_size, 1.0 / (1.0 + np.exp(-logits)))
        flip, undecided = self._habits.flip_chance, self._habits.undecided_chance
        right = self._rng.binomial(truth, 1.0 - undecided)
        wrong = self._rng.binomial(group_size - truth, 1.0 - undecided)
        seen = self._rng.binomial(right, 1.0 - flip) + self._rng.binomial(wrong, flip)
        return Outcome(seen, group_size - right - wrong, truth)

    def practise(self, rows: Ints, truly_correct: Ints, group_size: int, num_groups: int) -> None:
        """Train one step on these groups, of a batch of `num_groups`, and apply one step of decay."""
        signal = 4.0 * truly_correct * (group_size - truly_correct) / group_size**2
        np.add.at(self._own, rows, self._habits.own_gain * signal)
        # groups without a gradient dilute the step: they are in the batch but not among these rows
        gains = np.bincount(self._families[rows], signal, minlength=len(self._skill)) / num_groups
        # a family learns in proportion to its share of the batch
        self._skill += self._habits.family_gain * gains * len(self._skill)
        self._own *= 1.0 - self._habits.decay
        self._skill *= 1.0 - self._habits.decay
