"""The log of what a model said: append-only while a stage samples, Parquet once it is done.

A stage that samples appends one JSON line per judged completion to `samples.jsonl`. A run that was killed leaves at
most one torn last line, which is cut off on the next start; every whole line is work that needs no second payment.
`seal` turns the log into `samples/*.parquet`, sorted by key and index, so that the order of arrival leaves no trace.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Protocol

import polars as pl

from curate.artifact import shard_path, write_shard
from curate.errors import UserError
from curate.records import SAMPLE, schema

LOG: Final = "samples.jsonl"
SHARD_ROWS: Final = 100_000


@dataclass(frozen=True)
class Sample:
    """One judged completion; the fields are documented in `records.SAMPLE`."""

    key: str
    index: int
    text: str
    num_tokens: int
    finish_reason: str
    verdict: str
    verdict_reason: str
    seed: int


def sample_seed(run_seed: int, key: str, index: int) -> int:
    """Seed of sample `index` of a problem, in [0, 2**31): the same however many samples are drawn around it."""
    return int.from_bytes(hashlib.sha256(f"{run_seed}:{key}:{index}".encode()).digest()[:4], "big") >> 1


class Samples(Protocol):
    """What a stage that samples needs of a log: what a problem has so far, and room for more."""

    def of(self, key: str) -> tuple[Sample, ...]:
        """The samples of a problem so far, by index."""
        ...

    def append(self, sample: Sample) -> None:
        """Add a sample."""
        ...


class SampleList:
    """Samples in memory, for a worker that sends what it drew to the process that keeps the log."""

    def __init__(self) -> None:
        self._by_key: dict[str, list[Sample]] = {}
        self.drawn: list[Sample] = []

    def of(self, key: str) -> tuple[Sample, ...]:
        """See `Samples`."""
        return tuple(sorted(self._by_key.get(key, ()), key=lambda sample: sample.index))

    def append(self, sample: Sample) -> None:
        """See `Samples`."""
        self._by_key.setdefault(sample.key, []).append(sample)
        self.drawn.append(sample)

    def take(self, known: Iterable[Sample]) -> None:
        """Start over with what is known of the next problems."""
        self._by_key, self.drawn = {}, []
        for sample in known:
            self._by_key.setdefault(sample.key, []).append(sample)


class SampleLog:
    """Samples of one stage run, by key in order of index; appends reach the disk before they count."""

    def __init__(self, folder: Path) -> None:
        """Open the log in an artifact folder, reading what an earlier, interrupted run left there."""
        self._folder = folder
        self._path = folder / LOG
        self._by_key: dict[str, list[Sample]] = {}
        for sample in self._recover():
            self._by_key.setdefault(sample.key, []).append(sample)
        self.num_recovered = len(self)
        self._file = self._path.open("a", encoding="utf-8")

    def __len__(self) -> int:
        return sum(len(samples) for samples in self._by_key.values())

    def of(self, key: str) -> tuple[Sample, ...]:
        """The samples of a problem so far, by index."""
        return tuple(sorted(self._by_key.get(key, ()), key=lambda sample: sample.index))

    def append(self, sample: Sample) -> None:
        """Add a sample; raises `UserError` where the disk is full, leaving the log readable."""
        try:
            self._file.write(json.dumps(asdict(sample)) + "\n")
            self._file.flush()
        except OSError as error:
            raise UserError(f"{self._path}: {error.strerror}; make room and run the same command again") from error
        self._by_key.setdefault(sample.key, []).append(sample)

    def close(self) -> None:
        """Close the log; it stays on disk for the next run."""
        self._file.close()

    def seal(self) -> None:
        """Write `samples/*.parquet` from the log and remove the log."""
        self._file.close()
        rows = [asdict(sample) for key in sorted(self._by_key) for sample in self.of(key)]
        frame = pl.DataFrame(rows, schema=schema(SAMPLE))
        for index, start in enumerate(range(0, max(len(rows), 1), SHARD_ROWS)):
            write_shard(shard_path(self._folder, "samples", index), frame.slice(start, SHARD_ROWS))

    def _recover(self) -> Iterator[Sample]:
        if not self._path.exists():
            return
        data = self._path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            # a torn last line: the kill came in the middle of a write
            with self._path.open("r+b") as file:
                file.truncate(len(whole))
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                yield Sample(**json.loads(line))
            except (ValueError, TypeError) as error:
                raise UserError(f"{self._path}: line {number} is not a sample ({error}); delete that line") from None
