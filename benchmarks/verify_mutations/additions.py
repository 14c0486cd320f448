"""Mutations that add a second answer, a condition or a factor to an answer."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

_OTHERS: Final = ("7919", "-7919", "\\frac{7919}{3}", "x=7919", "\\sqrt{7919}", "(7919,1)", "A", "yes", "\\infty")
_JOINED: Final = {
    "comma": "{}, {}",
    "semicolon": "{}; {}",
    "or": "{} or {}",
    "and": "{} and {}",
    "or in text": "{} \\text{{ or }} {}",
    "quad": "{} \\quad {}",
    "space": "{} {}",
    "line": "{}\n{}",
    "approximately": "{} \\approx {}",
    "equals": "{} = {}",
    "implies": "{} \\Rightarrow {}",
    "colon": "{}: {}",
    "bar": "{} | {}",
    "slash": "{} / {}",
    "in brackets": "{} ({})",
    "dots": "{}, \\ldots, {}",
    "union": "{} \\cup {}",
    "plus-minus": "{} \\pm {}",
    "not": "{} \\text{{, not }} {}",
    "instead": "{} instead of {}",
    "less": "{} < {}",
    "dollars": "${}$ ${}$",
    "name": "y = {} \\quad z = {}",
    "two names": "x={} x={}",
}
_WRAPPED: Final = {
    "negated": "-({})",
    "doubled": "2({})",
    "squared": "({})^2",
    "in a root": "\\sqrt{{{}}}",
    "in a logarithm": "\\ln({})",
    "plus epsilon": "{} + 10^{{-30}}",
    "not before": "not {}",
    "less than": "< {}",
    "more than": "more than {}",
    "at least": "at least {}",
    "not equal": "\\ne {}",
    "about": "about {}",
    "not sure": "{} or not",
    "times unknown": "{} q",
    "percent": "{}\\%",
    "degrees": "{}^\\circ",
    "cubed unit": "{} \\text{{ cm}}^3",
    "money": "\\${}",
    "factorial": "({})!",
    "absolute": "|{}|",
    "floor": "\\lfloor {} \\rfloor",
    "primed": "({})'",
    "set of set": "\\{{\\{{{}\\}}\\}}",
    "tuple": "({}, {})",
    "modulo": "{} \\pmod{{7}}",
    "interval": "[{}, \\infty)",
    "label": "B: {}",
    "name": "q = {}",
    "unknown twice": "x = x = {}",
}


def _join(form: str) -> Callable[[str, Random], str]:
    def joined(text: str, source: Random) -> str:
        pair = [text, source.choice(_OTHERS)]
        source.shuffle(pair)
        return form.format(*pair)

    return joined


def _wrap(form: str) -> Callable[[str, Random], str]:
    return lambda text, _: form.format(*[text] * form.replace("{{", "").count("{}"))


ADDITIONS: Final[dict[str, Callable[[str, Random], str]]] = {
    **{f"another after {name}": _join(form) for name, form in _JOINED.items()},
    **{name: _wrap(form) for name, form in _WRAPPED.items()},
}
