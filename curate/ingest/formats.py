"""Reads the file formats of raw pools as streams of rows; a bad row does not end the stream.

A reader yields one `Row` per record: its place (`file:line`) and the record, or the reason why there is none. It holds
at most one record or one Parquet batch in memory.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

from curate.ingest.json_arrays import BLOCK_CHARS, read_array
from curate.ingest.json_tables import records_in
from curate.ingest.rows import UTF8, Row, excerpt, has_bad_bytes, opened, parsed, row_of

PARQUET_ROWS: Final = 1_000
HEAD_LINES: Final = 20


def format_of(path: Path) -> str | None:
    """The format by a file's suffix, without `.gz`; None for an unknown one."""
    suffix = Path(path.name.removesuffix(".gz")).suffix.removeprefix(".").lower()
    # Arrow files are memory-mapped, which compressed files cannot be
    return suffix if suffix in READERS and path.suffix + suffix != ".gzarrow" else None


def read_file(path: Path, name: str, max_bytes: int, encoding: str = UTF8) -> Iterator[Row]:
    """Every row of a file of a known format; a truncated .gz ends with a bad row."""
    place = f"{name}:1"
    try:
        for row in READERS[format_of(path) or ""](path, name, max_bytes, encoding):
            place = row.place
            yield row
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        yield Row(place, None, "broken_file", f"behind this line: {error}")


def read_jsonl(path: Path, name: str, max_bytes: int, encoding: str) -> Iterator[Row]:
    """One JSON object per line; empty lines are skipped but counted."""
    with opened(path, encoding) as file:
        number = 0
        while line := file.readline(max_bytes + 1):
            number += 1
            place = f"{name}:{number}"
            if len(line) > max_bytes and not line.endswith(b"\n"):
                while line and not line.endswith(b"\n"):
                    line = file.readline(BLOCK_CHARS)
                yield Row(place, None, "too_large", f"over {max_bytes} bytes")
            elif line.strip():
                yield parsed(place, line)


def read_json(path: Path, name: str, max_bytes: int, encoding: str) -> Iterator[Row]:
    """A JSON array of objects anywhere in the file, a table that `records_in` reads, or one object per line."""
    with opened(path, encoding) as file:
        head = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head.startswith((b"[", b"{")):
        yield Row(f"{name}:1", None, "broken_json", "neither an array nor an object" if head else "the file is empty")
    elif head.startswith(b"["):
        yield from read_array(path, name, max_bytes, encoding)
    else:
        num_lines = _objects(path, max_bytes, encoding)
        table = _whole_table(path, name, max_bytes, encoding) if num_lines < 2 else []
        yield from table or (read_jsonl if num_lines else read_array)(path, name, max_bytes, encoding)


def _whole_table(path: Path, name: str, max_bytes: int, encoding: str) -> list[Row]:
    """The rows of a file that is one table of at most `max_bytes`; else an empty list."""
    with opened(path, encoding) as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        return []
    try:
        records = records_in(json.loads(data.decode("utf-8-sig")))
    except (ValueError, RecursionError):
        return []
    return [Row(f"{name}#{number + 1}", record) for number, record in enumerate(records or ())]


def read_csv(path: Path, name: str, max_bytes: int, encoding: str, delimiter: str = "") -> Iterator[Row]:
    """Separated values with a header line; a row with too many or too few fields is bad.

    The delimiter is the comma, semicolon, tab or bar that splits the first lines into the most fields, the same number
    in each.
    """
    csv.field_size_limit(max_bytes)
    with opened(path, encoding) as file:
        head = [file.readline(max_bytes).decode("utf-8-sig", "surrogateescape") for _ in range(HEAD_LINES)]
    stated = _STATED.match(head[0])
    delimiter = delimiter or (stated[1] if stated else _delimiter(head))
    with opened(path, encoding) as file:
        lines = (line.decode("utf-8-sig" if first else "utf-8", "surrogateescape") for first, line in _numbered(file))
        reader = csv.reader(lines, delimiter=delimiter)
        header = next(reader, None)
        if stated:
            header = next(reader, None)
        header = _distinct(header) if header is not None else None
        while header is not None:
            line = reader.line_num + 1
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Row(f"{name}:{line}", None, "broken_csv", str(error))
                continue
            if fields:
                yield _csv_row(f"{name}:{line}", header, fields)


_STATED: Final = re.compile(r"\s*sep=(.)\s*$")  # a line that some spreadsheets write and read


