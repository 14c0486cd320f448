r"""Mends slips of the keyboard and of exports: `\\frac`, `\sinx`, `10,\! 000`, `R\$ 5`, `in 1914`.

Nothing here changes what a text says: each slip has one reading, or none at all without it.
"""

from __future__ import annotations

import re
from typing import Final

_COMMANDS: Final = (
    "frac|dfrac|tfrac|sqrt|le|leq|ge|geq|ne|neq|lt|gt|pi|cdot|times|div|pm|mp|text|mathrm|mathbf|left|right|sin|cos|tan|cot|"
    "sec|csc|arcsin|arccos|arctan|log|ln|exp|infty|boxed|alpha|beta|gamma|theta|lambda|mu|phi|omega|sum|prod|int|lim|binom|"
    "cup|cap|in|circ|angle|triangle|overline|quad|ldots|dots|to|mid|approx|equiv|in"
)
_DOUBLED: Final = re.compile(rf"\\\\(?=(?:{_COMMANDS})(?![A-Za-z]))")
# a function and one letter; sinh, lne and the like are commands of their own
_GLUED: Final = re.compile(
    r"\\(?!(?:sinh|cosh|tanh|coth|sech|csch|lne|pitchfork|cdots|timesb)(?![A-Za-z]))"
    r"(sin|cos|tan|cot|sec|csc|log|ln|pi|quad|qquad|cdot|times)([a-zA-Z])(?![A-Za-z])"
)
_GLUED_WORD: Final = re.compile(r"(?<=\d)(or|and)(?=[A-Za-z]\([a-z]\)\s*=)")
_SPACED_THOUSANDS: Final = re.compile(r"(?<=\d)(?:,\s*\\!\s+|\{,\}\s+)(?=\d{3}(?!\d))")
_COUNTRY: Final = re.compile(r"^(?:US|AU|A|CA|C|HK|NT|NZ|S|R|MX)\s?\\?\$\s?(?=\d)")
_SCALED_MONEY: Final = re.compile(r"^(-?\\?\$\s?-?[\d.,]+)\s?([KkMB])$")
_SCALES: Final = {"K": "thousand", "k": "thousand", "M": "million", "B": "billion"}
_MONEY_MINUS: Final = re.compile(r"^\\?\$\s?-\s?(?=\d)")
_YEAR: Final = re.compile(r"^(?:in|in the year|the year|year)\s+(\d{4})\.?$", re.IGNORECASE)


def mended(text: str) -> str:
    """The text without slips; most texts have none and are returned as they are."""
    if "\\" in text:
        text = _in_commands(text)
    if text.count("$") == 1:  # two are the marks of mathematics
        text = _SCALED_MONEY.sub(lambda m: f"{m[1]} {_SCALES[m[2]]}", _COUNTRY.sub(r"\\$", text.strip()))
        text = _MONEY_MINUS.sub(r"-\\$", text)
    elif text[:1] in "iItTyY" and (year := _YEAR.match(text)):
        return year[1]
    if "{,}" in text:
        text = _SPACED_THOUSANDS.sub(",", text)
    return _GLUED_WORD.sub(r" \1 ", text) if "=" in text and ("or" in text or "and" in text) else text


def _in_commands(text: str) -> str:
    if "\\\\" in text and "\\begin" not in text:
        text = _DOUBLED.sub(r"\\", text)
    if "\\!" in text:
        text = _SPACED_THOUSANDS.sub(",", text)
    return _GLUED.sub(r"\\\1 \2", text)
