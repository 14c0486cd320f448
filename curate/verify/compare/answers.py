"""Two parsed answers: which kind of thing are they, and are they the same?

Order of the questions: family over the integers, set of reals, named value (`x=5`), relation, collection, matrix,
words, value. Lists that offer several values for one (`5 or 6`) are wrong, with the reason, unless all are right.
"""

from __future__ import annotations

from typing import Final

from curate.verify.compare import collections as gathered
from curate.verify.compare import families, intervals, matrices, relations
from curate.verify.compare.named_values import (
    both_signs,
    false_chain,
    is_equation,
    named,
    same_name,
    settled,
    sought,
    with_argument_of,
)
from curate.verify.compare.single_values import Rules, single
from curate.verify.nodes import Node, UnreadableError, symbols, walk
from curate.verify.values.equality import Proof
from curate.verify.verdict import Decision, correct, undecided, wrong
from curate.verify.vocabulary.words import means_infinitely_many, named_set

_LETTER_R: Final = Node("sym", (), None, "R")
_INFTY: Final = Node("const", (), None, "infty")


def compare(truth: Node, answer: Node, rules: Rules) -> Decision:
    """Decide whether two trees are the same answer; raises `TooLargeError` and `UnreadableError`."""
    truth, answer = _as_set(truth), _as_set(answer)
    if truth == answer:
        return correct("exact", "exact")
    truth, answer = _reals(truth, answer), _reals(answer, truth)
    truth, answer = _infinite(truth, answer), _infinite(answer, truth)
    if truth == answer:
        return correct("exact", "exact")
    if answer.op == "text" and any(n.name == "ldots" for n in walk(truth)):
        return undecided("unparseable_answer", "text")  # words for what the dots stand for
    if "cases" in (truth.op, answer.op):
        return _cases(truth, answer, rules)
    decision = _families(truth, answer)
    return _statements(truth, answer, rules) if decision is None else decision


def _statements(truth: Node, answer: Node, rules: Rules) -> Decision:
    """Sets, equations and collections, in this order."""
    if (relabelled := _unlabelled(truth, answer)) != (truth, answer):
        return _sets(*relabelled, rules) if relabelled else wrong("different", "set")
    if intervals.is_set_like(truth) or (intervals.is_set_like(answer) and not is_equation(truth)):
        return _sets(truth, answer, rules)
    truth, answer = settled(truth), settled(answer)
    if {truth.op, answer.op} != {"rel"}:
        truth, answer = both_signs(truth), both_signs(answer)
    if (false := false_chain(answer)) is not None:
        return false
    if not is_equation(truth):
        answer = sought(answer)
    if is_equation(truth) or is_equation(answer):
        return _equations(truth, answer, rules)
    return _collections(truth, answer, rules)


def _as_set(node: Node) -> Node:
    """Words that name a set: all real numbers, no solution."""
    name = named_set(node.name) if node.op == "text" else None
    if name is None:
        return node
    return Node("set") if name == "empty" else Node("const", (), None, name)


def _reals(node: Node, other: Node) -> Node:
    """The letter R as the real numbers, where the other side is a set."""
    return intervals.REALS if node == _LETTER_R and intervals.is_set_like(other) else node


def _infinite(node: Node, other: Node) -> Node:
    """The words "infinitely many" as the sign for it, where the other side has the sign."""
    return other if other == _INFTY and node.op == "text" and means_infinitely_many(node.name) else node


def _told(is_equal: bool | None, reason: Proof | str, stage: str) -> Decision:
    if is_equal is None:
        return undecided("unparseable_answer", stage)
    if not is_equal:
        return wrong("different", stage)
    return correct("set" if reason == "set" else "symbolic", stage)


def _unlabelled(truth: Node, answer: Node) -> tuple[Node, Node] | None:
    r"""Both without the name of a set: D=[0,1), A \cap B = \{1\}; None where two names differ."""
    sides = [_named_set(n) for n in (truth, answer)]
    if not any(sides):
        return truth, answer
    values = [side[1] if side else n for side, n in zip(sides, (truth, answer), strict=True)]
    if not any(intervals.is_set_like(value) for value in values):
        return truth, answer
    if sides[0] and sides[1] and sides[0][0] != sides[1][0]:
        return None
    return values[0], values[1]


