"""Where a stage's batches run: in this process, or over a Ray cluster. The stage does not know.

An executor takes `open` (which binds engines and indexes), the workspace and numbered batches, and yields
`(number, rows in, rows out)` in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import polars as pl

from curate.errors import UserError

if TYPE_CHECKING:
    from curate.stage import Run, Workspace

Open = Callable[["Workspace"], AbstractContextManager["Run"]]
Batch = tuple[int, pl.DataFrame]
Result = tuple[int, pl.DataFrame, pl.DataFrame]


def map_batches(open_run: Open, workspace: Workspace, batches: Iterable[Batch], executor: str) -> Iterator[Result]:
    """Run every batch; `executor` is `local` or `ray`."""
    if executor not in EXECUTORS:
        raise UserError(f"--executor is {executor!r}; use {' or '.join(EXECUTORS)}")
    return EXECUTORS[executor](open_run, workspace, batches)


def _local(open_run: Open, workspace: Workspace, batches: Iterable[Batch]) -> Iterator[Result]:
    with open_run(workspace) as run:
        for number, batch in batches:
            yield number, batch, run(batch)


EXECUTORS = {"local": _local}
