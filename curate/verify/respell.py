"""Notations that are rewritten into the grammar's own before parsing: each a pattern and what it stands for.

All patterns are linear in the length of the text: no nested repetition.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

Rewrite = str | Callable[[re.Match[str]], str]


def _spoken_fraction(match: re.Match[str]) -> str:
    """English names the top first, Chinese the bottom."""
    first, second = (_WORDS[word.lower()] for word in match.groups())
    top, bottom = (first, second) if match[1].isascii() else (second, first)
    return rf"\frac{{{top}}}{{{bottom}}}"


_INTEGER_INDEX: Final = re.compile(
    r",? ?(?:\\text\{)?,? ?(?:where|for|with|and)?\}? ?(?:any |all |every |some )?(?:\\text\{ ?)?(?<![A-Za-z])"
    r"([a-zA-Z])\}? ?(?:\\text\{)? ?(?:is|are) (?:an |any )?integers?\}?"
)
_INTEGERS: Final = re.compile(
    r",? ?(?:\\text\{)? ?(?:where|for|with) (?:any|all|every|some|an) integers? ?\}? ?([a-zA-Z])(?![A-Za-z])"
)
_WORDS: Final = {
    **dict(zip("one two three four five".split(), range(1, 6), strict=True)),
    "a": 1,
    "half": 2,
    "third": 3,
    "quarter": 4,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "eighth": 8,
    **dict(zip("一二三四五六七八九十", range(1, 11), strict=True)),
}
# (what must stand in the text for the pattern to be tried, pattern, replacement)
_REWRITES: Final[tuple[tuple[str, re.Pattern[str], Rewrite], ...]] = (
    # 0.(3): a repeating decimal
    (".", re.compile(r"(?<![\d.])(\d+\.\d*)\((\d+)\)$"), r"\1\\overline{\2}"),
    # 3 to 4: a ratio
    (" to ", re.compile(r"^(\d+(?:\.\d+)?) to (\d+(?:\.\d+)?)$"), r"\1:\2"),
    # 3:30 p.m.
    (":", re.compile(r"(?<=\d) ?(?:\\text\{ ?)?([apAP])\.? ?[mM]\b\.?\}?$"), lambda m: rf"\text{{{m[1].lower()}m}}"),
    # binomials: {}_{10}C_3, ^{10}C_3, C_{10}^3, C^3_{10}, C(10,3)
    ("C", re.compile(r"(?:\{\})? ?[_^]\{?(\d+)\}? ?C ?_ ?\{?(\d+)\}?"), r"\\binom{\1}{\2}"),
    ("C", re.compile(r"(?<![A-Za-z\\])C ?_ ?(?:\{(\d+)\}|(\d)) ?\^ ?(?:\{(\d+)\}|(\d))"), lambda m: _binomial(m, 1)),
    ("C", re.compile(r"(?<![A-Za-z\\])C ?\^ ?(?:\{(\d+)\}|(\d)) ?_ ?(?:\{(\d+)\}|(\d))"), lambda m: _binomial(m, -1)),
    ("C", re.compile(r"(?<![A-Za-z\\])C ?\((\d+), ?(\d+)\)"), r"\\binom{\1}{\2}"),
    # the index of a family: (k \in Z), "where k is an integer", "for any integer k"
    ("\\in", re.compile(r" ?\((?=[a-zA-Z](?:, ?[a-zA-Z])? ?\\in)([^()]*)\)"), r", \1"),
    ("integer", _INTEGER_INDEX, r", \1\\in\\mathbb{Z}"),
    ("integer", _INTEGERS, r", \1\\in\\mathbb{Z}"),
    # numerals with letters in a stated base
    ("\\text", re.compile(r"\\text\{([0-9A-Z]+)\}(?=_)"), r"\1"),
    # French open intervals: ]0,1[ and [0,1[
    ("[", re.compile(r"^\]([^\[\]()]+,[^\[\]()]+)\[$"), r"(\1)"),
    ("[", re.compile(r"^\[([^\[\]()]+,[^\[\]()]+)\[$"), r"[\1)"),
    ("]", re.compile(r"^\]([^\[\]()]+,[^\[\]()]+)\]$"), r"(\1]"),
    # 7th, 21^{st}
    ("", re.compile(r"(?<=\d) ?(?:\^ ?\{? ?)?(?:\\text\{)?(?:st|nd|rd|th)\b\}{0,2}"), ""),
    # one half, two thirds; 四分之三, 百分之25, 3比4
    (
        " ",
        re.compile(
            r"^(?:(one|a|two|three|four|five) )(half|third|quarter|fourth|fifth|sixth|eighth)s?$", re.IGNORECASE
        ),
        _spoken_fraction,
    ),
    ("分之", re.compile(r"百分之(\d+(?:\.\d+)?)"), r"\1%"),
    ("分之", re.compile(r"([一二三四五六七八九十])分之([一二三四五六七八九十])"), _spoken_fraction),
    ("比", re.compile(r"(?<=\d) ?比 ?(?=\d)"), ":"),
    # what leads up to an answer
    ("", re.compile(r"^(?:=|\\(?:Rightarrow|implies|therefore|to)(?![A-Za-z])) ?(?=[^=])"), ""),
    (" ", re.compile(r"^(?:exactly|only|just|a total of|total of|precisely) (?=[\d\\$-])", re.IGNORECASE), ""),
    # a label before the answer
    (":", re.compile(r"^(?:答案?|解|(?i:(?:the )?(?:final )?answer(?: is)?)) ?: ?"), ""),
)


def respell(text: str) -> str:
    """The text with foreign notations in the grammar's own spelling."""
    for sign, pattern, replacement in _REWRITES:
        if sign in text:
            text = pattern.sub(replacement, text)
    return text


def _binomial(match: re.Match[str], order: int) -> str:
    """C with an index below and above, where the lower is not the smaller: else it is a constant with a power."""
    first, second = (match[1] or match[2]), (match[3] or match[4])
    top, bottom = (first, second) if order == 1 else (second, first)
    is_binomial = len(top) < 7 and int(top) >= int(bottom[:7])
    return rf"\binom{{{top}}}{{{bottom}}}" if is_binomial else match[0]
