"""The three tables of a dataset, gathered from a chain of artifacts and written as Parquet shards.

`kept` is what the last stage kept, `dropped` what any stage dropped, with the stage's name, and `samples` what models
said along the way. One stage's rows are in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Final

import polars as pl

from curate.artifact import Artifact, shard_path, write_shard
from curate.errors import UserError
from curate.records import ADDED, DECISION, PROBLEM, SAMPLE, Column

STAGE: Final = Column(pl.String(), "the stage that dropped the row, or that sampled the completion")
SHARD_ROWS: Final = 100_000


def write_parts(chain: Sequence[Artifact], out: Path, max_text_bytes: int) -> None:
    """Write `kept/`, `dropped/` and `samples/` of a dataset into `out`.

    Raises `UserError` at a text longer than `max_text_bytes` or one that is not UTF-8, naming problem and column.
    """
    last = chain[-1]
    _write(out, "kept", _slices(last, "kept", list(last.scan("kept").collect_schema()), {}), max_text_bytes)
    _write(out, "dropped", _of_all(chain, "dropped"), max_text_bytes)
    _write(out, "samples", _of_all(chain, "samples"), max_text_bytes)


def describe_columns(names: Sequence[str]) -> dict[str, str]:
    """Each column's meaning, from the records; a column that no record knows gets an empty one."""
    known = {"stage": STAGE, **PROBLEM, **ADDED, **DECISION, **SAMPLE}
    return {name: known[name].doc if name in known else "" for name in names}


def _of_all(chain: Sequence[Artifact], part: str) -> Iterator[pl.DataFrame]:
    """The part's rows of every stage that has some, all with the same columns: stage and decision first."""
    having = [artifact for artifact in chain if _num_rows(artifact, part)]
    schema: dict[str, pl.DataType] = {"stage": pl.String()}
    if part == "dropped":
        schema.update({name: column.dtype for name, column in DECISION.items()})
    for artifact in having:
        schema.update(artifact.scan(part).collect_schema())
    for artifact in having:
        yield from _slices(artifact, part, list(schema), {**schema})


def _slices(
    artifact: Artifact, part: str, columns: list[str], schema: dict[str, pl.DataType]
) -> Iterator[pl.DataFrame]:
    rows = artifact.scan(part)
    missing = [name for name in columns if name not in rows.collect_schema()]
    rows = rows.with_columns(
        pl.lit(artifact.manifest.stage if name == "stage" else None, dtype=schema[name]).alias(name) for name in missing
    ).select(columns)
    for start in range(0, _num_rows(artifact, part), SHARD_ROWS):
        try:
            yield rows.slice(start, SHARD_ROWS).collect()
        except (pl.exceptions.ComputeError, pl.exceptions.SchemaError, UnicodeDecodeError) as error:
            reason = " ".join(str(error).split())
            raise UserError(f"{artifact.folder}/{part}: cannot be read ({reason}); run its stage again") from None


def _write(out: Path, part: str, frames: Iterator[pl.DataFrame], max_text_bytes: int) -> None:
    index = count()
    for frame in frames:
        _check_text(frame, part, max_text_bytes)
        write_shard(shard_path(out, part, next(index)), frame)
    if part == "kept" and next(index) == 0:
        raise UserError(
            "the last stage kept no rows, so there is no dataset to publish; loosen the stage that drops all"
        )


def _check_text(frame: pl.DataFrame, part: str, max_text_bytes: int) -> None:
    for name, dtype in frame.schema.items():
        if dtype != pl.String:
            continue
        too_long = frame.filter(pl.col(name).str.len_bytes() > max_text_bytes)
        if too_long.height:
            key = too_long["key"][0]
            raise UserError(
                f"{part} row {key}: {name} is longer than {max_text_bytes} bytes; "
                "drop the row before publishing, or raise --max-text-bytes"
            )


def _num_rows(artifact: Artifact, part: str) -> int:
    return sum(entry.num_rows for entry in artifact.manifest.files if entry.path.startswith(f"{part}/"))
