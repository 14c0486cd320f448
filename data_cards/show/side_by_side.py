"""Word-by-word comparison of two texts, with differences marked, for the terminal and HTML."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Final

# a word, a run of digits, one CJK character or one sign: numbers and operators are tokens of their own
_TOKEN: Final = re.compile(r"[^\W\d_\u3400-\u9fff]+|\d+|\s+|.", re.DOTALL)
# SequenceMatcher is quadratic at worst: only the first tokens are compared
MAX_TOKENS: Final = 4_000


@dataclass(frozen=True)
class Piece:
    """A run of text, and whether the other side lacks it."""

    text: str
    is_different: bool


def compare(left: str, right: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts split into pieces; the pieces of each side join to its text."""
    mine, theirs = _TOKEN.findall(left), _TOKEN.findall(right)
    rest = ["".join(tokens[MAX_TOKENS:]) for tokens in (mine, theirs)]
    mine, theirs = mine[:MAX_TOKENS], theirs[:MAX_TOKENS]
    pieces: tuple[list[Piece], list[Piece]] = ([], [])
    for tag, a, b, c, d in difflib.SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        for side, text in zip(pieces, ("".join(mine[a:b]), "".join(theirs[c:d])), strict=True):
            if text:
                side.append(Piece(text, is_different=tag != "equal" and not text.isspace()))
    for side, text in zip(pieces, rest, strict=True):
        if text:
            side.append(Piece(text, is_different=rest[0] != rest[1]))
    return pieces


def similarity(left: str, right: str) -> float:
    """Share of the characters that both texts have in the same order, 0 to 1."""
    same = sum(len(piece.text) for side in compare(left, right) for piece in side if not piece.is_different)
    return same / max(len(left) + len(right), 1)
