"""Converts numbers in English and Chinese words to figures: seven, forty-two, two hundred and five, 二十五, 三万."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_ONES: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ENGLISH: Final = {
    **{word: value for value, word in enumerate(_ONES)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
}
_ENGLISH_SCALES: Final = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_FIGURES: Final = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_CHINESE_UNITS: Final = {"十": 10, "百": 100, "千": 1000}
_CHINESE_SCALES: Final = {"万": 10**4, "亿": 10**8}
CHINESE: Final = "".join([*_FIGURES, *_CHINESE_UNITS, *_CHINESE_SCALES])
_MAX_WORDS: Final = 20


@lru_cache(maxsize=10_000)
def number_in_words(text: str) -> str | None:
    """Figures for a number in words; None for any other text."""
    text = text.strip()
    if len(text) <= _MAX_WORDS and text and all(char in CHINESE for char in text):
        return _chinese(text)
    words = re.split(r"[\s-]+", text.lower())
    if len(words) > _MAX_WORDS or not words[0].isascii():
        return None
    return _english([word for word in words if word != "and"]) if words[0] != "and" != words[-1] else None


def _english(words: list[str]) -> str | None:
    total = part = 0
    last = ""
    for word in words:
        if word in _ENGLISH:
            fits = (
                not part
                or (part % 100 == 0 and last == "hundred")
                or (last in _TENS and _ENGLISH[word] in range(1, 10))
            )
            if last == "zero" or not fits:
                return None
            part += _ENGLISH[word]
        elif word == "hundred" and 0 < part < 10:
            part *= 100
        elif word in _ENGLISH_SCALES and part and (not total or _ENGLISH_SCALES[word] < total):
            total, part = total + part * _ENGLISH_SCALES[word], 0
        else:
            return None
        last = word
    return str(total + part) if words else None


def _chinese(text: str) -> str | None:
    if len(text) > 1 and all(char in _FIGURES for char in text):
        return None  # 一二 are figures read one by one, or an enumeration
    total = section = figure = 0
    for char in text:
        if char in _FIGURES:
            if figure:
                return None
            figure = _FIGURES[char]
        elif char in _CHINESE_UNITS:
            section += (figure or 1) * _CHINESE_UNITS[char]
            figure = 0
        else:
            total, section, figure = (total + section + figure) * _CHINESE_SCALES[char], 0, 0
    return str(total + section + figure)
