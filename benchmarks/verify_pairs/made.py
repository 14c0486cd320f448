"""Result of a kind, and two helpers for fractions that most kinds use."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import NamedTuple

Rng = random.Random


class Made(NamedTuple):
    """A ground truth, answers that equal it, and answers that differ from it."""

    truth: str
    equal: tuple[str, ...]
    different: tuple[str, ...]


def frac(value: Fraction, command: str = "frac") -> str:
    """LaTeX of a fraction, its sign in front."""
    sign = "-" if value < 0 else ""
    return f"{sign}\\{command}{{{abs(value.numerator)}}}{{{value.denominator}}}"


def proper(r: Rng) -> Fraction:
    """A proper fraction that is no finite decimal."""
    bottom = r.choice([3, 7, 9, 11, 13])
    return Fraction(r.choice([top for top in range(1, bottom) if top % 3]), bottom)
