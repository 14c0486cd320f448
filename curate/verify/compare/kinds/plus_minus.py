"""Expands plus-minus signs to all values of an expression."""

from __future__ import annotations

from typing import Final, NamedTuple

from curate.verify.compare.kinds.outcomes import compare_values, is_equal
from curate.verify.nodes import Node, UnreadableError, num, symbols, walk

_MAX_SIGNS: Final = 3


class _Replaced(NamedTuple):
    """A tree, and whether a sign in it was replaced."""

    node: Node
    is_replaced: bool


def expand_signs(node: Node) -> list[Node]:
    """All values of an expression with plus-minus signs: each sign is independent, and minus-plus is its opposite."""
    signs = [n for n in walk(node) if n.op == "pm"]
    if not signs:
        return [node]
    if len(signs) > _MAX_SIGNS:
        raise UnreadableError("too many signs")
    if len({n.name for n in signs}) > 1:
        return [_signed(node, is_plus=is_plus) for is_plus in (True, False)]
    expanded = [node]
    for _ in signs:
        expanded = [_first_signed(tree, is_plus=is_plus).node for tree in expanded for is_plus in (True, False)]
    return expanded


def _signed(node: Node, *, is_plus: bool) -> Node:
    args = tuple(_signed(arg, is_plus=is_plus) for arg in node.args)
    if node.op == "pm":
        return args[0] if (node.name == "pm") == is_plus else Node("neg", args)
    return node._replace(args=args)


def _first_signed(node: Node, *, is_plus: bool) -> _Replaced:
    """Replace the first plus-minus sign of a tree, in reading order."""
    if node.op == "pm":
        return _Replaced(node.args[0] if is_plus else Node("neg", node.args), is_replaced=True)
    for index, arg in enumerate(node.args):
        inner = _first_signed(arg, is_plus=is_plus)
        if inner.is_replaced:
            args = (*node.args[:index], inner.node, *node.args[index + 1 :])
            return _Replaced(node._replace(args=args), is_replaced=True)
    return _Replaced(node, is_replaced=False)


def adds_nothing(node: Node) -> bool:
    r"""Whether a tree has a sign of both values before zero, as `42\pm 0`: a hedge, not a value."""
    signs = [n for n in walk(node) if n.op == "pm" and not symbols(n)]
    return any(is_equal(compare_values(n.args[0], num(0))) for n in signs)
