r"""The grammar of answers: a recursive-descent parser from tokens to a tree, which never executes the text.

Levels, loosest first: items (`,` `;` or and), statements (`=` `<` `\in` ...), sets (`\cup`), sums, products, powers,
primaries. Limits on length, nesting and figures are checked before and during parsing.
"""

from __future__ import annotations

from typing import Final

from curate.verify.grammar.commands import parse_argument
from curate.verify.grammar.cursor import Cursor, Levels
from curate.verify.grammar.expressions import parse_exponent, parse_factor, parse_power, parse_sum
from curate.verify.grammar.lexer import tokenize
from curate.verify.grammar.operators import RELATIONS, SET_OPERATIONS, starts_statement
from curate.verify.nodes import Node, TooLargeError, UnreadableError

_ENDS: Final = ("end", "row", "env")
_STATEMENTS_PER_BRACKET: Final = 3  # open statements allowed for each level of brackets


def parse(cleaned: str, *, max_depth: int = 64, max_digits: int = 400) -> Node:
    """Parse a cleaned answer; raises `UnreadableError` or `TooLargeError`."""
    depth = deepest = 0
    for char in cleaned:
        depth += (char in "([{") - (char in ")]}")
        deepest = max(deepest, depth)
    if deepest > max_depth or cleaned.count("^") > 4 * max_depth:
        raise TooLargeError(f"{deepest} levels of brackets")
    cursor = Cursor(tokenize(cleaned, max_digits), _STATEMENTS_PER_BRACKET * max_depth, _LEVELS)
    node = _parse_items(cursor, ())
    cursor.expect_end()
    return node


def _parse_items(cursor: Cursor, closing: tuple[str, ...]) -> Node:
    """A list of statements, or the statement itself if there is only one. List names: `,` `;` `and` `or`."""
    found, name = [_parse_statement(cursor)], ""
    while not (cursor.peek().kind in _ENDS or cursor.is_at(*closing)):
        separator = _parse_separator(cursor) or ("," if found[-1].op == "rel" and _is_next(cursor, found[-1]) else None)
        if separator is None:
            raise UnreadableError(f"unexpected {cursor.peek().text}")
        name = separator if name in ("", ",") else name
        if cursor.peek().kind in _ENDS or cursor.is_at(*closing):
            break
        found.append(_parse_statement(cursor))
    return found[0] if len(found) == 1 else Node("list", tuple(found), None, name)


def _is_next(cursor: Cursor, last: Node) -> bool:
    """Whether another equation follows an equation without a separator."""
    cursor.name = last.args[0].name
    is_next = starts_statement(cursor)
    cursor.name = None
    return is_next


def _parse_separator(cursor: Cursor) -> str | None:
    """Consume all separators here and return the last; None if there is none."""
    name = None
    while cursor.is_at(",", ";") or cursor.peek().kind == "conn":
        name = cursor.take().text
    return name


def _parse_statement(cursor: Cursor) -> Node:
    """An expression, or a chain of relations between expressions."""
    cursor.depth += 1
    if cursor.depth > cursor.max_depth:
        raise TooLargeError("nested too deep")
    cursor.accept("\\approx")
    name, cursor.name = cursor.name, None
    left = _parse_set_operation(cursor)
    sides, signs = [left], []
    while True:
        token = cursor.peek()
        if token.kind in ("op", "cmd") and token.text in RELATIONS:
            signs.append(RELATIONS[cursor.take().text])
            cursor.name = sides[0].name if sides[0].op == "sym" else ""
            sides.append(_parse_set_operation(cursor))
        elif token.text in ("\\in", "\\notin"):
            cursor.take()
            left = Node("in", (_relation(sides, signs), _parse_number_set(cursor)), None, token.text[1:])
            sides, signs = [left], []
        else:
            break
    cursor.depth -= 1
    cursor.name = name
    return _relation(sides, signs)


def _relation(sides: list[Node], signs: list[str]) -> Node:
    return Node("rel", tuple(sides), None, " ".join(signs)) if signs else sides[0]


def _parse_number_set(cursor: Cursor) -> Node:
    """The set after a membership sign; a plain Z is the integers."""
    if cursor.peek().kind == "sym" and cursor.peek().text in "RZNQC":
        return Node("const", (), None, cursor.take().text)
    return _parse_set_operation(cursor)


def _parse_set_operation(cursor: Cursor) -> Node:
    """Sums, with unions, intersections and differences between them."""
    left = parse_sum(cursor)
    while cursor.peek().text in SET_OPERATIONS:
        name = SET_OPERATIONS[cursor.take().text]
        left = Node(name, (left, parse_sum(cursor)))
    return left


_LEVELS: Final = Levels(
    items=_parse_items,
    statement=_parse_statement,
    sum=parse_sum,
    factor=parse_factor,
    power=parse_power,
    exponent=parse_exponent,
    argument=parse_argument,
)
