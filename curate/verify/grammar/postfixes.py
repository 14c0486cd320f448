"""The postfix operators of the grammar: factorials, percent and degree signs, primes, subscripts."""

from __future__ import annotations

from curate.verify.grammar.cursor import Cursor
from curate.verify.nodes import Node, UnreadableError


def parse_postfixes(cursor: Cursor, base: Node) -> Node:
    """The value with all postfixes after it."""
    while True:
        if cursor.accept("!"):
            base = Node("fact", (base,), None, "!!" if cursor.accept("!") else "!")
        elif cursor.accept("%"):
            base = Node("pct", (base,))
        elif cursor.is_at("'") and base.op == "sym":
            cursor.take()
            base = base._replace(name=base.name + "'")
        elif cursor.is_at("_"):
            base = _parse_subscript(cursor, base)
        elif cursor.is_at("\\circ"):
            cursor.take()
            base = Node("deg", (base,))
        else:
            return base


def is_degree(cursor: Cursor) -> bool:
    """Whether the circumflex here carries a degree sign or a prime."""
    after, then = cursor.peek(1), cursor.peek(2)
    return (
        after.text == "\\circ"
        or (after.text == "{" and then.text == "\\circ")
        or after.text == "\\prime"
        or then.text == "\\prime"
    )


def parse_degree(cursor: Cursor, base: Node) -> Node:
    """The value with the raised degree sign or prime here."""
    cursor.take()
    is_braced, mark = cursor.accept("{"), cursor.take().text
    if is_braced:
        cursor.expect("}")
    if mark == "\\prime":
        return base._replace(name=base.name + "'")
    if cursor.peek().kind in ("sym", "text") and cursor.peek().text in ("C", "F"):
        return Node("qty", (base,), None, "degree" + cursor.take().text)
    return Node("deg", (base,))


def _parse_subscript(cursor: Cursor, base: Node) -> Node:
    label = _subscript_label(cursor)
    if not label:
        raise UnreadableError("an empty subscript")
    if base.op == "num":
        return Node("base", (), None, f"{base.name}_{label}")
    if base.op == "sym":
        return base._replace(name=f"{base.name}_{label}")
    raise UnreadableError("subscript")


def _subscript_label(cursor: Cursor) -> str:
    cursor.take()
    if not cursor.accept("{"):
        return cursor.take().text.lstrip("\\")
    words = []
    while not cursor.is_at("}"):
        if cursor.peek().kind == "end":
            raise UnreadableError("open subscript")
        words.append(cursor.take().text.lstrip("\\"))
    cursor.take()
    return "".join(words)
