r"""Function calls of the grammar, with powers, base and arguments: `\sin^2 x`, `\log_2(8)`, `\max(1,2)`."""

from __future__ import annotations

from typing import Final

from curate.verify.grammar.brackets import parse_group
from curate.verify.grammar.cursor import Cursor
from curate.verify.grammar.lexer import FUNCTIONS
from curate.verify.grammar.operators import starts_factor
from curate.verify.grammar.postfixes import is_degree, parse_degree
from curate.verify.nodes import Node, UnreadableError, fn

_I: Final = Node("const", (), None, "i")


def parse_function(cursor: Cursor, name: str) -> Node:
    """A function with its powers, its base and its arguments."""
    if name in ("max", "min") and cursor.is_at("="):
        return Node("sym", (), None, name)
    power = base = None
    while cursor.is_at("^", "_"):
        if cursor.take().text == "^":
            power = cursor.levels.exponent(cursor)
        else:
            base = cursor.levels.argument(cursor)
    arguments = _parse_arguments(cursor)
    if not arguments:
        raise UnreadableError(f"{name} of nothing")
    if name == "cis":
        return Node("add", (fn("cos", *arguments), Node("mul", (_I, fn("sin", *arguments)))))
    call = _call(name, base, arguments)
    if power is None and cursor.is_at("^"):
        cursor.take()
        return Node("pow", (call, cursor.levels.exponent(cursor)))
    return call if power is None else _raised(call, power)


def _call(name: str, base: Node | None, arguments: tuple[Node, ...]) -> Node:
    if name == "log" and base is not None:
        return fn("log", *arguments, base)
    if name in ("max", "min", "gcd", "lcm") and arguments[0].op in ("list", "paren", "set"):
        return fn(name, *arguments[0].args)
    return fn(name, *arguments)


def _raised(call: Node, power: Node) -> Node:
    r"""A power of a call; `\sin^{-1}` is the inverse function."""
    if power.op == "neg" and power.args[0].value == 1 and f"arc{call.name}" in FUNCTIONS:
        return fn(f"arc{call.name}", *call.args)
    return Node("pow", (call, power))


def _parse_arguments(cursor: Cursor) -> tuple[Node, ...]:
    """The arguments of a function: a bracketed group, or the product up to the next sign or function."""
    if cursor.is_at("("):  # sin(x)^2 is the square of the sine, but sin(60)^\circ the sine of an angle
        group = parse_group(cursor, cursor.take().text)
        group = parse_degree(cursor, group) if cursor.is_at("^") and is_degree(cursor) else group
        return group.args if group.op == "paren" else (group,)
    if cursor.is_at("[", "{"):
        group = cursor.levels.power(cursor)
        return group.args if group.op == "paren" else (group,)
    factors = [cursor.levels.factor(cursor)]
    while starts_factor(cursor) and not _starts_function(cursor) and not cursor.is_at("(", "["):
        factors.append(cursor.levels.power(cursor))
    return (factors[0] if len(factors) == 1 else Node("mul", tuple(factors)),)


def _starts_function(cursor: Cursor) -> bool:
    token = cursor.peek()
    return token.kind == "cmd" and token.text[1:] in FUNCTIONS and token.text != "\\sqrt"
