"""The problems that a command trains or is evaluated on: an artifact's kept rows, or a file read as ingest reads it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import polars as pl

from curate.artifacts.artifact import open_artifact
from curate.artifacts.manifest import MANIFEST
from curate.errors import UserError
from curate.ingest.builder import Builder, Problem, Unusable
from curate.ingest.plan import IngestConfig, plan
from curate.ingest.sources import Source, digest_of_source, pinned, read_rows, source_at
from curate.records import PROBLEM, schema
from train.data.rows import Rows

LIMITS: Final = IngestConfig()


def read_problems(path: Path) -> Rows:
    """The problems of an artifact, a file, a folder or a Hub id; see `problems_of`."""
    return problems_of(source_at(str(path)))


def problems_of(source: Source) -> Rows:
    """Problems with unique keys, every one of them checkable; `UserError` names what is missing and the way to it.

    A Hub dataset is read at the commit that its revision means now, and that commit is the digest.
    """
    where = str(source.path or source.hub)
    is_artifact = source.path is not None and (source.path / MANIFEST).exists()
    if is_artifact and source.map:
        raise UserError(f"{where}: is an artifact, whose columns are known; leave --map out for {source.label()}")
    rows = _read_artifact(Path(where)) if is_artifact else _read_source(pinned(source))
    if rows.frame.is_empty():
        raise UserError(f"{where}: holds no problem; relax the stages before, their manifests say what was dropped")
    checkable = pl.col("ground_truth").is_not_null() | pl.col("tests").is_not_null()
    if num_open := rows.frame.filter(~checkable).height:
        raise UserError(
            f"{where}: {num_open} of {rows.frame.height} problems have nothing to check an answer against; "
            "drop them with gradus curate verifiable"
        )
    return rows


def _read_artifact(path: Path) -> Rows:
    artifact = open_artifact(path)
    if missing := [name for name in PROBLEM if name not in artifact.scan().collect_schema()]:
        raise UserError(f"{path}: has no column {missing[0]}; make the artifact with gradus curate")
    return Rows(artifact.read(), artifact.manifest.digest)


def _read_source(source: Source) -> Rows:
    planned = plan(source, LIMITS)
    builder = Builder(planned.columns, source.label(), LIMITS.max_prompt_bytes, planned.first_index)
    problems = pl.DataFrame(list(_usable(builder, source)), schema=schema(PROBLEM), orient="row")
    return Rows(problems.unique("key", keep="first", maintain_order=True), digest_of_source(source))


def _usable(builder: Builder, source: Source) -> Iterator[Problem]:
    for number, row in enumerate(read_rows(source, LIMITS.max_row_bytes)):
        if row.record is None:
            continue
        try:
            problem = builder.problem(row.record, number)
        except Unusable:
            continue
        yield {name: problem[name] for name in PROBLEM}
