r"""The grammar of answers: a recursive-descent parser from tokens to a tree, which never runs what it reads.

Levels, loosest first: items (`,` `;` or and), statements (`=` `<` `\in` ...), sets (`\cup`), sums, products, powers,
primaries. Limits on length, nesting and figures are checked before and while reading.
"""

from __future__ import annotations

from typing import Final

from curate.verify.grammar.lexer import tokenize
from curate.verify.grammar.quantities import Quantities, unit_name
from curate.verify.nodes import Node, TooLargeError, UnreadableError
from curate.verify.vocabulary.units import is_unit_word

RELATIONS: Final = {"=": "=", "<": "<", ">": ">", "\\le": "<=", "\\ge": ">=", "\\ne": "!=", "\\approx": "~", "≡": "="}
_SETS: Final = {"\\cup": "union", "\\cap": "cap", "\\setminus": "minus"}
_ENDS: Final = ("end", "row", "env")
_NO_FACTOR: Final = frozenset(
    [
        *RELATIONS,
        *_SETS,
        *r"\in \notin \pm \mp \choose \over \times \cdot \to \rfloor \rceil \rvert \circ \rangle \prime".split(),
    ]
)


def parse(cleaned: str, *, max_depth: int = 64, max_digits: int = 400) -> Node:
    """Parse a cleaned answer; raises `UnreadableError` or `TooLargeError`."""
    depth = deepest = 0
    for char in cleaned:
        depth += (char in "([{") - (char in ")]}")
        deepest = max(deepest, depth)
    if deepest > max_depth or cleaned.count("^") > 4 * max_depth:
        raise TooLargeError(f"{deepest} levels of brackets")
    parser = _Parser(tokenize(cleaned, max_digits), max_depth)
    node = parser.items()
    parser.expect_end()
    return node


