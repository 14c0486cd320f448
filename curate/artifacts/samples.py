"""The log of a model's samples: append-only while a stage samples, Parquet once it is done.

A stage that samples appends one JSON line per judged completion to `samples.jsonl`. A killed run leaves at most one
torn last line, which the next start cuts off; no sample in a whole line is drawn again. `seal` turns the log into
`samples/*.parquet`, sorted by key and index, so the bytes do not depend on the order of arrival.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import polars as pl

from curate.artifacts.artifact import shard_path, write_shard
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
    """Seed of sample `index` of a problem, in [0, 2**31); independent of all other samples."""
    return int.from_bytes(hashlib.sha256(f"{run_seed}:{key}:{index}".encode()).digest()[:4], "big") >> 1


class Samples(Protocol):
    """The log as a sampling stage uses it: read a problem's samples so far, and append."""

    def of(self, key: str) -> tuple[Sample, ...]:
        """The samples of a problem so far, by index."""
        ...

    def append(self, sample: Sample) -> None:
        """Add a sample."""
        ...


class SampleList:
    """Samples in memory, for a worker that sends them to the process that keeps the log."""

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
        """Start over with the known samples of the next problems."""
        self._by_key, self.drawn = {}, []
        for sample in known:
            self._by_key.setdefault(sample.key, []).append(sample)


class Place(NamedTuple):
    """The position of a sample in the log; positions sort by the sample's index."""

    sample: int
    offset: int
    num_bytes: int


class SampleLog:
    """Samples of one stage run. A sample counts once it is in the file; memory holds positions only, no texts."""

    def __init__(self, folder: Path) -> None:
        """Open the log in an artifact folder and read what an interrupted run left there."""
        self._folder = folder
        self._path = folder / LOG
        self._places: dict[str, list[Place]] = {}
        # unbuffered: a buffer would retry a failed write on its own
        self._file = self._path.open("a+b", buffering=0)
        try:
            self._end = self._recover()
        except UserError:
            self._file.close()
            raise
        self.num_recovered = len(self)

    def __len__(self) -> int:
        return sum(len(places) for places in self._places.values())

    def of(self, key: str) -> tuple[Sample, ...]:
        """The samples of a problem so far, by index."""
        return tuple(self._read(place) for place in sorted(self._places.get(key, ())))

    def append(self, sample: Sample) -> None:
        """Add a sample; raises `UserError` if the disk is full, and leaves the log readable."""
        line = (json.dumps(asdict(sample)) + "\n").encode()
        try:
            is_whole = self._file.write(line) == len(line)
            trouble = os.strerror(errno.ENOSPC)
        except OSError as error:
            is_whole, trouble = False, str(error.strerror)
        if not is_whole:
            self._file.truncate(self._end)
            raise UserError(f"{self._path}: {trouble}; make room and run the same command again")
        self._note(sample, len(line))

    def close(self) -> None:
        """Close the log; it stays on disk for the next run."""
        self._file.close()

    def seal(self) -> None:
        """Write `samples/*.parquet` from the log, sorted by key and index; memory holds one shard's rows."""
        places = [place for key in sorted(self._places) for place in sorted(self._places[key])]
        for number, start in enumerate(range(0, max(len(places), 1), SHARD_ROWS)):
            rows = [asdict(self._read(place)) for place in places[start : start + SHARD_ROWS]]
            write_shard(shard_path(self._folder, "samples", number), pl.DataFrame(rows, schema=schema(SAMPLE)))

    def _note(self, sample: Sample, num_bytes: int) -> None:
        self._places.setdefault(sample.key, []).append(Place(sample.index, self._end, num_bytes))
        self._end += num_bytes

    def _read(self, place: Place) -> Sample:
        return Sample(**json.loads(os.pread(self._file.fileno(), place.num_bytes, place.offset)))

    def _recover(self) -> int:
        """Index the samples in the file and cut off a torn last line; returns the byte after the last whole one."""
        self._end = 0
        with self._path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.endswith(b"\n"):
                    # a kill interrupted the write
                    self._file.truncate(self._end)
                    break
                self._note(self._parse(line, number), len(line))
        return self._end

    def _parse(self, line: bytes, number: int) -> Sample:
        try:
            return Sample(**json.loads(line))
        except (ValueError, TypeError) as error:
            raise UserError(f"{self._path}: line {number} is not a sample ({error}); delete that line") from None
