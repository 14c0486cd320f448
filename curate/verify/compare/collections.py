"""Compares several values: lists, sets, tuples and named values, and answers with several values for one.

The functions do not depend on the kind of the values: they take `same`, which compares two trees.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from curate.verify.compare.kinds.measures import measure
from curate.verify.compare.kinds.plus_minus import expand_signs
from curate.verify.compare.kinds.single_values import Rules, single
from curate.verify.compare.named_values import FUNCTION_NAMES, named, settled
from curate.verify.nodes import Node, UnreadableError, walk
from curate.verify.verdict import Decision, Reason, correct, wrong
from curate.verify.vocabulary.words import is_yes_or_no

Same = Callable[[Node, Node, Rules], Decision]
GROUPS: Final = ("list", "set", "paren")
_NUMBERED: Final = re.compile(r"_\d+$")
_SIGNS: Final = "\\pm"  # the name of the list of values of one expression, which has no order
_DIFFERENT: Final = wrong("different", "set")


def other_names(truth: Node, answer: Node) -> bool:
    """Whether two lists name their values by different names: x=1, x=2 against y=1, y=2."""
    names = [_names(n) for n in (truth, answer)]
    if not (names[0] and names[1]):
        return False
    numbered = [_numbered(n) for n in (truth, answer)]
    return names[0] != names[1] or bool(numbered[0] and numbered[1] and numbered[0] != numbered[1])


def _numbered(node: Node) -> list[str]:
    """The names of a list in which every value has a name with a number: x_1, x_2."""
    found = [name.name for arg in node.args if (name := named(arg).name) is not None and _NUMBERED.search(name.name)]
    return sorted(found) if len(found) == len(node.args) else []


def _names(node: Node) -> set[str]:
    """The names of a list of named values; empty if one has no name. x_1 and x_2 are both x: two roots."""
    if node.op not in ("list", "set"):
        return set()
    found = [named(arg).name for arg in node.args]
    if found and found[0] and not any(found[1:]) and not any(arg.op == "rel" for arg in node.args[1:]):
        found = found[:1]  # n = 3, 4, 5
    return {_label(n) for n in found if n is not None} if all(found) else set()


def _label(name: Node) -> str:
    """A name in the form used for comparison: x for x_1, AB for BA, f for f(x)."""
    if name.op != "mul":
        return _NUMBERED.sub("", name.name)
    letters = [repr(part) if part.args else part.name for part in name.args]
    is_call = letters[0] in FUNCTION_NAMES and letters[-1].islower()
    return letters[0] if is_call else "".join(sorted(letters))


def spread(node: Node) -> Node:
    """Expand a plus-minus to the list of its values; replace named items by their values if all have one name."""
    if any(n.op == "pm" for n in walk(node)):
        if node.op in ("list", "set"):
            return node._replace(args=tuple(v for arg in node.args for v in expand_signs(_unnamed(arg))))
        if node.op != "rel":
            values = expand_signs(node)
            return Node("list", tuple(values), None, _SIGNS)
    if node.op in ("list", "set") and any(arg.op == "rel" for arg in node.args):
        return _by_name(node)
    return node


def _unnamed(node: Node) -> Node:
    return named(settled(node)).value


def _by_name(node: Node) -> Node:
    """`x=2, x=-2` and `n=3,4,5` are lists of values; `y=2, x=1` is the tuple of values in order of the names."""
    pairs = [named(settled(arg)) for arg in node.args]
    names = [name for name, _ in pairs if name is not None]
    if any(name is None and value.op == "rel" for name, value in pairs):
        return node
    if len(set(names)) <= 1 and (not names or pairs[0][0] is not None):
        return node._replace(args=tuple(value for _, value in pairs))
    if len(names) == len(pairs) == len(set(names)) and node.name != "or":
        in_order = sorted(pairs, key=lambda pair: repr(pair[0]))
        is_numbered = len(_names(node)) == 1
        return Node("paren", tuple(value for _, value in in_order), None, "()numbered" if is_numbered else "()named")
    return node


def many_for_one(truth: Node, answer: Node, rules: Rules, same: Same) -> Decision:
    """Compare several values with a truth of one value: wrong unless every value equals the truth."""
    reason: Reason = "hedged" if answer.op == "list" and answer.name == "or" else "multiple_answers"
    if not answer.args:
        return _DIFFERENT
    if answer.op == "paren" and not answer.name.startswith("()n"):
        return _DIFFERENT
    if (whole := added(answer)) is not None:
        return single(truth, whole, rules)
    are_all = all(same(truth, arg, rules).verdict == "correct" for arg in answer.args)
    if are_all and not answer.name.endswith("named") and (answer.op == "set" or _is_restated(answer)):
        return same(truth, answer.args[0], rules)
    return _DIFFERENT if answer.op == "set" else wrong(reason, "extract")


def _is_restated(answer: Node) -> bool:
    """Whether a list states one value: 6 or 6, or in several forms (1/2, 0.5); the same form twice (5, 5) is two."""
    return answer.name == "or" or len(set(answer.args)) == len(answer.args)


def added(node: Node) -> Node | None:
    """One quantity written in parts, `2 hours and 30 minutes` or `5 and 3/8`; None for any other list."""
    units = [arg.name for arg in node.args if arg.op == "qty"]
    if node.op == "list" and node.name == "and" and _is_mixed(node.args):
        return Node("add", node.args)
    if node.op != "list" or node.name not in (",", "and") or len(set(units)) != len(node.args):
        return None
    whole = Node("add", node.args)
    try:
        return whole if measure(whole).unit.powers else None
    except UnreadableError:
        return None


def _is_mixed(parts: tuple[Node, ...]) -> bool:
    """Whether two parts are a whole number and a proper fraction: 5 and 3/8."""
    if len(parts) != 2 or parts[1].op != "div" or any(n.op != "num" for n in (parts[0], *parts[1].args)):
        return False
    whole, top, bottom = (n.value or 0 for n in (parts[0], *parts[1].args))
    return whole.denominator == 1 and 0 < top < bottom


def tuples(truth: Node, answer: Node, rules: Rules, same: Same) -> Decision:
    """Compare two tuples in order; the brackets of a pair count, since it may be an interval."""
    if len(truth.args) != len(answer.args):
        return _DIFFERENT
    brackets = [node.name[:2] for node in (truth, answer)]
    is_mixed = any(pair in ("(]", "[)") for pair in brackets)
    if (len(truth.args) == 2 or is_mixed) and brackets[0] != brackets[1]:
        return _DIFFERENT
    return in_order(truth.args, answer.args, rules, same)


def groups(truth: Node, answer: Node, rules: Rules, same: Same) -> Decision:
    """Compare two collections that are not both tuples: as sets, as lists, or in order."""
    if "()numbered" in (truth.name, answer.name):  # x_1=2, x_2=5 against 2, 5: the roots
        truth, answer = (n._replace(op="list", name=",") if n.name == "()numbered" else n for n in (truth, answer))
    ops, names = {truth.op, answer.op}, (truth.name, answer.name)
    if ops == {"set", "paren"}:
        if not rules.policy.pair_is_set or "()named" in names:
            return _DIFFERENT
    elif "paren" in ops and "or" in names:
        return _DIFFERENT
    elif "paren" in ops or ("set" not in ops and ";" in names):
        return in_order(truth.args, answer.args, rules, same)
    if {*names} == {"and", "or"} and any(arg.op == "text" for arg in (*truth.args, *answer.args)):
        return wrong("hedged", "extract")  # red or blue for red and blue; for numbers both mean the list
    if len(truth.args) == len(answer.args) and ((rules.is_ordered and _SIGNS not in names) or _are_rulings(truth)):
        return in_order(truth.args, answer.args, rules, same)
    if "set" in ops:
        return as_sets(truth.args, answer.args, rules, same)
    if len(answer.args) != len(truth.args):
        return wrong("multiple_answers" if len(answer.args) > len(truth.args) else "different", "set")
    return matched(truth.args, answer.args, rules, same)


def _are_rulings(node: Node) -> bool:
    """Whether a list is of yes and no: one ruling for each part of a question, in order."""
    return node.op == "list" and all(arg.op == "text" and is_yes_or_no(arg.name) for arg in node.args)


def in_order(truths: Sequence[Node], answers: Sequence[Node], rules: Rules, same: Same) -> Decision:
    """Compare part by part; different if one side has more parts."""
    if len(truths) != len(answers):
        return _DIFFERENT
    unknown = None
    for t, a in zip(truths, answers, strict=True):
        decision = same(t, a, rules)
        if decision.verdict == "wrong":
            return _DIFFERENT
        unknown = decision if decision.verdict == "undecided" else unknown
    return unknown or correct("set", "set")


def as_sets(truths: Sequence[Node], answers: Sequence[Node], rules: Rules, same: Same) -> Decision:
    """Compare as sets, without repetitions. A set within a set is an element and equals no number."""
    for left, right, is_truth in ((truths, answers, True), (answers, truths, False)):
        for x in left:
            found = [same(x, y, rules) if is_truth else same(y, x, rules) for y in right if _is_set(x) == _is_set(y)]
            if not any(decision.verdict == "correct" for decision in found):
                unknown = next((decision for decision in found if decision.verdict == "undecided"), None)
                return unknown or _DIFFERENT
    return correct("set", "set")


def _is_set(node: Node) -> bool:
    return node.op == "set"


def matched(truths: Sequence[Node], answers: Sequence[Node], rules: Rules, same: Same) -> Decision:
    """Compare as multisets: every value of one side has its own partner in the other."""
    left = list(answers)
    for t in truths:
        found = [same(t, a, rules) for a in left]
        hit = next((i for i, decision in enumerate(found) if decision.verdict == "correct"), None)
        if hit is None:
            unknown = next((decision for decision in found if decision.verdict == "undecided"), None)
            return unknown or _DIFFERENT
        left.pop(hit)
    return correct("set", "set")
