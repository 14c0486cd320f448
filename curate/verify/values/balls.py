"""Values with a running error bound, to hundreds of digits.

Every value carries a bound on its absolute error as a power of two. mpmath's global context is not safe between
threads: each thread has its own.
"""

from __future__ import annotations

import math
import threading
from fractions import Fraction
from typing import Any, Final, NamedTuple

from curate.verify.nodes import UnreadableError

_LOCAL: Final = threading.local()


class UndefinedError(Exception):
    """The expression has no value at this point: a division by zero, a logarithm of zero."""


class Ball(NamedTuple):
    """A value and a bound 2**error on its absolute error."""

    mid: Any  # mpmath's mpf or mpc: the package has no types
    error: int


def context(bits: int) -> Any:  # Any: mpmath has no types
    """This thread's mpmath context, at a working precision."""
    from mpmath.ctx_mp import MPContext

    if not hasattr(_LOCAL, "context"):
        _LOCAL.context = MPContext()
    _LOCAL.context.prec = bits
    return _LOCAL.context


def magnitude(value: Any) -> int:
    """Upper bound on log2 |value|; very small for zero."""
    if not value:
        return -(10**9)
    if hasattr(value, "_mpc_"):
        return 1 + max(magnitude(value.real), magnitude(value.imag))
    return int(value.exp + value.bc) if hasattr(value, "bc") else math.frexp(float(value))[1]


class Arithmetic:
    """What operations need: the precision, mpmath's context at it, and how balls are made."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.ctx = context(bits)

    def rational(self, value: Fraction) -> Ball:
        """A fraction as a ball."""
        mid = self.ctx.mpf(value.numerator) / value.denominator
        return Ball(mid, magnitude(mid) - self.bits + 1 if mid else -(10**9))

    def constant(self, name: str) -> Ball:
        """Pi, e or i as a ball."""
        values = {"pi": self.ctx.pi, "e": self.ctx.e, "i": self.ctx.mpc(0, 1), "infty": self.ctx.inf}
        if name not in values or name == "infty":
            raise UnreadableError(name)
        return Ball(+values[name], 3 - self.bits)

    def made(self, mid: Any, relative: int) -> Ball:
        """A ball whose relative error is 2**relative, and at least that of rounding."""
        if self.ctx.isnan(mid) or self.ctx.isinf(mid):
            raise UndefinedError
        return Ball(mid, magnitude(mid) + max(relative, -self.bits) + 2)

    def relative(self, ball: Ball) -> int:
        """log2 of a ball's relative error."""
        return ball.error - magnitude(ball.mid) + 1

    def nonzero(self, ball: Ball) -> Ball:
        """The ball, unless it may be zero."""
        if not ball.mid or magnitude(ball.mid) <= ball.error + 2:
            raise UndefinedError
        return ball
