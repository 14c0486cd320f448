"""A problem's history in a run or a dataset: its source, each stage's verdict, its samples.

`trace` collects; `data_cards.show.trace` prints. `data_cards.dataset.training` reads its history in training.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import polars as pl

from curate.records import DECISION, PROBLEM
from data_cards.dataset.evidence import Match, Texts, match
from data_cards.dataset.tables import Tables


@dataclass(frozen=True)
class Step:
    """One stage's verdict: `kept`, `dropped` or `not reached`; `evidence` holds the columns that it added."""

    stage: str
    verdict: str
    reason: str | None
    detail: str | None
    evidence: dict[str, Any]


@dataclass(frozen=True)
class Trace:
    """The history of one problem."""

    row: dict[str, Any]
    steps: list[Step]
    duplicates: list[dict[str, Any]]
    match: Match | None
    samples: list[dict[str, Any]]

    @property
    def fate(self) -> str:
        """`kept`, or the stage that dropped it and the reason."""
        stage = self.row["stage"]
        return f"dropped by {stage}: {self.row['drop_reason']}" if stage else "kept"


def trace(tables: Tables, key: str, texts: Texts = MappingProxyType({})) -> Trace:
    """Trace the problem whose key begins with `key`, or that comes from `source#row`.

    `texts` are the benchmarks' items, for evidence that names one without its text.
    """
    row = tables.find(key)
    return Trace(
        row=row,
        steps=_steps(tables, row),
        duplicates=_naming(tables.dropped, row["key"]),
        match=match(tables, row, texts),
        samples=_samples(tables, row["key"]),
    )


def _samples(tables: Tables, key: str) -> list[dict[str, Any]]:
    """The problem's samples in the order of the stages that drew them, then by index."""
    order = [stage.stage for stage in tables.stages]
    rows = tables.samples.filter(pl.col("key") == key).collect().to_dicts()
    return sorted(rows, key=lambda sample: (order.index(sample["stage"]), sample["index"]))


def _steps(tables: Tables, row: Mapping[str, Any]) -> list[Step]:
    steps = []
    has_ended = False
    for stage, adds in zip(tables.stages, tables.adds, strict=True):
        is_end = stage.stage == row["stage"]
        verdict = "not reached" if has_ended else "dropped" if is_end else "kept"
        reason, detail = (row["drop_reason"], row["drop_detail"]) if is_end else (None, None)
        steps.append(Step(stage.stage, verdict, reason, detail, {} if has_ended else _evidence(row, adds)))
        has_ended = has_ended or is_end
    return steps


def _evidence(row: Mapping[str, Any], adds: tuple[str, ...]) -> dict[str, Any]:
    known = {*PROBLEM, *DECISION, "stage"}
    return {name: row[name] for name in adds if name not in known and row.get(name) is not None}


def _naming(dropped: pl.LazyFrame, key: str) -> list[dict[str, Any]]:
    """The rows dropped because of this one: their evidence names its key."""
    return dropped.filter(pl.col("drop_detail").str.contains(key, literal=True)).collect().to_dicts()
