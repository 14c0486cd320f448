"""Compares answers by math-verify, for notation outside the grammar: sums, integrals, limits, derivatives.

Only this module imports math_verify and sympy, and only inside a worker that its parent can kill. Text is parsed by the
LaTeX grammar (ANTLR) only: math-verify's plain-expression parser ends in `parse_expr`, which executes Python, and is
never enabled. math-verify's comparison rounds and treats any exception as "different". Expressions are therefore
compared here, to 50 digits; its comparison is used only for other objects, and only its "equal" is trusted.
"""

from __future__ import annotations

import logging
import random
from typing import Any, Final

from curate.verify.symbolic.statements import Statement, statement, words

_DIGITS: Final = (30, 50)
_NUM_POINTS: Final = 2
_TYPICAL: Final = (
    r"\int_0^1 x dx",
    r"\sum_{k=1}^{3} \frac{1}{k}",
    r"\lim_{x\to 0}\frac{\sin x}{x}",
    r"\frac{d}{dx} x^2",
    r"\prod_{k=1}^{3} (k+\sqrt{2})^{k}",
)


def compare_latex(truth: str, answer: str) -> bool | None:
    """Whether two LaTeX expressions or relations are equal; None if they cannot be parsed or compared.

    Of relations every side is judged: math-verify by itself compares the left sides, and takes <= and >= for the same.
    """
    if words(truth) != words(answer) or any(text.count("{") != text.count("}") for text in (truth, answer)):
        return None
    ours, theirs = statement(truth), statement(answer)
    if {*ours.signs, *theirs.signs} <= {"=", "~"}:
        return _same_values(ours, theirs)
    if ours.signs != theirs.signs:
        return None
    is_same = all(_compare(a, b) for a, b in zip(ours.sides, theirs.sides, strict=True))
    return True if is_same else None


def _same_values(truth: Statement, answer: Statement) -> bool | None:
    """Compare the last exact sides; every other side of the answer must be a side of the truth, or equal its value."""
    if truth.name and answer.name and truth.name != answer.name:
        return False
    if not truth.is_solved:
        is_same = len(truth.sides) == len(answer.sides) and all(map(_compare, truth.sides, answer.sides))
        return True if is_same else None
    outcome = _compare(truth.value, answer.value)
    for side in answer.exact[:-1]:
        if outcome and side not in truth.sides:
            outcome = _compare(answer.value, side) or None
    for side in answer.rounded:
        if outcome and not (side in truth.rounded or _is_near(answer.value, side)):
            return None
    return outcome


def _compare(truth: str, answer: str) -> bool | None:
    from math_verify import verify
    from sympy import Expr
    from sympy.core.relational import Relational

    if truth == answer:
        return True
    a, b = _parsed(truth), _parsed(answer)
    if a is None or b is None or isinstance(a, Relational) or isinstance(b, Relational):
        return None
    if isinstance(a, Expr) and isinstance(b, Expr):
        return _equal(_worked_out(a), _worked_out(b))
    return True if verify([a], [b], float_rounding=15, numeric_precision=_DIGITS[1], timeout_seconds=None) else None


def _is_near(value: str, rounded: str) -> bool:
    """Whether a decimal is a value rounded or cut off at its last place."""
    places = len(rounded.partition(".")[2].strip())
    a, b = _parsed(value), _parsed(rounded)
    if a is None or b is None or a.free_symbols or b.free_symbols:
        return False
    return bool(abs(_worked_out(a).evalf(_DIGITS[0]) - b.evalf(_DIGITS[0])) < 10.0**-places)


def _parsed(text: str) -> Any:  # Any: sympy has no types
    from math_verify import LatexExtractionConfig, parse

    logging.getLogger("math_verify").setLevel(logging.ERROR)
    config = [LatexExtractionConfig(boxed_match_priority=-1)]
    found = parse(f"${text}$", extraction_config=config, fallback_mode="no_fallback", parsing_timeout=None)
    return found[0] if found else None


def _worked_out(side: Any) -> Any:
    """The expression with sums, limits and derivatives evaluated, except finite sums of numbers: `evalf` is faster."""
    from sympy import Limit, oo

    return side.doit() if side.free_symbols or side.has(Limit, oo) else side


def _equal(a: Any, b: Any) -> bool | None:
    """Compare values to 30 and 50 digits, relative to their size; with variables also by simplifying the difference.

    Variables get whole numbers, since they may be limits of sums. A difference there is proof, agreement is not.
    """
    from sympy import Rational, simplify

    names = sorted(a.free_symbols | b.free_symbols, key=str)
    for number in range(_NUM_POINTS if names else 1):
        source = random.Random(number)
        point = {name: Rational(source.randrange(3, 40)) for name in names}
        for digits in _DIGITS:
            x, y = (side.subs(point).evalf(digits) for side in (a, b))
            if not (x.is_number and y.is_number and x.is_finite and y.is_finite):
                return None
            if abs(x - y) > max(abs(x), abs(y)) * Rational(10) ** (8 - digits):
                return False
    return True if not names or simplify(a - b) == 0 else None


def warm() -> None:
    """Load the libraries and fill the parser's caches, so that no pair's time includes it."""
    for text in _TYPICAL:
        compare_latex(text, text)
