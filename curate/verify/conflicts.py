"""Do two ground truths of one problem contradict each other? As values, not as text: `1/2` and `0.5` do not.

The tests of a program contradict others where each other's reference solutions fail them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeVar

from curate.verify.check import verify_many
from curate.verify.verdict import Item

Pair = TypeVar("Pair", bound=Hashable)


class Program(NamedTuple):
    """What a code problem is checked by, and a program that passes it, where the source has one."""

    tests: str | None
    solution: str | None


def are_in_conflict(pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """For each pair of answers whether `verify` finds them different, whichever of the two is taken for the truth.

    A pair that cannot be decided is no conflict.
    """
    distinct = list(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))
    items = [(Item(_boxed(other), one), Item(_boxed(one), other)) for one, other in distinct]
    return _contradicting(pairs, distinct, items)


def tests_in_conflict(pairs: Sequence[tuple[Program, Program]]) -> list[bool]:
    """For each pair of programs whether their solutions fail each other's tests; no conflict where none was run."""
    distinct = list(dict.fromkeys(pair for pair in pairs if pair[0].tests != pair[1].tests))
    items = [(_passing(one, other), _passing(other, one)) for one, other in distinct]
    return _contradicting(pairs, distinct, items)


def _contradicting(pairs: Sequence[Pair], distinct: Sequence[Pair], items: Sequence[tuple[Item, Item]]) -> list[bool]:
    """Which pairs are wrong in one direction and right in none; `items` are the two directions of each distinct one."""
    verdicts = [verdict.verdict for verdict in verify_many([item for both in items for item in both])] if items else []
    conflicting = {
        pair
        for pair, both in zip(distinct, zip(verdicts[::2], verdicts[1::2], strict=True), strict=True)
        if "correct" not in both and "wrong" in both
    }
    return [pair in conflicting for pair in pairs]


def _boxed(answer: str) -> str:
    return f"\\boxed{{{answer}}}"


def _passing(tested: Program, solving: Program) -> Item:
    return Item(f"```python\n{solving.solution or ''}\n```", "", kind="code", tests=tested.tests)
