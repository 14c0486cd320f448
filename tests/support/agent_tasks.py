"""Small tasks of agents: one function with one bug each, the hidden test, and the replies that repair it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from curate.artifacts.artifact import Artifact
from curate.tasks.folder import write_task
from curate.tasks.task import Task
from curate.verify.repo.archive import Archive
from curate.verify.repo.grade import RepoTests
from support.model_pool import pool, problem

BUGS = {"add": ("+", "-"), "mul": ("*", "+"), "sub": ("-", "*")}


def call(name: str, **arguments: Any) -> str:
    """A reply that calls one tool."""
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def small_task(name: str = "add") -> Task:
    """A function whose operator is wrong."""
    right, wrong = BUGS[name]
    source = f"def {name}(a, b):\n    return a {wrong} b\n\n\ndef same(a):\n    return a\n"
    values = {"add": "5", "mul": "6", "sub": "1"}[name]
    test = (
        f"from tool import {name}, same\n\n\ndef test_{name}():\n    assert {name}(3, 2) == {values}\n\n\n"
        "def test_same():\n    assert same(4) == 4\n"
    )
    where = f"tests/test_{name}.py"
    tests = RepoTests(
        (f"{where}::test_{name}",), (f"{where}::test_same",), Archive({where: test.encode()}), ("tool.py",)
    )
    fixed = source.replace(f"a {wrong} b", f"a {right} b").encode()
    origin = {"repo": "https://github.com/someone/tool", "licence": "MIT"}
    base = Archive({"tool.py": source.encode()})
    return Task(name, f"Repair {name} in tool.py.", base, tests, {"tool.py": fixed}, origin)


def repair(name: str = "add") -> list[str]:
    """The replies of an agent that repairs a task."""
    right, wrong = BUGS[name]
    return [
        call("view", path="tool.py"),
        call("edit", path="tool.py", old=f"a {wrong} b", new=f"a {right} b"),
        call("submit"),
    ]


def task_pool(folder: Path, names: tuple[str, ...] = ("add",)) -> Artifact:
    """The tasks, written below `tasks`, and an artifact of their rows in `pool`."""
    tasks = [small_task(name) for name in names]
    for task in tasks:
        write_task(folder / "tasks", task)
    rows = [problem(task.instruction, None, kind="agent", tests=json.dumps(task.row())) for task in tasks]
    return pool(folder / "pool", rows)
