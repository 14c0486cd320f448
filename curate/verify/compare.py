"""Two parsed answers: which kind of thing are they, and are they the same?

Order of the questions: family over the integers, set of reals, named value (`x=5`), relation, collection, matrix,
words, value. Lists that offer several values for one (`5 or 6`) are wrong, with the reason, unless all are right.
"""

from __future__ import annotations

from collections.abc import Sequence

from curate.verify import families, intervals, relations
from curate.verify.measures import measure
from curate.verify.nodes import Node, UnreadableError, symbols, walk
from curate.verify.policy import Policy
from curate.verify.single import Rules, equal_values, single
from curate.verify.values import Proof
from curate.verify.verdict import Decision, correct, undecided, wrong
from curate.verify.words import named_set

_FUNCTION_NAMES = ("f", "g", "h", "p", "P", "F", "G", "N", "S", "T", "V", "A", "E")
_LETTER_R = Node("sym", (), None, "R")


def compare(truth: Node, answer: Node, rules: Rules) -> Decision:
    """Decide whether two trees are the same answer; raises `TooLargeError` and `UnreadableError`."""
    truth, answer = _as_set(truth), _as_set(answer)
    if truth == answer or {intervals.REALS, _LETTER_R} == {truth, answer}:
        return correct("exact", "exact")
    if (decision := _families(truth, answer)) is not None:
        return decision
    if intervals.is_set_like(truth) or (intervals.is_set_like(answer) and not _is_equation(truth)):
        return _sets(truth, answer, rules)
    truth, answer = _settled(truth), _settled(answer)
    if (false := _false_chain(answer)) is not None:
        return false
    if _is_equation(truth) or _is_equation(answer):
        return _equations(truth, answer, rules)
    return _collections(truth, answer, rules)


def _as_set(node: Node) -> Node:
    """Words that name a set: all real numbers, no solution."""
    name = named_set(node.name) if node.op == "text" else None
    if name is None:
        return node
    return Node("set") if name == "empty" else Node("const", (), None, name)


def _told(is_equal: bool | None, reason: Proof | str, stage: str) -> Decision:
    if is_equal is None:
        return undecided("unparseable_answer", stage)
    if not is_equal:
        return wrong("different", stage)
    return correct("set" if reason == "set" else "symbolic", stage)


# --- families and sets


def _families(truth: Node, answer: Node) -> Decision | None:
    a, b = families.family(truth), families.family(answer)
    if a is None or b is None:
        return wrong("different", "set") if a and not _mentions(answer, a.index_name) else None
    return _told(families.same_family(a, b), "set", "set")


def _mentions(node: Node, index: str) -> bool:
    """Whether an answer has a free index of its own, so that it may be a family whose index set was left out."""
    return bool(symbols(node) - {"x"}) or index in symbols(node)


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
    return _told(intervals.same_set(ours, theirs), "set", "set")


def _other_variable(truth: Node, answer: Node) -> Decision | None:
    names = [frozenset(symbols(node)) for node in (truth, answer)]
    if truth.op == answer.op == "rel" and all(names) and names[0] != names[1]:
        return wrong("different", "set")
    return None


def _relation_or_none(truth: Node, answer: Node) -> bool | None:
    return relations.same_relation(truth, answer)


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
    if (
        truth.op == answer.op
        and truth.op in ("list", "in", "union", "cap", "minus")
        and len(truth.args) == len(answer.args)
    ):
        parts = [compare(t, a, rules) for t, a in zip(truth.args, answer.args, strict=True)]
        return next((part for part in parts if part.verdict != "correct"), parts[0])
    return wrong("different", "set")


# --- equations and named values


def _is_equation(node: Node) -> bool:
    return node.op == "rel"


