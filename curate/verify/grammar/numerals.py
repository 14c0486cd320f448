"""The numbers of the grammar: figures, mixed numbers, spaced thousands, repeating decimals."""

from __future__ import annotations

import re
from fractions import Fraction

from curate.verify.grammar.levels import Levels
from curate.verify.grammar.lexer import Token
from curate.verify.nodes import Node, UnreadableError, num


class Numerals(Levels):
    """Reads a number and what belongs to it."""

    def number(self, token: Token) -> Node:
        """The value of figures, with the fraction of a mixed number or further groups of thousands."""
        value = num(Fraction(token.text.rstrip(".") or "0"), token.text)
        if not token.text.isdigit():
            return self._repeating(value)
        if self.is_at("\\frac") and (part := self._proper_fraction(1)):
            return Node("add", (value, part), None, "mixed")
        if (
            self.peek().kind == "num"
            and self.peek().is_spaced
            and self.peek(1).text == "/"
            and self.peek(2).kind == "num"
        ):
            top, bottom = self.take(), self.take() and self.take()
            if not (top.text.isdigit() and bottom.text.isdigit()):
                raise UnreadableError("two numbers side by side")
            return Node("add", (value, Node("div", (num(int(top.text)), num(int(bottom.text))))), None, "mixed")
        if self.peek().kind == "num":
            return self._spaced_thousands(value)
        return value

    def _spaced_thousands(self, first: Node) -> Node:
        digits = first.name
        while (
            self.peek().kind == "num"
            and self.peek().is_spaced
            and re.fullmatch(r"\d{3}(?:\.\d+)?", self.peek().text)
            and len(first.name) <= 3
            and "." not in digits
        ):
            digits += self.take().text
        if self.peek().kind == "num" or digits == first.name:
            raise UnreadableError("two numbers side by side")
        return num(Fraction(digits), digits)

    def _proper_fraction(self, start: int) -> Node | None:
        """The fraction of a mixed number: of two plain whole numbers; None where it is anything else."""
        texts = [self.peek(start + i) for i in range(6)]
        if [t.text for t in texts[::3]] == ["{", "{"] and [t.text for t in texts[2::3]] == ["}", "}"]:
            top, bottom, used = texts[1], texts[4], 7
        elif texts[0].kind == "num" and len(texts[0].text) == 2:
            top, bottom, used = Token("num", texts[0].text[0], False), Token("num", texts[0].text[1], False), 2
        else:
            return None
        if not (top.text.isdigit() and bottom.text.isdigit()):
            return None
        self.index += used
        return Node("div", (num(int(top.text)), num(int(bottom.text))))

    def _repeating(self, value: Node) -> Node:
        """The exact fraction of a decimal whose period is marked by a line or dots."""
        if not self.is_at("\\overline", "\\dot", "\\bar") or "." not in value.name:
            return value
        period = ""
        while self.is_at("\\overline", "\\dot", "\\bar"):
            self.take()
            is_braced = self.accept("{")
            period += self.take().text
            if is_braced:
                self.expect("}")
            if self.peek().kind == "num" and self.peek(1).text == "\\dot":
                period += self.take().text
        if not period.isdigit() or len(period) > 100:
            raise UnreadableError("repeating decimal")
        places = len(value.name.partition(".")[2])
        tail = Fraction(int(period), (10 ** len(period) - 1) * 10**places)
        return num((value.value or Fraction(0)) + tail)