def _named_set(node: Node) -> tuple[Node, Node] | None:
    if node.op != "rel" or node.name != "=" or node.args[1].op not in ("paren", "set", "union", "cap", "minus", "such"):
        return None
    is_label = node.args[0].op in ("sym", "text", "cap", "union", "minus")
    return (node.args[0], node.args[1]) if is_label else None


# --- families and sets


def _families(truth: Node, answer: Node) -> Decision | None:
    a, b = families.family(truth), families.family(answer)
    if a is None and b is not None:
        a = families.without_index_set(truth, b)
    if a is None:
        return None
    b = b or families.without_index_set(answer, a)
    return _told(families.same_family(a, b), "set", "set") if b else wrong("different", "set")


def _sets(truth: Node, answer: Node, rules: Rules) -> Decision:
    if truth.op == answer.op == "rel" and (same := relations.same_relation(truth, answer)):
        return _told(same, "symbolic", "symbolic")
    try:
        ours = intervals.pieces(truth)
    except UnreadableError:
        return _relation_decision(truth, answer, rules)
    try:
        theirs = intervals.pieces(answer)
    except UnreadableError:
        return wrong("different", "set")
    if (other := _other_variable(truth, answer)) is not None:
        return other
    if intervals.closes_infinity(answer) and not intervals.closes_infinity(truth):
        return wrong("different", "set")
    if not ours and truth.op == answer.op == "paren":  # (2,2) is a point, and [2,2) is none
        return gathered.tuples(truth, answer, rules, compare)
    return _told(intervals.same_set(ours, theirs), "set", "set")


def _other_variable(truth: Node, answer: Node) -> Decision | None:
    names = [frozenset(symbols(node)) for node in (truth, answer)]
    are_named = all(node.op in ("rel", "in", "list") for node in (truth, answer)) and all(names)
    if (are_named and names[0] != names[1]) or len(names[1]) > max(len(names[0]), 1):
        return wrong("different", "set")
    return None


def _relation_decision(truth: Node, answer: Node, rules: Rules, *, is_turned: bool = False) -> Decision:
    if truth.op == answer.op == "rel":
        if truth.name == answer.name and len(truth.args) == len(answer.args):
            sides = [_collections(t, a, rules) for t, a in zip(truth.args, answer.args, strict=True)]
            if all(side.verdict == "correct" for side in sides):
                return correct("symbolic", "symbolic")
        if len(truth.args) > 2:
            is_same = not is_turned and _relation_decision(truth, relations.turned(answer), rules, is_turned=True)
            return is_same or wrong("different", "symbolic")
        return _told(relations.same_relation(truth, answer), "symbolic", "symbolic")
    if truth.op == answer.op == "list" and len(truth.args) == len(answer.args):
        return gathered.matched(truth.args, answer.args, rules, compare)
    if truth.op == answer.op and truth.op in ("in", "union", "cap", "minus") and len(truth.args) == len(answer.args):
        parts = [compare(t, a, rules) for t, a in zip(truth.args, answer.args, strict=True)]
        return next((part for part in parts if part.verdict != "correct"), parts[0])
    return wrong("different", "set")


# --- equations and named values


def _equations(truth: Node, answer: Node, rules: Rules) -> Decision:
    answer = with_argument_of(truth, answer)
    (name_t, value_t), (name_a, value_a) = named(truth), named(answer)
    if truth.op == answer.op == "rel" and (same := relations.same_relation(truth, answer)):
        return _told(same, "symbolic", "symbolic")
    if name_t is not None and name_a is not None:
        if not same_name(name_t, name_a):
            return wrong("different", "symbolic")
        return _collections(value_t, value_a, rules)
    if name_t is None and is_equation(value_t):
        return _relation_decision(truth, answer, rules) if answer.op == "rel" else wrong("different", "symbolic")
    if name_a is None and is_equation(value_a):
        return wrong("different", "symbolic")
    return _collections(value_t, value_a, rules)


