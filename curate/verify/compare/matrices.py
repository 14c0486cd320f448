"""Compares matrices and vectors entry by entry, after evaluating their sums, multiples and transposes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from curate.verify.compare.collections import Same, in_order
from curate.verify.compare.kinds.single_values import Rules
from curate.verify.nodes import Node, num, rename, symbols, walk
from curate.verify.values.equality import equal
from curate.verify.verdict import Decision, wrong

_DIFFERENT: Final = wrong("different", "set")
_UNIT_VECTORS: Final = ("i", "j", "k")
_TRANSPOSES: Final = ("T", "top", "intercal", "t", "prime")


def is_matrix(node: Node) -> bool:
    """Whether a tree contains a matrix."""
    return any(n.op == "matrix" for n in walk(node))


def matrices(truth: Node, answer: Node, rules: Rules, same: Same) -> Decision:
    """Compare entry by entry. A row or column may be a tuple. Only the bars of a |determinant| count as brackets."""
    truth, answer = as_matrix(truth), as_matrix(answer)
    truth, answer = _like(truth, answer), _like(answer, truth)
    if "paren" in (truth.op, answer.op):
        flat = [_line(n) if n.op == "matrix" else n.args for n in (truth, answer)]
        if not flat[0] or not flat[1] or len(flat[0]) != len(flat[1]):
            return _DIFFERENT
        return in_order(flat[0], flat[1], rules, same)
    is_determinant = [n.name == "vmatrix" for n in (truth, answer)]
    if truth.op != answer.op or is_determinant[0] != is_determinant[1]:
        return _DIFFERENT
    if [len(r.args) for r in truth.args] != [len(r.args) for r in answer.args]:
        return _DIFFERENT
    entries = [[entry for row in n.args for entry in row.args] for n in (truth, answer)]
    return in_order(entries[0], entries[1], rules, same)


def as_matrix(node: Node) -> Node:
    """The value of a tree of matrices, vectors and numbers; the tree itself if it cannot be evaluated here."""
    if node.op == "paren" and len(node.args) > 1 and all(row.op == "paren" for row in node.args):
        return Node("matrix", tuple(Node("row", row.args) for row in node.args))
    if node.op == "pow" and node.args[1].op == "sym" and node.args[1].name in _TRANSPOSES:
        return _transposed(as_matrix(node.args[0]), node)
    if node.op in ("neg", "mul", "div", "add"):
        return _worked_out(node)
    return node


def _transposed(inner: Node, whole: Node) -> Node:
    if inner.op == "paren":  # (3,4)^T: a column, written as a tuple
        return Node("matrix", tuple(Node("row", (entry,)) for entry in inner.args))
    if inner.op != "matrix" or inner.name == "vmatrix":
        return whole
    columns = zip(*(row.args for row in inner.args), strict=True)
    return inner._replace(args=tuple(Node("row", tuple(column)) for column in columns))


def _worked_out(node: Node) -> Node:
    parts = [as_matrix(arg) for arg in node.args]
    found = [i for i, part in enumerate(parts) if part.op == "matrix" and part.name != "vmatrix"]
    if not found:
        return node
    if node.op == "add":
        return _sum(parts, node)
    if len(found) > 1 or (node.op == "div" and found != [0]):
        return node
    place = found[0]
    return _each(parts[place], lambda entry: node._replace(args=(*parts[:place], entry, *parts[place + 1 :])))


def _sum(parts: list[Node], whole: Node) -> Node:
    sizes = {tuple(len(row.args) for row in part.args) for part in parts}
    if len(sizes) != 1 or any(part.op != "matrix" for part in parts):
        return whole
    rows = zip(*(part.args for part in parts), strict=True)
    return parts[0]._replace(
        args=tuple(
            Node("row", tuple(Node("add", entries) for entries in zip(*(row.args for row in same_row), strict=True)))
            for same_row in rows
        )
    )


def _each(matrix: Node, change: Callable[[Node], Node]) -> Node:
    return matrix._replace(args=tuple(Node("row", tuple(change(e) for e in row.args)) for row in matrix.args))


def _line(matrix: Node) -> tuple[Node, ...]:
    """The entries of a single row or column; empty for a larger matrix."""
    if len(matrix.args) == 1:
        return matrix.args[0].args
    return tuple(row.args[0] for row in matrix.args) if all(len(row.args) == 1 for row in matrix.args) else ()


def _like(node: Node, other: Node) -> Node:
    """A tree in the form of the other side: I as the identity, i + 2j as a tuple, a binomial as a column."""
    if other.op == "matrix" and node.op == "sym" and re.fullmatch(r"[IE](_\d)?", node.name):
        return _identity(len(other.args))
    if other.op == "matrix" and node.op == "binom" and len(other.args) == 2:
        return Node("matrix", tuple(Node("row", (arg,)) for arg in node.args))
    size = len(_line(other)) if other.op == "matrix" else len(other.args) if other.op == "paren" else 0
    if size in (2, 3) and (components := _components(node, size)) is not None:
        return Node("paren", components, None, "()")
    return node


def is_vector(node: Node) -> bool:
    """Whether a tree may be a sum of unit vectors: it contains a j."""
    names = {_plain(n.name) for n in walk(node) if n.op in ("sym", "const")}
    return "j" in names and node.op in ("add", "mul", "neg", "sym")


def _components(node: Node, size: int) -> tuple[Node, ...] | None:
    """(a, b) of a i + b j; None unless the tree is linear in the unit vectors."""
    if not is_vector(node):
        return None
    tree = _with_plain_names(node)
    units = _UNIT_VECTORS[:size]
    if not set(_UNIT_VECTORS) & symbols(tree) <= set(units):
        return None
    at = {unit: _at(tree, units, unit) for unit in units}
    whole = Node("add", tuple(Node("mul", (at[unit], Node("sym", (), None, unit))) for unit in units))
    return tuple(at[unit] for unit in units) if equal(whole, tree) else None


def _at(tree: Node, units: tuple[str, ...], wanted: str) -> Node:
    if tree.op == "sym" and tree.name in units:
        return num(int(tree.name == wanted))
    return tree._replace(args=tuple(_at(arg, units, wanted) for arg in tree.args)) if tree.args else tree


def _with_plain_names(node: Node) -> Node:
    if node.op == "const" and node.name == "i":
        return Node("sym", (), None, "i")
    tree = rename(node, {name: _plain(name) for name in symbols(node)})
    return tree._replace(args=tuple(_with_plain_names(arg) for arg in tree.args)) if tree.args else tree


def _plain(name: str) -> str:
    return name.rpartition(" ")[2]


def _identity(size: int) -> Node:
    return Node("matrix", tuple(Node("row", tuple(num(int(i == j)) for j in range(size))) for i in range(size)))
