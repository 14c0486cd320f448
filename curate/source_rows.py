"""A row of a raw source: where it stands and its record, or why there is none.

Bytes and parsed JSON become rows here, whatever the format of the file that they stand in.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from curate.errors import UserError

DECODER: Final = json.JSONDecoder(parse_constant=lambda _: None)  # NaN and Infinity are no JSON: no value


class Row(NamedTuple):
    """A record and where it stands, or, where it could not be read, the reason code and what was found."""

    place: str
    record: Mapping[str, Any] | None  # Any: a source's columns may hold anything
    reason: str | None = None
    detail: str | None = None


def opened(path: Path) -> IO[bytes]:
    """A file as bytes, unpacked where its name ends in .gz."""
    try:
        return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]  # a stream
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); check the path and its rights") from None


def parsed(place: str, line: bytes) -> Row:
    """The row that a line of JSON is."""
    if b"\0" in line:
        return Row(place, None, "nul_bytes", excerpt(line))
    try:
        record = DECODER.decode(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return Row(place, None, "invalid_utf8", f"byte {error.start}: {excerpt(line)}")
    except (ValueError, RecursionError) as error:
        return Row(place, None, "broken_json", f"{error}: {excerpt(line)}")
    return row_of(place, record)


def row_of(place: str, record: Any) -> Row:  # Any: whatever JSON or Parquet held
    """The row that a parsed value is: only an object is a record."""
    if not isinstance(record, dict):
        return Row(place, None, "not_an_object", f"{type(record).__name__}: {str(record)[:100]}")
    return Row(place, record)


def excerpt(data: bytes) -> str:
    """The beginning of some bytes, as evidence."""
    return data[:100].decode("utf-8", "replace").replace("\0", "\\0").strip()


def has_bad_bytes(text: str) -> bool:
    """Whether a text, decoded with `surrogateescape`, held bytes that are no UTF-8."""
    return not text.isascii() and any("\udc80" <= mark <= "\udcff" for mark in text)