# --- collections and single values


def _collections(truth: Node, answer: Node, rules: Rules) -> Decision:
    if gathered.other_names(truth, answer):
        return wrong("different", "set")
    truth, answer = gathered.spread(_listed(truth)), gathered.spread(_listed(answer))
    truth, answer = _point(truth, answer), _point(answer, truth)
    kinds = (truth.op, answer.op)
    if matrices.is_matrix(truth) or matrices.is_matrix(answer) or _is_vector(truth, answer):
        return matrices.matrices(truth, answer, rules, compare)
    if kinds == ("paren", "paren"):
        return gathered.tuples(truth, answer, rules, compare)
    if not {*gathered.GROUPS} & {*kinds}:
        return _single(truth, answer, rules)
    if answer.op not in gathered.GROUPS and (whole := gathered.added(truth)) is not None:
        return _single(whole, answer, rules)
    if truth.op not in gathered.GROUPS:
        return gathered.many_for_one(truth, answer, rules, _single)
    if answer.op not in gathered.GROUPS:
        if truth.op == "set" and truth.args:
            return gathered.as_sets(truth.args, (answer,), rules, compare)
        return wrong("different", "set") if truth.op != "text" else _single(truth, answer, rules)
    return gathered.groups(truth, answer, rules, compare)


def _listed(node: Node) -> Node:
    r"""The set behind `x \in \{1,2\}`: a membership in listed values names each of them."""
    if node.op == "in" and node.name == "in" and node.args[1].op == "set" and node.args[0].op in ("sym", "paren"):
        return node.args[1]
    return node


def _point(node: Node, other: Node) -> Node:
    """The coordinates of P(4,-3) where the other side is a tuple; else P(10,3) counts ordered choices."""
    if node.op == "binom" and other.op == "paren":
        return Node("paren", node.args, None, "()")
    if node.op != "mul" or len(node.args) != 2 or node.args[0].op != "sym" or node.args[1].op != "paren":
        return node
    name, pair = node.args
    if other.op in ("paren", "matrix", "list", "set"):
        return pair if name.name[:1].isupper() else node
    if name.name != "P" or len(pair.args) != 2 or any(arg.op != "num" for arg in pair.args):
        return node
    top, bottom = pair.args
    return Node(
        "div", tuple(Node("fact", (arg,), None, "!") for arg in (top, Node("add", (top, Node("neg", (bottom,))))))
    )


def _is_vector(truth: Node, answer: Node) -> bool:
    """Whether one side is a tuple and the other a sum of unit vectors."""
    return any(a.op == "paren" and matrices.is_vector(b) for a, b in ((truth, answer), (answer, truth))) or any(
        n.op == "pow" and n.args[0].op == "paren" for n in (truth, answer)
    )


def _cases(truth: Node, answer: Node, rules: Rules) -> Decision:
    """A function by cases: the same values under the same conditions, in any order."""
    truth, answer = (named(n)[1] if n.op == "rel" else n for n in (truth, answer))
    if truth.op != answer.op or len(truth.args) != len(answer.args):
        return wrong("different", "set")
    left = list(answer.args)
    for value, condition in (row.args for row in truth.args):
        hit = next((row for row in left if _holds(condition, row.args[1], rules)), None)
        if hit is None:
            return undecided("unparseable_answer", "set")
        decision = compare(value, hit.args[0], rules)
        if decision.verdict != "correct":
            return decision
        left.remove(hit)
    return correct("set", "set")


def _holds(truth: Node, answer: Node, rules: Rules) -> bool:
    try:
        return compare(truth, answer, rules).verdict == "correct"
    except UnreadableError:
        return False


def _single(truth: Node, answer: Node, rules: Rules) -> Decision:
    if "rel" not in (truth.op, answer.op):
        return single(truth, answer, rules)
    return wrong("different", "symbolic") if answer.op != "rel" else compare(truth, answer, rules)
