"""math-verify, for the notation our own grammar does not read: sums, integrals, limits, derivatives.

Only this module imports math_verify and sympy, and only inside a worker that its parent can kill. The text goes through
the LaTeX grammar (ANTLR) alone: math-verify's plain-expression reader ends in `parse_expr`, which executes Python, and
is never switched on. Its comparison rounds to six decimals, so a claim of equality is checked again to 40 digits.
"""

from __future__ import annotations

import logging
from typing import Any

_DIGITS = 40


def compare_latex(truth: str, answer: str) -> bool | None:
    """Whether two LaTeX expressions are equal; None where math-verify can't read the truth or the answer."""
    from math_verify import LatexExtractionConfig, parse, verify

    logging.getLogger("math_verify").setLevel(logging.ERROR)
    config = [LatexExtractionConfig(boxed_match_priority=-1)]
    sides = []
    for text in (truth, answer):
        found = parse(f"${text}$", extraction_config=config, fallback_mode="no_fallback", parsing_timeout=None)
        if not found:
            return None
        sides.append(found[0])
    if not verify(sides[:1], sides[1:], float_rounding=15, numeric_precision=_DIGITS, timeout_seconds=None):
        return False
    return _confirmed(sides[0], sides[1])


def _confirmed(a: Any, b: Any) -> bool | None:  # Any: sympy has no types
    """Equality again, relative to the size of the values: math-verify takes 2^-100 for 2^-99."""
    from sympy import Expr, Float

    if not (isinstance(a, Expr) and isinstance(b, Expr)) or a.free_symbols or b.free_symbols:
        return True
    x, y = (side.doit().evalf(_DIGITS) for side in (a, b))
    if not (x.is_number and y.is_number):
        return None
    size = max(abs(x), abs(y))
    return bool(size == 0 or abs(x - y) <= size * Float(10) ** (8 - _DIGITS))


def warm() -> None:
    """Import what a comparison needs, so that a worker's first pair is not charged for it."""
    import latex2sympy2_extended
    import math_verify
    import sympy

    _ = (latex2sympy2_extended, math_verify, sympy)
    compare_latex("1", "1")
