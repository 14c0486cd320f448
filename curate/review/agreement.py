"""Agreement of reviewers and error rates of the automatic stages, from people's rulings."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Final, NamedTuple

from curate.review.log import Ruling, latest

Z95: Final = 1.959963984540054  # of the standard normal distribution: 95% between -z and z


class Rate(NamedTuple):
    """A share with its 95% interval: `num_errors` of `num_reviewed` problems."""

    num_errors: float
    num_reviewed: int
    rate: float
    low: float
    high: float


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float:
    """Agreement of two raters beyond chance, in [-1, 1]: (p_o - p_e) / (1 - p_e) (Cohen 1960, eq. 1).

    1.0 if both raters gave the same single category throughout, where the ratio is undefined. `ValueError` without
    pairs.
    """
    if not pairs:
        raise ValueError("no problem was rated by both")
    observed = sum(one == other for one, other in pairs) / len(pairs)
    first, second = (Counter(side) for side in zip(*pairs, strict=True))
    expected = sum(first[category] * second[category] for category in first) / len(pairs) ** 2
    return 1.0 if expected == 1.0 else (observed - expected) / (1 - expected)


def agreements(rulings: Sequence[Ruling]) -> dict[tuple[str, str], tuple[float, int]]:
    """For each two reviewers with common problems: kappa and the number of these problems."""
    words = latest(rulings)
    reviewers = sorted({ruling.reviewer for ruling in rulings})
    found = {}
    for one, other in combinations(reviewers, 2):
        both = [by for by in words.values() if one in by and other in by]
        if both:
            found[one, other] = cohen_kappa([(by[one].decision, by[other].decision) for by in both]), len(both)
    return found


def error_rates(rulings: Sequence[Ruling], queue: str = "audit") -> dict[str, Rate]:
    """By automatic reason, and for `kept`: how often people overruled it, among problems drawn at random.

    A dropped problem that should be kept, unchanged or with its answer corrected, is an error of its reason; a kept one
    that should be dropped or corrected is an error of keeping. A problem counts once, as the share of its reviewers who
    overruled: a second reviewer makes the figure for a problem more certain, but the sample no larger.
    """
    counts: dict[str, tuple[float, int]] = {}
    for by in latest(ruling for ruling in rulings if ruling.queue == queue).values():
        reason = next(reversed(by.values())).drop_reason
        share = sum(word.decision != ("drop" if reason else "keep") for word in by.values()) / len(by)
        errors, total = counts.get(reason or "kept", (0.0, 0))
        counts[reason or "kept"] = errors + share, total + 1
    return {
        reason: Rate(errors, total, errors / total, *wilson(errors, total))
        for reason, (errors, total) in counts.items()
    }


def wilson(num_errors: float, num_reviewed: int) -> tuple[float, float]:
    """The 95% score interval of a share (Wilson 1927), valid for few reviews and shares near 0 or 1."""
    share, weight = num_errors / num_reviewed, Z95**2 / num_reviewed
    centre = (share + weight / 2) / (1 + weight)
    half = math.sqrt(share * (1 - share) * weight + weight**2 / 4) / (1 + weight)
    return max(0.0, centre - half), min(1.0, centre + half)
