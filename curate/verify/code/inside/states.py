"""Describes the state of an object as JSON, so that the side with the tests compares values and not claims.

A description has a tag for each type: `["object", "P", [["a", ["int", "1"]]]]` is an instance with its fields in order.
The solver sends the state of an object when it hands the object out; the examiner describes the values of a test.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable
from typing import Any

from curate.verify.code.inside.plain import base_value

MAX_NODES = 1000
VALUES = ("decimal", "fractions", "datetime")
State = Any  # JSON


class NoState(Exception):  # noqa: N818  # the outcome of a description
    """A value without a description: it is too large, refers to itself, or contains a function, a file and the like."""


def state_of(value: Any) -> State | None:
    """The description of a value, or None."""
    try:
        return describe(value, fields_of)
    except Exception:  # noqa: BLE001  # properties of the solution raise what they like
        return None


def describe(value: Any, fields: Callable[[Any], list[tuple[str, Any]]]) -> State:
    """The description of a value; raises `NoState`. fields: the fields of an object that is not plain data."""
    left = [MAX_NODES]

    def one(item: Any) -> State:
        left[0] -= 1
        if left[0] < 0:
            raise NoState
        kind = type(item)
        if item is None or kind in (bool, str):
            return item
        if kind in (int, float, complex, bytes, bytearray, range):
            return [kind.__name__, repr(item)]
        if kind in (list, tuple):
            return [kind.__name__, [one(part) for part in item]]
        if kind in (set, frozenset):
            return [kind.__name__, sorted(map(one, item), key=repr)]
        if kind is dict:
            return ["dict", sorted(([one(key), one(part)] for key, part in item.items()), key=repr)]
        if kind.__module__ in VALUES and kind is getattr(sys.modules[kind.__module__], kind.__name__, None):
            return [kind.__name__, repr(item)]
        return ["object", kind.__name__, [[name, one(part)] for name, part in fields(item)]]

    return one(value)


def fields_of(value: Any) -> list[tuple[str, Any]]:
    """The fields of an instance, in the order of their assignment; of a member of an enumeration its name only."""
    if isinstance(value, enum.Enum):
        return [("name", value.name)]
    if isinstance(value, type) or callable(getattr(type(value), "__get__", None)):
        raise NoState
    base = base_value(value)
    names = [name for kind in type(value).__mro__ for name in _slots(kind)]
    slots = [(name, getattr(value, name)) for name in names if hasattr(value, name)]
    found = [*vars(value).items(), *slots] if hasattr(value, "__dict__") else slots
    if base is not None:
        found = [("base", base), *found]
    if not found and type(value).__module__ != "solution":
        raise NoState
    return found


def _slots(kind: type) -> list[str]:
    slots = vars(kind).get("__slots__", ())
    names = [slots] if isinstance(slots, str) else list(slots)
    return [name for name in names if name not in ("__dict__", "__weakref__")]
