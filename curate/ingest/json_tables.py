"""Reads a JSON object that is a whole table: columns as lists, columns as pandas writes them, or records by id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_MESSAGES: Final = ("messages", "conversations", "conversation")  # two lists of one record, not two columns


def records_in(table: Any) -> list[dict[str, Any]] | None:  # Any: any JSON value
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


def _from_lists(table: Mapping[str, list[Any]]) -> list[dict[str, Any]] | None:
    lengths = {len(column) for column in table.values()}
    holds_texts = any(isinstance(item, str) for column in table.values() for item in column[:1])
    if len(lengths) != 1 or not holds_texts or any(name in _MESSAGES for name in table):
        return None
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
