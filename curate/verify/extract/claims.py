"""Finds the claims of a text: `#### 42`, "the answer is 42", a tag such as `<answer>`, or one JSON object."""

from __future__ import annotations

import json
import re
from collections import deque
from typing import Final, NamedTuple

_HASH: Final = re.compile(r"^[ \t]*#{4}[ \t]*(?P<answer>[^\n]+)$", re.MULTILINE)
_TAG: Final = re.compile(
    r"<(?P<name>answer|final[ _-]?answer|ans|result)>(?P<answer>(?:(?!</?(?P=name)>).){0,4000})</(?P=name)>",
    re.DOTALL | re.IGNORECASE,
)
_CORRECTION: Final = re.compile(
    r"\b(?:no|wait|actually|sorry|oops|correction|rather|I mean(?:t)?|(?:made|was) an? (?:mistake|error))\b|不对|更正",
    re.IGNORECASE,
)
_SAYS: Final = r"[*_\"'\s]*(?:is|are|would be|will be|must be|=|:|：|是|为)[*_\"'\s]*[:：]?"
_FINAL: Final = re.compile(
    r"(?:final (?:answer|result)s?\b|最终答案)(?:\s*\([^()\n]{0,40}\))?"
    rf"(?:(?:\s+to\s+(?:the|this)\s+(?:problem|question))?{_SAYS}|(?<=final answer)[*_#]*[ \t]*(?:\n\s*|(?=\$?\d)))",
    re.IGNORECASE,
)
_CLAIM: Final = re.compile(
    rf"(?:\b(?:answers?|correct (?:option|choice))\b(?:\s+to\s+(?:the|this)\s+(?:problem|question))?{_SAYS}"
    r"|^[^\n.]{0,20}\b(?:option|choice)(?=\s*\(?[A-J]\)?\s+is\s+(?:the\s+)?correct)"
    r"|^(?:#{1,6}[ \t]+|\*\*)answer[:*]*[ \t]*$"
    r"|答案[*\s]*(?:是|为|：|:)+[*\s]*|^[* \t]*答[:：]|(?:故|应|所以|因此)选[择:：]?|^A:(?=[^\n]*$)"
    r"|\b(?:la respuesta(?: final)? es|la réponse(?: finale)? est|die antwort (?:ist|lautet)|a resposta é|"
    r"la risposta è|ответ)[ \t]*[:：]?|(?:答え|答)は|(?:정답|답)은)",
    re.IGNORECASE | re.MULTILINE,
)
_END: Final = re.compile(
    r"\n|(?<=[^\d\s.])[.!?](?=\s|$)|(?<=\d)[.!?](?=\s|$)|(?<=\d )\.(?=\s|$)|。|"
    r"(?<=\$)\.(?!\d)|,?\s+(?:because|since|so that|which|where|as|hence|is (?:the )?correct)\b|"
    r"です|입니다|이다|になります"
)
_LEAD: Final = re.compile(
    r"^(?:therefore|thus|then|simply|just|clearly|equal to|indeed|given by|now|the following|option|choice)\b[,:]?\s*",
    re.IGNORECASE,
)
# as in Markdown, an amount of money opens no formula: `$25, because $20` has no closing mark
_CLOSING_DOLLAR: Final = re.compile(r"(?<![\s\\])\$(?!\d)")
_CLOSING_SPACED: Final = re.compile(r"(?<!\\)\$(?!\d)")
_CLOSING: Final = (
    ("$$", re.compile(r"\$\$")),
    ("$ ", _CLOSING_SPACED),
    ("$", _CLOSING_DOLLAR),
    ("\\(", re.compile(r"\\\)")),
    ("\\[", re.compile(r"\\\]")),
)
_OPENS_SENTENCE: Final = re.compile(
    r"(?:^|[\n.!?:;。])[\s*#_>$✅-]*(?:\b(?:so|thus|hence|therefore|wait|no|oh|actually|then|and|but|finally|sorry|"
    r"in conclusion|the|my|our|final|correct|true|real|right|new|option|因此|所以|故)\b[\s,.!*_]*)*$",
    re.IGNORECASE,
)
_NO_VALUE: Final = re.compile(
    r"(?:indeed |also |in |an? |the )*(?:correct|right|wrong|incorrect|valid|verified|confirmed|consistent|reasonable|"
    r"complete|simplified|unique|exact|simplest|positive|negative|above|below|same|clear|required|found|given|already)\b",
    re.IGNORECASE,
)
_MAX_LEAD: Final = 80
_MAX_JSON: Final = 10_000
_MAX_CLAIM: Final = 400
_MAX_CLAIMS: Final = 1000  # the last ones; an ordinary completion has a handful


