"""Evaluates a tree as a ball, at one point and at the precision of the enclosing `balls.working` block."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from curate.verify.nodes import Node, TooLargeError, UnreadableError
from curate.verify.values.balls import Ball, constant, finite, magnitude, precision, rational
from curate.verify.values.operations import MAX_MAGNITUDE, OPERATIONS
from curate.verify.values.work import spend_on_balls


def evaluate(node: Node, values: Mapping[str, Fraction]) -> Ball:
    """The value of a tree for these values of its variables; call it within `balls.working`.

    Raises `UndefinedError`, `TooLargeError` or `UnreadableError`.
    """
    if node.op == "num":
        return rational(node.value or Fraction(0))
    if node.op == "sym":
        return rational(values[node.name])
    if node.op == "const":
        return constant(node.name)
    balls = [evaluate(arg, values) for arg in node.args]
    operation = OPERATIONS.get(f"{node.op} {node.name}" if node.op == "fn" else node.op)
    if operation is None:
        raise UnreadableError(f"{node.op} {node.name}")
    spend_on_balls(node.op, precision())
    ball = finite(operation(balls, node))
    if magnitude(ball) > MAX_MAGNITUDE:
        raise TooLargeError("value")
    return ball
