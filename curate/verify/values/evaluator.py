"""The value of a tree as a ball, at one precision and one point."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from curate.verify.nodes import Node, TooLargeError, UnreadableError
from curate.verify.values.balls import Arithmetic, Ball, magnitude
from curate.verify.values.operations import MAX_MAGNITUDE, OPERATIONS


class Evaluator(Arithmetic):
    """Evaluates trees at one precision, with values for the variables."""

    def __init__(self, bits: int, values: Mapping[str, Fraction]) -> None:
        super().__init__(bits)
        self._values = values

    def __call__(self, node: Node) -> Ball:
        """The value; raises `UndefinedError`, `TooLargeError` or `UnreadableError`."""
        if node.op == "num":
            return self.rational(node.value or Fraction(0))
        if node.op == "sym":
            return self.rational(self._values[node.name])
        if node.op == "const":
            return self.constant(node.name)
        balls = [self(arg) for arg in node.args]
        operation = OPERATIONS.get(f"{node.op} {node.name}" if node.op == "fn" else node.op)
        if operation is None:
            raise UnreadableError(f"{node.op} {node.name}")
        ball = operation(self, balls, node)
        if magnitude(ball.mid) > MAX_MAGNITUDE:
            raise TooLargeError("value")
        return ball
