"""A problem's history in training, read from the files of a run folder.

`draws.jsonl` records its draws and their verdict counts; `curriculum-events.jsonl` beside the newest curriculum state
records when it was retired, re-checked, reopened, parked or quarantined. A torn last line of a running training is
skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from curate.errors import UserError

DRAWS: Final = "draws.jsonl"
STATE: Final = "curriculum.json"
PROBLEMS: Final = "curriculum.parquet"
CHECKPOINT: Final = re.compile(r"checkpoint-\d+")
EVENTS: Final = "curriculum-events.jsonl"


@dataclass(frozen=True)
class Training:
    """A problem in a training run: every draw and event by step, and its current pool and counts."""

    moments: list[Moment]
    standing: str


@dataclass(frozen=True)
class Moment:
    """An event at an optimizer step: `drawn` with the group's counts, or an event of the curriculum."""

    step: int
    event: str
    detail: str


def read_training(run: Path, key: str) -> Training:
    """A problem's history in a run; raises `UserError` if `run` is no training run."""
    return Training(moments(run, key), standing(run, key))


def moments(run: Path, key: str) -> list[Moment]:
    """Every draw and event of a problem in a training run, in order of steps; empty if it was never drawn.

    Raises `UserError` if `run` is no training run.
    """
    if not (run / DRAWS).is_file():
        raise UserError(f"{run}: holds no {DRAWS}; give the folder that gradus train grpo wrote")
    found = [*_draws(run / DRAWS, key), *_events(run, key)]
    return sorted(found, key=lambda moment: (moment.step, moment.event != "drawn"))


def standing(run: Path, key: str) -> str:
    """Pool and counts in the newest state, such as `retired, 12 correct and 4 wrong in 4 visits`; or empty."""
    folder = state_folder(run)
    if folder is None or not (folder / PROBLEMS).is_file():
        return ""
    columns = ("status", "num_correct", "num_wrong", "num_visits")
    found = pl.scan_parquet(folder / PROBLEMS, glob=False).filter(pl.col("key") == key).select(columns).collect()
    if found.is_empty():
        return ""
    status, num_correct, num_wrong, num_visits = found.row(0)
    visits = f"{num_visits} visit{'s' if num_visits != 1 else ''}"
    return f"{status}, {num_correct} correct and {num_wrong} wrong in {visits}"


def state_folder(run: Path) -> Path | None:
    """The folder of the newest curriculum state: the run itself, or its last checkpoint with one."""
    if (run / STATE).is_file():
        return run
    holding = [path.parent for path in run.glob(f"checkpoint-*/{STATE}") if CHECKPOINT.fullmatch(path.parent.name)]
    return max(holding, key=lambda folder: int(folder.name.removeprefix("checkpoint-")), default=None)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The complete lines of a JSON log; `UserError` for one that is not JSON."""
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines[:-1], start=1):  # text after the last line end is torn
        try:
            yield json.loads(line)
        except ValueError as error:
            raise UserError(f"{path}: line {number} is not JSON ({error}); delete that line") from None


def _draws(path: Path, key: str) -> Iterator[Moment]:
    for record in read_lines(path):
        for group, drawn in enumerate(record["keys"]):
            if drawn == key:
                yield Moment(record["step"], "drawn", _counts(record, group))


def _counts(record: dict[str, Any], group: int) -> str:
    """Counts of one group of a draw, such as `5 correct, 2 wrong, 1 undecided`, from the record's parallel lists."""
    counts = {name: record.get(f"num_{name}") for name in ("correct", "wrong", "undecided")}
    return ", ".join(f"{values[group]} {name}" for name, values in counts.items() if values is not None)


def _events(run: Path, key: str) -> Iterator[Moment]:
    folder = state_folder(run)
    if folder is None or not (folder / EVENTS).is_file():
        return
    for record in read_lines(folder / EVENTS):
        if record.get("key") == key:
            yield Moment(record["step"], record["event"], str(record.get("detail", "")))