class Claims(NamedTuple):
    """The claims of a text in reading order, where the first ends, and where the last ends."""

    answers: tuple[str, ...]
    how: str
    first_end: int
    last_end: int


def claims(text: str, *, with_sentences: bool) -> Claims | None:
    """The claims in the first form that occurs: tags, a JSON object, `####`, and sentences if `with_sentences`."""
    return _tags(text) or _in_json(text) or _hashes(text) or (_sentences(text) if with_sentences else None)


def later_claims(text: str, *, with_sentences: bool) -> Claims | None:
    """The claims behind a box: tags, `####`, and sentences that begin with the claim and name a value."""
    found = claims(text, with_sentences=with_sentences)
    if found is None or found.how != "claim":
        return found
    kept = [
        (match.end(), claim)
        for pattern in (_FINAL, _CLAIM)
        for match in pattern.finditer(text)
        if _OPENS_SENTENCE.search(text[max(0, match.start() - _MAX_LEAD) : match.start()])
        and (claim := _claim(text, match.end()))
        and not _NO_VALUE.match(claim)
        and not pattern.search(claim)
    ]
    if not kept:
        return None
    return Claims(tuple(claim for _, claim in kept), "claim", kept[0][0], kept[-1][0] + len(kept[-1][1]))


def is_claim(text: str) -> bool:
    """Whether a text contains a sentence such as "the answer is 42"."""
    return _CLAIM.search(text) is not None


def _tags(text: str) -> Claims | None:
    """The contents of tags; one that the words before the next take back does not count."""
    found = list(_TAG.finditer(text)) if "</" in text else []
    if not found:
        return None
    kept: list[str] = []
    for index, tag in enumerate(found):
        if index and _CORRECTION.search(text, found[index - 1].end(), tag.start()):
            kept = []
        kept.append(_within(tag["answer"].strip()))
    answers = tuple(answer for answer in kept if answer) if kept[-1] else ()
    return Claims(answers, "tag", found[0].end(), found[-1].end())


def _hashes(text: str) -> Claims | None:
    found = list(_HASH.finditer(text)) if "####" in text else []
    if not found:
        return None
    return Claims(tuple(match["answer"].strip() for match in found), "hash", found[0].end(), found[-1].end())


def _sentences(text: str) -> Claims | None:
    for pattern in (_FINAL, _CLAIM):
        last = deque(pattern.finditer(text), maxlen=_MAX_CLAIMS)
        found = [(match.end(), claim) for match in last if (claim := _claim(text, match.end()))]
        found = [(end, claim) for end, claim in found if not pattern.search(claim)]  # "Final answer: the answer is 7"
        if found:
            ends = [end + len(claim) for end, claim in found]
            return Claims(tuple(claim for _, claim in found), "claim", ends[0], ends[-1])
    return None


def _within(tag: str) -> str:
    """The answer inside a tag, which may contain a sentence such as "the answer is 42"."""
    found = [m.end() for pattern in (_FINAL, _CLAIM) if (m := pattern.search(tag)) is not None]
    return (_claim(tag, found[0]) if found else "") or tag


def _in_json(text: str) -> Claims | None:
    """The answer of a completion that is one JSON object such as {"answer": 42}; else None."""
    text = text.strip()
    if not (text.startswith("{") and text.endswith("}") and len(text) <= _MAX_JSON):
        return None
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None
    answers = [value[key] for key in ("answer", "final_answer") if key in value] if isinstance(value, dict) else []
    is_answer = bool(answers) and isinstance(answers[0], str | int | float)
    return Claims((str(answers[0]),), "tag", len(text), len(text)) if is_answer else None


def _claim(text: str, start: int) -> str:
    """The text after "the answer is", up to the end of the sentence; the end is sought after a leading formula."""
    rest = text[start : start + _MAX_CLAIM].lstrip(" \t*_:：")
    if rest.startswith("\n"):
        rest = rest.lstrip()
    for opening, closing in _CLOSING:
        if rest.startswith(opening):
            if (end := closing.search(rest, len(opening))) is not None:
                stop = _END.search(rest, end.end())
                return rest[: stop.start()] if stop else rest
            break
    for _ in range(3):
        rest = _LEAD.sub("", rest)
    return _END.split(rest, maxsplit=1)[0].strip().strip("*_ ")
