"""The manifest of an artifact: its inputs, its contents, and the digests that prove it whole.

`manifest.json` is written last: its presence means complete. It holds no clock time and no machine's path, so an
interrupted and resumed run writes the same bytes as an uninterrupted one. `fingerprint` answers "would a rerun give
the same?", `digest` "are these the same bytes?".
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from curate.errors import UserError

MANIFEST: Final = "manifest.json"


class FileEntry(BaseModel):
    """One data file: path relative to the artifact, rows, bytes and SHA-256."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    num_rows: int
    num_bytes: int
    sha256: str


class Manifest(BaseModel):
    """The contents of `manifest.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stage: str
    version: int
    fingerprint: str
    digest: str
    config: dict[str, Any]
    inputs: dict[str, str]
    num_in: int
    num_kept: int
    num_dropped: int
    reasons: dict[str, int]
    facts: dict[str, Any] = {}
    files: list[FileEntry]


def without_path(place: Path) -> str:
    """A file or folder by its last two names, for texts that must not reveal this machine's paths."""
    return "/".join(place.parts[1:][-2:])


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def fingerprint(stage: str, version: int, config: dict[str, Any], inputs: dict[str, str]) -> str:
    """Hex SHA-256 of everything that decides a stage's output: its name, version, config and input digests."""
    parts = {"stage": stage, "version": version, "config": config, "inputs": inputs}
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()


def digest_of(files: list[FileEntry]) -> str:
    """Hex SHA-256 over the files' paths and hashes, in path order: the identity of an artifact's data."""
    lines = sorted(f"{entry.path} {entry.sha256}" for entry in files)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def sha256_of(path: Path) -> str:
    """Hex SHA-256 of a file's bytes, read in chunks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def temporary_of(path: Path) -> Path:
    """The temporary path of a file while it is written; a kill leaves it there."""
    return path.with_name(f".{path.name}.tmp")


def write_atomic(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees either the old or the new one whole, also after a crash.

    Raises `UserError` if it cannot be written, e.g. on a full disk; a failed attempt leaves nothing behind.
    """
    temporary = temporary_of(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise UserError(f"{path}: {error.strerror}; make room and run the same command again") from error


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a complete artifact; `UserError` states what the folder is instead."""
    path = folder / MANIFEST
    if folder.is_file():
        raise UserError(
            f"{folder}: is a file; import it with `gradus curate ingest {folder} --out FOLDER` and give that folder"
        )
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder; give the folder that a gradus command wrote")
    if not path.exists():
        raise UserError(f"{folder}: holds no {MANIFEST}, so it is not finished; run the command that writes it again")
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{path}: {where or 'the file'}: {first['msg']}; make the artifact again") from None


def verify_files(folder: Path, manifest: Manifest) -> None:
    """Compare every data file with the manifest; `UserError` names the first one missing or changed."""
    for entry in manifest.files:
        path = folder / entry.path
        if not path.is_file():
            raise UserError(f"{path}: missing, though {MANIFEST} lists it; copy the folder again or rebuild it")
        if path.stat().st_size != entry.num_bytes or sha256_of(path) != entry.sha256:
            raise UserError(f"{path}: changed since {MANIFEST} was written; copy the folder again or rebuild it")
