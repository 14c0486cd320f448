"""A scale that the question names: "in millions of dollars" makes `2.307 million` and `2.307` one answer."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Final

_WORDS: Final = {
    "thousand": r"thousands?|000s|(?<=\d)\s?[kK]\b|千",
    "million": r"millions?|mn|mln|mm|(?<=\d)\s?[mM]\b|百万",
    "billion": r"billions?|bn|bln|(?<=\d)\s?[bB]\b|十亿",
    "trillion": r"trillions?|tn|trn|(?<=\d)\s?[tT]\b|万亿",
    "ten_thousand": r"万(?!亿)",
    "hundred_million": r"亿",
}
# as in "Answer in USD billions", "How many million dollars"
_ASKED: Final = re.compile(
    r"(?:\bin\b|\bhow many\b|\bunits?[ :]|\bexpress\w*\b|\banswer\b|单位|多少|以)[^.?!\d]{0,30}?"
    r"(?P<word>\b(?:thousand|million|billion|trillion|bn|mn)s?\b|百万|十亿|万亿|万|亿)",
    re.IGNORECASE,
)
_BASIS_POINTS: Final = re.compile(
    r"^[$\s]*(-?\d{1,9}(?:\.\d{1,9})?)\s*(?:\\text\{)?\s*(?:bps?|basis points?)\s*\}?[$\s.]*$"
)
_NAMES: Final = {"bn": "billion", "mn": "million", "百万": "million", "十亿": "billion", "万亿": "trillion"}
_SHORT: Final = {"万": "ten_thousand", "亿": "hundred_million"}


@lru_cache(maxsize=10_000)
def asked_scale(question: str) -> str | None:
    """The scale in which a question asks for its answer; None if it names none or several."""
    found = {_name(match["word"]) for match in _ASKED.finditer(question)}
    return found.pop() if len(found) == 1 else None


def without_scale(answer: str, scale: str) -> str | None:
    """The answer without the word of a scale behind its figure; None if it has not exactly one such word."""
    pattern = rf"(?<=[\d\s}}~])(?:\\(?:text|mathrm)\s*\{{\s*)?(?:{_WORDS[scale]})(?![A-Za-z])(?:\s*\}})?"
    found = list(re.finditer(pattern, answer))
    if len(found) != 1 or not re.search(r"\d", answer[: found[0].start()]):
        return None
    before, after = answer[: found[0].start()], answer[found[0].end() :]
    return f"{before.rstrip()} {after.lstrip()}".strip()


def in_percent(answer: str) -> str | None:
    """A number of basis points as a percentage, 0.37% for 37 bps; None for any other text."""
    found = _BASIS_POINTS.match(answer)
    return f"{Decimal(found[1]) / 100:f}\\%" if found else None


def _name(word: str) -> str:
    word = word.lower()
    return _SHORT.get(word) or _NAMES.get(word.rstrip("s")) or word.rstrip("s")
