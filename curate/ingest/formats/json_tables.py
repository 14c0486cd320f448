"""Finds the records in a JSON document that is read whole: a table, an object around arrays, or one record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from curate.ingest.column_names import PROMPT, WEAK
from curate.ingest.formats.rows import is_turn

_MESSAGES: Final = ("messages", "conversations", "conversation")  # two lists of one record, not two columns
_ABOUT: Final = ("features", "schema", "fields", "columns", "authors", "licenses")
_SPLITS: Final = ("train", "test", "dev", "valid", "validation", "val")
_IS_PROBLEM: Final = frozenset(PROMPT) - frozenset(WEAK)
_MAX_DEPTH: Final = 3

Record = dict[str, Any]  # Any: any JSON value


def records_in_document(document: Any) -> list[Record] | None:
    """The records of a whole document; None if it holds none."""
    if (table := records_in(document)) is not None:
        return table
    if not isinstance(document, Mapping):
        return None
    if not _is_record(document) and (found := list(_in_arrays(document, ""))):
        return found
    return [dict(document)]


def records_in(table: Any) -> list[Record] | None:
    """The records of a table, or None for any other value, such as a single record or an object around an array.

    Known: `{"question": [...], "answer": [...]}`, `{"question": {"0": ...}, "answer": {"0": ...}}` and
    `{"q17": {"question": ..., "answer": ...}, ...}`, whose key becomes the record's `id`.
    """
    if not isinstance(table, Mapping) or len(table) < 2:
        return None
    values = list(table.values())
    if all(isinstance(value, list) for value in values):
        return _from_lists(table)
    if not all(isinstance(value, Mapping) for value in values):
        return None
    names = [tuple(value) for value in values]
    if len(set(names)) == 1 and all(name.isdecimal() for name in names[0]):
        return [{column: table[column][place] for column in table} for place in names[0]]
    shared = set(names[0]).intersection(*names[1:])
    return [{"id": name, **record} for name, record in table.items()] if shared else None


def is_by_id(one: Any, other: Any) -> bool:
    """Whether two lines hold one record each under its id: `{"p1": {...}}` and `{"p2": {...}}`."""
    if not all(isinstance(line, dict) and len(line) == 1 for line in (one, other)):
        return False
    records = [value for line in (one, other) for value in line.values()]
    return one.keys() != other.keys() and all(isinstance(record, dict) and record for record in records)


def _is_record(document: Mapping[str, Any]) -> bool:
    return any(
        name in _MESSAGES or (name.lower() in _IS_PROBLEM and isinstance(value, str))
        for name, value in document.items()
    )


def _in_arrays(document: Mapping[str, Any], split: str, depth: int = 1) -> Iterator[Record]:
    """The records of every array of objects, with the name of its split if it has one."""
    for name, value in document.items():
        own = name if name in _SPLITS else split
        if name in _ABOUT:
            continue
        if _is_array(value):
            yield from ({"split": own, **item} if own else item for item in value if isinstance(item, dict))
        elif isinstance(value, Mapping) and (table := records_in(value)) is not None:
            yield from ({"split": own, **item} if own else item for item in table)
        elif isinstance(value, Mapping) and depth < _MAX_DEPTH:
            yield from _in_arrays(value, own, depth + 1)


def _is_array(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and not is_turn(value[0])


def _from_lists(table: Mapping[str, list[Any]]) -> list[Record] | None:
    lengths = {len(column) for column in table.values()}
    holds_texts = any(isinstance(item, str) for column in table.values() for item in column[:1])
    is_conversation = any(name in _MESSAGES or (column and all(map(is_turn, column))) for name, column in table.items())
    if len(lengths) != 1 or not holds_texts or is_conversation:
        return None
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
