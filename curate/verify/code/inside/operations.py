"""The operations that the examiner may ask of an object of the solution, by name."""

from __future__ import annotations

import builtins
import copy
import operator
import types
from collections.abc import Callable
from typing import Any

from curate.verify.code.inside.plain import base_value

MAX_ITEMS = 1_000_000

# `add` is __add__ in the solution, and `radd` the same with its operands in the other order
ARITHMETIC = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift", "rshift", "and", "or", "xor",
)  # fmt: skip
ORDER = ("lt", "le", "gt", "ge")
IN_PLACE = ("iadd", "isub", "imul", "itruediv", "ior", "iand", "ixor")
UNARY = ("neg", "pos", "invert", "abs", "index")


def _function(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(operator, f"__{name}__")
    return found


def _reflected(name: str) -> Callable[..., Any]:
    apply = _function(name)
    return lambda target, other: apply(other, target)


def _awaited(target: Any) -> Any:
    """The result of an awaitable, in one event loop for all of the solution."""
    import asyncio

    async def wait() -> Any:
        return await target

    if not _LOOP:
        _LOOP.append(asyncio.new_event_loop())
        asyncio.set_event_loop(_LOOP[0])
    return _LOOP[0].run_until_complete(wait())


_LOOP: list[Any] = []


def _leave(target: Any, name: str | None, text: str) -> bool:
    """Leave a context manager, with an exception of this name or none; whether it wants to suppress it."""
    return bool(type(target).__exit__(target, *_raised(name, text)))


def _leave_async(target: Any, name: str | None, text: str) -> bool:
    return bool(_awaited(type(target).__aexit__(target, *_raised(name, text))))


def _raised(name: str | None, text: str) -> tuple[Any, Any, None]:
    if name is None:
        return None, None, None
    kind = getattr(builtins, name, Exception)
    error = kind(text) if isinstance(kind, type) and issubclass(kind, Exception) else Exception(text)
    return type(error), error, None


def _iterate(target: Any) -> Any:
    """The items of a collection; of anything else an iterator, which may have no end."""
    if hasattr(type(target), "__len__"):
        return [item for item, _ in zip(target, range(MAX_ITEMS), strict=False)]
    return iter(target)


def _take(target: Any, number: int) -> list[Any]:
    """Up to so many items of an iterator; raises after those that came before an error."""
    if error := _LATE.pop(id(target), None):
        raise error
    items: list[Any] = []
    try:
        while len(items) < number:
            items.append(next(target))
    except StopIteration:
        pass
    except Exception as error:
        if not items:
            raise
        _LATE[id(target)] = error
    return items


_LATE: dict[int, Exception] = {}


OPERATIONS: dict[str, Callable[..., Any]] = {
    "call": lambda called, /, *args, **kwargs: called(*args, **kwargs),
    "get": getattr,
    "set": setattr,
    "del": delattr,
    "iterate": _iterate,
    "take": _take,
    "next": next,
    "length": len,
    "item": operator.getitem,
    "set_item": operator.setitem,
    "del_item": operator.delitem,
    "contains": operator.contains,
    "reversed": lambda target: list(reversed(target)),
    "text": str,
    "repr": repr,
    "format": format,
    "bool": bool,
    "int": int,
    "float": float,
    "round": round,
    "hash": hash,
    "names": dir,
    "fields": lambda target: dict(vars(target)),
    "equals": lambda target, other: bool(target == other),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "value": base_value,
    "same": operator.is_,
    "type": type,
    "subclass": lambda bases, name, body: types.new_class(
        name, tuple(bases), exec_body=lambda names: names.update(body)
    ),
    "super": lambda target, kind: super(kind, target),
    "is_instance": lambda target, item: target in type.mro(type(item)),
    "is_subclass": lambda target, kind: target in type.mro(kind),
    "enter": lambda target: type(target).__enter__(target),
    "exit": _leave,
    "await": _awaited,
    "async_next": lambda target: _awaited(type(target).__anext__(target)),
    "async_iter": lambda target: type(target).__aiter__(target),
    "async_exit": _leave_async,
    "async_enter": lambda target: _awaited(type(target).__aenter__(target)),
    **{name: _function(name) for name in (*ARITHMETIC, *ORDER, *IN_PLACE, *UNARY)},
    **{f"r{name}": _reflected(name) for name in ARITHMETIC},
}
