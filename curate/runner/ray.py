"""Runs a stage's batches on a Ray cluster, without changes to the stage.

Each actor opens the stage once and keeps its engine. Batches travel in slices as Arrow bytes, together with the known
samples of their problems; an actor returns the samples it drew with its slice. Only this process writes the log and the
shards, so a node that dies loses only its current slices, which run again elsewhere. Waiting rows are in the cluster's
object store, which spills to disk; this process holds only those of unfinished batches.
"""

from __future__ import annotations

import io
import json
import logging
import os
import socket
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import polars as pl

from curate.artifacts.samples import Sample, SampleList
from curate.cpus import VARIABLE as CORES
from curate.errors import UserError
from curate.parts import require
from curate.runner.stage import Replica, Run, Workspace
from curate.runner.work import Open, Result, Work

MAX_DEATHS: Final = 3
SLICES_PER_ACTOR: Final = 4
SLICE_ROWS: Final = (16, 512)
ANSWER_S: Final = 5.0

# Any: ray and pyarrow are not typed here


def map_on_ray(work: Work, numbers: Sequence[int]) -> Iterator[Result]:
    """Run batches on a Ray cluster, in slices; raises `UserError` if no cluster answers or its workers keep dying."""
    ray = _connect()
    num_actors = _num_actors(ray, work.replica)
    num_slices = -(-SLICES_PER_ACTOR * num_actors // len(numbers))
    owed: dict[tuple[int, int], Any] = {}
    for number in numbers:
        parts = _slices(work.rows(number), num_slices)
        owed |= {(number, start): ray.put(_pack(number, start, rows, work)) for start, rows in parts}
    num_left = Counter(number for number, _ in owed)
    back: dict[int, dict[int, pl.DataFrame]] = {}
    for number, start, rows in _despite_deaths(ray, work, owed, num_actors):
        work.tick(rows.height)
        back.setdefault(number, {})[start] = rows
        if len(back[number]) == num_left[number]:
            done = back.pop(number)
            yield number, work.rows(number), pl.concat([done[at] for at in sorted(done)])


def _num_actors(ray: Any, replica: Replica) -> int:
    return replica.num_replicas or max(1, int(ray.cluster_resources().get("CPU", 1)))


def _despite_deaths(
    ray: Any, work: Work, owed: dict[tuple[int, int], Any], num_actors: int
) -> Iterator[tuple[int, int, pl.DataFrame]]:
    """Every owed slice once. If a node dies, the slices still owed start over on the remaining nodes.

    Ray itself waits for the dead actor's return, without end if the cluster has no room for it.
    """
    num_deaths = 0
    while owed:
        try:
            for number, start, rows in _results(ray, work, list(owed.values()), num_actors):
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
                    f"({' '.join(str(error).split())[:160]}); check its nodes and run the same command again"
                ) from None


def _deaths(ray: Any) -> tuple[type[BaseException], ...]:
    """The exceptions of Ray for a lost process or node, as opposed to those of our own code."""
    errors = ray.exceptions
    return (errors.RayActorError, errors.NodeDiedError, errors.ObjectLostError, errors.WorkerCrashedError)


def _connect() -> Any:
    require("--executor ray", "ray")
    import ray
    import ray.data

    if not ray.is_initialized():
        address = _address()
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, ValueError, RuntimeError) as error:
            why = " ".join(str(error).split())[:200]
            raise UserError(f"--executor ray: no cluster at {address} ({why}); check it with `ray status`") from None
    # the runner shows progress and reports failures
    ray.data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    return ray


def _address() -> str:
    """The cluster's address: RAY_ADDRESS, else the one that `ray start` made here, else `local`, a new one.

    The connection is tested here: Ray waits minutes for a cluster that is gone, and a killed one leaves its address.
    """
    stated = os.environ.get("RAY_ADDRESS", "")
    if stated not in ("", "auto", "local"):
        if not _answers(stated):
            raise UserError(f"RAY_ADDRESS is {stated}; no cluster answers there; correct it, or unset it to work here")
        return stated
    folder = os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or "/tmp"  # noqa: S108  # where Ray leaves it
    note = Path(folder) / "ray" / "ray_current_cluster"
    running = note.read_text().strip() if stated != "local" and note.is_file() else ""
    return running if _answers(running) else "local"


def _answers(address: str) -> bool:
    try:
        place = urlsplit(f"//{address.removeprefix('ray://')}")
        socket.create_connection((place.hostname or "", place.port or 0), ANSWER_S).close()
    except (OSError, ValueError):
        return False
    return True


def _results(ray: Any, work: Work, slices: list[Any], num_actors: int) -> Iterator[tuple[int, int, pl.DataFrame]]:
    """Run the slices on the actors; yields each once, after its samples are in the log."""
    has_gpus = ray.cluster_resources().get("GPU", 0) > 0
    with warnings.catch_warnings():
        # max_restarts can be passed only through the arguments that Ray 2.64 will drop
        warnings.simplefilter("ignore")
        dataset = ray.data.from_arrow_refs(slices).map_batches(
            _Actor,
            fn_constructor_args=(work.open, work.workspace.samples is not None, work.replica.num_replicas is None),
            batch_size=None,
            batch_format="pyarrow",
            # at least one: a cluster may have less room than requested
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
    """One copy of the stage in its own process, opened at its first slice and kept open while the process lives."""

    def __init__(self, open_run: Open, has_samples: bool, is_one_of_many: bool) -> None:  # ray passes them by position
        if is_one_of_many:
            # one actor per core: none needs threads, workers or sandboxes on all cores; both are read after this point
            os.environ.setdefault("POLARS_MAX_THREADS", "1")
            os.environ.setdefault(CORES, "1")
        self._open, self._has_samples = open_run, has_samples
        self._samples = SampleList()
        self._context: AbstractContextManager[Run] | None = None
        self._run: Run | None = None

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa

        return pa.Table.from_pylist([self._answer(packed) for packed in table.to_pylist()], schema=table.schema)

    def _answer(self, packed: dict[str, Any]) -> dict[str, Any]:
        """The slice with its rows decided; a user's mistake is data, since Ray would wrap it in its own error."""
        self._samples.take(Sample(**known) for known in json.loads(packed["samples"]))
        answer: dict[str, Any]
        try:
            answer = {"rows": _bytes(self._opened()(_rows(packed["rows"]))), "mistake": None}
        except UserError as mistake:
            answer = {"mistake": str(mistake)}
        return {**packed, **answer, "samples": json.dumps([asdict(sample) for sample in self._samples.drawn])}

    def _opened(self) -> Run:
        if self._run is None:
            # not in __init__, where a mistake would kill the actor
            self._context = self._open(Workspace(self._samples if self._has_samples else None))
            self._run = self._context.__enter__()
        return self._run


def _slices(batch: pl.DataFrame, num_slices: int) -> list[tuple[int, pl.DataFrame]]:
    """About `num_slices` parts of a batch, each with its first row, of a size that is cheap to lose."""
    least, most = SLICE_ROWS
    num_rows = max(least, min(most, -(-batch.height // num_slices)))
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
