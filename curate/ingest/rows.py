"""Rows of a raw source: each has a place and a record, or the reason why it has no record.

Functions here convert bytes and parsed JSON to rows, for all file formats.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from curate.errors import UserError

UTF8: Final = "utf-8"
BLOCK_BYTES: Final = 1 << 16
DECODER: Final = json.JSONDecoder(parse_constant=lambda _: None)  # NaN and Infinity are not JSON: read as null


class Row(NamedTuple):
    """A record and its place or, if it cannot be read, the reason code and the evidence."""

    place: str
    record: Mapping[str, Any] | None  # Any: a source's columns may hold anything
    reason: str | None = None
    detail: str | None = None


def opened(path: Path, encoding: str = UTF8) -> IO[bytes]:
    """A text file as UTF-8, decompressed if its name ends in .gz; a byte order mark selects UTF-16."""
    try:
        file = gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # noqa: SIM115  # the caller closes it
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); check the path and its permissions") from None
    if encoding == UTF8 and file.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        encoding = "utf-16"
    return file if encoding == UTF8 else io.BufferedReader(_AsUtf8(file, encoding))  # type: ignore[return-value]  # a stream


class _AsUtf8(io.RawIOBase):
    """A stream in another encoding, as UTF-8; bytes that it cannot decode are invalid UTF-8, too."""

    def __init__(self, file: Any, encoding: str) -> None:  # Any: a binary stream, compressed or not
        self._file, self._rest = file, b""
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="surrogateescape")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # Any: the buffer of a buffered reader
        block = b"..."
        while block and not self._rest:
            block = self._file.read(BLOCK_BYTES)
            self._rest = self._decoder.decode(block, final=not block).encode("utf-8", "surrogateescape")
        num_bytes = min(len(buffer), len(self._rest))
        buffer[:num_bytes], self._rest = self._rest[:num_bytes], self._rest[num_bytes:]
        return num_bytes

    def close(self) -> None:
        self._file.close()
        super().close()


def parsed(place: str, line: bytes) -> Row:
    """The row of a line of JSON."""
    if b"\0" in line:
        return Row(place, None, "nul_bytes", excerpt(line))
    try:
        record = DECODER.decode(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return Row(place, None, "invalid_utf8", f"byte {error.start}: {excerpt(line)}")
    except (ValueError, RecursionError) as error:
        return Row(place, None, "broken_json", f"{error}: {excerpt(line)}")
    return row_of(place, record)


def row_of(place: str, record: Any) -> Row:  # Any: any JSON or Parquet value
    """The row of a parsed value: an object, or a list of objects (a conversation) as columns `0`, `1`."""
    if isinstance(record, list) and record and all(isinstance(item, dict) for item in record):
        record = {str(place): item for place, item in enumerate(record)}
    if not isinstance(record, dict):
        return Row(place, None, "not_an_object", f"{type(record).__name__}: {str(record)[:100]}")
    return Row(place, record)


def excerpt(data: bytes) -> str:
    """The beginning of some bytes, as evidence."""
    return data[:100].decode("utf-8", "replace").replace("\0", "\\0").strip()


def has_bad_bytes(text: str) -> bool:
    """Whether a text, decoded with `surrogateescape`, held bytes that are not UTF-8."""
    return not text.isascii() and any("\udc80" <= mark <= "\udcff" for mark in text)
