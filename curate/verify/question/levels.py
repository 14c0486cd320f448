"""Measures of the form of an answer: how far a tree is factored, expanded, reduced, rounded.

Each returns a level that an answer needs at least as much of as its truth, or None if the tree has not the form.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import gcd, isqrt
from typing import Final

from curate.verify.nodes import Node, symbols, walk

_MAX_PRIME: Final = 10**10


def _value(node: Node) -> Node:
    """The right side of an equation, without a sign."""
    while (node.op == "rel" and node.name == "=") or node.op == "neg":
        node = node.args[-1]
    return node


def _holds(claim: bool) -> int | None:
    return 0 if claim else None


def factored(node: Node) -> int | None:
    """The number of factors with several terms or a name, with their multiplicity, if one has several terms."""
    node = _value(node)
    factors = _factors(node.args[0] if node.op == "div" else node)
    if len(factors) == 1 and factors[0].op != "pow":
        return None
    has_sum = any(n.op == "add" for factor in factors for n in walk(factor))
    return sum(map(_multiplicity, factors)) or None if has_sum else None


def _factors(node: Node) -> list[Node]:
    if node.op in ("mul", "neg"):
        return [factor for arg in node.args for factor in _factors(arg)]
    return [node]


def _multiplicity(factor: Node) -> int:
    if factor.op == "pow" and factor.args[1].value is not None:
        power = factor.args[1].value
        inside = sum(map(_multiplicity, _factors(factor.args[0])))
        return inside * int(power) if power > 0 and power.denominator == 1 else 0
    return int(factor.op == "sym" or (factor.op == "add" and bool(symbols(factor))))


def expanded(node: Node) -> int | None:
    """Whether no product or power contains a sum."""
    return _holds(not any(_is_product_of_sums(n) for n in walk(_value(node))))


def _is_product_of_sums(node: Node) -> bool:
    if node.op == "mul":
        return any(arg.op == "add" and arg.name == "" for arg in node.args)
    return node.op == "pow" and node.args[0].op == "add" and node.args[1].op == "num"


def reduced(node: Node) -> int | None:
    """Whether every fraction of integers is in lowest terms."""
    return _holds(all(_is_reduced(n) for n in walk(node) if n.op == "div"))


def _is_reduced(fraction: Node) -> bool:
    values = [abs(arg.value) for arg in fraction.args if arg.value is not None]
    if len(values) < len(fraction.args):
        return True
    over, under = values
    return over.denominator == under.denominator == 1 and under != 1 and gcd(int(over), int(under)) == 1


def fraction(node: Node) -> int | None:
    """Whether no number is a decimal or a percentage."""
    return _holds(not any(n.op == "pct" or _is_decimal(n) for n in walk(node)))


def _is_decimal(node: Node) -> bool:
    return node.op == "num" and ("." in node.name or (node.value or 0).denominator != 1)


def mixed(node: Node) -> int | None:
    """Whether a number is mixed: 3 and a half."""
    return _holds(_value(node).name == "mixed")


def scientific(node: Node) -> int | None:
    r"""Whether a number is a figure from 1 to 10 times a power of ten."""
    node = _value(node)
    node = node.args[0] if node.op == "qty" else node
    if node.op == "num":
        digits, mark, _ = node.name.lower().partition("e")
        return _holds(bool(mark) and _is_from_1_to_10(digits))
    factors = _factors(node)
    powers = [factor for factor in factors if factor.op == "pow" and factor.args[0].value == 10]
    others = [factor for factor in factors if factor not in powers]
    is_figure = len(others) <= 1 and all(o.op == "num" and _is_from_1_to_10(o.name) for o in others)
    return _holds(len(powers) == 1 and is_figure)


def _is_from_1_to_10(figure: str) -> bool:
    return re.fullmatch(r"[1-9](?:\.\d*)?", figure) is not None


def prime_factors(node: Node) -> int | None:
    """Whether a number is a product of primes or of powers of primes."""
    factors = _factors(_value(node))
    bases = [factor.args[0] if factor.op == "pow" else factor for factor in factors]
    is_product = len(factors) > 1 or factors[0].op == "pow" or factors[0].op == "num"
    return _holds(is_product and all(base.op == "num" and _is_prime(base) for base in bases))


def _is_prime(node: Node) -> bool:
    value = node.value
    if value is None or value.denominator != 1 or not 2 <= value <= _MAX_PRIME:
        return False
    number = int(value)
    return number == 2 or (number % 2 == 1 and all(number % d for d in range(3, isqrt(number) + 1, 2)))


def decimal(node: Node) -> int | None:
    """Whether a number is written in figures, with or without a unit."""
    return _holds(figure(node) is not None and _value(node).op != "pct")


def places(node: Node) -> int | None:
    """Minus the number of decimal places of a figure: an answer must not have more than the truth."""
    digits = figure(node)
    return None if digits is None else -len(digits.partition(".")[2].rstrip("0"))


def figure(node: Node) -> str | None:
    """The digits of a number, with or without a unit; None for any other tree."""
    node = _value(node)
    while node.op in ("qty", "deg", "pct", "neg"):
        node = node.args[0]
    return node.name if node.op == "num" else None


def percentage(node: Node) -> int | None:
    """Whether a number has a percent sign."""
    return _holds(_value(node).op == "pct")


def per_hundred(truth: Node, answer: Node) -> bool:
    """Whether an answer without a percent sign is the figure in front of it."""
    return figure(answer) is not None and figure(answer) == figure(truth)


def radians(node: Node) -> int | None:
    """Whether no angle has a degree sign."""
    return _holds(not any(n.op == "deg" for n in walk(node)))


def degrees(node: Node) -> int | None:
    """Whether an angle has a degree sign, or at least no pi."""
    return _holds(any(n.op == "deg" for n in walk(node)) or not has_pi(node))


def slope_intercept(node: Node) -> int | None:
    """Whether a line is `y = mx + b`, or its right side alone."""
    if node.op != "rel":
        return _holds(bool(symbols(node)))
    name, value = node.args[0], node.args[-1]
    is_linear = not any(_is_product_of_sums(n) for n in walk(value))
    return _holds(name.op == "sym" and name.name not in symbols(value) and is_linear)


def standard_line(node: Node) -> int | None:
    """Whether a line is `Ax + By = C`."""
    is_rel = node.op == "rel" and not symbols(node.args[-1])
    return _holds(is_rel and len(symbols(node.args[0])) > 1)


def vertex(node: Node) -> int | None:
    """Whether a quadratic has a squared sum or a square, and no other term with the variable."""
    value = _value(node)
    terms = list(value.args) if value.op == "add" else [value]
    with_names = [term for term in terms if symbols(term)]
    squares = [n for term in with_names for n in walk(term) if n.op == "pow"]
    return _holds(len(with_names) == 1 and len(squares) == 1)


def power(node: Node) -> int | None:
    """Whether a number is a power."""
    return _holds(_value(node).op == "pow")


def simple_radical(node: Node) -> int | None:
    """Whether no square factor stands under a root."""
    roots = [n for n in walk(node) if n.op == "root" and n.args[0].value is not None and n.args[1].value is not None]
    return _holds(all(_is_free(int(n.args[1].value or 0), int(n.args[0].value or 2)) for n in roots))


def _is_free(number: int, degree: int) -> bool:
    if not 2 <= degree <= 10 or not 1 < number <= _MAX_PRIME:
        return number > 1
    return all(number % base**degree for base in range(2, min(round(number ** (1 / degree)) + 2, 10**6)))


def rational_denominator(node: Node) -> int | None:
    """Whether no root stands below a fraction line."""
    return _holds(not any(m.op == "root" for n in walk(node) if n.op == "div" for m in walk(n.args[1])))


def rectangular(node: Node) -> int | None:
    """Whether a complex number is `a + bi`: no product of sums, no i in a denominator."""
    is_below = any(has_i(n.args[1]) for n in walk(node) if n.op == "div")
    return _holds(not is_below and not any(_is_product_of_sums(n) for n in walk(node)))


def has_i(node: Node) -> bool:
    """Whether a tree has the imaginary unit."""
    return any(n.op == "const" and n.name == "i" for n in walk(node))


def has(*ops: str) -> Callable[[Node], bool]:
    """Whether a tree has a node of one of these operations."""
    return lambda node: any(n.op in ops for n in walk(node))


def has_point(node: Node) -> bool:
    """Whether a tree has a decimal."""
    return any(n.op == "num" and "." in n.name for n in walk(node))


def has_pi(node: Node) -> bool:
    """Whether a tree has the constant pi."""
    return any(n.op == "const" and n.name == "pi" for n in walk(node))
