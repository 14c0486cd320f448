r"""The answer that a source's row holds, whatever form it takes: a number, a list, a letter, the end of a solution.

`answer_in` finds the answer in a text: behind `####`, in the last `\boxed{}`, in a sentence that states it, or the text
itself. `choices_of` reads
options from lists, tables and labelled strings; `letter_of` turns an index or an option's text into its letter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
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
_LABEL: Final = re.compile(r"^\s*[(（\[]?([A-Z])[)）\].:、]\s*")
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


def choices_of(value: Any) -> list[str] | None:  # Any: a cell of a source
    """The options in a cell, in order and without their labels, or None where it holds fewer than two.

    Known: a list of texts or of `{label, text}` tables, `{"A": ..., "B": ...}`, `{"text": [...], "label": [...]}`, and
    any of these as JSON text.
    """
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    if isinstance(value, Mapping):
        lists = [value[name] for name in ("text", "content", "choices", "options") if isinstance(value.get(name), list)]
        value = lists[0] if lists else [value[label] for label in sorted(value) if value[label] is not None]
    if not isinstance(value, list | tuple):
        return None
    texts = [_option(item) for item in value]
    return _unlabelled(texts) if len(texts) > 1 and any(texts) else None


def _option(item: Any) -> str:  # Any: a cell of a source
    while isinstance(item, list | tuple) and len(item) == 1:
        item = item[0]
    return text_of(item) or ""


def _unlabelled(texts: list[str]) -> list[str]:
    labels = [_LABEL.match(text) for text in texts]
    if all(label and label[1] == LETTERS[place] for place, label in enumerate(labels[:26])) and len(texts) <= 26:
        return [text[label.end() :].strip() for text, label in zip(texts, labels, strict=True) if label]
    return texts


def letter_of(truth: Any, choices: Sequence[str], first_index: int = 0) -> str | None:  # Any: a cell of a source
    """The letter of the right option: from a letter, an option's text, or an index counted from `first_index`.

    A truth that names no option stays what it is.
    """
    text = text_of(truth)
    if text is None or len(choices) > len(LETTERS):
        return text
    if (bare := text.strip("()（）.[]$ ")) in LETTERS[: len(choices)] and len(bare) == 1:
        return bare
    is_index = not isinstance(truth, str | bool | list)
    if not is_index and text in choices:
        return LETTERS[list(choices).index(text)]
    index = int(text) - first_index if text.isdecimal() and len(text) < 3 else -1
    if 0 <= index < len(choices):
        return LETTERS[index]
    return LETTERS[list(choices).index(text)] if text in choices else text
