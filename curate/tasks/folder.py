"""Reads and writes tasks as Harbor folders (task.toml, schema 1.4: instruction, environment, tests, solution).

The environment's `repo` is the base, `tests/hidden` the hidden tests, `solution/files` what the solution changes.
`[metadata.gradus]` in task.toml holds what Harbor has no field for. `tests/test.sh` scores a task where Harbor runs it;
it is weaker than `curate.verify.repo.grade`, which also has canaries.
"""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Final

from curate.errors import UserError
from curate.tasks.task import Task
from curate.verify.repo.archive import Archive, read_archive
from curate.verify.repo.grade import RepoTests

TOML: Final = "task.toml"
REPO, HIDDEN, FILES = "environment/repo", "tests/hidden", "solution/files"
IMAGE: Final = "python:3.11-slim"
TEST_SH: Final = "#!/bin/sh\nexec python3 -I /tests/score.py\n"
SOLVE_SH: Final = "#!/bin/sh\ncp -R /solution/files/. /repo/\n"


def write_task(folder: Path, task: Task) -> Path:
    """Write one task as FOLDER/NAME, by way of a temporary folder; returns its path."""
    place, part = folder / task.name, folder / f".{task.name}.part"
    shutil.rmtree(part, ignore_errors=True)
    _write(part / REPO, task.base)
    _write(part / HIDDEN, task.tests.files)
    files = {path: content for path, content in (task.reference or {}).items() if content is not None}
    if task.reference is not None:
        _write(part / FILES, Archive(files))
        _script(part / "solution/solve.sh", SOLVE_SH)
    (part / "tests/names.json").write_text(json.dumps(task.tests.named, indent=1) + "\n", encoding="utf-8")
    score = resources.files("curate.tasks.carried") / "score.py"
    (part / "tests/score.py").write_text(score.read_text(encoding="utf-8"), encoding="utf-8")
    _script(part / "tests/test.sh", TEST_SH)
    packages = " ".join(("pytest", *task.tests.packages))
    dockerfile = f"FROM {IMAGE}\nRUN pip install --no-cache-dir {packages}\nCOPY repo /repo\nWORKDIR /repo\n"
    (part / "environment/Dockerfile").write_text(dockerfile, encoding="utf-8")
    (part / "instruction.md").write_text(task.instruction, encoding="utf-8")
    (part / TOML).write_text(_toml(task), encoding="utf-8")
    shutil.rmtree(place, ignore_errors=True)
    part.rename(place)
    return place


def read_task(folder: Path) -> Task:
    """Read a Harbor folder; raises `UserError` for one that is none or is damaged.

    A task without `[metadata.gradus]` has no named tests and needs its image: it is kept, with `problem` set.
    """
    try:
        settings = tomllib.loads((folder / TOML).read_text(encoding="utf-8"))
        instruction = (folder / "instruction.md").read_text(encoding="utf-8").strip()
    except FileNotFoundError as error:
        raise UserError(f"{folder}: {Path(error.filename).name} is missing; give a Harbor task folder") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{folder / TOML}: {error}") from None
    ours = settings.get("metadata", {}).get("gradus", {})
    is_ours = isinstance(ours, dict) and bool(ours) and (folder / REPO).is_dir()
    problem = None if is_ours else "needs its image: it has no repository and no named tests that run without one"
    tests = RepoTests(
        fail_to_pass=_names(folder, ours, "fail_to_pass"), pass_to_pass=_names(folder, ours, "pass_to_pass"),
        files=read_archive(folder / (HIDDEN if is_ours else "tests")) if (folder / "tests").is_dir() else Archive({}),
        source_paths=_names(folder, ours, "source_paths"), packages=_names(folder, ours, "packages"),
        canaries=frozenset(_names(folder, ours, "canaries")) if "canaries" in ours else None,
        known=frozenset(_names(folder, ours, "known")),
    )  # fmt: skip
    base = folder / (REPO if is_ours else "environment")
    reference: dict[str, bytes | None] | None = None
    if (folder / FILES).is_dir():
        reference = {**read_archive(folder / FILES).files, **dict.fromkeys(_names(folder, ours, "deleted"))}
    origin = {name: str(ours[name]) for name in ("repo", "base_commit", "licence", "source") if name in ours}
    return Task(
        folder.name,
        instruction,
        read_archive(base) if base.is_dir() else Archive({}),
        tests,
        reference,
        origin,
        problem,
    )


def task_folders(root: Path) -> list[Path]:
    """The task folders at or below a folder, in order; empty if there are none."""
    if (root / TOML).is_file():
        return [root]
    return sorted(_found(root, 3))


def _found(root: Path, depth: int) -> Iterator[Path]:
    for child in sorted(root.iterdir()) if root.is_dir() else ():
        if child.name.startswith(".") or child.is_symlink() or not child.is_dir():
            continue
        if (child / TOML).is_file():
            yield child
        elif depth:
            yield from _found(child, depth - 1)


def _names(folder: Path, ours: Mapping[str, Any], name: str) -> tuple[str, ...]:  # Any: TOML
    values = ours.get(name, []) if isinstance(ours, dict) else []
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise UserError(f"{folder / TOML}: metadata.gradus.{name} is not a list of texts")
    return tuple(values)


def _toml(task: Task) -> str:
    """task.toml; a JSON text is also a TOML text, and so is a list of them."""
    tests = task.tests
    lists = {
        "fail_to_pass": tests.fail_to_pass, "pass_to_pass": tests.pass_to_pass, "source_paths": tests.source_paths,
        "packages": tests.packages, "known": sorted(tests.known),
        "deleted": sorted(path for path, content in (task.reference or {}).items() if content is None),
    }  # fmt: skip
    if tests.canaries is not None:
        lists["canaries"] = sorted(tests.canaries)
    lines = [
        'schema_version = "1.4"', "", "[task]", f"name = {_text('gradus/' + task.name)}", "", "[verifier]",
        "timeout_sec = 300.0", "", "[agent]", "timeout_sec = 900.0", "", "[environment]", "cpus = 1",
        "memory_mb = 2048", "storage_mb = 2048", "", "[metadata.gradus]",
        *(f"{name} = {_text(value)}" for name, value in sorted(task.origin.items())),
        *(f"{name} = [{', '.join(map(_text, values))}]" for name, values in lists.items()),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _write(folder: Path, archive: Archive) -> None:
    folder.mkdir(parents=True)
    for path, content in archive.files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        if path in archive.executable:
            place.chmod(0o755)
    for path, target in archive.links.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).symlink_to(target)


def _script(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    place.chmod(0o755)
