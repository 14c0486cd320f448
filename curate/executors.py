"""Where a stage's batches run: in this process, or over a Ray cluster. The stage does not know.

An executor takes the work (`open`, which binds engines and indexes, and the workspace) and numbered batches, and yields
`(number, rows in, rows out)` in any order. On a cluster each actor opens the stage once, so that it holds an engine;
batches travel in slices as Arrow bytes, together with what is known of their samples, and what an actor sampled comes
back with its slice. The log and the shards are written by this process alone, so a node that dies loses nothing but
the slices it was at, and those run again elsewhere.
"""

from __future__ import annotations

import io
import json
import logging
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl

from curate.errors import UserError
from curate.samples import Sample, SampleList

if TYPE_CHECKING:
    from curate.stage import Run, Workspace

Open = Callable[["Workspace"], AbstractContextManager["Run"]]
Batch = tuple[int, pl.DataFrame]
Result = tuple[int, pl.DataFrame, pl.DataFrame]
MAX_DEATHS: Final = 3
SLICES_PER_REPLICA: Final = 4
SLICE_ROWS: Final = (16, 512)

# Any: ray and pyarrow are not typed here


class Replica(NamedTuple):
    """How many copies of a stage a cluster runs, and the GPUs of each where the cluster has any."""

    num_replicas: int = 1
    num_gpus: int = 0


class Work(NamedTuple):
    """What is to be done with every batch."""

    open: Open
    workspace: Workspace
    replica: Replica


class Waiting(NamedTuple):
    """A batch on the cluster: its rows, the number of its slices, and those that are back, by their first row."""

    before: pl.DataFrame
    num_slices: int
    done: dict[int, pl.DataFrame]


def map_batches(work: Work, batches: Iterable[Batch], executor: str) -> Iterator[Result]:
    """Run every batch; `executor` is `local` or `ray`."""
    if executor not in EXECUTORS:
        raise UserError(f"--executor is {executor!r}; use {' or '.join(EXECUTORS)}")
    return EXECUTORS[executor](work, batches)


def _local(work: Work, batches: Iterable[Batch]) -> Iterator[Result]:
    with work.open(work.workspace) as run:
        for number, batch in batches:
            yield number, batch, run(batch)


def _ray(work: Work, batches: Iterable[Batch]) -> Iterator[Result]:
    ray = _connect()
    waiting: dict[int, Waiting] = {}
    owed: dict[tuple[int, int], Any] = {}
    for number, batch in batches:
        parts = _slices(batch, work.replica.num_replicas)
        owed |= {(number, start): ray.put(_pack(number, start, rows, work)) for start, rows in parts}
        waiting[number] = Waiting(batch, len(parts), {})
    for number, start, rows in _despite_deaths(ray, work, owed):
        batch, num_parts, done = waiting[number]
        done[start] = rows
        if len(done) == num_parts:
            del waiting[number]
            yield number, batch, pl.concat([done[at] for at in sorted(done)])


def _despite_deaths(ray: Any, work: Work, owed: dict[tuple[int, int], Any]) -> Iterator[tuple[int, int, pl.DataFrame]]:
    """Every owed slice once. Where a node dies, what is still owed starts over on the nodes that are left.

    Ray would rather wait for the dead actor's return, for ever where the cluster has no room for it.
    """
    num_deaths = 0
    while owed:
        try:
            for number, start, rows in _results(ray, work, list(owed.values())):
                del owed[number, start]
                num_deaths = 0
                yield number, start, rows
        except ray.exceptions.RayError as error:
            if not isinstance(error, _deaths(ray)):
                raise
            num_deaths += 1
            if num_deaths == MAX_DEATHS:
                raise UserError(
                    f"the cluster lost its workers {num_deaths} times without finishing anything "
                    f"({' '.join(str(error).split())[:160]}); look at its nodes and run the same command again"
                ) from None


def _deaths(ray: Any) -> tuple[type[BaseException], ...]:
    """What Ray raises where a process or a node is gone, as against what our own code raised there."""
    errors = ray.exceptions
    return (errors.RayActorError, errors.NodeDiedError, errors.ObjectLostError, errors.WorkerCrashedError)


def _connect() -> Any:
    try:
        import ray
        import ray.data
    except ImportError:
        raise UserError("--executor ray: Ray is not installed; pip install 'gradus-rlvr[ray]'") from None
    if not ray.is_initialized():
        try:
            # a cluster that `ray start` made here or that RAY_ADDRESS names, else one of this machine
            ray.init(log_to_driver=False, logging_level="ERROR")
        except ConnectionError as error:
            where = os.environ.get("RAY_ADDRESS", "the cluster")
            raise UserError(f"RAY_ADDRESS is {where}; no cluster answers there ({error})") from None
    # the runner shows progress and tells of failures
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    return ray


