"""Reads the options in a source's row, in any form, and the letter of the correct one.

`choices_of` reads lists, tables, dictionaries and labelled texts; `letter_of` turns a letter, an index or an option's
text into a letter.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from curate.ingest.answers import LETTERS, text_of, written
from curate.multiple_choice.option_runs import masked, option_runs

_LABELS: Final = (
    (re.compile(r"^\s*[(（\[]?([A-Z])[)）\].:：、．]\s*"), LETTERS),
    (re.compile(r"^\s*[(（\[]?([a-z])[)）\].:]\s+"), LETTERS.lower()),
    (re.compile(r"^\s*[(（\[]?([1-9])[)）\].:]\s+"), "123456789"),
)
_APART: Final = re.compile(r"(?<![\w])([A-Ja-j]) \)")  # a ) 41 , b ) 42


def choices_of(value: Any) -> list[str] | None:  # Any: a cell of a source
    """The options in a cell, in order and without their labels, or None if it holds fewer than two.

    Known: a list of texts or of `{label, text}` tables, `{"A": ..., "B": ...}`, `{"text": [...], "label": [...]}`, any
    of these as JSON or Python text, and a text of labelled options: `A. 41 B. 42`.
    """
    if value is None:
        return None
    if isinstance(value, str):
        value = _parsed(value) if value.lstrip().startswith(("[", "{")) else _listed(value)
    if isinstance(value, Mapping):
        lists = [value[name] for name in ("text", "content", "choices", "options") if isinstance(value.get(name), list)]
        value = lists[0] if lists else [value[label] for label in sorted(value) if value[label] is not None]
    if not isinstance(value, list | tuple):
        return None
    texts = [_option(item) for item in value]
    return _unlabelled(texts) if len(texts) > 1 and any(texts) else None


def _parsed(text: str) -> Any:  # Any: the value of any JSON or Python literal
    if (found := written(text)) is not text:
        return found
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _listed(text: str) -> list[str] | None:
    """The options of a text that begins with the first label."""
    text = _APART.sub(r"\1)", text).strip()
    runs = [run for run in option_runs(masked(text)) if not text[: run.start].strip(" ([（{*")]
    return [content.strip(" \n,;，；|") for content in runs[0].contents] if runs else None


def _option(item: Any) -> str:  # Any: a cell of a source
    while isinstance(item, list | tuple) and len(item) == 1:
        item = item[0]
    return text_of(item) or ""


def _unlabelled(texts: list[str]) -> list[str]:
    for pattern, names in _LABELS:
        labels = [pattern.match(text) for text in texts]
        if len(texts) <= len(names) and all(
            label and label[1] == name for label, name in zip(labels, names, strict=False)
        ):
            return [text[label.end() :].strip() for text, label in zip(texts, labels, strict=True) if label]
    return texts


def letter_of(truth: Any, choices: Sequence[str], first_index: int = 0) -> str | None:  # Any: a cell of a source
    """The letter of the correct option: from a letter, an option's text, or an index counted from `first_index`.

    A list of several becomes `A, C`. A truth that matches no option is returned as text.
    """
    if isinstance(truth, list | tuple) and len(truth) > 1:
        letters = [letter_of(item, choices, first_index) for item in truth]
        return ", ".join(letter or "" for letter in letters)
    text = text_of(truth)
    if text is None or len(choices) > len(LETTERS):
        return text
    names = LETTERS[: len(choices)]
    bare = text.strip("()（）.[]$ ")
    if len(bare) == 1 and (bare in names or (bare.upper() in names and text not in choices)):
        return bare.upper()
    is_index = not isinstance(truth, str | bool | list)
    if not is_index and text in choices:
        return names[list(choices).index(text)]
    index = int(text) - first_index if text.isdecimal() and len(text) < 3 else -1
    if 0 <= index < len(choices):
        return names[index]
    return names[list(choices).index(text)] if text in choices else text


def first_index(values: Iterable[tuple[Any, list[str] | None]]) -> int:  # Any: cells of a source
    """The index of the first option, 0 or 1, inferred from some (answer, options) pairs of a source."""
    indexes = [
        (int(value), len(choices))
        for value, choices in values
        if choices and (type(value) is int or (isinstance(value, str) and value.isdecimal() and value not in choices))
    ]
    is_from_one = any(value == count for value, count in indexes) and all(
        0 < value <= count for value, count in indexes
    )
    return int(is_from_one)
