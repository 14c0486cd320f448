"""The numbers of the grammar: figures, mixed numbers, spaced thousands, repeating decimals."""

from __future__ import annotations

import re
from fractions import Fraction

from curate.verify.grammar.cursor import Cursor
from curate.verify.grammar.lexer import Token
from curate.verify.nodes import Node, UnreadableError, num

_PERIOD_MARKS = ("\\overline", "\\dot", "\\bar")


def parse_number(cursor: Cursor, token: Token) -> Node:
    """The value of figures, including the fraction of a mixed number and further groups of thousands."""
    value = num(Fraction(token.text.rstrip(".") or "0"), token.text)
    if not token.text.isdigit():
        return _parse_period(cursor, value)
    if cursor.is_at("\\frac") and (part := _parse_proper_fraction(cursor)):
        return Node("add", (value, part), None, "mixed")
    after = cursor.peek()
    if after.kind != "num":
        return value
    if after.is_spaced and cursor.peek(1).text == "/" and cursor.peek(2).kind == "num":
        top, bottom = cursor.take(), cursor.take() and cursor.take()
        if not (top.text.isdigit() and bottom.text.isdigit()):
            raise UnreadableError("two numbers side by side")
        return Node("add", (value, Node("div", (num(int(top.text)), num(int(bottom.text))))), None, "mixed")
    return _parse_thousands(cursor, value)


def _parse_thousands(cursor: Cursor, first: Node) -> Node:
    digits = first.name
    while (
        cursor.peek().kind == "num"
        and cursor.peek().is_spaced
        and re.fullmatch(r"\d{3}(?:\.\d+)?", cursor.peek().text)
        and len(first.name) <= 3
        and "." not in digits
    ):
        digits += cursor.take().text
    if cursor.peek().kind == "num" or digits == first.name:
        raise UnreadableError("two numbers side by side")
    return num(Fraction(digits), digits)


def _parse_proper_fraction(cursor: Cursor) -> Node | None:
    r"""The `\frac` of a mixed number, of two plain whole numbers; else None."""
    texts = [cursor.peek(1 + i) for i in range(6)]
    if [t.text for t in texts[::3]] == ["{", "{"] and [t.text for t in texts[2::3]] == ["}", "}"]:
        top, bottom, used = texts[1].text, texts[4].text, 7
    elif texts[0].kind == "num" and len(texts[0].text) == 2:
        top, bottom, used = texts[0].text[0], texts[0].text[1], 2
    else:
        return None
    if not (top.isdigit() and bottom.isdigit()):
        return None
    cursor.index += used
    return Node("div", (num(int(top)), num(int(bottom))))


def _parse_period(cursor: Cursor, value: Node) -> Node:
    """The exact fraction of a decimal whose period is marked by a line or dots; without a mark, the decimal."""
    if not cursor.is_at(*_PERIOD_MARKS) or "." not in value.name:
        return value
    period = ""
    while cursor.is_at(*_PERIOD_MARKS):
        cursor.take()
        is_braced = cursor.accept("{")
        period += cursor.take().text
        if is_braced:
            cursor.expect("}")
        if cursor.peek().kind == "num" and cursor.peek(1).text == "\\dot":
            period += cursor.take().text
    if not period.isdigit() or len(period) > 100:
        raise UnreadableError("repeating decimal")
    places = len(value.name.partition(".")[2])
    tail = Fraction(int(period), (10 ** len(period) - 1) * 10**places)
    return num((value.value or Fraction(0)) + tail)
