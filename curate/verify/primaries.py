r"""The primaries of the grammar: numbers, symbols, brackets, environments and commands such as `\frac` and `\sin`."""

from __future__ import annotations

import re
from abc import abstractmethod
from fractions import Fraction
from typing import Final

from curate.verify.cursor import Cursor
from curate.verify.lexer import FUNCTIONS, Token
from curate.verify.nodes import Node, UnreadableError, fn, num

_GREEK: Final = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega "
    "hbar ell Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega odot mho Re Im".split()
)
_ACCENTS: Final = frozenset("dot ddot hat vec bar tilde overrightarrow widehat overline".split())
_CLOSING: Final = {"(": ")", "[": "]", "\\{": "\\}", "{": "}"}
_SKIPPED: Final = frozenset(["angle", "triangle", "therefore"])
_CURRENCY: Final = {"\\$": "dollar", "\\euro": "euro", "\\pounds": "gbp", "\\yen": "yuan"}
_FENCES: Final = {"lfloor": ("\\rfloor", "floor"), "lceil": ("\\rceil", "ceil"), "lvert": ("\\rvert", "abs")}
_CONSTANTS: Final = {
    "pi": Node("const", (), None, "pi"),
    "infty": Node("const", (), None, "infty"),
    "emptyset": Node("set"),
    "ldots": Node("const", (), None, "ldots"),
}


