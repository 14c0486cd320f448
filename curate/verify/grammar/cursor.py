"""A cursor over the tokens of an answer: look, take, accept, expect."""

from __future__ import annotations

from curate.verify.grammar.lexer import END, Token
from curate.verify.nodes import UnreadableError


class Cursor:
    """A place in a list of tokens, the depth of nesting, and whether a bar would close one."""

    def __init__(self, tokens: list[Token], max_depth: int) -> None:
        self.tokens = tokens
        self.index = 0
        self.bars = 0
        self.depth = 0
        self.max_depth = 3 * max_depth

    def peek(self, ahead: int = 0) -> Token:
        """The token ahead, or the end."""
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
        """Raise `UnreadableError` unless everything was read."""
        if self.peek().kind != "end":
            raise UnreadableError(f"left over: {self.peek().text}")
