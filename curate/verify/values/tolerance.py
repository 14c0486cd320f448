"""Whether a value is close to another: by a relative tolerance, or by significant figures."""

from __future__ import annotations

from fractions import Fraction
from math import floor, log10

from curate.verify.nodes import Node, TooLargeError
from curate.verify.values.equality import value_of


def is_close(truth: Node, answer: Node, rel_tol: float, sig_figs: int) -> bool:
    """Whether `answer` is within `rel_tol` of `truth`, or equals it when rounded to `sig_figs` significant figures.

    0 switches a tolerance off. Only an exact answer is close to zero, and only a constant is close to another.
    """
    if not rel_tol and not sig_figs:
        return False
    try:
        wanted, given = value_of(truth), value_of(answer)
        if wanted is None or given is None or wanted == 0:
            return False
        distance = abs(given - wanted)
        if distance <= Fraction(str(rel_tol)) * abs(wanted):
            return True
        return bool(sig_figs) and distance <= _half_unit(wanted, sig_figs)
    except (OverflowError, ValueError, TooLargeError):  # beyond the range of a double
        return False


def _half_unit(value: Fraction, sig_figs: int) -> Fraction:
    """Half a unit in the last of `sig_figs` significant figures."""
    exponent = floor(log10(abs(value))) - sig_figs + 1
    return Fraction(1, 2) * Fraction(10) ** exponent
