"""Suspects of a running curriculum: what the completions of each problem answered so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import polars as pl

from curriculum.answers.find import Suspect, Tally
from curriculum.statistics.visits import Visit

SCHEMA: Final = pl.Schema(
    {"row": pl.Int64, "answer": pl.String, "num": pl.Int64, "num_right": pl.Int64, "total": pl.Int64}
)


class Answers:
    """A tally for each problem with completions, by its position in the dataset."""

    def __init__(self, tallies: Mapping[int, Tally] | None = None) -> None:
        self._tallies = dict(tallies or {})

    def learn(self, visits: Sequence[Visit], alpha: float) -> dict[int, str]:
        """Count the completions of visits, in order; returns the suspects among their problems, with the evidence."""
        if not alpha:
            return {}
        for visit in visits:
            for answer, is_right in visit.answers:
                self._tallies.setdefault(visit.row, Tally()).add(answer, is_right=is_right)
        return {
            row: str(suspect)
            for row, suspect in self._among(dict.fromkeys(visit.row for visit in visits), alpha).items()
        }

    def suspects(self, alpha: float) -> dict[int, Suspect]:
        """The suspects so far by position; `alpha` bounds the probability of each whose truth is right."""
        return self._among(self._tallies, alpha)

    def _among(self, rows: Iterable[int], alpha: float) -> dict[int, Suspect]:
        found = {row: self._tallies[row].suspect(str(row), alpha) for row in rows if row in self._tallies}
        return {row: suspect for row, suspect in found.items() if suspect}

    def moved(self, moved: pl.DataFrame) -> Answers:
        """The answers with problems renumbered from `row` to `to`; those that are not listed are dropped."""
        to = dict(moved.select("row", "to").iter_rows())
        return Answers({to[row]: tally for row, tally in self._tallies.items() if row in to})

    def frame(self) -> pl.DataFrame:
        """A line of each problem (its answer is null) and, below it, one of each wrong answer in order."""
        lines = [
            line
            for row, tally in sorted(self._tallies.items())
            for line in (
                (row, None, tally.total, tally.num_right, tally.total),
                *((row, answer, *counts) for answer, counts in tally.others.items()),
            )
        ]
        return pl.DataFrame(lines, schema=SCHEMA, orient="row")

    @classmethod
    def from_frame(cls, frame: pl.DataFrame) -> Answers:
        """The answers of `frame()`."""
        tallies: dict[int, Tally] = {}
        for row, answer, num, num_right, total in frame.iter_rows():
            if answer is None:
                tallies[row] = Tally(num_right, total)
            else:
                tallies[row].others[answer] = [num, num_right, total]
        return cls(tallies)
