"""A cursor over the tokens of an answer: look, take, accept, expect.

The grammar consists of functions that take a cursor, parse one construct and return its tree. Brackets, commands and
functions contain looser constructs and call them through `cursor.levels`, so that no module imports its importer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from curate.verify.grammar.lexer import END, Token
from curate.verify.nodes import Node, UnreadableError


class Levels(NamedTuple):
    """The levels of the grammar, loosest first, and the argument of a command.

    items: a list of statements up to one of the closing signs, which is not consumed.
    """

    items: Callable[[Cursor, tuple[str, ...]], Node]
    statement: Callable[[Cursor], Node]
    sum: Callable[[Cursor], Node]
    factor: Callable[[Cursor], Node]
    power: Callable[[Cursor], Node]
    exponent: Callable[[Cursor], Node]
    argument: Callable[[Cursor], Node]


@dataclass(slots=True)
class Cursor:
    """A position in a list of tokens.

    bars: above zero if a bar closes an absolute value or ends the left side of a set. depth: open statements.
    name: on the right side of a relation, the variable that is its left side, or empty; None on a left side.
    """

    tokens: list[Token]
    max_depth: int
    levels: Levels
    index: int = 0
    bars: int = 0
    depth: int = 0
    name: str | None = None

    def peek(self, ahead: int = 0) -> Token:
        """The token `ahead` positions on, not consumed, or the end token."""
        index = self.index + ahead
        return self.tokens[index] if index < len(self.tokens) else END

    def take(self) -> Token:
        """The next token, consumed."""
        token = self.peek()
        self.index += 1
        return token

    def is_at(self, *texts: str) -> bool:
        """Whether the next token is one of these signs or commands."""
        token = self.peek()
        return token.kind in ("op", "cmd") and token.text in texts

    def accept(self, *texts: str) -> str | None:
        """Consume the next token if it is one of these; its text, else None."""
        return self.take().text if self.is_at(*texts) else None

    def expect(self, text: str) -> None:
        """Consume this sign or raise `UnreadableError`."""
        if not self.accept(text):
            raise UnreadableError(f"expected {text}")

    def expect_end(self) -> None:
        """Raise `UnreadableError` unless all tokens are consumed."""
        if self.peek().kind != "end":
            raise UnreadableError(f"left over: {self.peek().text}")
