"""The levels of the grammar, by name: what its parts may ask of one another."""

from __future__ import annotations

from abc import abstractmethod

from curate.verify.grammar.cursor import Cursor
from curate.verify.nodes import Node


class Levels(Cursor):
    """A cursor with one method for each level, loosest first."""

    @abstractmethod
    def items(self, *closing: str) -> Node:
        """A list of statements."""

    @abstractmethod
    def statement(self) -> Node:
        """Sides of a relation."""

    @abstractmethod
    def sum(self) -> Node:
        """Terms."""

    @abstractmethod
    def factor(self) -> Node:
        """A power with signs before it."""

    @abstractmethod
    def power(self) -> Node:
        """A primary with its exponents and postfixes."""

    @abstractmethod
    def exponent(self) -> Node:
        """What stands behind a circumflex."""

    @abstractmethod
    def starts_factor(self) -> bool:
        """Whether another factor stands here without a sign."""

    @abstractmethod
    def group(self, opening: str) -> Node:
        """What stands behind an opening bracket, up to its closing one."""

    @abstractmethod
    def argument(self) -> Node:
        """An argument of a command."""

    @abstractmethod
    def is_degree(self) -> bool:
        """Whether the circumflex here carries a degree sign or a prime."""

    @abstractmethod
    def degrees(self, base: Node) -> Node:
        """The value with the degree sign or prime that stands here."""
