"""The file formats of raw pools, and the streams of rows that their readers give; a bad row does not end a stream.

A reader yields one `Row` per record: its place (`file:line`) and the record, or the reason why there is none. It holds
at most one record or one batch of a table in memory; YAML, and JSON that is one document, are read whole up to the
limit of a row. What a file contains decides about compression, and about tables that are not text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from curate.errors import UserError
from curate.ingest.formats.columnar import read_arrow, read_parquet
from curate.ingest.formats.json_files import read_json, read_jsonl
from curate.ingest.formats.markup import read_xml, read_yaml_rows
from curate.ingest.formats.rows import DAMAGED, UTF8, Row, compression_of, opened
from curate.ingest.formats.spreadsheets import read_xlsx
from curate.ingest.formats.text_tables import read_csv, read_tsv
from curate.ingest.formats.unpacked import plain_name

READERS: Final[dict[str, Callable[[Path, str, int, str], Iterator[Row]]]] = {
    "jsonl": read_jsonl,
    "ndjson": read_jsonl,
    "json": read_json,
    "csv": read_csv,
    "tsv": read_tsv,
    "parquet": read_parquet,
    "arrow": read_arrow,
    "feather": read_arrow,
    "xlsx": read_xlsx,
    "xlsm": read_xlsx,
    "xml": read_xml,
    "yaml": read_yaml_rows,
    "yml": read_yaml_rows,
}
NAMES: Final = "JSONL, JSON, CSV, TSV, Parquet, Arrow, XLSX, XML or YAML"
_MAGIC: Final = {b"PAR1": "parquet", b"ARROW1": "arrow", b"PK\x03\x04": "xlsx"}

_WHOLE_BY_START: Final = ("xlsx",)  # an archive may have a comment behind its end


def format_of(path: Path) -> str | None:
    """The format by a file's name, without the suffix of a compression; None for an unknown one."""
    suffix = Path(plain_name(path.name)).suffix.removeprefix(".").lower()
    return suffix if suffix in READERS else None


def format_in(path: Path) -> str | None:
    """The format by a file's name or, for another name, by how its content begins."""
    return format_of(path) or _binary_format(path) or _text_format(path)


def read_file(path: Path, name: str, max_bytes: int, encoding: str = UTF8) -> Iterator[Row]:
    """Every row of a file of a known format; a truncated or damaged compressed file ends with a bad row."""
    place = f"{name}:1"
    try:
        for row in READERS[_binary_format(path) or format_in(path) or ""](path, name, max_bytes, encoding):
            place = row.place
            yield row
    except (*DAMAGED, OSError) as error:
        yield Row(place, None, "broken_file", f"behind this line: {error}")


def _binary_format(path: Path) -> str | None:
    """The format of a table that is not text, by its first bytes."""
    try:
        with opened(path) as file:
            head = file.read(8)
    except (*DAMAGED, OSError, UserError):
        return None
    found = next(((magic, name) for magic, name in _MAGIC.items() if head.startswith(magic)), None)
    if found is None or not (format_of(path) is None or found[1] in _WHOLE_BY_START or _ends_with(path, found[0])):
        return None
    return found[1]


def _ends_with(path: Path, magic: bytes) -> bool:
    """Whether a table ends as it begins, as Parquet and Arrow files do; of a compressed one only the start is read."""
    with path.open("rb") as file:
        if compression_of(file.read(8)) is not None:
            return True
        end = file.seek(0, os.SEEK_END)
        file.seek(max(end - len(magic), len(magic)))
        return file.read() == magic


def _text_format(path: Path) -> str | None:
    """The format of a text: JSON by its first character, else separated values if its header has several columns."""
    try:
        with opened(path) as file:
            head = file.read(4096)
    except (*DAMAGED, OSError, UserError):
        return None
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        return "jsonl"
    first = head.splitlines()[0] if head.splitlines() else b""
    is_text = b"\0" not in head
    return "csv" if is_text and any(sign in first for sign in (b",", b"\t", b";", b"|")) else None
