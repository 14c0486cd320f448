"""The form of an answer that a question asks for: factored, expanded, in lowest terms, in scientific notation, rounded.

A form counts only if the ground truth has it. An equal answer without it is in another form.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

from curate.verify.compare.reading import keyed, parsed
from curate.verify.nodes import Node, TooLargeError, UnreadableError
from curate.verify.policy import Policy
from curate.verify.question.levels import (
    decimal,
    degrees,
    expanded,
    factored,
    figure,
    fraction,
    has,
    has_i,
    has_pi,
    has_point,
    mixed,
    per_hundred,
    percentage,
    places,
    power,
    prime_factors,
    radians,
    rational_denominator,
    rectangular,
    reduced,
    scientific,
    simple_radical,
    slope_intercept,
    standard_line,
    vertex,
)

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
Level = Callable[[Node], int | None]


class Form(NamedTuple):
    """The words that ask for a form, and its measure.

    level: how far a tree has the form, or None if it has not; an answer needs at least the level of the truth.
    shows: whether a truth with the form shows it; "as a fraction m/n, find m+n" asks for no fraction.
    """

    asked: re.Pattern[str]
    level: Level
    shows: Callable[[Node], bool] = bool


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
    if level is None or not form.shows(truth):
        return False
    if form.level is percentage and per_hundred(truth, answer):
        return False
    reached = form.level(answer)
    return reached is None or reached < level


def _is_too_coarse(question: str, truth: Node, answer: Node) -> bool:
    """Whether the truth has as many decimal places as the question asks for, and another answer has fewer."""
    asked = _NUM_PLACES.search(question)
    ours, theirs = figure(truth), figure(answer)
    if asked is None or ours is None or theirs is None:
        return False
    num_places = _PLACES[(asked["digits"] or asked["name"]).lower()]
    decimals = [len(digits.partition(".")[2]) for digits in (ours, theirs)]
    return decimals[0] == num_places > decimals[1] and ours.rstrip("0").rstrip(".") != theirs


def _form(words: str, level: Level, shows: Callable[[Node], bool] = bool) -> Form:
    return Form(re.compile(words, re.IGNORECASE), level, shows)


_DIGITS: Final = r"(?:\d+|one|two|three|four|five|six)"
FORMS: Final = (
    _form(r"\bfactor(?:ed|i[sz]e[ds]?|i[sz]ation)?\b(?! (?:of|by|in) \d)|因式分解|分解因式", factored),
    _form(r"\bexpand(?:ed)?\b|\bmultipl(?:y|ied) out\b|展开", expanded),
    _form(
        r"\blowest terms\b|\bsimplest (?:form|fraction)\b|\b(?:reduced|simplified|irreducible) fraction\b|最简",
        reduced,
        has("div"),
    ),
    _form(
        r"\bcommon fraction\b|\b(?:find|what) (?:the |common )*fraction\b|"
        r"\b(?:as|to|into) an? (?:\w+ )?fraction\b|\bfraction(?:al)? form\b|化为分数|分数形式",
        fraction,
        has("div"),
    ),
    _form(r"\bmixed (?:number|fraction|numeral)\b|带分数", mixed),
    _form(r"\bscientific (?:notation|form)\b|科学(?:记数|计数)法", scientific),
    _form(
        r"\bprime factori[sz]ation\b|\bproduct of (?:its |the )?(?:powers of )?prime|分解质因数",
        prime_factors,
        has("mul", "pow"),
    ),
    _form(
        r"\b(?:as|to|into|in) an? (?:\w+ )?decimal\b|\bdecimal (?:form|notation|number)\b|化为小数|小数形式",
        decimal,
        has_point,
    ),
    _form(
        rf"\b{_DIGITS} decimal (?:places?|digits?)\b|\bnearest (?:tenth|hundredth|thousandth|ten-thousandth)s?\b|"
        r"保留[一二三四两\d]位小数|精确到",
        places,
    ),
    _form(
        r"\b(?:as|to|into|in) (?:a |the )?percent(?:age)?\b|\bwhat percent|\bpercentage of\b|百分(?:数|比)", percentage
    ),
    _form(r"\b(?:in|to|into) radians?\b|\bradian measure\b|化为弧度", radians, has_pi),
    _form(r"\b(?:in|to|into) degrees?\b|\bdegree measure\b|\bhow many degrees\b|多少度", degrees),
    _form(r"\bslope[- ]intercept form\b|\by ?= ?mx ?\+ ?[bc]\b|斜截式", slope_intercept),
    _form(r"\bA ?x ?\+ ?B ?y ?(?:\+ ?C ?= ?0|= ?C)|\bstandard form\b", standard_line),
    _form(r"\bvertex form\b|顶点式", vertex),
    _form(r"\bas a power of\b|\bexponential form\b", power),
    _form(r"\bsimplest radical form\b|\bsimplif(?:y|ied)\b|化简", simple_radical),
    _form(r"\brationali[sz]e", rational_denominator),
    _form(r"\ba ?\+ ?b ?i\b|\b(?:rectangular|standard) form\b", rectangular, has_i),
)
