"""Counts of the verdicts on one problem's samples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Tally(NamedTuple):
    """Number of verdicts of each kind so far."""

    correct: int = 0
    wrong: int = 0
    undecided: int = 0


def tally(verdicts: Iterable[str]) -> Tally:
    """Count verdicts."""
    names = list(verdicts)
    return Tally(names.count("correct"), names.count("wrong"), names.count("undecided"))
