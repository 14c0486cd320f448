"""The rows that a command trains or evaluates on, from an artifact folder or a file, and which bytes they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from curate.artifacts.artifact import open_artifact
from curate.artifacts.manifest import sha256_of
from curate.errors import UserError

READERS: Final[dict[str, Callable[[Path], pl.DataFrame]]] = {
    ".jsonl": pl.read_ndjson,
    ".ndjson": pl.read_ndjson,
    ".json": pl.read_json,
    ".parquet": pl.read_parquet,
}


class Rows(NamedTuple):
    """A table and the digest of what it was read from."""

    frame: pl.DataFrame
    digest: str


def read_rows(path: Path, part: str = "kept") -> Rows:
    """Read an artifact's part or a file; `UserError` where there is nothing to read or it holds no rows."""
    if path.is_dir():
        artifact = open_artifact(path)
        rows = Rows(artifact.read(part), artifact.manifest.digest)
    elif path.is_file():
        rows = Rows(_read_file(path), sha256_of(path))
    else:
        raise UserError(f"{path}: no such file or folder; give an artifact folder, or a JSONL or Parquet file")
    if rows.frame.is_empty():
        raise UserError(f"{path}: holds no rows; nothing to work on")
    return rows


def need_columns(frame: pl.DataFrame, names: tuple[str, ...], path: Path) -> None:
    """`UserError` naming the first missing column and those that are there."""
    for name in names:
        if name not in frame.columns:
            raise UserError(f"{path}: has no column {name!r}; it has {', '.join(frame.columns)}")


def _read_file(path: Path) -> pl.DataFrame:
    reader = READERS.get(path.suffix)
    if reader is None:
        raise UserError(f"{path}: cannot read {path.suffix or 'a file without an ending'}; use .jsonl or .parquet")
    try:
        return reader(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UserError(f"{path}: not readable as {path.suffix[1:]} ({str(error).splitlines()[0]})") from None
