r"""Whether an answer that equals the truth is left to be computed: `2+3` for 5, or a formula of the question.

Without a question only arithmetic with plain numbers is unevaluated, for a truth that is a figure. With one also:
arithmetic inside an answer, sums, integrals, limits and functions of numbers for a rational number; a part of the
question with `n!`, `\binom{n}{k}` or a function; and the very formula that the question asks to compute or to rewrite.
An answer of the form of the truth is never unevaluated, nor are `\frac{1}{2}`, `2\sqrt{3}`, `e^2` and `\binom{10}{3}`
where the question does not ask for their value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from curate.verify.compare.reading import is_advanced, keyed, parsed
from curate.verify.nodes import Node, TooLargeError, UnreadableError, symbols, walk
from curate.verify.policy import Policy
from curate.verify.question.formulas import Shape, formulas, shape
from curate.verify.question.levels import has_i, reduced

_WRAPPERS: Final = ("list", "set", "paren", "qty", "deg", "pct", "text")
_MIN_MATRICES: Final = 2


def is_unevaluated(truth: str, answer: str, policy: Policy, question: str | None) -> bool:
    """Whether an answer, equal in value to the truth, still has to be evaluated."""
    clean_t, clean_a = keyed(truth).cleaned, keyed(answer).cleaned
    if is_advanced(clean_t) or (not question and is_advanced(clean_a)):
        return False
    try:
        wanted = parsed(clean_t, policy)
        given = parsed(clean_a, policy)
    except (TooLargeError, UnreadableError):
        return is_advanced(clean_a)
    wanted, given = _values(wanted), _values(given)
    if wanted.op == "text" or shape(wanted) == shape(given):
        return False
    if not question:
        return _is_plain(wanted) and _is_arithmetic_throughout(given)
    return _is_pending(wanted, given) or _is_copied(wanted, given, policy, question)


def _values(node: Node) -> Node:
    """What an equation states: its side without a name that is evaluated most, `5` of `x=2+3=5`."""
    if node.op != "rel" or node.name.strip("= ") or not node.args:
        return node
    sides = list(node.args[1:]) if node.args[0].op in ("sym", "fn", "mul") else list(node.args)
    return min(sides, key=lambda side: sum(1 for _ in walk(side)), default=node)


def _is_pending(truth: Node, answer: Node) -> bool:
    """Whether the answer has arithmetic, or functions of numbers, of a kind that the truth does not have."""
    is_evaluated = not any(node.op in ("fact", "binom") or _is_arithmetic(node) for node in _terms(truth))
    if is_evaluated and any(_is_arithmetic(node) for node in _terms(answer)):
        return True
    if any(has_i(n.args[1]) for n in walk(answer) if n.op == "div") and not any(n.op == "div" for n in walk(truth)):
        return True
    is_exact = all(node.op in (*_WRAPPERS, "num", "neg", "div") and "." not in node.name for node in walk(truth))
    return is_exact and any(node.op == "fn" and not symbols(node) for node in walk(answer))


def _is_arithmetic(node: Node) -> bool:
    """Whether a node adds, multiplies or divides plain numbers, and is no mixed number, fraction or 2 h 45 min."""
    if sum(arg.op == "matrix" for arg in node.args) >= _MIN_MATRICES and node.op in ("add", "mul"):
        return True
    if node.op == "add" and node.name == "":
        numbers = [arg for arg in node.args if _is_number(arg)]
        return len(numbers) > 1 and not _is_mixed(node)
    if node.op == "mul":
        numbers = [arg for arg in node.args if _is_number(arg)]
        is_product = len(numbers) == len(node.args) or sum(arg.op == "num" for arg in numbers) > 1
        return len(numbers) > 1 and is_product and not all(arg.op in ("qty", "deg") for arg in numbers)
    if node.op == "div":
        return all(_is_number(arg) for arg in node.args) and any(_is_decimal(arg) for arg in node.args)
    return False


def _is_plain(node: Node) -> bool:
    """Whether a tree is an integer or a decimal, with or without a unit."""
    while node.op in ("neg", "pct", "qty", "deg"):
        node = node.args[0]
    return node.op == "num"


def _is_arithmetic_throughout(node: Node) -> bool:
    """Whether a tree has only plain numbers, and adds, multiplies or divides them."""
    is_plain = all(n.op in ("num", "neg", "add", "mul", "div", "pct", "qty", "deg") for n in walk(node))
    return is_plain and any(_is_arithmetic(n) for n in _terms(node))


def _terms(node: Node) -> Iterator[Node]:
    """The node and its descendants outside angles: 22 degrees 30 minutes is a sum."""
    yield node
    for arg in node.args if node.op != "deg" else ():
        yield from _terms(arg)


def _is_number(node: Node) -> bool:
    if node.op in ("neg", "pct", "qty", "deg"):
        return _is_number(node.args[0])
    return node.op == "num" or (node.op in ("div", "add", "mul") and all(_is_number(arg) for arg in node.args))


def _is_mixed(node: Node) -> bool:
    """Whether a sum is an integer and a proper fraction: 3 + 1/2."""
    first, *rest = node.args
    if len(rest) != 1 or first.op != "num" or rest[0].op != "div" or any(arg.op != "num" for arg in rest[0].args):
        return False
    over, under = (arg.value or 0 for arg in rest[0].args)
    return (first.value or 0).denominator == 1 and 0 < over < under


def _is_decimal(node: Node) -> bool:
    return node.op == "num" and (node.value or 0).denominator != 1


def _is_copied(truth: Node, answer: Node, policy: Policy, question: str) -> bool:
    """Whether the answer is the formula to be evaluated, or a part of any formula with functions of numbers."""
    if _is_literal(answer, is_integer=truth.op in ("num", "neg")):
        return False
    found = formulas(question, policy)
    form = shape(answer)
    if form in found.asked or _contains(answer, found.asked, truth):
        return True
    is_constant = not symbols(answer)
    return is_constant and any(n.op in ("fn", "fact", "binom") for n in walk(answer)) and form in found.parts


def _contains(answer: Node, asked: frozenset[Shape], truth: Node) -> bool:
    """Whether the answer wraps the formula that the question asks for, as in `1 + f - 1`, and the truth does not."""
    inner = {shape(node) for node in walk(answer) if not _is_literal(node, is_integer=False)}
    return bool((inner & asked) - {shape(node) for node in walk(truth)})


def _is_literal(node: Node, *, is_integer: bool) -> bool:
    """Whether a tree is a number, a name or a word; a fraction is no literal where the truth is an integer."""
    if node.op in ("neg", *_WRAPPERS):
        return all(_is_literal(arg, is_integer=is_integer) for arg in node.args)
    if node.op == "div":
        return not is_integer and reduced(node) is not None and all(arg.op == "num" for arg in node.args)
    return node.op in ("num", "sym", "const")
