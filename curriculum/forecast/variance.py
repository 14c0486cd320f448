"""Probability that a group has no gradient: all completions correct or all wrong, so that every advantage is 0."""

from __future__ import annotations

import numpy as np

from curriculum.statistics.visits import Floats


def zero_variance_rate(a: Floats, b: Floats, group_size: int) -> Floats:
    """P(all or none of `group_size` are correct) per problem, for a success rate of Beta(a, b); 1 for a group of one.

    E[p^n] = prod_{i<n} (a + i) / (a + b + i), and E[(1-p)^n] likewise.
    """
    all_correct, none_correct = np.ones_like(a), np.ones_like(a)
    for i in range(group_size):
        all_correct *= (a + i) / (a + b + i)
        none_correct *= (b + i) / (a + b + i)
    # a group of one counts in both terms
    return np.minimum(all_correct + none_correct, 1.0)
