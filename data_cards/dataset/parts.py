"""The three tables of a dataset, collected from a chain of artifacts and written as Parquet shards.

`kept` holds the rows that the last stage kept, `dropped` those that any stage dropped, and `samples` the models'
completions, both with the stage's name. Only one shard's rows are in memory at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Final

import polars as pl

from curate.artifacts.artifact import Artifact, scan_part, shard_path, write_shard
from curate.errors import UserError
from curate.records import ADDED, DECISION, PROBLEM, SAMPLE, Column, schema

STAGE: Final = Column(pl.String(), "the stage that dropped the row, or that sampled the completion")
SHARD_ROWS: Final = 100_000
# minimum columns of each part, also without any row
LEAST: Final = {
    "kept": schema(PROBLEM),
    "dropped": schema({"stage": STAGE, **DECISION, **PROBLEM}),
    "samples": schema({"stage": STAGE, **SAMPLE}),
}


def gather(chain: Sequence[Artifact], part: str) -> pl.LazyFrame:
    """A part's rows over the chain (`kept`: of its last stage), in the chain's order, with `stage` added."""
    having = [artifact for artifact in (chain[-1:] if part == "kept" else chain) if num_rows(artifact, part)]
    frames = [artifact.scan(part).with_columns(*_stage_column(artifact, part)) for artifact in having]
    if part == "kept" and frames:
        return frames[0]
    return pl.concat([pl.LazyFrame(schema=LEAST[part]), *frames], how="diagonal_relaxed")


def write_parts(chain: Sequence[Artifact], out: Path, max_text_bytes: int) -> None:
    """Write `kept/`, `dropped/` and `samples/` of a dataset into `out`; a part without rows is not written.

    Raises `UserError` for a text longer than `max_text_bytes` or not UTF-8, naming its row or files.
    """
    if not num_rows(chain[-1], "kept"):
        raise UserError(
            f"{chain[-1].folder}: kept no rows, so there is no dataset to publish; loosen the stage that drops them"
        )
    for part in LEAST:
        number = count()
        for start in range(0, _num_gathered(chain, part), SHARD_ROWS):
            rows = _collect(gather(chain, part).slice(start, SHARD_ROWS), f"{chain[-1].folder.parent}/*/{part}")
            _check_text(rows, part, max_text_bytes)
            write_shard(shard_path(out, part, next(number)), rows)


def scan_written(folder: Path, part: str) -> pl.LazyFrame:
    """A part of a dataset folder; empty if `write_parts` had no rows for it."""
    return scan_part(folder, part) if (folder / part).is_dir() else pl.LazyFrame(schema=LEAST[part])


def describe_columns(names: Sequence[str]) -> dict[str, str]:
    """Each column's meaning, from the records; unknown columns get an empty one."""
    known = {"stage": STAGE, **PROBLEM, **ADDED, **DECISION, **SAMPLE, "key": PROBLEM["key"]}
    return {name: known[name].doc if name in known else "" for name in names}


def num_rows(artifact: Artifact, part: str) -> int:
    """Number of rows of a part, from the manifest; 0 if it is missing."""
    return sum(entry.num_rows for entry in artifact.manifest.files if entry.path.startswith(f"{part}/"))


def _num_gathered(chain: Sequence[Artifact], part: str) -> int:
    return sum(num_rows(artifact, part) for artifact in (chain[-1:] if part == "kept" else chain))


def _stage_column(artifact: Artifact, part: str) -> list[pl.Expr]:
    is_named = part == "kept" or "stage" in artifact.scan(part).collect_schema()
    return [] if is_named else [pl.lit(artifact.manifest.stage).alias("stage")]


def _collect(rows: pl.LazyFrame, where: str) -> pl.DataFrame:
    try:
        return rows.collect()
    except pl.exceptions.ComputeError as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{where}: cannot be read ({reason}); run that stage again") from None


def _check_text(rows: pl.DataFrame, part: str, max_text_bytes: int) -> None:
    for name, dtype in rows.schema.items():
        if dtype != pl.String:
            continue
        too_long = rows.filter(pl.col(name).str.len_bytes() > max_text_bytes)
        if too_long.height:
            raise UserError(
                f"{part} row {too_long['key'][0]}: {name} is longer than {max_text_bytes} bytes; "
                "drop the row before publishing, or raise --max-text-bytes"
            )