def _delimiter(head: Sequence[str]) -> str:
    def fitness(delimiter: str) -> tuple[bool, int]:
        try:
            widths = [len(fields) for fields in csv.reader(head, delimiter=delimiter) if fields]
        except csv.Error:
            return False, 0
        # the last record may continue after these lines
        whole = widths[: max(2, len(widths) - 1)]
        return bool(whole) and whole[0] > 1 and len(set(whole)) == 1, whole[0] if whole else 0

    return max(",;\t|", key=fitness)


def _distinct(header: Sequence[str]) -> list[str]:
    """The columns' names, stripped; a second `answer` becomes `answer_2`."""
    names = [name.strip() for name in header]
    counts = [names[:place].count(name) + 1 for place, name in enumerate(names)]
    return [name if count == 1 else f"{name}_{count}" for name, count in zip(names, counts, strict=True)]


def read_tsv(path: Path, name: str, max_bytes: int, encoding: str) -> Iterator[Row]:
    """Tab-separated values, read as in `read_csv`."""
    return read_csv(path, name, max_bytes, encoding, delimiter="\t")


def read_parquet(path: Path, name: str, _max_bytes: int, _encoding: str) -> Iterator[Row]:
    """A Parquet file, read in batches; a place has the row's number, and no row is too large."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    number = 0
    try:
        for batch in ParquetFile(path).iter_batches(PARQUET_ROWS):
            for record in batch.to_pylist():
                number += 1
                yield row_of(f"{name}:{number}", record)
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        yield Row(f"{name}:{number + 1}", None, "broken_file", " ".join(str(error).split()))


def read_arrow(path: Path, name: str, _max_bytes: int, _encoding: str) -> Iterator[Row]:
    """An Arrow file or stream, as `datasets.save_to_disk` writes it, read in batches."""
    import pyarrow as pa

    number = 0
    try:
        with pa.memory_map(str(path)) as source:
            for batch in _arrow_batches(pa, source):
                for record in batch.to_pylist():
                    number += 1
                    yield row_of(f"{name}:{number}", record)
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        yield Row(f"{name}:{number + 1}", None, "broken_file", " ".join(str(error).split()))


def _arrow_batches(pa: Any, source: Any) -> Iterator[Any]:  # Any: pyarrow is not typed
    """The batches of a file or a stream, in slices, since a batch from `datasets` may hold a thousand long rows."""
    try:
        file = pa.ipc.open_file(source)
        batches = (file.get_batch(index) for index in range(file.num_record_batches))
    except pa.ArrowInvalid:
        source.seek(0)
        batches = iter(pa.ipc.open_stream(source))
    for batch in batches:
        for start in range(0, batch.num_rows, PARQUET_ROWS):
            yield batch.slice(start, PARQUET_ROWS)


READERS: Final[dict[str, Callable[[Path, str, int, str], Iterator[Row]]]] = {
    "jsonl": read_jsonl,
    "ndjson": read_jsonl,
    "json": read_json,
    "csv": read_csv,
    "tsv": read_tsv,
    "parquet": read_parquet,
    "arrow": read_arrow,
}


def _csv_row(place: str, header: list[str], fields: list[str]) -> Row:
    text = "\x1f".join(fields)
    if "\0" in text:
        return Row(place, None, "nul_bytes", excerpt(text.encode("utf-8", "surrogateescape")))
    if has_bad_bytes(text):
        return Row(place, None, "invalid_utf8", excerpt(text.encode("utf-8", "surrogateescape")))
    if len(fields) != len(header):
        return Row(place, None, "broken_csv", f"{len(fields)} fields, the header has {len(header)}")
    # CSV does not distinguish an empty text from no value
    return Row(place, {column: value or None for column, value in zip(header, fields, strict=True)})


def _numbered(file: IO[bytes]) -> Iterator[tuple[bool, bytes]]:
    first = True
    for line in file:
        yield first, line
        first = False


def _objects(path: Path, max_bytes: int, encoding: str) -> int:
    """The number of lines with text, counted up to 2; 0 if the first of them is not a record."""
    with opened(path, encoding) as file:
        lines = iter(lambda: file.readline(max_bytes), b"")
        found = list(islice((line for line in lines if line.strip()), 2))
    try:
        record = json.loads(found[0].decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return 0
    # an object around an array, on one line, is not a record
    is_record = isinstance(record, dict) and not any(isinstance(record.get(name), list) for name in _AROUND)
    return len(found) if is_record else 0


_AROUND: Final = ("data", "rows", "examples", "instances", "problems", "questions", "train", "validation", "test")
