"""The files of a source: those of a folder, of an artifact's kept rows, of a saved dataset, and members of archives."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from curate.artifacts.manifest import MANIFEST, sha256_of
from curate.errors import UserError
from curate.ingest.formats.files import NAMES, format_in, format_of
from curate.ingest.formats.unpacked import DataFile, as_file, is_archive, members_of
from curate.ingest.sources import Source
from curate.tasks.table import is_task_folder, rows

_ABOUT: Final = ("dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json")  # beside the data
STATE, KEPT, DROPPED = "state.json", "kept", "dropped"  # what a stage that runs writes into its folder


def files_of(source: Source) -> list[Path]:
    """The data files of a source on disk, in path order; for an artifact, only its kept rows."""
    path = source.path
    if path is None:
        return []
    if not path.exists():
        raise UserError(f"{path}: no such file or folder; correct the path of source {source.label()}")
    if path.is_file():
        if not is_archive(path) and format_in(path) is None:
            raise UserError(f"{path}: is of an unknown format; use {NAMES}, also compressed or in an archive")
        return [path]
    if is_task_folder(path):
        return [as_file("tasks.jsonl", lambda: rows(path), path)]
    root = path / "kept" if (path / MANIFEST).exists() else _saved(path, source.split)
    found = sorted(file for file in root.rglob("*") if _is_data(file, root))
    if not found:
        raise UserError(f"{path}: holds no {NAMES} file; give a folder with data")
    _refuse_stages(path, root, found)
    return found


def _name_in(root: Path, file: Path) -> str:
    """A file's name for places: its path below the source, or the name of the table of a folder of tasks."""
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else file.name


def _refuse_stages(path: Path, root: Path, files: Sequence[Path]) -> None:
    """Raise `UserError` for the rows of a stage that never finished, and for a folder of artifacts.

    Their kept and dropped rows are not one pool.
    """
    if root != path:
        return
    for folder in dict.fromkeys(
        parent for file in files for parent in file.parents if path in (parent, *parent.parents)
    ):
        if folder != path and (folder / MANIFEST).exists():
            raise UserError(
                f"{path}: holds the artifacts of several stages; name one of them, e.g. {folder}, to read its kept rows"
            )
        if ((folder / DROPPED).is_dir() and (folder / KEPT).is_dir()) or _is_unfinished(folder):
            raise UserError(
                f"{folder}: is the folder of a stage that has not finished, with kept and dropped rows; run its "
                f"command again, or name {folder / KEPT} to read only what it kept so far"
            )


def _is_unfinished(folder: Path) -> bool:
    """Whether a stage began to write here; `datasets.save_to_disk` writes another file of the name."""
    try:
        state = json.loads((folder / STATE).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(state, dict) and "fingerprint" in state and "stage" in state


def data_files(source: Source) -> list[DataFile]:
    """The files of a source to read, with the members of its archives in their place."""
    if source.path is None:
        return []
    root = source.path if source.path.is_dir() else source.path.parent
    files = [DataFile(path, _name_in(root, path)) for path in files_of(source)]
    split = [_members(file) if is_archive(file.path) else [file] for file in files]
    return [file for group in split for file in group]


def _members(archive: DataFile) -> list[DataFile]:
    files = members_of(archive.path, archive.name)
    found = [file for file in files if Path(file.name).name not in _ABOUT and format_of(Path(file.name)) is not None]
    if not found:
        raise UserError(f"{archive.name}: holds no {NAMES} file; give an archive with data")
    return found


def _saved(path: Path, split: str) -> Path:
    """The folder itself, or the split's folder if `datasets.save_to_disk` wrote one per split."""
    index = path / "dataset_dict.json"
    if not index.is_file():
        return path
    if not (path / split).is_dir():
        splits = sorted(folder.name for folder in path.iterdir() if folder.is_dir())
        raise UserError(f"{path}: has no split {split!r}; name one of {', '.join(splits)} in its path or as `split`")
    return path / split


def _is_data(file: Path, root: Path) -> bool:
    is_hidden = any(part.startswith(".") for part in file.relative_to(root).parts)
    is_named = is_archive(file) or format_of(file) is not None
    return file.is_file() and not is_hidden and file.name not in _ABOUT and is_named


def digest_of_source(source: Source) -> str:
    """Identity of a source's content: SHA-256 over its files' names and bytes; for a Hub dataset, its commit."""
    if source.path is None:
        part = ",".join(source.files) or f"{source.subset}/{source.split}"
        return f"{source.hub}@{source.revision or 'main'}/{part}"
    files = files_of(source)
    if files == [source.path]:
        return sha256_of(source.path)
    lines = [f"{_name_in(source.path, file)} {sha256_of(file)}" for file in files]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
