"""The file formats of raw pools, each read as a stream of rows that survives bad ones.

A reader yields one `Row` per record: where it stands (`file:line`) and the record, or the reason why there is none. It
never holds more than one record or one Parquet batch, and a broken row ends nothing but itself.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from curate.errors import UserError

BLOCK_CHARS: Final = 1 << 20
PARQUET_ROWS: Final = 1_000


class Row(NamedTuple):
    """A record and where it stands, or, where it could not be read, the reason code and what was found."""

    place: str
    record: Mapping[str, Any] | None  # Any: a source's columns may hold anything
    reason: str | None = None
    detail: str | None = None


def format_of(path: Path) -> str | None:
    """The format that a file's name tells, without `.gz`; None for an unknown one."""
    suffix = Path(path.name.removesuffix(".gz")).suffix.removeprefix(".").lower()
    # Arrow is read through memory, where a packed file cannot be
    return suffix if suffix in READERS and path.suffix + suffix != ".gzarrow" else None


def read_file(path: Path, name: str, max_bytes: int) -> Iterator[Row]:
    """Every row of a file of a known format; one that breaks off (a torn .gz) ends with a bad row."""
    place = f"{name}:1"
    try:
        for row in READERS[format_of(path) or ""](path, name, max_bytes):
            place = row.place
            yield row
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        yield Row(place, None, "broken_file", f"behind this line: {error}")


def read_jsonl(path: Path, name: str, max_bytes: int) -> Iterator[Row]:
    """One JSON object a line; empty lines are skipped but counted."""
    with _opened(path) as file:
        number = 0
        while line := file.readline(max_bytes + 1):
            number += 1
            place = f"{name}:{number}"
            if len(line) > max_bytes and not line.endswith(b"\n"):
                while line and not line.endswith(b"\n"):
                    line = file.readline(BLOCK_CHARS)
                yield Row(place, None, "too_large", f"over {max_bytes} bytes")
            elif line.strip():
                yield _parsed(place, line)


def read_json(path: Path, name: str, max_bytes: int) -> Iterator[Row]:
    """A JSON array of objects, wherever it stands in the file, or, under this name too, one object a line."""
    with _opened(path) as file:
        head = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"{") and _is_object_a_line(path, max_bytes):
        yield from read_jsonl(path, name, max_bytes)
    elif head.startswith((b"[", b"{")):
        yield from _read_array(path, name, max_bytes)
    else:
        yield Row(f"{name}:1", None, "broken_json", "neither an array nor an object")


def read_csv(path: Path, name: str, max_bytes: int, delimiter: str = ",") -> Iterator[Row]:
    """Comma-separated values with a header line; a row with too many or too few fields is bad."""
    csv.field_size_limit(max_bytes)
    with _opened(path) as file:
        lines = (line.decode("utf-8-sig" if first else "utf-8", "surrogateescape") for first, line in _numbered(file))
        reader = csv.reader(lines, delimiter=delimiter)
        header = next(reader, None)
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


def read_tsv(path: Path, name: str, max_bytes: int) -> Iterator[Row]:
    """Tab-separated values, as `read_csv`."""
    return read_csv(path, name, max_bytes, delimiter="\t")


