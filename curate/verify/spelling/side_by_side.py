r"""Separates statements that only space or a line separates: `x=1 \quad x=5` states two values, as `x=1, x=5` does.

Without the comma the grammar reads a chain, x = 1x = 5, of which the last value would count alone.
"""

from __future__ import annotations

import re
from typing import Final

_MAX_CHARS: Final = 2500
_TWO: Final = 2
_GAP: Final = re.compile(
    r"(?:\s|~|\\(?:q?quad|enspace|hfill|newline|par)(?![A-Za-z])|(?<!\\)\\[;:> ]|\\hspace\*?\{[^{}]*\}|\$\s*(?=\$)"
    r"|\\\)\s*(?=\\\()|\\\]\s*(?=\\\[)|\\\\(?=\s*[A-Za-z\\$]))+"
)
_IS_WIDE: Final = re.compile(r"quad|enspace|hfill|newline|par|hspace|\\[;:>\\]|[$\n]|\\[)\]]")
_SIGNS: Final = "le|ge|leq|geq|leqslant|geqslant|lt|gt|ne|neq|approx|equiv|in|notin|sim"
_OPERATORS: Final = (
    f"{_SIGNS}|cdot|times|div|pm|mp|cup|cap|Rightarrow|implies|iff|Leftrightarrow|to|land|lor|wedge|vee|mid|setminus"
)
_CONNECTED: Final = "or|and|if|for|where|with|when|while|such"
_RELATION: Final = re.compile(rf"[=<>≡]|\\(?:{_SIGNS})(?![A-Za-z])")
_CONTINUES: Final = re.compile(
    rf"\s*(?:[-+*/^_=<>,;:|)\]}}&!%]|\\(?:{_OPERATORS}|right|end|pmod|bmod|mod|over)(?![A-Za-z])|"
    rf"\\[\\}}!,]|(?:\\text\s*\{{\s*)?(?:{_CONNECTED})\b)"
)
_IS_OPEN: Final = re.compile(
    rf"(?:[-+*/^_=<>,;:|(\[{{&]|\\(?:{_OPERATORS}|left|forall)|\b(?:{_CONNECTED}|is)|\\text\s*\{{[^{{}}]*\}})\s*$"
)
_END: Final = re.compile(r"[,;]|\\\\|\\q?quad(?![A-Za-z])")
_OPENING: Final = re.compile(r"\\left(?![a-z])|\\begin(?=\{)|(?<!\\)\{|[(\[]|\\\{")
_CLOSING: Final = re.compile(r"\\right(?![a-z])|\\end(?=\{)|(?<!\\)\}|[)\]]|\\\}")


def separated(text: str) -> str:
    """The text with a comma between two statements that only wide space, a line or the end of a formula separates."""
    if len(text) > _MAX_CHARS or len(_RELATION.findall(text)) < _TWO:
        return text
    out, start = "", 0
    for gap in _GAP.finditer(text):
        if not _IS_WIDE.search(gap[0]):
            continue
        before, after = text[start : gap.start()], text[gap.end() :]
        if _are_statements(before, after):
            out += f"{before}{gap[0]}, "
            start = gap.end()
    return out + text[start:]


def _are_statements(before: str, after: str) -> bool:
    """Whether a gap lies between two complete statements, outside of all brackets."""
    if not _RELATION.search(before) or not _RELATION.search(_END.split(after.lstrip(), maxsplit=1)[0]):
        return False
    if _CONTINUES.match(after) or _IS_OPEN.search(before):
        return False
    return len(_OPENING.findall(before)) == len(_CLOSING.findall(before))
