"""History of a curriculum: every visit, every move between pools, and one line of figures per batch.

Visits and batches are stored as columns, so that a long run stays small; events are few and stored as JSON lines.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import polars as pl

from curriculum.pools.transitions import EVENTS, SUSPECTED
from curriculum.statistics.parts import FIGURES as PARTS
from curriculum.statistics.parts import Parts
from curriculum.statistics.stats import STATUSES
from curriculum.statistics.visits import Batch, Floats

VISIT: Final = pl.Schema(
    {
        "draw": pl.Int32,
        "step": pl.Int32,
        "row": pl.Int64,
        "num_correct": pl.Int32,
        "num_wrong": pl.Int32,
        "num_undecided": pl.Int32,
        "rate_after": pl.Float32,
        "e_after": pl.Float32,
    }
)
FIGURES: Final = ("predicted_zero_variance", "zero_variance", "undecided_rate", "disbelieved")
BATCH: Final = pl.Schema(
    [
        ("draw", pl.Int32()),
        ("step", pl.Int32()),
        *((name, pl.Int64()) for name in STATUSES),
        *((name, pl.Float64()) for name in FIGURES),
        ("rate_histogram", pl.List(pl.Int64())),
        ("parts", pl.List(pl.Struct({"part": pl.String(), **dict.fromkeys(PARTS, pl.Int64())}))),
    ]
)


@dataclass
class History:
    """One entry per batch; `visits` is one frame with the columns of `VISIT`."""

    events: list[dict[str, Any]] = field(default_factory=list)  # Any: JSON values
    batches: list[dict[str, Any]] = field(default_factory=list)
    _visits: list[pl.DataFrame] = field(default_factory=list)

    def add_visits(self, batch: Batch, draw: int, step: int, rates: Floats, e_values: Floats) -> None:
        """Record a batch of visits with each problem's success rate and evidence after it."""
        num = len(batch.row)
        columns = (np.full(num, draw), np.full(num, step), batch.row, batch.correct, batch.wrong, batch.undecided)
        figures = dict(zip(VISIT, (*columns, rates, e_values), strict=True))
        self._visits.append(pl.DataFrame(figures).cast(VISIT))

    def add_event(self, event: str, draw: int, step: int, **detail: Any) -> None:
        """Record an event: retired, reopened, checked, parked, returned, quarantined, released, outage, ..."""
        self.events.append({"event": event, "draw": draw, "step": step, **detail})

    @property
    def visits(self) -> pl.DataFrame:
        """All visits in order, as one frame."""
        whole = pl.concat([pl.DataFrame(schema=VISIT), *self._visits])
        self._visits = [whole]
        return whole

    def move_rows(self, moved: pl.DataFrame) -> None:
        """Renumber visits from `row` to `to`; visits of rows that are not listed are dropped."""
        whole = self.visits.join(moved, on="row", how="inner", maintain_order="left")
        self._visits = [whole.with_columns(row=pl.col("to")).select(list(VISIT)).cast(VISIT)]

    def suspects(self) -> Counter[str]:
        """The number of parked suspects of each part."""
        parts: dict[str, str] = {}
        for event in self.events:
            if event["event"] == SUSPECTED:
                parts[event["key"]] = event.get("part", "")
            elif event["event"] in EVENTS:
                parts.pop(event["key"], None)
        return Counter(parts.values())

    def num_suspects(self, parts: Parts) -> dict[str, float]:
        """The same as figures for the log: all, and of each part where there are several."""
        found = self.suspects()
        each = {f"by_part/{name}/suspects": float(found[name]) for name in parts.names} if len(parts.names) > 1 else {}
        return {"suspects": float(found.total()), **each}

    def events_jsonl(self) -> bytes:
        """The events as JSON lines."""
        return "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in self.events).encode()

    def batches_frame(self) -> pl.DataFrame:
        """One row per observed batch."""
        return pl.DataFrame(self.batches, schema=BATCH)


def notices(events: list[dict[str, Any]], draw: int) -> list[str]:
    """The events of a draw that a reader of the log has to know: outages, sources left out, the alarm of canaries."""
    now = [event for event in events if event["draw"] == draw]
    told = {
        "outage": "outage of {where}, visits discarded: {detail}",
        "left_out": "source {where} is left out, {num_problems} problems quarantined: {detail}",
        "alarm": "ALARM: {detail}: the reward is hacked or the verifier leaks; read them (event canary in the state)",
    }
    return [told[name].format(**event) for name in told for event in now if event["event"] == name]


def restore(visits: pl.DataFrame, batches: pl.DataFrame, events: bytes) -> History:
    """A history from its saved parts."""
    lines = [json.loads(line) for line in events.split(b"\n") if line]
    return History(events=lines, batches=batches.to_dicts(), _visits=[visits])
