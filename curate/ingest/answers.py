r"""Finds the answer in a source's row: a number, a list, a letter, or the end of a solution.

`answer_in` finds the answer in a text: after `####`, in the last `\boxed{}`, in a sentence that states it, or the text
itself. `text_of` converts any cell to text, `written` parses a cell that holds JSON text, `is_value` tests whether a
text is an answer without working.
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
_SMALL: Final = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
# "Show that the area of $R$ is $6$.", "$a$ must equal $7$.", "Show that the answer is yes."
_STATED_OF: Final = re.compile(
    r"\s*(?:(?:show|prove) that\s+)?(?:the\b|there (?:is|are)\b|\$[^$\n]{1,30}\$(?=\s))"
    r"(?:[^$.;\n]|\$[^$\n]{1,200}\$)*?\s"
    r"(?:is|are|equals?|be|evaluates to|converges to|takes the form of)\s+(?:exactly\s+|equal to\s+)?"
    rf"(?:\$\$?(?P<formula>[^$]+)\$\$?|(?P<value>-?\d+(?:[./]\d+)?|yes|no|{_SMALL}))\s*\.?\s*"
    # "There are $n$ such sums."
    r"|\s*(?:(?:show|prove) that\s+)?there are (?:exactly )?\$(?P<count>[^$]+)\$(?: [a-z]+){1,3}(?: \$\w\$)?\s*\.?\s*",
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
    r"""The answer in a text and whether it is marked: `#### 42`, else the last `\boxed{42}`, else the whole text."""
    if hashes := _HASHES.findall(text):
        return str(hashes[-1]), True
    boxes = list(_BOXED.finditer(text))
    if boxes and (inside := _inside(text, boxes[-1])):
        return inside, True
    if stated := _STATED.fullmatch(text):
        return stated[1].strip(), True
    if stated := _STATED_OF.fullmatch(text):
        return (stated["formula"] or stated["value"] or stated["count"]).strip(" .\n"), True
    if concluded := _CONCLUDED.search(text[-200:]):
        words = (concluded["english"] or concluded["chinese"]).strip()
        if is_value(words):
            return words, True
    return text.strip() or None, False


def _inside(text: str, box: re.Match[str]) -> str:
    """The content of a box: up to its closing brace, or the single character of a box without braces."""
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
    """Whether a text is short and formula-like enough to be an answer rather than working."""
    return len(text) <= 60 and _VALUE.fullmatch(text.strip()) is not None


def written(text: str) -> Any:  # Any: any JSON value
    """The value of a JSON text; the text itself if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def text_of(value: Any) -> str | None:  # Any: a cell of a source
    """A cell as text: 27.0 becomes 27, a list its items joined by commas, an empty text None."""
    if value is None or isinstance(value, str):
        return (value or "").strip() or None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list | tuple):
        return ", ".join(text for item in value if (text := text_of(item)) is not None) or None
    if isinstance(value, Mapping):
        return next((text_of(value[name]) for name in _CONTENT if name in value), json.dumps(value, default=str))
    return str(value)
