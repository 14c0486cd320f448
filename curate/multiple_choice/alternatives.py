"""Finds answers listed in the stem itself: "Is it odd, even, or neither?", "Which is prime: 21, 27, 29?".

The words alone do not decide: the answer must be one of the listed items. A list to draw or count from is no list of
answers, and a text that asks how many or how probable is never matched.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Final

from curate.multiple_choice.cues import Cue
from curate.multiple_choice.labels import squashed

_SIGNS: Final = frozenset(("<", ">", "=", "≤", "≥", r"\lt", r"\gt", r"\le", r"\ge", r"\leq", r"\geq", "＜", "＞", "＝"))
_OR: Final = r"\s(?:or|versus)\s"
_ORDERS: Final = (
    "which|who|whether|determine if|choose|select|pick|decide|classify|tell|say|state|complete|insert|write|enter|"
    "answer|label"
)
_LISTS: Final = (
    re.compile(
        rf"(?:\b(?:{_ORDERS})\b|(?:^|[.?!\n]\s*|,\s*)(?:is|are|was|were|does|do|did)\b)"
        rf"(?P<body>[^.?!]*{_OR}[^.?!]*)(?:[.?!]|\Z)",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:one of|with|from|using|between)\s+(?:the\s+)?(?:following\s+)?(?:words?|terms?|symbols?|signs?|phrases?)"
        r"\s*[:：(]\s*(?P<body>[^.?!)\n]*)",
        re.IGNORECASE,
    ),
    # Always, sometimes, or never true: ...
    re.compile(rf"(?:^|[.?!\n]\s*)(?P<body>\w+(?:,\s*\w+)*,?{_OR}\w+)(?:\s+true)?\s*[:：?]", re.IGNORECASE),
    # 7 x 8 is 54 or 56. Which?
    re.compile(r"\b(?:is|are)\s+(?P<body>[^.?!]{1,30}?\sor\s[^.?!]{1,30})[.?!]\s*which\b", re.IGNORECASE),
    re.compile(r"是(?P<body>[^，。？?是]{1,10}还是[^，。？?]{1,10})[？?。]"),
    re.compile(r"[(\[](?P<body>[A-Za-z]{2,}(?:\s*/\s*[A-Za-z]{2,})+)[)\]]"),
)
_COUNTS: Final = re.compile(
    r"\bhow (?:many|much)\b|\bnumber of\b|\bin how\b|\bprobab|\bchance|\bexpected\b|\bmean\b|"
    r"\bmedian\b|\bmode\b|多少|几|概率|(?<![一二三四五六七八九十两\d])个数|平均|中位数|众数",
    re.IGNORECASE,
)
_ITEM: Final = r"[^?？!\n,，、;；:：]+"
_ITEMS: Final = rf"(?P<body>{_ITEM}(?:[,，、;；]{_ITEM})+)"
_VALUE: Final = r"[^\s,，、;；:：?？在从]+(?:\s*/\s*\d+)?"
_VALUES: Final = rf"(?P<body>{_VALUE}(?:\s*[,，、]\s*(?:(?:and|or)\s+)?{_VALUE})+(?:\s+(?:and|or)\s+{_VALUE})?)"
_PICK: Final = ("choose", "select", "pick", "identify")
_PICKED: Final = (
    Cue(
        (*_PICK, "which", "odd one", "except", "belong", "find the", "哪", "选"),
        re.compile(
            r"(?:\b(?:which|select|choose|pick|identify|find the (?:one|number) that|odd one out|except|not belong)\b"
            rf"|哪|选)[^.?!:：。？]*[:：?？]\s*{_ITEMS}[.?!。？]?\s*\Z",
            re.IGNORECASE,
        ),
    ),
    Cue(("which",), re.compile(rf"\bwhich (?:one )?(?:of|among)\s+{_VALUES}", re.IGNORECASE)),
    Cue(
        ("which",),
        re.compile(
            r"\b(?:of|among|from|in)\s+(?:the\s+(?:\w+\s+)?(?:numbers|values|fractions|integers|list|set)\s+)?"
            rf"{_VALUES}(?:,\s*|\s+)which\b",
            re.IGNORECASE,
        ),
    ),
    Cue(
        ("哪", "最", "数是", "的是", "数为", "的为"),
        re.compile(rf"{_VALUES}(?:这?[一二两三四五六七八九十\d]个数)?(?:之?中|里)[^。？]*?(?:哪|最[大小]|的数?[是为])"),
    ),
    Cue(("which",), re.compile(rf"\b(?:among|from)\s+{_ITEMS}\s+(?:is|are)\s+which\b", re.IGNORECASE)),
    Cue(
        _PICK,
        re.compile(
            rf"(?:^|[.?!:：\n]\s*)(?:choose|select|pick)\s+(?:one\s+)?(?:from|among|between|of)\s*[\[({{]?{_ITEMS}"
            r"|\b(?:from|among|out of)\s+(?:the\s+)?(?:list|numbers|values|set)\s+"
            rf"{_ITEMS.replace('<body>', '<listed>')},\s*(?:choose|select|pick|identify)\b",
            re.IGNORECASE,
        ),
    ),
)
# every match of `_LISTS` contains one of these, in lower case and with single spaces
_EITHER: Final = (" or ", " versus ", "还是")
_SLASHED: Final = re.compile(r"[(\[][a-z]+ ?/ ?[a-z]")
_NAMED: Final = re.compile(r"(?:word|term|symbol|sign|phrase)s? ?[:：(]")
_BETWEEN: Final = re.compile(
    r"[,，、;；:：()（）\[\]]|(?<=[a-z])\s*/\s*(?=[a-z])|\b(?:or|versus|it)\b|还是", re.IGNORECASE
)
_BETWEEN_VALUES: Final = re.compile(r"[,，、;；]|\b(?:or|and)\b|[和与或]", re.IGNORECASE)


_BULLET: Final = re.compile(r"^\s*(?:[-*•○□☐]|\[ \])\s+")
_ENDS: Final = re.compile(r"[?？.。]\s*$")


def alternatives(text: str, answer: str) -> str | None:
    """The words that list possible answers, with the right one among them; None if there are none."""
    want = squashed(answer)
    if answer.strip(" $") in _SIGNS:
        return f"a sign: {answer}"
    words = re.findall(r"\w+", answer.lower())
    if not words or words[-1] not in text.lower():  # most answers do not occur in their problem
        return None
    if len(want) > 1 and _may_list(text):
        for match in chain.from_iterable(pattern.finditer(text.replace("...", "…")) for pattern in _LISTS):
            items = _items(match["body"], _BETWEEN)
            if len(items) > 1 and any(item == want or (len(want) > 2 and item.endswith(want)) for item in items):
                return match[0].strip()
    if len(want) > 1 or want.isdecimal():
        found = _picked(text, want) or _closing_lines(text, want)
        return found if found and not _COUNTS.search(text) else None
    return None


def _may_list(text: str) -> bool:
    """A cheap test before `_LISTS`: most texts contain nothing that any of its patterns needs."""
    flat = " ".join(text.lower().split())
    return (
        any(word in flat for word in _EITHER)
        or ("/" in flat and _SLASHED.search(flat) is not None)
        or (any(sign in flat for sign in ":：(") and _NAMED.search(flat) is not None)
    )


def _picked(text: str, want: str) -> str | None:
    """The words that list values to pick from."""
    for match in filter(None, (cue.search(text) for cue in _PICKED)):
        listed = next(filter(None, match.groupdict().values()))
        items = _items(listed, _BETWEEN_VALUES)
        if len(items) > 2 and want in items:
            return match[0].strip()
    return None


def _closing_lines(text: str, want: str) -> str | None:
    """The last lines of a text if they are below a question, are short, and one of them is the answer."""
    lines = [line for line in text.split("\n") if line.strip()]
    num_short = next((n for n, line in enumerate(reversed(lines)) if len(line) > 40 or _ENDS.search(line)), 0)
    listed = [squashed(_BULLET.sub("", line)) for line in lines[len(lines) - num_short :]]
    if num_short > 2 and want in listed and len(set(listed)) == num_short:
        return " | ".join(line.strip() for line in lines[-num_short:])
    return None


def _items(body: str, between: re.Pattern[str]) -> set[str]:
    return {squashed(item.strip(" \"'“”‘’`[](){}")) for item in between.split(body)} - {""}
