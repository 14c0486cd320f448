"""The executors of a stage's batches by name: this process, or a Ray cluster.

An executor takes the work (`open`, which binds engines and indexes, the workspace, and the rows by batch) and batch
numbers, and yields `(number, rows in, rows out)` in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from curate.errors import UserError
from curate.runner.local import map_locally
from curate.runner.ray import map_on_ray
from curate.runner.work import Result, Work

EXECUTORS: Final = {"local": map_locally, "ray": map_on_ray}


def check_executor(executor: str) -> None:
    """Raise `UserError` for an unknown executor, before anything is written."""
    if executor not in EXECUTORS:
        raise UserError(f"--executor is {executor!r}; use {' or '.join(EXECUTORS)}")


def map_batches(work: Work, numbers: Sequence[int], executor: str) -> Iterator[Result]:
    """Run every batch; `executor` is `local` or `ray`."""
    check_executor(executor)
    return EXECUTORS[executor](work, numbers)
