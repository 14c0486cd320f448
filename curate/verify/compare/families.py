"""Infinite families of numbers over the integers: x = pi/4 + k pi, k in Z, whatever the index is called.

Each branch a + b k is linear in its index. Two unions of branches over Z are equal when they hold the same residues
modulo a common period; other families (over N, or not linear) are compared value by value from their start.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm
from typing import Final, NamedTuple

from curate.verify.nodes import Node, UnreadableError, num, symbols, walk
from curate.verify.values.equality import equal
from curate.verify.values.exact import NotExactError, whole
from curate.verify.values.numeric import approximate

_INDEX_SETS: Final = ("Z", "N", "Z+", "N+")
_INDEX_NAMES: Final = frozenset("knmlpjqN")
_MAX_RESIDUES: Final = 200
_CLEARLY: Final = 1e-6
_MINUS_ONE: Final = (Node("neg", (num(1, "1"),)), num(-1))


class Family(NamedTuple):
    """Branches as trees in one index, and the set the index runs over."""

    branches: tuple[Node, ...]
    index_name: str
    over: str
    label: str


def family(node: Node) -> Family | None:
    """Read a family: statements of which one says that an index is an integer; None where none does."""
    if node.op == "such":
        named = () if node.args[0].op == "sym" else _flat(node.args[0])
        node = Node("list", (*named, *_flat(node.args[1])), None, ",")
    statements = _flat(node)
    over = next((s for s in statements if _is_index(s)), None)
    if over is None or len(statements) < 2:
        return None
    index = over.args[0].name
    branches, label = [], ""
    for statement in statements:
        if statement is over or (statement.op == "in" and statement.args[0].name != index):
            continue
        is_named = statement.op == "rel" and statement.name == "="
        label = statement.args[0].name if is_named else label
        branches.extend(expand_signs(statement.args[-1] if is_named else statement))
    if not all(index in symbols(branch) for branch in branches) or not branches:
        return None
    return Family(tuple(branches), index, over.args[1].name, label)


def without_index_set(node: Node, other: Family) -> Family | None:
    """Read a family that says nothing of its index, as the other one does: pi/3 + 2 pi k."""
    free = symbols(node) - ({other.label} if other.label else {"x", "theta"})
    if len(free) != 1 or next(iter(free)) not in _INDEX_NAMES:
        return None
    said = Node("in", (Node("sym", (), None, next(iter(free))), Node("const", (), None, other.over)), None, "in")
    return family(Node("list", (node, said), None, ","))


def _flat(node: Node) -> tuple[Node, ...]:
    if node.op in ("list", "set"):
        return tuple(inner for arg in node.args for inner in _flat(arg))
    if node.op == "paren" and len(node.args) == 2 and _is_index(node.args[1]):
        return node.args  # (x, k in Z)
    return (node,)


def _is_index(node: Node) -> bool:
    return (
        node.op == "in" and node.args[0].op == "sym" and node.args[1].op == "const" and node.args[1].name in _INDEX_SETS
    )


def same_family(a: Family, b: Family) -> bool | None:
    """Whether two families hold the same numbers; None where their branches can't be compared."""
    if a.over != b.over or (a.label and b.label and a.label != b.label):
        return False
    if all(len(f.branches) == 1 and f.branches[0].op == "paren" for f in (a, b)):
        return _same_intervals(a, b)
    if a.over == "Z" and (lines := _lines(a)) and (others := _lines(b)):
        return _same_residues(lines, others)
    if len(a.branches) != len(b.branches):
        return None
    renamed = tuple(_put(branch, b.index_name, Node("sym", (), None, a.index_name)) for branch in b.branches)
    outcomes = [equal(x, y) for x, y in zip(a.branches, renamed, strict=True)]
    return None if None in outcomes else all(outcomes)


def _same_intervals(a: Family, b: Family) -> bool | None:
    """Whether two periodic intervals are one: same brackets, same period, ends apart by the same whole shift."""
    (x,), (y,) = a.branches, b.branches
    if x.name != y.name or len(x.args) != 2 or len(y.args) != 2 or a.over != "Z":
        return False
    ends = [_lines(f._replace(branches=f.branches[0].args)) for f in (a, b)]
    if ends[0] is None or ends[1] is None:
        return None
    (low_x, step_x), (high_x, step), (low_y, step_y), (high_y, other_step) = *ends[0], *ends[1]
    if not (equal(step_x, step) and equal(step_y, other_step)):
        return False  # the intervals grow
    is_same_step = equal(step_x, step_y) or equal(step_x, Node("neg", (step_y,)))
    lengths = [Node("add", (high, Node("neg", (low,)))) for low, high in ((low_x, high_x), (low_y, high_y))]
    return bool(is_same_step and equal(lengths[0], lengths[1])) and _is_whole(low_x, low_y, step_x)


def _put(node: Node, name: str, value: Node) -> Node:
    if node.op == "sym" and node.name == name:
        return value
    return node._replace(args=tuple(_put(arg, name, value) for arg in node.args)) if node.args else node


def _lines(f: Family) -> list[tuple[Node, Node]] | None:
    """(start, step) of each branch, where all are linear in the index; one with (-1)^n is two, n even and n odd."""
    lines = []
    for branch in f.branches:
        if symbols(branch) != {f.index_name}:
            return None
        for part in _by_parity(branch, f):
            line = _line(part, f.index_name)
            if line is None:
                return None
            lines.append(line)
    return lines


