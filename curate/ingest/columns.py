"""Reads the mapped columns of a record, each cell once.

A path names a column or, with dots, a field inside one (`reward_model.ground_truth`), even if the cell holds the table
as JSON text. `CellReader` applies a `ColumnMap` to a record, so that its callers see values and no paths.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from curate.config import Config
from curate.ingest.answers import written
from curate.records import KINDS, OWN_KIND

Record = Mapping[str, Any]  # Any: a source's columns may hold anything
_ABSENT: Final = object()
_WRITTEN_TURNS: Final = re.compile(r"\s*\[\s*\{\s*[\"'](?:role|content|from|value)[\"']")
# ["42"] or, as pandas writes it to CSV, ['42'], but not the interval [1,2]
_WRITTEN_LIST: Final = re.compile(r"\s*\[\s*([\"']).*\1\s*\]\s*\Z", re.DOTALL)
_NUMPY_ROWS: Final = re.compile(r"\}\s+\{")  # numpy writes no commas between the entries of an array


EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})  # Any: cells without a value
_ALWAYS: Final = ("prompt", "ground_truth", "choices", "tests", "solution", "kind")
_SIGNS: Final = {"choices": " + ", "tests": " + ", "images": " + "}


class ColumnMap(Config):
    """The columns that each field is read from.

    prompt: alternatives, each of columns that are joined; the first is read whose last column has a value.
    ground_truth, solution: the first that has a value is read.
    system, history: the system text and the earlier turns of a conversation.
    images: columns with pictures, to which the prompt gets a reference.
    numbers: values for `number0` and the like in the prompt.
    kind_is: whether the kind was guessed, or stated: as a column with kinds of any name, or as a kind itself.
    """

    prompt: tuple[tuple[str, ...], ...]
    ground_truth: tuple[str, ...] = ()
    kind: str | None = None
    choices: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    solution: tuple[str, ...] = ()
    system: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    kind_is: Literal["guessed", "column", "value"] = "guessed"

    def fields(self) -> dict[str, list[str]]:
        """The columns by field, without empty fields; joined columns of a prompt as `a+b`."""
        named = {**self.model_dump(exclude={"kind_is"}), "kind": [self.kind] if self.kind else []}
        named["prompt"] = ["+".join(paths) for paths in self.prompt]
        return {field: list(paths) for field, paths in named.items() if paths}

    def paths(self) -> set[str]:
        """Every column that is read."""
        named = {**self.model_dump(exclude={"kind_is"}), "kind": [self.kind] if self.kind else []}
        named["prompt"] = [path for paths in self.prompt for path in paths]
        return {path for paths in named.values() for path in paths}

    def has_kind(self, kind: Any) -> bool:
        """Whether a cell is a kind: one of ours, or where the user states kinds, one of their own."""
        if kind in KINDS:
            return True
        return self.kind_is != "guessed" and isinstance(kind, str) and OWN_KIND.fullmatch(kind) is not None

    def lines(self) -> list[str]:
        """One printed line per field, as `--map` accepts it; a field of few sources only if it is read."""
        shown = {field: ["none"] for field in _ALWAYS} | self.fields()
        shown["kind"] = [self.kind or ("code where there are tests, else math" if self.tests else "math")]
        if self.kind_is == "value" and self.kind not in KINDS:
            shown["kind"] = [f"{self.kind}, a kind of your own, for --verifier {self.kind}=FILE.py:FUNCTION"]
        return [f"{field:<13}<- {_SIGNS.get(field, ' or ').join(columns)}" for field, columns in shown.items()]


class Cells(NamedTuple):
    """The cells of a record by field, in the order of the map's columns; None for an absent cell.

    prompt: the last one is a list of turns if it is a conversation, also one in JSON or Python text.
    truths, solutions: resolved lazily, since most records need only the first; JSON lists of texts are parsed.
    choices: the cell, or the non-null cells if each option has its own column.
    kind: the cell, or the map's value if it is a kind and not a column.
    system, history, numbers: the first cell with a value.
    has_image: whether any column of pictures has a value.
    """

    prompt: Sequence[Any]  # Any: cells of a source, in all fields
    truths: Iterator[Any]
    choices: Any
    tests: Sequence[Any]
    solutions: Iterator[Any]
    kind: Any
    system: Any = None
    history: Any = None
    numbers: Any = None
    has_image: bool = False


class CellReader:
    """Resolves the mapped cells of a source's records."""

    def __init__(self, columns: ColumnMap) -> None:
        self._prompts = [(paths[:-1], paths[-1]) for paths in columns.prompt]
        self._truths, self._solutions = columns.ground_truth, columns.solution
        self._choices, self._tests, self._kind = columns.choices, columns.tests, columns.kind
        self._has_kind = columns.kind not in (None, *KINDS) and columns.kind_is != "value"
        self._system, self._history, self._numbers = columns.system, columns.history, columns.numbers
        self._images = columns.images
        self._has_more = bool(self._system or self._history or self._numbers or self._images)
        paths = columns.paths()
        self._inside = {path: (head, rest) for path in paths for head, dot, rest in [path.partition(".")] if dot}

    def cells(self, record: Record) -> Cells:
        """The record's cells by field."""
        at = self._lookup(record) if self._inside else record.get
        lists = dict[str, Any]()
        cells = Cells(
            self._prompt(at),
            _listed(at, self._truths, lists),
            self._options(at) if self._choices else None,
            [at(path) for path in self._tests] if self._tests else (),
            _listed(at, self._solutions, lists) if self._solutions else iter(()),
            at(self._kind) if self._has_kind and self._kind else self._kind,
        )
        return self._with_more(cells, at) if self._has_more else cells

    def _prompt(self, at: Callable[[str], Any]) -> Sequence[Any]:  # Any: cells of a source, in all methods
        """The cells of the first alternative whose last cell has a value, else of the first one."""
        for before, last in self._prompts:
            value = at(last)
            if value not in EMPTY:
                return [*map(at, before), _read(value, _WRITTEN_TURNS)] if before else [_read(value, _WRITTEN_TURNS)]
        return [at(self._prompts[0][1])]

    def _with_more(self, cells: Cells, at: Callable[[str], Any]) -> Cells:
        def first(paths: Sequence[str]) -> Any:
            return next((value for path in paths if (value := at(path)) not in EMPTY), None)

        return cells._replace(
            system=first(self._system),
            history=first(self._history),
            numbers=first(self._numbers),
            has_image=any(_is_filled(at(path)) for path in self._images),
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
    """A cell, parsed as JSON or as a Python literal if it is a text of this form."""
    if not isinstance(value, str) or not form.match(value):
        return value
    if (parsed := written(value)) is not value:
        return parsed
    try:
        return ast.literal_eval(_NUMPY_ROWS.sub("},{", value.strip()))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value


def _is_filled(value: Any) -> bool:  # Any: a cell of a source
    """Whether a cell holds a picture: not empty, and no table or list of empty cells, as Parquet fills it in."""
    if isinstance(value, Mapping):
        return any(_is_filled(item) for item in value.values())
    if isinstance(value, list | tuple):
        return any(_is_filled(item) for item in value)
    return value not in (None, "", b"", False)


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


def is_table(value: Any) -> bool:  # Any: a cell of a source
    """Whether a cell holds a table, also one in JSON text."""
    return _table(value) is not None


def _table(value: Any) -> Record | None:  # Any: a cell of a source
    """A cell that is a table, also one in JSON text; else None."""
    if isinstance(value, str) and value.startswith("{"):
        value = written(value)
    return value if isinstance(value, Mapping) else None
