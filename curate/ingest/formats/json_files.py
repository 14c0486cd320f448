"""Reads a JSON file in whatever layout it has, also behind a name that promises another.

one value a line      objects, lists of turns, lists of records, records by id
one document          an array, a table, an object around arrays, one record
values in a row       pretty-printed records one after the other, or lines that end in CR
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal

from curate.ingest.formats.json_streams import BLOCK_CHARS, read_array, read_values
from curate.ingest.formats.json_tables import is_by_id, records_in_document
from curate.ingest.formats.rows import DECODER, Row, opened, parsed, rows_of

Layout = Literal["lines", "by id", "document", "array", "values", "nothing"]
_BLANK: Final = " \t\r\n"


def read_json(path: Path, name: str, max_bytes: int, encoding: str) -> Iterator[Row]:
    """The records of a .json file."""
    layout = _layout(path, max_bytes, encoding, is_lines=False)
    if layout == "nothing":
        with opened(path, encoding) as file:
            is_empty = not file.read(1)
        yield Row(
            f"{name}:1", None, "broken_json", "the file is empty" if is_empty else "neither an array nor an object"
        )
    else:
        yield from _read(layout, path, name, max_bytes, encoding)


def read_jsonl(path: Path, name: str, max_bytes: int, encoding: str) -> Iterator[Row]:
    """The records of a .jsonl file; empty lines are skipped but counted."""
    yield from _read(_layout(path, max_bytes, encoding, is_lines=True), path, name, max_bytes, encoding)


def _read(layout: Layout, path: Path, name: str, max_bytes: int, encoding: str) -> Iterator[Row]:
    if layout == "array":
        yield from read_array(path, name, max_bytes, encoding)
    elif layout == "values":
        yield from read_values(path, name, max_bytes, encoding)
    elif layout == "by id":
        yield from map(_without_id, _read_lines(path, name, max_bytes, encoding))
    elif layout == "document":
        yield from _read_document(path, name, max_bytes, encoding)
    else:
        yield from _read_lines(path, name, max_bytes, encoding)


def _layout(path: Path, max_bytes: int, encoding: str, *, is_lines: bool) -> Layout:
    """The layout of a file, by its first two lines and, if the first is no value, by its first value.

    is_lines: its name says that it has one value a line; in doubt that holds.
    """
    default: Layout = "lines" if is_lines else "nothing"
    with opened(path, encoding) as file:
        lines = (line for line in iter(lambda: file.readline(max_bytes), b"") if line.strip(b"\xef\xbb\xbf \t\r\n"))
        found = [_decoded(line) for line in islice(lines, 2)]
    if not found:
        return default
    first = _value(found[0])
    if isinstance(first, dict):
        if len(found) == 1:
            return "document"
        return "by id" if is_by_id(first, _value(found[1])) else "lines"
    if isinstance(first, list):
        return "lines" if len(found) > 1 else "array"
    if first is not _NO_VALUE:
        return default
    if found[0].startswith(("[", "{")):
        second = _value(found[1]) if len(found) > 1 else _NO_VALUE
        return _layout_of_text(path, max_bytes, encoding, is_lines=is_lines or isinstance(second, dict))
    return default


def _layout_of_text(path: Path, max_bytes: int, encoding: str, *, is_lines: bool) -> Layout:
    """The layout of a file whose first line is no value, by the first value in its text."""
    with opened(path, encoding) as file:
        text = _decoded(file.read(BLOCK_CHARS))
        if text.startswith("{") and _end_of_value(text, 0) is None:
            # the first value may be longer, up to the limit
            text += (
                file.read(max_bytes - BLOCK_CHARS).decode("utf-8", "surrogateescape") if max_bytes > BLOCK_CHARS else ""
            )
    if text.startswith("["):
        at = len(text) - len(text[1:].lstrip())
        end = _end_of_value(text, at) if text[at : at + 1] == "{" else None
        is_array = not is_lines or (end is not None and text[end:].lstrip()[:1] in (",", "]"))
        return "array" if is_array else "lines"
    end = _end_of_value(text, 0)
    if end is None:
        return "lines" if is_lines else "array"  # perhaps an array inside a broken or very long object
    return "values" if text[end:].strip(_BLANK + ",") else "document"


def _end_of_value(text: str, at: int) -> int | None:
    try:
        return DECODER.raw_decode(text, at)[1]
    except (ValueError, RecursionError):
        return None


_NO_VALUE: Final = object()


def _value(line: str) -> Any:  # Any: any JSON value
    try:
        return DECODER.decode(line)
    except (ValueError, RecursionError):
        return _NO_VALUE


def _decoded(data: bytes) -> str:
    return data.decode("utf-8-sig", "surrogateescape").strip(_BLANK)


def _read_lines(path: Path, name: str, max_bytes: int, encoding: str) -> Iterator[Row]:
    """One JSON value per line; a list of records gives them all, and so do several values on a line."""
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
                row = parsed(place, line)
                if row.record is None and row.reason in ("not_an_object", "broken_json"):
                    yield from _several(row, line)
                else:
                    yield row


def _several(row: Row, line: bytes) -> Iterator[Row]:
    """The records on a line that is no single object; the row itself if there are none."""
    text = line.decode("utf-8-sig", "surrogateescape").strip(_BLANK)
    values, at = list[Any](), 0
    while at < len(text):
        try:
            value, at = DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            yield row
            return
        values.append(value)
        at += len(text) - at - len(text[at:].lstrip(_BLANK + ","))
    found = [each for value in values for each in rows_of(row.place, value)]
    if all(each.record is not None for each in found) and found:
        yield from found
    else:
        yield row


def _without_id(row: Row) -> Row:
    """A row whose record is the only cell of a line's object; its name becomes the `id`."""
    if row.record is None or len(row.record) != 1:
        return row
    ((key, record),) = row.record.items()
    return row._replace(record={"id": key, **record}) if isinstance(record, dict) else row


def _read_document(path: Path, name: str, max_bytes: int, encoding: str) -> Iterator[Row]:
    """The rows of a file that is one document of at most `max_bytes`; of a longer one, those of its arrays."""
    with opened(path, encoding) as file:
        data = file.read(max_bytes + 1)
    try:
        text = data.decode("utf-8-sig") if len(data) <= max_bytes else None
        records = records_in_document(DECODER.decode(text)) if text is not None else None
    except (UnicodeDecodeError, ValueError, RecursionError):
        records = None
    if records is None:
        yield from read_array(path, name, max_bytes, encoding)
        return
    for number, record in enumerate(records):
        yield Row(f"{name}#{number + 1}" if len(records) > 1 else f"{name}:1", record)
