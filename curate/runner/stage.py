"""A stage: the contract that everything which curates rows keeps.

A stage is a pure function on a frame plus a name, a version and a config. It returns the same rows in the same order
with columns added, among them `drop_reason` (a code; null = kept) and `drop_detail` (the evidence). It opens no path
and reads no clock: engines and indexes are bound by `open`, which runs only when work is owed.

The first stage of a run has no pool before it: its `Sources` make the rows, which the runner then takes through it.
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
    """How many copies of a stage a cluster runs, and the GPUs of each where the cluster has any.

    num_replicas: None for one on every processor of the cluster.
    """

    num_replicas: int | None = None
    num_gpus: int = 0


@dataclass(frozen=True)
class Workspace:
    """What the runner lends a stage while it runs: the pool, the log of samples, the progress bar and engines.

    pool: iterates over the whole pool, a batch at a time and in order, for a `corpus` stage that reads it in `open`.
    scratch: an empty folder for what a stage spills, on the disk of its artifact; gone when the stage has ended.
    shards: of a stage with `sources`, the Parquet files of the rows that they made, one a batch.
    engines: where a started vLLM waits for the next stage of a pipeline; pass it to `open_engine`.
    """

    samples: Samples | None = None
    progress: Progress | None = None
    pool: Callable[[], Iterator[pl.DataFrame]] = lambda: iter(())
    scratch: Path | None = None
    shards: Sequence[Path] = ()
    engines: Shelf = field(default_factory=Shelf)


class Sources(NamedTuple):
    """Where the rows of a stage come from that has no pool before it.

    reads: the files and folders that are read.
    write: `write(folder, batch_rows, progress)` makes the rows and writes them into the folder, a Parquet file for a
        batch of at most `batch_rows`; gives the files in order. The folder outlives a kill: the files that an earlier
        run left are whole, and stay. It is gone once the artifact is complete.
    """

    reads: Sequence[Path]
    write: Callable[[Path, int, Progress], Sequence[Path]]


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
    sources: makes the rows where there is no pool. Such a stage may unite rows that are one problem: what it returns
        then lacks those that went into another.
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
    sources: Sources | None = None
    replica: Replica = field(default_factory=Replica)
    batch_rows: int = 10_000

    def identity(self, pool_digest: str | None) -> dict[str, Any]:
        """What the fingerprint is made from; `pool_digest` is None where there is no pool."""
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
    """Add the decision columns; `reason` is null where the row is kept, and `detail` then becomes null too."""
    decided = problems.with_columns(drop_reason=reason.cast(pl.String), drop_detail=detail.cast(pl.String))
    return decided.with_columns(drop_detail=pl.when(pl.col("drop_reason").is_not_null()).then(pl.col("drop_detail")))
