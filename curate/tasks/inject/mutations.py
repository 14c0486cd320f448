"""Bugs of one change in a function, by family: operators, constants, conditions, statements, arguments, returns.

Each is a replacement in the source text, so that the rest of a file keeps its form.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

COMPARISONS: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
ARITHMETIC: Final[dict[type[ast.operator], str]] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "//", ast.BitOr: "&",
    ast.BitAnd: "|", ast.Pow: "*",
}  # fmt: skip


class Mutant(NamedTuple):
    """One bug. function: the qualified name of the function that it is in; source: the whole file with the bug."""

    path: str
    function: str
    family: str
    line: int
    source: str


def mutants(path: str, source: str) -> list[Mutant]:
    """All single bugs of a file's functions; empty if it does not compile."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    text = _Text(source)
    found = []
    for name, function in _functions(tree, ""):
        for family, node, new in _changes(function, text):
            changed = text.replaced(node, new)
            if _compiles(changed) and changed != source:
                found.append(Mutant(path, name, family, node.lineno, changed))
    return found


class _Text:
    """A source text whose parts are found by the places of nodes, which count lines and bytes."""

    def __init__(self, source: str) -> None:
        self._data = source.encode()
        self._starts = [0]
        for line in self._data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset

    def of(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self._data[start:end].decode()

    def replaced(self, node: ast.expr | ast.stmt, new: str) -> str:
        start, end = self.span(node)
        return (self._data[:start] + new.encode() + self._data[end:]).decode()


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + child.name, child
        if isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.If | ast.Try):
            yield from _functions(child, prefix)


def _changes(
    function: ast.FunctionDef | ast.AsyncFunctionDef, text: _Text
) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    """(family, node, its new text) of each change in a function's body."""
    for statement in function.body:
        for node in _nodes(statement):
            if isinstance(node, ast.expr):
                yield from _of_expression(node, text)
            elif isinstance(node, ast.stmt):
                yield from _of_statement(node, text)


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, but not the parts of f-strings: before Python 3.12 their places are wrong."""
    yield node
    if not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            yield from _nodes(child)


def _of_expression(node: ast.expr, text: _Text) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            yield "comparison", node, f"{text.of(left)} {COMPARISONS[type(operator)]} {text.of(right)}"
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in ARITHMETIC:
            is_text = isinstance(operator, ast.Mod) and isinstance(left, ast.Constant)
            if not is_text:
                yield "arithmetic", node, f"({text.of(left)} {ARITHMETIC[type(operator)]} {text.of(right)})"
        case ast.BoolOp(op=operator, values=values):
            word = " or " if isinstance(operator, ast.And) else " and "
            yield "boolean", node, f"({word.join(f'({text.of(value)})' for value in values)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "boolean", node, f"({text.of(operand)})"
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield "arithmetic", node, f"({text.of(operand)})"
        case _:
            yield from _of_values(node, text)


def _of_values(node: ast.expr, text: _Text) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    match node:
        case ast.Constant(value=bool() as value):
            yield "constant", node, str(not value)
        case ast.Constant(value=int() as value):
            yield "constant", node, str(value + 1)
        case ast.Call(func=function, args=[first, second, *rest], keywords=[]) if not isinstance(first, ast.Starred):
            given = [text.of(second), text.of(first), *map(text.of, rest)]
            yield "arguments", node, f"{text.of(function)}({', '.join(given)})"
        case ast.Slice(lower=lower, upper=upper, step=None) if lower or upper:
            high = text.of(upper) if upper else ""
            yield "slice", node, f"{text.of(lower)} + 1:{high}" if lower else f":{high} - 1"
        case ast.IfExp(test=test, body=body, orelse=other):
            yield "condition", node, f"({text.of(other)} if {text.of(test)} else {text.of(body)})"


def _of_statement(node: ast.stmt, text: _Text) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    match node:
        case ast.If(test=test) | ast.While(test=test) if not isinstance(test, ast.Constant):
            yield "condition", test, f"not ({text.of(test)})"
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "return", value, "None"
        case ast.Break():
            yield "statement", node, "continue"
        case ast.Continue():
            yield "statement", node, "break"
        case ast.AugAssign(target=target, op=operator, value=value) if type(operator) in ARITHMETIC:
            yield "arithmetic", node, f"{text.of(target)} {ARITHMETIC[type(operator)]}= {text.of(value)}"
        case ast.Expr(value=ast.Constant()):
            return
        case ast.Expr() | ast.Assign() | ast.AugAssign() | ast.Raise() | ast.Delete():
            yield "statement", node, "pass"


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True
