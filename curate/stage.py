"""A stage and the runner that takes a pool through it.

A stage is a pure function on a frame plus a name, a version and a config. It returns the same rows in the same order
with columns added, among them `drop_reason` (a code; null = kept) and `drop_detail` (the evidence). It opens no path
and reads no clock: engines and indexes are bound by `open`, which runs only when work is owed. The runner owns all
input and output: batches in, shards out, resume, manifest last.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar

import polars as pl

from curate.artifact import Artifact
from curate.config import Config
from curate.errors import UserError
from curate.executors import Replica, Work, check_executor, map_batches
from curate.manifest import Manifest
from curate.out_folder import Facts, OutFolder, Plots
from curate.progress import Progress
from curate.records import DECISION
from curate.samples import SampleLog, Samples

Run = Callable[[pl.DataFrame], pl.DataFrame]
C = TypeVar("C", bound=Config)
FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class Workspace:
    """What the runner lends a stage while it runs: the pool, the log of samples and the progress bar.

    pool: gives the whole pool anew, a batch at a time and in order, to a `corpus` stage that passes over it in `open`.
    scratch: an empty folder for what a stage spills, on the disk of its artifact; gone when the stage has ended.
    """

    samples: Samples | None = None
    progress: Progress | None = None
    pool: Callable[[], Iterator[pl.DataFrame]] = lambda: iter(())
    scratch: Path | None = None


@dataclass(frozen=True)
class Stage:
    """One step of curation.

    scope: `batch` stages see any batch of rows in any order and resume at the next batch; `corpus` stages compare
        problems with one another: they pass over `workspace.pool` in `open`, and do so again when a run is resumed.
    open: binds engines and indexes and yields the run function; `bound(run, config)` where there is nothing to bind.
    adds: the columns it adds beside the decision, all of them in `records.ADDED`.
    inputs: digests of what else decides the result: benchmarks, a model.
    has_samples: whether it samples a model and keeps a `SampleLog`.
    facts: figures for the manifest (tokens spent, thresholds met), computed at the end from the parts on disk, given
        `scan("kept" | "dropped" | "samples")`, so that an interrupted run reports the same ones.
    plots: pictures for `plots/` as PNG bytes by name, drawn from the same parts.
    widen: gives the pool with what else of its artifact enters: dropped rows that people want back.
    replica: what one copy of the stage takes on a cluster, and how many copies there are.
    batch_rows: rows a batch; it decides the shards' bytes, so a change of it is a change of version.
    """

    name: str
    version: int
    scope: Literal["batch", "corpus"]
    config: Config
    open: Callable[[Workspace], AbstractContextManager[Run]]
    adds: Mapping[str, pl.DataType] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    has_samples: bool = False
    facts: Facts | None = None
    plots: Plots | None = None
    widen: Callable[[Artifact], Artifact] = lambda pool: pool
    replica: Replica = field(default_factory=Replica)
    batch_rows: int = 10_000

    def identity(self, pool_digest: str) -> dict[str, Any]:
        """What the fingerprint is made from."""
        return {
            "stage": self.name,
            "version": self.version,
            "config": self.config.fingerprinted(),
            "inputs": {"pool": pool_digest, **self.inputs},
        }


class Outcome(NamedTuple):
    """What `run_stage` gives back: the manifest, and whether the artifact was there already."""

    manifest: Manifest
    is_reused: bool


def bound(
    run: Callable[[pl.DataFrame, C], pl.DataFrame], config: C
) -> Callable[[Workspace], AbstractContextManager[Run]]:
    """`open` for a stage that is a plain function of rows and config."""

    @contextmanager
    def open_nothing(_: Workspace) -> Iterator[Run]:
        yield lambda problems: run(problems, config)

    return open_nothing


def decide(problems: pl.DataFrame, reason: pl.Expr, detail: pl.Expr) -> pl.DataFrame:
    """Add the decision columns; `reason` is null where the row is kept, and `detail` then becomes null too."""
    decided = problems.with_columns(drop_reason=reason.cast(pl.String), drop_detail=detail.cast(pl.String))
    return decided.with_columns(drop_detail=pl.when(pl.col("drop_reason").is_not_null()).then(pl.col("drop_detail")))


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
