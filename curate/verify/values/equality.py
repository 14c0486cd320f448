"""Decides equality of two values, cheapest proof first: fractions, identity modulo a prime, hundreds of digits."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from typing import Final, Literal

from curate.verify.nodes import Node, TooLargeError, rename, symbols, walk
from curate.verify.values.exact import NotExactError, P, fraction, residue
from curate.verify.values.numeric import approximate, is_identity

Proof = Literal["exact", "symbolic", "numeric"]
_NUM_POINTS: Final = 3
_CAPITALS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")  # AB and AC are segments
_MAX_CONSTANTS: Final = 3
_CONSTANTS: Final = frozenset(["C", "K", "c", "k", "A", "B", *(f"{c}_{i}" for c in "CcKk" for i in range(1, 5))])


def equal(a: Node, b: Node) -> Proof | bool | None:
    """The proof that two values are equal; False if they differ; None if this arithmetic cannot decide.

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
    others = () if outcome else _with_other_constants(b, names_a, names_b)
    return next((found for other in others if (found := _equal_expressions(a, other))), outcome)


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
    return "exact" if values[0] == values[1] else False


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
