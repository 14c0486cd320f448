"""Values that stand for instances of the solution's subclasses of built-in types: named tuples, members of IntEnum.

They compare as their built-in value, whatever the solution's `__eq__` says. Fields and methods are those of the
solution's object.
"""

from __future__ import annotations

import collections
from typing import Any

from curate.verify.code.inside.remote import Remote


def kin_of(value: Any, remote: Remote, fields: list[str]) -> Any:
    """The built-in value with the fields and methods of the object."""
    body = {"__getattr__": _attribute, "__repr__": _representation, "__str__": _text, "_remote_": remote}
    name = str(remote._fact_.kind)
    if fields and isinstance(value, tuple) and len(fields) == len(value):
        named: Any = collections.namedtuple("named", fields, rename=True)  # type: ignore[misc]  # noqa: PYI024  # known now
        return type(name, (named,), body)(*value)
    return type(name, (type(value),), body)(value)


def remote_of_kin(value: Any) -> Remote | None:
    """The object behind such a value."""
    found: Remote | None = vars(type(value)).get("_remote_")
    return found


def _attribute(value: Any, name: str) -> Any:
    return getattr(vars(type(value))["_remote_"], name)


def _representation(value: Any) -> str:
    return repr(vars(type(value))["_remote_"])


def _text(value: Any) -> str:
    return str(vars(type(value))["_remote_"])
