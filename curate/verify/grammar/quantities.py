"""Units of the grammar: the words, letters and currency signs after a value."""

from __future__ import annotations

import contextlib
from typing import Final

from curate.verify.grammar.cursor import Cursor
from curate.verify.grammar.lexer import Token
from curate.verify.grammar.postfixes import is_degree
from curate.verify.nodes import Node, UnreadableError

CURRENCY: Final = {
    "\\$": "dollar",
    "\\euro": "euro",
    "\\pounds": "gbp",
    "\\yen": "yuan",
    "\\rupee": "inr",
    "\\won": "krw",
    "\\ruble": "rub",
}
_LETTER_UNITS: Final = "mgshLNJWVK"


def parse_unit(cursor: Cursor, value: Node) -> Node:
    """The value with the words or the currency sign after it as its unit; without any, the value."""
    if cursor.peek().text in CURRENCY and cursor.peek(1).kind not in ("num", "sym"):
        return Node("qty", (value,), None, CURRENCY[cursor.take().text])
    words: list[str] = []
    while (
        cursor.peek().kind == "text"
        or (words and cursor.is_at("/", "\\cdot") and cursor.peek(1).kind in ("text", "sym"))
        or (words and _is_unit_letter(cursor))
    ):
        if _is_unit_letter(cursor):
            cursor.tokens[cursor.index] = cursor.peek()._replace(kind="text")
        token = cursor.take()
        sign = token.text.replace("\\cdot", " ") if token.kind != "text" else ""
        words.append(sign + cursor.take().text if sign else token.text)
        if cursor.is_at("^") and not is_degree(cursor):
            cursor.take()
            words[-1] += "^" + _parse_literal_exponent(cursor)
    if words[-1:] == ["of"] and cursor.peek().kind in ("num", "sci"):
        raise UnreadableError("an unevaluated part of a number")
    return Node("qty", (value,), None, " ".join(words)) if words else value


def parse_letter_unit(cursor: Cursor) -> str | None:
    """A single spaced letter after a figure that ends the value: 1.5 m, 20 s, 64 m^2, 1 h 30 min; else None."""
    token, after = cursor.peek(), cursor.peek(1)
    if token.text == "\\Omega" and _closes(after):
        cursor.take()
        return "ohm"
    if token.kind != "sym" or not token.is_spaced or token.text not in _LETTER_UNITS:
        return None
    if _closes(after) or (after.kind == "num" and after.is_spaced):
        return cursor.take().text
    start = cursor.index
    if token.text == "m" and after.text == "^":
        cursor.index += 2
        with contextlib.suppress(UnreadableError):
            power = _parse_literal_exponent(cursor)
            if power in ("2", "3") and _closes(cursor.peek()):
                return f"m^{power}"
        cursor.index = start
    return None


def unit_name(node: Node) -> str | None:
    """The unit phrase of words in a fraction, such as km/h or m/s^2; None if the tree is no unit."""
    if node.op == "text":
        return node.name
    if node.op == "pow" and node.args[0].op == "text" and (power := node.args[1].value) and power.denominator == 1:
        return f"{node.args[0].name}^{power}"
    if node.op in ("div", "mul"):
        parts = [unit_name(arg) for arg in node.args]
        return None if None in parts else ("/" if node.op == "div" else " ").join(part for part in parts if part)
    return None


def _is_unit_letter(cursor: Cursor) -> bool:
    """Whether a letter after a unit is another unit: km h^{-1}."""
    token, after = cursor.peek(), cursor.peek(1)
    return (
        token.kind == "sym"
        and token.is_spaced
        and token.text in _LETTER_UNITS
        and (after.text == "^" or _closes(after))
    )


def _parse_literal_exponent(cursor: Cursor) -> str:
    is_braced = cursor.accept("{")
    sign = cursor.accept("-") or ""
    token = cursor.take()
    if is_braced:
        cursor.expect("}")
    if token.kind != "num":
        raise UnreadableError("power of a unit is not a number")
    return sign + token.text


def _closes(token: Token) -> bool:
    """Whether a token ends a value."""
    return token.kind in ("end", "conn") or token.text in (",", ";", ")")