class Primaries(Cursor):
    """Reads what the levels of `grammar.py` are made of, and calls them for what stands in brackets."""

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

    def primary(self) -> Node:
        """One number, symbol, group or command."""
        token = self.take()
        if token.kind in ("num", "sci"):
            return self._number(token)
        if token.kind == "sym":
            return self._symbol(token.text)
        if token.kind == "set":
            return Node("const", (), None, token.text)
        if token.kind == "env":
            return self._environment(token.text)
        if token.kind == "text":
            return self._words(token.text)
        if token.kind == "ellipsis":
            return _CONSTANTS["ldots"]
        if token.kind == "op":
            return self._bracketed(token.text)
        if token.kind == "cmd":
            return self._command(token.text[1:])
        raise UnreadableError(f"unexpected {token.text or 'end'}")

    def _words(self, first: str) -> Node:
        words = [first]
        while self.peek().kind == "text":
            words.append(self.take().text)
        return Node("text", (), None, " ".join(words))

    def _number(self, token: Token) -> Node:
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
            and re.fullmatch(r"\d{3}", self.peek().text)
            and len(first.name) <= 3
        ):
            digits += self.take().text
        if self.peek().kind == "num" or digits == first.name:
            raise UnreadableError("two numbers side by side")
        return num(int(digits), digits)

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

    def _symbol(self, name: str) -> Node:
        if name in ("e", "i"):
            return Node("const", (), None, name)
        return Node("sym", (), None, name)

    def _bracketed(self, opening: str) -> Node:
        if opening in ("(", "[", "\\{", "{"):
            return self._group(opening)
        if opening == "|":
            self.bars += 1
            inner = self.statement()
            self.expect("|")
            self.bars -= 1
            return fn("abs", inner)
        if opening == "\\$":
            return Node("qty", (self.power(),), None, "dollar")
        raise UnreadableError(f"unexpected {opening}")

    def _group(self, opening: str) -> Node:
        bars, self.bars = self.bars, 1 if opening == "\\{" else 0
        ends = (")", "]") if opening in ("(", "[") else (_CLOSING[opening],)
        if self.is_at(*ends):
            self.take()
            self.bars = bars
            return Node("set" if opening == "\\{" else "paren", (), None, "()")
        inner = self.items(*ends, *(("|", ":") if opening == "\\{" else ()))
        if opening == "\\{" and self.accept("|", ":"):
            inner = Node("such", (inner, self.items("\\}")))
        closing = self.accept(*ends)
        if closing is None:
            raise UnreadableError(f"open {opening}")
        self.bars = bars
        return self._collected(inner, opening, closing)

    def _collected(self, inner: Node, opening: str, closing: str) -> Node:
        if opening == "\\{":
            if inner.op == "such":
                return inner
            return Node("set", inner.args if inner.op == "list" else (inner,))
        if inner.op == "list" and opening != "{":
            return Node("paren", inner.args, None, opening + closing)
        if opening + closing in ("(]", "[)"):
            raise UnreadableError("unbalanced brackets")
        return inner

    def _environment(self, text: str) -> Node:
        if not text.startswith("\\begin"):
            raise UnreadableError(text)
        name = text.split("{")[1].rstrip("}")
        rows, row = [], list[Node]()
        while True:
            row.append(self.items("&"))
            token = self.take()
            if token.text == "&":
                continue
            rows.append(tuple(row))
            row = []
            if token.kind == "env" or (self.peek().kind == "env" and self.take()):
                break
            if token.kind != "row":
                raise UnreadableError("matrix")
        if name in ("cases", "aligned", "array*", "align"):
            return Node("list", tuple(row[0] for row in rows), None, "and")
        if len({len(row) for row in rows}) != 1:
            raise UnreadableError("ragged matrix")
        return Node("matrix", tuple(Node("row", row) for row in rows), None, name)

    def _command(self, name: str) -> Node:
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name in ("frac", "binom"):
            return self._two_arguments("div" if name == "frac" else "binom")
        if name == "sqrt":
            return self._root()
        if name in _FENCES:
            return self._fenced(name)
        if name in FUNCTIONS:
            return self._function(name)
        if name in _GREEK:
            return Node("sym", (), None, name)
        return self._decoration(name)

    def _two_arguments(self, op: str) -> Node:
        top, bottom = self._argument(), self._argument()
        if top.name == "d" and bottom.op == "mul" and bottom.args[0].name == "d":
            raise UnreadableError("a derivative")
        return Node(op, (top, bottom))

    def _decoration(self, name: str) -> Node:
        """Commands that stand before a value and change its name or unit at most."""
        if f"\\{name}" in _CURRENCY:
            return Node("qty", (self.power(),), None, _CURRENCY[f"\\{name}"])
        if name in _ACCENTS:
            inner = self._argument()
            return inner._replace(name=f"{name} {inner.name}") if inner.op == "sym" else inner
        if name in _SKIPPED:
            return self.power()
        raise UnreadableError(f"\\{name}")

    def _fenced(self, name: str) -> Node:
        closing, function = _FENCES[name]
        inner = self.statement()
        self.expect(closing)
        return fn(function, inner)

    def _root(self) -> Node:
        index = num(2)
        if self.accept("["):
            index = self.sum()
            self.expect("]")
        return Node("root", (index, self._argument()))

    def _argument(self) -> Node:
        """An argument of a command: a group, or one token; of a figure, one digit, as LaTeX reads it."""
        token = self.peek()
        if token.kind == "num" and token.text.isdigit() and len(token.text) > 1 and self.peek(-1).kind != "op":
            previous = self.peek(-1)
            if previous.text == "\\sqrt" and previous.kind == "cmd":
                self.take()
                return num(int(token.text), token.text)
            self.tokens[self.index] = Token("num", token.text[1:], False)
            return num(int(token.text[0]), token.text[0])
        self.take()
        if token.text == "{":
            inner = self.items("}")
            self.expect("}")
            return inner
        if token.kind == "num":
            return num(Fraction(token.text), token.text)
        if token.kind == "sym":
            return self._symbol(token.text)
        if token.kind == "op" and token.text == "(":
            return self._group("(")
        if token.kind == "cmd":
            return self._command(token.text[1:])
        raise UnreadableError("argument")

    def _function(self, name: str) -> Node:
        power = base = None
        while self.is_at("^", "_"):
            if self.take().text == "^":
                power = self.exponent()
            else:
                base = self._argument()
        arguments = self._arguments()
        if name == "log" and base is not None:
            call = fn("log", *arguments, base)
        elif name in ("max", "min", "gcd", "lcm") and arguments[0].op in ("list", "paren", "set"):
            call = fn(name, *arguments[0].args)
        else:
            call = fn(name, *arguments)
        return self._raised(call, power)

    def _raised(self, call: Node, power: Node | None) -> Node:
        if power is None:
            return call
        if power.op == "neg" and power.args[0].value == 1 and f"arc{call.name}" in FUNCTIONS:
            return fn(f"arc{call.name}", *call.args)
        return Node("pow", (call, power))

    def _arguments(self) -> tuple[Node, ...]:
        """What a function applies to: a bracketed group, or the product up to the next sign or function."""
        if self.is_at("(", "[", "{"):
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
