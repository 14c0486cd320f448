"""The prior of each group of problems, fitted to the pool by empirical Bayes.

A prior is a distribution over the cells of `grid.py`: a smooth part over abilities, "never solved" and "always solved".
It is the nonparametric maximum-likelihood estimate of the mixing distribution (Laird, "Nonparametric maximum likelihood
estimation of a mixing distribution", 1978), by EM over the counts of the difficulty stage. A group's prior is shrunk to
that of the whole pool, and the pool's to a uniform success rate, from which a group without counts starts. Each visit
moves one problem's share from its belief before to its belief after: incremental EM (Neal and Hinton, "A view of the EM
algorithm", 1998).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
import polars as pl

from curriculum.forecast.grid import ABILITIES, CELLS, log_likelihood
from curriculum.statistics.stats import Stats
from curriculum.statistics.visits import Floats, Ints

NUM_ROUNDS: Final = 100
MAX_FITTED: Final = 65_536  # problems; of more, an evenly spaced part is fitted
ATOM: Final = 0.02  # of "never" and of "always" before any evidence
GROUP_STRENGTH: Final = 4.0  # problems that the pool's prior counts for in a group
POOL_STRENGTH: Final = 2.0  # problems that the uniform prior counts for in the pool


def _uniform() -> Floats:
    """A uniform success rate as cells."""
    rate = 1.0 / (1.0 + np.exp(-ABILITIES))
    density = rate * (1.0 - rate)
    return np.concatenate([(1.0 - 2.0 * ATOM) * density / density.sum(), [ATOM, ATOM]])


UNIFORM: Final = _uniform()


@dataclass
class Population:
    """`names` of the groups; `shares` (groups, CELLS): the problems with evidence, by group and believed cell."""

    names: list[str]
    shares: Floats
    base: Floats  # (groups, CELLS): to which a group's prior is shrunk, fixed once fitted

    @classmethod
    def fit(cls, names: list[str], stats: Stats) -> Self:
        """Fit to the counts of `stats`; a problem without counts says nothing."""
        seen = np.flatnonzero(stats.successes + stats.failures > 0)
        stride = -(-len(seen) // MAX_FITTED) or 1
        rows = seen[::stride]
        base = np.tile(UNIFORM, (len(names), 1))
        if not len(rows):
            return cls(names, np.zeros((len(names), CELLS)), base)
        group, weight, likelihood = _distinct(stats, rows)
        pooled = UNIFORM
        for _ in range(NUM_ROUNDS):
            shares = weight @ _responsibilities(np.broadcast_to(pooled, likelihood.shape), likelihood)
            pooled = _shrunk(shares, UNIFORM, POOL_STRENGTH)
        # a group without evidence may be unlike the rest
        base[np.unique(group)] = pooled
        priors = base
        for _ in range(NUM_ROUNDS):
            by_group = np.zeros((len(names), CELLS))
            np.add.at(by_group, group, weight[:, None] * _responsibilities(priors[group], likelihood))
            priors = _shrunk(by_group, base, GROUP_STRENGTH)
        return cls(names, by_group * (len(seen) / len(rows)), base)

    def priors(self) -> Floats:
        """The prior of each group, shape (groups, CELLS)."""
        return _shrunk(self.shares, self.base, GROUP_STRENGTH)

    def move(self, group: Ints, before: Floats, after: Floats) -> None:
        """Replace problems' beliefs by later ones; a problem without evidence had a belief of zeros."""
        np.add.at(self.shares, group, after - before)
        np.maximum(self.shares, 0.0, out=self.shares)

    def to_json(self) -> dict[str, Any]:
        """As JSON values; floats round-trip exactly."""
        return {"names": self.names, "shares": self.shares.tolist(), "base": self.base.tolist()}

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Self:
        """The population that `to_json` wrote."""
        return cls(list(saved["names"]), np.array(saved["shares"]), np.array(saved["base"]))


def _shrunk(shares: Floats, prior: Floats, strength: float) -> Floats:
    counts = shares + strength * prior
    normed: Floats = counts / counts.sum(axis=-1, keepdims=True)
    return normed


def _responsibilities(priors: Floats, likelihood: Floats) -> Floats:
    joint = priors * likelihood
    shares: Floats = joint / joint.sum(axis=1, keepdims=True)
    return shares


def _distinct(stats: Stats, rows: Ints) -> tuple[Ints, Floats, Floats]:
    """Group, number of problems and likelihood of each distinct evidence: a measured pool has few."""
    evidence = {
        "group": stats.group[rows],
        "successes": stats.successes[rows],
        "failures": stats.failures[rows],
        "scale_at": stats.scale_at[rows],
        "shift_at": stats.shift_at[rows],
    }
    table = pl.DataFrame(evidence).group_by(list(evidence), maintain_order=True).len("num")
    figures = (table[name].to_numpy() for name in ("successes", "failures", "scale_at", "shift_at"))
    log_like = log_likelihood(*figures)
    likelihood = np.exp(log_like - log_like.max(axis=1, keepdims=True))
    return table["group"].to_numpy().astype(np.int64), table["num"].to_numpy().astype(np.float64), likelihood
