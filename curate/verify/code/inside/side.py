"""The tests' side of the channel: asks the solver, and decides what may be believed of its answers."""

from __future__ import annotations

import builtins
import functools
import itertools
import sys
import threading
import types
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from curate.verify.code.inside.arrays import array_of, fill
from curate.verify.code.inside.derived import base_of
from curate.verify.code.inside.doubts import DOUBT
from curate.verify.code.inside.kin import kin_of, remote_of_kin
from curate.verify.code.inside.plain import ITERATOR, Rebuild, pack, unpack
from curate.verify.code.inside.remote import (
    Fact,
    Remote,
    RemoteCoroutine,
    Undecidable,
    is_class,
    is_dictated,
    with_fact,
)
from curate.verify.code.inside.wire import Message, Peer

MAX_BYTES = 16 << 20
NUM_SINGLE_STEPS = 64
MAX_STEP = 1024
DECOY = "a value that equals no object"
FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, type(list.append), functools.partial)
STOPS = (StopIteration, StopAsyncIteration)


class Side:
    """This side of the channel: asks the solver, and answers calls of functions that a test passed to the solution."""

    def __init__(self, channel: int, job: Message, names: dict[str, Any]) -> None:
        self._classes = {name: names[name] for name in job["classes"] if name in names}
        self._named = set(job["entry_points"])
        self._held: list[Any] = []
        self._peer = Peer(channel, MAX_BYTES, self._serve)
        self._lock = threading.RLock()  # tests with threads share the channel
        self._errors: dict[str, type[Exception]] = {}
        self._time = 0

    def name(self, name: str) -> Any:
        """The stand-in of a name of the solution: an exception class that a test can catch, or a `Remote`."""
        return self._errors.get(name) or Remote(self, name, Fact(is_own=name[:1].isupper()))

    def learn_exceptions(self, names: list[str]) -> None:
        """Ask which of the names are exception classes, and define a class of this side for each."""
        # bases first; a class is never one of Python's own, which would catch the errors of the test itself
        with suppress(Exception):  # the solution does not load, or answers nonsense
            found = dict(self.ask("exceptions", None, names))
            while found:
                name = next((name for name, bases in found.items() if not set(bases) & set(found)), next(iter(found)))
                self._errors[name] = self._subclass(name, found.pop(name), Remote(self, name, Fact(is_own=True)))

    def ask(self, operation: str, target: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Ask the solver for an operation on one of its objects; mutable arguments change as in a local call."""
        with self._lock:
            answer = self._peer.ask(self._pack([operation, target, list(args), kwargs]))
            self._time += 1
            is_result, result, args_after, kwargs_after, printed = self._unpack(answer)
        if isinstance(printed, str) and printed:
            sys.stdout.write(printed)
        if is_result is not True:
            raise self._exception(operation, *result)
        for before, after in zip([*args, *kwargs.values()], [*args_after, *kwargs_after.values()], strict=True):
            self._restore(before, after)
        return result

    def call(self, target: Remote, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call an object of the solution; a class that the tests name makes objects of their own."""
        result = self.ask("call", target, *args, **kwargs)
        if not is_class(target):
            return result
        behind = remote_of_kin(result)
        if behind is not None and not isinstance(result, tuple):  # its own operators count, and it may change
            result = behind
        return with_fact(result, is_own=True, given=(args, kwargs), is_kin=behind is not None)

    def get(self, target: Remote, name: str) -> Any:
        """An attribute of an object of the solution."""
        result = self.ask("get", target, name)
        return with_fact(result, given=((name,), {})) if is_class(target) else result

    def base_of(self, target: Remote) -> type:
        """A class from which a test's class can inherit in place of the solution's."""
        return base_of(target)

    def operate(self, operation: str, target: Remote, other: Any) -> Any:
        """A binary operator. Only objects of a class that the tests name take values of the test as operands."""
        is_own = target._fact_.is_own or (isinstance(other, Remote) and other._fact_.is_own)
        if not is_own and not isinstance(other, Remote):
            if target._fact_.kind in self._named and target._fact_.kind[:1].isupper():
                raise Undecidable(f"{operation} on an object of the solution")
            return NotImplemented
        result = self.ask(operation, target, other)
        if operation in ("sub", "rsub") and not isinstance(result, Remote) and not isinstance(other, Remote):
            raise Undecidable("a difference that the solution computes from an expected value")
        return with_fact(result, is_own=is_own)

    def is_equal(self, one: Remote, other: object) -> bool:
        """Whether an object of the solution equals a value; raises `Undecidable` if only the solution says so."""
        if not isinstance(other, Remote):
            if one._fact_.is_kin:
                return bool(self.ask("value", one) == other)
            # the solution's word is never enough: an object of its own is no value of the test
            if one._fact_.is_own and self._claims_equal(one, other):
                raise Undecidable("an object that equals plain data")
            return False
        if not self._claims_equal(one, other):
            return False
        first, last = sorted((one, other), key=lambda remote: remote._fact_.time)
        if first._fact_.state == last._fact_.state and is_dictated(last, first._fact_.state):
            return True
        raise Undecidable("objects whose equality only the solution can tell")

    def is_same(self, one: Any, other: Any) -> bool:
        """Whether two objects are one."""
        if not (isinstance(one, Remote) and isinstance(other, Remote)):
            return one is other
        if one is other:
            return True
        if not self.ask("same", one, other):
            return False
        is_made = one._fact_.is_own and other._fact_.is_own
        return is_made or self.is_equal(one, other)

    def _claims_equal(self, one: Remote, other: object) -> bool:
        return bool(self.ask("equals", one, other)) and not self.ask("equals", one, DECOY)

    def iterate(self, target: Remote) -> Iterator[Any]:
        """The items of an object of the solution; those of an iterator as they are needed."""
        items = self.ask("iterate", target)
        if not isinstance(items, Remote):
            yield from items
            return
        number, size = 0, 1
        while part := self.ask("take", items, size):
            yield from part
            number += len(part)
            size = 1 if number < NUM_SINGLE_STEPS else min(2 * size, MAX_STEP)

    def leave(self, operation: str, target: Remote, error: BaseException | None) -> None:
        """Leave a context manager of the solution, which may not suppress what the test found."""
        if error is None or not isinstance(error, Exception):
            self.ask(operation, target, None, "")
            return
        is_failure = isinstance(error, AssertionError)
        wants = self.ask(operation, target, _builtin_name(error), "" if is_failure else str(error))
        if wants and not is_failure:
            raise Undecidable("a context manager of the solution suppresses an exception")

    def _serve(self, question: Message) -> Message:
        """Answer a call; attributes of a test's function are not readable, since they could reveal expected values."""
        number, args, kwargs = self._unpack(question)
        try:
            return self._pack([True, self._held[number](*args, **kwargs)])
        except Exception as error:  # noqa: BLE001  # the solution called a test's function with arguments it rejects
            return self._pack([False, type(error).__name__, *([] if behind(error) is None else [error])])

    def _pack(self, value: Any) -> Message:
        return pack(value, tuple(self._classes), self._hold, behind)

    def _unpack(self, message: Message) -> Any:
        # without numpy in the tests, an array compares with lists
        array = array_of if "numpy" in sys.modules else lambda items, _: items
        return unpack(message, self._classes, self._find, Rebuild(array, kin_of))

    def _find(self, kind: str | None, number: Any, state: Any = None) -> Any:
        if kind is None:
            return self._held[number]
        stand_in = RemoteCoroutine if kind == "coroutine" else Remote
        return stand_in(self, number, Fact(kind=str(kind), state=state, time=self._time))

    def _hold(self, value: Any) -> tuple[int, str | None]:
        if isinstance(value, Iterator):
            self._held.append(lambda: [*itertools.islice(value, 1)])
            return len(self._held) - 1, ITERATOR
        if not isinstance(value, FUNCTIONS):
            DOUBT.is_present = True  # of an object of the test, the solution can only call methods
        self._held.append(value)
        return len(self._held) - 1, value.__name__ if isinstance(value, types.FunctionType) else None

    def _restore(self, before: Any, after: Any) -> None:
        """Set a mutable argument to its content after the call, as a call in one process would leave it."""
        if type(before) is not type(after):
            return
        if isinstance(before, list):
            before[:] = [*map(restored, before, after), *after[len(before) :]]
        elif isinstance(before, bytearray):
            before[:] = after
        elif isinstance(before, dict):
            content = {key: restored(before.get(key), item) for key, item in after.items()}
            before.clear()
            before.update(content)
        elif isinstance(before, set):
            before.clear()
            before.update(after)
        elif type(before).__name__ == "ndarray":
            fill(before, after)
        elif isinstance(before, tuple(self._classes.values())):
            vars(before).update(vars(after))

    def _exception(self, operation: str, names: list[str], text: str, args: Any, held: Any) -> BaseException:
        """The exception of the solution as its nearest class of this side."""
        for name in names:
            kind = self._kind(name)
            if kind is None or (kind in STOPS and not operation.endswith("next")):
                continue
            with_args = tuple(args) if isinstance(args, list) else (text,)
            try:
                error = Exception.__new__(kind, *with_args) if name in self._errors else kind(*with_args)
            except TypeError:  # UnicodeDecodeError and the like need more arguments
                continue
            vars(error).update(_object_=held, _text_=text)
            return error
        if any(stop.__name__ in names for stop in STOPS):
            # in a `map` or a comprehension of the test it would end the loop as if all were well
            return Undecidable("the solution raised StopIteration")
        return Exception(text)

    def _kind(self, name: str) -> type[Exception] | None:
        kind = self._errors.get(name) or getattr(builtins, name, None)
        return kind if isinstance(kind, type) and issubclass(kind, Exception) else None

    def _subclass(self, name: str, names: list[str], remote: Remote) -> Any:
        bases = [kind for kind in map(self._kind, names) if kind is not None]
        nearest = [kind for kind in bases if not any(issubclass(one, kind) for one in bases if one is not kind)]
        try:
            return ErrorKind(name, tuple(nearest) or (Exception,), {"_remote_": remote, **ERROR_BODY})
        except TypeError:  # bases that do not fit together
            return ErrorKind(name, (Exception,), {"_remote_": remote, **ERROR_BODY})


def restored(before: Any, after: Any) -> Any:
    """The inner list of an argument with its new content, so that other names of it see it; else the new value."""
    if (
        type(before) is list
        and type(after) is list
        and not any(type(item) in (list, dict) for item in [*before, *after])
    ):
        before[:] = after
        return before
    return after


def behind(value: Any) -> Remote | None:
    """The object of the solution that a value of this side stands for."""
    if isinstance(value, ErrorKind):
        found: Remote = vars(value)["_remote_"]
        return found
    if isinstance(type(value), ErrorKind):
        held = vars(value).get("_object_")
        return held if isinstance(held, Remote) else None
    return remote_of_kin(value)


def _builtin_name(error: Exception) -> str:
    return next(str(kind.__name__) for kind in type(error).__mro__ if getattr(builtins, kind.__name__, None) is kind)


class ErrorKind(type):
    """The type of the exception classes of this side: calling one makes an exception of the solution."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: D102  # see the class
        error: Any = cls.__new__(cls, *args)  # type: ignore[arg-type]  # a class of exceptions
        held = cls._remote_(*args, **kwargs)
        vars(error).update(_object_=held, _text_=None)
        return error

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(cls._remote_, name)


def _attribute(error: Any, name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    return getattr(vars(error)["_object_"], name)


def _text(error: Any) -> str:
    text = vars(error)["_text_"]
    return str(vars(error)["_object_"]) if text is None else str(text)


def _initialise(_: Any, *__: Any, **___: Any) -> None:
    """The solution has done it."""


ERROR_BODY = {"__getattr__": _attribute, "__str__": _text, "__init__": _initialise}
