"""Finding the final answer in a completion, and only there: a box, `####`, an explicit final claim, a bare answer.

What stands inside the thinking counts for nothing. Everything here is linear in the length of the completion.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from curate.verify.normalise import matching_brace
from curate.verify.policy import Policy
from curate.verify.verdict import Reason

_BOX: Final = re.compile(r"\\(?:boxed|fbox)\s*(?=(\{)?)")
_HASH: Final = re.compile(r"^\s*#{4}[ \t]*(?P<answer>[^\n]+)$", re.MULTILINE)
_TAG: Final = re.compile(r"<answer>(?P<answer>[^<]{0,4000})</answer>")
_FINAL: Final = re.compile(
    r"(?:final answer\b|最终答案)(?:\s*\([^()\n]{0,40}\))?"
    r"(?:\s+to\s+(?:the|this)\s+(?:problem|question))?[*_\s]*(?:is|are|=|:|：|是|为)[*_\s]*[:：]?",
    re.IGNORECASE,
)
_CLAIM: Final = re.compile(
    r"(?:\banswer\b(?:\s+to\s+(?:the|this)\s+(?:problem|question))?[*_\s]*(?:is|are|=|:|：)[*_\s]*[:：]?"
    r"|答案[*\s]*(?:是|为|：|:)+[*\s]*|^[*\s]*答[:：]|故选[:：]?|^A:(?=[^\n]*$))",
    re.IGNORECASE | re.MULTILINE,
)
_END: Final = re.compile(
    r"\n|(?<=[^\d\s.])[.!?](?=\s|$)|(?<=\d)[.!?](?=\s|$)|。|"
    r"(?<=\$)\.(?!\d)|,?\s+(?:because|since|so that|which|where|as required|hence)\b"
)
_LEAD: Final = re.compile(
    r"^(?:therefore|thus|then|simply|just|clearly|equal to|indeed|given by|now|the following|option|choice)\b[,:]?\s*",
    re.IGNORECASE,
)
_MAX_CLAIM: Final = 400
_MAX_BARE: Final = 300


class Extraction(NamedTuple):
    """The answers found, last one last; `reason` says why there is none.

    otherwise: the reason if what was taken for a bare answer turns out to be none.
    """

    answers: tuple[str, ...]
    how: str
    reason: Reason | None = None
    otherwise: Reason | None = None


def extract(completion: str, policy: Policy) -> Extraction:
    """The final answers of a completion: all boxes of its final part, or its last claim."""
    final, thinking, is_open = split_thinking(completion)
    if is_open:
        return Extraction((), "", "truncated")
    boxes, is_torn = _boxes(final)
    if is_torn:
        return Extraction((), "", "truncated")
    if boxes:
        return Extraction(tuple(boxes), "box") if boxes[-1].strip() else Extraction((), "box", "no_answer")
    if (found := _marked(final, policy)) is not None:
        return found
    nothing: Reason = "think_only" if _BOX.search(thinking) else "no_answer"
    bare = final.strip()
    if policy.bare and bare and len(bare) <= _MAX_BARE and "\n" not in bare:
        return Extraction((bare,), "bare", otherwise=nothing)
    return Extraction((), "", nothing)


def split_thinking(completion: str) -> tuple[str, str, bool]:
    """(final part, thinking, whether a thinking block was left open)."""
    thinking, mark, final = completion.rpartition("</think>")
    if not mark:
        before, opened, rest = completion.partition("<think>")
        return (completion, "", False) if not opened else (before, rest, True)
    return final, thinking, "<think>" in final


def _boxes(text: str) -> tuple[list[str], bool]:
    """Contents of the boxes that stand in one another's company, and whether the last one is torn off."""
    found: list[str] = []
    index = 0
    while (match := _BOX.search(text, index)) is not None:
        start = match.end()
        if match[1] is None:
            word = re.match(r"[^\s${}\\.,;]+", text[start:])
            if word is None:
                index = start
                continue
            found.append(word[0])
            index = start + word.end()
            continue
        end = matching_brace(text, start)
        if end < 0:
            return found, True
        found.append(text[start + 1 : end])
        index = end + 1
    return found, False


def _marked(final: str, policy: Policy) -> Extraction | None:
    tags = [m["answer"].strip() for m in _TAG.finditer(final)]
    if tags:
        return Extraction(tuple(tag for tag in tags if tag), "tag", None if tags[-1] else "no_answer")
    hashes = _HASH.findall(final)
    if hashes:
        return Extraction((hashes[-1].strip(),), "hash")
    if policy.claims:
        for pattern in (_FINAL, _CLAIM):
            claims = [claim for m in pattern.finditer(final) if (claim := _claim(final, m.end()))]
            claims = [claim for claim in claims if not pattern.search(claim)]  # "Final answer: the final answer is 7"
            if claims:
                return Extraction(tuple(claims), "claim")
    return None


def _claim(text: str, start: int) -> str:
    """What is claimed behind "the answer is": up to the end of the sentence, after the formula where one opens it."""
    rest = text[start : start + _MAX_CLAIM].lstrip(" \t*_:：")
    if rest.startswith("\n"):
        rest = rest.lstrip()
    for opening, closing in (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")):
        if rest.startswith(opening) and (end := rest.find(closing, len(opening))) > 0:
            stop = _END.search(rest, end + len(closing))
            return rest[: stop.start()] if stop else rest
    for _ in range(3):
        rest = _LEAD.sub("", rest)
    return _END.split(rest, maxsplit=1)[0].strip().strip("*_ ")
