"""Runs what a test source defines: functions and classes of pytest, classes of unittest, and its plain statements.

Where pytest is not installed, `MODULE` takes its place. An error means that the test has failed; `Broken`, that it
cannot run here.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import io
import sys
import types
import unittest
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from typing import Any, NamedTuple

from curate.verify.code.inside.doubts import DOUBT
from curate.verify.code.inside.stand_in import (
    MODULE,
    Captured,
    Skipped,
    cases,
    fixture_of,
    is_automatic,
    is_skipped,
)


class Test(NamedTuple):
    """The code of a test, and the names that it calls."""

    code: types.CodeType
    called: frozenset[str]


class Broken(Exception):  # noqa: N818  # the outcome of a test
    """The test itself cannot run here."""


def prepare() -> None:
    """Make `unittest.main` do nothing: the classes of a test run anyway. Provide pytest."""
    unittest.main = lambda *_, **__: None  # type: ignore[assignment]
    sys.modules.setdefault("pytest", MODULE)


def run_test(test: Test, names: dict[str, Any]) -> None:
    """Run one test, and the functions and classes of tests that it defines."""
    before = dict(names)
    try:
        exec(test.code, names)
    except SystemExit as end:  # of the test: one of the solution arrives as another exception
        if end.code not in (None, 0):
            raise
    DOUBT.settle()
    for name, value in list(names.items()):
        if name in before and before[name] is value:
            continue
        if isinstance(value, type) and value.__module__ == "__main__":
            _run_class(value, names)
        elif name.startswith("test") and isinstance(value, types.FunctionType):
            if name in test.called and inspect.signature(value).parameters:
                continue  # a helper, which the source itself calls with arguments
            _run_function(value, names)


def _run_class(kind: type, names: dict[str, Any]) -> None:
    if issubclass(kind, unittest.TestCase):
        _run_unittest(kind)
    elif kind.__name__.startswith("Test"):
        _skipping(kind, lambda: _run_methods(kind, names))


def _run_methods(kind: type, names: dict[str, Any]) -> None:
    for name in [name for name in dir(kind) if name.startswith("test")]:
        made = kind()
        for before in ("setup_class", "setup_method", "setup"):
            if (prepare_one := getattr(made, before, None)) is not None:
                prepare_one(*([None] * len(inspect.signature(prepare_one).parameters)))
        _run_function(getattr(made, name), {**names, **{key: getattr(made, key) for key in dir(kind)}})


class _Result(unittest.TestResult):
    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802  # its name in unittest
        super().addSuccess(test)
        DOUBT.end_test()


def _run_unittest(kind: type[unittest.TestCase]) -> None:
    result = _Result()
    result.failfast = True
    vars_of: Any = kind
    vars_of.assertIs, vars_of.assertIsNot = _assert_is, _assert_is_not
    unittest.defaultTestLoader.loadTestsFromTestCase(kind).run(result)
    if not result.wasSuccessful():
        raise AssertionError(str(result))


def _assert_is(_: unittest.TestCase, one: Any, other: Any, msg: Any = None) -> None:
    if not is_same(one, other):
        raise AssertionError(msg)


def _assert_is_not(_: unittest.TestCase, one: Any, other: Any, msg: Any = None) -> None:
    if is_same(one, other):
        raise AssertionError(msg)


def is_same(one: Any, other: Any) -> bool:
    """The operator `is`, also for objects of the solution."""
    side = getattr(type(one), "_side_", None) and getattr(type(other), "_side_", None) and one._side_
    return bool(side.is_same(one, other)) if side else one is other


def _run_function(function: Callable[..., Any], names: dict[str, Any]) -> None:
    _skipping(function, lambda: _run_cases(function, names))


def _skipping(marked: Any, run: Callable[[], None]) -> None:
    try:
        if not is_skipped(marked):
            run()
    except (Skipped, unittest.SkipTest):
        return


def _run_cases(function: Callable[..., Any], names: dict[str, Any]) -> None:
    for arguments in cases(function):
        with _Fixtures(names) as fixtures:
            wanted = [name for name in inspect.signature(function).parameters if name not in arguments]
            needed = [
                name
                for name in wanted
                if inspect.signature(function).parameters[name].default is inspect.Parameter.empty
            ]
            _finish(function(**arguments, **{name: fixtures.value(name) for name in needed}))
        DOUBT.end_test()


def _finish(result: Any) -> Any:
    return asyncio.run(result) if inspect.iscoroutine(result) else result


class _Fixtures:
    """The values of a test's parameters, made once for each run and torn down after it."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names, self._made = names, dict[str, Any]()
        self._running: list[Iterator[Any]] = []
        self._printed = redirect_stdout(io.StringIO())

    def __enter__(self) -> _Fixtures:  # noqa: PYI034  # Python 3.10 has no `Self`
        self._stream: Any = self._printed.__enter__()
        for name, value in self._names.items():
            if is_automatic(value):
                self.value(name)
        return self

    def __exit__(self, *error: object) -> None:
        self._printed.__exit__(None, None, None)
        for made in reversed(self._running):
            next(made, None)

    def value(self, name: str) -> Any:
        """The value of a fixture."""
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Any:
        if name in ("capsys", "capfd"):
            return Captured(self._stream)
        fixture = fixture_of(self._names, name)
        if fixture is None:
            raise Broken(f"no fixture {name}")
        made = _finish(fixture(*map(self.value, inspect.signature(fixture).parameters)))
        if inspect.isgenerator(made):
            self._running.append(made)
            return next(made)
        return made


class Transformer(ast.NodeTransformer):
    """Replaces what no class can define for its objects: `a is b`, `type(a)` and `super()`."""

    def __init__(self) -> None:
        self._classes: list[str] = []
        self._selves: list[str | None] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """`super()` needs the name of its class."""
        self._classes.append(node.name)
        self.generic_visit(node)
        self._classes.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """`super()` needs the first argument of its method."""
        self._selves.append(node.args.args[0].arg if node.args.args else None)
        self.generic_visit(node)
        self._selves.pop()
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`a is b` is a call, unless b is a constant."""
        self.generic_visit(node)
        if len(node.ops) != 1 or isinstance(node.comparators[0], ast.Constant):
            return node
        if not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return node
        call: ast.expr = ast.Call(ast.Name("__is_same__", ast.Load()), [node.left, node.comparators[0]], [])
        if isinstance(node.ops[0], ast.IsNot):
            call = ast.UnaryOp(ast.Not(), call)
        return ast.copy_location(call, node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`type(a)` is a call of our own."""
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "type" and len(node.args) == 1:
            node.func = ast.Name("__type_of__", ast.Load())
        if name == "super" and not node.args and self._classes and self._selves and self._selves[-1]:
            node.func = ast.Name("__super_of__", ast.Load())
            node.args = [ast.Name(part, ast.Load()) for part in (self._classes[-1], self._selves[-1])]
        return node


def type_of(value: Any) -> Any:
    """The function `type`, also for objects of the solution."""
    return value._side_.ask("type", value) if getattr(type(value), "_side_", None) else type(value)


def compiled(source: str) -> Test:
    """The code of a test; raises what the compiler raises."""
    tree = ast.parse(source)
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    code = compile(ast.fix_missing_locations(Transformer().visit(tree)), "test", "exec")
    return Test(code, frozenset(called))
