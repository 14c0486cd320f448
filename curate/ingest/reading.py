"""The rows of a source, file by file: a bad row has a reason in place of a record, and reading continues after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, Final

from curate.errors import UserError
from curate.ingest.formats.files import read_file
from curate.ingest.formats.rows import Row
from curate.ingest.hub import hub_rows
from curate.ingest.source_files import data_files
from curate.ingest.sources import Source

ENCODING_HINT: Final = "if it is text in another encoding, name it: --encoding latin-1 (or cp1252, gb18030, ...)"


def first_records(source: Source, max_bytes: int, num_records: int) -> dict[str, list[Mapping[str, Any]]]:
    """By file, records from its beginning, since files of one folder may differ in columns.

    Raises `UserError` with the fault of the first row if no row can be read.
    """
    files = streams(source, max_bytes)
    share = max(10, num_records // len(files))
    bad: list[Row] = []
    samples = {name: list(_good(rows, share, bad)) for name, rows in files}
    records = {name: found for name, found in samples.items() if found}
    if not records:
        found = f"{bad[0].place} is {bad[0].reason}: {bad[0].detail}" if bad else "it is empty"
        next_step = ENCODING_HINT if bad and bad[0].reason == "invalid_utf8" else "check the file's format"
        raise UserError(f"{source.label()}: holds no readable row ({found}); {next_step}")
    return records


def _good(rows: Iterable[Row], num_records: int, bad: list[Row]) -> list[Mapping[str, Any]]:
    """The first records; the first bad row is added to `bad`."""

    def records() -> Iterator[Mapping[str, Any]]:
        for row in rows:
            if row.record is not None:
                yield row.record
            elif not bad:
                bad.append(row)

    return list(islice(records(), num_records))


def streams(source: Source, max_bytes: int) -> list[tuple[str, Iterator[Row]]]:
    """The name and the rows of each file of a source, in order; of a Hub dataset, one stream."""
    if source.path is None:
        return [("", hub_rows(source))]
    return [(file.name, read_file(file.path, file.name, max_bytes, source.encoding)) for file in data_files(source)]


def read_rows(source: Source, max_bytes: int) -> Iterator[Row]:
    """Every row of a source in order; a row of more than `max_bytes` is bad and never held whole."""
    return chain.from_iterable(rows for _, rows in streams(source, max_bytes))
