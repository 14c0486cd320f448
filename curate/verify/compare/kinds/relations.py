"""Compares equations and inequalities: the same line, circle or plane in another form."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple

from curate.verify.compare.kinds.outcomes import Sameness
from curate.verify.nodes import Node, TooLargeError, UnreadableError, symbols
from curate.verify.values.balls import UndefinedError, is_real, working
from curate.verify.values.evaluator import evaluate
from curate.verify.values.exact import NotExactError, P, residue
from curate.verify.values.numeric import point

_REVERSED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}
_NUM_POINTS: Final = 4
_NUM_SAMPLES: Final = 12
_ENOUGH: Final = 3
_BITS: Final = 200


class _Multiple(NamedTuple):
    """Whether one expression is a constant multiple of another, and the sign of the constant."""

    sameness: Sameness
    is_negative: bool = False


def same_relation(a: Node, b: Node) -> Sameness:
    """Whether two relations of one sign hold at the same points: their differences are constant multiples.

    An inequality also needs the sign of the multiple. Unknown if the expressions cannot be evaluated.
    """
    if len(a.args) != 2 or len(b.args) != 2 or a.name not in _REVERSED or b.name not in _REVERSED:
        return "unknown"
    if symbols(a) != symbols(b) or (b.name != a.name and b.name != _REVERSED[a.name]):
        return "different"
    f, g = (Node("add", (node.args[0], Node("neg", (node.args[1],)))) for node in (a, b))
    if a.name in ("=", "!=") and (outcome := _proportional(f, g)) != "unknown":
        return outcome
    multiple = _constant_multiple(f, g)
    if multiple.sameness != "same" or a.name in ("=", "!="):
        return multiple.sameness
    is_flipped = a.name != b.name
    return "same" if multiple.is_negative == is_flipped else "different"


def _proportional(f: Node, g: Node) -> Sameness:
    """Whether the numerators of two rational functions are constant multiples of each other, modulo P."""
    try:
        pairs = [(residue(f, i)[0], residue(g, i)[0]) for i in range(_NUM_POINTS)]
    except (NotExactError, TooLargeError):
        return "unknown"
    (f0, g0), *others = pairs
    if f0 == 0 or g0 == 0:
        return "unknown"
    return "same" if all(f0 * gi % P == fi * g0 % P for fi, gi in others) else "different"


def _constant_multiple(f: Node, g: Node) -> _Multiple:
    """Compare f/g at several points; unknown if it cannot be evaluated at three of them, or is complex."""
    names, ratios = symbols(f) | symbols(g), []
    with working(_BITS):
        for number in range(_NUM_SAMPLES):
            values = point(names, number, is_whole=False)
            try:
                x, y = evaluate(f, values), evaluate(g, values)
            except UndefinedError:
                continue
            except UnreadableError:
                return _Multiple("unknown")
            is_zero = [bool(side.contains(0)) for side in (x, y)]
            if any(is_zero):
                return _Multiple("unknown" if all(is_zero) else "different")
            ratios.append(x / y)
        if len(ratios) < _ENOUGH:
            return _Multiple("unknown")
        if any(not ratio.overlaps(ratios[0]) for ratio in ratios):
            return _Multiple("different")
        if any(not is_real(ratio) for ratio in ratios):
            return _Multiple("unknown")
        return _Multiple("same", bool(ratios[0].real < 0))


def turned(node: Node) -> Node:
    """A chain of relations in reverse order."""
    signs = [_REVERSED.get(sign, sign) for sign in reversed(node.name.split())]
    return Node("rel", node.args[::-1], None, " ".join(signs))


def as_fraction(node: Node) -> Node:
    """A ratio a:b as a quotient, to compare 3:4 with 6:8 and 3/4."""
    if len(node.args) != 2:
        raise UnreadableError("a ratio of three parts")
    return Node("div", node.args)


def as_duration(node: Node) -> Node:
    """A clock time as the time since midnight: 2:45 as 2 h + 45 min."""
    units = ("h", "min", "s")
    return Node("add", tuple(Node("qty", (arg,), None, unit) for arg, unit in zip(node.args, units, strict=False)))


def is_time(node: Node) -> bool:
    """Whether a ratio may be a time of day or a duration: 3:30, 12:05:00; minutes have two figures and are below 60."""
    if node.op != "ratio" or len(node.args) > len(("h", "min", "s")):
        return False
    if any(arg.op != "num" or not arg.name.isdigit() for arg in node.args):
        return False
    hour, *rest = node.args
    return (hour.value or Fraction(0)) <= 24 and all(len(a.name) == 2 and (a.value or Fraction(0)) < 60 for a in rest)
