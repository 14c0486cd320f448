"""Finds what a question asks of its answer: a rounded value, a numeral in a base, values in an order."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

_ROUND: Final = re.compile(
    r"\bround(?:ed|ing)?\b|\bnearest\b|\bapproximat|\bdecimal places?\b|\bsignificant (?:figures?|digits?)\b|"
    r"\bestimate\b|保留|精确到|四舍五入|约(?:等于|为)|近似",
    re.IGNORECASE,
)
_BASE: Final = re.compile(r"\bbase[- $_{]*\d|\bbinary\b|\boctal\b|\bhexadecimal\b|进制", re.IGNORECASE)
_EXTREMES: Final = "least|smallest|lowest|shortest|lightest|slowest|greatest|largest|highest|longest|heaviest|fastest"
_ORDER: Final = re.compile(
    rf"\bin (?:(?!any\b|no\b)\w+ ){{0,3}}?order\b(?! (?:to|for|that)\b)|\b(?:arrange|sort|rank)\b|\brespectively\b|"
    rf"\bfrom (?:the )?(?:{_EXTREMES}|oldest|youngest|earliest|latest) to\b|"
    r"\border (?:of|by) (?:size|magnitude|value)\b|\bin that sequence\b|从[小大多少高低长短]到|依次|分别|顺序|排列",
    re.IGNORECASE,
)
_ANY_ORDER: Final = re.compile(
    r"\b(?:any|no particular) order\b|\border (?:does not|doesn't|is not|isn't)\b|\bregardless of (?:the )?order\b|"
    r"\bnot necessarily in\b|顺序不限|不分顺序",
    re.IGNORECASE,
)


class Asked(NamedTuple):
    """Whether a question asks for a rounded value, names a number base, and asks for an order of several values."""

    to_round: bool
    names_base: bool
    in_order: bool


@lru_cache(maxsize=10_000)
def asked(question: str) -> Asked:
    """What a question asks for."""
    in_order = _ORDER.search(question) is not None and _ANY_ORDER.search(question) is None
    return Asked(_ROUND.search(question) is not None, _BASE.search(question) is not None, in_order)
