r"""The answer that a source's row holds, whatever form it takes: a number, a list, a letter, the end of a solution.

`answer_in` finds the answer in a text: behind `####`, in the last `\boxed{}`, in a sentence that states it, or the text
itself. `text_of` makes any cell a text, `written` reads JSON that stands in a cell as text, `is_value` knows a text
that is an answer and no working.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_HASHES: Final = re.compile(r"^[ \t]*####[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_BOXED: Final = re.compile(r"\\(?:boxed|fbox)\s*(\{|[^\s{])")
# "Show that the integral evaluates to $1$.": a whole reference solution that states the answer and nothing else
_STATED: Final = re.compile(
    r"\s*(?:(?:show|prove) that|the|there (?:is|are))\b[^$.\n]*?"
    r"(?:\b(?:is|are|equals?|evaluates to|converges to)\s+(?:exactly\s+|equal to\s+)?|(?<=that )|(?<=are ))"
    r"\$([^$]+)\$\s*\.?\s*",
    re.IGNORECASE,
)
# the last words of a solution: "The answer is: 42"
_CONCLUDED: Final = re.compile(
    r"(?:^|[\n.!?;,:]|\b(?:so|thus|hence|therefore)\b)[\s*]*"
    r"(?:the )?(?:final |correct )?answer(?: is\b\s*[:：]?|\s*[:：])[\s*]*(?P<english>[^\n]+?)[\s.*]*\Z"
    r"|(?:答案|故答案)(?:是|为)?\s*[:：]?\s*(?P<chinese>[^\n。]+?)[\s。.]*\Z",
    re.IGNORECASE,
)
_VALUE: Final = re.compile(r"(?=.*[\d\\=^+])(?:\S+|[^\n.!?]{1,40}(?:\.\d+)?)|[A-Za-z]|yes|no|true|false", re.IGNORECASE)
_CONTENT: Final = ("content", "text", "value", "option", "answer")


def answer_in(text: str) -> tuple[str | None, bool]:
    r"""The answer in a text and whether it was marked there: `#### 42`, else the last `\boxed{42}`, else all of it."""
    if hashes := _HASHES.findall(text):
        return str(hashes[-1]), True
    boxes = list(_BOXED.finditer(text))
    if boxes and (inside := _inside(text, boxes[-1])):
        return inside, True
    if stated := _STATED.fullmatch(text):
        return stated[1].strip(), True
    if concluded := _CONCLUDED.search(text[-200:]):
        words = (concluded["english"] or concluded["chinese"]).strip()
        if is_value(words):
            return words, True
    return text.strip() or None, False


def _inside(text: str, box: re.Match[str]) -> str:
    """What stands in a box: up to the brace that closes it, or the one character of a box without braces."""
    if box[1] != "{":
        return box[1]
    depth = 0
    for at in range(box.end() - 1, len(text)):
        escaped = text[at - 1] == "\\"
        depth += (text[at] == "{" and not escaped) - (text[at] == "}" and not escaped)
        if depth == 0:
            return text[box.end() : at].strip()
    return ""


def is_value(text: str) -> bool:
    """Whether a text is short enough, and formula enough, to be an answer and not the working that leads to one."""
    return len(text) <= 60 and _VALUE.fullmatch(text.strip()) is not None


def written(text: str) -> Any:  # Any: whatever JSON holds
    """What a text of JSON writes down; the text itself where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def text_of(value: Any) -> str | None:  # Any: a cell of a source
    """A cell as text: 27.0 is 27, a list is its items with commas, an empty text is none."""
    if value is None or isinstance(value, str):
        return (value or "").strip() or None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list | tuple):
        return ", ".join(text for item in value if (text := text_of(item)) is not None) or None
    if isinstance(value, Mapping):
        return next((text_of(value[name]) for name in _CONTENT if name in value), json.dumps(value, default=str))
    return str(value)
