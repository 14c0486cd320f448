"""Exact arithmetic on a tree: rational numbers as fractions, and polynomial identities modulo a prime.

`fraction` evaluates a constant exactly or raises. `residue` evaluates a rational function at a point modulo the prime
P: two such functions that agree at one random point are equal except with probability degree/P (Schwartz 1980, Zippel
1979), whatever the size of their expansions. pi and e are independent unknowns; i is a square root of -1.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from curate.verify.nodes import Node, TooLargeError
from curate.verify.values.work import spend_on_figures

P: Final = 2**127 - 1
MAX_BITS: Final = 400_000
MAX_FACTORIAL: Final = 20_000


class NotExactError(Exception):
    """The value is not a rational number, or this arithmetic cannot compute it."""


def fraction(node: Node) -> Fraction:
    """The exact value of a constant; raises `NotExactError` (irrational, variable) or `TooLargeError` (MAX_BITS)."""
    if node.op == "num":
        return node.value if node.value is not None else Fraction(0)
    if node.op in ("sym", "const"):
        raise NotExactError(node.name)
    if node.op == "fn":
        return _function(node)
    args = [fraction(arg) for arg in node.args]
    operation = _EXACT.get(node.op)
    if operation is None:
        raise NotExactError(node.op)
    return _bounded(operation(node, args))


def whole(node: Node) -> int:
    """The value of a constant that is a whole number; raises `NotExactError` for any other."""
    value = fraction(node)
    if value.denominator != 1:
        raise NotExactError("not whole")
    return value.numerator


def power(base: Fraction, exponent: Fraction) -> Fraction:
    """The power base ** exponent; raises `NotExactError` if it is irrational, `TooLargeError` beyond the limits."""
    if exponent.denominator != 1:
        root = _root(base, Fraction(exponent.denominator))
        return power(root, Fraction(exponent.numerator))
    bits = max(abs(base.numerator).bit_length(), base.denominator.bit_length())
    if base in (0, 1, -1):
        if base == 0 and exponent <= 0:
            raise NotExactError("0 to a power below 1")
        return base ** (exponent.numerator % 2 if base == -1 else min(exponent.numerator, 1))
    if abs(exponent.numerator) * bits > MAX_BITS:
        raise TooLargeError("power")
    return base**exponent.numerator


def factorial(value: Fraction, kind: str = "!") -> Fraction:
    """The factorial n! or n!!, for a whole number up to 20,000."""
    if value.denominator != 1 or value < 0:
        raise NotExactError("factorial of a non-whole number")
    if value > MAX_FACTORIAL:
        raise TooLargeError("factorial")
    number = value.numerator
    spend_on_figures(number * number.bit_length())
    return Fraction(math.prod(range(number, 0, -2)) if kind == "!!" else math.factorial(number))


def binomial(top: Fraction, bottom: Fraction) -> Fraction:
    """The binomial n choose k for whole numbers."""
    if top.denominator != 1 or bottom.denominator != 1 or top < 0:
        raise NotExactError("binomial")
    if bottom < 0 or bottom > top:
        return Fraction(0)
    small = min(bottom, top - bottom)
    if small * int(top).bit_length() > MAX_BITS // 4:
        raise TooLargeError("binomial")
    spend_on_figures(int(small) * int(top).bit_length())
    return Fraction(math.comb(int(top), int(small)))


def _bounded(value: Fraction) -> Fraction:
    bits = max(abs(value.numerator).bit_length(), value.denominator.bit_length())
    if bits > MAX_BITS:
        raise TooLargeError("number")
    spend_on_figures(bits)
    return value


def _total(args: list[Fraction]) -> Fraction:
    total = args[0]
    for arg in args[1:]:  # bounded at every step: the sum of many large fractions grows
        total = _bounded(total + arg)
    return total


def _product(args: list[Fraction]) -> Fraction:
    product = args[0]
    for arg in args[1:]:
        product = _bounded(product * arg)
    return product


def _quotient(args: list[Fraction]) -> Fraction:
    if args[1] == 0:
        raise NotExactError("division by zero")
    return args[0] / args[1]


def _root(base: Fraction, degree: Fraction) -> Fraction:
    index = degree.numerator
    if degree.denominator != 1 or not 1 <= index <= 64 or base.numerator.bit_length() > 20_000:
        raise NotExactError("root")
    sign = -1 if base < 0 else 1
    if sign < 0 and index % 2 == 0:
        raise NotExactError("not real")
    return sign * Fraction(_whole_root(abs(base.numerator), index), _whole_root(base.denominator, index))


def _whole_root(number: int, index: int) -> int:
    root = math.isqrt(number) if index == 2 else _newton(number, index)
    if root**index != number:
        raise NotExactError("irrational root")
    return root


def _newton(number: int, index: int) -> int:
    if number < 2:
        return number
    guess = 1 << -(-number.bit_length() // index)
    while True:
        better = ((index - 1) * guess + number // guess ** (index - 1)) // index
        if better >= guess:
            return guess
        guess = better


def _function(node: Node) -> Fraction:
    args = [fraction(arg) for arg in node.args]
    if node.name == "abs":
        return abs(args[0])
    if node.name in ("floor", "ceil"):
        return Fraction(math.floor(args[0]) if node.name == "floor" else math.ceil(args[0]))
    if node.name in ("max", "min"):
        return max(args) if node.name == "max" else min(args)
    if node.name in ("gcd", "lcm") and all(arg.denominator == 1 for arg in args):
        return Fraction((math.gcd if node.name == "gcd" else math.lcm)(*(arg.numerator for arg in args)))
    raise NotExactError(node.name)


_EXACT: Final[dict[str, Callable[[Node, list[Fraction]], Fraction]]] = {
    "add": lambda _, args: _total(args),
    "mul": lambda _, args: _product(args),
    "div": lambda _, args: _quotient(args),
    "neg": lambda _, args: -args[0],
    "pow": lambda _, args: power(args[0], args[1]),
    "root": lambda _, args: _root(args[1], args[0]),
    "fact": lambda node, args: factorial(args[0], node.name),
    "binom": lambda _, args: binomial(args[0], args[1]),
}


def residue(node: Node, point: int) -> tuple[int, int]:
    """Numerator and denominator of a rational function modulo P at random point number `point`.

    They are not reduced, so that `xy - 1` and `y - 1/x` have the same numerator. Raises `NotExactError` unless the tree
    is a rational function with rational coefficients (in its variables, pi, e and i).
    """
    op, args = node.op, node.args
    if op == "num":
        value = node.value or Fraction(0)
        return value.numerator % P, value.denominator % P
    if op in ("sym", "const"):
        return _unknown(node, point), 1
    if op == "add":
        top, bottom = 0, 1
        for arg in args:
            n, d = residue(arg, point)
            top, bottom = ((top + n) % P, bottom) if d == bottom else ((top * d + n * bottom) % P, bottom * d % P)
        return top, bottom
    if op == "pow":
        return _residue_power(node, point)
    if op not in ("neg", "mul", "div"):
        value = fraction(node)
        return value.numerator % P, value.denominator % P
    n, d = residue(args[0], point)
    if op == "neg":
        return -n % P, d
    for arg in args[1:]:
        m, c = residue(arg, point)
        n, d = (n * m % P, d * c % P) if op == "mul" else (n * c % P, d * m % P)
    return n, d


def _residue_power(node: Node, point: int) -> tuple[int, int]:
    try:
        exponent = whole(node.args[1])
    except NotExactError:
        value = fraction(node)
        return value.numerator % P, value.denominator % P
    if abs(exponent).bit_length() > 64:
        raise TooLargeError("power")
    n, d = residue(node.args[0], point)
    return (pow(n, exponent, P), pow(d, exponent, P)) if exponent >= 0 else (pow(d, -exponent, P), pow(n, -exponent, P))


def _unknown(node: Node, point: int) -> int:
    """A fixed pseudo-random residue for a name, equal in every process, so that verdicts are deterministic."""
    if node.op == "const" and node.name not in ("pi", "e"):
        raise NotExactError(node.name)
    seed = f"{node.op}:{node.name}:{point}".encode()
    return (
        zlib.crc32(seed) << 96 | zlib.crc32(seed + b"a") << 64 | zlib.crc32(seed + b"b") << 32 | zlib.crc32(seed + b"c")
    ) % P
