"""Reads Parquet and Arrow files in batches; a place has the row's number, and no row is too large."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from curate.ingest.formats.rows import Row, row_of
from curate.ingest.formats.unpacked import seekable

BATCH_ROWS: Final = 1_000


def read_parquet(path: Path, name: str, _max_bytes: int, _encoding: str) -> Iterator[Row]:
    """The rows of a Parquet file."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    number = 0
    try:
        for batch in ParquetFile(seekable(path)).iter_batches(BATCH_ROWS):
            for record in batch.to_pylist():
                number += 1
                yield row_of(f"{name}:{number}", record)
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        yield Row(f"{name}:{number + 1}", None, "broken_file", " ".join(str(error).split()))


def read_arrow(path: Path, name: str, _max_bytes: int, _encoding: str) -> Iterator[Row]:
    """The rows of an Arrow file or stream, as `datasets.save_to_disk` and Feather write it."""
    import pyarrow as pa

    number = 0
    try:
        with pa.memory_map(str(seekable(path))) as source:
            for batch in _batches(pa, source):
                for record in batch.to_pylist():
                    number += 1
                    yield row_of(f"{name}:{number}", record)
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        yield Row(f"{name}:{number + 1}", None, "broken_file", " ".join(str(error).split()))


def _batches(pa: Any, source: Any) -> Iterator[Any]:  # Any: pyarrow is not typed
    """The batches of a file or a stream, in slices, since a batch from `datasets` may hold a thousand long rows."""
    try:
        file = pa.ipc.open_file(source)
        batches = (file.get_batch(index) for index in range(file.num_record_batches))
    except pa.ArrowInvalid:
        source.seek(0)
        batches = iter(pa.ipc.open_stream(source))
    for batch in batches:
        for start in range(0, batch.num_rows, BATCH_ROWS):
            yield batch.slice(start, BATCH_ROWS)
