"""Compares two single values: numbers, expressions, quantities, words, numerals with a base, times, ratios."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from curate.verify.compare.kinds import relations
from curate.verify.compare.kinds.measures import Measure, equal_measures, measure, on_one_scale, with_letter_units
from curate.verify.compare.kinds.outcomes import Equality, is_equal
from curate.verify.nodes import Node, UnreadableError, num
from curate.verify.policy import Policy
from curate.verify.values.equality import rounds_to
from curate.verify.values.tolerance import is_close
from curate.verify.values.work import COMPARISON_US, spend
from curate.verify.verdict import Decision, correct, undecided, wrong
from curate.verify.vocabulary.units import parse_unit
from curate.verify.vocabulary.words import same_words

_NOTHING: Final = num(0, "00")
_MANY_PLACES: Final = 3
_MANY_FIGURES: Final = 4
_CLOCK_MARKS: Final = ("am", "pm", "oclock")
DIFFERENT: Final = wrong("different", "numeric")


class Rules(NamedTuple):
    """The policy, and whether the question asks for a rounded value, names a number base or asks for an order."""

    policy: Policy
    asks_to_round: bool = False
    names_base: bool = False
    is_ordered: bool = False


def single(truth: Node, answer: Node, rules: Rules) -> Decision:
    """Decide whether two trees, neither relations nor collections, are the same value, word, time or ratio."""
    spend(COMPARISON_US)
    if "text" in (truth.op, answer.op):
        same = truth.op == answer.op and same_words(
            truth.name, answer.name, is_case_sensitive=rules.policy.is_case_sensitive
        )
        return correct("text", "text") if same else wrong("different", "text")
    if "base" in (truth.op, answer.op):
        return _bases(truth, answer, rules)
    if {"ratio", "qty"} & {truth.op, answer.op}:
        truth, answer = _on_the_hour(truth, answer), _on_the_hour(answer, truth)
    if any(n.op == "qty" and n.args[0].op == "ratio" for n in (truth, answer)):
        return _times(truth, answer, rules)
    if "ratio" in (truth.op, answer.op):
        return _ratios(truth, answer, rules)
    outcome = equal_values(truth, answer, rules)
    if outcome == "unknown":
        return undecided("unparseable_answer", "numeric")
    return correct(outcome, "exact" if outcome == "exact" else "numeric") if outcome != "different" else DIFFERENT


def equal_values(truth: Node, answer: Node, rules: Rules) -> Equality:
    """The proof that two values with their units are equal, or "different" or "unknown"."""
    a = measure(truth)
    try:
        b = measure(answer)
    except UnreadableError:
        return "different"  # two quantities for a truth of one
    if a.unit.powers and not b.unit.powers:
        b = with_letter_units(b.value, a.unit) or b
    elif b.unit.powers and not a.unit.powers:
        a = with_letter_units(a.value, b.unit) or a
    a, b = on_one_scale(a, b)
    outcome = equal_measures(a, b, rules.policy)
    return "numeric" if outcome == "different" and _is_near(a, b, rules) else outcome


def _is_near(truth: Measure, answer: Measure, rules: Rules) -> bool:
    """Whether a different value of the same kind is a rounded one, or within the policy's tolerance."""
    policy = rules.policy
    if policy.approximate == "when_asked" and truth[1:] == answer[1:] and _rounds(truth.value, answer.value, rules):
        return True
    ratio = num(answer.unit.scale / truth.unit.scale if truth.unit.powers and answer.unit.powers else 1)
    same = answer._replace(value=Node("div", (truth.value, ratio)))  # the truth in the units of the answer
    if not is_equal(equal_measures(truth, same, policy)):
        return False
    given = Node("mul", (answer.value, ratio))
    if is_close(truth.value, given, policy.rel_tol, policy.sig_figs):
        return True
    may_round = policy.approximate == "when_asked" and not rules.asks_to_round and ratio.value == 1
    return may_round and _is_rounded_again(truth.value, answer.value)


def _is_rounded_again(truth: Node, answer: Node) -> bool:
    """Whether a decimal of three or more places was rounded to two, with four or more figures: 58.33 for 58.333."""
    if truth.op == answer.op == "neg":
        return _is_rounded_again(truth.args[0], answer.args[0])
    whole, _, places = truth.name.partition(".")
    figures = answer.name.replace(".", "").lstrip("0") if answer.op == "num" and answer.name[-3:-2] == "." else ""
    is_decimal = truth.op == "num" and whole.isdigit() and places.isdigit() and len(places) >= _MANY_PLACES
    return is_decimal and len(figures) >= _MANY_FIGURES and rounds_to(truth, answer, min_places=2)


def _rounds(truth: Node, answer: Node, rules: Rules) -> bool:
    if truth.op == "neg":
        return _rounds(truth.args[0], Node("neg", (answer,)), rules)
    if rounds_to(answer, truth, min_places=2):
        return not _is_coarser(answer, truth)
    return rules.asks_to_round and rounds_to(truth, answer, min_places=1)


def _is_coarser(answer: Node, truth: Node) -> bool:
    """Whether the answer is a decimal with fewer than two places more than the truth: not an unrounded value."""
    inner = answer
    while inner.op == "neg":
        inner = inner.args[0]
    places = [len(number.name.partition(".")[2]) for number in (inner, truth)]
    return inner.op == "num" and places[0] < places[1] + 2


