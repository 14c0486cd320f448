"""A stage: the contract of every step that curates rows.

A stage is a pure function on a frame plus a name, a version and a config. It returns the same rows in the same order
with columns added, among them `drop_reason` (a code; null = kept) and `drop_detail` (the evidence). It opens no path
and reads no clock: `open` binds engines and indexes, and runs only when work is owed.

The first stage of a run has no pool: its `Sources` make the rows, which the runner then passes through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import polars as pl

from curate.artifacts.artifact import Artifact
from curate.artifacts.folder import Facts, Plots
from curate.artifacts.samples import Samples
from curate.config import Config
from curate.engines.warm import Shelf
from curate.progress import Progress

Run = Callable[[pl.DataFrame], pl.DataFrame]
C = TypeVar("C", bound=Config)


class Replica(NamedTuple):
    """Number of copies of a stage on a cluster, and the GPUs of each if the cluster has any.

    num_replicas: None for one per CPU core of the cluster.
    """

    num_replicas: int | None = None
    num_gpus: int = 0


@dataclass(frozen=True)
class Workspace:
    """What the runner lends a stage while it runs: the pool, the log of samples, the progress bar and engines.

    pool: iterates over the whole pool, a batch at a time and in order, for a `corpus` stage that reads it in `open`.
    scratch: an empty folder for temporary files, on the disk of the artifact; deleted when the stage ends.
    shards: for a stage with `sources`, the Parquet files of the rows that they made, one a batch.
    engines: keeps a started vLLM for the next stage of a pipeline; pass it to `open_engine`.
    """

    samples: Samples | None = None
    progress: Progress | None = None
    pool: Callable[[], Iterator[pl.DataFrame]] = lambda: iter(())
    scratch: Path | None = None
    shards: Sequence[Path] = ()
    engines: Shelf = field(default_factory=Shelf)


class Sources(NamedTuple):
    """The origin of the rows of a stage without a pool.

    reads: the files and folders that are read.
    write: `write(folder, batch_rows, progress)` makes the rows and writes them into the folder, one Parquet file for
        each batch of at most `batch_rows`; returns the files in order. The folder survives a kill, and files that an
        earlier run left are whole and are kept. It is deleted once the artifact is complete.
    """

    reads: Sequence[Path]
    write: Callable[[Path, int, Progress], Sequence[Path]]


@dataclass(frozen=True)
class Stage:
    """One step of curation.

    scope: `batch` stages accept any batch of rows in any order and resume at the next batch; `corpus` stages compare
        problems with one another: they read `workspace.pool` in `open`, and read it again when a run resumes.
    open: binds engines and indexes and yields the run function; `bound(run, config)` if there is nothing to bind.
    adds: the columns it adds beside the decision, all of them in `records.ADDED`.
    inputs: digests of the other inputs that decide the result: benchmarks, a model.
    has_samples: whether it samples a model and keeps a `SampleLog`.
    facts: figures for the manifest (tokens spent, thresholds met), computed at the end from the parts on disk, given
        `scan("kept" | "dropped" | "samples")`, so that an interrupted run reports the same ones.
    plots: pictures for `plots/` as PNG bytes by name, drawn from the same parts.
    widen: returns the pool with further rows of its artifact: dropped rows that people restored.
    sources: makes the rows if there is no pool. Such a stage may merge rows of one problem; its result then lacks the
        rows that were merged into another.
    replica: resources of one copy of the stage on a cluster, and the number of copies.
    batch_rows: rows a batch; it decides the shards' bytes, so changing it requires a new version.
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
    sources: Sources | None = None
    replica: Replica = field(default_factory=Replica)
    batch_rows: int = 10_000

    def identity(self, pool_digest: str | None) -> dict[str, Any]:
        """The fields from which the fingerprint is computed; `pool_digest` is None if there is no pool."""
        return {
            "stage": self.name,
            "version": self.version,
            "config": self.config.fingerprinted(),
            "inputs": {**({} if pool_digest is None else {"pool": pool_digest}), **self.inputs},
        }


def bound(
    run: Callable[[pl.DataFrame, C], pl.DataFrame], config: C
) -> Callable[[Workspace], AbstractContextManager[Run]]:
    """`open` for a stage that is a plain function of rows and config."""

    @contextmanager
    def open_nothing(_: Workspace) -> Iterator[Run]:
        yield lambda problems: run(problems, config)

    return open_nothing


def decide(problems: pl.DataFrame, reason: pl.Expr, detail: pl.Expr) -> pl.DataFrame:
    """Add the decision columns; `reason` is null for a kept row, whose `detail` becomes null too."""
    decided = problems.with_columns(drop_reason=reason.cast(pl.String), drop_detail=detail.cast(pl.String))
    return decided.with_columns(drop_detail=pl.when(pl.col("drop_reason").is_not_null()).then(pl.col("drop_detail")))
