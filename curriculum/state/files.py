"""Files of a saved curriculum, readable and comparable by people, each written atomically.

curriculum.json             version, binding, config, counts; written last: its presence means complete
curriculum.parquet          one row per problem: key, pool and every figure
curriculum-visits.parquet   every visit, in order
curriculum-batches.parquet  the figures of every batch
curriculum-answers.parquet  what completions answered, with `suspect_alpha`
curriculum-events.jsonl     retired, reopened, parked, returned, quarantined, outage, ...
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from curate.artifacts.manifest import write_atomic
from curate.errors import UserError
from curriculum.answers.watch import Answers
from curriculum.config import CurriculumConfig
from curriculum.forecast.forecast import Forecast
from curriculum.forecast.forecaster import Forecaster
from curriculum.forecast.groups import ONE_GROUP
from curriculum.forecast.population import Population
from curriculum.forecast.progress import Progress
from curriculum.state.earlier import in_current_form
from curriculum.state.history import History, restore
from curriculum.statistics.stats import STATUSES, Stats

VERSION: Final = 3
READABLE: Final = (2, VERSION)
TRAVELLING: Final = "curriculum"  # folder of the state that `gradus card push --with-curriculum` adds to a dataset
RUN_CONFIG: Final = "config.yaml"  # of a training run, which exists before its first checkpoint
HEADER: Final = "curriculum.json"
PROBLEMS: Final = "curriculum.parquet"
VISITS: Final = "curriculum-visits.parquet"
BATCHES: Final = "curriculum-batches.parquet"
EVENTS: Final = "curriculum-events.jsonl"
ANSWERS: Final = "curriculum-answers.parquet"


@dataclass(frozen=True)
class Saved:
    """The contents of a state folder. `binding`, `config` and `clock` are the header's tables."""

    folder: Path
    binding: dict[str, str]
    config: dict[str, Any]  # Any: JSON values
    clock: dict[str, Any]
    keys: pl.Series
    stats: Stats
    forecaster: Forecaster
    history: History
    answers: Answers

    def forecast(self) -> Forecast:
        """The success rates when the state was saved."""
        return self.forecaster.forecast(self.stats, self.clock["step"])


def write(
    folder: Path, header: Mapping[str, Any], keys: pl.Series, stats: Stats, history: History, answers: Answers
) -> None:
    """Write all files; `header` has the tables binding, config, clock and forecast."""
    parts = {
        PROBLEMS: _parquet(_frame(keys, stats)),
        VISITS: _parquet(history.visits),
        BATCHES: _parquet(history.batches_frame()),
        EVENTS: history.events_jsonl(),
    }
    if (said := answers.frame()).height:
        parts[ANSWERS] = _parquet(said)
    for name, data in parts.items():
        write_atomic(folder / name, data)
    files = {name: hashlib.sha256(data).hexdigest() for name, data in parts.items()}
    text = json.dumps({"version": VERSION, **header, "files": files}, indent=1, ensure_ascii=False)
    write_atomic(folder / HEADER, (text + "\n").encode())


def read(folder: Path) -> Saved:
    """Read all files; `UserError` if one is missing, torn, from another state or of another version."""
    header = _header(folder / HEADER)
    data = {name: _bytes(folder / name) for name in header["files"]}
    for name, digest in header["files"].items():
        if hashlib.sha256(data[name]).hexdigest() != digest:
            raise UserError(f"{folder / name}: changed since {HEADER} was written; resume from another checkpoint")
    problems, visits, batches = (pl.read_parquet(io.BytesIO(data[name])) for name in (PROBLEMS, VISITS, BATCHES))
    header, problems = in_current_form(header, problems)
    tables = {name: header[name] for name in ("binding", "config", "clock")}
    stats, history = _stats(problems), restore(visits, batches, data[EVENTS])
    if "forecast" in header:
        forecaster = Forecaster.from_json(header["forecast"])
    else:
        forecaster = Forecaster(Population.fit([ONE_GROUP], stats), Progress.from_json(header["progress"]))
    answers = Answers.from_frame(pl.read_parquet(io.BytesIO(data[ANSWERS]))) if ANSWERS in data else Answers()
    keys = problems["key"]
    return Saved(folder, **tables, keys=keys, stats=stats, forecaster=forecaster, history=history, answers=answers)


