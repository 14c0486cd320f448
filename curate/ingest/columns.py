"""Reads the mapped columns of a record, each cell once.

A path names a column or, with dots, a field inside one (`reward_model.ground_truth`), even if the cell holds the table
as JSON text. `CellReader` applies a `ColumnMap` to a record, so that its callers see values and no paths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from curate.config import Config
from curate.ingest.answers import written
from curate.records import KINDS

Record = Mapping[str, Any]  # Any: a source's columns may hold anything
_ABSENT: Final = object()
_WRITTEN_TURNS: Final = re.compile(r"\s*\[\s*\{\s*\"(?:role|content|from|value)\"")
_WRITTEN_LIST: Final = re.compile(r"\s*\[\s*\".*\"\s*\]\s*\Z", re.DOTALL)  # ["42"], but not the interval [1,2]


class ColumnMap(Config):
    """The columns that each field is read from; `ground_truth` falls back to the next one if a cell is null."""

    prompt: tuple[str, ...]
    ground_truth: tuple[str, ...] = ()
    kind: str | None = None
    choices: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    solution: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """One printed line per field."""
        joined = {"prompt": " + ", "ground_truth": " or ", "choices": " + ", "tests": " + ", "solution": " or "}
        shown = [(field, sign.join(getattr(self, field))) for field, sign in joined.items()]
        kind = self.kind or ("code where there are tests, else math" if self.tests else "math")
        return [f"{field:<13}<- {columns or 'none'}" for field, columns in [*shown, ("kind", kind)]]


class Cells(NamedTuple):
    """The cells of a record by field, in the order of the map's columns; None for an absent cell.

    prompt: the last one is a list of turns if it is a conversation, also one in JSON text.
    truths, solutions: resolved lazily, since most records need only the first; JSON lists of texts are parsed.
    choices: the cell, or the non-null cells if each option has its own column.
    kind: the cell, or the map's value if it is a kind and not a column.
    """

    prompt: Sequence[Any]  # Any: cells of a source, in all fields
    truths: Iterator[Any]
    choices: Any
    tests: Sequence[Any]
    solutions: Iterator[Any]
    kind: Any


class CellReader:
    """Resolves the mapped cells of a source's records."""

    def __init__(self, columns: ColumnMap) -> None:
        *self._before, self._prompt = columns.prompt
        self._truths, self._solutions = columns.ground_truth, columns.solution
        self._choices, self._tests, self._kind = columns.choices, columns.tests, columns.kind
        self._has_kind = columns.kind not in (None, *KINDS)
        paths = (*columns.prompt, *self._truths, *self._solutions, *self._choices, *self._tests, self._kind or "")
        self._inside = {path: (head, rest) for path in paths for head, dot, rest in [path.partition(".")] if dot}

    def cells(self, record: Record) -> Cells:
        """The record's cells by field."""
        at = self._lookup(record) if self._inside else record.get
        prompt = _read(at(self._prompt), _WRITTEN_TURNS)
        lists = dict[str, Any]()
        return Cells(
            [*map(at, self._before), prompt] if self._before else [prompt],
            _listed(at, self._truths, lists),
            self._options(at) if self._choices else None,
            [at(path) for path in self._tests] if self._tests else (),
            _listed(at, self._solutions, lists) if self._solutions else iter(()),
            at(self._kind) if self._has_kind and self._kind else self._kind,
        )

    def _options(self, at: Callable[[str], Any]) -> Any:  # Any: cells of a source
        if len(self._choices) == 1:
            return at(self._choices[0])
        return [value for path in self._choices if (value := at(path)) is not None]

    def _lookup(self, record: Record) -> Callable[[str], Any]:  # Any: a cell of a source
        """A function from a path to its cell; a table in JSON text is parsed once for all its fields."""
        tables: dict[str, Record | None] = {}

        def at(path: str) -> Any:  # Any: a cell of a source
            if path not in self._inside or path in record:
                return record.get(path)
            head, rest = self._inside[path]
            if head not in tables:
                tables[head] = _table(record.get(head))
            table = tables[head]
            return cell(table, rest) if table is not None else None

        return at


def _listed(at: Callable[[str], Any], paths: Sequence[str], lists: dict[str, Any]) -> Iterator[Any]:  # Any: cells
    """The cells of some columns, JSON lists of texts parsed; `lists` caches them."""
    for path in paths:
        if path not in lists:
            lists[path] = _read(at(path), _WRITTEN_LIST)
        yield lists[path]


def _read(value: Any, form: re.Pattern[str]) -> Any:  # Any: a cell of a source
    """A cell, parsed as JSON if it is a text of this form."""
    return written(value) if isinstance(value, str) and form.match(value) else value


def cell(record: Record, path: str) -> Any:  # Any: a cell of a source
    """The value of a column, or of a field inside one; None if it is absent."""
    found = _looked_up(record, path)
    return None if found is _ABSENT else found


def is_in(record: Record, path: str) -> bool:
    """Whether a record has the column, or the field inside one."""
    return _looked_up(record, path) is not _ABSENT


def _looked_up(record: Record, path: str) -> Any:  # Any: a cell of a source
    head, dot, rest = path.partition(".")
    if path in record or not dot:
        return record.get(path, _ABSENT)
    table = _table(record.get(head))
    return _looked_up(table, rest) if table is not None else _ABSENT


def _table(value: Any) -> Record | None:  # Any: a cell of a source
    """A cell that is a table, also one in JSON text; else None."""
    if isinstance(value, str) and value.startswith("{"):
        value = written(value)
    return value if isinstance(value, Mapping) else None
