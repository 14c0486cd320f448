"""The options of a multiple-choice question, by letter: `(A) 5 (B) 6`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_STYLES: Final = (
    re.compile(r"\(\s*(?:\\(?:text|textbf|mathrm)\{)?([A-J])\}?\s*\)[ \t~]*"),
    re.compile(r"(?:^|(?<=[\s;,]))([A-J])[.)．、:：][ \t]+"),
    re.compile(r"\\textbf\{\(([A-J])\)\s*\}[ \t~]*"),
)
# \textbf{(A)}\ 6 \qquad: what only formats a label
_MARKUP: Final = re.compile(
    r"\\(?:textbf|text|mathrm|mathbf|textrm)\s*\{\s*(?=\([A-J]\))|(?<=\([A-J]\))\s*\}|\\q?quad|\\ "
)
_MAX_CONTENT: Final = 200


@lru_cache(maxsize=5_000)
def options(question: str) -> dict[str, str]:
    """The content of each option of the last run of letters from A; empty without such a run."""
    question = _MARKUP.sub(" ", question)
    for style in _STYLES:
        marks = list(style.finditer(question))
        start = max((i for i, mark in enumerate(marks) if mark[1] == "A"), default=None)
        if start is None:
            continue
        run = marks[start:]
        letters = "".join(mark[1] for mark in run)
        if len(run) < 2 or letters != "ABCDEFGHIJ"[: len(run)]:
            continue
        ends = [*(mark.start() for mark in run[1:]), len(question)]
        contents = [
            question[mark.end() : end].strip().strip(",;.$").strip() for mark, end in zip(run, ends, strict=True)
        ]
        if all(contents) and all(len(content) <= _MAX_CONTENT for content in contents):
            return dict(zip(letters, contents, strict=True))
    return {}
