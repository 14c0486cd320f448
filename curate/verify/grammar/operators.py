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
    if starts_statement(cursor):
        return False
    if token.kind in ("num", "sci", "sym", "set"):
        return True
    if token.kind == "env":
        return token.text.startswith("\\begin")
    if token.kind == "cmd":
        return token.text not in _NO_FACTOR
    return token.text in ("(", "[", "\\{", "{", "\\$") or (token.text == "|" and not cursor.bars)


def starts_statement(cursor: Cursor) -> bool:
    """Whether the next equation starts here, after a space: x=1 x=5, f(1)=2 f(2)=3, and not S = 2 a b = 12."""
    token, before = cursor.peek(), cursor.peek(-1)
    if cursor.name is None or not token.is_spaced or token.kind != "sym":
        return False
    if before.kind != "num" and before.text not in (")", "]", "}") and token.text != cursor.name:
        return False
    return cursor.peek(_end_of_name(cursor)).text == "="


def _end_of_name(cursor: Cursor) -> int:
    """How many tokens ahead a name ends: x, x_1, f(2)."""
    ahead = 1
    if cursor.peek(ahead).text == "_":
        ahead += 4 if cursor.peek(ahead + 1).text == "{" else 2
    if cursor.peek(ahead).text == "(" and cursor.peek(ahead + 2).text == ")":
        ahead += 3
    return ahead
