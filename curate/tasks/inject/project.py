"""A Python project as `inject-bugs` sees it: its files, which of them are source and which are tests."""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from curate.errors import UserError
from curate.verify.repo.archive import Archive, read_archive

NOT_SOURCE: Final = frozenset({"setup.py", "conftest.py", "noxfile.py", "versioneer.py", "tasks.py"})
NOT_SOURCE_FOLDERS: Final = frozenset(
    {"docs", "doc", "examples", "benchmarks", "bench", "scripts", "tools", "tests", "test"}
)
_LICENCES: Final = (
    ("Apache License", "Apache-2.0"), ("MIT License", "MIT"), ("Permission is hereby granted, free of charge", "MIT"),
    ("Redistribution and use in source and binary forms", "BSD"), ("GNU GENERAL PUBLIC", "GPL"),
    ("Mozilla Public License", "MPL-2.0"),
)  # fmt: skip


@dataclass(frozen=True)
class Project:
    """name, all files, the source files, the test files, what the tests read, and the licence or `unknown`."""

    name: str
    files: Archive
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    support: tuple[str, ...]
    licence: str

    @property
    def source_paths(self) -> tuple[str, ...]:
        """The top of each package, or the module, in which a fix may be."""
        tops = {
            "/".join(PurePosixPath(path).parts[: 2 if path.startswith(("src/", "lib/")) else 1])
            for path in self.sources
        }
        return tuple(sorted(tops))


def read_project(path: Path) -> Project:
    """Read a folder, or a source distribution; raises `UserError` if it has no source or no tests."""
    files = _files(path)
    python = sorted(name for name in files.files if name.endswith(".py"))
    tests = tuple(name for name in python if _is_test(name))
    homes = {str(PurePosixPath(name).parent) for name in tests}
    # what lies beside or below tests belongs to them: data, helpers, conftest.py
    support = tuple(
        name
        for name in sorted(files.files)
        if name not in tests
        and any(str(parent) in homes - {"."} for parent in PurePosixPath(name).parents)
        and _is_support(name)
    )
    sources = tuple(name for name in python if name not in tests and name not in support and _is_source(name))
    if not sources or not tests:
        missing = "test files (test_*.py, *_test.py)" if sources else "Python source files"
        raise UserError(f"{path}: holds no {missing}; give a project with its tests, such as a source distribution")
    name = re.sub(r"-\d[\w.]*$", "", path.name.removesuffix(".tar.gz").removesuffix(".zip"))
    return Project(name, files, sources, tests, support, _licence(files))


def _files(path: Path) -> Archive:
    if path.is_dir():
        return read_archive(path)
    if not path.is_file():
        raise UserError(f"{path}: no such file or folder; give a source distribution or a folder")
    try:
        files = dict(_unpacked(path))
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError) as error:
        raise UserError(f"{path}: is no source distribution ({error}); give a .tar.gz, a .zip or a folder") from None
    tops = {name.partition("/")[0] for name in files}
    if len(tops) == 1 and all("/" in name for name in files):
        files = {name.partition("/")[2]: content for name, content in files.items()}
    return Archive({name: content for name, content in files.items() if not name.endswith((".pyc", ".pyo"))})


def _unpacked(path: Path) -> list[tuple[str, bytes]]:
    """Regular files of an archive whose paths stay inside."""
    data = path.read_bytes()
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as pack:
            found = [(name, pack.read(name)) for name in pack.namelist() if not name.endswith("/")]
    else:
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            found = [
                (member.name, file.read()) for member in tar if member.isreg() and (file := tar.extractfile(member))
            ]
    return [(name.removeprefix("./"), content) for name, content in found if not _leaves(name)]


def _leaves(name: str) -> bool:
    return name.startswith("/") or ".." in PurePosixPath(name).parts


def _is_test(name: str) -> bool:
    path = PurePosixPath(name)
    return path.name.startswith("test_") or path.stem.endswith("_test")


def _is_support(name: str) -> bool:
    parts = PurePosixPath(name).parts[:-1]
    return any(part in ("tests", "test", "testing") for part in parts) or name.endswith("conftest.py")


def _is_source(name: str) -> bool:
    path = PurePosixPath(name)
    return path.name not in NOT_SOURCE and not set(path.parts[:-1]) & NOT_SOURCE_FOLDERS and path.parts[0] != ".github"


def _licence(files: Archive) -> str:
    for name in sorted(files.files):
        if PurePosixPath(name).stem.upper() in ("LICENSE", "LICENCE", "COPYING") and "/" not in name:
            text = files.files[name].decode("utf-8", "replace")
            return next((licence for words, licence in _LICENCES if words in text), "unknown")
    return "unknown"
