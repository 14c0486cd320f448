"""Rows that a command reads, with the digest of their source, and detection of artifacts among sources."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from curate.artifacts.artifact import Artifact, open_artifact
from curate.artifacts.folder import STATE
from curate.artifacts.manifest import MANIFEST
from curate.errors import UserError
from curate.ingest.plan import IngestConfig
from curate.ingest.sources import Source

LIMITS: Final = IngestConfig()


class Rows(NamedTuple):
    """A table and the digest of its source."""

    frame: pl.DataFrame
    digest: str


class NoColumnError(UserError):
    """A column that the command needs is missing."""


def artifact_at(source: Source) -> Artifact | None:
    """The artifact at a source, None for raw data; `UserError` where it is unfinished or the source has a map."""
    if source.path is None:
        return None
    # `save_to_disk` writes a file named like that of an unfinished stage, beside dataset_info.json
    is_begun = (source.path / STATE).exists() and not (source.path / "dataset_info.json").exists()
    if not is_begun and not (source.path / MANIFEST).exists():
        return None
    if source.map:
        raise UserError(f"{source.path}: is an artifact, whose columns are known; leave --map out for {source.label()}")
    return open_artifact(source.path)


def need_columns(frame: pl.DataFrame, names: tuple[str, ...], path: Path) -> None:
    """Raise `NoColumnError` for the first missing column; the error lists the existing ones."""
    for name in names:
        if name not in frame.columns:
            raise NoColumnError(f"{path}: has no column {name!r}; it has {', '.join(frame.columns)}")
