"""What tests need of pytest, where it is not installed: raises, approx, fixtures, parametrize and marks."""

from __future__ import annotations

import itertools
import math
import re
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

MARKS = "_stand_in_marks_"


class Skipped(Exception):  # noqa: N818  # the outcome of a test
    """The test skips itself."""


class Failed(AssertionError):  # noqa: N818  # its name in pytest
    """The test calls `fail`, or an exception that it expects does not come."""


class Raises:
    """`with raises(ValueError, match="no") as caught`."""

    def __init__(self, expected: Any, *call: Any, match: str | None = None, **kwargs: Any) -> None:
        self._expected, self._match = expected, match
        self.value: Any = None
        if call:
            with self:
                call[0](*call[1:], **kwargs)

    def __enter__(self) -> Raises:  # noqa: PYI034  # Python 3.10 has no `Self`
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> bool:
        if error is None:
            raise Failed(f"did not raise {self._expected}")
        if not isinstance(error, self._expected):
            return False
        if self._match is not None and not re.search(self._match, str(error)):
            raise Failed(f"the message does not match {self._match}")
        self.value, self.type = error, kind
        return True

    def match(self, pattern: str) -> bool:
        """Whether the message matches."""
        if not re.search(pattern, str(self.value)):
            raise Failed(f"the message does not match {pattern}")
        return True


class Approx:
    """A number, or numbers in a list, a tuple or a dict, with a tolerance."""

    def __init__(self, expected: Any, rel: float | None = None, abs: float | None = None, nan_ok: bool = False) -> None:  # noqa: A002  # its name in pytest
        self.expected, self.nan_ok = expected, nan_ok
        self.rel = (1e-6 if abs is None else 0.0) if rel is None else rel
        self.abs = 1e-12 if abs is None else abs

    def __eq__(self, actual: object) -> bool:
        return self._is_close(actual, self.expected)

    __hash__ = None  # type: ignore[assignment]

    def _is_close(self, actual: Any, expected: Any) -> bool:
        if isinstance(expected, Mapping):
            is_alike = isinstance(actual, Mapping) and actual.keys() == expected.keys()
            return is_alike and all(self._is_close(actual[key], expected[key]) for key in expected)
        if isinstance(expected, (list, tuple)):
            is_alike = isinstance(actual, (list, tuple)) and len(actual) == len(expected)
            return is_alike and all(map(self._is_close, actual, expected))
        if hasattr(expected, "tolist"):
            return self._is_close(actual.tolist() if hasattr(actual, "tolist") else actual, expected.tolist())
        if isinstance(expected, (bool, str, type(None))) or isinstance(actual, (bool, str, type(None))):
            return bool(actual == expected)
        try:
            if math.isnan(expected) and math.isnan(actual):
                return self.nan_ok
            return math.isclose(actual, expected, rel_tol=self.rel, abs_tol=self.abs)
        except (TypeError, ValueError):
            return bool(actual == expected)


class Captured:
    """`capsys`: what was printed since the last look."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readouterr(self) -> Any:
        """Output and errors; errors of the solution are not captured."""
        text = self._stream.getvalue()
        self._stream.seek(0)
        self._stream.truncate()
        return _Output((text, ""))


class _Output(tuple[str, str]):
    __slots__ = ()
    out = property(lambda self: self[0])
    err = property(lambda self: self[1])


class _Mark:
    """`mark.anything`, with or without arguments."""

    def __getattr__(self, name: str) -> Any:
        return _mark(name)


def _mark(name: str) -> Any:
    def mark(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], (type, types.FunctionType)):
            return _marked(args[0], (name, (), {}))
        return lambda target: _marked(target, (name, args, kwargs))

    return mark


def _marked(target: Any, mark: Any) -> Any:
    setattr(target, MARKS, [*getattr(target, MARKS, ()), mark])
    return target


def is_skipped(target: Any) -> bool:
    """Whether marks skip a test, or expect it to fail."""
    for name, args, _ in getattr(target, MARKS, ()):
        if name in ("skip", "xfail") or (name == "skipif" and args and args[0]):
            return True
    return False


def cases(function: Any) -> Iterator[dict[str, Any]]:
    """The arguments of each run of a test, the product of its `parametrize` marks."""
    rows = [list(_rows(*args[:2])) for name, args, _ in getattr(function, MARKS, ()) if name == "parametrize"]
    for chosen in itertools.product(*rows):
        yield {name: value for row in chosen for name, value in row.items()}


def _rows(names: Any, values: Any) -> Iterator[dict[str, Any]]:
    split = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    split = [name for name in split if name]
    for value in values:
        given = value.values if isinstance(value, Param) else value
        yield dict(zip(split, given if len(split) > 1 or isinstance(value, Param) else [given], strict=True))


class Param:
    """One row of `parametrize`."""

    def __init__(self, *values: Any, **_: Any) -> None:
        self.values = values


def fixture(*args: Any, **kwargs: Any) -> Any:
    """Mark a function as a fixture."""
    if args and isinstance(args[0], types.FunctionType):
        return _marked(args[0], ("fixture", (), {}))
    return lambda function: _marked(function, ("fixture", args, kwargs))


def fixture_of(names: Mapping[str, Any], wanted: str) -> Callable[..., Any] | None:
    """The fixture of a name."""
    for name, value in names.items():
        for mark, _, options in _marks(value):
            if mark == "fixture" and (options.get("name") or name) == wanted and "params" not in options:
                found: Callable[..., Any] = value
                return found
    return None


def is_automatic(value: Any) -> bool:
    """Whether a fixture runs for each test."""
    return any(mark == "fixture" and options.get("autouse") for mark, _, options in _marks(value))


def _marks(value: Any) -> Any:
    plain = value.__func__ if isinstance(value, types.MethodType) else value
    return getattr(plain, MARKS, ()) if isinstance(plain, types.FunctionType) else ()


def _fail(reason: str = "", **_: Any) -> None:
    raise Failed(reason)


def _skip(reason: str = "", **_: Any) -> None:
    raise Skipped(reason)


def _import_or_skip(name: str, *_: Any, **__: Any) -> Any:
    with suppress(ImportError):
        return __import__(name)
    raise Skipped(name)


MODULE: Any = types.ModuleType("pytest")
vars(MODULE).update(
    raises=Raises, approx=Approx, fixture=fixture, mark=_Mark(), param=Param, fail=_fail, skip=_skip,
    importorskip=_import_or_skip, main=lambda *_, **__: 0, Failed=Failed,
)  # fmt: skip
