"""JSON against a schema: whether a response is one JSON value that the problem's JSON Schema accepts.

A response is the value itself, or has one fenced block with it. The schema's draft is that of its `$schema`, else
2020-12. References lead to the schema itself and to the drafts; nothing is fetched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError
from jsonschema.validators import validator_for
from jsonschema_specifications import REGISTRY
from referencing.exceptions import Unresolvable

_FENCE: Final = re.compile(r"^[ \t]*```[\w-]*[ \t]*\n(.*?)\n?[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)
# those that need no further library, so that a verdict doesn't depend on what is installed
_FORMATS: Final = ("date", "email", "ipv4", "ipv6", "regex", "uuid")
_WORDS: Final = frozenset(
    {"type", "properties", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "items", "required", "$defs"}
)


def judge(response: str, ground_truth: str) -> bool | None:
    """Whether a response is a value that the schema accepts; None if the schema is none."""
    schema = _schema(ground_truth)
    if schema is None or _fault_of(schema) is not None:
        return None
    try:
        value = value_in(response)
    except ValueError:
        return False
    return bool(_validator(schema).is_valid(value))


def is_readable(ground_truth: str) -> bool:
    """Whether a ground truth is a schema."""
    return written(ground_truth) is not None


def fault(ground_truth: str) -> str | None:
    """What is wrong with a schema, in one line."""
    schema = _schema(ground_truth)
    return "is no JSON Schema" if schema is None else _fault_of(schema)


def written(value: Any) -> str | None:  # Any: a cell of a source
    """The ground truth of a problem whose cell is a schema of a value; else None."""
    schema = _schema(value) if isinstance(value, str) else value
    if not isinstance(schema, Mapping) or not _WORDS.intersection(schema):
        return None
    text = json.dumps(schema, ensure_ascii=False, sort_keys=True)
    return text if fault(text) is None else None


def value_in(response: str) -> Any:  # Any: a JSON value
    """The value of a response; raises `ValueError` if it is not one strict JSON value, or names a key twice."""
    blocks = _FENCE.findall(response)
    if len(blocks) > 1:
        raise ValueError("several values")
    try:
        return json.loads(blocks[0] if blocks else response, object_pairs_hook=_table, parse_constant=_refused)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _schema(text: str) -> Any:  # Any: a JSON value; None if the text is none
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return schema if isinstance(schema, dict | bool) else None


def _fault_of(schema: Any) -> str | None:  # Any: a schema, here and below
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
        _validator(schema).is_valid({})
    except SchemaError as error:
        return f"is no JSON Schema: {' '.join(error.message.split())[:100]}"
    except Unresolvable as error:
        return f"refers to {error.ref}, which is outside of it"
    return None


def _validator(schema: Any) -> Any:
    kind = validator_for(schema, default=Draft202012Validator)
    return kind(schema, registry=REGISTRY, format_checker=FormatChecker(_FORMATS))


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a key is named twice")
    return table


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
