"""Reads Excel workbooks: every visible sheet, each with a header row."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from curate.errors import UserError
from curate.ingest.formats.rows import Row
from curate.ingest.formats.text_tables import distinct
from curate.ingest.formats.unpacked import seekable

_HEAD_ROWS: Final = 20
_ERRORS: Final = ("#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!")

Cells = list[Any]  # Any: texts, numbers and dates


def read_xlsx(path: Path, name: str, _max_bytes: int, _encoding: str) -> Iterator[Row]:
    """The rows of a workbook; a place has the sheet and the row's number in it.

    A number is as Excel shows it: 15 digits, with % where the cell has that format. A formula is its last result.
    """
    try:
        import openpyxl
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError:
        raise UserError(f"{name}: .xlsx needs openpyxl; pip install openpyxl, or save the sheet as CSV") from None
    try:
        # a stream, whose name openpyxl does not judge
        stream = seekable(path).open("rb")
        book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
    except (InvalidFileException, zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        stream.close()
        yield Row(f"{name}:1", None, "broken_file", f"no workbook of Excel 2007 or later: {error}")
        return
    sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    for sheet in sheets:
        sheet.reset_dimensions()  # some programs write wrong ones
        place = f"{name}/{sheet.title}" if len(sheets) > 1 else name
        yield from _records(([_shown(cell) for cell in row] for row in sheet.iter_rows()), place)
    book.close()
    stream.close()


def _records(rows: Iterator[Cells], place: str) -> Iterator[Row]:
    """A record for each row below the header that is not empty."""
    head = list(islice(rows, _HEAD_ROWS))
    at = _header_row(head)
    if at is None:
        return
    names = distinct([str(cell) if cell is not None else "" for cell in head[at]])
    for number, cells in enumerate(chain(head[at + 1 :], rows), at + 2):
        record = {name or f"column {at}": cell for at, (name, cell) in _named(names, cells) if name or cell is not None}
        if any(cell is not None for cell in record.values()):
            yield Row(f"{place}:{number}", record)


def _named(names: Sequence[str], cells: Cells) -> Iterable[tuple[int, tuple[str, Any]]]:
    width = max(len(names), len(cells))
    padded = zip([*names, *[""] * (width - len(names))], [*cells, *[None] * (width - len(cells))], strict=True)
    return enumerate(padded, 1)


def _header_row(head: Sequence[Cells]) -> int | None:
    """The first row that has at least half as many cells as the fullest one: titles above a table have fewer."""
    widths = [sum(cell is not None for cell in cells) for cells in head]
    most = max(widths, default=0)
    return next((at for at, width in enumerate(widths) if width and 2 * width > most), None)


def _shown(cell: Any) -> Any:  # Any: a cell of openpyxl
    """The value of a cell as Excel shows it."""
    value = cell.value
    if isinstance(value, str):
        text = value.replace("_x000D_", "").strip()
        return None if text in _ERRORS or not text else text
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        value = float(f"{value:.15g}")
    if isinstance(value, int | float) and "%" in str(getattr(cell, "number_format", "")):
        return f"{float(f'{value * 100:.13g}'):.15g}%"
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value
