r"""Compares names of capital letters: a segment AB, an angle ABC, an order BADC, the options A, B, D.

As products of variables, BADC and ABCD would be equal.
"""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = re.compile(
    r"(?:\\(?P<sign>triangle|angle|overline|overrightarrow|widehat|overleftrightarrow) ?)?"
    r"\{? ?(?P<letters>[A-Z](?: ?[A-Z]){1,7}) ?\}?"
)
_INDEXED: Final = re.compile(r"([A-Za-z]) ?_ ?\{? ?(\d+) ?\}?")
_UNINDEXED: Final = re.compile(r"([A-Za-z])(\d+)")  # T1 for T_1
_LISTED: Final = re.compile(r"\(?[A-J]\)?(?:(?:, ?| and | ?\\text\{ ?,? ?and ?\} ?|, and )\(?[A-J]\)?)+")
_UNDIRECTED: Final = ("angle", "overline", "widehat", "overleftrightarrow")


def same_label(truth: str, answer: str) -> bool | None:
    """Whether two names are the same; None if the truth is no name, or the answer cannot be compared with it."""
    if (indexed := _INDEXED.fullmatch(truth)) and (plain := _UNINDEXED.fullmatch(answer)):
        return indexed.groups() == plain.groups()
    ours, theirs = _NAME.fullmatch(truth), _NAME.fullmatch(answer)
    if ours is None:
        return None
    letters = ours["letters"].replace(" ", "")
    if theirs is None:
        if not _LISTED.fullmatch(answer) or ours["sign"] or "".join(sorted({*letters})) != letters:
            return None
        return sorted(letters) == sorted(re.findall(r"[A-Z]", answer))
    others = theirs["letters"].replace(" ", "")
    if ours["sign"] and theirs["sign"] and ours["sign"] != theirs["sign"]:
        return False
    if ours["sign"] == theirs["sign"] == "triangle":
        return sorted(letters) == sorted(others)
    is_either_way = len(letters) == 2 or {ours["sign"], theirs["sign"]} & {*_UNDIRECTED}
    return letters == others or bool(is_either_way and letters == others[::-1])
