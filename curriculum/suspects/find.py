"""Finds suspects: problems on which most completions agree on an answer other than the truth.

The evidence is that the answer is given more often than the truth, among the completions that give one of the two. A
problem's answers are tested one by one, in the order in which they first appear. An answer is only known once it has
appeared, so its test counts the completions after that one, and the j-th answer has the share 1/(j(j+1)) of alpha. A
problem whose truth is always at least as likely as each other answer is therefore ever listed with probability at most
alpha, however often one looks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from curriculum.suspects.bound import lower_bound

HALF: Final = 0.5


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

    @property
    def share(self) -> float:
        """Share of the completions that gave the answer."""
        return self.num / self.total


def find_suspects(said: Iterable[Said], alpha: float) -> list[Suspect]:
    """The suspects among the problems of `said`, which is in order of time; the surest first."""
    by_key: dict[str, list[Said]] = {}
    for one in said:
        by_key.setdefault(one.key, []).append(one)
    found = (_suspect(key, rows, alpha) for key, rows in by_key.items())
    return sorted((suspect for suspect in found if suspect), key=lambda suspect: (-suspect.bound, suspect.key))


def _suspect(key: str, rows: list[Said], alpha: float) -> Suspect | None:
    firsts: dict[str, int] = {}
    for place, row in enumerate(rows):
        if row.answer is not None and not row.is_right:
            firsts.setdefault(row.answer, place)
    for order, (answer, first) in enumerate(firsts.items(), start=1):
        later = rows[first + 1 :]
        num = sum(row.answer == answer and not row.is_right for row in later)
        if num + 1 > HALF * len(rows):
            level = alpha / (order * (order + 1))
            against_truth = lower_bound(num, num + sum(row.is_right for row in later), level)
            if against_truth > HALF:
                num_right, bound = sum(row.is_right for row in rows), lower_bound(num, len(later), level)
                return Suspect(key, answer, num + 1, num_right, len(rows), against_truth, bound)
    return None