def newest(run: Path) -> Path:
    """The folder of the newest state: `run` itself, its last checkpoint, or the state inside a dataset."""
    if not run.is_dir():
        raise UserError(f"{run}: no such folder; give a run folder of gradus train, or one of its checkpoints")
    for folder in (run, run / TRAVELLING):
        if (folder / HEADER).exists():
            return folder
    steps = {path.parent: path.parent.name.removeprefix("checkpoint-") for path in run.glob(f"checkpoint-*/{HEADER}")}
    checkpoints = {folder: int(step) for folder, step in steps.items() if step.isdecimal()}
    if not checkpoints and (run / RUN_CONFIG).is_file():
        raise UserError(f"{run}: has no checkpoint yet, which holds the state; try again after --saving.steps")
    if not checkpoints:
        raise UserError(f"{run}: holds no {HEADER}, nor does a checkpoint in it; give a run trained with a curriculum")
    return max(checkpoints, key=checkpoints.__getitem__)


def refuse_mismatch(saved: Saved, config: Mapping[str, Any], binding: Mapping[str, str], free: frozenset[str]) -> None:
    """`UserError` naming the first setting or binding that differs from the state; names in `free` may differ."""
    path = saved.folder / HEADER
    # a setting that came later has its default
    before = {**json.loads(CurriculumConfig().model_dump_json()), **saved.config}
    for name in sorted({*before, *config}):
        if before.get(name) != config.get(name):
            raise UserError(
                f"{path}: was made with curriculum.{name} {before.get(name)!r}, not {config.get(name)!r}; "
                "restore it, or start a new run with --curriculum-from"
            )
    for name in sorted({*saved.binding, *binding} - free):
        if saved.binding.get(name) != binding.get(name):
            advice = "--adopt-dataset maps it by key" if name == "dataset" else f"resume with the same {name}"
            what = _difference(name, saved.binding.get(name, ""), binding.get(name, ""))
            raise UserError(f"{path}: belongs to {what}; {advice}")


def check_keys(problems: pl.DataFrame, where: str = "the dataset") -> None:
    """`UserError` unless `problems` has unique keys."""
    if "key" not in problems.columns:
        raise UserError(f"{where}: has no column key; make it with gradus curate ingest")
    if problems.height == 0:
        raise UserError(f"{where}: holds no problem; relax the stages before, their manifests list what was dropped")
    if problems["key"].n_unique() < problems.height:
        double = problems["key"].filter(problems["key"].is_duplicated())[0]
        raise UserError(f"{where}: key {double} is not unique; merge duplicates with gradus curate ingest")


def _frame(keys: pl.Series, stats: Stats) -> pl.DataFrame:
    columns = {field.name: stats.__dict__[field.name] for field in fields(Stats)}
    status = pl.Series("status", STATUSES)[pl.Series(columns.pop("status")).cast(pl.Int64)]
    frame = pl.DataFrame({"key": keys, "status": status, **columns})
    # null means "none seen" in every reader; NaN does not
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


def _header(path: Path) -> dict[str, Any]:
    try:
        header: dict[str, Any] = json.loads(_bytes(path))
    except ValueError as error:
        raise UserError(f"{path}: is not JSON ({error}); resume from another checkpoint") from None
    if header.get("version") not in READABLE:
        raise UserError(f"{path}: is of version {header.get('version')}, not {VERSION}; use the gradus that wrote it")
    if missing := {"binding", "config", "clock", "files"} - header.keys():
        raise UserError(f"{path}: lacks {min(missing)}; resume from another checkpoint")
    return header


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path}: missing; resume from a checkpoint that has it") from None


def _difference(name: str, was: str, now: str) -> str:
    """`name was, not now`; where both are JSON tables, the first entry that differs."""
    if was.startswith("{") and now.startswith("{"):
        old, new = json.loads(was), json.loads(now)
        entry = min(entry for entry in old.keys() | new.keys() if old.get(entry) != new.get(entry))
        return f"{name} {entry} {old.get(entry)!r}, not {new.get(entry)!r}"
    return f"{name} {_short(was)}, not {_short(now)}"


def _short(value: str) -> str:
    return "nothing" if not value else value if len(value) <= 24 else f"{value[:12]}…{value[-8:]}"
