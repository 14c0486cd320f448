"""Rewrites foreign notations into the grammar's own before parsing, rule by rule.

All patterns are linear in the length of the text: none has nested repetition.
"""

from __future__ import annotations

from curate.verify.spelling.everyday import EVERYDAY
from curate.verify.spelling.notations import NOTATIONS


def respell(text: str) -> str:
    """The text with foreign notations in the grammar's own spelling."""
    for sign, pattern, replacement in (*NOTATIONS, *EVERYDAY):
        if sign in text:
            text = pattern.sub(replacement, text)
    return text
