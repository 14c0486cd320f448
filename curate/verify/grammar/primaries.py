r"""The primaries of the grammar: numbers, symbols, brackets, environments and commands such as `\frac` and `\sin`."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from curate.verify.grammar.calls import FENCES, Calls
from curate.verify.grammar.lexer import FUNCTIONS, Token
from curate.verify.nodes import Node, UnreadableError, fn, num

_GREEK: Final = frozenset(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega "
    "hbar ell Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega odot mho Re Im".split()
)
_ACCENTS: Final = frozenset("dot ddot hat vec bar tilde overrightarrow widehat overline".split())
_CLOSING: Final = {"(": ")", "[": "]", "\\{": "\\}", "{": "}"}
_SKIPPED: Final = frozenset(["angle", "triangle", "therefore"])
CURRENCY: Final = {
    "\\$": "dollar",
    "\\euro": "euro",
    "\\pounds": "gbp",
    "\\yen": "yuan",
    "\\rupee": "inr",
    "\\won": "krw",
    "\\ruble": "rub",
}
_CONSTANTS: Final = {
    "pi": Node("const", (), None, "pi"),
    "infty": Node("const", (), None, "infty"),
    "emptyset": Node("set"),
    "ldots": Node("const", (), None, "ldots"),
}


_ALIGNED: Final = ("aligned", "align", "align*", "array*", "gathered", "split", "alignedat")
_CASES: Final = ("cases", "dcases", "rcases")
_IF: Final = ("if", "when", "for", "where", "while")
_RELATIONS: Final = ("=", "<", ">", "\\le", "\\ge", "\\ne")


class Primaries(Calls):
    """Reads what the levels of `grammar.py` are made of, and calls them for what stands in brackets."""

    def primary(self) -> Node:
        """One number, symbol, group or command."""
        token = self.take()
        if token.kind in ("num", "sci"):
            return self.number(token)
        if token.kind == "based":
            return Node("base", (), None, token.text)
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

    def _is_last_figure(self) -> bool:
        r"""Whether nothing behind a subscript's figures could be what the function applies to: \log_52."""
        after = self.peek(1)
        return after.kind in ("end", "row", "env", "conn") or after.text in (
            ")",
            "]",
            "}",
            "+",
            "-",
            "*",
            "/",
            ",",
            "=",
            "\\cdot",
        )

    def _symbol(self, name: str) -> Node:
        if name in ("e", "i"):
            return Node("const", (), None, name)
        return Node("sym", (), None, name)

    def _bracketed(self, opening: str) -> Node:
        if opening in ("(", "[", "\\{", "{"):
            return self.group(opening)
        if opening == "|":
            self.bars += 1
            inner = self.statement()
            self.expect("|")
            self.bars -= 1
            return fn("abs", inner)
        if opening == "\\$":
            return Node("qty", (self.power(),), None, "dollar")
        raise UnreadableError(f"unexpected {opening}")

    def group(self, opening: str) -> Node:
        """What stands behind an opening bracket, up to its closing one."""
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
        if name in _ALIGNED or name in _CASES:
            self._drop_marks(is_aligned=name in _ALIGNED)
        rows = self._rows()
        if name in _ALIGNED or name in _CASES:
            if any(len(row) > 1 for row in rows):
                return Node("cases", tuple(Node("row", _with_condition(row)) for row in rows))
            return Node("list", tuple(row[0] for row in rows), None, "and") if len(rows) > 1 else rows[0][0]
        if len({len(row) for row in rows}) != 1:
            raise UnreadableError("ragged matrix")
        return Node("matrix", tuple(Node("row", row) for row in rows), None, name)

    def _rows(self) -> list[tuple[Node, ...]]:
        rows, row = [], list[Node]()
        while True:
            row.append(self.items("&"))
            token = self.take()
            if token.text == "&":
                continue
            rows.append(tuple(row))
            row = []
            if token.kind == "env" or (self.peek().kind == "env" and self.take()):
                return rows
            if token.kind != "row":
                raise UnreadableError("matrix")

    def _drop_marks(self, *, is_aligned: bool) -> None:
        """Take out what only aligns (`x &= 1`) and the words that open a condition."""
        stop = next((i for i in range(self.index, len(self.tokens)) if self.tokens[i].kind == "env"), len(self.tokens))
        marks = [i for i in range(self.index, stop) if self.tokens[i].text == "&"]
        is_aligned = is_aligned or any(i + 1 < stop and self.tokens[i + 1].text in _RELATIONS for i in marks)
        inside = [
            token
            for token in self.tokens[self.index : stop]
            if not (is_aligned and token.text == "&") and not (token.kind == "text" and token.text.lower() in _IF)
        ]
        self.tokens[self.index : stop] = inside

    def _command(self, name: str) -> Node:
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name in ("frac", "binom"):
            return self._two_arguments("div" if name == "frac" else "binom")
        if name == "sqrt":
            return self.root()
        if name in FENCES:
            return self.fenced(name)
        if name in FUNCTIONS:
            return self.function(name)
        if name in _GREEK:
            return Node("sym", (), None, name)
        return self._decoration(name)

    def _two_arguments(self, op: str) -> Node:
        top, bottom = self.argument(), self.argument()
        if top.name == "d" and bottom.op == "mul" and bottom.args[0].name == "d":
            raise UnreadableError("a derivative")
        return Node(op, (top, bottom))

    def _decoration(self, name: str) -> Node:
        """Commands that stand before a value and change its name or unit at most."""
        if f"\\{name}" in CURRENCY:
            return Node("qty", (self.power(),), None, CURRENCY[f"\\{name}"])
        if name in _ACCENTS:
            inner = self.argument()
            if inner.op not in ("sym", "mul", "text", "const"):
                raise UnreadableError(f"\\{name} of a value")
            return inner._replace(name=f"{name} {inner.name}") if inner.op == "sym" else inner
        if name in _SKIPPED:
            return self.power()
        raise UnreadableError(f"\\{name}")

    def argument(self) -> Node:
        """An argument of a command: a group, or one token; of a figure, one digit, as LaTeX reads it."""
        token, previous = self.peek(), self.peek(-1)
        is_long = token.kind == "num" and token.text.isdigit() and len(token.text) > 1
        if is_long and (previous.kind != "op" or (previous.text == "_" and self._is_last_figure())):
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
            return self.group("(")
        if token.kind == "cmd":
            return self._command(token.text[1:])
        raise UnreadableError("argument")


def _with_condition(row: tuple[Node, ...]) -> tuple[Node, Node]:
    """A value and its condition; "otherwise" where none stands."""
    return row[0], row[1] if len(row) > 1 else Node("text", (), None, "otherwise")
