"""Compares infinite families of numbers over the integers, x = pi/4 + k pi, k in Z, with any index name.

Families over Z whose branches are linear in the index are compared as unions of progressions; other families (over N,
or not linear) branch by branch.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from curate.verify.compare.kinds.outcomes import Sameness, compare_values
from curate.verify.compare.kinds.plus_minus import expand_signs
from curate.verify.compare.kinds.progressions import is_multiple_apart, progressions, put, same_progressions
from curate.verify.nodes import Node, symbols
from curate.verify.values.equality import equal

_INDEX_SETS: Final = ("Z", "N", "Z+", "N+")
_INDEX_NAMES: Final = frozenset("knmlpjqN")


class Family(NamedTuple):
    """Branches as trees in one index, and the set of the index."""

    branches: tuple[Node, ...]
    index_name: str
    over: str
    label: str


def family(node: Node) -> Family | None:
    """Parse a family: a list of statements, one of which declares an integer index; None if none does."""
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
        if (statement.op == "rel" and not is_named) or (is_named and statement.args[0].op not in ("sym", "fn")):
            return None  # 2x = k pi is not solved, "not x" no unknown
        label = statement.args[0].name if is_named else label
        branches.extend(expand_signs(statement.args[-1] if is_named else statement))
    if not all(index in symbols(branch) for branch in branches) or not branches:
        return None
    return Family(tuple(branches), index, over.args[1].name, label)


def without_index_set(node: Node, other: Family) -> Family | None:
    """Parse a family without an index set, such as pi/3 + 2 pi k, with the index set of the other family."""
    free = symbols(node) - ({other.label} if other.label else {"x", "theta"})
    if len(free) != 1 or next(iter(free)) not in _INDEX_NAMES:
        return None
    index_set = Node("in", (Node("sym", (), None, next(iter(free))), Node("const", (), None, other.over)), None, "in")
    return family(Node("list", (node, index_set), None, ","))


def _flat(node: Node) -> tuple[Node, ...]:
    if node.op in ("list", "set"):
        return tuple(inner for arg in node.args for inner in ((arg,) if arg.op == "set" else _flat(arg)))
    if node.op == "paren" and len(node.args) == 2 and _is_index(node.args[1]):
        return node.args  # (x, k in Z)
    return (node,)


def _is_index(node: Node) -> bool:
    return (
        node.op == "in" and node.args[0].op == "sym" and node.args[1].op == "const" and node.args[1].name in _INDEX_SETS
    )


def same_family(a: Family, b: Family) -> Sameness:
    """Whether two families contain the same numbers; unknown if their branches cannot be compared."""
    if a.over != b.over or (a.label and b.label and a.label != b.label):
        return "different"
    if all(len(f.branches) == 1 and f.branches[0].op == "paren" for f in (a, b)):
        return _same_intervals(a, b)
    if a.over == "Z":
        ours = progressions(a.branches, a.index_name)
        theirs = progressions(b.branches, b.index_name) if ours else None
        if ours and theirs:
            return same_progressions(ours, theirs)
    if len(a.branches) != len(b.branches):
        return "unknown"
    renamed = tuple(put(branch, b.index_name, Node("sym", (), None, a.index_name)) for branch in b.branches)
    outcomes = [compare_values(x, y) for x, y in zip(a.branches, renamed, strict=True)]
    if "unknown" in outcomes:
        return "unknown"
    return "different" if "different" in outcomes else "same"


def _same_intervals(a: Family, b: Family) -> Sameness:
    """Whether two periodic intervals are equal: same brackets, same period, ends shifted by the same whole multiple."""
    (x,), (y,) = a.branches, b.branches
    if x.name != y.name or len(x.args) != 2 or len(y.args) != 2 or a.over != "Z":
        return "different"
    ours = progressions(x.args, a.index_name)
    theirs = progressions(y.args, b.index_name)
    if ours is None or theirs is None or len(ours) != 2 or len(theirs) != 2:  # (-1)^k gives four
        return "unknown"
    (low_x, step_x), (high_x, step) = ours
    (low_y, step_y), (high_y, other_step) = theirs
    if not (equal(step_x, step) and equal(step_y, other_step)):
        return "different"  # the intervals grow
    is_same_step = equal(step_x, step_y) or equal(step_x, Node("neg", (step_y,)))
    lengths = [Node("add", (high, Node("neg", (low,)))) for low, high in ((low_x, high_x), (low_y, high_y))]
    is_same = is_same_step and equal(lengths[0], lengths[1]) and is_multiple_apart(low_x, low_y, step_x)
    return "same" if is_same else "different"
