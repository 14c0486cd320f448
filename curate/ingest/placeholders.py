"""Placeholders for figures in a prompt, such as `number0` or `[NUM1]`: filled with the row's numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from curate.ingest.answers import text_of, written

# what a prompt with placeholders contains; a quick test before the pattern
WORD: Final = "number0"
_MARKS: Final = ("temp_a", "NUM", "num0", "num1", "num_")
_PLACEHOLDER: Final = re.compile(r"\bnumber(\d+)\b|\btemp_([a-z])\b|[\[<](?:NUM|num)_?(\d+)[\]>]|\bNUM_?(\d+)\b")


def has_placeholders(prompt: str) -> bool:
    """Whether a prompt holds placeholders that count from the first one, in place of its figures.

    Programs have variables like `temp_a`: beside other figures, only `number0` is a placeholder.
    """
    if not (WORD in prompt or any(mark in prompt for mark in _MARKS)) or _first(prompt) not in (0, 1):
        return False
    return WORD in prompt or re.search(r"\d", _PLACEHOLDER.sub("", prompt)) is None


def filled(prompt: str, numbers: Any) -> str | None:  # Any: a cell of a source
    """The prompt with the numbers in place of its placeholders; None if there are too few."""
    values = numbers_in(numbers)
    places = [_index(match) for match in _PLACEHOLDER.finditer(prompt)]
    start = min(places)
    if max(places) - start >= len(values):
        return None
    return _PLACEHOLDER.sub(lambda match: values[_index(match) - start], prompt)


def numbers_in(cell: Any) -> Sequence[str]:  # Any: a cell of a source
    """The numbers in a cell: a list, or a text of numbers with blanks or commas between them; 56.0 becomes 56."""
    if isinstance(cell, str):
        parsed = written(cell) if cell.lstrip().startswith("[") else None
        cell = parsed if isinstance(parsed, list) else re.split(r"[\s,;]+", cell.strip("[] "))
    if isinstance(cell, int | float):
        cell = [cell]
    if not isinstance(cell, list | tuple):
        return []
    return [re.sub(r"\.0+\Z", "", text) for item in cell if (text := text_of(item)) is not None]


def _first(prompt: str) -> int | None:
    """The lowest index of a placeholder; None without any, and for `number1` alone, which is a name."""
    places = [(_index(match), match[1]) for match in _PLACEHOLDER.finditer(prompt)]
    if not places:
        return None
    first, is_word = min(places, key=lambda place: place[0])
    return None if is_word is not None and first != 0 else first


def _index(match: re.Match[str]) -> int:
    digits = match[1] or match[3] or match[4]
    return int(digits) if digits else ord(match[2]) - ord("a")
