"""Differences between two datasets: rows, decisions, contents, rates, columns, settings and card text.

Rows are matched by key. A row is kept, dropped (by a stage, for a reason) or absent; `moves` lists changes of state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from curate.artifacts.manifest import sha256_of
from data_cards.dataset.facts import flatten
from data_cards.dataset.tables import Tables

ABSENT: Final = "absent"
KEPT: Final = "kept"
NUM_EXAMPLES: Final = 3
RATE: Final = "pass_rate"
# columns measured by sampling: a changed value is a changed rate, not a changed problem
MEASURED: Final = ("num_", "pass_rate", "mean_tokens")
CARD: Final = "README.md"


@dataclass(frozen=True)
class Move:
    """Rows that went from one state to another: `kept`, `absent` or `dropped by STAGE: REASON`."""

    before: str
    after: str
    keys: list[str]


@dataclass(frozen=True)
class Rates:
    """Problems kept in both whose pass rate changed, the largest change first: (key, before, after)."""

    num_changed: int
    mean_change: float
    largest: list[tuple[str, float, float]]


@dataclass(frozen=True)
class Diff:
    """All differences: `contents` holds keys by changed column; `columns` and `config` map names to (old, new)."""

    moves: list[Move]
    contents: dict[str, list[str]]
    rates: Rates | None
    columns: dict[str, tuple[str | None, str | None]]
    config: dict[str, tuple[Any, Any]]
    text: bool

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        return not (self.moves or self.contents or self.rates or self.columns or self.config or self.text)

    def as_json(self) -> dict[str, Any]:
        """The diff as JSON values."""
        return asdict(self)


def diff(before: Tables, after: Tables) -> Diff:
    """Compare two runs or datasets; `before` is the older one."""
    old, new = before.kept, after.kept
    types = [{name: str(dtype) for name, dtype in table.collect_schema().items()} for table in (old, new)]
    shared = [name for name in types[0] if name in types[1] and name != "key"]
    contents = {name: keys for name in shared if not _is_measured(name) and (keys := _changed(old, new, name))}
    return Diff(
        moves=_moves(before, after),
        contents=contents,
        rates=_rates(old, new),
        columns=_changes(*types),
        config=_changes(_settings(before), _settings(after)),
        text=_card(before.folder) != _card(after.folder),
    )


def _moves(before: Tables, after: Tables) -> list[Move]:
    joined = _states(before).join(_states(after), on="key", how="full", coalesce=True, suffix="_after")
    states = joined.with_columns(pl.col("state", "state_after").fill_null(ABSENT))
    moved = states.filter(pl.col("state") != pl.col("state_after"))
    groups = moved.group_by("state", "state_after").agg(pl.col("key").sort()).collect()
    moves = [Move(*row) for row in groups.iter_rows()]
    return sorted(moves, key=lambda move: (-len(move.keys), move.before, move.after))


def _states(tables: Tables) -> pl.LazyFrame:
    dropped = pl.format("dropped by {}: {}", "stage", "drop_reason")
    return pl.concat(
        [
            tables.kept.select("key", state=pl.lit(KEPT)),
            tables.dropped.select("key", state=dropped),
        ]
    )


def _changed(old: pl.LazyFrame, new: pl.LazyFrame, name: str) -> list[str]:
    """Keys of rows kept in both whose value in a column differs; only one column is in memory at a time."""
    pairs = _pairs(old, new, name)
    types = pairs.collect_schema()
    if types["before"] == types["after"]:
        pairs = pairs.filter(pl.col("before").ne_missing(pl.col("after")))
    return pairs.select("key").collect()["key"].to_list()


def _rates(old: pl.LazyFrame, new: pl.LazyFrame) -> Rates | None:
    if RATE not in old.collect_schema() or RATE not in new.collect_schema():
        return None
    change = (pl.col("after") - pl.col("before")).abs()
    pairs = _pairs(old, new, RATE).drop_nulls().with_columns(change=change).filter(pl.col("change") > 0).collect()
    if pairs.is_empty():
        return None
    pairs = pairs.sort(["change", "key"], descending=[True, False])
    largest = list(pairs.select("key", "before", "after").head(NUM_EXAMPLES).iter_rows())
    return Rates(pairs.height, float(pairs["change"].sum() / pairs.height), largest)


def _pairs(old: pl.LazyFrame, new: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """(key, before, after) of a column in the rows kept in both, in the order of `old`."""
    return old.select("key", before=name).join(new.select("key", after=name), on="key", maintain_order="left")


def _settings(tables: Tables) -> dict[str, Any]:
    """Every setting and input of every stage, by dotted name."""
    settings: dict[str, Any] = {}
    for stage in tables.stages:
        values = {"version": stage.version, **stage.config, "inputs": dict(stage.inputs)}
        values["inputs"].pop("pool", None)  # the previous stage's output: its own changes are listed there
        settings |= flatten(values, f"{stage.stage}.")
    return settings


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    names = [*old, *(name for name in new if name not in old)]
    return {name: (old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)}


def _is_measured(name: str) -> bool:
    return name.startswith(MEASURED)


def _card(folder: Path) -> str | None:
    return sha256_of(folder / CARD) if (folder / CARD).is_file() else None
