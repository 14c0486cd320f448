"""The brackets of the grammar: groups, tuples, intervals, sets, absolute values, floors and ceilings."""

from __future__ import annotations

from typing import Final

from curate.verify.grammar.cursor import Cursor
from curate.verify.grammar.lexer import Token
from curate.verify.nodes import Node, UnreadableError, fn

FENCES: Final = {"\\lfloor": ("\\rfloor", "floor"), "\\lceil": ("\\rceil", "ceil"), "\\lvert": ("\\rvert", "abs")}
_CLOSING: Final = {"(": (")", "]"), "[": (")", "]"), "\\{": ("\\}",), "{": ("}",)}


def parse_bracketed(cursor: Cursor, token: Token) -> Node:
    """The construct that starts with an opening bracket, a bar or a dollar sign, which is already taken."""
    if token.text in _CLOSING:
        return parse_group(cursor, token.text)
    if token.text == "|":
        cursor.bars += 1
        inner = cursor.levels.statement(cursor)
        cursor.expect("|")
        cursor.bars -= 1
        return fn("abs", inner)
    if token.text == "\\$":
        return Node("qty", (cursor.levels.power(cursor),), None, "dollar")
    raise UnreadableError(f"unexpected {token.text}")


def parse_group(cursor: Cursor, opening: str) -> Node:
    """The content after an opening bracket, up to its closing bracket."""
    is_set, ends = opening == "\\{", _CLOSING[opening]
    bars, cursor.bars = cursor.bars, int(is_set)
    if cursor.is_at(*ends):
        cursor.take()
        cursor.bars = bars
        return Node("set" if is_set else "paren", (), None, "()")
    inner = cursor.levels.items(cursor, (*ends, "|", ":") if is_set else ends)
    if is_set and cursor.accept("|", ":"):
        inner = Node("such", (inner, cursor.levels.items(cursor, ends)))
    closing = cursor.accept(*ends)
    if closing is None:
        raise UnreadableError(f"open {opening}")
    cursor.bars = bars
    return _group(inner, opening, closing)


def parse_fenced(cursor: Cursor, opening: str) -> Node:
    """The floor, ceiling or absolute value of the content up to the closing sign."""
    closing, function = FENCES[opening]
    inner = cursor.levels.statement(cursor)
    cursor.expect(closing)
    return fn(function, inner)


def _group(inner: Node, opening: str, closing: str) -> Node:
    """A set, a tuple or an interval, or the value itself if the brackets only group."""
    if opening == "\\{":
        if inner.op == "such":
            return inner
        return Node("set", inner.args if inner.op == "list" else (inner,))
    if inner.op == "list" and opening != "{":
        return Node("paren", inner.args, None, opening + closing)
    if opening + closing in ("(]", "[)"):
        raise UnreadableError("unbalanced brackets")
    return inner
