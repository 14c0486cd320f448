"""Decides equality of two values, cheapest proof first: fractions, identity modulo a prime, hundreds of digits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from typing import Final, Literal

from curate.verify.nodes import Node, TooLargeError, rename, symbols, walk
from curate.verify.values.exact import NotExactError, P, fraction, residue
from curate.verify.values.numeric import approximate, is_identity

Proof = Literal["exact", "symbolic", "numeric"]
_NUM_POINTS: Final = 3
_FLOAT_DIGITS: Final = 16  # of a float that shows rounding: 0.7000000000000001, 33.333333333333336
_MAX_FLOAT: Final = 10**12
_ULPS: Final = 4
_CAPITALS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")  # AB and AC are segments
_VARIABLES: Final = frozenset("xtuyzsr")  # of an integral
_MAX_CONSTANTS: Final = 3
_CONSTANTS: Final = frozenset(["C", "K", "c", "k", "A", "B", *(f"{c}_{i}" for c in "CcKk" for i in range(1, 5))])


def equal(a: Node, b: Node) -> Proof | bool | None:
    """The proof that two values are equal; False if they differ; None if this arithmetic cannot decide.

    a: the ground truth, which alone may be a float with its rounding.

    Raises `TooLargeError` if a value exceeds the limits, and `UnreadableError` if a node has no value at all.
    """
    if a == b:
        return "exact"
    if _is_infinite(a) or _is_infinite(b):
        return False  # equal infinities are equal trees
    names_a, names_b = symbols(a), symbols(b)
    if not names_a and not names_b and (outcome := _equal_fractions(a, b)) is not None:
        return outcome
    if names_a != names_b:
        b = _renamed(_with_unit(b, a, names_b - names_a), names_a, names_b)
    outcome = _equal_expressions(a, b)
    if outcome is False and _differ_by_a_constant(a, b):
        return "numeric"
    others = () if outcome else _with_other_constants(b, names_a, names_b)
    return next((found for other in others if (found := _equal_expressions(a, other))), outcome)


def _differ_by_a_constant(a: Node, b: Node) -> bool:
    """Whether two antiderivatives in one variable, each `... + C`, are the same: -cos(2x)/2 + C and sin^2 x + C."""
    parts = [_without_constant(node) for node in (a, b)]
    if parts[0] is None or parts[1] is None or symbols(parts[0]) != symbols(parts[1]):
        return False
    variables = symbols(parts[0])
    if len(variables) != 1 or not variables <= _VARIABLES:
        return False
    (name,) = variables
    first, second = (
        Node("add", (part, Node("neg", (rename(part, {name: f"{name}_0"}),)))) for part in parts if part is not None
    )
    return is_identity(first, second) is True


def _without_constant(node: Node) -> Node | None:
    """A sum without its constant of integration; None if it has none."""
    if node.op != "add":
        return None
    rest = tuple(arg for arg in node.args if not (arg.op == "sym" and arg.name in ("C", "c")))
    if len(rest) != len(node.args) - 1 or not rest or {"C", "c"} & {n for arg in rest for n in symbols(arg)}:
        return None
    return rest[0] if len(rest) == 1 else Node("add", rest)


def _equal_expressions(a: Node, b: Node) -> Proof | bool | None:
    if (outcome := _equal_functions(a, b)) is not None:
        return outcome
    agreed = is_identity(a, b)
    return "numeric" if agreed else agreed


def _is_infinite(node: Node) -> bool:
    return any(n.op == "const" and n.name == "infty" for n in walk(node))


def _equal_fractions(a: Node, b: Node) -> Proof | bool | None:
    values: list[Fraction] = []
    for node in (a, b):
        try:
            values.append(fraction(node))
        except NotExactError:
            return None
    if values[0] == values[1]:
        return "exact"
    return "numeric" if _are_one_float(*values) else False


def _are_one_float(written: Fraction, other: Fraction) -> bool:
    """Whether a value is the shortest text of a float, with 15 digits or more, and the other is next to that float."""
    if not written.denominator > 10**_FLOAT_DIGITS // 10**9 or abs(written) > _MAX_FLOAT:
        return False
    nearest = float(written)
    text = repr(nearest)
    num_digits = len(text.partition("e")[0].replace(".", "").lstrip("-0"))
    if num_digits < _FLOAT_DIGITS or Fraction(text) != written:
        return False
    return abs(other - Fraction(nearest)) <= _ULPS * Fraction(math.ulp(nearest))


def _equal_functions(a: Node, b: Node) -> Proof | bool | None:
    """Compare two rational functions by cross-multiplication of their residues at random points."""
    try:
        for point in range(_NUM_POINTS):
            n, d = residue(a, point)
            m, c = residue(b, point)
            if d == 0 or c == 0:
                return None
            if n * c % P != m * d % P:
                return False
    except NotExactError:
        return None
    return "symbolic"


def _with_unit(b: Node, a: Node, extra: frozenset[str]) -> Node:
    """`b` with the letter I read as the imaginary unit if only `a` has one."""
    if extra != {"I"} or all(n.name != "i" for n in walk(a) if n.op == "const"):
        return b
    return _put_unit(b)


def _put_unit(node: Node) -> Node:
    if node.op == "sym" and node.name == "I":
        return Node("const", (), None, "i")
    return node._replace(args=tuple(_put_unit(arg) for arg in node.args)) if node.args else node


def _renamed(b: Node, names_a: frozenset[str], names_b: frozenset[str]) -> Node:
    """`b` with the constant of integration or the case of the variable of `a`: x^2 + K for x^2 + C, X for x."""
    only_a, only_b = names_a - names_b, names_b - names_a
    if len(only_a) == len(only_b) == 1 and names_a & names_b - _CAPITALS and _are_arbitrary(only_a | only_b):
        return rename(b, {next(iter(only_b)): next(iter(only_a))})
    if len(names_a) == len(names_b) == 1 and {name.lower() for name in names_b} == names_a and "i" not in names_a:
        return rename(b, {name: name.lower() for name in names_b})
    return b


def _are_arbitrary(names: frozenset[str]) -> bool:
    """Whether all names are constants of integration; c and k alone may be given in the problem."""
    return names <= _CONSTANTS and not names <= {"c", "k"}


def _with_other_constants(b: Node, names_a: frozenset[str], names_b: frozenset[str]) -> Iterator[Node]:
    """`b` with its arbitrary constants renamed as in `a`, in every order: Ax + B/x for C_1 x + C_2/x."""
    ours, theirs = (sorted(n for n in names if n in _CONSTANTS) for names in (names_a, names_b))
    if ours == theirs:  # A and B may be given in the problem; numbered constants are arbitrary
        ours = theirs = [name for name in ours if "_" in name]
    if not 2 <= len(ours) == len(theirs) <= _MAX_CONSTANTS or (ours != theirs and {*ours} & {*theirs}):
        return
    for order in permutations(ours):
        yield rename(b, dict(zip(theirs, order, strict=True)))


def rounds_to(value: Node, decimal: Node, *, min_places: int) -> bool:
    """Whether `decimal`, a literal of at least `min_places` decimals, is `value` rounded (half up or half even)."""
    places = len(decimal.name.partition(".")[2]) if decimal.op == "num" and "e" not in decimal.name.lower() else 0
    if places < min_places or decimal.value is None or decimal.value == 0:
        return False
    half = Fraction(1, 2 * 10**places)
    exact = value_of(value)
    return exact is not None and exact != decimal.value and abs(exact - decimal.value) <= half


def value_of(value: Node) -> Fraction | None:
    """The value of a constant, to double precision if irrational; None if it has no finite value."""
    try:
        return fraction(value)
    except TooLargeError:
        return None
    except NotExactError:
        pass
    number = approximate(value)
    return None if number is None or number in (float("inf"), float("-inf")) or number != number else Fraction(number)
