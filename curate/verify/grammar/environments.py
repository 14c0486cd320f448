"""The environments of the grammar: matrices, functions by cases, aligned lines."""

from __future__ import annotations

from typing import Final

from curate.verify.grammar.cursor import Cursor
from curate.verify.grammar.lexer import Token
from curate.verify.nodes import Node, UnreadableError

_ALIGNED: Final = ("aligned", "align", "align*", "array*", "gathered", "split", "alignedat")
_CASES: Final = ("cases", "dcases", "rcases")
_IF: Final = ("if", "when", "for", "where", "while")
_RELATIONS: Final = ("=", "<", ">", "\\le", "\\ge", "\\ne")

Row = tuple[Node, ...]


def parse_environment(cursor: Cursor, token: Token) -> Node:
    r"""The content between `\begin` and `\end`: cases, a list of lines, or a matrix."""
    if not token.text.startswith("\\begin"):
        raise UnreadableError(token.text)
    name = token.text.split("{")[1].rstrip("}")
    if name in _ALIGNED or name in _CASES:
        _drop_marks(cursor, is_aligned=name in _ALIGNED)
    rows = _parse_rows(cursor)
    if name in _ALIGNED or name in _CASES:
        if any(len(row) > 1 for row in rows):
            return Node("cases", tuple(Node("row", _with_condition(row)) for row in rows))
        return Node("list", tuple(row[0] for row in rows), None, "and") if len(rows) > 1 else rows[0][0]
    if len({len(row) for row in rows}) != 1:
        raise UnreadableError("ragged matrix")
    return Node("matrix", tuple(Node("row", row) for row in rows), None, name)


def _parse_rows(cursor: Cursor) -> list[Row]:
    rows, row = [], list[Node]()
    while True:
        row.append(cursor.levels.items(cursor, ("&",)))
        token = cursor.take()
        if token.text == "&":
            continue
        rows.append(tuple(row))
        row = []
        if token.kind == "env" or (cursor.peek().kind == "env" and cursor.take()):
            return rows
        if token.kind != "row":
            raise UnreadableError("matrix")


def _drop_marks(cursor: Cursor, *, is_aligned: bool) -> None:
    """Remove alignment marks (`x &= 1`) and the words that open a condition."""
    tokens, start = cursor.tokens, cursor.index
    stop = next((i for i in range(start, len(tokens)) if tokens[i].kind == "env"), len(tokens))
    marks = [i for i in range(start, stop) if tokens[i].text == "&"]
    is_aligned = is_aligned or any(i + 1 < stop and tokens[i + 1].text in _RELATIONS for i in marks)
    tokens[start:stop] = [
        token
        for token in tokens[start:stop]
        if not (is_aligned and token.text == "&") and not (token.kind == "text" and token.text.lower() in _IF)
    ]


def _with_condition(row: Row) -> Row:
    """A value and its condition; "otherwise" if it has none."""
    return row[0], row[1] if len(row) > 1 else Node("text", (), None, "otherwise")
