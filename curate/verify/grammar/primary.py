"""Primary expressions of the grammar: numbers, symbols, words, brackets, environments and commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from curate.verify.grammar.brackets import parse_bracketed
from curate.verify.grammar.commands import ELLIPSIS, parse_command, symbol
from curate.verify.grammar.cursor import Cursor
from curate.verify.grammar.environments import parse_environment
from curate.verify.grammar.lexer import Token
from curate.verify.grammar.numerals import parse_number
from curate.verify.nodes import Node, UnreadableError


def parse_primary(cursor: Cursor) -> Node:
    """One number, symbol, group or command."""
    token = cursor.take()
    if token.kind == "sym":
        return symbol(token.text)
    parse = _PARSERS.get(token.kind)
    if parse is not None:
        return parse(cursor, token)
    if token.kind == "based":
        return Node("base", (), None, token.text)
    if token.kind == "set":
        return Node("const", (), None, token.text)
    if token.kind == "ellipsis":
        return ELLIPSIS
    raise UnreadableError(f"unexpected {token.text or 'end'}")


def _parse_words(cursor: Cursor, first: Token) -> Node:
    words = [first.text]
    while cursor.peek().kind == "text":
        words.append(cursor.take().text)
    return Node("text", (), None, " ".join(words))


_PARSERS: Final[dict[str, Callable[[Cursor, Token], Node]]] = {
    "num": parse_number,
    "sci": parse_number,
    "text": _parse_words,
    "op": parse_bracketed,
    "cmd": parse_command,
    "env": parse_environment,
}
