"""Whether the text after an answer takes it back: "Wait, that is wrong", "I made a mistake", "42 is not correct"."""

from __future__ import annotations

import re
from typing import Final

_PAUSE: Final = r"(?:wait|hmm+|no|nope|oh|oops|actually|sorry|hold on|but|well|unfortunately|however|on second thought)"
_SUBJECT: Final = (
    r"(?:(?:the|my|our|that|this)(?: (?:above|previous|last|final|boxed|given|earlier|first))* "
    r"(?:answer|result|value|solution|conclusion|number)(?: (?:above|in the box))?)"
)
_WRONG: Final = (
    r"(?:(?:is|was|['’]s|seems|looks|must be|has to be)(?: \w+ly| still| also| in fact| all)? "
    r"(?:wrong|incorrect|false|mistaken|invalid|not (?:right|correct|true|the (?:right |correct |final )?answer|it)|"
    r"an? (?:error|mistake))|(?:isn['’]t|wasn['’]t|can(?:['’]t|not) be|doesn['’]t (?:look|seem)) "
    r"(?:right|correct|true|the (?:right |correct )?answer|it))\b"
)
_BEGIN: Final = r"(?:^|(?<=[.!?\n…—;:*]))[\s*_>-]*"
_DENIAL: Final = re.compile(
    rf"{_BEGIN}(?:{_PAUSE}\b[\s,.!…—-]*)+(?:I (?:think|believe|see|realise|realize)(?: that)? )?"
    rf"(?:that|this|it|{_SUBJECT}) ?{_WRONG}"
    rf"|{_BEGIN}(?:I (?:think|believe)(?: that)? )?{_SUBJECT} ?{_WRONG}"
    rf"|{_BEGIN}(?:{_PAUSE}\b[\s,.!…—-]*)*(?:(?:scratch|strike|ignore|disregard|forget) "
    r"(?:that|this|it|the above|my|the (?:previous|last|boxed))|"
    r"(?:no[\s,.!]+wait|wait[\s,.!]+no)[\s,.!…]*$|I(?: have|['’]ve)? (?:made|make) an?(?: \w+)? (?:mistake|error)|"
    r"I was (?:wrong|mistaken))(?!\w)"
    r"|(?:^|(?<=[。！？\n，,]))\s*(?:等等[，,]?|不[，,])?(?:(?:这个|上面的?|我的|该)?(?:答案|结果)(?:是)?|这(?:是)?|我)?"
    r"(?:不对|错了|是错的|有误|不正确|算错)",
    re.IGNORECASE,
)
# right behind the answer: "42 is wrong", "42. That is wrong."
_DENIAL_AT_ONCE: Final = re.compile(
    rf"[\s$*_}}).,;:!\]\\-]*(?:(?:that|this|it|{_SUBJECT}) ?)?{_WRONG}(?! (?:to|if|when)\b)", re.IGNORECASE
)
_NEGATION: Final = re.compile(
    r"\b(?:not|isn['’]t|never|cannot be|can['’]t be|rather than|instead of)(?: (?:equal to|be|simply|just|the answer))?"
    r"[\s$*_(\[{\\]*$",
    re.IGNORECASE,
)
_MAX_TAIL: Final = 4_000
_MAX_LEAD: Final = 60


def is_taken_back(after: str) -> bool:
    """Whether the text that follows the last answer denies it. Doubt that ends in the same answer is no denial."""
    tail = after[:_MAX_TAIL]
    return _DENIAL_AT_ONCE.match(tail) is not None or _DENIAL.search(tail) is not None


def is_negated(before: str) -> bool:
    """Whether the text before an answer denies it, as in "it is not 42"."""
    return _NEGATION.search(before[-_MAX_LEAD:]) is not None
