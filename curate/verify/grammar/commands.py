r"""The commands of the grammar, such as `\frac`, `\sqrt`, `\vec` and Greek letters, and the arguments they take."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from curate.verify.grammar.brackets import FENCES, parse_fenced, parse_group
from curate.verify.grammar.cursor import Cursor
from curate.verify.grammar.functions import parse_function
from curate.verify.grammar.lexer import FUNCTIONS, Token
from curate.verify.grammar.quantities import CURRENCY
from curate.verify.nodes import Node, UnreadableError, num

ELLIPSIS: Final = Node("const", (), None, "ldots")
_GREEK: Final = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega "
    "hbar ell Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega odot mho Re Im top "
    "intercal".split()
)
_ACCENTS: Final = frozenset("dot ddot hat vec bar tilde overrightarrow widehat overline".split())
_SKIPPED: Final = frozenset(["angle", "triangle", "therefore"])
_CONSTANTS: Final = {
    "pi": Node("const", (), None, "pi"),
    "infty": Node("const", (), None, "infty"),
    "emptyset": Node("set"),
    "ldots": ELLIPSIS,
}
_ENDS_SUBSCRIPT: Final = (")", "]", "}", "+", "-", "*", "/", ",", "=", "\\cdot")


def parse_command(cursor: Cursor, token: Token) -> Node:
    """The tree of a command, which is already taken."""
    name = token.text[1:]
    if name in _CONSTANTS:
        return _CONSTANTS[name]
    if name in ("frac", "binom"):
        return _parse_two_arguments(cursor, "div" if name == "frac" else "binom")
    if name == "sqrt":
        return _parse_root(cursor)
    if token.text in FENCES:
        return parse_fenced(cursor, token.text)
    if name in FUNCTIONS:
        return parse_function(cursor, name)
    if name in _GREEK:
        return Node("sym", (), None, name)
    return _parse_decoration(cursor, name)


def parse_argument(cursor: Cursor) -> Node:
    """An argument of a command: a group, or one token; one digit of a figure, as in LaTeX."""
    token = cursor.peek()
    if token.kind == "num" and len(token.text) > 1 and token.text.isdigit() and _takes_a_digit(cursor):
        return _parse_digit(cursor, token)
    cursor.take()
    if token.text == "{":
        inner = cursor.levels.items(cursor, ("}",))
        cursor.expect("}")
        return inner
    if token.kind == "num":
        return num(Fraction(token.text), token.text)
    if token.kind == "sym":
        return symbol(token.text)
    if token.kind == "op" and token.text == "(":
        return parse_group(cursor, "(")
    if token.kind == "cmd":
        return parse_command(cursor, token)
    raise UnreadableError("argument")


def symbol(name: str) -> Node:
    """A letter: a variable, or one of the constants e and i."""
    return Node("const" if name in ("e", "i") else "sym", (), None, name)


def _takes_a_digit(cursor: Cursor) -> bool:
    r"""Whether only one digit of the figures here is the argument: after a command, and in a subscript as \log_52."""
    previous, after = cursor.peek(-1), cursor.peek(1)
    if previous.kind != "op":
        return True
    is_last = after.kind in ("end", "row", "env", "conn") or after.text in _ENDS_SUBSCRIPT
    return previous.text == "_" and is_last


def _parse_digit(cursor: Cursor, token: Token) -> Node:
    r"""The first digit of figures; all digits after `\sqrt`."""
    previous = cursor.peek(-1)
    if previous.text == "\\sqrt" and previous.kind == "cmd":
        cursor.take()
        return num(int(token.text), token.text)
    cursor.tokens[cursor.index] = Token("num", token.text[1:], False)
    return num(int(token.text[0]), token.text[0])


def _parse_two_arguments(cursor: Cursor, op: str) -> Node:
    top, bottom = parse_argument(cursor), parse_argument(cursor)
    if top.name == "d" and bottom.op == "mul" and bottom.args[0].name == "d":
        raise UnreadableError("a derivative")
    return Node(op, (top, bottom))


def _parse_root(cursor: Cursor) -> Node:
    """A root with its index."""
    index = num(2)
    if cursor.accept("["):
        index = cursor.levels.sum(cursor)
        cursor.expect("]")
    return Node("root", (index, parse_argument(cursor)))


def _parse_decoration(cursor: Cursor, name: str) -> Node:
    """The value after a command that changes at most its name or unit."""
    if f"\\{name}" in CURRENCY:
        return Node("qty", (cursor.levels.power(cursor),), None, CURRENCY[f"\\{name}"])
    if name in _ACCENTS:
        inner = parse_argument(cursor)
        if inner.op not in ("sym", "mul", "text", "const"):
            raise UnreadableError(f"\\{name} of a value")
        return inner._replace(name=f"{name} {inner.name}") if inner.op == "sym" else inner
    if name in _SKIPPED:
        return cursor.levels.power(cursor)
    raise UnreadableError(f"\\{name}")
