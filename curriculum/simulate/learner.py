"""A stand-in for the model in training, for `gradus curriculum simulate`: rates rise with practice and fall without it.

A problem's success rate is the logistic of (what was measured + skill of its family + what was learned of the problem
itself). A group with k of n correct teaches in proportion to 4 k (n - k) / n^2, the variance of its rewards: nothing
where it is unanimous. Skill and knowledge decay a little every step. The verifier may err or stay undecided.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from curriculum.statistics.visits import Floats, Ints


class Habits(NamedTuple):
    """How a simulated model learns; gains and decay are in logits, chances per completion."""

    family_gain: float  # per step in which every group is half right
    own_gain: float  # per visit that is half right
    decay: float  # share of everything learned that is lost per step
    flip_chance: float  # probability that the verifier returns the opposite verdict
    undecided_chance: float


LEARNERS: Final[dict[str, Habits]] = {
    "still": Habits(0.0, 0.0, 0.0, 0.0, 0.0),
    "steady": Habits(0.02, 0.3, 0.0005, 0.0, 0.0),
    "forgetful": Habits(0.02, 0.5, 0.005, 0.0, 0.0),
    "isolated": Habits(0.0, 1.0, 0.0005, 0.0, 0.0),
    "noisy": Habits(0.02, 0.3, 0.0005, 0.03, 0.05),
}


class Outcome(NamedTuple):
    """Groups as the verifier saw them, and the truth that the model learns from."""

    correct: Ints
    undecided: Ints
    truly_correct: Ints


class Learner:
    """Rates of all problems under practice; `families` are codes from 0."""

    def __init__(self, rates: Floats, families: Ints, habits: Habits, rng: np.random.Generator) -> None:
        clipped = np.clip(rates, 1e-6, 1 - 1e-6)
        self._base = np.log(clipped / (1 - clipped))
        self._families, self._habits, self._rng = families, habits, rng
        self._skill = np.zeros(int(families.max()) + 1)
        self._own = np.zeros(len(rates))

    def rates(self) -> Floats:
        """True success rates now."""
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
        """One step on these groups, in a batch that has room for `num_groups`, and a step's forgetting."""
        signal = 4.0 * truly_correct * (group_size - truly_correct) / group_size**2
        np.add.at(self._own, rows, self._habits.own_gain * signal)
        # groups without a gradient dilute the step: they are in the batch but not among these rows
        gains = np.bincount(self._families[rows], signal, minlength=len(self._skill)) / num_groups
        # a family's share of the batch decides how much it learns
        self._skill += self._habits.family_gain * gains * len(self._skill)
        self._own *= 1.0 - self._habits.decay
        self._skill *= 1.0 - self._habits.decay
