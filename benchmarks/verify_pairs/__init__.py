r"""Pairs of answers that are equal or different by construction, in about seventy kinds, from a seed.

Each kind is a function from a random source to `Made(truth, equal, different)`. Spellings vary (LaTeX and plain,
spacing, order, units), and the differences are typical mistakes of models: a sign, a factor, an end point, a swapped
pair, one value too many.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from verify_pairs import collected, constants, expressions, measures, numbers, words
from verify_pairs.made import Made, Rng

KINDS: Final[dict[str, Callable[[Rng], Made]]] = {
    **numbers.KINDS,
    **measures.KINDS,
    **collected.KINDS,
    **expressions.KINDS,
    **constants.KINDS,
    **words.KINDS,
}


class Pair(NamedTuple):
    """One pair and its right verdict."""

    kind: str
    ground_truth: str
    answer: str
    is_equal: bool


def pairs(num_rounds: int, seed: int = 0) -> Iterator[Pair]:
    """All pairs of `num_rounds` draws of every kind; the same for the same seed."""
    for number in range(num_rounds):
        for kind, make in KINDS.items():
            made = make(random.Random(f"{seed}:{kind}:{number}"))
            for answer in made.equal:
                yield Pair(kind, made.truth, answer, True)
            for answer in made.different:
                yield Pair(kind, made.truth, answer, False)
