r"""Functions of the grammar and what they apply to: `\sin^2 x`, `\log_2(8)`, roots, floors."""

from __future__ import annotations

from typing import Final

from curate.verify.grammar.lexer import FUNCTIONS
from curate.verify.grammar.numerals import Numerals
from curate.verify.nodes import Node, UnreadableError, fn, num

FENCES: Final = {"lfloor": ("\\rfloor", "floor"), "lceil": ("\\rceil", "ceil"), "lvert": ("\\rvert", "abs")}
_I: Final = Node("const", (), None, "i")


class Calls(Numerals):
    """Reads a function, its powers and bases, and its arguments."""

    def fenced(self, name: str) -> Node:
        """What stands between the signs of a floor, a ceiling or an absolute value."""
        closing, function = FENCES[name]
        inner = self.statement()
        self.expect(closing)
        return fn(function, inner)

    def root(self) -> Node:
        """A root with its index."""
        index = num(2)
        if self.accept("["):
            index = self.sum()
            self.expect("]")
        return Node("root", (index, self.argument()))

    def function(self, name: str) -> Node:
        """A function with its powers, its base and its arguments."""
        if name in ("max", "min") and self.is_at("="):
            return Node("sym", (), None, name)
        power = base = None
        while self.is_at("^", "_"):
            if self.take().text == "^":
                power = self.exponent()
            else:
                base = self.argument()
        arguments = self._arguments()
        if not arguments:
            raise UnreadableError(f"{name} of nothing")
        if name == "cis":
            return Node("add", (fn("cos", *arguments), Node("mul", (_I, fn("sin", *arguments)))))
        if name == "log" and base is not None:
            call = fn("log", *arguments, base)
        elif name in ("max", "min", "gcd", "lcm") and arguments[0].op in ("list", "paren", "set"):
            call = fn(name, *arguments[0].args)
        else:
            call = fn(name, *arguments)
        if power is None and self.is_at("^"):
            self.take()
            return Node("pow", (call, self.exponent()))
        return self._raised(call, power)

    def _raised(self, call: Node, power: Node | None) -> Node:
        if power is None:
            return call
        if power.op == "neg" and power.args[0].value == 1 and f"arc{call.name}" in FUNCTIONS:
            return fn(f"arc{call.name}", *call.args)
        return Node("pow", (call, power))

    def _arguments(self) -> tuple[Node, ...]:
        """What a function applies to: a bracketed group, or the product up to the next sign or function."""
        if self.is_at("("):  # sin(x)^2 is the square of the sine, but sin(60)^\circ the sine of an angle
            group = self.group(self.take().text)
            group = self.degrees(group) if self.is_at("^") and self.is_degree() else group
            return group.args if group.op == "paren" else (group,)
        if self.is_at("[", "{"):
            group = self.power()
            return group.args if group.op == "paren" else (group,)
        factors = [self.factor()]
        while (
            self.starts_factor()
            and not (self.peek().kind == "cmd" and self.peek().text[1:] in FUNCTIONS and self.peek().text != "\\sqrt")
            and not self.is_at("(", "[")
        ):
            factors.append(self.power())
        return (factors[0] if len(factors) == 1 else Node("mul", tuple(factors)),)
