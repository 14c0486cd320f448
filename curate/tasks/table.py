"""A folder of tasks as a table of rows, so that `ingest` reads it like any source."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from pathlib import Path

from curate.tasks.folder import read_task, task_folders
from curate.tasks.task import Task


def is_task_folder(root: Path) -> bool:
    """Whether a folder is a task or holds tasks."""
    return root.is_dir() and bool(task_folders(root))


def rows(root: Path) -> Iterator[str]:
    """A line of JSON for each task, in order of their names."""
    for folder in task_folders(root):
        task = read_task(folder)
        row = {
            "prompt": task.instruction, "kind": "agent", "tests": json.dumps(task.row(), sort_keys=True),
            "solution": patch(task), "num_failing_tests": len(task.tests.fail_to_pass),
            "num_passing_tests": len(task.tests.pass_to_pass), **({"needs": task.problem} if task.problem else {}),
        }  # fmt: skip
        yield json.dumps(row, ensure_ascii=False)


def patch(task: Task) -> str | None:
    """The reference solution as a unified diff; None without one."""
    parts = list[str]()
    for path, content in sorted((task.reference or {}).items()):
        old, new = (
            data.decode("utf-8", "replace").splitlines(keepends=True)
            for data in (task.base.files.get(path, b""), content or b"")
        )
        parts += difflib.unified_diff(old, new, f"a/{path}", f"b/{path}")
    return "".join(parts) or None
