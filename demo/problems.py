r"""The demo's problems: arithmetic in expressions and stories, each with the working that a toy model can learn.

A problem is a chain of additions and subtractions, or one multiplication, worked in columns from the last digit, each
column ending in the carry of the one before: `47+38:7+8=15,4+3+1=8`. The working is the text between the think marks;
the answer follows in `\boxed{}`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

NAMES: Final = ("Ann", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "Jill", "Kim", "Leo")
THINGS: Final = ("figs", "pens", "cards", "shells", "coins", "books", "stamps", "beads")
GAINS: Final = ("gets", "buys", "finds", "wins")
LOSSES: Final = ("loses", "sells", "gives away", "drops")


@dataclass(frozen=True)
class Problem:
    """A question, its answer and its working; `family` and `level` say what kind it is and how many digits it takes."""

    question: str
    answer: int
    working: str
    family: str
    level: int

    def completion(self) -> str:
        """What a model that reasons well would write."""
        return f"<think>{self.working}</think>\\boxed{{{self.answer}}}"

    def short_completion(self) -> str:
        """The same without reasoning."""
        return f"<think></think>\\boxed{{{self.answer}}}"


def work(terms: list[int], operators: str) -> tuple[int, str]:
    """Value and working of `terms` joined by `operators`: + and - in any number, or one multiplication by a digit."""
    if operators == "*":
        return terms[0] * terms[1], f"{terms[0]}*{terms[1]}:" + ",".join(_times(terms[0], terms[1]))
    value = terms[0] + sum(term if o == "+" else -term for o, term in zip(operators, terms[1:], strict=True))
    return value, ",".join(_columns(terms, operators))


def is_workable(terms: list[int], operators: str) -> bool:
    """Whether `work` can put it in columns: one multiplication by a digit, or + and - that never fall below zero."""
    if "*" in operators:
        return len(terms) == 2 and terms[1] <= 9
    return all(work(terms[: n + 2], operators[: n + 1])[0] >= 0 for n in range(len(operators)))


def generate(rng: random.Random) -> Iterator[Problem]:
    """Endless problems over all families, harder ones rarer."""
    while True:
        num_terms = rng.choices((2, 3), (96, 4))[0]
        level = rng.choices((1, 2, 3), (15, 82, 3))[0]
        operators = "".join(rng.choice("++-") for _ in range(num_terms - 1))
        if rng.random() < 0.04:
            num_terms, operators = 2, "*"
        terms = [rng.randrange(10 ** (level - 1), 10**level) for _ in range(num_terms)]
        if operators == "*":
            terms[1] = rng.randrange(2, 10)
        if is_workable(terms, operators):
            yield _pose(terms, operators, level, rng)


def from_expression(question: str, expression: str, family: str) -> Problem | None:
    """A problem posed elsewhere as `4 + 38 - 7`; None where it is not workable in columns."""
    parts = expression.split()
    if not all(part.isdigit() for part in parts[::2]) or not set(parts[1::2]) <= set("+-*"):
        return None
    terms, operators = [int(part) for part in parts[::2]], "".join(parts[1::2])
    if not is_workable(terms, operators):
        return None
    answer, working = work(terms, operators)
    return Problem(question, answer, working, family, max(len(part) for part in parts[::2]))


def _pose(terms: list[int], operators: str, level: int, rng: random.Random) -> Problem:
    answer, working = work(terms, operators)
    expression = f"{terms[0]}" + "".join(f" {o} {t}" for o, t in zip(operators, terms[1:], strict=True))
    question, family = rng.choice(
        (
            (f"Compute ${expression}$.".replace("*", r"\times"), "expression"),
            (f"What is {expression}?", "question"),
            (_story(terms, operators, rng), "story"),
        )
    )
    return Problem(question, answer, working, family, level)


def _story(terms: list[int], operators: str, rng: random.Random) -> str:
    name, thing = rng.choice(NAMES), rng.choice(THINGS)
    if operators == "*":
        return f"{name} has {terms[1]} boxes with {terms[0]} {thing} each. How many {thing} in all?"
    verbs = [rng.choice(GAINS if operator == "+" else LOSSES) for operator in operators]
    events = " and ".join(f"{verb} {term}" for verb, term in zip(verbs, terms[1:], strict=True))
    return f"{name} has {terms[0]} {thing} and {events}. How many {thing} now?"


def _columns(terms: list[int], operators: str) -> list[str]:
    """Columns of a chain of additions and subtractions, last digit first.

    The first column has the whole sum in front of it, every term as long as the longest. A column ends in the carry
    of the one before; where it would fall below zero it borrows: `71-26` is `71-26:1-6+10=5,7-2-1=4`.
    """
    width = max(len(str(term)) for term in terms)
    padded = [f"{term:0{width}}" for term in terms]
    carry, columns = 0, []
    for place in reversed(range(width)):
        digits = [term[place] for term in padded]
        total = carry + int(digits[0]) + sum(int(f"{o}{d}") for o, d in zip(operators, digits[1:], strict=True))
        borrowed = -(total // 10) if total < 0 else 0
        parts = (f"{carry:+}" if carry else "", f"+{borrowed}0" if borrowed else "", f"={total + 10 * borrowed}")
        columns.append(_join(digits, operators) + "".join(parts))
        carry = total // 10
    return [f"{_join(padded, operators)}:{columns[0]}", *columns[1:]]


def _join(terms: list[str], operators: str) -> str:
    return terms[0] + "".join(f"{o}{t}" for o, t in zip(operators, terms[1:], strict=True))


def _times(value: int, factor: int) -> list[str]:
    carry, columns = 0, []
    for digit in str(value)[::-1]:
        total = int(digit) * factor + carry
        columns.append(f"{digit}*{factor}{f'+{carry}' if carry else ''}={total}")
        carry = total // 10
    return columns
