"""Parses dates: March 15 is 15 March and the 15th of March, and 2024-03-15 is no difference of numbers."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_MONTHS: Final = "january february march april may june july august september october november december".split()
_MONTH: Final = r"(?P<month>[a-z]{3,9})\.?"
_DAY: Final = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:,? ?(?P<year>\d{4}))?"
_FORMS: Final = (
    re.compile(rf"{_MONTH} (?:the )?{_DAY}{_YEAR}"),
    re.compile(rf"(?:the )?{_DAY}(?: of)? {_MONTH}{_YEAR}"),
    re.compile(r"(?P<year>[12]\d{3})([-/])(?P<month>\d{1,2})\2(?P<day>\d{1,2})"),
    re.compile(r"(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?P<day>\d{1,2})[日号]"),
)
_WEEKDAY: Final = re.compile(r"^(?:mon|tues|wednes|thurs|fri|satur|sun)day,? (?=[a-z\d])")
_MARKS: Final = re.compile(r"\\text\{|[{}$~]|\\[ ,]")


class Date(NamedTuple):
    """A day of a given year, or of any year."""

    year: int | None
    month: int
    day: int


def date(text: str) -> Date | None:
    """Parse a date; None for any other text."""
    if len(text) > 40 or not any(char.isdigit() for char in text):
        return None
    plain = " ".join(_MARKS.sub(" ", text).lower().split()).strip(" .")
    plain = _WEEKDAY.sub("", plain)
    for form in _FORMS:
        if (match := form.fullmatch(plain)) is not None and (month := _month(match["month"])):
            day = int(match["day"])
            return Date(int(match["year"]) if match["year"] else None, month, day) if 1 <= day <= 31 else None
    return None


def _month(name: str) -> int:
    """The month as 1 to 12; 0 if the name is no month."""
    if name.isdigit():
        return int(name) if 1 <= int(name) <= 12 else 0
    name = "sep" if name == "sept" else name
    return next((i for i, month in enumerate(_MONTHS, start=1) if month == name or month[:3] == name), 0)
