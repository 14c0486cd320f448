"""Runs a stage's batches in this process, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from curate.runner.work import Result, Work


def map_locally(work: Work, numbers: Sequence[int]) -> Iterator[Result]:
    """Run batches one after the other in this process; the stage stays open from the first to the last."""
    with work.open(work.workspace) as run:
        for number in numbers:
            batch = work.rows(number)
            yield number, batch, run(batch)
            if work.workspace.samples is None:
                work.tick(batch.height)