def _results(ray: Any, work: Work, slices: list[Any]) -> Iterator[tuple[int, int, pl.DataFrame]]:
    """Run the slices over the actors; each comes back once, its samples in the log."""
    num_actors = work.replica.num_replicas
    has_gpus = ray.cluster_resources().get("GPU", 0) > 0
    with warnings.catch_warnings():
        # max_restarts has no other way in yet than the arguments that Ray 2.64 will drop
        warnings.simplefilter("ignore")
        dataset = ray.data.from_arrow_refs(slices).map_batches(
            _Actor,
            fn_constructor_args=(work.open, work.workspace.samples is not None),
            batch_size=None,
            batch_format="pyarrow",
            # from one up: a cluster may have less room than was asked for
            compute=ray.data.ActorPoolStrategy(min_size=1, initial_size=num_actors, max_size=num_actors),
            num_gpus=work.replica.num_gpus if has_gpus else 0,
            max_restarts=0,
        )
    for table in dataset.iter_batches(batch_size=None, batch_format="pyarrow"):
        for packed in table.to_pylist():
            _log(packed["samples"], work.workspace)
            if packed["mistake"] is not None:
                raise UserError(packed["mistake"])
            yield packed["number"], packed["start"], _rows(packed["rows"])


class _Actor:
    """One copy of the stage in a process of its own, open from its first slice for as long as the process lives."""

    def __init__(self, open_run: Open, has_samples: bool) -> None:  # ray hands arguments by position
        self._open, self._has_samples = open_run, has_samples
        self._samples = SampleList()
        self._context: AbstractContextManager[Run] | None = None
        self._run: Run | None = None

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa

        return pa.Table.from_pylist([self._answer(packed) for packed in table.to_pylist()], schema=table.schema)

    def _answer(self, packed: dict[str, Any]) -> dict[str, Any]:
        """The slice with its rows decided; a user's mistake travels as data, since Ray would bury it in its own."""
        self._samples.take(Sample(**known) for known in json.loads(packed["samples"]))
        answer: dict[str, Any]
        try:
            answer = {"rows": _bytes(self._opened()(_rows(packed["rows"]))), "mistake": None}
        except UserError as mistake:
            answer = {"mistake": str(mistake)}
        return {**packed, **answer, "samples": json.dumps([asdict(sample) for sample in self._samples.drawn])}

    def _opened(self) -> Run:
        from curate.stage import Workspace

        if self._run is None:
            # not in __init__: there a mistake would kill the actor
            self._context = self._open(Workspace(self._samples if self._has_samples else None))
            self._run = self._context.__enter__()
        return self._run


def _slices(batch: pl.DataFrame, num_replicas: int) -> list[tuple[int, pl.DataFrame]]:
    """Parts of a batch, each with its first row: some for every replica, none too small or too large to lose."""
    least, most = SLICE_ROWS
    num_rows = max(least, min(most, -(-batch.height // (SLICES_PER_REPLICA * num_replicas))))
    return [(start, batch.slice(start, num_rows)) for start in range(0, max(batch.height, 1), num_rows)]


def _pack(number: int, start: int, rows: pl.DataFrame, work: Work) -> Any:
    import pyarrow as pa

    samples = work.workspace.samples
    known = [asdict(sample) for key in rows["key"] for sample in samples.of(key)] if samples is not None else []
    packed = {"number": number, "start": start, "rows": _bytes(rows), "samples": json.dumps(known), "mistake": None}
    types = {"number": pa.int64(), "start": pa.int64(), "rows": pa.binary(), "samples": pa.string()}
    return pa.Table.from_pylist([packed], schema=pa.schema({**types, "mistake": pa.string()}))


def _log(drawn: str, workspace: Workspace) -> None:
    samples = workspace.samples
    if samples is None:
        return
    for sample in (Sample(**fields) for fields in json.loads(drawn)):
        if all(known.index != sample.index for known in samples.of(sample.key)):
            samples.append(sample)


def _bytes(rows: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    rows.write_ipc(buffer, compression="zstd")
    return buffer.getvalue()


def _rows(packed: bytes) -> pl.DataFrame:
    return pl.read_ipc(io.BytesIO(packed))


EXECUTORS: Final = {"local": _local, "ray": _ray}
