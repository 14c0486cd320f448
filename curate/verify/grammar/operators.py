"""The operators of the grammar: relations, set operations, and the tokens that can start a factor."""

from __future__ import annotations

from typing import Final

from curate.verify.grammar.cursor import Cursor

RELATIONS: Final = {"=": "=", "<": "<", ">": ">", "\\le": "<=", "\\ge": ">=", "\\ne": "!=", "\\approx": "~", "≡": "="}
SET_OPERATIONS: Final = {"\\cup": "union", "\\cap": "cap", "\\setminus": "minus"}
_NO_FACTOR: Final = frozenset(
    [
        *RELATIONS,
        *SET_OPERATIONS,
        *r"\in \notin \pm \mp \choose \over \times \cdot \to \rfloor \rceil \rvert \circ \rangle \prime".split(),
    ]
)


def starts_factor(cursor: Cursor) -> bool:
    """Whether another factor follows without a sign."""
    token = cursor.peek()
    if token.kind in ("num", "sci", "sym", "set"):
        return True
    if token.kind == "env":
        return token.text.startswith("\\begin")
    if token.kind == "cmd":
        return token.text not in _NO_FACTOR
    return token.text in ("(", "[", "\\{", "{", "\\$") or (token.text == "|" and not cursor.bars)
