"""Compares values by evaluation: "different" is proven, "equal" means agreement in every digit at two precisions.

Constants are evaluated once, functions at sample points that depend only on the names of their variables, so verdicts
are the same on every machine.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from curate.verify.nodes import Node, TooLargeError, UnreadableError, symbols, walk
from curate.verify.values.balls import (
    UndefinedError,
    error,
    is_exactly_real,
    is_real,
    magnitude,
    real_part,
    working,
)
from curate.verify.values.evaluator import evaluate

_FIRST_BITS: Final = 160
_NUM_POINTS: Final = 8
_NUM_SMALL: Final = 8  # more points between 0 and 1, used if too few others are in the domain: arcsin x
_WHOLE: Final = frozenset("nmkijlpqrNMK")
_ENOUGH: Final = 3
_FAR: Final = 3
_MIX: Final = 0x9E3779B1  # a checksum alone is linear: two names would have values of equal parity at every point


def height(node: Node) -> int:
    """The bits in which a difference could hide: those of the figures and constant exponents in the tree."""
    bits = 0
    for n in walk(node):
        if n.op == "num" and n.value is not None:
            bits += n.value.numerator.bit_length() + n.value.denominator.bit_length()
        if n.op == "pow" and n.args[1].op in ("num", "neg"):
            inner = n.args[1].args[0] if n.args[1].op == "neg" else n.args[1]
            bits += min(abs(int(inner.value or 0)), 20_000) * 4
    return bits


def agree(a: Node, b: Node, values: Mapping[str, Fraction], *, is_complex: bool) -> bool | None:
    """Whether two trees agree at a point; None if either has no (real) value there.

    "Different" is proven; "agree" means in every digit at 160 bits and again at 320 bits or more, growing with the size
    of the figures involved.
    """
    more = min(2 * _FIRST_BITS + 2 * (height(a) + height(b)), 20_000)
    for bits in (_FIRST_BITS, more):
        with working(bits):
            try:
                x, y = evaluate(a, values), evaluate(b, values)
            except UndefinedError:
                return None if values else False  # a constant without a value equals nothing
            if not is_complex:
                if not (is_real(x) and is_real(y)):
                    return None
                x, y = real_part(x), real_part(y)
            if not x.overlaps(y):
                return False
            if bits == more and max(error(x), error(y)) > max(magnitude(x), magnitude(y), 0) - _FIRST_BITS // 2:
                return None  # the bounds are too wide to call them equal
    return True


def point(names: frozenset[str], number: int, *, is_whole: bool) -> dict[str, Fraction]:
    """Sample point `number`: for each variable a value that depends only on its name.

    The first three points are positive; number 3 is well below zero, where |x+1| and x+1 differ.
    """
    values = {}
    for name in sorted(names):
        seed = zlib.crc32(f"{name}:{number}".encode()) * _MIX >> 16
        value = Fraction(1 + seed % 12) if is_whole else Fraction(200 + seed % 2801, 997)
        if number == _FAR and not is_whole:
            value = -value - 5
        if number >= _NUM_POINTS:
            value = Fraction(1 + seed % 995, 997)
        elif number > _FAR and not is_whole and (seed >> 16) % 2:
            value = -value
        values[name] = value
    return values


def is_identity(a: Node, b: Node) -> bool | None:
    """Whether two trees are equal at every sample point; None if too few points could be decided."""
    names = symbols(a) | symbols(b)
    nodes = [*walk(a), *walk(b)]
    is_complex = not names or any(n.op == "const" and n.name == "i" for n in nodes)
    is_whole = bool(names) and any(n.op in ("fact", "binom") or _rounds(n) or _alternates(n) for n in nodes)
    num_agreed, num_apart = 0, 0
    for number in range(_NUM_POINTS + _NUM_SMALL if names else 1):
        if number == _NUM_POINTS and (is_whole or num_agreed >= _ENOUGH or num_apart > _ENOUGH):
            break
        values = point(names, number, is_whole=is_whole)
        outcome = agree(a, b, values, is_complex=is_complex)
        if outcome is False:
            return False
        num_agreed += outcome is True
        num_apart += outcome is None and has_value(a, values) != has_value(b, values)
    if num_agreed == 0 and num_apart > _ENOUGH:
        return False  # they have a real value together at no point
    return True if num_agreed >= (_ENOUGH if names else 1) else None


def has_value(node: Node, values: Mapping[str, Fraction]) -> bool:
    """Whether a tree has a real value at a point."""
    with working(_FIRST_BITS):
        try:
            return is_real(evaluate(node, values))
        except UndefinedError:
            return False


def _rounds(node: Node) -> bool:
    """Whether a node is the floor or ceiling of a whole variable, by its name."""
    return node.name in ("floor", "ceil") and {name[0] for name in symbols(node)} <= _WHOLE


def _alternates(node: Node) -> bool:
    """Whether a node is a negative number to a variable power, which implies whole exponents."""
    if node.op != "pow" or not symbols(node.args[1]):
        return False
    return node.args[0].op == "neg" and not symbols(node.args[0])


def approximate(node: Node) -> float | None:
    """A double for ordering; None unless the value is a real constant."""
    if symbols(node):
        return None
    if node == Node("const", (), None, "infty"):
        return math.inf
    if node.op == "neg" and node.args[0] == Node("const", (), None, "infty"):
        return -math.inf
    try:
        with working(_FIRST_BITS):
            ball = evaluate(node, {})
            return float(ball.real.mid()) if is_exactly_real(ball) else None
    except (UndefinedError, TooLargeError, UnreadableError, OverflowError):
        return None
