"""Which changes of an agent reach the tests: regular source files below the task's source paths, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from curate.verify.repo.box import Change

# read by Python, pytest or an installer before or beside the code
NEVER: Final = frozenset({
    "conftest.py", "sitecustomize.py", "usercustomize.py", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg",
    "setup.py", "pyproject.toml", "noxfile.py",
})  # fmt: skip
NEVER_SUFFIX: Final = (".pth", ".pyc", ".so", ".pyd", ".egg-link")


class Sifted(NamedTuple):
    """files: what is applied, None for a deleted file. left_out: (path, why) of all else."""

    files: dict[str, bytes | None]
    left_out: list[tuple[str, str]]


def sift(changes: Sequence[Change], source_paths: Sequence[str], hidden: frozenset[str]) -> Sifted:
    """Sort changes by the task's rules. hidden: the paths of the hidden tests in the repository."""
    files: dict[str, bytes | None] = {}
    left_out = []
    for change in changes:
        why = _why_not(change, source_paths, hidden)
        if why is None:
            files[change.path] = change.content
        else:
            left_out.append((change.path, why))
    return Sifted(files, left_out)


def _why_not(change: Change, source_paths: Sequence[str], hidden: frozenset[str]) -> str | None:
    path = PurePosixPath(change.path)
    if change.kind not in ("file", "deleted"):
        return f"a {change.kind}, not a file"
    if path.name in NEVER or path.name.endswith(NEVER_SUFFIX):
        return "configures Python or the tests"
    if change.path in hidden or path.name.startswith("test_") or path.stem.endswith("_test"):
        return "a test"
    if not any(change.path == allowed or change.path.startswith(allowed.rstrip("/") + "/") for allowed in source_paths):
        return "outside the source paths"
    if change.kind == "file" and change.content is None:
        return f"{change.size} bytes, too large for a source file"
    return None
