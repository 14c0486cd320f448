"""Reads separated values: any of four separators, any line ends, and rows behind a quote that never closes."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from curate.ingest.formats.rows import Row, excerpt, has_bad_bytes, opened

HEAD_LINES: Final = 20
_STATED: Final = re.compile(r"\s*sep=(.)\s*$")  # a line that some spreadsheets write and read


class _Dialect(NamedTuple):
    """The separator, and whether a quote in a cell is written as backslash and quote."""

    delimiter: str
    has_backslashes: bool = False

    def fields(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """The records in some lines; raises `csv.Error`."""
        if self.has_backslashes:
            lines = (line.replace('\\"', '""') for line in lines)
        return csv.reader(lines, delimiter=self.delimiter)


def read_csv(path: Path, name: str, max_bytes: int, encoding: str, delimiter: str = "") -> Iterator[Row]:
    """Separated values with a header line; a row with too many or too few fields is bad.

    The delimiter is the comma, semicolon, tab or bar that splits the first lines into the most fields, the same number
    in each.
    """
    csv.field_size_limit(max_bytes)
    with _text(path, encoding) as lines:
        head = list(islice(lines, HEAD_LINES))
    stated = _STATED.match(head[0]) if head else None
    dialect = _dialect(head, delimiter or (stated[1] if stated else ""))
    with _text(path, encoding) as lines:
        table = _Table(lines, dialect, name)
        if stated:
            next(table.lines)
        yield from table.rows()


def read_tsv(path: Path, name: str, max_bytes: int, encoding: str) -> Iterator[Row]:
    """Tab-separated values, read as in `read_csv`."""
    return read_csv(path, name, max_bytes, encoding, delimiter="\t")


def _text(path: Path, encoding: str) -> io.TextIOWrapper:
    """A file as lines with their ends: LF, CR LF or CR."""
    return io.TextIOWrapper(opened(path, encoding), "utf-8-sig", errors="surrogateescape", newline="")


class _Table:
    """The records of a file, with the lines of the last one."""

    def __init__(self, lines: Iterator[str], dialect: _Dialect, name: str) -> None:
        self._name, self._dialect = name, dialect
        self._number, self._last = 0, list[str]()
        self.lines = self._noted(lines)

    def rows(self) -> Iterator[Row]:
        """One row per record; the records in lines that an open quote swallowed are found again."""
        reader = self._dialect.fields(self.lines)
        header: list[str] | None = None
        while True:
            self._last.clear()
            start = self._number + 1
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                fault, fields = str(error), list[str]()
                if header is not None:
                    yield from self._again(start, header, fault)
                    reader = self._dialect.fields(self.lines)
                continue
            if not fields:
                continue
            if header is None:
                header = distinct(fields)
            elif len(fields) != len(header) and len(header) > 1:
                yield from self._again(start, header, f"{len(fields)} fields, the header has {len(header)}")
            else:
                yield _row(
                    f"{self._name}:{start}",
                    header,
                    [self._dialect.delimiter.join(fields)] if len(header) == 1 else fields,
                )

    def _again(self, start: int, header: list[str], fault: str) -> Iterator[Row]:
        """The rows in the lines of a bad record: one bad row, or each line if some of them are records themselves."""
        lines = list(self._last)
        inner = [_fields(line, self._dialect) for line in lines[1:]]
        if len(header) < 2 or not any(len(fields) == len(header) for fields in inner):
            yield Row(f"{self._name}:{start}", None, "broken_csv", fault)
            return
        yield Row(
            f"{self._name}:{start}", None, "broken_csv", f"a quote opens here and does not close: {lines[0][:100]}"
        )
        for number, fields in enumerate(inner, start + 1):
            if len(fields) == len(header):
                yield _row(f"{self._name}:{number}", header, fields)
            elif fields:
                yield Row(
                    f"{self._name}:{number}", None, "broken_csv", f"{len(fields)} fields, the header has {len(header)}"
                )

    def _noted(self, lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            self._number += 1
            self._last.append(line)
            yield line


def _fields(line: str, dialect: _Dialect) -> list[str]:
    try:
        return next(dialect.fields([line]), [])
    except csv.Error:
        return []


def _dialect(head: Sequence[str], delimiter: str) -> _Dialect:
    """The dialect that splits the first lines into the most fields, the same number in each."""
    delimiters = delimiter or ",;\t|"
    plain = max((_Dialect(sign) for sign in delimiters), key=lambda one: _fitness(head, one))
    if _fitness(head, plain)[0] or not any('\\"' in line for line in head):
        return plain
    escaped = max((_Dialect(sign, has_backslashes=True) for sign in delimiters), key=lambda one: _fitness(head, one))
    return escaped if _fitness(head, escaped)[0] else plain


def _fitness(head: Sequence[str], dialect: _Dialect) -> tuple[bool, int]:
    try:
        widths = [len(fields) for fields in dialect.fields(head) if fields]
    except csv.Error:
        return False, 0
    # the last record may continue after these lines
    whole = widths[: max(2, len(widths) - 1)]
    return bool(whole) and whole[0] > 1 and len(set(whole)) == 1, whole[0] if whole else 0


def distinct(header: Sequence[str]) -> list[str]:
    """The columns' names, stripped; a second `answer` becomes `answer_2`."""
    names = [name.strip() for name in header]
    counts = [names[:place].count(name) + 1 for place, name in enumerate(names)]
    return [name if count == 1 else f"{name}_{count}" for name, count in zip(names, counts, strict=True)]


def _row(place: str, header: list[str], fields: list[str]) -> Row:
    text = "\x1f".join(fields)
    if "\0" in text:
        return Row(place, None, "nul_bytes", excerpt(text.encode("utf-8", "surrogateescape")))
    if has_bad_bytes(text):
        return Row(place, None, "invalid_utf8", excerpt(text.encode("utf-8", "surrogateescape")))
    # CSV does not distinguish an empty text from no value
    return Row(place, {column: value or None for column, value in zip(header, fields, strict=True)})
