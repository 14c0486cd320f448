"""Compares the output of a program or the result of a function, as plain data, with the expected one."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

TOLERANCE: Final = 1e-6
# the answers of decision problems, in any case: judges of contests accept `Yes` for `YES`
DECISIONS: Final = frozenset(
    ("yes", "no", "true", "false", "possible", "impossible", "alice", "bob", "first", "second", "win", "lose", "draw")
)


def same_output(printed: bytes, expected: str) -> bool:
    """Whether two texts have the same tokens: numbers with a point or exponent within 1e-6, `Yes` in any case."""
    tokens, wanted = printed.decode("utf-8", "replace").split(), expected.split()
    return len(tokens) == len(wanted) and all(map(_same_token, tokens, wanted))


def _same_token(token: str, wanted: str) -> bool:
    if token == wanted:
        return True
    if wanted.casefold() in DECISIONS:
        return token.casefold() == wanted.casefold()
    # whole numbers are exact: 1000000000001 is not 1000000000000
    if not any(mark in wanted + token for mark in ".eE"):
        return False
    try:
        return _close(float(token), float(wanted))
    except ValueError:
        return False


def same_value(result: Any, expected: Any) -> bool:  # Any: a plain Python value, a JSON value
    """Whether a result is the expected JSON value: by type, tuples as lists, numbers by value, floats within 1e-6."""
    if isinstance(expected, bool) or isinstance(result, bool) or expected is None or isinstance(expected, str):
        return type(result) is type(expected) and bool(result == expected)
    if isinstance(expected, int) and isinstance(result, int):
        return result == expected
    if isinstance(expected, int | float):
        return isinstance(result, int | float | Decimal | Fraction) and _close(result, expected)
    if isinstance(expected, list):
        is_sequence = isinstance(result, list | tuple) and len(result) == len(expected)
        return is_sequence and all(map(same_value, result, expected))
    if isinstance(expected, dict):
        # JSON has text keys only
        named = {str(key): value for key, value in result.items()} if isinstance(result, dict) else {}
        return named.keys() == expected.keys() and all(same_value(named[key], expected[key]) for key in expected)
    return False


def _close(one: float | Decimal | Fraction, other: float) -> bool:
    try:
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    except (OverflowError, ValueError):  # more digits than a float holds; a signalling NaN
        return False