class _Parser(Quantities):
    """One method per level of the grammar."""

    def items(self, *closing: str) -> Node:
        """A list of statements; the node is the statement itself where there is one. Names: `,` `;` `and` `or`."""
        found, name = [self.statement()], ""
        while not (self.peek().kind in _ENDS or self.is_at(*closing)):
            separator = self._separator()
            if separator is None:
                raise UnreadableError(f"unexpected {self.peek().text}")
            name = separator if name in ("", ",") else name
            if self.peek().kind in _ENDS or self.is_at(*closing):
                break
            found.append(self.statement())
        return found[0] if len(found) == 1 else Node("list", tuple(found), None, name)

    def _separator(self) -> str | None:
        name = None
        while self.is_at(",", ";") or self.peek().kind == "conn":
            name = self.take().text
        return name

    def statement(self) -> Node:
        """An expression, or a chain of relations between expressions."""
        self.depth += 1
        if self.depth > self.max_depth:
            raise TooLargeError("nested too deep")
        self.accept("\\approx")
        left = self._set_level()
        sides, signs = [left], []
        while True:
            token = self.peek()
            if token.kind in ("op", "cmd") and token.text in RELATIONS:
                signs.append(RELATIONS[self.take().text])
                sides.append(self._set_level())
            elif token.text in ("\\in", "\\notin"):
                self.take()
                left = Node("in", (self._relation(sides, signs), self._number_set()), None, token.text[1:])
                sides, signs = [left], []
            else:
                break
        self.depth -= 1
        return self._relation(sides, signs)

    def _relation(self, sides: list[Node], signs: list[str]) -> Node:
        return Node("rel", tuple(sides), None, " ".join(signs)) if signs else sides[0]

    def _number_set(self) -> Node:
        """The set behind a membership sign, where a plain Z means the integers."""
        if self.peek().kind == "sym" and self.peek().text in "RZNQC":
            return Node("const", (), None, self.take().text)
        return self._set_level()

    def _set_level(self) -> Node:
        left = self.sum()
        while self.peek().text in _SETS:
            name = _SETS[self.take().text]
            left = Node(name, (left, self.sum()))
        return left

    def sum(self) -> Node:
        """Terms with plus, minus and plus-minus."""
        terms = [self._signed_term()]
        while self.is_at("+", "-", "\\pm", "\\mp"):
            terms.append(self._signed_term())
        whole = terms[0] if len(terms) == 1 else Node("add", tuple(terms))
        return Node("div", (whole, self.sum())) if self.accept("\\over") else whole

    def _signed_term(self) -> Node:
        sign = self.accept("+", "-", "\\pm", "\\mp")
        if sign is None:
            return self._ratio()
        term = self._signed_term() if self.is_at("+", "-") else self._ratio()
        if sign == "-":
            return Node("neg", (term,))
        return term if sign == "+" else Node("pm", (term,), None, sign[1:])

    def _ratio(self) -> Node:
        parts = [self._product()]
        while self.is_at(":") and self.peek(1).kind != "end" and not self.bars:
            self.take()
            parts.append(self._product())
        if len(parts) == 1:
            return parts[0]
        last = parts[-1]
        if last.op != "qty":
            return Node("ratio", tuple(parts))
        return last._replace(args=(Node("ratio", (*parts[:-1], last.args[0])),))  # 3:30 pm

    def _product(self) -> Node:
        left = self.unit(self.power())
        while True:
            operator = self.accept("*", "/", "\\times", "\\cdot")
            if operator == "/" and self.peek().kind == "text":  # dollars / hour
                left = self.unit(Node("qty", (left,), None, "/" + self.take().text))
                continue
            if operator == "/":  # the unit of 7/2 hours is that of the quotient
                left = self.unit(_joined(left, self.factor(), is_division=True))
                continue
            if operator is not None:
                right = self.unit(self.factor())
            elif left.op == "num" and (unit := self.letter_unit()) is not None:
                left = Node("qty", (left,), None, unit)
                continue
            elif self.starts_factor():
                right = self.unit(self.power())
            else:
                return left
            left = _joined(left, right, is_division=False)

    def factor(self) -> Node:
        """A power, with signs before it."""
        if (sign := self.accept("-", "+")) is not None:
            inner = self.factor()
            return Node("neg", (inner,)) if sign == "-" else inner
        return self.power()

    def starts_factor(self) -> bool:
        """Whether another factor stands here without a sign."""
        token = self.peek()
        if token.kind in ("num", "sci", "sym", "set"):
            return True
        if token.kind == "env":
            return token.text.startswith("\\begin")
        if token.kind == "cmd":
            return token.text not in _NO_FACTOR
        return token.text in ("(", "[", "\\{", "{", "\\$") or (token.text == "|" and not self.bars)

    def power(self) -> Node:
        """A primary with its exponents, degree sign and postfixes."""
        base = self._postfix(self.primary())
        while self.is_at("^"):
            if self.is_degree():
                base = self.degrees(base)
            else:
                self.take()
                base = Node("pow", (base, self.exponent()))
            base = self._postfix(base)
        if self.is_at("\\choose"):
            self.take()
            return Node("binom", (base, self.power()))
        return base

    def _postfix(self, base: Node) -> Node:
        while True:
            if self.accept("!"):
                base = Node("fact", (base,), None, "!!" if self.accept("!") else "!")
            elif self.accept("%"):
                base = Node("pct", (base,))
            elif self.is_at("'") and base.op == "sym":
                self.take()
                base = base._replace(name=base.name + "'")
            elif self.is_at("_"):
                base = self._subscripted(base)
            elif self.is_at("\\circ"):
                self.take()
                base = Node("deg", (base,))
            else:
                return base

    def is_degree(self) -> bool:
        """Whether the circumflex here carries a degree sign or a prime."""
        after, then = self.peek(1), self.peek(2)
        return (
            after.text == "\\circ"
            or (after.text == "{" and then.text == "\\circ")
            or after.text == "\\prime"
            or then.text == "\\prime"
        )

    def degrees(self, base: Node) -> Node:
        """The value with the degree sign or prime that stands here."""
        self.take()
        is_braced, mark = self.accept("{"), self.take().text
        if is_braced:
            self.expect("}")
        if mark == "\\prime":
            return base._replace(name=base.name + "'")
        if self.peek().kind in ("sym", "text") and self.peek().text in ("C", "F"):
            return Node("qty", (base,), None, "degree" + self.take().text)
        return Node("deg", (base,))

    def exponent(self) -> Node:
        """What stands behind a circumflex: a group, or one token."""
        if self.accept("{"):
            inner = self.statement()
            self.expect("}")
            return inner
        if (sign := self.accept("-", "+")) is not None:
            inner = self.exponent()
            return Node("neg", (inner,)) if sign == "-" else inner
        base = self._postfix(self.primary())
        return Node("pow", (base, self.exponent())) if self.accept("^") else base

    def _subscripted(self, base: Node) -> Node:
        self.take()
        if self.accept("{"):
            words = []
            while not self.is_at("}"):
                if self.peek().kind == "end":
                    raise UnreadableError("open subscript")
                words.append(self.take().text.lstrip("\\"))
            self.take()
            label = "".join(words)
        else:
            label = self.take().text.lstrip("\\")
        if not label:
            raise UnreadableError("an empty subscript")
        if base.op == "num":
            return Node("base", (), None, f"{base.name}_{label}")
        if base.op == "sym":
            return base._replace(name=f"{base.name}_{label}")
        raise UnreadableError("subscript")


def _joined(left: Node, right: Node, *, is_division: bool) -> Node:
    """A product keeps its factors side by side, so that a long one does not nest."""
    if is_division:
        return Node("div", (left, right))
    if right.op == "text" and left.op != "text":
        return Node("qty", (left,), None, right.name)
    if left.op == "text" and right.op == "num" and is_unit_word(left.name):
        return Node("qty", (right,), None, left.name)
    if right.op == "div" and (unit := unit_name(right)) is not None:
        return Node("qty", (left,), None, unit)
    return Node("mul", (*(left.args if left.op == "mul" else (left,)), right))
