"""Problems for training and evaluation: the kept rows of an artifact, or a source read by ingest."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from curate.artifacts.artifact import Artifact
from curate.errors import UserError
from curate.ingest import plan as ingest
from curate.ingest.hub import pinned
from curate.ingest.mapping import NoProblemColumnError
from curate.ingest.source_files import digest_of_source
from curate.ingest.sources import Source, source_at
from curate.records import PROBLEM, schema, with_all_columns
from train.data.rows import LIMITS, Rows, artifact_at


def read_problems(path: Path) -> Rows:
    """The problems of an artifact, a file, a folder or a Hub id; see `problems_of`."""
    try:
        return problems_of(source_at(str(path)))
    except NoProblemColumnError as error:
        raise error.for_readers_of_artifacts(str(path)) from None


def problems_of(source: Source) -> Rows:
    """Problems with unique keys, all checkable; `UserError` names what is missing and how to add it.

    A Hub dataset is read at the commit that its revision currently resolves to; that commit is the digest.
    """
    where = str(source.path or source.hub)
    artifact = artifact_at(source)
    rows = _read_artifact(artifact) if artifact is not None else _read_source(pinned(source))
    if rows.frame.is_empty():
        raise UserError(f"{where}: has no problems; relax the earlier stages, whose manifests list what they dropped")
    checkable = pl.col("ground_truth").is_not_null() | pl.col("tests").is_not_null()
    if num_open := rows.frame.filter(~checkable).height:
        raise UserError(
            f"{where}: {num_open} of {rows.frame.height} problems have no ground truth and no tests; "
            "drop them with gradus curate verifiable"
        )
    return rows


def _read_artifact(artifact: Artifact) -> Rows:
    problems = with_all_columns(artifact.read())
    if missing := [name for name in PROBLEM if name not in problems.columns]:
        raise UserError(f"{artifact.folder}: has no column {missing[0]}; make the artifact with gradus curate")
    return Rows(problems, artifact.manifest.digest)


def _read_source(source: Source) -> Rows:
    found = ingest.read_problems(ingest.plan(source, LIMITS), LIMITS)
    rows = [{name: problem[name] for name in PROBLEM} for _, problem in found]
    problems = pl.DataFrame(rows, schema=schema(PROBLEM), orient="row")
    return Rows(problems.unique("key", keep="first", maintain_order=True), digest_of_source(source))
