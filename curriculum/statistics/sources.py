"""The sources of the problems, by which outages are detected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from curriculum.statistics.stats import ACTIVE, Stats
from curriculum.statistics.visits import Ints, Visit


class Sources:
    """The source of each problem; one empty source for all where the dataset has no such column."""

    def __init__(self, problems: pl.DataFrame) -> None:
        self._names = problems["source"].fill_null("") if "source" in problems.columns else None
        self._num = problems.height

    def of(self, visits: Sequence[Visit]) -> list[str]:
        """The source of each visit's problem."""
        if self._names is None:
            return [""] * len(visits)
        return self._names[[visit.row for visit in visits]].to_list()

    def rows(self, source: str) -> Ints:
        """The problems of a source."""
        if self._names is None:
            return np.arange(self._num)
        return np.flatnonzero((self._names == source).to_numpy())

    def trained(self, stats: Stats) -> set[str]:
        """Sources with an active problem."""
        if self._names is None:
            return {""}
        return set(self._names.filter(pl.Series(stats.status == ACTIVE)).unique())
