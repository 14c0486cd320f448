r"""Removes text that a reader of the completion does not see, or that answers another question.

Hidden are comments of HTML and LaTeX, `\phantom` and text that is struck out. A base model that continues with a
question of its own has ended its answer before it.
"""

from __future__ import annotations

import re
from typing import Final

from curate.verify.spelling.normalise import matching_brace

_COMMENT: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|\\begin\{comment\}.*?(?:\\end\{comment\}|\Z)|\\iffalse\b.*?(?:\\fi\b|\Z)|"
    r"(?<![\\\w~}])~~(?=\S)[^\n~]{1,500}(?<=\S)~~(?![\w~])|<(del|s|strike)>[^<]{0,500}</\1>",
    re.DOTALL | re.IGNORECASE,
)
_MARKUP: Final = ("<!--", "\\begin{comment}", "\\iffalse", "~~", "</")
_REST_OF_LINE: Final = re.compile(
    r"(?<!\\)%[^\n%]*(?:\\[bf]box|\\boxed|####|answer|答案)[^\n]*$", re.MULTILINE | re.IGNORECASE
)
_FIGURE_BEFORE: Final = re.compile(r"[\d}$)\]*]\s?$")  # 50 % is a percentage
_UNSEEN: Final = re.compile(r"\\(?:[hv]?phantom|sout|st|[bx]?cancel)\s*(?=\{)")
_HEADING: Final = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*|\*\*)?(?:(?:(?:new|next|another|follow-up)[ \t]+)?(?:question|problem|exercise)|Q|"
    r"问题|题目)[ \t]*(?P<number>\d{1,4})?(?:\*\*)?[ \t]*[:：]",
    re.MULTILINE | re.IGNORECASE,
)
_STOP: Final = re.compile(r"(?:<\|[a-z_]{1,30}\|>|</s>|<eos>|<end_of_turn>|<｜[^<>｜]{1,40}｜>)$")
_MAX_STOP: Final = 50


def visible(text: str) -> str:
    """The text without comments, phantoms, struck-out text, and marks that end a turn."""
    if any(mark in text.lower() for mark in _MARKUP):
        text = _COMMENT.sub(" ", text)
    if "%" in text:
        text = _without_line_comments(text)
    if _UNSEEN.search(text):
        text = _without_arguments(text)
    return _before_stop(text)


def before_next_question(text: str, answered: int) -> str:
    """The text up to a heading such as `Question:` that follows the first answer, which ends at `answered`.

    Numbered headings that also precede the answer are parts of one solution.
    """
    for heading in _HEADING.finditer(text, answered):
        first = _HEADING.search(text, 0, answered) if heading["number"] else None
        if first is None or not first["number"]:
            return text[: heading.start()]
    return text


def _without_line_comments(text: str) -> str:
    r"""The text without LaTeX comments that contain an answer; `50 % of` and `\%` are no comments."""
    kept = []
    for line in text.split("\n"):
        found = _REST_OF_LINE.search(line)
        is_comment = found is not None and not _FIGURE_BEFORE.search(line[max(0, found.start() - 2) : found.start()])
        kept.append(line[: found.start()] if found is not None and is_comment else line)
    return "\n".join(kept)


def _without_arguments(text: str) -> str:
    r"""The text without `\phantom{...}` and struck-out arguments; one without its closing brace stays."""
    kept, index = [], 0
    while (match := _UNSEEN.search(text, index)) is not None:
        end = matching_brace(text, match.end())
        if end < 0:
            break
        kept.append(text[index : match.start()])
        index = end + 1
    return "".join([*kept, text[index:]])


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
