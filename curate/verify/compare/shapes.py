r"""Adapts one side to the form of the other: the coordinates of a point P(4,-3), the set in `x \in \{1,2\}`."""

from __future__ import annotations

from curate.verify.compare.matrices import is_matrix, is_vector
from curate.verify.nodes import Node


def listed(node: Node) -> Node:
    r"""The set in `x \in \{1,2\}`: a membership in listed values gives each of them."""
    if node.op == "in" and node.name == "in" and node.args[1].op == "set" and node.args[0].op in ("sym", "paren"):
        return node.args[1]
    return node


def point(node: Node, other: Node) -> Node:
    """The coordinates of P(4,-3) if the other side is a tuple; else P(10,3) counts ordered choices."""
    if node.op == "binom" and other.op == "paren":
        return Node("paren", node.args, None, "()")
    if node.op != "mul" or len(node.args) != 2 or node.args[0].op != "sym" or node.args[1].op != "paren":
        return node
    name, pair = node.args
    if other.op in ("paren", "matrix", "list", "set"):
        return pair if name.name[:1].isupper() else node
    if name.name != "P" or len(pair.args) != 2 or any(arg.op != "num" for arg in pair.args):
        return node
    return _ordered_choices(pair.args[0], pair.args[1])


def _ordered_choices(total: Node, chosen: Node) -> Node:
    left = Node("add", (total, Node("neg", (chosen,))))
    return Node("div", tuple(Node("fact", (arg,), None, "!") for arg in (total, left)))


def are_matrices(truth: Node, answer: Node) -> bool:
    """Whether to compare entry by entry: one side has a matrix, or one is a tuple and one a sum of unit vectors."""
    if is_matrix(truth) or is_matrix(answer):
        return True
    return any(a.op == "paren" and is_vector(b) for a, b in ((truth, answer), (answer, truth))) or any(
        n.op == "pow" and n.args[0].op == "paren" for n in (truth, answer)
    )
