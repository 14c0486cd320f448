"""Finds what a factor zero hides: `3x-y=0 (7919)`, `x-1=0 q` and `x-1=0:7919` say more than `=0`."""

from __future__ import annotations

from curate.verify.nodes import Node, symbols, walk


def hides_in_zero(answer: Node, truth: Node) -> bool:
    """Whether an answer multiplies zero by words, or an equation's zero by anything but the truth's unknowns."""
    known = symbols(truth)
    is_relation = any(n.op == "rel" and len(n.args) > 1 and symbols(n.args[0]) for n in walk(answer))
    for node in walk(answer):
        if is_relation and node.op == "qty" and _is_zero(node.args[0]):
            return True
        if node.op not in ("mul", "ratio", "div") or not _is_zero(node.args[0]):
            continue
        others = node.args[1:]
        if any(n.op in ("text", "qty") for other in others for n in walk(other)):
            return True
        if is_relation and any(symbols(other) - known or not symbols(other) for other in others):
            return True
    return False


def _is_zero(node: Node) -> bool:
    """Whether a tree is the figure zero, also with a sign."""
    while node.op == "neg":
        node = node.args[0]
    return node.op == "num" and not node.value
