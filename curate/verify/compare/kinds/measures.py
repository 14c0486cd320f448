"""Compares values with their marks: a unit, a currency, a percent sign, a degree sign."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from curate.verify.compare.kinds.outcomes import Equality, compare_values, is_equal
from curate.verify.nodes import Node, UnreadableError, num
from curate.verify.policy import Policy
from curate.verify.vocabulary.units import NO_UNIT, Unit, do_conflict, is_generic, parse_unit, without_rate

_PERCENT_WORDS = frozenset(["percent", "percents", "percentage", "per cent", "percentage point", "percentage points"])
_DEGREE_WORDS = frozenset(["degree", "degrees", "deg", "度"])
_SCALES = {
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "dozen": 12,
    "万": 10**4,
    "亿": 10**8,
}


_PI = Node("const", (), None, "pi")
_RADIAN = (("rad", 1),)


# factor and offset to kelvins
_TEMPERATURES: dict[tuple[tuple[str, int], ...], tuple[Node, Node]] = {
    (("K", 1),): (num(1), num(0)),
    (("degreeC", 1),): (num(1), num(Fraction(27315, 100))),
    (("degreeF", 1),): (num(Fraction(5, 9)), num(Fraction(45967, 180))),
}


class Measure(NamedTuple):
    """A bare value and the marks that were removed from it."""

    value: Node
    unit: Unit = NO_UNIT
    is_percent: bool = False
    is_degree: bool = False


def measure(node: Node) -> Measure:
    """Split off the unit, currency, percent and degree signs of a value; raises `UnreadableError` on two quantities."""
    if node.op == "qty":
        return _quantity(node)
    if node.op == "pct":
        inner = measure(node.args[0])
        if inner.is_percent:
            raise UnreadableError("a percentage of a percentage")
        return inner._replace(is_percent=True)
    if node.op == "deg":
        return measure(node.args[0])._replace(is_degree=True)
    if _is_marked(node):
        return _inside(node)
    return Measure(node)


def on_one_scale(a: Measure, b: Measure) -> tuple[Measure, Measure]:
    """Two temperatures in kelvins, if they are on two scales; other values as they are."""
    if a.unit.powers == b.unit.powers or not {a.unit.powers, b.unit.powers} <= _TEMPERATURES.keys():
        return a, b
    return _in_kelvins(a), _in_kelvins(b)


def _in_kelvins(measured: Measure) -> Measure:
    factor, offset = _TEMPERATURES[measured.unit.powers]
    value = Node("add", (Node("mul", (factor, measured.value)), offset))
    return measured._replace(value=value, unit=measured.unit._replace(powers=(("K", 1),)))


def _is_marked(node: Node) -> bool:
    """Whether a sum or product contains a mark; a mark inside a function, sin 80 degrees, is part of the value."""
    if node.op in ("neg", "add", "mul", "div"):
        return any(_is_marked(arg) for arg in node.args)
    return node.op in ("qty", "pct", "deg")


def _quantity(node: Node) -> Measure:
    inner = measure(node.args[0])
    name = node.name.lower().strip()
    if name in _PERCENT_WORDS:
        return inner._replace(is_percent=True)
    if name in _DEGREE_WORDS:
        return inner._replace(is_degree=True)
    head, _, rest = name.partition(" ")
    if head.rstrip("s") in _SCALES:
        scaled = inner._replace(value=Node("mul", (inner.value, num(_SCALES[head.rstrip("s")]))))
        return scaled._replace(unit=_times(inner.unit, parse_unit(rest))) if rest else scaled
    return inner._replace(unit=_times(inner.unit, parse_unit(node.name)))


def _times(a: Unit, b: Unit) -> Unit:
    powers = dict(a.powers)
    for name, power in b.powers:
        powers[name] = powers.get(name, 0) + power
    return Unit(a.scale * b.scale, tuple(sorted((n, p) for n, p in powers.items() if p)), a.below * b.below)


def _inside(node: Node) -> Measure:
    """Apply a mark inside a sum or product to the whole: -$5, 480 + 480 sqrt 3 feet, 2 hours 30 minutes."""
    parts = [measure(arg) for arg in node.args]
    marked = [part for part in parts if part != Measure(part.value)]
    is_sum_of_units = len(marked) == len(parts) > 1 and node.op in ("mul", "add") and all(p.unit.powers for p in parts)
    if is_sum_of_units:
        return _summed(parts)
    if len(marked) > 1 and node.op != "add":
        raise UnreadableError("several quantities")
    if node.op == "div" and parts[1] != Measure(parts[1].value):
        raise UnreadableError("a unit in the denominator")
    if len({part[1:] for part in marked}) > 1:
        raise UnreadableError("several quantities")
    if node.op == "add" and marked and marked[0].is_percent and len(marked) < len(parts):
        raise UnreadableError("a percentage added to a number")
    whole = marked[0] if marked else Measure(node)
    return whole._replace(value=node._replace(args=tuple(part.value for part in parts)))


def _summed(parts: list[Measure]) -> Measure:
    if len({part.unit.powers for part in parts}) > 1:
        raise UnreadableError("several quantities")
    scaled = tuple(Node("mul", (part.value, num(part.unit.scale))) for part in parts)
    return Measure(Node("add", scaled), Unit(Fraction(1), parts[0].unit.powers))


def with_letter_units(node: Node, wanted: Unit) -> Measure | None:
    """Read letters as units if they match the kind of the other side's unit: 5000 m and 5 km, 6 m/s^2; else None."""
    value, unit = _split(node)
    return Measure(value, unit) if unit.powers == wanted.powers and value is not node else None


