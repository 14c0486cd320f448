"""Compares two ground truths of one problem as values, not as text: `1/2` and `0.5` are the same answer.

Two sets of tests contradict if the reference solution of each fails the tests of the other.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final, Literal, NamedTuple, TypeVar

from curate.verify.check import verify_many
from curate.verify.policy import Policy
from curate.verify.verdict import Item, VerdictName

_VALUES: Final = Policy(unevaluated="accept")  # 2+3 and 5 are no conflict
Relation = Literal["same", "different", "undecided"]
Pair = TypeVar("Pair", bound=Hashable)


class Program(NamedTuple):
    """The tests of a code problem, and a program that passes them if the source has one."""

    tests: str | None
    solution: str | None


def compare_answers(pairs: Sequence[tuple[str, str]]) -> list[Relation]:
    """The relation of each pair of answers by `verify`, with either of the two as the ground truth.

    `same` where it accepts one of them, `different` where it accepts neither and rejects one.
    """
    distinct = list(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))
    items = [(Item(_boxed(other), one), Item(_boxed(one), other)) for one, other in distinct]
    return _relations(pairs, distinct, items)


def are_in_conflict(pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """For each pair of answers whether `verify` finds them different; a pair that cannot be decided is no conflict."""
    return [relation == "different" for relation in compare_answers(pairs)]


def tests_in_conflict(pairs: Sequence[tuple[Program, Program]]) -> list[bool]:
    """For each pair of programs, whether their solutions fail each other's tests; no conflict if none was run."""
    distinct = list(dict.fromkeys(pair for pair in pairs if pair[0].tests != pair[1].tests))
    items = [(_passing(one, other), _passing(other, one)) for one, other in distinct]
    return [relation == "different" for relation in _relations(pairs, distinct, items)]


def _relations(pairs: Sequence[Pair], distinct: Sequence[Pair], items: Sequence[tuple[Item, Item]]) -> list[Relation]:
    """What each pair is; `items` are the two directions of each distinct one, and every other pair is the same."""
    asked = [item for both in items for item in both]
    verdicts = [verdict.verdict for verdict in verify_many(asked, policy=_VALUES)] if asked else []
    both = zip(verdicts[::2], verdicts[1::2], strict=True)
    found = {pair: _relation(sides) for pair, sides in zip(distinct, both, strict=True)}
    return [found.get(pair, "same") for pair in pairs]


def _relation(verdicts: tuple[VerdictName, VerdictName]) -> Relation:
    if "correct" in verdicts:
        return "same"
    return "different" if "wrong" in verdicts else "undecided"


def _boxed(answer: str) -> str:
    return f"\\boxed{{{answer}}}"


def _passing(tested: Program, solving: Program) -> Item:
    return Item(f"```python\n{solving.solution or ''}\n```", "", kind="code", tests=tested.tests)
