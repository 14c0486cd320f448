"""The runner takes a pool through a stage and owns all its files: batches in, shards out, resume, manifest last."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from curate.artifacts.artifact import Artifact
from curate.artifacts.folder import OutFolder
from curate.artifacts.manifest import Manifest
from curate.artifacts.samples import SampleLog
from curate.errors import UserError
from curate.progress import Progress
from curate.records import DECISION
from curate.runner.executors import check_executor, map_batches
from curate.runner.stage import Stage, Workspace
from curate.runner.work import Work

FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Outcome(NamedTuple):
    """What `run_stage` gives back: the manifest, and whether the artifact was there already."""

    manifest: Manifest
    is_reused: bool


def run_stage(stage: Stage, pool: Artifact, out: Path, *, force: bool = False, executor: str = "local") -> Outcome:
    """Take `pool`'s kept rows through `stage` into the artifact `out`; goes on where an earlier run stopped.

    Raises `UserError` where `out` holds another run's result and `force` is off, and where a corpus stage is to run
    elsewhere: it has its index in this process.
    """
    check_executor(executor)
    if stage.scope == "corpus" and executor != "local":
        raise UserError(
            f"--executor is {executor!r}: {stage.name} compares problems with one another and runs in this process; "
            "leave the option out"
        )
    with OutFolder(out, stage.identity(pool.manifest.digest), reads=[pool.folder], force=force) as folder:
        if (complete := folder.complete()) is not None:
            return Outcome(complete, is_reused=True)
        pool = stage.widen(pool)
        samples = SampleLog(out) if stage.has_samples else None
        with (
            Progress(stage.name, pool.manifest.num_kept) as progress,
            closing(samples) if samples is not None else nullcontext(),
        ):
            with _room_is_left(out), folder.scratch() as scratch:
                workspace = Workspace(samples, progress, lambda: pool.batches(stage.batch_rows), scratch)
                _run_batches(stage, pool, folder, workspace, executor)
            if samples is not None:
                samples.seal()
        return Outcome(folder.finish(stage.facts, stage.plots), is_reused=False)


@contextmanager
def _room_is_left(out: Path) -> Iterator[None]:
    """A full disk as a user's mistake."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        place = error.filename or out
        raise UserError(f"{place}: {error.strerror}; make room and run the same command again") from None


def _run_batches(stage: Stage, pool: Artifact, folder: OutFolder, workspace: Workspace, executor: str) -> None:
    num_batches = max(1, -(-pool.manifest.num_kept // stage.batch_rows))
    owed = [index for index in range(num_batches) if not folder.has_batch(index)]
    if not owed:
        return

    def rows(index: int) -> pl.DataFrame:
        # what the same stage found in an earlier pass makes way for what it finds now
        return pool.rows(index * stage.batch_rows, stage.batch_rows).drop(*stage.adds, strict=False)

    for index, before, after in map_batches(Work(stage.open, workspace, stage.replica, rows), owed, executor):
        _check(stage, before, after)
        folder.write_batch(index, after)


def _check(stage: Stage, before: pl.DataFrame, after: pl.DataFrame) -> None:
    """Conservation: every key once in and once out, in order; only the announced columns added."""
    if not before["key"].equals(after["key"]):
        raise RuntimeError(
            f"stage {stage.name} lost, doubled or reordered rows: {before.height} in, {after.height} out"
        )
    surprise = set(after.columns) ^ (set(before.columns) | set(stage.adds) | set(DECISION))
    if surprise:
        raise RuntimeError(f"stage {stage.name} added or lost columns it did not announce: {sorted(surprise)}")
