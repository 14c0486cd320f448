"""Units of the grammar: the words, letters and currency signs behind a value."""

from __future__ import annotations

import contextlib
from typing import Final

from curate.verify.grammar.lexer import Token
from curate.verify.grammar.primaries import CURRENCY, Primaries
from curate.verify.nodes import Node, UnreadableError

_LETTER_UNITS: Final = "mgshLNJWVK"


class Quantities(Primaries):
    """Reads what makes a quantity of a value."""

    def unit(self, value: Node) -> Node:
        """Take the words behind a value: its unit; or a currency sign."""
        if self.peek().text in CURRENCY and self.peek(1).kind not in ("num", "sym"):
            return Node("qty", (value,), None, CURRENCY[self.take().text])
        words: list[str] = []
        while (
            self.peek().kind == "text"
            or (words and self.is_at("/", "\\cdot") and self.peek(1).kind in ("text", "sym"))
            or (words and self._is_unit_letter())
        ):
            if self._is_unit_letter():
                self.tokens[self.index] = self.peek()._replace(kind="text")
            token = self.take()
            sign = token.text.replace("\\cdot", " ") if token.kind != "text" else ""
            words.append(sign + self.take().text if sign else token.text)
            if self.is_at("^") and not self.is_degree():
                self.take()
                words[-1] += "^" + self._literal_exponent()
        if words[-1:] == ["of"] and self.peek().kind in ("num", "sci"):
            raise UnreadableError("a part of a number, not worked out")
        return Node("qty", (value,), None, " ".join(words)) if words else value

    def _is_unit_letter(self) -> bool:
        """Whether a letter behind a unit is another: km h^{-1}."""
        token, after = self.peek(), self.peek(1)
        return (
            token.kind == "sym"
            and token.is_spaced
            and token.text in _LETTER_UNITS
            and (after.text == "^" or _closes(after))
        )

    def _literal_exponent(self) -> str:
        braces = self.accept("{")
        sign = self.accept("-") or ""
        token = self.take()
        if braces:
            self.expect("}")
        if token.kind != "num":
            raise UnreadableError("a unit's power")
        return sign + token.text

    def letter_unit(self) -> str | None:
        """A single letter, set apart behind a figure, that closes the value: 1.5 m, 20 s, 64 m^2, 1 h 30 min."""
        token, after = self.peek(), self.peek(1)
        if token.text == "\\Omega" and _closes(after):
            self.take()
            return "ohm"
        if token.kind != "sym" or not token.is_spaced or token.text not in _LETTER_UNITS:
            return None
        if _closes(after) or (after.kind == "num" and after.is_spaced):
            return self.take().text
        start = self.index
        if token.text == "m" and after.text == "^":
            self.index += 2
            with contextlib.suppress(UnreadableError):
                power = self._literal_exponent()
                if power in ("2", "3") and _closes(self.peek()):
                    return f"m^{power}"
            self.index = start
        return None


def unit_name(node: Node) -> str | None:
    """The unit phrase that words in a fraction make: km/h, m/s^2; None where it is no unit."""
    if node.op == "text":
        return node.name
    if node.op == "pow" and node.args[0].op == "text" and (power := node.args[1].value) and power.denominator == 1:
        return f"{node.args[0].name}^{power}"
    if node.op in ("div", "mul"):
        parts = [unit_name(arg) for arg in node.args]
        return None if None in parts else ("/" if node.op == "div" else " ").join(part for part in parts if part)
    return None


def _closes(token: Token) -> bool:
    """Whether a token ends a value."""
    return token.kind in ("end", "conn") or token.text in (",", ";", ")")