def _settled(node: Node) -> Node:
    """The tree without the approximation that follows an exact value: 1/3 = 0.333... becomes 1/3."""
    if node.op != "rel":
        return node
    sides, signs = list(node.args), node.name.split()
    if "~" in signs:
        cut = signs.index("~")
        if cut == 0 and _is_name(sides[0]):
            sides, signs = [sides[0], sides[1]], ["="]
        else:
            sides, signs = sides[: cut + 1], signs[:cut]
    if len(sides) == 1:
        return sides[0]
    return Node("rel", tuple(sides), None, " ".join(signs))


def _is_name(side: Node) -> bool:
    """Whether a side only names what the other is: x, AB, f(x), P(A), words."""
    if side.op in ("sym", "text"):
        return True
    if side.op == "paren":
        return all(part.op == "sym" for part in side.args)
    if side.op == "fn" and side.name in ("max", "min", "det", "deg"):
        return True
    if side.op == "mul":
        is_call = len(side.args) == 2 and side.args[0].op == "sym" and side.args[0].name in _FUNCTION_NAMES
        return (all(part.op == "sym" for part in side.args) and len(side.args) <= 3) or is_call
    return False


def _false_chain(node: Node) -> Decision | None:
    """`5=6` and `x=5=6` claim two values."""
    if node.op != "rel" or set(node.name.split()) != {"="}:
        return None
    sides = node.args[1:] if _is_name(node.args[0]) else node.args
    if any(symbols(side) for side in sides) or len(sides) < 2:
        return None
    for side in sides[1:]:
        if equal_values(sides[0], side, Rules(Policy(approximate="never"))) is False:
            return wrong("multiple_answers", "extract")
    return None


def _named(node: Node) -> tuple[Node | None, Node]:
    """(name, value) of `x=5` or `f(x)=x=...`; (None, value) of what has no name."""
    if node.op == "rel" and set(node.name.split()) == {"="}:
        if _is_name(node.args[0]):
            return node.args[0], node.args[-1]
        if len(node.args) == 2 and _is_name(node.args[1]) and not symbols(node.args[0]):
            return node.args[1], node.args[0]
        if not any(symbols(side) for side in node.args):
            return None, node.args[-1]
    return None, node


def _equations(truth: Node, answer: Node, rules: Rules) -> Decision:
    (name_t, value_t), (name_a, value_a) = _named(truth), _named(answer)
    if truth.op == answer.op == "rel" and (same := relations.same_relation(truth, answer)):
        return _told(same, "symbolic", "symbolic")
    if name_t is not None and name_a is not None:
        if not _same_name(name_t, name_a):
            return wrong("different", "symbolic")
        return _collections(value_t, value_a, rules)
    if name_t is None and _is_equation(value_t):
        return _relation_decision(truth, answer, rules) if answer.op == "rel" else wrong("different", "symbolic")
    if name_a is None and _is_equation(value_a):
        return wrong("different", "symbolic")
    return _collections(value_t, value_a, rules)


def _same_name(a: Node, b: Node) -> bool:
    """Whether two names name the same: equal, or a function beside y or another function of the same variable."""
    is_function = [n.op == "mul" or n.name in ("y", "f", "g", "h") for n in (a, b)]
    return a == b or a.op == "text" or b.op == "text" or (a.op != b.op and all(is_function))


# --- collections


def _collections(truth: Node, answer: Node, rules: Rules) -> Decision:
    if _other_names(truth, answer):
        return wrong("different", "set")
    truth, answer = _spread(truth), _spread(answer)
    kinds = (truth.op, answer.op)
    if "matrix" in kinds:
        return _matrices(truth, answer, rules)
    if kinds == ("paren", "paren"):
        return _tuples(truth, answer, rules)
    if not {"list", "set", "paren"} & {*kinds}:
        return _single(truth, answer, rules)
    if truth.op not in ("list", "set", "paren"):
        return _many_for_one(truth, answer, rules)
    if answer.op not in ("list", "set", "paren"):
        if truth.op == "set" and truth.args:
            return _as_sets(truth.args, (answer,), rules)
        return wrong("different", "set") if truth.op != "text" else _single(truth, answer, rules)
    return _unlike_collections(truth, answer, rules)


