"""Words, sentences and paragraphs of a response, and the relations that a number of them must satisfy."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"\w+(?:['’-]\w+)*")
_DIVIDER: Final = re.compile(r"\s?\*\*\*\s?|^[ \t]*\* \* \*[ \t]*$", re.MULTILINE)
_END: Final = re.compile(r"(?<=[.!?])[\"'”’)\]*_]*\s+|(?<=[。！？])\s*")
# words whose dot ends no sentence, and initials
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(\"'])(?:mr|mrs|ms|dr|prof|sr|jr|st|vs|etc|e\.g|i\.e|cf|fig|no|vol|al|u\.s|[A-Z])\.[\"')]*$",
    re.IGNORECASE,
)
_ENUMERATION: Final = re.compile(r"^\s*(?:[-*+•]|\(?\d{1,3}[.)])\s+")
_SPOKEN: Final = re.compile(r"\w")
RELATIONS: Final = ("less than", "at least", "at most", "more than", "around", "exactly")


def words(text: str) -> list[str]:
    """The words of a text in order; don't and well-known are one word each."""
    return _WORD.findall(text)


def sentences(text: str) -> list[str]:
    """The sentences of a text: they end at . ! ? before white space, or at the end of a line.

    The dot of an abbreviation or an initial ends none; the mark of a list is no part of its first sentence.
    """
    found: list[str] = []
    for line in text.splitlines():
        begun = ""
        for piece in _END.split(_ENUMERATION.sub("", line)):
            begun = f"{begun} {piece}".strip() if begun else piece.strip()
            if not _ABBREVIATION.search(begun):
                found.append(begun)
                begun = ""
        found.append(begun)
    return [sentence for sentence in found if _SPOKEN.search(sentence)]


def divided(text: str) -> list[str] | None:
    """The paragraphs between dividers, `***` or a line `* * *`; None if one in the middle is empty."""
    return _full(_DIVIDER.split(text))


def blocks(text: str) -> list[str] | None:
    """The paragraphs between blank lines; None if one in the middle is empty."""
    return _full(text.split("\n\n"))


def occurrences(text: str, phrase: str) -> int:
    """How often a phrase occurs, in upper or lower case, also inside a word."""
    return text.casefold().count(phrase.strip().casefold())


def has_word(text: str, word: str) -> bool:
    """Whether a word or phrase occurs between word boundaries, in upper or lower case."""
    return re.search(rf"(?<!\w){re.escape(word.strip())}(?!\w)", text, re.IGNORECASE) is not None


def satisfies(number: int, relation: str, wanted: int) -> bool:
    """Whether a number is in a relation of `RELATIONS` to another one; around is within a tenth, and at least 1."""
    return {
        "less than": number < wanted,
        "at least": number >= wanted,
        "at most": number <= wanted,
        "more than": number > wanted,
        "around": abs(number - wanted) <= max(round(wanted / 10), 1),
        "exactly": number == wanted,
    }[relation]


def _full(parts: list[str]) -> list[str] | None:
    stripped = [part.strip() for part in parts]
    inner = stripped[bool(not stripped[0]) : len(stripped) - bool(not stripped[-1])]
    return inner if all(inner) else None
