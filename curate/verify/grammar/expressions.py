"""The arithmetic of the grammar, loosest first: sums, ratios, products, factors, powers."""

from __future__ import annotations

from typing import Final

from curate.verify.grammar.cursor import Cursor
from curate.verify.grammar.operators import starts_factor
from curate.verify.grammar.postfixes import is_degree, parse_degree, parse_postfixes
from curate.verify.grammar.primary import parse_primary
from curate.verify.grammar.quantities import parse_letter_unit, parse_unit, unit_name
from curate.verify.nodes import Node, UnreadableError
from curate.verify.vocabulary.units import is_unit_word

_STATEMENTS: Final = frozenset(["rel", "in", "such"])


def parse_sum(cursor: Cursor) -> Node:
    """Terms with plus, minus and plus-minus."""
    terms = [_parse_term(cursor)]
    while cursor.is_at("+", "-", "\\pm", "\\mp"):
        terms.append(_parse_term(cursor))
    whole = terms[0] if len(terms) == 1 else Node("add", tuple(terms))
    return Node("div", (whole, parse_sum(cursor))) if cursor.accept("\\over") else whole


def _parse_term(cursor: Cursor) -> Node:
    """A ratio or product with its signs."""
    sign = cursor.accept("+", "-", "\\pm", "\\mp")
    if sign is None:
        return _parse_ratio(cursor)
    term = _parse_term(cursor) if cursor.is_at("+", "-") else _parse_ratio(cursor)
    if sign == "-":
        return Node("neg", (term,))
    return term if sign == "+" else Node("pm", (term,), None, sign[1:])


def _parse_ratio(cursor: Cursor) -> Node:
    parts = [_parse_product(cursor)]
    while cursor.is_at(":") and cursor.peek(1).kind != "end" and not cursor.bars:
        cursor.take()
        parts.append(_parse_product(cursor))
    if len(parts) == 1:
        return parts[0]
    last = parts[-1]
    if last.op != "qty":
        return Node("ratio", tuple(parts))
    return last._replace(args=(Node("ratio", (*parts[:-1], last.args[0])),))  # 3:30 pm


def _parse_product(cursor: Cursor) -> Node:
    left = parse_unit(cursor, parse_power(cursor))
    while True:
        operator = cursor.accept("*", "/", "\\times", "\\cdot")
        if operator == "/" and cursor.peek().kind == "text":  # dollars / hour
            left = parse_unit(cursor, Node("qty", (left,), None, "/" + cursor.take().text))
            continue
        if operator == "/":  # the unit of 7/2 hours belongs to the quotient
            left = parse_unit(cursor, Node("div", (left, parse_factor(cursor))))
            continue
        if operator is not None:
            right = parse_unit(cursor, parse_factor(cursor))
        elif left.op == "num" and (unit := parse_letter_unit(cursor)) is not None:
            left = Node("qty", (left,), None, unit)
            continue
        elif starts_factor(cursor):
            right = parse_unit(cursor, parse_power(cursor))
            if left.op == "qty" and right.op == "num":
                raise UnreadableError("a number after a quantity")
        else:
            return left
        left = _multiplied(left, right)


def _multiplied(left: Node, right: Node) -> Node:
    """A quantity if one factor is a unit; else a flat product of all factors."""
    if right.op == "text" and left.op != "text":
        return Node("qty", (left,), None, right.name)
    if left.op == "text" and right.op == "num" and is_unit_word(left.name):
        return Node("qty", (right,), None, left.name)
    if right.op == "div" and (unit := unit_name(right)) is not None:
        return Node("qty", (left,), None, unit)
    if _STATEMENTS & {left.op, right.op}:
        raise UnreadableError("a product with a statement")
    return Node("mul", (*(left.args if left.op == "mul" else (left,)), right))


def parse_factor(cursor: Cursor) -> Node:
    """A power, with signs before it."""
    if (sign := cursor.accept("-", "+")) is not None:
        inner = parse_factor(cursor)
        return Node("neg", (inner,)) if sign == "-" else inner
    return parse_power(cursor)


def parse_power(cursor: Cursor) -> Node:
    """A primary with its exponents, degree sign and postfixes."""
    base = parse_postfixes(cursor, _numbered(cursor, parse_primary(cursor)))
    while cursor.is_at("^"):
        if is_degree(cursor):
            base = parse_degree(cursor, base)
        else:
            cursor.take()
            base = Node("pow", (base, parse_exponent(cursor)))
        base = parse_postfixes(cursor, base)
    if cursor.is_at("\\choose"):
        cursor.take()
        return Node("binom", (base, parse_power(cursor)))
    return base


def _numbered(cursor: Cursor, base: Node) -> Node:
    """The name x_1 for x1, without a space between; j2 is a product with the imaginary unit, as i2 is."""
    token = cursor.peek()
    is_letter = base.op == "sym" and len(base.name) == 1 and base.name.isascii() and base.name != "j"
    if is_letter and token.kind == "num" and token.text.isdigit() and not token.is_spaced:
        cursor.take()
        return base._replace(name=f"{base.name}_{token.text}")
    return base


def parse_exponent(cursor: Cursor) -> Node:
    """The exponent after a circumflex: a group, or one token."""
    if cursor.accept("{"):
        inner = cursor.levels.statement(cursor)
        cursor.expect("}")
        return inner
    if (sign := cursor.accept("-", "+")) is not None:
        inner = parse_exponent(cursor)
        return Node("neg", (inner,)) if sign == "-" else inner
    base = parse_postfixes(cursor, parse_primary(cursor))
    return Node("pow", (base, parse_exponent(cursor))) if cursor.accept("^") else base