def _spread(node: Node) -> Node:
    """A plus-minus as the list of its values; named items of a list by their values where all names are one."""
    if any(n.op == "pm" for n in walk(node)):
        if node.op in ("list", "set"):
            return node._replace(args=tuple(v for arg in node.args for v in families.expand_signs(_unnamed(arg))))
        if node.op != "rel":
            values = families.expand_signs(node)
            return Node("list", tuple(values), None, ",")
    if node.op == "list" and any(arg.op == "rel" for arg in node.args):
        return _by_name(node)
    return node


def _other_names(truth: Node, answer: Node) -> bool:
    """Whether two lists name their values, and not one name is shared: x=1, x=2 against y=1, y=2."""
    if not truth.op == answer.op == "list":
        return False
    names = [{name.name for arg in n.args if (name := _named(arg)[0]) and name.op == "sym"} for n in (truth, answer)]
    return bool(names[0] and names[1]) and not names[0] & names[1]


def _unnamed(node: Node) -> Node:
    return _named(_settled(node))[1]


def _by_name(node: Node) -> Node:
    """`x=2, x=-2` and `n=3,4,5` are lists of values; `y=2, x=1` is the tuple of values in order of the names."""
    named = [_named(_settled(arg)) for arg in node.args]
    names = [name for name, _ in named if name is not None]
    if any(name is None and value.op == "rel" for name, value in named):
        return node
    if len(set(names)) <= 1 and (not names or named[0][0] is not None):
        return node._replace(args=tuple(value for _, value in named))
    if len(names) == len(named) == len(set(names)):
        in_order = sorted(named, key=lambda pair: repr(pair[0]))
        return Node("paren", tuple(value for _, value in in_order), None, "()named")
    return node


def _many_for_one(truth: Node, answer: Node, rules: Rules) -> Decision:
    """Several values offered where the truth is one: wrong unless every one of them is the truth."""
    reason = "hedged" if answer.op == "list" and answer.name == "or" else "multiple_answers"
    if not answer.args:
        return wrong("different", "set")
    if answer.op == "paren" and answer.name != "()named":
        return wrong("different", "set")
    if answer.name == "and" and (whole := _summed_units(truth, answer, rules)) is not None:
        return whole
    if all(_single(truth, arg, rules).verdict == "correct" for arg in answer.args) and not answer.name.endswith(
        "named"
    ):
        return _single(truth, answer.args[0], rules)
    return wrong("different", "set") if answer.op == "set" else wrong(reason, "extract")  # type: ignore[arg-type]


def _summed_units(truth: Node, answer: Node, rules: Rules) -> Decision | None:
    """`2 hours and 30 minutes` is one quantity; None where the parts are not units of one kind."""
    units = [arg.name for arg in answer.args if arg.op == "qty"]
    if len(set(units)) != len(answer.args):
        return None
    try:
        measure(Node("add", answer.args))
    except UnreadableError:
        return None
    return _single(truth, Node("add", answer.args), rules)


def _tuples(truth: Node, answer: Node, rules: Rules) -> Decision:
    """Ordered; a pair's brackets count, since they may be an interval's."""
    if len(truth.args) != len(answer.args):
        return wrong("different", "set")
    brackets = [node.name.removesuffix("named") for node in (truth, answer)]
    if len(truth.args) == 2 and brackets[0] != brackets[1]:
        return wrong("different", "set")
    return _in_order(truth.args, answer.args, rules)


