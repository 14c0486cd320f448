"""The form of an answer that a question asks for: factored, expanded, in lowest terms, in scientific notation, rounded.

A form counts only if the ground truth has it. An equal answer without it is in another form.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from math import gcd, isqrt
from typing import Final, NamedTuple

from curate.verify.compare.reading import keyed, parsed
from curate.verify.nodes import Node, TooLargeError, UnreadableError, symbols, walk
from curate.verify.policy import Policy

_NUM_PLACES: Final = re.compile(
    r"\b(?P<digits>[1-6]|one|two|three|four|five|six) decimal (?:places?|digits?)\b|"
    r"\bnearest (?P<name>tenth|hundredth|thousandth)s?\b",
    re.IGNORECASE,
)
_PLACES: Final = {
    **{name: number for number, name in enumerate(("one", "two", "three", "four", "five", "six"), start=1)},
    **{str(number): number for number in range(1, 7)},
    **{name: number for number, name in enumerate(("tenth", "hundredth", "thousandth"), start=1)},
}
_MAX_PRIME: Final = 10**10
Level = Callable[[Node], int | None]


class Form(NamedTuple):
    """The words that ask for a form, and its measure.

    level: how far a tree has the form, or None if it has not; an answer needs at least the level of the truth.
    """

    asked: re.Pattern[str]
    level: Level


def lacks_asked_form(truth: str, answer: str, policy: Policy, question: str) -> bool:
    """Whether the question asks for a form that the truth has and the answer, equal in value, has not."""
    asked = _asked(question)
    if not asked:
        return False
    try:
        wanted = parsed(keyed(truth).cleaned, policy)
        given = parsed(keyed(answer).cleaned, policy)
    except (TooLargeError, UnreadableError):
        return False
    return any(_lacks(form, wanted, given) for form in asked) or _is_too_coarse(question, wanted, given)


@lru_cache(maxsize=10_000)
def _asked(question: str) -> tuple[Form, ...]:
    return tuple(form for form in FORMS if form.asked.search(question))


def _lacks(form: Form, truth: Node, answer: Node) -> bool:
    level = form.level(truth)
    if level is None:
        return False
    if form.level is _percentage and _per_hundred(truth, answer):
        return False
    reached = form.level(answer)
    return reached is None or reached < level


def _is_too_coarse(question: str, truth: Node, answer: Node) -> bool:
    """Whether the truth has as many decimal places as the question asks for, and another answer has fewer."""
    asked = _NUM_PLACES.search(question)
    ours, theirs = _figure(truth), _figure(answer)
    if asked is None or ours is None or theirs is None:
        return False
    num_places = _PLACES[(asked["digits"] or asked["name"]).lower()]
    places = [len(figure.partition(".")[2]) for figure in (ours, theirs)]
    return places[0] == num_places > places[1] and ours.rstrip("0").rstrip(".") != theirs


def _value(node: Node) -> Node:
    """The right side of an equation, without a sign."""
    while (node.op == "rel" and node.name == "=") or node.op == "neg":
        node = node.args[-1]
    return node


def _holds(claim: bool) -> int | None:
    return 0 if claim else None


def _factored(node: Node) -> int | None:
    """The number of factors with several terms, with their multiplicity."""
    node = _value(node)
    factors = _factors(node.args[0] if node.op == "div" else node)
    if len(factors) == 1 and factors[0].op != "pow":
        return None
    count = sum(_multiplicity(factor) for factor in factors)
    return count or None


def _factors(node: Node) -> list[Node]:
    if node.op in ("mul", "neg"):
        return [factor for arg in node.args for factor in _factors(arg)]
    return [node]


def _multiplicity(factor: Node) -> int:
    if factor.op == "pow" and factor.args[0].op == "add" and factor.args[1].value is not None:
        return max(int(factor.args[1].value), 0)
    return int(factor.op == "add" and bool(symbols(factor)))


def _expanded(node: Node) -> int | None:
    """Whether no product or power contains a sum."""
    return _holds(not any(_is_product_of_sums(n) for n in walk(_value(node))))


def _is_product_of_sums(node: Node) -> bool:
    if node.op == "mul":
        return any(arg.op == "add" and arg.name == "" for arg in node.args)
    return node.op == "pow" and node.args[0].op == "add" and node.args[1].op == "num"


def _reduced(node: Node) -> int | None:
    """Whether every fraction of integers is in lowest terms."""
    return _holds(all(_is_reduced(n) for n in walk(node) if n.op == "div"))


def _is_reduced(fraction: Node) -> bool:
    values = [abs(arg.value) for arg in fraction.args if arg.value is not None]
    if len(values) < len(fraction.args):
        return True
    over, under = values
    return over.denominator == under.denominator == 1 and under != 1 and gcd(int(over), int(under)) == 1


def _fraction(node: Node) -> int | None:
    """Whether no number is a decimal or a percentage."""
    return _holds(not any(n.op == "pct" or (n.op == "num" and "." in n.name) for n in walk(node)))


def _mixed(node: Node) -> int | None:
    return _holds(_value(node).name == "mixed")


def _scientific(node: Node) -> int | None:
    r"""Whether a number is a figure from 1 to 10 times a power of ten."""
    node = _value(node)
    node = node.args[0] if node.op == "qty" else node
    if node.op == "num":
        figure, mark, _ = node.name.lower().partition("e")
        return _holds(bool(mark) and _is_from_1_to_10(figure))
    factors = _factors(node)
    powers = [factor for factor in factors if factor.op == "pow" and factor.args[0].value == 10]
    others = [factor for factor in factors if factor not in powers]
    is_figure = len(others) <= 1 and all(o.op == "num" and _is_from_1_to_10(o.name) for o in others)
    return _holds(len(powers) == 1 and is_figure)


def _is_from_1_to_10(figure: str) -> bool:
    return re.fullmatch(r"[1-9](?:\.\d*)?", figure) is not None


def _prime_factors(node: Node) -> int | None:
    """Whether a number is a product of primes or of powers of primes."""
    factors = _factors(_value(node))
    bases = [factor.args[0] if factor.op == "pow" else factor for factor in factors]
    is_product = len(factors) > 1 or factors[0].op == "pow" or factors[0].op == "num"
    return _holds(is_product and all(base.op == "num" and _is_prime(base) for base in bases))


def _is_prime(node: Node) -> bool:
    value = node.value
    if value is None or value.denominator != 1 or not 2 <= value <= _MAX_PRIME:
        return False
    number = int(value)
    return number == 2 or (number % 2 == 1 and all(number % d for d in range(3, isqrt(number) + 1, 2)))


def _decimal(node: Node) -> int | None:
    """Whether a number is written in figures, with or without a unit."""
    return _holds(_figure(node) is not None and _value(node).op != "pct")


def _places(node: Node) -> int | None:
    """Minus the number of decimal places of a figure: an answer must not have more than the truth."""
    figure = _figure(node)
    return None if figure is None else -len(figure.partition(".")[2].rstrip("0"))


def _figure(node: Node) -> str | None:
    node = _value(node)
    while node.op in ("qty", "deg", "pct", "neg"):
        node = node.args[0]
    return node.name if node.op == "num" else None


def _percentage(node: Node) -> int | None:
    return _holds(_value(node).op == "pct")


def _per_hundred(truth: Node, answer: Node) -> bool:
    """Whether an answer without a percent sign is the figure in front of it."""
    return _figure(answer) is not None and _figure(answer) == _figure(truth)


def _radians(node: Node) -> int | None:
    return _holds(not any(n.op == "deg" for n in walk(node)))


def _degrees(node: Node) -> int | None:
    has_pi = any(n.op == "const" and n.name == "pi" for n in walk(node))
    return _holds(any(n.op == "deg" for n in walk(node)) or not has_pi)


def _slope_intercept(node: Node) -> int | None:
    """Whether a line is `y = mx + b`, or its right side alone."""
    if node.op != "rel":
        return _holds(bool(symbols(node)))
    name, value = node.args[0], node.args[-1]
    is_linear = not any(_is_product_of_sums(n) for n in walk(value))
    return _holds(name.op == "sym" and name.name not in symbols(value) and is_linear)


def _standard_line(node: Node) -> int | None:
    is_rel = node.op == "rel" and not symbols(node.args[-1])
    return _holds(is_rel and len(symbols(node.args[0])) > 1)


def _vertex(node: Node) -> int | None:
    """Whether a quadratic has a squared sum or a square, and no other term with the variable."""
    value = _value(node)
    terms = list(value.args) if value.op == "add" else [value]
    with_names = [term for term in terms if symbols(term)]
    squares = [n for term in with_names for n in walk(term) if n.op == "pow"]
    return _holds(len(with_names) == 1 and len(squares) == 1)


def _power(node: Node) -> int | None:
    return _holds(_value(node).op == "pow")


def _simple_radical(node: Node) -> int | None:
    """Whether no square factor stands under a root."""
    roots = [n for n in walk(node) if n.op == "root" and n.args[0].value is not None and n.args[1].value is not None]
    return _holds(all(_is_free(int(n.args[1].value or 0), int(n.args[0].value or 2)) for n in roots))


def _is_free(number: int, degree: int) -> bool:
    if not 2 <= degree <= 10 or not 1 < number <= _MAX_PRIME:
        return number > 1
    return all(number % base**degree for base in range(2, min(round(number ** (1 / degree)) + 2, 10**6)))


def _rational_denominator(node: Node) -> int | None:
    return _holds(not any(m.op == "root" for n in walk(node) if n.op == "div" for m in walk(n.args[1])))


def _rectangular(node: Node) -> int | None:
    """Whether a complex number is `a + bi`: no product of sums, no i in a denominator."""
    has_i = any(_has_i(n.args[1]) for n in walk(node) if n.op == "div")
    return _holds(not has_i and not any(_is_product_of_sums(n) for n in walk(node)))


def _has_i(node: Node) -> bool:
    return any(n.op == "const" and n.name == "i" for n in walk(node))


def _form(words: str, level: Level) -> Form:
    return Form(re.compile(words, re.IGNORECASE), level)


_DIGITS: Final = r"(?:\d+|one|two|three|four|five|six)"
FORMS: Final = (
    _form(r"\bfactor(?:ed|i[sz]e[ds]?|i[sz]ation)?\b(?! (?:of|by|in) \d)|因式分解|分解因式", _factored),
    _form(r"\bexpand(?:ed)?\b|\bmultipl(?:y|ied) out\b|展开", _expanded),
    _form(
        r"\blowest terms\b|\bsimplest (?:form|fraction)\b|\b(?:reduced|simplified|irreducible) fraction\b|最简",
        _reduced,
    ),
    _form(
        r"\bcommon fraction\b|\b(?:as|to|into) an? (?:\w+ )?fraction\b|\bfraction(?:al)? form\b|化为分数|分数形式",
        _fraction,
    ),
    _form(r"\bmixed (?:number|fraction|numeral)\b|带分数", _mixed),
    _form(r"\bscientific (?:notation|form)\b|科学(?:记数|计数)法", _scientific),
    _form(r"\bprime factori[sz]ation\b|\bproduct of (?:its |the )?(?:powers of )?prime|分解质因数", _prime_factors),
    _form(
        r"\b(?:as|to|into|in) an? (?:\w+ )?decimal\b|\bdecimal (?:form|notation|number)\b|化为小数|小数形式", _decimal
    ),
    _form(
        rf"\b{_DIGITS} decimal (?:places?|digits?)\b|\bnearest (?:tenth|hundredth|thousandth|ten-thousandth)s?\b|"
        r"保留[一二三四两\d]位小数|精确到",
        _places,
    ),
    _form(
        r"\b(?:as|to|into|in) (?:a |the )?percent(?:age)?\b|\bwhat percent|\bpercentage of\b|百分(?:数|比)", _percentage
    ),
    _form(r"\b(?:in|to|into) radians?\b|\bradian measure\b|化为弧度", _radians),
    _form(r"\b(?:in|to|into) degrees?\b|\bdegree measure\b|\bhow many degrees\b|多少度", _degrees),
    _form(r"\bslope[- ]intercept form\b|\by ?= ?mx ?\+ ?[bc]\b|斜截式", _slope_intercept),
    _form(r"\bA ?x ?\+ ?B ?y ?(?:\+ ?C ?= ?0|= ?C)|\bstandard form\b", _standard_line),
    _form(r"\bvertex form\b|顶点式", _vertex),
    _form(r"\bas a power of\b|\bexponential form\b", _power),
    _form(r"\bsimplest radical form\b|\bsimplif(?:y|ied)\b|化简", _simple_radical),
    _form(r"\brationali[sz]e", _rational_denominator),
    _form(r"\ba ?\+ ?b ?i\b|\b(?:rectangular|standard) form\b", _rectangular),
)
