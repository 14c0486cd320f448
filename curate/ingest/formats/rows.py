"""Rows of a raw source: each has a place and a record, or the reason why it has no record.

Functions here convert bytes and parsed JSON to rows, for all file formats.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import json
import lzma
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from curate.errors import UserError

UTF8: Final = "utf-8"
BLOCK_BYTES: Final = 1 << 16
_HEAD_BYTES: Final = 16
DAMAGED: Final = (EOFError, zlib.error, lzma.LZMAError)  # what decompressing raises, beside OSError
DECODER: Final = json.JSONDecoder(parse_constant=lambda _: None)  # NaN and Infinity are not JSON: read as null


class Row(NamedTuple):
    """A record and its place or, if it cannot be read, the reason code and the evidence."""

    place: str
    record: Mapping[str, Any] | None  # Any: a source's columns may hold anything
    reason: str | None = None
    detail: str | None = None


def opened(path: Path, encoding: str = UTF8) -> IO[bytes]:
    """A file decompressed, as its content says and not its name, and text in it as UTF-8.

    A byte order mark selects UTF-16 or UTF-32.
    """
    try:
        with path.open("rb") as plain:
            compression = compression_of(plain.read(8))
        file = _opened(path, compression)
        if encoding == UTF8:
            encoding = _encoding_of(file)
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"{path}: cannot be read ({reason}); check the path and its permissions") from None
    except DAMAGED:
        file = _opened(path, compression)  # its reader reports the fault
    return file if encoding == UTF8 else io.BufferedReader(_AsUtf8(file, encoding))


def compression_of(head: bytes) -> str | None:
    """The compression of a file that begins with these bytes: gzip, bz2, xz or zstd; None if it has none."""
    return next((name for name, magic in _MAGIC.items() if head.startswith(magic)), None)


_MAGIC: Final = {
    "gzip": b"\x1f\x8b\x08",
    "bz2": b"BZh",
    "xz": b"\xfd7zXZ\x00",
    "lzma": b"\x5d\x00\x00",
    "zstd": b"\x28\xb5\x2f\xfd",
}


def _opened(path: Path, compression: str | None) -> Any:  # Any: binary streams of five libraries
    if compression == "gzip":
        return gzip.open(path, "rb")
    if compression == "bz2":
        return bz2.open(path, "rb")
    if compression in ("xz", "lzma"):
        return lzma.open(path, "rb")
    if compression == "zstd":
        import pyarrow as pa

        return io.BufferedReader(pa.input_stream(str(path), compression="zstd"))
    return path.open("rb")


def _encoding_of(file: Any) -> str:
    """The encoding that a byte order mark names, or that the first bytes show."""
    head = file.peek(_HEAD_BYTES)[:_HEAD_BYTES]
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    low, high = head[::2], head[1::2]
    if len(head) == _HEAD_BYTES and not any(low[at] and high[at] for at in range(len(low))) and any(head):
        # ASCII in UTF-16 without a mark: every other byte is zero
        return "utf-16-le" if not any(high) else "utf-16-be" if not any(low) else UTF8
    return UTF8


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


def is_turn(value: Any) -> bool:  # Any: any JSON value
    """Whether a value is a turn of a conversation: a table with a role, or with its speaker as `from`."""
    return isinstance(value, dict) and ("role" in value or "from" in value)


def rows_of(place: str, value: Any) -> Iterator[Row]:  # Any: any JSON value
    """The rows of a parsed value: that of `row_of`, or of each record in a list that is no conversation."""
    if isinstance(value, list) and value and isinstance(value[0], dict) and not is_turn(value[0]):
        for record in value:
            yield row_of(place, record)
    else:
        yield row_of(place, value)


def row_of(place: str, record: Any) -> Row:  # Any: any JSON or Parquet value
    """The row of a parsed value: an object, or a list of objects (a conversation) as columns `0`, `1`."""
    if isinstance(record, list) and record and is_turn(record[0]) and all(isinstance(item, dict) for item in record):
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
