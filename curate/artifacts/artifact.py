"""An artifact: a folder of Parquet shards that `datasets.load_dataset(folder, "kept")` opens.

    README.md  manifest.json  kept/*.parquet  dropped/*.parquet  samples/*.parquet  plots/*.png

`open_artifact` checks the folder against its manifest and reads it, whole or a batch at a time; `write_shard` and
`seal` create one. No other module builds the path of a shard.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from curate.artifacts.manifest import (
    MANIFEST,
    FileEntry,
    Manifest,
    digest_of,
    read_manifest,
    sha256_of,
    verify_files,
    write_atomic,
)
from curate.errors import UserError

PARTS: Final = ("kept", "dropped", "samples")


@dataclass(frozen=True)
class Artifact:
    """A complete artifact on disk."""

    folder: Path
    manifest: Manifest

    def scan(self, part: str = "kept") -> pl.LazyFrame:
        """A lazy frame over all rows of `kept`, `dropped` or `samples`; `UserError` if the part is missing."""
        return scan_part(self.folder, part)

    def read(self, part: str = "kept") -> pl.DataFrame:
        """All rows of a part, in order."""
        return self.scan(part).collect()

    def batches(self, num_rows: int) -> Iterator[pl.DataFrame]:
        """The kept rows, `num_rows` at a time, in order; only one batch is in memory."""
        for start in range(0, self.manifest.num_kept, num_rows):
            yield self.rows(start, num_rows)

    def rows(self, start: int, num_rows: int) -> pl.DataFrame:
        """Up to `num_rows` kept rows from row `start`, opening only the shards that hold them."""
        before, frames = 0, []
        for entry in sorted(self.manifest.files, key=lambda entry: entry.path):
            if not entry.path.startswith("kept/"):
                continue
            first, last = max(start - before, 0), min(start + num_rows - before, entry.num_rows)
            if first < last:
                frames.append(
                    pl.scan_parquet(self.folder / entry.path, glob=False).slice(first, last - first).collect()
                )
            before += entry.num_rows
        return pl.concat(frames) if frames else self.scan().head(0).collect()


def scan_part(folder: Path, part: str) -> pl.LazyFrame:
    """A lazy frame over the shards of a part, in order, whether or not the artifact is complete."""
    shards = sorted((folder / part).glob("*.parquet"))
    if not shards:
        raise UserError(f"{folder}: has no {part} rows; choose from {', '.join(PARTS)}, or run a stage that has them")
    return pl.scan_parquet(shards, glob=False)


def open_artifact(folder: Path) -> Artifact:
    """Open a complete artifact after checking every file against its manifest; `UserError` names the fault."""
    manifest = read_manifest(folder)
    verify_files(folder, manifest)
    return Artifact(folder, manifest)


def shard_path(folder: Path, part: str, index: int) -> Path:
    """The path of shard `index` of a part."""
    return folder / part / f"part-{index:05d}.parquet"


def write_shard(path: Path, rows: pl.DataFrame) -> None:
    """Write one Parquet file whole or not at all; equal rows give equal bytes."""
    buffer = io.BytesIO()
    rows.write_parquet(buffer, compression="zstd", statistics=False)
    write_atomic(path, buffer.getvalue())


def list_files(folder: Path) -> list[FileEntry]:
    """Every data file of the artifact, in path order, with rows, bytes and hash."""
    paths = sorted(path for part in PARTS for path in (folder / part).glob("*.parquet"))
    return [
        FileEntry(
            path=path.relative_to(folder).as_posix(),
            num_rows=pl.scan_parquet(path).select(pl.len()).collect().item(),
            num_bytes=path.stat().st_size,
            sha256=sha256_of(path),
        )
        for path in paths
    ]


def seal(folder: Path, fields: Mapping[str, Any]) -> Manifest:
    """Write README.md and then manifest.json for the shards in `folder`, which completes the artifact.

    `fields` are the manifest's other fields: stage, version, fingerprint, config, inputs, counts, reasons.
    """
    files = list_files(folder)
    manifest = Manifest(**fields, files=files, digest=digest_of(files))
    write_atomic(folder / "README.md", _readme(manifest).encode())
    # manifest last: its presence means complete
    write_atomic(folder / MANIFEST, (manifest.model_dump_json(indent=1) + "\n").encode())
    return manifest


def _readme(manifest: Manifest) -> str:
    """The minimal card that `load_dataset(folder, part)` needs; `gradus card build` writes the full one."""
    # a part without rows gets no config: load_dataset refuses an empty one
    parts = [part for part in PARTS if any(e.num_rows for e in manifest.files if e.path.startswith(f"{part}/"))]
    configs = "\n".join(f"- config_name: {part}\n  data_files: {part}/*.parquet" for part in parts)
    dropped = "\n".join(f"- `{reason}`: {count}" for reason, count in sorted(manifest.reasons.items()))
    return (
        f"---\nconfigs:\n{configs}\n---\n\n# {manifest.stage}\n\n"
        f"{manifest.num_in} problems in, {manifest.num_kept} kept, {manifest.num_dropped} dropped.\n"
        f"{dropped}{chr(10) if dropped else ''}"
    )
