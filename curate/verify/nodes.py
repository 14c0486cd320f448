"""The tree of a parsed answer, as plain data without executable content.

Values: num sym const add mul div neg pow fn root fact binom pm; around them: pct deg qty (a value with a unit) base
ratio; collections: list paren set; statements: rel in such; sets: union cap minus; matrix row; text.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple


class Node(NamedTuple):
    """One operation and its operands.

    value: the number of a `num`. name: the symbol, constant, function, unit, brackets or relation signs; a number's
    literal as written.
    """

    op: str
    args: tuple[Node, ...] = ()
    value: Fraction | None = None
    name: str = ""


class UnreadableError(Exception):
    """The grammar does not recognise the text as an answer."""


class TooLargeError(Exception):
    """A number or an expression exceeds the limits; raised before it is computed."""


def num(value: int | Fraction, literal: str = "") -> Node:
    """A number."""
    return Node("num", (), Fraction(value), literal)


def fn(name: str, *args: Node) -> Node:
    """A function applied to its arguments."""
    return Node("fn", args, None, name)


def walk(node: Node) -> Iterator[Node]:
    """The node and all its descendants."""
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(top.args)


def symbols(node: Node) -> frozenset[str]:
    """Names of the variables in a tree."""
    return frozenset(n.name for n in walk(node) if n.op == "sym")


def rename(node: Node, names: dict[str, str]) -> Node:
    """The tree with variables renamed."""
    if node.op == "sym":
        return node._replace(name=names.get(node.name, node.name))
    return node._replace(args=tuple(rename(arg, names) for arg in node.args)) if node.args else node
