"""The curriculum on disk: files that a person can read and compare, each written whole or not at all.

curriculum.json             version, binding, config, counts; written last: its presence means the rest is there
curriculum.parquet          one row per problem: key, pool and every figure
curriculum-visits.parquet   every visit, in order
curriculum-batches.parquet  the figures of every batch
curriculum-events.jsonl     retired, reopened, parked, returned, quarantined, outage, ...
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from curate.errors import UserError
from curate.manifest import write_atomic
from curriculum.history import VISIT, History, restore
from curriculum.stats import STATUSES, Stats

VERSION: Final = 1
HEADER: Final = "curriculum.json"
PROBLEMS: Final = "curriculum.parquet"
VISITS: Final = "curriculum-visits.parquet"
BATCHES: Final = "curriculum-batches.parquet"
EVENTS: Final = "curriculum-events.jsonl"


@dataclass(frozen=True)
class Saved:
    """What a folder holds. `binding`, `config` and `clock` are the header's tables."""

    folder: Path
    binding: dict[str, str]
    config: dict[str, Any]  # Any: JSON values
    clock: dict[str, Any]
    keys: pl.Series
    stats: Stats
    history: History


def write(folder: Path, header: Mapping[str, Any], keys: pl.Series, stats: Stats, history: History) -> None:
    """Write all files; `header` has the tables binding, config and clock."""
    write_atomic(folder / PROBLEMS, _parquet(_frame(keys, stats)))
    write_atomic(folder / VISITS, _parquet(history.visits))
    write_atomic(folder / BATCHES, _parquet(history.batches_frame()))
    write_atomic(folder / EVENTS, history.events_jsonl())
    text = json.dumps({"version": VERSION, "num_problems": len(stats), **header}, indent=1, ensure_ascii=False)
    write_atomic(folder / HEADER, (text + "\n").encode())


def read(folder: Path) -> Saved:
    """Read all files; `UserError` where one is missing, torn or of another version."""
    header = _read(folder / HEADER, lambda path: json.loads(path.read_bytes()))
    if header.get("version") != VERSION:
        raise UserError(
            f"{folder / HEADER}: version {header.get('version')}, not {VERSION}; use the gradus that wrote it"
        )
    frame = _read(folder / PROBLEMS, pl.read_parquet)
    visits, batches = _read(folder / VISITS, pl.read_parquet), _read(folder / BATCHES, pl.read_parquet)
    events = _read(folder / EVENTS, Path.read_bytes)
    if frame.height != header["num_problems"] or visits.schema != VISIT:
        raise UserError(f"{folder}: its curriculum files do not belong together; resume from another checkpoint")
    tables = {name: header[name] for name in ("binding", "config", "clock")}
    return Saved(folder, **tables, keys=frame["key"], stats=_stats(frame), history=restore(visits, batches, events))


def newest(run: Path) -> Path:
    """The folder of the newest state of a run: the folder itself, or its last checkpoint that holds one."""
    if not run.is_dir():
        raise UserError(f"{run}: no such folder; give a run folder of gradus train, or one of its checkpoints")
    checkpoints = sorted(run.glob(f"checkpoint-*/{HEADER}"), key=lambda path: int(path.parent.name.split("-")[1]))
    if (run / HEADER).exists():
        return run
    if not checkpoints:
        raise UserError(f"{run}: holds no {HEADER}, nor does a checkpoint in it; give a run trained with a curriculum")
    return checkpoints[-1].parent


def refuse_mismatch(saved: Saved, config: Mapping[str, Any], binding: Mapping[str, str], free: frozenset[str]) -> None:
    """`UserError` naming the first thing that the state was not made with; names in `free` may differ."""
    path = saved.folder / HEADER
    for name in sorted({*saved.config, *config}):
        if saved.config.get(name) != config.get(name):
            raise UserError(
                f"{path}: was made with curriculum.{name} {saved.config.get(name)!r}, not {config.get(name)!r}; "
                "set it back, or start a new run with --curriculum-from"
            )
    for name in sorted({*saved.binding, *binding} - free):
        if saved.binding.get(name) != binding.get(name):
            advice = "--adopt-dataset takes it over by key" if name == "dataset" else f"resume with the same {name}"
            was, now = _short(saved.binding.get(name)), _short(binding.get(name))
            raise UserError(f"{path}: belongs to {name} {was}, not {now}; {advice}")


def check_keys(problems: pl.DataFrame, where: str = "the dataset") -> None:
    """`UserError` unless `problems` has unique keys."""
    if "key" not in problems.columns:
        raise UserError(f"{where}: has no column key; make it with gradus curate ingest")
    if problems.height == 0:
        raise UserError(f"{where}: holds no problem; relax the stages before, their manifests say what was dropped")
    if problems["key"].n_unique() < problems.height:
        double = problems["key"].filter(problems["key"].is_duplicated())[0]
        raise UserError(f"{where}: key {double} stands twice; merge duplicates with gradus curate ingest")


def _frame(keys: pl.Series, stats: Stats) -> pl.DataFrame:
    columns = {field.name: stats.__dict__[field.name] for field in fields(Stats)}
    status = pl.Series("status", STATUSES)[pl.Series(columns.pop("status")).cast(pl.Int64)]
    frame = pl.DataFrame({"key": keys, "status": status, **columns})
    # null reads as "none seen" everywhere; NaN does not
    return frame.with_columns(pl.col("tokens_correct", "tokens_wrong").fill_nan(None))


def _stats(frame: pl.DataFrame) -> Stats:
    places = pl.DataFrame({"status": STATUSES, "place": np.arange(len(STATUSES), dtype=np.int8)})
    status = frame.select("status").join(places, on="status", how="left", maintain_order="left")["place"]
    columns = {field.name: frame[field.name] for field in fields(Stats) if field.name != "status"}
    for name in ("tokens_correct", "tokens_wrong"):
        columns[name] = columns[name].fill_null(np.nan)
    return Stats(
        status=status.to_numpy().copy(), **{name: column.to_numpy().copy() for name, column in columns.items()}
    )


def _parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", compression_level=1, statistics=False)
    return buffer.getvalue()


def _read(path: Path, reader: Callable[[Path], Any]) -> Any:  # Any: what the reader returns
    try:
        return reader(path)
    except FileNotFoundError:
        raise UserError(f"{path}: missing; resume from a checkpoint that has it") from None
    except (ValueError, pl.exceptions.PolarsError) as error:
        reason = " ".join(str(error).split())[:100]
        raise UserError(f"{path}: cannot be read ({reason}); resume from another checkpoint") from None


def _short(value: str | None) -> str:
    return "nothing" if value is None else value if len(value) <= 24 else f"{value[:12]}…{value[-8:]}"
