"""Data files as paths that readers can open: members of archives and compressed tables are unpacked once.

A text file is decompressed as it is read (`rows.opened`). What readers must seek in, such as Parquet, and the members
of a .zip or .tar are written to a temporary folder, which lives as long as the process (TMPDIR sets its place).
"""

from __future__ import annotations

import shutil
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path, PurePosixPath
from typing import IO, Final, NamedTuple

from curate.errors import UserError
from curate.ingest.formats.rows import compression_of, opened
from curate.process_wide import ProcessWide

COMPRESSED: Final = (".gz", ".bz2", ".xz", ".lzma", ".zst", ".zstd")
_WORKBOOKS: Final = (".xlsx", ".xlsm")
_ARCHIVES: Final = (".zip", ".tar", ".tgz", ".tbz2", ".txz")
_HIDDEN: Final = ("__MACOSX",)
_MAX_DEPTH: Final = 3


class DataFile(NamedTuple):
    """A file to read: its path, and its name for places (`pool.zip/train.jsonl`)."""

    path: Path
    name: str


class _Room:
    """The temporary folder, and the files in it by their origin."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="gradus-")
        self.numbers = count()
        self.made: dict[tuple[str, int, int], list[DataFile]] = {}

    def place(self, name: str) -> Path:
        """A new path whose name ends in `name`, so that its format is known."""
        folder = Path(self.folder.name) / str(next(self.numbers))
        folder.mkdir()
        return folder / PurePosixPath(name).name


_ROOM: Final = ProcessWide(_Room, lambda room: room.folder.cleanup())


def plain_name(name: str) -> str:
    """A file's name without the suffixes of compression."""
    lower = name.lower()
    ending = next((ending for ending in COMPRESSED if lower.endswith(ending)), "")
    return name[: len(name) - len(ending)] if ending else name


def is_archive(path: Path) -> bool:
    """Whether a file is an archive: by its name, also of a compressed one, or by its content if it is a .zip."""
    suffix = Path(plain_name(path.name)).suffix.lower()
    if suffix in _ARCHIVES or suffix in _WORKBOOKS or not path.is_file():
        return suffix in _ARCHIVES
    with path.open("rb") as file:
        if file.read(4) != b"PK\x03\x04":
            return False
    try:
        with zipfile.ZipFile(path) as pack:
            return "[Content_Types].xml" not in pack.namelist()
    except zipfile.BadZipFile:
        return False


def members_of(archive: Path, name: str, depth: int = 1) -> list[DataFile]:
    """The files in an archive and in the archives inside it, by name; raises `UserError` for a damaged one."""
    stat = archive.stat()
    key = (str(archive), stat.st_mtime_ns, stat.st_size)
    made = _ROOM.get().made
    if key not in made:
        try:
            made[key] = sorted(_unpacked(archive, name), key=lambda file: file.name)
        except (
            zipfile.BadZipFile,
            zlib.error,
            tarfile.TarError,
            EOFError,
            RuntimeError,
            NotImplementedError,
            OSError,
        ) as error:
            raise UserError(f"{name}: cannot be unpacked ({error}); unpack it and give the folder") from None
    files = made[key]
    if depth > _MAX_DEPTH:
        raise UserError(f"{name}: archives in archives, {_MAX_DEPTH} deep; unpack it and give the folder")
    inner = [members_of(file.path, file.name, depth + 1) if is_archive(file.path) else [file] for file in files]
    return [file for group in inner for file in group]


def seekable(path: Path) -> Path:
    """The file itself, or an uncompressed copy of a compressed one; raises what `opened` raises."""
    with path.open("rb") as file:
        if compression_of(file.read(8)) is None:
            return path
    stat = path.stat()
    key = (str(path), stat.st_mtime_ns, stat.st_size)
    made = _ROOM.get().made
    if key not in made:
        copy = _ROOM.get().place(plain_name(path.name))
        with opened(path) as source, copy.open("wb") as target:
            shutil.copyfileobj(source, target)
        made[key] = [DataFile(copy, path.name)]
    return made[key][0].path


def as_file(name: str, lines: Callable[[], Iterator[str]], source: Path) -> Path:
    """Lines that are made from a source, as a file; made once."""
    key = (str(source), 0, 0)
    made = _ROOM.get().made
    if key not in made:
        copy = _ROOM.get().place(name)
        copy.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")
        made[key] = [DataFile(copy, name)]
    return made[key][0].path


def standard_input() -> Path:
    """What standard input holds, as a file."""
    copy = _ROOM.get().place("stdin")
    with copy.open("wb") as target:
        shutil.copyfileobj(sys.stdin.buffer, target)
    if not copy.stat().st_size:
        raise UserError("-: standard input is empty; pipe rows into the command")
    return copy


def _unpacked(archive: Path, name: str) -> Iterator[DataFile]:
    for member, source in _open_members(archive):
        parts = PurePosixPath(member).parts
        if any(part.startswith(".") or part in _HIDDEN for part in parts):
            continue
        copy = _ROOM.get().place(member)
        with source, copy.open("wb") as target:
            shutil.copyfileobj(source, target)
        yield DataFile(copy, f"{name}/{member}")


def _open_members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Name and content of each file in an archive, in the order in which they are stored."""
    if not Path(plain_name(archive.name)).suffix.lower().startswith(".t"):
        with zipfile.ZipFile(seekable(archive)) as pack:
            for info in pack.infolist():
                if not info.is_dir():
                    yield info.filename, pack.open(info)
        return
    with opened(archive) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
        for entry in tar:
            if entry.isfile() and (content := tar.extractfile(entry)) is not None:
                yield entry.name, content