def _unlike_collections(truth: Node, answer: Node, rules: Rules) -> Decision:
    if {truth.op, answer.op} == {"set", "paren"}:
        is_listed = "()named" in (truth.name, answer.name)
        if not rules.policy.pair_is_set or is_listed:
            return wrong("different", "set")
    elif "paren" in (truth.op, answer.op):
        return (
            _in_order(truth.args, answer.args, rules)
            if len(truth.args) == len(answer.args)
            else wrong("different", "set")
        )
    is_set = "set" in (truth.op, answer.op)
    if not is_set and ";" in (truth.name, answer.name):
        return (
            _in_order(truth.args, answer.args, rules)
            if len(truth.args) == len(answer.args)
            else wrong("different", "set")
        )
    if is_set:
        return _as_sets(truth.args, answer.args, rules)
    if len(answer.args) != len(truth.args):
        return wrong("multiple_answers" if len(answer.args) > len(truth.args) else "different", "set")
    return _matched(truth.args, answer.args, rules)


def _in_order(truths: Sequence[Node], answers: Sequence[Node], rules: Rules) -> Decision:
    unknown = None
    for t, a in zip(truths, answers, strict=True):
        decision = compare(t, a, rules)
        if decision.verdict == "wrong":
            return wrong("different", "set")
        unknown = decision if decision.verdict == "undecided" else unknown
    return unknown or correct("set", "set")


def _as_sets(truths: Sequence[Node], answers: Sequence[Node], rules: Rules) -> Decision:
    """Each in the other; repetitions don't matter."""
    for left, right, is_truth in ((truths, answers, True), (answers, truths, False)):
        for x in left:
            found = [compare(x, y, rules) if is_truth else compare(y, x, rules) for y in right]
            if not any(decision.verdict == "correct" for decision in found):
                unknown = next((decision for decision in found if decision.verdict == "undecided"), None)
                return unknown or wrong("different", "set")
    return correct("set", "set")


def _matched(truths: Sequence[Node], answers: Sequence[Node], rules: Rules) -> Decision:
    """A list as a multiset: every value of one has its own partner in the other."""
    left = list(answers)
    for t in truths:
        found = [compare(t, a, rules) for a in left]
        hit = next((i for i, decision in enumerate(found) if decision.verdict == "correct"), None)
        if hit is None:
            unknown = next((decision for decision in found if decision.verdict == "undecided"), None)
            return unknown or wrong("different", "set")
        left.pop(hit)
    return correct("set", "set")


def _matrices(truth: Node, answer: Node, rules: Rules) -> Decision:
    """Entry by entry; a column may be written as a tuple; the style of the brackets says nothing but |determinant|."""
    truth, answer = _as_matrix(truth), _as_matrix(answer)
    if "paren" in (truth.op, answer.op):
        matrix = truth if truth.op == "matrix" else answer
        if any(len(row.args) != 1 for row in matrix.args):
            return wrong("different", "set")
        flat = [tuple(row.args[0] for row in n.args) if n.op == "matrix" else n.args for n in (truth, answer)]
        return _in_order(flat[0], flat[1], rules) if len(flat[0]) == len(flat[1]) else wrong("different", "set")
    is_determinant = [n.name == "vmatrix" for n in (truth, answer)]
    if truth.op != answer.op or is_determinant[0] != is_determinant[1]:
        return wrong("different", "set")
    if [len(r.args) for r in truth.args] != [len(r.args) for r in answer.args]:
        return wrong("different", "set")
    entries = [[entry for row in n.args for entry in row.args] for n in (truth, answer)]
    return _in_order(entries[0], entries[1], rules)


def _as_matrix(node: Node) -> Node:
    """A list of rows, [[1,2],[3,4]], as a matrix."""
    if node.op == "paren" and all(row.op == "paren" and row.name == "[]" for row in node.args):
        return Node("matrix", tuple(Node("row", row.args) for row in node.args))
    return node


def _single(truth: Node, answer: Node, rules: Rules) -> Decision:
    if "rel" not in (truth.op, answer.op):
        return single(truth, answer, rules)
    return wrong("different", "symbolic") if answer.op != "rel" else compare(truth, answer, rules)