def read_parquet(path: Path, name: str, _max_bytes: int) -> Iterator[Row]:
    """A Parquet file, some rows at a time; a row's number stands for its line, and no row is too large to hold."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    number = 0
    try:
        for batch in ParquetFile(path).iter_batches(PARQUET_ROWS):
            for record in batch.to_pylist():
                number += 1
                yield _clean(f"{name}:{number}", record)
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        yield Row(f"{name}:{number + 1}", None, "broken_file", " ".join(str(error).split()))


def read_arrow(path: Path, name: str, _max_bytes: int) -> Iterator[Row]:
    """An Arrow file or stream, as `datasets.save_to_disk` leaves it, a batch of rows at a time."""
    import pyarrow as pa

    number = 0
    try:
        with pa.memory_map(str(path)) as source:
            for batch in _arrow_batches(pa, source):
                for record in batch.to_pylist():
                    number += 1
                    yield _clean(f"{name}:{number}", record)
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        yield Row(f"{name}:{number + 1}", None, "broken_file", " ".join(str(error).split()))


def _arrow_batches(pa: Any, source: Any) -> Iterator[Any]:  # Any: pyarrow is not typed
    """The batches of either form, in slices of some rows: one that `datasets` wrote may hold a thousand long ones."""
    try:
        file = pa.ipc.open_file(source)
        batches = (file.get_batch(index) for index in range(file.num_record_batches))
    except pa.ArrowInvalid:
        source.seek(0)
        batches = iter(pa.ipc.open_stream(source))
    for batch in batches:
        for start in range(0, batch.num_rows, PARQUET_ROWS):
            yield batch.slice(start, PARQUET_ROWS)


READERS: Final[dict[str, Callable[[Path, str, int], Iterator[Row]]]] = {
    "jsonl": read_jsonl,
    "ndjson": read_jsonl,
    "json": read_json,
    "csv": read_csv,
    "tsv": read_tsv,
    "parquet": read_parquet,
    "arrow": read_arrow,
}


def _parsed(place: str, line: bytes) -> Row:
    if b"\0" in line:
        return Row(place, None, "nul_bytes", _excerpt(line))
    try:
        record = _DECODER.decode(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return Row(place, None, "invalid_utf8", f"byte {error.start}: {_excerpt(line)}")
    except (ValueError, RecursionError) as error:
        return Row(place, None, "broken_json", f"{error}: {_excerpt(line)}")
    return _clean(place, record)


_DECODER: Final = json.JSONDecoder(parse_constant=lambda _: None)  # NaN and Infinity are no JSON: no value


def _clean(place: str, record: Any) -> Row:  # Any: whatever JSON or Parquet held
    if not isinstance(record, dict):
        return Row(place, None, "not_an_object", f"{type(record).__name__}: {str(record)[:100]}")
    return Row(place, record)


def _csv_row(place: str, header: list[str], fields: list[str]) -> Row:
    text = "\x1f".join(fields)
    if "\0" in text:
        return Row(place, None, "nul_bytes", _excerpt(text.encode("utf-8", "surrogateescape")))
    if any("\udc80" <= mark <= "\udcff" for mark in text):
        return Row(place, None, "invalid_utf8", _excerpt(text.encode("utf-8", "surrogateescape")))
    if len(fields) != len(header):
        return Row(place, None, "broken_csv", f"{len(fields)} fields, the header has {len(header)}")
    # CSV cannot tell an empty text from no value
    return Row(place, {column: value or None for column, value in zip(header, fields, strict=True)})


def _excerpt(data: bytes) -> str:
    return data[:100].decode("utf-8", "replace").replace("\0", "\\0").strip()


def _numbered(file: IO[bytes]) -> Iterator[tuple[bool, bytes]]:
    first = True
    for line in file:
        yield first, line
        first = False


def _opened(path: Path) -> IO[bytes]:
    try:
        return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]  # a stream
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); check the path and its rights") from None


def _is_object_a_line(path: Path, max_bytes: int) -> bool:
    with _opened(path) as file:
        lines = iter(lambda: file.readline(max_bytes), b"")
        line = next((line for line in lines if line.strip()), b"")
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except ValueError:
        return False
    # a table around an array, on one line, is no record
    return isinstance(record, dict) and not any(isinstance(record.get(name), list) for name in _AROUND)


_AROUND: Final = ("data", "rows", "examples", "instances", "problems", "questions", "train", "validation", "test")
_FIRST_ARRAY: Final = re.compile(r"\s*\[|\s*\{(?s:.*?)\"\s*:\s*\[(?=\s*\{)")
_BETWEEN: Final = re.compile(r"[\s,]*")
_NEXT: Final = re.compile(r"\}\s*,\s*(?=\{)")
_NEAR_END: Final = 8  # characters: an escape or a word cut in two


class _Window:
    """The part of a text that is being read: where it is read, and the line that this place is on."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = io.TextIOWrapper(file, "utf-8-sig", errors="surrogateescape")
        self.text, self.at, self.line = "", 0, 1

    def more(self) -> bool:
        """Forget what was read and take in another block; False at the end of the file."""
        block = self._file.read(BLOCK_CHARS)
        self.text, self.at = self.text[self.at :] + block, 0
        return bool(block)

    def move(self, at: int) -> None:
        """Go on to a place further on in `text`."""
        self.line += self.text.count("\n", self.at, at)
        self.at = at

    def find(self, pattern: re.Pattern[str], keep: int) -> bool:
        """Move behind the next match, reading on until there is one; of what is passed, hold `keep` characters."""
        while not (match := pattern.search(self.text, self.at)):
            self.move(max(self.at, len(self.text) - keep))
            if not self.more():
                return False
        self.move(match.end())
        return True


def _read_array(path: Path, name: str, max_bytes: int) -> Iterator[Row]:
    """Records of the file's first array of objects, decoded one at a time from a moving window."""
    with _opened(path) as file:
        window = _Window(file)
        window.more()
        if not (match := _FIRST_ARRAY.match(window.text)):
            yield Row(f"{name}:1", None, "broken_json", "holds no array of objects")
            return
        window.move(match.end())
        while True:
            window.move(_BETWEEN.match(window.text, window.at).end())  # type: ignore[union-attr]  # matches the empty text
            if window.at == len(window.text):
                if not window.more():
                    yield Row(f"{name}:{window.line}", None, "broken_json", "the array does not end")
                    return
            elif window.text[window.at] == "]":
                return
            else:
                yield from _next_record(window, name, max_bytes)


def _next_record(window: _Window, name: str, max_bytes: int) -> Iterator[Row]:
    """The record at the window's place; nothing when more of it has to be read first."""
    place = f"{name}:{window.line}"
    try:
        record, end = _DECODER.raw_decode(window.text, window.at)
    except (ValueError, RecursionError) as error:
        is_cut = isinstance(error, json.JSONDecodeError) and (
            error.msg.startswith("Unterminated") or error.pos >= len(window.text) - _NEAR_END
        )
        is_large = len(window.text) - window.at > max_bytes
        if is_cut and not is_large and window.more():
            return
        reason, detail = (
            ("too_large", f"over {max_bytes} bytes") if is_cut and is_large else ("broken_json", f"{error}")
        )
        yield Row(place, None, reason, detail)
        if not window.find(_NEXT, keep=BLOCK_CHARS // 16):
            window.move(len(window.text))
        return
    text = window.text[window.at : end]
    window.move(end)
    if not text.isascii() and any("\udc80" <= mark <= "\udcff" for mark in text):
        yield Row(place, None, "invalid_utf8", _excerpt(text.encode("utf-8", "surrogateescape")))
    else:
        yield _clean(place, record)
