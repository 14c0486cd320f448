"""A task: what an agent reads, the files it starts from, the hidden tests, and the reference solution."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from curate.verify.repo.archive import Archive
from curate.verify.repo.grade import RepoTests


@dataclass(frozen=True)
class Task:
    """One task.

    name: unique in its folder. reference: contents of the files that the solution changes, None for a deleted one;
    None if there is no solution. origin: `repo`, `base_commit`, `licence`, `source` where they are known. problem: why
    it cannot run here (it needs an image), or None.
    """

    name: str
    instruction: str
    base: Archive
    tests: RepoTests
    reference: Mapping[str, bytes | None] | None = None
    origin: Mapping[str, str] = field(default_factory=dict)
    problem: str | None = None

    @cached_property
    def digest(self) -> str:
        """SHA-256 over all that decides a verdict: instruction, base, hidden tests and their names, source paths."""
        parts = [
            self.instruction, self.base.digest, self.tests.files.digest, *self.tests.fail_to_pass, "",
            *self.tests.pass_to_pass, "", *self.tests.source_paths, "", *self.tests.packages,
        ]  # fmt: skip
        return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()

    def row(self) -> dict[str, str]:
        """The `tests` cell of the task's row, as a JSON object."""
        return {"task": self.digest, "name": self.name, "base": self.base.digest, **self.origin}


def identity_of(cell: str) -> str | None:
    """What a task's row adds to the key of its problem: the digest in its `tests` cell; None for another cell."""
    try:
        told = json.loads(cell)
    except ValueError:
        return None
    return told.get("task") if isinstance(told, dict) else None