def _line(branch: Node, index: str) -> tuple[Node, Node] | None:
    start, one, two = (_put(branch, index, num(k)) for k in (0, 1, 2))
    step = Node("add", (one, Node("neg", (start,))))
    if not equal(Node("add", (two, Node("neg", (one,)))), step) or equal(step, num(0)):
        return None
    return start, step


def _by_parity(branch: Node, f: Family) -> list[Node]:
    if f.over != "Z" or not any(_is_alternating(n, f.index_name) for n in walk(branch)):
        return [branch]
    index = Node("sym", (), None, f.index_name)
    return [
        _put(
            _signed_by(branch, f.index_name, parity),
            f.index_name,
            Node("add", (Node("mul", (num(2), index)), num(parity))),
        )
        for parity in (0, 1)
    ]


def _is_alternating(node: Node, index: str) -> bool:
    return node.op == "pow" and node.args[0] in _MINUS_ONE and symbols(node.args[1]) == {index}


def _signed_by(node: Node, index: str, parity: int) -> Node:
    """The tree with (-1)^(...) worked out for an index of this parity; left alone where both signs occur."""
    if _is_alternating(node, index):
        try:
            first, second = (whole(_put(node.args[1], index, num(k))) for k in (parity, parity + 2))
        except NotExactError:
            return node
        return num(1 if first % 2 == 0 else -1) if (second - first) % 2 == 0 else node
    return node._replace(args=tuple(_signed_by(arg, index, parity) for arg in node.args)) if node.args else node


def _same_residues(a: list[tuple[Node, Node]], b: list[tuple[Node, Node]]) -> bool | None:
    if _has_stranger(a, b) or _has_stranger(b, a):
        return False
    unit = a[0][1]
    try:
        steps = [abs(_ratio(step, unit)) for _, step in (*a, *b)]
        period = Fraction(1)
        for step in steps:
            period = _lcm(period, step)
        ours, theirs = _residues(a, steps[: len(a)], period), _residues(b, steps[len(a) :], period)
    except UnreadableError:
        return None
    modulus = Node("mul", (unit, num(period)))
    return all(any(_is_whole(x, y, modulus) for y in theirs) for x in ours) and all(
        any(_is_whole(x, y, modulus) for x in ours) for y in theirs
    )


def _has_stranger(a: list[tuple[Node, Node]], b: list[tuple[Node, Node]]) -> bool:
    """Whether one of the first values of `a` is certainly none of `b`'s."""
    firsts = [Node("add", (start, Node("mul", (step, num(k))))) for start, step in a for k in (0, 1)]
    return any(all(_is_apart(x, start, step) for start, step in b) for x in firsts)


def _is_apart(x: Node, start: Node, step: Node) -> bool:
    about = approximate(Node("div", (Node("add", (x, Node("neg", (start,)))), step)))
    return about is not None and abs(about - round(about)) > _CLEARLY


def _residues(lines: list[tuple[Node, Node]], steps: list[Fraction], period: Fraction) -> list[Node]:
    """One start for each residue class modulo the period."""
    found = []
    for (start, step), size in zip(lines, steps, strict=True):
        num_steps = int(period / size)
        if num_steps * len(lines) > _MAX_RESIDUES:
            raise UnreadableError("too many residues")
        found += [Node("add", (start, Node("mul", (step, num(k))))) for k in range(num_steps)]
    return found


def _is_whole(x: Node, y: Node, modulus: Node) -> bool:
    """Whether x - y is a whole multiple of the modulus."""
    quotient = Node("div", (Node("add", (x, Node("neg", (y,)))), modulus))
    about = approximate(quotient)
    if about is None or abs(about - round(about)) > 1e-9:
        return False
    return bool(equal(quotient, num(round(about))))


def _lcm(a: Fraction, b: Fraction) -> Fraction:
    return Fraction(lcm(a.numerator, b.numerator), gcd(a.denominator, b.denominator))


def _ratio(value: Node, unit: Node) -> Fraction:
    """Quotient value / unit, which must be a rational number with a small denominator; proven, not guessed."""
    quotient = Node("div", (value, unit))
    about = approximate(quotient)
    if about is None:
        raise UnreadableError("start and step")
    guess = Fraction(about).limit_denominator(10_000)
    if not equal(quotient, num(guess)):
        raise UnreadableError("start and step are incommensurable")
    return guess


def expand_signs(node: Node) -> list[Node]:
    """All values of an expression with plus-minus signs: each sign is free, and minus-plus is tied to it."""
    signs = [n for n in walk(node) if n.op == "pm"]
    if not signs:
        return [node]
    if len(signs) > 3:
        raise UnreadableError("too many signs")
    if len({n.name for n in signs}) > 1:
        return [_signed(node, plus) for plus in (True, False)]
    expanded = [node]
    for _ in signs:
        expanded = [_signed_first(tree, plus)[0] for tree in expanded for plus in (True, False)]
    return expanded


def _signed(node: Node, plus: bool) -> Node:
    args = tuple(_signed(arg, plus) for arg in node.args)
    if node.op == "pm":
        return args[0] if (node.name == "pm") == plus else Node("neg", args)
    return node._replace(args=args)


def _signed_first(node: Node, plus: bool) -> tuple[Node, bool]:
    """Replace the first plus-minus sign in reading order."""
    if node.op == "pm":
        return (node.args[0] if plus else Node("neg", node.args)), True
    for index, arg in enumerate(node.args):
        replaced, was_found = _signed_first(arg, plus)
        if was_found:
            return node._replace(args=(*node.args[:index], replaced, *node.args[index + 1 :])), True
    return node, False
