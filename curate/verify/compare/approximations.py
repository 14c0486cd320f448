r"""Judges both sides of an approximation: `1/3 \approx 0.33` is one value, `1/3 \approx 0.5` is two."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Final

from curate.verify.compare.kinds.measures import Measure, measure
from curate.verify.compare.kinds.outcomes import compare_values, is_equal
from curate.verify.compare.named_values import is_name
from curate.verify.nodes import Node, UnreadableError, symbols
from curate.verify.values.equality import value_of
from curate.verify.verdict import Decision, wrong

Powers = tuple[tuple[str, int], ...]
_HALF: Final = Fraction(1, 2)


def false_approximation(node: Node) -> Decision | None:
    """A wrong decision if an approximation in a tree or in its list states two different values; else None."""
    if node.op == "list":
        return next((found for arg in node.args if (found := false_approximation(arg)) is not None), None)
    if node.op != "rel" or "~" not in node.name.split():
        return None
    sides = node.args[1:] if is_name(node.args[0]) or symbols(node.args[0]) else node.args
    for before, after in pairwise(sides):
        if not _is_near(before, after):
            return wrong("multiple_answers", "extract")
    return None


def exact_first(node: Node) -> Node:
    r"""The tree with the exact value first: `\sqrt2/2 \approx 0.707` for `0.707 \approx \sqrt2/2`."""
    if node.op != "rel" or node.name != "~" or not _is_decimal(node.args[0]) or _is_decimal(node.args[1]):
        return node
    return node if symbols(node.args[1]) else node._replace(args=node.args[::-1])


def _is_decimal(node: Node) -> bool:
    return _size(node).op == "num"


def rounded_side(node: Node) -> Node | None:
    r"""The number after the sign in a truth such as `\cos 2 \approx -0.42`; None without one."""
    if node.op != "rel" or node.name.split()[-1] != "~":
        return None
    return None if symbols(node.args[-1]) else node.args[-1]


def _is_near(exact: Node, rounded: Node) -> bool:
    """Whether a side rounds to the other, which may be cut off; sides without a number must be equal."""
    if _is_decimal(exact) and not _is_decimal(rounded):
        exact, rounded = rounded, exact
    try:
        sides = measure(exact), measure(rounded)
        value, other = _in_base_units(sides[0]), _in_base_units(sides[1])
        if value is None or other is None or not _are_of_one_kind(sides[0].unit.powers, sides[1].unit.powers):
            return exact == rounded or is_equal(compare_values(exact, rounded))
    except UnreadableError:
        return exact == rounded
    apart, place = abs(value - other), _last_place(sides[1].value) * _scale(sides[1])
    is_cut_off = abs(other) <= abs(value) and value * other >= 0
    return apart <= place * _HALF or (is_cut_off and apart < place)


def _are_of_one_kind(ours: Powers, theirs: Powers) -> bool:
    return not (ours and theirs) or ours == theirs


def _scale(side: Measure) -> Fraction:
    return side.unit.scale * (Fraction(1, 100) if side.is_percent else 1)


def _in_base_units(side: Measure) -> Fraction | None:
    value = value_of(side.value)
    return None if value is None else value * _scale(side)


def is_as_fine(answer: Node, rounded: Node) -> bool:
    """Whether an answer is a decimal with as many places as the rounded value of the truth, or more."""
    sizes = [_size(node) for node in (answer, rounded)]
    if any(size.op != "num" for size in sizes):
        return False
    places = [len(size.name.partition(".")[2]) for size in sizes]
    return places[0] >= places[1] > 0


def _size(node: Node) -> Node:
    """The value without its signs."""
    while node.op == "neg":
        node = node.args[0]
    return node


def _last_place(node: Node) -> Fraction:
    """The unit of the last figure of a decimal, or of the last but zeros of a whole number; 1/100 for other values."""
    node = _size(node)
    if node.op != "num" or not node.name:
        return Fraction(1, 100)
    whole, _, places = node.name.lower().partition("e")[0].partition(".")
    if "e" in node.name.lower():
        return abs(node.value or Fraction(1)) / 100
    if places or "." in node.name:
        return Fraction(1, 10 ** len(places))
    return Fraction(10 ** (len(whole) - len(whole.rstrip("0"))))
