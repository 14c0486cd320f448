"""Finds what a factor zero hides: `3x-y=0 (7919)`, `x-1=0 q` and `x-1=0:7919` say more than `=0`."""

from __future__ import annotations

from curate.verify.nodes import Node, symbols, walk


def hides_in_zero(answer: Node, truth: Node) -> bool:
    """Whether an answer multiplies zero by words, or an equation's zero by anything but the truth's unknowns."""
    known = symbols(truth)
    is_relation = any(n.op == "rel" and len(n.args) > 1 and symbols(n.args[0]) for n in walk(answer))
    for node in walk(answer):
        if node.op not in ("mul", "ratio") or not any(arg.op == "num" and not arg.value for arg in node.args):
            continue
        others = [arg for arg in node.args if arg.op != "num" or arg.value]
        if any(n.op in ("text", "qty") for other in others for n in walk(other)):
            return True
        if is_relation and any(symbols(other) - known or not symbols(other) for other in others):
            return True
    return False
