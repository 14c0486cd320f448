"""Compares two parsed answers by their kind.

The kinds are tried in order: family over the integers, set of reals, named value (`x=5`), relation, collection, matrix,
words, value. A list of several values for one (`5 or 6`) is wrong, with the reason, unless all of them are correct.
"""

from __future__ import annotations

from curate.verify.compare.approximations import exact_first, false_approximation, is_as_fine, rounded_side
from curate.verify.compare.cases import same_cases
from curate.verify.compare.collections import (
    GROUPS,
    added,
    as_sets,
    groups,
    many_for_one,
    matched,
    other_names,
    spread,
    tuples,
)
from curate.verify.compare.kinds import families, intervals, relations
from curate.verify.compare.kinds.outcomes import decision_on
from curate.verify.compare.kinds.set_names import from_words, with_symbols, without_names
from curate.verify.compare.kinds.single_values import Rules, single
from curate.verify.compare.kinds.zero_products import hides_in_zero
from curate.verify.compare.matrices import matrices
from curate.verify.compare.named_values import (
    both_signs,
    false_chain,
    in_fractions,
    is_equation,
    named,
    same_name,
    settled,
    sought,
    with_argument_of,
)
from curate.verify.compare.qualifiers import without_qualifiers
from curate.verify.compare.shapes import are_matrices, listed, point
from curate.verify.nodes import Node, UnreadableError, num, symbols, walk
from curate.verify.verdict import Decision, correct, undecided, wrong


def compare(truth: Node, answer: Node, rules: Rules) -> Decision:
    """Decide whether two trees are the same answer; raises `TooLargeError` and `UnreadableError`."""
    truth, answer = from_words(truth), from_words(answer)
    if truth == answer:
        return correct("exact", "exact")
    truth, answer = without_qualifiers(*with_symbols(truth, answer))
    if truth == answer:
        return correct("exact", "exact")
    if hides_in_zero(answer, truth):
        return wrong("different", "symbolic")
    if answer.op == "text" and any(n.name == "ldots" for n in walk(truth)):
        return undecided("unparseable_answer", "text")  # words in place of the dots
    if any(node.op == "cases" or (node.op == "rel" and node.args[-1].op == "cases") for node in (truth, answer)):
        return same_cases(truth, answer, rules, compare)
    decision = _families(truth, answer)
    return _statements(truth, answer, rules) if decision is None else decision


def _statements(truth: Node, answer: Node, rules: Rules) -> Decision:
    """Sets, equations and collections, in this order."""
    if (unnamed := without_names(truth, answer)) != (truth, answer):
        return _sets(unnamed.truth, unnamed.answer, rules) if unnamed else wrong("different", "set")
    if intervals.is_set_like(truth) or (intervals.is_set_like(answer) and not is_equation(truth)):
        return _sets(truth, answer, rules)
    truth, answer = exact_first(truth), exact_first(answer)
    if (false := false_approximation(answer)) is not None:
        return false
    if false_approximation(truth) is not None:
        return undecided("unparseable_ground_truth", "text")  # 7919 is not about 4: which side is meant?
    rounded = rounded_side(truth)
    truth, answer = settled(truth), settled(answer)
    decision = _settled(truth, answer, rules)
    if rounded is None or decision.verdict == "correct" or truth.op == "rel":
        return decision
    near = _settled(rounded, answer, rules)
    if near.verdict == "correct" or not is_as_fine(answer, rounded):
        return near
    if answer.op == "neg":
        truth, answer = Node("mul", (num(-1), truth)), answer.args[0]
    return _settled(truth, answer, rules._replace(asks_to_round=True))


def _settled(truth: Node, answer: Node, rules: Rules) -> Decision:
    if {truth.op, answer.op} != {"rel"}:
        truth, answer = both_signs(truth), both_signs(answer)
    if (false := false_chain(answer)) is not None:
        return false
    if not is_equation(truth):
        answer = sought(answer)
    if is_equation(truth) or is_equation(answer):
        return _equations(truth, answer, rules)
    return _collections(truth, answer, rules)


