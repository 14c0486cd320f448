"""Do two ground truths of one problem contradict each other? As values, not as text: `1/2` and `0.5` do not."""

from __future__ import annotations

from collections.abc import Sequence

from curate.verify import Item, verify_many


def are_in_conflict(pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """For each pair of answers whether `verify` finds them different, whichever of the two is taken for the truth.

    A pair that cannot be decided is no conflict.
    """
    distinct = list(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))
    items = [Item(_boxed(other), one) for one, other in distinct] + [
        Item(_boxed(one), other) for one, other in distinct
    ]
    verdicts = [verdict.verdict for verdict in verify_many(items)] if items else []
    conflicting = {
        pair
        for pair, *both in zip(distinct, verdicts[: len(distinct)], verdicts[len(distinct) :], strict=True)
        if "correct" not in both and "wrong" in both
    }
    return [pair in conflicting for pair in pairs]


def _verdicts(items: Sequence[Item]) -> list[str]:
    return [verdict.verdict for verdict in verify_many(items)] if items else []


def _boxed(answer: str) -> str:
    return f"\\boxed{{{answer}}}"
