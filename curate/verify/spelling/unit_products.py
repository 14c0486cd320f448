r"""Marks a product of units after a figure as one text: `67 \mathrm{J} \mathrm{K}^{-1}` is `67 \text{J K^-1}`.

Letters of a formula stay variables: without a font, units of one letter need a space after the figure and between them,
and a negative power.
"""

from __future__ import annotations

import re
from typing import Final

from curate.verify.vocabulary.units import is_unit_word

_FONT: Final = re.compile(r"\\(?:mathrm|text|rm|textrm)\s*\{([^{}]*)\}")
_SPACE: Final = re.compile(r"\\[,;:! ]|~|\s+")
_TIMES: Final = re.compile(r"\\cdot(?![A-Za-z])|[·⋅*]")
_POWER: Final = re.compile(r"\^ ?(?:\{ ?(-?\d) ?\}|(-?\d)(?!\d))")
_GLUED: Final = re.compile(r"\bJK\b")
_QUANTITY: Final = re.compile(
    r"([-+]?\d[\d.,]*(?: ?(?:\\times|x) ?10\^-?\d+)?) ?"
    r"((?:/ ?\(? ?)?[A-Za-z]+(?:\^-?\d)?(?:[ /()]{1,4}[A-Za-z]+(?:\^-?\d)?)* ?\)?)"
)
_SPACED: Final = re.compile(r"\d (?![/(])")
_MAX_LENGTH: Final = 120


def with_unit_products(text: str) -> str:
    """The text with the product of units at its end as one text, or the text as it is."""
    if len(text) > _MAX_LENGTH or not ("^" in text or "/" in text):
        return text
    plain = _FONT.sub(r" \1 ", text.strip().strip("$"))
    plain = _POWER.sub(r"^\1\2", _SPACE.sub(" ", _TIMES.sub(" ", plain)))
    plain = re.sub(r" ?\^", "^", _GLUED.sub("J K", _SPACE.sub(" ", plain))).strip()
    match = _QUANTITY.fullmatch(plain)
    if match is None or not _is_product(match[2], has_font=_FONT.search(text) is not None, text=plain):
        return text
    return f"{match[1]} \\text{{{match[2].strip()}}}"


def _is_product(units: str, *, has_font: bool, text: str) -> bool:
    words = re.findall(r"[A-Za-z]+", units)
    if not all(is_unit_word(word) for word in words) or not ("/" in units or "^-" in units):
        return False
    if has_font:
        return True
    is_spaced = _SPACED.search(text) is not None
    has_symbol = any(len(word) > 1 for word in words)
    return is_spaced and len(words) > 1 and (has_symbol or "^-" in units)
