r"""Marks a unit after a figure as text where its signs are those of mathematics: `10\,\mu\mathrm{F}`, `6840{ft}^2`.

A single capital letter counts as a unit only after a figure and a space (`10 T`); `10T` and `5 x` stay products.
"""

from __future__ import annotations

import re
from typing import Final

from curate.verify.vocabulary.units import is_unit_word

_FIGURE: Final = r"^(\s*-?\d[\d.,]*(?:\s*\\times\s*10\^\{?-?\d+\}?)?)"
_MICRO: Final = re.compile(r"\\mu\s*(?:\\(?:mathrm|text|rm|textrm)\s*)?\{?\s*([A-Za-z]{1,3})\s*\}?(?=[\s$]*$)")
_FONT_MICRO: Final = re.compile(r"\\(?:mathrm|text|rm|textrm)\s*\{\s*\\mu\s*(?:\\mathrm\s*)?\{?([A-Za-z]{1,3})\}?\s*\}")
_ANGSTROM: Final = re.compile(r"\\(?:mathring|AA|r)\s*(?:\{\s*(?:\\(?:mathrm|text)\s*\{)?\s*A\s*\}?\s*\})?(?=[\s$}]*$)")
_BRACED: Final = re.compile(_FIGURE + r"\s*\{\s*([A-Za-z]{1,5})\s*\}\s*(?:\^\s*\{?\s*([23])\s*\}?)?\s*$")
_BARE: Final = re.compile(_FIGURE + r"(?:\s|\\[,;: ]|~)+([A-Z]|[A-Za-z]{2,4})\s*$")
_FOOT_POUNDS: Final = re.compile(r"(?:\\(?:mathrm|text)\s*\{\s*)?ft\s*[-·]\s*lbs?(?:\s*\})?\s*$")
_LETTERS: Final = frozenset("TCVWNJKAFH")
_DIGIT: Final = re.compile(r"\d")
_SPACES: Final = re.compile(r"(?:\s|\\[,;:! ]|~)+$")
_MAX_CHARS: Final = 60


def with_units(text: str) -> str:
    r"""The text with its unit as `\text{...}`, or the text as it is."""
    if len(text) > _MAX_CHARS or not _DIGIT.search(text):
        return text
    if text[:1] == text[-1:] == "$" and text.count("$") == 2 and len(text) > 2:
        return f"${with_units(text[1:-1])}$"
    if "\\mu" in text:
        text = _FONT_MICRO.sub(lambda m: _micro(m, text), text)
        text = _MICRO.sub(lambda m: _micro(m, text), text)
    if "\\AA" in text or "\\mathring" in text:
        text = _ANGSTROM.sub(r"\\text{ angstrom}", text)
    if "ft" in text:
        text = _FOOT_POUNDS.sub(r"\\text{ ft lb}", text)
    if "{" in text and (match := _BRACED.match(text)) and is_unit_word(match[2]):
        return f"{match[1]} \\text{{{match[2]}{'^' + match[3] if match[3] else ''}}}"
    match = _BARE.match(text)
    if match and (match[2] in _LETTERS or (len(match[2]) > 1 and is_unit_word(match[2]) and not match[2].islower())):
        return f"{match[1]} \\text{{{match[2]}}}"
    return text


def _micro(match: re.Match[str], text: str) -> str:
    """A micro-unit as text, if a figure stands before it."""
    before = _SPACES.sub("", text[: match.start()])
    return f"\\text{{ u{match[1]}}}" if before[-1:].isdigit() or before.endswith("}") else match[0]
