"""Runs a pool through a stage and owns all its files: batches in, shards out, resume, manifest last."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from curate.artifacts.artifact import Artifact
from curate.artifacts.folder import OutFolder
from curate.artifacts.manifest import Manifest
from curate.artifacts.samples import SampleLog
from curate.engines.warm import Shelf
from curate.errors import UserError
from curate.progress import Progress
from curate.records import DECISION
from curate.runner.executors import check_executor, map_batches
from curate.runner.stage import Stage, Workspace
from curate.runner.work import Work

FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
MADE: Final = "rows.tmp"  # the rows that sources made, which a resumed run reuses
PLACE: Final = ("source", "source_row")


class Outcome(NamedTuple):
    """The result of `run_stage`: the manifest, and whether the artifact already existed."""

    manifest: Manifest
    is_reused: bool


def run_stage(
    stage: Stage,
    pool: Artifact | None,
    out: Path,
    *,
    force: bool = False,
    executor: str = "local",
    engines: Shelf | None = None,
) -> Outcome:
    """Run `pool`'s kept rows through `stage` into the artifact `out`; resumes an interrupted run.

    `pool` is None if the stage has sources; `engines` keeps a started vLLM between the stages of a pipeline. Raises
    `UserError` if `out` holds another run's result and `force` is off, and if a corpus stage, whose index is in this
    process, has another executor.
    """
    _check_call(stage, pool, executor)
    digest = pool.manifest.digest if pool is not None else None
    reads = [*(stage.sources.reads if stage.sources is not None else ()), *([pool.folder] if pool is not None else ())]
    with OutFolder(out, stage.identity(digest), reads=reads, force=force) as folder:
        complete = folder.complete()
        if complete is None:
            _run(stage, pool, folder, executor, engines or Shelf())
        manifest = complete or folder.finish(stage.facts, stage.plots)
        shutil.rmtree(out / MADE, ignore_errors=True)
        return Outcome(manifest, is_reused=complete is not None)


def _check_call(stage: Stage, pool: Artifact | None, executor: str) -> None:
    if (pool is None) != (stage.sources is not None):
        raise TypeError(f"stage {stage.name} takes {'a pool' if stage.sources is None else 'no pool: it has sources'}")
    check_executor(executor)
    if stage.scope == "corpus" and executor != "local":
        raise UserError(
            f"--executor is {executor!r}: {stage.name} compares problems with one another and runs in this process; "
            "leave the option out"
        )


def _run(stage: Stage, pool: Artifact | None, folder: OutFolder, executor: str, engines: Shelf) -> None:
    """Write every batch that is owed, and seal the samples."""
    pool = stage.widen(pool) if pool is not None else None
    samples = SampleLog(folder.folder) if stage.has_samples else None
    with (
        Progress(stage.name, pool.manifest.num_kept if pool is not None else None) as progress,
        closing(samples) if samples is not None else nullcontext(),
    ):
        with _room_is_left(folder.folder), folder.scratch() as scratch:
            workspace = Workspace(samples, progress, scratch=scratch, engines=engines)
            if stage.sources is not None:
                shards = stage.sources.write(folder.folder / MADE, stage.batch_rows, progress)
                _run_batches(stage, _made(stage, shards, workspace), len(shards), folder, executor)
            elif pool is not None:
                num_batches = max(1, -(-pool.manifest.num_kept // stage.batch_rows))
                _run_batches(stage, _kept(stage, pool, workspace), num_batches, folder, executor)
        if samples is not None:
            samples.seal()


@contextmanager
def _room_is_left(out: Path) -> Iterator[None]:
    """Turn the error of a full disk into a `UserError`."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        place = error.filename or out
        raise UserError(f"{place}: {error.strerror}; make room and run the same command again") from None


def _kept(stage: Stage, pool: Artifact, workspace: Workspace) -> Work:
    """The pool as work, in batches of `batch_rows`."""

    def rows(index: int) -> pl.DataFrame:
        # columns that the same stage added in an earlier pass are replaced
        return pool.rows(index * stage.batch_rows, stage.batch_rows).drop(*stage.adds, strict=False)

    lent = replace(workspace, pool=lambda: pool.batches(stage.batch_rows))
    return Work(stage.open, lent, stage.replica, rows)


def _made(stage: Stage, shards: Sequence[Path], workspace: Workspace) -> Work:
    """The rows that sources made as work, one batch a file."""
    # without progress: the rows were counted as they were made
    lent = replace(workspace, progress=None, shards=shards)
    return Work(stage.open, lent, stage.replica, lambda index: pl.read_parquet(shards[index], glob=False))


def _run_batches(stage: Stage, work: Work, num_batches: int, folder: OutFolder, executor: str) -> None:
    owed = [index for index in range(num_batches) if not folder.has_batch(index)]
    if not owed:
        return
    for index, before, after in map_batches(work, owed, executor):
        _check(stage, before, after)
        folder.write_batch(index, after)


def _check(stage: Stage, before: pl.DataFrame, after: pl.DataFrame) -> None:
    """Conservation: every key goes in once and comes out once, in order; only the announced columns are added."""
    # if sources hold a problem twice, one of its rows remains
    expected = before if stage.sources is None else before.join(after, on=PLACE, how="semi", maintain_order="left")
    if not expected["key"].equals(after["key"]):
        raise RuntimeError(
            f"stage {stage.name} lost, doubled or reordered rows: {before.height} in, {after.height} out"
        )
    surprise = set(after.columns) ^ (set(before.columns) | set(stage.adds) | set(DECISION))
    if surprise:
        raise RuntimeError(f"stage {stage.name} added or lost columns it did not announce: {sorted(surprise)}")
