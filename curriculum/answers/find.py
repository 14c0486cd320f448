"""Finds suspects: problems on which most completions agree on an answer other than the truth.

The evidence is that the answer is given more often than the truth, among the completions that give one of the two. A
problem's answers are tested one by one, in the order in which they first appear. An answer is only known once it has
appeared, so its test counts the completions after that one, and the j-th answer has the share 1/(j(j+1)) of alpha. A
problem whose truth is always at least as likely as each other answer is therefore ever listed with probability at most
alpha, however often one looks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from curriculum.answers.bound import lower_bound

HALF: Final = 0.5
MAX_ANSWERS: Final = 64  # of a problem; those that appear after as many others are not tested


class Said(NamedTuple):
    """One completion: its problem, its answer (None without one), and whether that is the truth."""

    key: str
    answer: str | None
    is_right: bool


@dataclass(frozen=True)
class Suspect:
    """A problem and the answer that most of its completions agree on.

    against_truth: lower bound of the answer's share among completions with it or the truth; above one half.
    bound: lower bound of the answer's share among all completions. Both hold at every time.
    """

    key: str
    answer: str
    num: int
    num_right: int
    total: int
    against_truth: float
    bound: float

    def __str__(self) -> str:
        return f"{self.num} of {self.total} say {self.answer}, {self.num_right} the truth"

    @property
    def share(self) -> float:
        """Share of the completions that gave the answer."""
        return self.num / self.total


@dataclass
class Tally:
    """Completions of one problem, as far as the tests need them.

    others: of each wrong answer, in the order in which they appeared, three counts: the completions that gave it, and
    the correct ones and all before its first one, which do not count.
    """

    num_right: int = 0
    total: int = 0
    others: dict[str, list[int]] = field(default_factory=dict)

    def add(self, answer: str | None, *, is_right: bool) -> None:
        """Count one more completion."""
        if answer is not None and not is_right:
            if answer in self.others:
                self.others[answer][0] += 1
            elif len(self.others) < MAX_ANSWERS:
                self.others[answer] = [1, self.num_right, self.total]
        self.num_right += is_right
        self.total += 1

    def suspect(self, key: str, alpha: float) -> Suspect | None:
        """The problem as a suspect, if it is one."""
        for order, (answer, (num, right_before, before)) in enumerate(self.others.items(), start=1):
            if num > HALF * self.total:
                level, later = alpha / (order * (order + 1)), num - 1
                against_truth = lower_bound(later, later + self.num_right - right_before, level)
                if against_truth > HALF:
                    bound = lower_bound(later, self.total - before - 1, level)
                    return Suspect(key, answer, num, self.num_right, self.total, against_truth, bound)
        return None


def find_suspects(said: Iterable[Said], alpha: float) -> list[Suspect]:
    """The suspects among the problems of `said`, which is in order of time; the surest first."""
    by_key: dict[str, Tally] = {}
    for one in said:
        by_key.setdefault(one.key, Tally()).add(one.answer, is_right=one.is_right)
    found = (tally.suspect(key, alpha) for key, tally in by_key.items())
    return sorted((suspect for suspect in found if suspect), key=lambda suspect: (-suspect.bound, suspect.key))
