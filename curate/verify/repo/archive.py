"""The files of a repository as one archive in memory, with a digest of their contents.

Regular files and links below a folder, without version control, caches and byte code: what a task must not carry.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import stat
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final

from curate.errors import UserError

LEFT_OUT: Final = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".tox",
        ".venv",
        "venv",
        ".eggs",
    }
)
MAX_BYTES: Final = 200 << 20


@dataclass(frozen=True)
class Archive:
    """Files by relative path: their bytes, and which can be executed. Links: their targets."""

    files: Mapping[str, bytes]
    executable: frozenset[str] = frozenset()
    links: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over paths, modes and contents."""
        total = hashlib.sha256()
        for path in sorted(self.files):
            mode = "x" if path in self.executable else "-"
            total.update(f"{mode}{path}\0{hashlib.sha256(self.files[path]).hexdigest()}\n".encode())
        for path, target in sorted(self.links.items()):
            total.update(f"l{path}\0{target}\n".encode())
        return total.hexdigest()

    @cached_property
    def packed(self) -> str:
        """A tar archive, compressed and in base64, as the keeper of a box reads it."""
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for path, content in sorted(self.files.items()):
                info = tarfile.TarInfo(path)
                info.size, info.mode = len(content), 0o755 if path in self.executable else 0o644
                tar.addfile(info, io.BytesIO(content))
            for path, target in sorted(self.links.items()):
                info = tarfile.TarInfo(path)
                info.type, info.linkname = tarfile.SYMTYPE, target
                tar.addfile(info)
        return base64.b64encode(zlib.compress(data.getvalue(), 1)).decode()

    def changed(self, files: Mapping[str, bytes | None]) -> Archive:
        """The archive with other contents of some files; None deletes one."""
        kept = {path: content for path, content in self.files.items() if path not in files}
        kept |= {path: content for path, content in files.items() if content is not None}
        links = {path: target for path, target in self.links.items() if path not in files}
        return Archive(kept, self.executable & kept.keys(), links)

    def below(self, folder: str) -> Archive:
        """The files below a folder, with paths relative to it."""
        start = folder.rstrip("/") + "/"
        files = {path[len(start) :]: content for path, content in self.files.items() if path.startswith(start)}
        executable = frozenset(path[len(start) :] for path in self.executable if path.startswith(start))
        links = {path[len(start) :]: to for path, to in self.links.items() if path.startswith(start)}
        return Archive(files, executable, links)


def read_archive(root: Path, *, leave_out: frozenset[str] = LEFT_OUT) -> Archive:
    """Read a folder; raises `UserError` if it is none, or holds more than `MAX_BYTES`."""
    if not root.is_dir():
        raise UserError(f"{root} is not a folder")
    files, links, executable, total = {}, {}, set(), 0
    for path in _walk(root, leave_out):
        name, mode = path.relative_to(root).as_posix(), path.lstat().st_mode
        if stat.S_ISLNK(mode):
            target = str(path.readlink())
            if not _leaves(name, target):
                links[name] = target
        elif stat.S_ISREG(mode):
            files[name] = path.read_bytes()
            total += len(files[name])
            if mode & stat.S_IXUSR:
                executable.add(name)
        if total > MAX_BYTES:
            raise UserError(f"{root} holds more than {MAX_BYTES >> 20} MB; leave data out of the repository")
    return Archive(files, frozenset(executable), links)


def _walk(root: Path, leave_out: frozenset[str]) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        linked = [name for name in folders if Path(folder, name).is_symlink()]
        folders[:] = sorted(name for name in folders if name not in leave_out and name not in linked)
        for name in sorted([*names, *linked]):
            if name not in leave_out and not name.endswith((".pyc", ".pyo")):
                yield Path(folder, name)


def _leaves(name: str, target: str) -> bool:
    """Whether a link points out of the folder, where the box has something else."""
    if PurePosixPath(target).is_absolute():
        return True
    return os.path.normpath(PurePosixPath(name).parent / target).startswith("..")
