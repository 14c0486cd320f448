"""Finds the final answer in a completion: a box, `####`, an explicit final claim, or a bare answer.

Text inside the thinking block, in comments and after a run-on question is ignored. A claim behind the last box counts
beside it. Every function is linear in the length of the completion.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from curate.verify.extract.claims import Claims, claims, is_claim, later_claims
from curate.verify.extract.hidden import before_next_question, visible
from curate.verify.extract.taken_back import is_negated, is_taken_back
from curate.verify.policy import Policy
from curate.verify.spelling.normalise import matching_brace
from curate.verify.thinking import split
from curate.verify.verdict import Reason

_BOX: Final = re.compile(r"\\(?:boxed|fbox|framebox)\s*(?=(\{)?)")
_BARE_WORD: Final = re.compile(r"(?:[-+]?\d[^\s${}\\.,;]*|[A-Za-z](?![A-Za-z']))")  # \boxed 7, not "the \boxed command"
_FENCE: Final = re.compile(r"^```[a-z]*\n(?P<inside>[^`\n]+)\n```$")
_SENTENCE_END: Final = re.compile(r"[.!?]\s|[。\n]")
_YES_OR_NO: Final = re.compile(
    r"[\s*$]*(?:yes|no|true|false|not|in?correct|wrong)\b", re.IGNORECASE
)  # "No. It is not true"
_MAX_BARE: Final = 300


class Box(NamedTuple):
    """The content of a box, and where the box begins and ends in its text."""

    content: str
    start: int
    end: int


class Extraction(NamedTuple):
    """The answers found, in reading order; `reason` is the code for having none.

    otherwise: the reason to use if the bare text turns out to be no answer.
    later: the claims behind the last box.
    """

    answers: tuple[str, ...]
    how: str
    reason: Reason | None = None
    otherwise: Reason | None = None
    later: tuple[str, ...] = ()


def extract(completion: str, policy: Policy) -> Extraction:
    """The final answers of a completion: all boxes of its final part, or its final claims."""
    parts = split(completion)
    if parts.is_open:
        return Extraction((), "", "truncated")
    final = _before_run_on(visible(parts.final), policy)
    boxed = boxes(final)
    if boxed is None:
        return Extraction((), "", "truncated")
    if boxed:
        return _boxed(final, boxed, policy)
    if (found := claims(final, with_sentences=policy.claims)) is not None:
        return _claimed(final, found)
    nothing: Reason = "think_only" if _BOX.search(parts.thinking) else "no_answer"
    bare = _FENCE.sub(r"\g<inside>", final.strip())
    if policy.bare and bare and len(bare) <= _MAX_BARE and "\n" not in bare and (policy.claims or not is_claim(bare)):
        return Extraction((bare,), "bare", otherwise=nothing)
    return Extraction((), "", nothing)


def _before_run_on(text: str, policy: Policy) -> str:
    """The text up to a question that the model asks itself after its first answer."""
    box = _BOX.search(text)
    claim = None if box else claims(text, with_sentences=policy.claims)
    if box is None and claim is None:
        return text
    return before_next_question(text, box.end() if box else claim.first_end if claim else 0)


def _boxed(text: str, boxed: Sequence[Box], policy: Policy) -> Extraction:
    last = boxed[-1]
    if not last.content.strip():
        return Extraction((), "box", "no_answer")
    tail = text[last.end :]
    later = later_claims(tail, with_sentences=policy.claims)
    denied = is_negated(text[: last.start]) if later is None else False
    if denied or is_taken_back(tail[later.last_end :] if later else tail):
        return Extraction(tuple(box.content for box in boxed), "box", "taken_back")
    return Extraction(tuple(box.content for box in boxed), "box", later=later.answers if later else ())


def _claimed(text: str, found: Claims) -> Extraction:
    if not found.answers:
        return Extraction((), found.how, "no_answer")
    tail = text[found.last_end :]
    if found.how == "claim":  # where a claim ends is a guess
        end = _SENTENCE_END.search(tail)
        tail = tail[end.end() :] if end else ""
    is_denied = is_taken_back(tail) and not _YES_OR_NO.match(found.answers[-1])
    return Extraction(found.answers, found.how, "taken_back" if is_denied else None)


def boxes(text: str) -> list[Box] | None:
    """All boxes of a text; None if a box has no closing brace."""
    found: list[Box] = []
    index = 0
    while (match := _BOX.search(text, index)) is not None:
        start = match.end()
        if match[1] is None:
            word = _BARE_WORD.match(text, start)
            index = word.end() if word else start
            if word is not None:
                found.append(Box(word[0], match.start(), index))
            continue
        end = matching_brace(text, start)
        if end < 0:
            return None
        index = end + 1
        found.append(Box(text[start + 1 : end], match.start(), index))
    return found