# --- families and sets


def _families(truth: Node, answer: Node) -> Decision | None:
    a, b = families.family(truth), families.family(answer)
    if a is None and b is not None:
        a = families.without_index_set(truth, b)
    if a is None:
        return None
    b = b or families.without_index_set(answer, a)
    return decision_on(families.same_family(a, b), "set") if b else wrong("different", "set")


def _sets(truth: Node, answer: Node, rules: Rules) -> Decision:
    if truth.op == answer.op == "rel" and relations.same_relation(truth, answer) == "same":
        return correct("symbolic", "symbolic")
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
    if not ours and truth.op == answer.op == "paren":  # (2,2) is a point, [2,2) is not
        return tuples(truth, answer, rules, compare)
    return decision_on(intervals.same_set(ours, theirs), "set")


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
        return decision_on(relations.same_relation(truth, answer), "symbolic")
    if truth.op == answer.op == "list" and len(truth.args) == len(answer.args):
        return matched(truth.args, answer.args, rules, compare)
    if truth.op == answer.op and truth.op in ("in", "union", "cap", "minus") and len(truth.args) == len(answer.args):
        parts = [compare(t, a, rules) for t, a in zip(truth.args, answer.args, strict=True)]
        return next((part for part in parts if part.verdict != "correct"), parts[0])
    return wrong("different", "set")


# --- equations and named values


def _equations(truth: Node, answer: Node, rules: Rules) -> Decision:
    answer = with_argument_of(truth, answer)
    (name_t, value_t), (name_a, value_a) = named(truth), named(answer)
    if truth.op == answer.op == "rel" and _same_relation(truth, answer):
        return correct("symbolic", "symbolic")
    if name_t is not None and name_a is not None:
        if not same_name(name_t, name_a):
            return wrong("different", "symbolic")
        return _collections(value_t, value_a, rules)
    if name_t is None and is_equation(value_t):
        return _relation_decision(truth, answer, rules) if answer.op == "rel" else wrong("different", "symbolic")
    if name_a is None and is_equation(value_a):
        return wrong("different", "symbolic")
    return _collections(value_t, value_a, rules)


def _same_relation(truth: Node, answer: Node) -> bool:
    """Whether two relations are the same, also a:b = 2:3 and a/b = 2/3."""
    if relations.same_relation(truth, answer) == "same":
        return True
    plain = [in_fractions(node) for node in (truth, answer)]
    return plain != [truth, answer] and relations.same_relation(*plain) == "same"


# --- collections and single values


def _collections(truth: Node, answer: Node, rules: Rules) -> Decision:
    if other_names(truth, answer):
        return wrong("different", "set")
    truth, answer = spread(listed(truth)), spread(listed(answer))
    truth, answer = point(truth, answer), point(answer, truth)
    kinds = (truth.op, answer.op)
    if are_matrices(truth, answer):
        return matrices(truth, answer, rules, compare)
    if kinds == ("paren", "paren"):
        return tuples(truth, answer, rules, compare)
    if not {*GROUPS} & {*kinds}:
        return _single(truth, answer, rules)
    if answer.op not in GROUPS and (whole := added(truth)) is not None:
        return _single(whole, answer, rules)
    if truth.op not in GROUPS:
        return many_for_one(truth, answer, rules, _single)
    if answer.op not in GROUPS:
        if truth.op == "set" and truth.args:
            return as_sets(truth.args, (answer,), rules, compare)
        return wrong("different", "set") if truth.op != "text" else _single(truth, answer, rules)
    return groups(truth, answer, rules, compare)


def _single(truth: Node, answer: Node, rules: Rules) -> Decision:
    if "rel" not in (truth.op, answer.op):
        return single(truth, answer, rules)
    return wrong("different", "symbolic") if answer.op != "rel" else compare(truth, answer, rules)
