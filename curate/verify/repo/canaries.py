"""Canaries: the hidden tests with one value of each changed, so that an honest repository fails them.

Code that makes every assertion pass (a patched framework, an object equal to everything, a forged report, a function
that reads the expected value from its caller) passes them too, and is found out. A canary has the name and the place of
its test; code under test cannot tell which of the two it sees, except by knowing the right value.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from typing import Final, NamedTuple

EQUALITIES: Final = (
    "assertEqual",
    "assertEquals",
    "assertAlmostEqual",
    "assertListEqual",
    "assertDictEqual",
    "assertIs",
)
TRUTHS: Final = {"assertTrue": "assertFalse", "assertFalse": "assertTrue"}


class Edit(NamedTuple):
    """A replacement of the text between two (line, column) places; columns count bytes. rank: the lower the better."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str
    rank: int


def canaries(source: str, seed: str) -> tuple[str, frozenset[str]]:
    """The changed source, and the qualified names (`test_a`, `TestB.test_c`) of the tests that have a change."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return source, frozenset()
    edits: list[Edit] = []
    names = set()
    for name, function in _tests(tree, ""):
        choices = sorted(_edits(function), key=lambda edit: edit.rank)
        if choices:
            best = [edit for edit in choices if edit.rank == choices[0].rank]
            # all values of a table of parameters, else one assertion
            edits += best if choices[0].rank == 1 else [best[_pick(f"{seed}/{name}", len(best))]]
            names.add(name)
    return _applied(source, edits), frozenset(names)


def _pick(seed: str, number: int) -> int:
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big") % number


def _tests(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and child.name.startswith("test"):
            yield prefix + child.name, child
        elif isinstance(child, ast.ClassDef):
            yield from _tests(child, f"{prefix}{child.name}.")


def _edits(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Edit]:
    """Possible changes. rank 0: another literal; 1: other parameters; 2: another assigned value; 3: a denial."""
    assigned = {
        node.targets[0].id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    }
    table = list(_parameters(function))
    for statement in ast.walk(function):
        if isinstance(statement, ast.Assert):
            test = statement.test
            if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.Is):
                yield from _of_sides(test, [test.comparators[0], test.left], assigned, table)
            else:
                yield _replaced(test, f"not ({ast.unparse(test)})", 3)
        elif isinstance(statement, ast.Call) and isinstance(statement.func, ast.Attribute):
            name, given = statement.func.attr, statement.args
            if name in EQUALITIES and len(given) >= 2:
                yield from _of_sides(None, [given[1], given[0]], assigned, table)
            elif name in TRUTHS and given:
                yield _replaced(given[0], f"not ({ast.unparse(given[0])})", 3)
            elif name == "raises" and given and isinstance(function, ast.FunctionDef):
                yield _replaced(given[0], "GeneratorExit", 3)


def _of_sides(
    comparison: ast.Compare | None, sides: list[ast.expr], assigned: dict[str, ast.expr], table: list[Edit]
) -> Iterator[Edit]:
    found = [edit for side in sides for edit in _other(side, 0)]
    if found:
        yield found[0]
        return
    if table and any(isinstance(side, ast.Name) for side in sides):
        yield from table
        return
    for side in sides:
        if isinstance(side, ast.Name) and side.id in assigned:
            found = list(_other(assigned[side.id], 2))
            if found:
                yield found[0]
                return
    if comparison is not None:
        yield _replaced(comparison, f"not ({ast.unparse(comparison)})", 3)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Edit]:
    """Another last value in each row of `pytest.mark.parametrize`."""
    for decorator in function.decorator_list:
        if not (isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("parametrize")):
            continue
        rows = decorator.args[1] if len(decorator.args) > 1 else None
        for row in rows.elts if isinstance(rows, ast.List | ast.Tuple) else ():
            if isinstance(row, ast.Tuple | ast.List) and len(row.elts) > 1:
                yield from _other(row.elts[-1], 1)


def _other(node: ast.expr, rank: int) -> Iterator[Edit]:
    """Another value in place of a literal, or of the literals that a call such as `Decimal("1")` holds."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        if isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Name):
            yield from _other(node.args[0], rank)
        return
    yield _replaced(node, repr(_changed(value)), rank)


def _changed(value: object) -> object:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float | complex):
        return value + 1
    if isinstance(value, str):
        return value + "~"
    if isinstance(value, bytes):
        return value + b"~"
    if isinstance(value, list):
        return [*value[:-1], _changed(value[-1])] if value else [0]
    if isinstance(value, tuple):
        return (*value[:-1], _changed(value[-1])) if value else (0,)
    if isinstance(value, set):
        return value | {"~"}
    if isinstance(value, dict):
        return {**value, "~": 0}
    return 0


def _replaced(node: ast.expr, text: str, rank: int) -> Edit:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return Edit((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset), f"({text})", rank)


def _applied(source: str, edits: list[Edit]) -> str:
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    data = source.encode()
    before: int | None = None
    for edit in sorted(set(edits), key=lambda edit: (edit.start, edit.end), reverse=True):
        start, end = (starts[line - 1] + column for line, column in (edit.start, edit.end))
        if before is not None and end > before:
            continue  # inside a change that was made
        data, before = data[:start] + edit.text.encode() + data[end:], start
    return data.decode()
