"""The solution's objects as the tests see them: stand-ins that send each operation to the solution's sandbox.

Values are compared on this side. Two objects of the solution are equal only if it says so, their states agree, and the
test itself gave the values of the one that was made last (`is_dictated`): a solution knows no expected value when it
hands out its own object. Where equality cannot be confirmed, `Undecidable` ends the test.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from typing import Any, NamedTuple

from curate.verify.code.inside.operations import ARITHMETIC, IN_PLACE, ORDER, UNARY
from curate.verify.code.inside.plain import Handle
from curate.verify.code.inside.states import NoState, State, describe

READABLE = ("__name__", "__qualname__", "__annotations__", "__wrapped__", "__members__", "__dataclass_fields__")
Given = tuple[tuple[Any, ...], dict[str, Any]]


class Undecidable(BaseException):
    """What the test needs cannot leave the solution's sandbox, or cannot be confirmed."""

    raised = False  # also where the test catches it

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        Undecidable.raised = True


class Fact(NamedTuple):
    """What is known of an object of the solution.

    is_own: made by calling a class that the tests name, or by an operator on such an object. state: as it was handed
    out. given: the arguments of the class that made it, or its name on the class. time: of its arrival.
    is_kin: of a subclass of a built-in type.
    """

    kind: str = ""
    is_own: bool = False
    state: State | None = None
    given: Given | None = None
    time: int = 0
    is_kin: bool = False


class Remote(Handle):
    """An object of the solution: a name, or a returned object that is not plain data."""

    __slots__ = ("_fact_", "_side_")

    def __init__(self, side: Any, number: int | str, fact: Fact) -> None:
        # `__setattr__` of this class sets fields of the solution's object
        for name, value in (("_number_", number), ("_side_", side), ("_fact_", fact)):
            object.__setattr__(self, name, value)

    @property
    def __dict__(self) -> Any:  # type: ignore[override]  # the fields of the solution's object
        return self._side_.ask("fields", self)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:  # noqa: D102  # a remote call, see the class
        return self._side_.call(self, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in READABLE:
            raise AttributeError(name)
        return self._side_.get(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._side_.ask("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._side_.ask("del", self, name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._side_.iterate(self))

    def __contains__(self, item: Any) -> Any:
        if self._fact_.is_own or isinstance(item, Remote):
            return self._side_.ask("contains", self, item)
        return any(part is item or part == item for part in self)

    def __eq__(self, other: object) -> bool:
        return self is other or self._side_.is_equal(self, other)

    def __hash__(self) -> int:
        return int(self._side_.ask("hash", self))

    def __instancecheck__(self, item: object) -> bool:
        return isinstance(item, Remote) and self._side_.ask("is_instance", self, item) is True

    def __subclasscheck__(self, kind: object) -> bool:
        return isinstance(kind, Remote) and self._side_.ask("is_subclass", self, kind) is True

    def __mro_entries__(self, _: Any) -> Any:
        return (self._side_.base_of(self),)

    def __copy__(self) -> Any:
        return self._side_.ask("copy", self)

    def __deepcopy__(self, _: object) -> Any:
        return self._side_.ask("deepcopy", self)

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        self._side_.leave("exit", self, error)

    async def __aexit__(self, kind: object, error: BaseException | None, _: object) -> None:
        self._side_.leave("async_exit", self, error)

    async def __aenter__(self) -> Any:
        return self._side_.ask("async_enter", self)

    async def __anext__(self) -> Any:
        return self._side_.ask("async_next", self)

    def __aiter__(self) -> Any:
        return self._side_.ask("async_iter", self)

    def __await__(self) -> Iterator[Any]:
        return self._side_.ask("await", self)  # type: ignore[no-any-return]
        yield  # a generator, as the protocol demands


class RemoteCoroutine(Remote):
    """A coroutine of the solution, which ends at its first step."""

    __slots__ = ()

    def send(self, _: Any = None) -> Any:
        """Run it to its end."""
        raise StopIteration(self._side_.ask("await", self))

    __next__ = send  # which a task calls

    def throw(self, *error: Any) -> Any:
        """Cancel it, which the solution does not see."""
        raise error[0]

    def close(self) -> None:
        """Give it up."""


Coroutine.register(RemoteCoroutine)


def is_class(target: Remote) -> bool:
    """Whether a stand-in is a class that the tests name."""
    return isinstance(target._number_, str) and target._fact_.is_own


def with_fact(result: Any, **facts: Any) -> Any:
    """The result, with more that is known of it if it is an object of the solution."""
    return (
        Remote(result._side_, result._number_, result._fact_._replace(**facts))
        if isinstance(result, Remote)
        else result
    )


def is_dictated(value: Any, state: State | None) -> bool:
    """Whether a value given by the test fixes the state: in order, its arguments are the fields of the state.

    The state is the solution's word, given before it knew the value.
    """
    try:
        return _is_dictated(value, state)
    except (NoState, TypeError, ValueError, LookupError):
        return False


def _is_dictated(value: Any, state: Any) -> bool:
    if isinstance(value, Remote):
        fact = value._fact_
        if fact.given is None or fact.state != state or state[0] != "object" or not any(fact.given):
            return False
        (args, kwargs), named = fact.given, dict(state[2])
        fields = [*named.values()]
        return len(args) <= len(fields) and all(
            map(_is_dictated, [*args, *kwargs.values()], [*fields[: len(args)], *(named[name] for name in kwargs)])
        )
    if isinstance(value, (list, tuple)):
        kind, parts = state
        return kind == type(value).__name__ and len(parts) == len(value) and all(map(_is_dictated, value, parts))
    return bool(describe(value, _no_fields) == state)


def _no_fields(_: Any) -> Any:
    raise NoState


# the names of operations that pass no value of the test to the solution, or an index or a format
FREE = {
    "len": "length", "next": "next", "str": "text", "repr": "repr", "format": "format", "bool": "bool", "int": "int",
    "float": "float", "round": "round", "dir": "names", "reversed": "reversed", "enter": "enter", "getitem": "item",
    "setitem": "set_item", "delitem": "del_item", **{name: name for name in UNARY},
}  # fmt: skip


def _free(operation: str) -> Callable[..., Any]:
    return lambda self, *args: self._side_.ask(operation, self, *args)


def _binary(operation: str) -> Callable[..., Any]:
    return lambda self, other: self._side_.operate(operation, self, other)


for _name, _operation in FREE.items():
    setattr(Remote, f"__{_name}__", _free(_operation))
for _name in (*ARITHMETIC, *(f"r{name}" for name in ARITHMETIC), *ORDER, *IN_PLACE):
    setattr(Remote, f"__{_name}__", _binary(_name))
