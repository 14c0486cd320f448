r"""Problems of the demo: sums as expressions and stories, each with a working that a toy model can learn.

A problem is a chain of additions and subtractions, worked in columns from the last digit, each column ending in the
carry of the one before: `47+38:7+8=15,4+3+1=8`. The working is the text between the think marks; the answer follows in
`\boxed{}`. A slip of the teacher is one column that is off by one; the later columns follow from it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

NAMES: Final = ("Ann", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "Jill", "Kim", "Leo")
THINGS: Final = ("figs", "pens", "cards", "shells", "coins", "books", "stamps", "beads")
GAINS: Final = ("gets", "buys", "finds", "wins")
LOSSES: Final = ("loses", "sells", "gives away", "drops")


class Sum(NamedTuple):
    """`terms` joined by `operators`, each of them + or -, one fewer than the terms."""

    terms: tuple[int, ...]
    operators: str

    def __str__(self) -> str:
        return f"{self.terms[0]}" + "".join(f" {o} {t}" for o, t in self.pairs())

    def pairs(self) -> Iterator[tuple[str, int]]:
        """Each later term with the operator before it."""
        return zip(self.operators, self.terms[1:], strict=True)

    def value(self) -> int:
        """The value of the sum."""
        return self.terms[0] + sum(term if o == "+" else -term for o, term in self.pairs())

    def stays_positive(self) -> bool:
        """Whether no partial sum is negative, as the working in columns requires."""
        return all(Sum(self.terms[: n + 2], self.operators[: n + 1]).value() >= 0 for n in range(len(self.operators)))


@dataclass(frozen=True)
class Problem:
    """A question about a sum; `family` is its kind."""

    question: str
    sum: Sum
    family: str

    @property
    def answer(self) -> int:
        """The correct answer."""
        return self.sum.value()

    @property
    def level(self) -> int:
        """Digits of the longest term."""
        return max(len(str(term)) for term in self.sum.terms)

    def working(self) -> str:
        """The correct working, without marks."""
        return work(self.sum)[1]

    def completion(self, slip: Slip | None = None) -> str:
        """The completion of a model that reasons correctly or, with a slip, errs once."""
        value, working = work(self.sum, slip)
        return f"<think>{working}</think>\\boxed{{{value}}}"

    def short_completion(self) -> str:
        """The correct answer without reasoning."""
        return f"<think></think>\\boxed{{{self.answer}}}"


class Slip(NamedTuple):
    """A column, counted from the last digit, and the error of its result."""

    column: int
    off: int


def generate(rng: random.Random) -> Iterator[Problem]:
    """Infinite stream of problems of all families: two terms of one or, mostly, two digits."""
    while True:
        digits = rng.choices((1, 2), (15, 85))[0]
        operator, terms = rng.choice("+++-"), (_term(digits, rng), _term(digits, rng))
        yield _pose(Sum(terms if operator == "+" else (max(terms), min(terms)), operator), rng)


def from_expression(question: str, expression: str, family: str) -> Problem | None:
    """A problem from an expression such as `4 + 38 - 7`; None if it has no working in columns."""
    parts = expression.split()
    if not all(part.isdigit() for part in parts[::2]) or not set(parts[1::2]) <= set("+-"):
        return None
    posed = Sum(tuple(int(part) for part in parts[::2]), "".join(parts[1::2]))
    return Problem(question, posed, family) if posed.stays_positive() else None


def work(posed: Sum, slip: Slip | None = None) -> tuple[int, str]:
    """Value and working of a sum in columns, last digit first.

    The whole sum, with terms padded to equal length, precedes the first column. A column ends in the carry of the one
    before and borrows if it would be negative: `71-26` is `71-26:1-6+10=5,7-2-1=4`.
    """
    width = max(len(str(term)) for term in posed.terms)
    padded = [f"{term:0{width}}" for term in posed.terms]
    carry, value, columns = 0, 0, []
    for column in range(width):
        digits = [term[-1 - column] for term in padded]
        total = Sum(tuple(map(int, digits)), posed.operators).value() + carry
        total += slip.off if slip is not None and slip.column == column else 0
        borrowed = -(total // 10) if total < 0 else 0
        parts = (f"{carry:+}" if carry else "", f"+{borrowed}0" if borrowed else "", f"={total + 10 * borrowed}")
        columns.append(_join(digits, posed.operators) + "".join(parts))
        carry = total // 10
        value += total % 10 * 10**column
    return value + carry * 10**width, ",".join([f"{_join(padded, posed.operators)}:{columns[0]}", *columns[1:]])


def _term(digits: int, rng: random.Random) -> int:
    return rng.randrange(10 ** (digits - 1), 10**digits)


def _pose(posed: Sum, rng: random.Random) -> Problem:
    question, family = rng.choice(
        (
            (f"Compute ${posed}$.", "expression"),
            (f"What is {posed}?", "question"),
            (_story(posed, rng), "story"),
        )
    )
    return Problem(question, posed, family)


def _story(posed: Sum, rng: random.Random) -> str:
    name, thing = rng.choice(NAMES), rng.choice(THINGS)
    events = " and ".join(f"{rng.choice(GAINS if o == '+' else LOSSES)} {term}" for o, term in posed.pairs())
    return f"{name} has {posed.terms[0]} {thing} and {events}. How many {thing} now?"


def _join(terms: list[str], operators: str) -> str:
    return terms[0] + "".join(f"{o}{t}" for o, t in zip(operators, terms[1:], strict=True))
