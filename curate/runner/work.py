"""The batches of a stage as work for an executor: the stage, and the source of the rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

import polars as pl

from curate.runner.stage import Replica, Run, Workspace

Open = Callable[[Workspace], AbstractContextManager[Run]]
Result = tuple[int, pl.DataFrame, pl.DataFrame]


class Work(NamedTuple):
    """The work on every batch; `rows` returns a batch by its number, any number of times."""

    open: Open
    workspace: Workspace
    replica: Replica
    rows: Callable[[int], pl.DataFrame]

    def tick(self, num_rows: int) -> None:
        """Show finished rows, for a stage that shows no progress of its own."""
        if self.workspace.progress is not None:
            self.workspace.progress.tick(num_rows)