def _bases(truth: Node, answer: Node, rules: Rules) -> Decision:
    """Compare numerals with a base as numerals; the base may be missing only if the question names it."""
    (digits_t, _, base_t), (digits_a, _, base_a) = (n.name.partition("_") for n in (truth, answer))
    same = digits_t == digits_a != "" and (base_t == base_a or (rules.names_base and not (base_t and base_a)))
    return correct("exact", "exact") if same else wrong("different", "exact")


def _times(truth: Node, answer: Node, rules: Rules) -> Decision:
    """Compare times of day with am or pm, which may be missing on one side or given by an hour above twelve."""
    marks = {n.name for n in (truth, answer) if n.op == "qty"}
    if len(marks) > 1 or not all(mark in _CLOCK_MARKS or parse_unit(mark).powers for mark in marks):
        return DIFFERENT
    times = [n.args[0] if n.op == "qty" else n for n in (truth, answer)]
    if marks == {"pm"} and all(relations.is_time(time) for time in times):
        times = [_in_the_afternoon(n) for n in (truth, answer)] if any(map(_is_late, times)) else times
    return single(times[0], times[1], rules)


def _on_the_hour(node: Node, other: Node) -> Node:
    """A full hour, 5 pm or 5 o'clock, with zero minutes added if the other side has minutes."""
    inner = other.args[0] if other.op == "qty" else other
    if node.op != "qty" or node.name not in _CLOCK_MARKS or node.args[0].op != "num" or inner.op != "ratio":
        return node
    clock = Node("ratio", (node.args[0], _NOTHING))
    return clock if node.name == "oclock" else node._replace(args=(clock,))


def _is_late(time: Node) -> bool:
    return (time.args[0].value or 0) > 12


def _in_the_afternoon(node: Node) -> Node:
    """A time marked pm in 24-hour form."""
    if node.op != "qty":
        return node
    time = node.args[0]
    hour = int(time.args[0].value or 0) % 12 + 12
    return time._replace(args=(num(hour, str(hour)), *time.args[1:]))


def _ratios(truth: Node, answer: Node, rules: Rules) -> Decision:
    is_clock = [relations.is_time(n) for n in (truth, answer)]
    if truth.op == answer.op == "ratio":
        if is_clock[0] != is_clock[1] and any(arg.name.startswith("0") for n in (truth, answer) for arg in n.args):
            return DIFFERENT  # 8:05 and 0:45 are times, 8:5 and 0:65 are not
        return _clocks(truth, answer, rules) if all(is_clock) else _proportions(truth, answer, rules)
    if any(_is_full_hour(n) for n in (truth, answer)) and any(n.op == "qty" for n in (truth, answer)):
        return DIFFERENT  # 2 hours is no time of day
    if any(is_clock) and (decision := _in_units(truth, answer, rules)) is not None:
        return decision
    if any(
        clock and any(arg.name.startswith("0") for arg in n.args)
        for n, clock in zip((truth, answer), is_clock, strict=True)
    ):
        return DIFFERENT  # 0:45 is not zero, 5:00 is no fraction
    try:
        sides = [relations.as_fraction(n) if n.op == "ratio" else n for n in (truth, answer)]
    except UnreadableError:
        return DIFFERENT
    return single(sides[0], sides[1], rules)


def _is_full_hour(node: Node) -> bool:
    return relations.is_time(node) and all(arg.value == 0 for arg in node.args[1:])


def _clocks(truth: Node, answer: Node, rules: Rules) -> Decision:
    """Compare two clock times; zero seconds may be omitted."""
    parts = [(*n.args, _NOTHING) if len(n.args) == 2 else n.args for n in (truth, answer)]
    return _each(parts[0], parts[1], rules)


def _in_units(truth: Node, answer: Node, rules: Rules) -> Decision | None:
    """Compare a clock time with a quantity of time, 2:45 and 165 minutes; None if the other side is no time."""
    sides = [relations.as_duration(n) if relations.is_time(n) else n for n in (truth, answer)]
    try:
        is_time = measure(sides[0]).unit.powers == measure(sides[1]).unit.powers
    except UnreadableError:
        return None
    return single(sides[0], sides[1], rules) if is_time else None


def _proportions(truth: Node, answer: Node, rules: Rules) -> Decision:
    if len(truth.args) != len(answer.args):
        return DIFFERENT
    if any(arg.name == "ldots" for arg in (*truth.args, *answer.args)):
        return _each(truth.args, answer.args, rules)
    first_t, first_a = truth.args[0], answer.args[0]
    for t, a in zip(truth.args[1:], answer.args[1:], strict=True):
        cross = equal_values(Node("mul", (t, first_a)), Node("mul", (a, first_t)), rules)
        if cross == "different":
            return DIFFERENT
        if cross == "unknown":
            return undecided("unparseable_answer", "numeric")
    return correct("exact", "exact")


def _each(truths: Sequence[Node], answers: Sequence[Node], rules: Rules) -> Decision:
    """Compare part by part, in order."""
    decisions = [single(t, a, rules) for t, a in zip(truths, answers, strict=True)]
    return next((decision for decision in decisions if decision.verdict != "correct"), decisions[0])
