"""Compares functions by cases: equal values under equal conditions, in any order."""

from __future__ import annotations

from curate.verify.compare.collections import Same
from curate.verify.compare.kinds.single_values import Rules
from curate.verify.compare.named_values import named, same_name
from curate.verify.nodes import Node, UnreadableError
from curate.verify.verdict import Decision, correct, undecided, wrong


def same_cases(truth: Node, answer: Node, rules: Rules, same: Same) -> Decision:
    """Compare case by case; undecided if a condition has no counterpart, since it may be written differently."""
    (name_t, truth), (name_a, answer) = named(truth), named(answer)
    if name_t is not None and name_a is not None and not same_name(name_t, name_a):
        return wrong("different", "set")
    if truth.op != answer.op or len(truth.args) != len(answer.args):
        return wrong("different", "set")
    left = list(answer.args)
    for value, condition in (row.args for row in truth.args):
        hit = next((row for row in left if _is_same(condition, row.args[1], rules, same)), None)
        if hit is None:
            return undecided("unparseable_answer", "set")
        decision = same(value, hit.args[0], rules)
        if decision.verdict != "correct":
            return decision
        left.remove(hit)
    return correct("set", "set")


def _is_same(truth: Node, answer: Node, rules: Rules, same: Same) -> bool:
    try:
        return same(truth, answer, rules).verdict == "correct"
    except UnreadableError:
        return False