def _split(node: Node) -> tuple[Node, Unit]:
    """A value and the unit formed by the letters after it."""
    if node.op == "sym":
        return num(1), parse_unit(node.name)
    if node.op == "pow" and node.args[0].op == "sym" and (power := node.args[1].value) and power.denominator == 1:
        return num(1), parse_unit(f"{node.args[0].name}^{power}")
    if node.op == "mul":
        parts = [_split(arg) for arg in node.args]
        unit = NO_UNIT
        for _, part in parts:
            unit = _times(unit, part)
        return Node("mul", tuple(value for value, _ in parts)), unit
    if node.op == "div":
        (top, unit), (bottom, below) = _split(node.args[0]), _split(node.args[1])
        inverse = Unit(1 / below.scale, tuple((name, -power) for name, power in below.powers))
        return Node("div", (top, bottom)), _times(unit, inverse)
    return node, NO_UNIT


def equal_measures(truth: Measure, answer: Measure, policy: Policy) -> Equality:
    """Compare two values with their marks under the policy; raises what `equal` raises."""
    truth, answer = _in_radians(truth, answer), _in_radians(answer, truth)
    units = without_rate(truth.unit, answer.unit), without_rate(answer.unit, truth.unit)
    truth, answer = truth._replace(unit=units[0]), answer._replace(unit=units[1])
    if _are_of_other_kinds(truth, answer) or do_conflict(truth.unit, answer.unit):
        return "different"
    if policy.units == "required" and bool(truth.unit.powers) != bool(answer.unit.powers):
        return "different"
    a, b = truth.value, answer.value
    are_units = truth.unit.powers and answer.unit.powers and not (is_generic(truth.unit) or is_generic(answer.unit))
    if are_units and truth.unit.scale != answer.unit.scale:
        a, b = Node("mul", (a, num(truth.unit.scale))), Node("mul", (b, num(answer.unit.scale)))
    if truth.is_percent != answer.is_percent:
        return _percent(truth, answer, policy)
    outcome = compare_values(a, b)
    if is_equal(outcome) or truth.is_degree == answer.is_degree:
        return outcome
    return _radians(truth, answer)


def _in_radians(measured: Measure, other: Measure) -> Measure:
    """An angle in radians without its unit, or in degrees if the other side is in degrees."""
    if measured.unit.powers != _RADIAN or other.unit.powers == _RADIAN:
        return measured
    if not other.is_degree:
        return measured._replace(unit=NO_UNIT)
    return Measure(Node("mul", (measured.value, Node("div", (num(180), _PI)))), is_degree=True)


def _are_of_other_kinds(truth: Measure, answer: Measure) -> bool:
    """Whether one is a percentage or an angle and the other has a unit or is of the other kind: 18% is not $18."""
    return any(
        ((a.is_percent or a.is_degree) and b.unit.powers) or (a.is_percent and b.is_degree)
        for a, b in ((truth, answer), (answer, truth))
    )


def _percent(truth: Measure, answer: Measure, policy: Policy) -> Equality:
    hundredth = Fraction(1, 100)
    a, b = (Node("mul", (m.value, num(hundredth))) if m.is_percent else m.value for m in (truth, answer))
    outcome = compare_values(a, b)
    if not is_equal(outcome) and policy.percent == "same_figure":
        return compare_values(truth.value, answer.value)
    return outcome


def _radians(truth: Measure, answer: Measure) -> Equality:
    degree = Node("div", (_PI, num(180)))
    a, b = (Node("mul", (m.value, degree)) if m.is_degree else m.value for m in (truth, answer))
    return compare_values(a, b)
