"""The folder in which tasks are, found by what a row says: the name and the digest in its `tests` cell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from curate.errors import UserError
from curate.tasks.folder import read_task, task_folders
from curate.tasks.task import Task


class TaskStore:
    """Reads tasks of a folder, and proves by the digest that they are those of the rows."""

    def __init__(self, root: Path) -> None:
        self._root = root
        if not self._places:
            raise UserError(f"{root}: holds no task folder (one with task.toml); name the folder that was ingested")

    @cached_property
    def _places(self) -> dict[str, Path]:
        return {folder.name: folder for folder in task_folders(self._root)}

    @lru_cache(maxsize=64)  # noqa: B019  # a store lives as long as its command
    def task(self, cell: str | None, proof: str | None = None) -> Task:
        """The task of a row. cell: its `tests`; proof: what `gradus curate solvable` added, which narrows its tests.

        Raises `UserError` if the folder lacks it or has another one of that name.
        """
        told: Mapping[str, Any] = json.loads(cell or "{}")  # Any: JSON
        name, digest = str(told.get("name")), told.get("task")
        if name not in self._places:
            raise UserError(f"{self._root}: has no task {name}; name the folder that was ingested")
        task = read_task(self._places[name])
        if task.digest != digest:
            raise UserError(
                f"{self._places[name]}: is not the task that was ingested (its content differs); ingest again"
            )
        return task if proof is None else proven(task, proof)


def proven(task: Task, proof: str) -> Task:
    """A task with the tests that its proof leaves."""
    told = json.loads(proof)
    tests = replace(
        task.tests, fail_to_pass=tuple(told["fail_to_pass"]), pass_to_pass=tuple(told["pass_to_pass"]),
        canaries=frozenset(told["canaries"]), known=frozenset(told["known"]),
    )  # fmt: skip
    return replace(task, tests=tests)


def proof_of(task: Task, notes: tuple[str, ...]) -> str:
    """The cell from which `proven` makes this task."""
    tests = task.tests
    told = {
        "fail_to_pass": list(tests.fail_to_pass), "pass_to_pass": list(tests.pass_to_pass),
        "canaries": sorted(tests.canaries or ()), "known": sorted(tests.known), "notes": list(notes),
    }  # fmt: skip
    return json.dumps(told, ensure_ascii=False)
