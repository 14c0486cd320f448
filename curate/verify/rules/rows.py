"""Rows of problems that a rule judges: their kind and ground truth, by the formats of public pools.

IFEval has `instruction_id_list` beside `kwargs`, and its training sets have the same in the column of the answer;
reasoning-gym has `metadata` with `source_dataset`; a JSON Schema has a column of its own. A set of words, and a puzzle
whose answer is a number, are kinds only by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from curate.records import RULED
from curate.verify.rules.table import is_readable

Record = Mapping[str, Any]  # Any: a source's columns may hold anything
_SCHEMAS: Final = ("schema", "json_schema", "response_schema", "output_schema")
_LISTED: Final = ("instruction_id", "func_name")
_LOOK: Final = 200
_NUMBER: Final = re.compile(r"\s*-?\d+(?:[.,/]\d+)*\s*")


class Ruled(NamedTuple):
    """A kind that a rule judges, and the ground truth that states the rule; None if the row has none."""

    kind: str
    ground_truth: str | None


def ruled_from_row(record: Record, truth: Any, kind: Any, *, is_stated: bool) -> Ruled | None:  # Any: cells of a source
    """The rule of a record; None if it has none.

    truth: the cell of its ground truth. kind: the cell of its kind; is_stated: the user says that it is one.
    """
    if kind in RULED:
        named = Ruled(kind, _by_name(record, truth, kind))
        return named if is_stated or (named.ground_truth and is_readable(kind, named.ground_truth)) else None
    if kind is not None:
        return None
    found = _by_format(record, truth)
    if found is not None and found.kind == "puzzle" and _NUMBER.fullmatch(str(record.get("answer"))):
        return None  # a number is compared as a value, without the library
    return found


def _by_format(record: Record, truth: Any) -> Ruled | None:
    if "instruction_id_list" in record or _lists_constraints(truth):
        from curate.verify.rules import instructions

        found = instructions.written(record if "instruction_id_list" in record else truth)
        return Ruled("instructions", found) if found else None
    metadata = record.get("metadata")
    if isinstance(metadata, str | Mapping) and "source_dataset" in metadata and "question" in record:
        from curate.verify.rules import puzzle

        found = puzzle.written(record["question"], record.get("answer"), metadata)
        return Ruled("puzzle", found) if found else None
    for value in (record.get(name) for name in _SCHEMAS):
        if isinstance(value, Mapping) or (isinstance(value, str) and value.lstrip().startswith("{")):
            from curate.verify.rules import json_schema

            found = json_schema.written(value)
            return Ruled("json", found) if found else None
    return None


def _by_name(record: Record, truth: Any, kind: str) -> str | None:
    """The ground truth of a row whose kind is named: what its format states, else the cell as it stands."""
    formatted = _by_format(record, truth)
    if formatted is not None and formatted.kind == kind:
        return formatted.ground_truth
    if truth in (None, "", [], {}):
        return None
    return truth.strip() if isinstance(truth, str) else json.dumps(truth, ensure_ascii=False, default=str)


def _lists_constraints(truth: Any) -> bool:
    if isinstance(truth, str):
        return truth.lstrip()[:1] in ("[", "{") and any(word in truth[:_LOOK] for word in _LISTED)
    table = truth[0] if isinstance(truth, list) and truth else truth
    return isinstance(table, Mapping) and any(name.startswith(_LISTED) for name in table)
