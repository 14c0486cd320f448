"""Finds words of opposite meaning in two answers: a local maximum of 3 is not a local minimum of 3.

Labels and remarks around a value are removed before values are compared; their contradictions are found here.
"""

from __future__ import annotations

import re
from typing import Final

_PAIRS: Final = (
    (r"max(?!\s*[({_\\])|maxima|maximum|maximal", r"min(?!\s*[({_\\]|ute|s?\b\.?\s*$)|minima|minimum|minimal"),
    ("largest|greatest|highest|biggest", "smallest|lowest|least"),
    ("at most|no more than|not more than", "at least|no less than|no fewer than"),
    ("greater than|more than|larger than|bigger than", "less than|fewer than|smaller than"),
    ("(?:strictly )?increas(?:es?|ing)", "(?:strictly )?decreas(?:es?|ing)"),
    ("concave up(?:wards?)?|convex", "concave down(?:wards?)?"),
    ("up(?:wards?)?|upwards", "down(?:wards?)?"),
    ("to the right|rightwards?", "to the left|leftwards?"),
    ("north(?:wards?|ern)?", "south(?:wards?|ern)?"),
    ("east(?:wards?|ern)?", "west(?:wards?|ern)?"),
    ("clockwise", "(?:counter|anti)-?clockwise"),
    ("above", "below"),
    ("before|earlier", "after|later"),
    ("inside", "outside"),
    ("odd", "even"),
    ("forwards?", "backwards?"),
    ("profit|gain(?:s|ed)?", "loss|los(?:es?|t)"),
    ("converge(?:s|nt)?", "diverge(?:s|nt)?"),
    ("faster", "slower"),
    ("older", "younger"),
)
_POLES: Final = tuple(
    re.compile(rf"(?<![A-Za-z])(?:(?P<first>{first})|(?P<second>{second}))(?![A-Za-z])", re.IGNORECASE)
    for first, second in _PAIRS
)
_ANY: Final = re.compile("|".join(f"{first}|{second}" for first, second in _PAIRS), re.IGNORECASE)
_DIRECTION: Final = re.compile(
    r",?\s*(?:\\text\{ ?)?(?:to the (?:left|right)|(?:(?:due|towards?(?: the)?|to the|in the) )?"
    r"(?:up|down|left|right|north|south|east|west)(?:wards?|ern)?(?:[- ](?:east|west))?(?: direction)?|"
    r"(?:(?:counter|anti)-?)?clockwise) ?\}?$",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"-?\s*\d[\d.,/]*")
_MAX_CHARS: Final = 500


def contradict(truth: str, answer: str) -> bool:
    """Whether one text has a word and the other only its opposite, or both have both with their numbers exchanged."""
    if len(truth) > _MAX_CHARS or len(answer) > _MAX_CHARS or not (_ANY.search(truth) and _ANY.search(answer)):
        return False
    for poles in _POLES:
        ours = _found(poles, truth)
        if not ours or not (theirs := _found(poles, answer)):
            continue
        if ours.keys().isdisjoint(theirs):
            return True
        if len(ours) == len(theirs) > 1 and _are_exchanged(ours, theirs):
            return True
    return False


def without_direction(truth: str, answer: str) -> str | None:
    """An answer without the direction at its end, `10 m/s to the left`, if the truth has none; else None."""
    match = _DIRECTION.search(answer) if len(answer) <= _MAX_CHARS and any(c.isdigit() for c in answer) else None
    if match is None or match.start() == 0 or _DIRECTION.search(truth):
        return None
    return answer[: match.start()]


def _found(poles: re.Pattern[str], text: str) -> dict[str, str]:
    """The number after the first word of each pole that occurs; empty if none follows."""
    found: dict[str, str] = {}
    for match in poles.finditer(text):
        number = _NUMBER.search(text, match.end())
        found.setdefault(match.lastgroup or "", re.sub(r"\s|[.,]$", "", number[0]) if number else "")
    return found


def _are_exchanged(ours: dict[str, str], theirs: dict[str, str]) -> bool:
    return ours["first"] != ours["second"] and (ours["first"], ours["second"]) == (theirs["second"], theirs["first"])
