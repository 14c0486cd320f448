"""Reads equations that name a value, `x=5`, `AB=12`, `f(x)=x^2`, `a+b=12`, and detects claims such as `5=6`."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from curate.verify.compare.kinds.single_values import Rules, equal_values
from curate.verify.nodes import Node, UnreadableError, rename, symbols, walk
from curate.verify.policy import Policy
from curate.verify.values.numeric import approximate
from curate.verify.verdict import Decision, wrong
from curate.verify.vocabulary.words import is_yes_or_no

FUNCTION_NAMES: Final = ("f", "g", "h", "p", "P", "F", "G", "N", "S", "T", "V", "A", "E")
_RATIOS_OF_SIDES: Final = ("sin", "cos", "tan", "cot", "sec", "csc")
_NEGATED: Final = re.compile(r"(?:not|never|no)\b", re.IGNORECASE)
_UNKNOWNS: Final = frozenset(["add", "mul", "div", "neg", "pow", "sym"])


class Named(NamedTuple):
    """A value and the name that an equation gives it; None without a name."""

    name: Node | None
    value: Node


class _Call(NamedTuple):
    """The names f and x of f(x)."""

    function: str
    argument: str


def is_equation(node: Node) -> bool:
    """Whether a tree is a relation."""
    return node.op == "rel"


def settled(node: Node) -> Node:
    """The tree without the approximation that follows an exact value: 1/3 = 0.333... becomes 1/3.

    After a name or a side with unknowns, the approximation is the value: an equation.
    """
    if node.op != "rel" or "~" not in node.name.split():
        return node
    sides, signs = list(node.args), node.name.split()
    cut = signs.index("~")
    if cut == 0 and (is_name(sides[0]) or symbols(sides[0])):
        sides, signs = [sides[0], sides[1]], ["="]
    else:
        sides, signs = sides[: cut + 1], signs[:cut]
    return Node("rel", tuple(sides), None, " ".join(signs)) if signs else sides[0]


def both_signs(node: Node) -> Node:
    """The two values of a real unknown in `|x| = 5`; any other tree unchanged."""
    if node.op != "rel" or node.name != "=" or len(node.args) != 2:
        return node
    side, size = node.args
    is_unknown = side.op == "fn" and side.name == "abs" and side.args[0].op == "sym" and not _has_length(side.args[0])
    if not is_unknown or (approximate(size) or 0) <= 0:
        return node
    return Node(
        "list", tuple(Node("rel", (side.args[0], v), None, "=") for v in (size, Node("neg", (size,)))), None, "or"
    )


def _has_length(side: Node) -> bool:
    """Whether bars around a letter mean a length or size: of a complex number, a vector, a set, a matrix."""
    return side.name[:1] in ("z", "w") or side.name == "omega" or " " in side.name or side.name[:1].isupper()


def is_name(side: Node) -> bool:
    """Whether a side is only a name for the other side: x, AB, f(x), P(A), |AB|, words."""
    if side.op in ("sym", "text"):
        return side.op == "sym" or not (is_yes_or_no(side.name) or _NEGATED.match(side.name))
    if side.op == "paren":
        return all(part.op == "sym" for part in side.args)
    if side.op == "fn" and side.name in ("max", "min", "det", "deg"):
        return True
    if side.op == "fn" and side.name in _RATIOS_OF_SIDES:
        return _is_letters(side.args[0])
    if side.op == "div" and all(part.op == "mul" and _is_letters(part) for part in side.args):
        return all(part.name.isupper() for arg in side.args for part in arg.args)  # NO/BO: two segments
    if side.op == "ratio":
        return all(_is_letters(part) for part in side.args)
    if side.op == "fn" and side.name == "abs":
        inner = side.args[0]
        return (inner.op == "mul" and is_name(inner)) or (inner.op == "sym" and _has_length(inner))
    if side.op == "mul":
        first, second = side.args[:2]
        if first.op == "fn" and first.name in ("max", "min"):  # max f(x)
            return True
        is_call = len(side.args) == 2 and first.op == "sym" and (first.name in FUNCTION_NAMES or second.op == "paren")
        return (all(part.op == "sym" for part in side.args) and len(side.args) <= 3) or is_call
    return False


def _is_letters(side: Node) -> bool:
    r"""Whether a side is a letter or a product of up to three: \alpha, AB, ABC."""
    return side.op == "sym" or (
        side.op == "mul" and len(side.args) <= 3 and all(part.op == "sym" for part in side.args)
    )


def _is_sought(side: Node) -> bool:
    """Whether a problem may ask for this side: `a+b`, `x^2+y^2`, `m/n`; two unknowns and no coefficients."""
    exponents = {id(n.args[1]) for n in walk(side) if n.op == "pow" and n.args[1].op == "num"}
    plain = all(n.op in _UNKNOWNS or id(n) in exponents for n in walk(side))
    return plain and len(symbols(side)) >= 2


def false_chain(node: Node) -> Decision | None:
    """A wrong decision if a chain such as `5=6`, `x=5=6` or `y=x^3=x^2` states two different values; else None.

    A formula between a name and its value, S = ah/2 = 12, cannot be checked; x = 1x = 5 is no formula for x.
    """
    if node.op == "list":
        return next((found for arg in node.args if (found := false_chain(arg)) is not None), None)
    if node.op != "rel" or set(node.name.split()) != {"="}:
        return None
    label = node.args[0]
    is_labelled = is_name(label) or _is_sought(label)
    sides = node.args[1:] if is_labelled else node.args
    if len(sides) < 2 or (not is_labelled and any(symbols(side) for side in sides)):
        return None
    if label.op == "sym" and any(label.name in symbols(side) for side in sides):
        return wrong("multiple_answers", "extract")
    for side in sides[:-1]:
        if symbols(side) == symbols(sides[-1]) and _differ(side, sides[-1]):
            return wrong("multiple_answers", "extract")
    return None


def _differ(a: Node, b: Node) -> bool:
    """Whether two sides are certainly different values."""
    try:
        return equal_values(a, b, Rules(Policy(approximate="never"))) == "different"
    except UnreadableError:
        return a != b  # no value, such as a word or a pair


def named(node: Node) -> Named:
    """The name and value of `x=5` or `f(x)=x=...`; for any other tree no name and the tree itself."""
    if node.op == "rel" and set(node.name.split()) == {"="}:
        is_equation_of_functions = node.args[0].name in _RATIOS_OF_SIDES and symbols(node.args[-1])
        if is_name(node.args[0]) and not is_equation_of_functions:
            return Named(node.args[0], node.args[-1])
        if len(node.args) == 2 and is_name(node.args[1]) and not symbols(node.args[0]):
            return Named(node.args[1], node.args[0])
        if not any(symbols(side) for side in node.args):
            return Named(None, node.args[-1])
    return Named(None, node)


def in_fractions(node: Node) -> Node:
    """A relation with the quotient for each ratio of two terms."""
    if node.op == "ratio" and len(node.args) == 2:
        return Node("div", node.args)
    return node._replace(args=tuple(map(in_fractions, node.args))) if node.op == "rel" else node


def sought(node: Node) -> Node:
    """The value of `a+b=12` or `m+n=7+5=12`, if its left side is a sought expression; else the tree itself."""
    if node.op == "rel" and set(node.name.split()) == {"="} and _is_sought(node.args[0]) and not symbols(node.args[-1]):
        return node.args[-1]
    return node


def same_name(a: Node, b: Node) -> bool:
    """Whether two names may mean the same: equal names, words, a function and y, or a_n and a(n)."""
    is_function = [n.op == "mul" or n.name in ("y", "f", "g", "h") for n in (a, b)]
    return a == b or a.op == "text" or b.op == "text" or (a.op != b.op and all(is_function)) or _is_sequence(a, b)


def _is_sequence(a: Node, b: Node) -> bool:
    """Whether one is a_n and the other a(n)."""
    call, other = (a, b) if a.op == "mul" else (b, a)
    return (
        call.op == "mul"
        and other.op == "sym"
        and all(part.op == "sym" for part in call.args)
        and other.name == "_".join(part.name for part in call.args)
    )


def with_argument_of(truth: Node, answer: Node) -> Node:
    """The answer with the variable of its function named as in the truth: f(t)=t^2 for f(x)=x^2."""
    wanted, given = (_call(named(n).name) for n in (truth, answer))
    if wanted is None or given is None or wanted == given or wanted.function != given.function:
        return answer
    if wanted.function.isupper() and given.argument not in symbols(named(answer).value):
        return answer  # P(B)=0.3 is no P(A): A and B are no variables
    return answer if wanted.argument in symbols(answer) else rename(answer, {given.argument: wanted.argument})


def _call(name: Node | None) -> _Call | None:
    if name is None or name.op != "mul" or len(name.args) != 2 or any(part.op != "sym" for part in name.args):
        return None
    return _Call(name.args[0].name, name.args[1].name) if name.args[0].name in FUNCTION_NAMES else None
