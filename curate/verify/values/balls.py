"""Complex balls to hundreds of digits, by Arb: a midpoint with a proven bound on its error.

Arb's working precision is process-wide, so one thread computes at a time: `working(bits)` sets the precision and holds
the lock. python-flint is imported on first use.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, Final

from curate.process_wide import ProcessWide
from curate.verify.nodes import UnreadableError

Ball = Any  # flint.acb: the package has no types
EXACT_ZERO: Final = -(10**9)  # the magnitude of zero
CONSTANTS: Final = ("pi", "e", "i")
_TURN: Final = ProcessWide(threading.RLock)


class UndefinedError(Exception):
    """The expression has no value at this point, such as a division by zero or a logarithm of zero."""


@contextmanager
def working(bits: int) -> Iterator[None]:
    """Set a precision of `bits` bits until the block ends."""
    from flint import ctx

    with _TURN.get():
        before, ctx.prec = ctx.prec, bits
        try:
            yield
        finally:
            ctx.prec = before


def precision() -> int:
    """The working precision in bits."""
    from flint import ctx

    return int(ctx.prec)


def rational(value: Fraction) -> Ball:
    """A fraction as a ball."""
    from flint import acb, fmpq

    return acb(fmpq(value.numerator, value.denominator))


def constant(name: str) -> Ball:
    """Pi, e or i as a ball; raises `UnreadableError` for another name."""
    from flint import acb, arb

    if name not in CONSTANTS:
        raise UnreadableError(name)
    return {"pi": arb.pi, "e": arb.const_e}[name]() * acb(1) if name != "i" else acb(0, 1)


def magnitude(ball: Ball) -> int:
    """Upper bound on log2 of the absolute value; `EXACT_ZERO` for zero."""
    return _log2(ball.abs_upper())


def error(ball: Ball) -> int:
    """Upper bound on log2 of the error; `EXACT_ZERO` for an exact value."""
    return _log2(ball.complex_rad().real)


def is_real(ball: Ball) -> bool:
    """Whether the value may be real: its imaginary part is zero within its error."""
    return bool(ball.imag.contains(0))


def is_exactly_real(ball: Ball) -> bool:
    """Whether the imaginary part is known to be zero."""
    return bool(ball.imag.is_zero())


def real_part(ball: Ball) -> Ball:
    """The value without its imaginary part."""
    from flint import acb

    return acb(ball.real)


def finite(ball: Ball) -> Ball:
    """The ball itself; raises `UndefinedError` if it is unbounded: at a pole, or where a function is not defined."""
    if not ball.is_finite():
        raise UndefinedError
    return ball


def _log2(bound: Any) -> int:  # Any: flint.arb
    mantissa, exponent = bound.upper().man_exp()
    return int(exponent) + int(mantissa).bit_length() if mantissa else EXACT_ZERO
