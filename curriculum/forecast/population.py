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

from curriculum.forecast.grid import ABILITIES, CELLS, log_likelihood, outcome_mass, rates
from curriculum.statistics.stats import Stats
from curriculum.statistics.visits import Floats, Ints

NUM_ROUNDS: Final = 200
MAX_FITTED: Final = 65_536  # problems; of more, an evenly spaced part is fitted
ATOM: Final = 0.02  # of "never" and of "always" before any evidence
GROUP_STRENGTH: Final = 4.0  # problems that the pool's prior counts for in a group
POOL_STRENGTH: Final = 2.0  # problems that the uniform prior counts for in the pool
LEAST_KEPT: Final = 1e-3


def _uniform() -> Floats:
    """A uniform success rate as cells."""
    rate = 1.0 / (1.0 + np.exp(-ABILITIES))
    density = rate * (1.0 - rate)
    return np.concatenate([(1.0 - 2.0 * ATOM) * density / density.sum(), [ATOM, ATOM]])


UNIFORM: Final = _uniform()


@dataclass
class Population:
    """Counts of problems by group and cell, shape (groups, CELLS) each."""

    names: list[str]  # of the groups
    shares: Floats  # the problems with evidence, by believed cell
    base: Floats  # what a group's prior is shrunk to, and the problems that were dropped; fixed once fitted

    @classmethod
    def fit(cls, names: list[str], stats: Stats) -> Self:
        """Fit to the counts of `stats`; a problem without counts says nothing."""
        seen = np.flatnonzero(stats.successes + stats.failures > 0)
        rows = seen[:: -(-len(seen) // MAX_FITTED) or 1]
        shares, base = np.zeros((len(names), CELLS)), np.tile(GROUP_STRENGTH * UNIFORM, (len(names), 1))
        if not len(rows):
            return cls(names, shares, base)
        group, weight, likelihood = _distinct(stats, rows)
        kept, alone = _kept_chance(stats, rows), np.zeros_like(group)
        prior = POOL_STRENGTH * UNIFORM[None]
        pooled = prior + sum(_maximised(likelihood, weight, alone, prior, kept))
        # a group without evidence may be unlike the rest
        measured, place = np.unique(group, return_inverse=True)
        strength = np.tile(GROUP_STRENGTH * _normed(pooled), (len(measured), 1))
        fitted, dropped = _maximised(likelihood, weight, place, strength, kept)
        scale = len(seen) / len(rows)
        shares[measured], base[measured] = fitted * scale, strength + dropped * scale
        return cls(names, shares, base)

    def priors(self) -> Floats:
        """The prior of each group, shape (groups, CELLS)."""
        return _normed(self.shares + self.base)

    def mean_belief(self) -> Floats:
        """The mean belief about a group's problems, shape (groups, CELLS); its prior where none has evidence."""
        has_evidence = self.shares.sum(axis=1, keepdims=True) > 0
        return _normed(np.where(has_evidence, self.shares, self.base))

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


def _normed(counts: Floats) -> Floats:
    normed: Floats = counts / counts.sum(axis=-1, keepdims=True)
    return normed


def _maximised(
    likelihood: Floats, weight: Floats, group: Ints, strength: Floats, kept: Floats
) -> tuple[Floats, Floats]:
    """Problems of the pool by group and cell, and those that were dropped, after `NUM_ROUNDS` of EM.

    The pool holds only problems that were kept, with the chance `kept` in each cell: for the number that was, EM adds
    the number that must have been dropped (Dempster, Laird and Rubin, 1977, section 4.2.2).
    """
    counts = strength
    for _ in range(NUM_ROUNDS):
        prior = _normed(counts)
        by_group = np.zeros_like(strength)
        np.add.at(by_group, group, weight[:, None] * _normed(prior[group] * likelihood))
        passed = (prior * kept).sum(axis=1, keepdims=True)
        dropped = by_group.sum(axis=1, keepdims=True) * prior * (1.0 - kept) / passed
        counts = by_group + dropped + strength
    return by_group, dropped


def _kept_chance(stats: Stats, rows: Ints) -> Floats:
    """Chance of each cell that the difficulty stage keeps a problem: its band is read off the counts.

    Of K samples, at least as many are right, and at least as many wrong, as in any problem of the pool.
    """
    successes, failures = stats.successes[rows], stats.failures[rows]
    num = round(float((successes + failures).max()))
    low, high = int(np.ceil(successes.min())), num - int(np.ceil(failures.min()))
    mass = outcome_mass(rates(np.zeros(1), np.zeros(1))[0], num)
    kept: Floats = np.maximum(mass[low : high + 1].sum(axis=0), LEAST_KEPT)
    return kept


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
