r"""Splits a relation in LaTeX into its sides: `S = \sum_{k=1}^{3} k = 6` has a name, an expression and a value."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_SIGN: Final = re.compile(
    r"\\(?P<name>le|ge|leq|geq|lt|gt|ne|neq|approx|equiv|sim|in|notin|subset|subseteq|Rightarrow|iff|implies)(?![A-Za-z])|"
    r"(?P<sign>[=<>≡])"
)
_SAME: Final = {"leq": "le", "geq": "ge", "lt": "<", "gt": ">", "neq": "ne", "approx": "~", "equiv": "=", "≡": "="}
_NAME: Final = re.compile(r"\\?[A-Za-z]+'?(?:_(?:\{\w+\}|\w))?(?:\([a-z]\))?")
_OPERATION: Final = re.compile(r"\\(?:i?int|oint|sum|prod|lim|det)(?![A-Za-z])|\\frac\{ ?d[^{}]*\}")
_TEXT: Final = re.compile(r"\\(?:text|mathrm)\{([^{}]*)\}")


class Statement(NamedTuple):
    """The sides of a relation without the name before it, and the signs between them; one side without a sign."""

    name: str
    sides: tuple[str, ...]
    signs: tuple[str, ...]

    @property
    def exact(self) -> tuple[str, ...]:
        """The sides before the first approximation."""
        return self.sides[: self.signs.index("~") + 1] if "~" in self.signs else self.sides

    @property
    def rounded(self) -> tuple[str, ...]:
        """The sides after the first approximation."""
        return self.sides[len(self.exact) :]

    @property
    def value(self) -> str:
        """The last exact side."""
        return self.exact[-1]

    @property
    def is_solved(self) -> bool:
        """Whether the value alone is the answer: a named one, or that of one sum, integral, limit or derivative."""
        first = self.sides[0]
        return len(self.sides) == 1 or (_OPERATION.match(first) is not None and not _has_terms(first))


def statement(text: str) -> Statement:
    """Split a text at its relation signs outside of brackets."""
    sides, signs = _split(text)
    name = ""
    if len(sides) > 1 and signs[0] in ("=", "~") and _NAME.fullmatch(sides[0]) and not _OPERATION.match(sides[0]):
        name, sides, signs = sides[0], sides[1:], signs[1:]
    return Statement(name, tuple(sides), tuple(signs))


def words(text: str) -> list[str]:
    """The words of the texts in an expression, such as its unit, and its primes, which the parser passes over."""
    return sorted(
        [word for found in _TEXT.findall(text) for word in found.split() if len(word) > 1] + ["'"] * text.count("'")
    )


def _split(text: str) -> tuple[list[str], list[str]]:
    sides, signs, start = [], [], 0
    for match in _SIGN.finditer(text):
        before = text[: match.start()]
        if all(before.count(a) == before.count(b) for a, b in ("{}", "()", "[]")):
            sides.append(text[start : match.start()].strip())
            name = match["name"] or match["sign"]
            signs.append(_SAME.get(name, name))
            start = match.end()
    return [*sides, text[start:].strip()], signs


def _has_terms(side: str) -> bool:
    """Whether a side has a plus or minus sign outside of brackets."""
    depth = 0
    for char in side:
        depth += (char in "{([") - (char in "})]")
        if char in "+-" and not depth:
            return True
    return False
