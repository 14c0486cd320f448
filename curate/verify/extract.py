"""Finds the final answer in a completion: a box, `####`, an explicit final claim, or a bare answer.

Text inside the thinking block is ignored. Every function is linear in the length of the completion.
"""

from __future__ import annotations

import json
import re
from collections import deque
from typing import Final, NamedTuple

from curate.verify.policy import Policy
from curate.verify.spelling.normalise import matching_brace
from curate.verify.verdict import Reason

_BOX: Final = re.compile(r"\\(?:boxed|fbox|framebox)\s*(?=(\{)?)")
_BARE_WORD: Final = re.compile(r"(?:[-+]?\d[^\s${}\\.,;]*|[A-Za-z](?![A-Za-z']))")  # \boxed 7, not "the \boxed command"
_HASH: Final = re.compile(r"^[ \t]*#{4}[ \t]*(?P<answer>[^\n]+)$", re.MULTILINE)
_TAG: Final = re.compile(r"<answer>(?P<answer>[^<]{0,4000})</answer>")
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
# marks that models put around their reasoning, besides <think>, and marks that end a turn
_THINKING: Final = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("◁think▷", "◁/think▷"),
    ("[THINK]", "[/THINK]"),
)
_STOP: Final = re.compile(r"(?:<\|[a-z_]{1,30}\|>|</s>|<eos>|<end_of_turn>|<｜[^<>｜]{1,40}｜>)$")
_MAX_STOP: Final = 50
_FENCE: Final = re.compile(r"^```[a-z]*\n(?P<inside>[^`\n]+)\n```$")
_MAX_JSON: Final = 10_000
_MAX_CLAIM: Final = 400
_MAX_CLAIMS: Final = 1000  # the last ones; an ordinary completion has a handful
_MAX_BARE: Final = 300


class _Parts(NamedTuple):
    """The final part of a completion and its thinking; is_open: a thinking block has no closing mark."""

    final: str
    thinking: str
    is_open: bool = False


class _Boxes(NamedTuple):
    """The contents of boxes; is_torn: the last box has no closing brace."""

    contents: list[str]
    is_torn: bool = False


class Extraction(NamedTuple):
    """The answers found, in reading order; `reason` is the code for having none.

    otherwise: the reason to use if the bare text turns out to be no answer.
    """

    answers: tuple[str, ...]
    how: str
    reason: Reason | None = None
    otherwise: Reason | None = None


def extract(completion: str, policy: Policy) -> Extraction:
    """The final answers of a completion: all boxes of its final part, or its final claims."""
    final, thinking, is_open = _split_thinking(completion)
    final = _before_stop(final)
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
    bare = _FENCE.sub(r"\g<inside>", final.strip())
    is_claim = not policy.claims and _CLAIM.search(bare) is not None
    if policy.bare and bare and len(bare) <= _MAX_BARE and "\n" not in bare and not is_claim:
        return Extraction((bare,), "bare", otherwise=nothing)
    return Extraction((), "", nothing)


def _before_stop(text: str) -> str:
    """The text without trailing marks that end a turn."""
    end = len(text)
    while True:
        while end and text[end - 1].isspace():
            end -= 1
        start = max(0, end - _MAX_STOP)
        match = _STOP.search(text[start:end])
        if match is None:
            return text[:end]
        end = start + match.start()


def _split_thinking(completion: str) -> _Parts:
    """Split a completion at the marks of the thinking block that ends last."""
    last = max(_THINKING, key=lambda marks: completion.rfind(marks[1]))
    thinking, mark, final = completion.rpartition(last[1])
    if not mark:
        opening = next((opening for opening, _ in _THINKING if opening in completion), None)
        if opening is None:
            return _Parts(completion, "")
        before, _, rest = completion.partition(opening)
        return _Parts(before, rest, is_open=True)
    return _Parts(final, thinking, any(opening in final for opening, _ in _THINKING))


def _boxes(text: str) -> _Boxes:
    """All boxes of a text, up to the first without a closing brace."""
    found: list[str] = []
    index = 0
    while (match := _BOX.search(text, index)) is not None:
        start = match.end()
        if match[1] is None:
            word = _BARE_WORD.match(text, start)
            if word is None:
                index = start
                continue
            found.append(word[0])
            index = word.end()
            continue
        end = matching_brace(text, start)
        if end < 0:
            return _Boxes(found, is_torn=True)
        found.append(text[start + 1 : end])
        index = end + 1
    return _Boxes(found)


def _marked(final: str, policy: Policy) -> Extraction | None:
    tags = [_within(m["answer"].strip()) for m in _TAG.finditer(final)]
    if tags:
        return Extraction(tuple(tag for tag in tags if tag), "tag", None if tags[-1] else "no_answer")
    if (answer := _in_json(final)) is not None:
        return Extraction((answer,), "tag")
    hashes = _HASH.findall(final)
    if hashes:
        return Extraction((hashes[-1].strip(),), "hash")
    if policy.claims:
        for pattern in (_FINAL, _CLAIM):
            last = deque(pattern.finditer(final), maxlen=_MAX_CLAIMS)
            claims = [claim for m in last if (claim := _claim(final, m.end()))]
            claims = [claim for claim in claims if not pattern.search(claim)]  # "Final answer: the final answer is 7"
            if claims:
                return Extraction(tuple(claims), "claim")
    return None


def _within(tag: str) -> str:
    """The answer inside a tag, which may contain a sentence such as "the answer is 42"."""
    found = [m.end() for pattern in (_FINAL, _CLAIM) if (m := pattern.search(tag)) is not None]
    return (_claim(tag, found[0]) if found else "") or tag


def _in_json(final: str) -> str | None:
    """The answer of a completion that is one JSON object such as {"answer": 42}; else None."""
    text = final.strip()
    if not (text.startswith("{") and text.endswith("}") and len(text) <= _MAX_JSON):
        return None
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None
    answers = [value[key] for key in ("answer", "final_answer") if key in value] if isinstance(value, dict) else []
    return str(answers[0]) if answers and isinstance(answers[0], str | int | float) else None


def _claim(text: str, start: int) -> str:
    """The text after "the answer is", up to the end of the sentence; the end is sought after a leading formula."""
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
