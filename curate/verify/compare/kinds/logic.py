r"""Compares formulas of propositional logic by their truth tables: `p\rightarrow q` and `\neg p\lor q`."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Final

from curate.verify.nodes import UnreadableError

_TOKEN: Final = re.compile(
    r"\s*(?:(?:(?P<not>\\neg|\\lnot|¬)|(?P<and>\\land|\\wedge|∧)|(?P<or>\\lor|\\vee|∨)|"
    r"(?P<if>\\to|\\rightarrow|\\Rightarrow|\\implies|\\supset)|(?P<iff>\\leftrightarrow|\\Leftrightarrow|\\iff))(?![a-z])|"
    r"(?P<atom>[A-Za-z](?![A-Za-z]))|(?P<open>[({])|(?P<close>[)}]))\s*"
)
_LOOSE_FIRST: Final = ("iff", "if", "or", "and")
_MEANING: Final[dict[str, Callable[[bool, bool], bool]]] = {
    "iff": lambda a, b: a == b,
    "if": lambda a, b: not a or b,
    "or": lambda a, b: a or b,
    "and": lambda a, b: a and b,
}
_MAX_ATOMS: Final = 6
_MAX_TOKENS: Final = 60

Token = tuple[str, str]
Formula = Callable[[dict[str, bool]], bool]


def is_formula(cleaned: str) -> bool:
    """Whether a text is a formula with a negation, an implication or an equivalence, which tell it from a list."""
    tokens = _tokens(cleaned)
    return any(kind in ("not", "if", "iff") for kind, _ in tokens) and _read(tokens) is not None


def same_formula(truth: str, answer: str) -> bool | None:
    """Whether two formulas have the same truth table; None unless one has connectives and both can be read."""
    if not (is_formula(truth) or is_formula(answer)):
        return None
    tokens = [_tokens(text) for text in (truth, answer)]
    read = [_read(found) for found in tokens]
    atoms = sorted({text for found in tokens for kind, text in found if kind == "atom"})
    if read[0] is None or read[1] is None or len(atoms) > _MAX_ATOMS:
        return None
    rows = [dict(zip(atoms, values, strict=True)) for values in product((False, True), repeat=len(atoms))]
    return all(read[0](row) == read[1](row) for row in rows)


def _tokens(text: str) -> list[Token]:
    """The signs of a formula; empty for any other text."""
    found, index = list[Token](), 0
    while index < len(text) and len(found) <= _MAX_TOKENS:
        match = _TOKEN.match(text, index)
        if match is None or match.lastgroup is None:
            return []
        found.append((match.lastgroup, match[match.lastgroup]))
        index = match.end()
    return found if len(found) <= _MAX_TOKENS else []


def _read(tokens: list[Token]) -> Formula | None:
    try:
        rest = list(tokens)
        formula = _binary(rest, 0)
    except UnreadableError:
        return None
    return formula if not rest else None


def _binary(rest: list[Token], level: int) -> Formula:
    """A formula of connectives of this level or tighter; an implication groups to the right."""
    if level == len(_LOOSE_FIRST):
        return _unary(rest)
    name, left = _LOOSE_FIRST[level], _binary(rest, level + 1)
    if not rest or rest[0][0] != name:
        return left
    rest.pop(0)
    right, meaning = _binary(rest, level), _MEANING[name]
    return lambda row: meaning(left(row), right(row))


def _unary(rest: list[Token]) -> Formula:
    if not rest:
        raise UnreadableError("formula")
    kind, text = rest.pop(0)
    if kind == "not":
        inner = _unary(rest)
        return lambda row: not inner(row)
    if kind == "atom":
        return lambda row: row[text]
    if kind != "open":
        raise UnreadableError("formula")
    inner = _binary(rest, 0)
    if not rest or rest.pop(0)[0] != "close":
        raise UnreadableError("formula")
    return inner
