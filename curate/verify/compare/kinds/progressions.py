"""Finds arithmetic progressions a + b k over all integers k in expressions, and compares unions of them.

Two unions are equal if they contain the same residues modulo a common period. Every result is proven on trees; floating
point only proposes candidates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Final, NamedTuple

from curate.verify.compare.kinds.outcomes import Sameness
from curate.verify.nodes import Node, UnreadableError, num, symbols, walk
from curate.verify.values.equality import equal
from curate.verify.values.exact import NotExactError, whole
from curate.verify.values.numeric import approximate

_MAX_RESIDUES: Final = 200
_CLEARLY: Final = 1e-6
_MINUS_ONE: Final = (Node("neg", (num(1, "1"),)), num(-1))


class Progression(NamedTuple):
    """The numbers start + k step."""

    start: Node
    step: Node


def progressions(branches: Sequence[Node], index: str) -> list[Progression] | None:
    """The progression of each branch, two for a branch with (-1)^n (n even, n odd); None unless all are linear."""
    found = []
    for branch in branches:
        if symbols(branch) != {index}:
            return None
        for part in _by_parity(branch, index):
            line = _progression(part, index)
            if line is None:
                return None
            found.append(line)
    return found


def put(node: Node, name: str, value: Node) -> Node:
    """The tree with a variable replaced."""
    if node.op == "sym" and node.name == name:
        return value
    return node._replace(args=tuple(put(arg, name, value) for arg in node.args)) if node.args else node


def same_progressions(a: list[Progression], b: list[Progression]) -> Sameness:
    """Whether two unions of progressions contain the same numbers; unknown if the steps are incommensurable."""
    if _has_stranger(a, b) or _has_stranger(b, a):
        return "different"
    unit = a[0].step
    try:
        steps = [abs(_ratio(line.step, unit)) for line in (*a, *b)]
        period = Fraction(1)
        for step in steps:
            period = _lcm(period, step)
        ours, theirs = _residues(a, steps[: len(a)], period), _residues(b, steps[len(a) :], period)
    except UnreadableError:
        return "unknown"
    modulus = Node("mul", (unit, num(period)))
    is_same = all(any(is_multiple_apart(x, y, modulus) for y in theirs) for x in ours) and all(
        any(is_multiple_apart(x, y, modulus) for x in ours) for y in theirs
    )
    return "same" if is_same else "different"


def is_multiple_apart(x: Node, y: Node, modulus: Node) -> bool:
    """Whether x - y is a whole multiple of the modulus."""
    quotient = Node("div", (Node("add", (x, Node("neg", (y,)))), modulus))
    about = approximate(quotient)
    if about is None or math.isinf(about) or abs(about - round(about)) > 1e-9:
        return False
    return bool(equal(quotient, num(round(about))))


def _progression(branch: Node, index: str) -> Progression | None:
    start, one, two = (put(branch, index, num(k)) for k in (0, 1, 2))
    step = Node("add", (one, Node("neg", (start,))))
    if not equal(Node("add", (two, Node("neg", (one,)))), step) or equal(step, num(0)):
        return None
    return Progression(start, step)


def _by_parity(branch: Node, index: str) -> list[Node]:
    """The branch for an even and for an odd index if it has (-1)^n; else the branch alone."""
    if not any(_is_alternating(n, index) for n in walk(branch)):
        return [branch]
    doubled = Node("mul", (num(2), Node("sym", (), None, index)))
    return [put(_signed_by(branch, index, parity), index, Node("add", (doubled, num(parity)))) for parity in (0, 1)]


def _is_alternating(node: Node, index: str) -> bool:
    return node.op == "pow" and node.args[0] in _MINUS_ONE and symbols(node.args[1]) == {index}


def _signed_by(node: Node, index: str, parity: int) -> Node:
    """The tree with (-1)^(...) evaluated for an index of this parity; unchanged if both signs occur."""
    if _is_alternating(node, index):
        try:
            first, second = (whole(put(node.args[1], index, num(k))) for k in (parity, parity + 2))
        except NotExactError:
            return node
        return num(1 if first % 2 == 0 else -1) if (second - first) % 2 == 0 else node
    return node._replace(args=tuple(_signed_by(arg, index, parity) for arg in node.args)) if node.args else node


def _has_stranger(a: list[Progression], b: list[Progression]) -> bool:
    """Whether one of the first values of `a` is certainly none of `b`'s."""
    firsts = [Node("add", (start, Node("mul", (step, num(k))))) for start, step in a for k in (0, 1)]
    return any(all(_is_apart(x, line) for line in b) for x in firsts)


def _is_apart(x: Node, line: Progression) -> bool:
    about = approximate(Node("div", (Node("add", (x, Node("neg", (line.start,)))), line.step)))
    return about is not None and math.isfinite(about) and abs(about - round(about)) > _CLEARLY


def _residues(lines: list[Progression], steps: list[Fraction], period: Fraction) -> list[Node]:
    """One start for each residue class modulo the period."""
    found = []
    for (start, step), size in zip(lines, steps, strict=True):
        num_steps = int(period / size)
        if num_steps * len(lines) > _MAX_RESIDUES:
            raise UnreadableError("too many residues")
        found += [Node("add", (start, Node("mul", (step, num(k))))) for k in range(num_steps)]
    return found


def _lcm(a: Fraction, b: Fraction) -> Fraction:
    return Fraction(lcm(a.numerator, b.numerator), gcd(a.denominator, b.denominator))


def _ratio(value: Node, unit: Node) -> Fraction:
    """The quotient value / unit, proven to be a rational number with a small denominator; else raises."""
    quotient = Node("div", (value, unit))
    about = approximate(quotient)
    if about is None or not math.isfinite(about):
        raise UnreadableError("start and step")
    guess = Fraction(about).limit_denominator(10_000)
    if not equal(quotient, num(guess)):
        raise UnreadableError("start and step are incommensurable")
    return guess
