r"""Sets of words: whether the answer of a completion names the same words, in any order and in upper or lower case.

A ground truth is a JSON list of words, or words between commas. The answer is read where every answer is read: in a
box, after `####` or a final claim.
"""

from __future__ import annotations

import json
import re
from typing import Final

from curate.verify.extract.find import extract
from curate.verify.policy import Policy

_BETWEEN: Final = re.compile(r"[,;，、\n]")
_AND: Final = re.compile(r"(?:^|\s+)(?:and|&)\s+", re.IGNORECASE)
_WRAPPED: Final = re.compile(r"\\(?:text|textbf|mathrm|mathbf|operatorname)\s*\{([^{}]*)\}")
_AROUND: Final = " \t.\"'“”‘’`*_$(){}[]\\"
_POLICY: Final = Policy()


def judge(completion: str, ground_truth: str) -> bool | None:
    """Whether the answer is the set of words; None if the ground truth names none."""
    wanted = words_of(ground_truth)
    if not wanted:
        return None
    found = extract(completion, _POLICY)
    if found.reason is not None or not found.answers:
        return False
    return all(_is_set(answer, wanted) for answer in (*found.answers, *found.later))


def is_readable(ground_truth: str) -> bool:
    """Whether a ground truth is a JSON list of words, which nothing but their kind has."""
    return ground_truth.lstrip().startswith("[") and bool(words_of(ground_truth))


def fault(ground_truth: str) -> str | None:
    """What is wrong with a set of words, in one line."""
    return None if words_of(ground_truth) else "names no words"


def words_of(text: str) -> frozenset[str]:
    """The words of a list: its items, folded to lower case, without quotes and brackets."""
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError):
        listed = None
    items = listed if isinstance(listed, list) else _BETWEEN.split(_WRAPPED.sub(r"\1", text))
    return frozenset(word for item in items if (word := _folded(str(item))))


def _is_set(answer: str, wanted: frozenset[str]) -> bool:
    """Whether an answer names the words; `and` is part of a word, or stands between two."""
    text = _WRAPPED.sub(r"\1", answer)
    return words_of(text) == wanted or words_of(_AND.sub(",", text)) == wanted


def _folded(word: str) -> str:
    return " ".join(word.strip(_AROUND).split()).casefold()
