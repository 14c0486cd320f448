"""Classes of a test that inherit from a class of the solution: their objects live there, and their methods here."""

from __future__ import annotations

import types
from typing import Any

from curate.verify.code.inside.remote import Remote, Undecidable, is_class, with_fact

IGNORED = (
    "__module__",
    "__qualname__",
    "__doc__",
    "__dict__",
    "__weakref__",
    "__firstlineno__",
    "__static_attributes__",
)
PLAIN = (int, float, str, bool, list, tuple, dict, set, type(None))


class Derived(type):
    """The type of such a class: calling it makes an object of the solution."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: D102  # see the class
        made = remote_of(cls)
        return with_fact(made._side_.ask("call", made, *args, **kwargs), is_own=True)

    def __instancecheck__(cls, item: object) -> bool:
        return isinstance(item, Remote) and item._side_.ask("is_instance", remote_of(cls), item) is True


class Super:
    """`super()` in a method of such a class."""

    def __init__(self, held: Remote) -> None:
        object.__setattr__(self, "held", held)

    def __getattribute__(self, name: str) -> Any:
        held = object.__getattribute__(self, "held")
        return held._side_.get(held, name)


def base_of(remote: Remote) -> type:
    """A class of this side from which a test's class can inherit in place of the solution's."""
    if not is_class(remote):
        raise Undecidable("a class of the test inherits from an object of the solution")
    return Derived("Base", (), {"_remote_": remote})


def remote_of(kind: type) -> Any:
    """The class in the solution's process that stands for a class of the test; made at its first use."""
    if "_remote_" not in vars(kind):
        bases = [remote_of(base) for base in kind.__bases__ if isinstance(base, Derived)]
        body = {name: value for name, value in vars(kind).items() if name not in IGNORED}
        if len(bases) != len(kind.__bases__) or not all(map(_can_be_sent, body.values())):
            raise Undecidable("a class of the test that inherits from a class of the solution has more than methods")
        kind._remote_ = bases[0]._side_.ask("subclass", bases, kind.__name__, body)  # type: ignore[attr-defined]
    return vars(kind)["_remote_"]


def _can_be_sent(value: Any) -> bool:
    return isinstance(value, (types.FunctionType, *PLAIN))


def super_of(kind: Any, item: Any) -> Any:
    """`super()` in a method of a class, called with its first argument."""
    if not isinstance(item, Remote):
        return super(kind, item)
    return Super(item._side_.ask("super", item, remote_of(kind)))
