r"""Compares residue classes, `x \equiv 2, 3 \pmod 5` or `2 mod 5`, and evaluates `17 \bmod 5` to its number.

Two statements are the same if they hold for the same whole numbers, whatever their representatives and moduli.
"""

from __future__ import annotations

import re
from math import lcm
from typing import Final, NamedTuple

_MODULUS: Final = re.compile(
    r",? ?(?:\( ?)?(?:\\text\{ ?\(? ?(?:mod|modulo) ?\}|\\[pb]?mod(?![a-z])|\b(?:mod|modulo)\b)"
    r" ?\{? ?(\d{1,6}) ?\}? ?\)?$"
)
_LEFT: Final = re.compile(r"^([a-zA-Z]) ?(?:\\equiv|≡|=|\\cong) ?(?=[-+\d\\])")
_RESIDUES: Final = re.compile(
    r"(?:\\pm ?|-)?\d{1,12}(?:(?: ?, ?| ?\\text\{ ?,? ?(?:or|and) ?\} ?| (?:or|and) )(?:\\pm ?|-)?\d{1,12})*"
)
_REMAINDER: Final = re.compile(r"(-?\d{1,12}) ?(?:\\bmod|\\text\{ ?mod ?\}|mod|%) ?\{? ?([1-9]\d{0,11}) ?\}?")
_ONE: Final = re.compile(r"(\\pm ?|-)?(\d{1,12})")
_MAX_COMMON: Final = 100_000


class Congruence(NamedTuple):
    """Residues modulo `modulus`; `name` is the unknown, or empty."""

    name: str
    residues: frozenset[int]
    modulus: int


def congruence(cleaned: str) -> Congruence | None:
    """Parse a cleaned answer as residue classes; None for any other text."""
    match = _MODULUS.search(cleaned) if "mod" in cleaned else None
    if match is None or (modulus := int(match[1])) == 0:
        return None
    stated = cleaned[: match.start()].strip()
    named = _LEFT.match(stated)
    listed = stated[named.end() if named else 0 :].strip()
    if not _RESIDUES.fullmatch(listed):
        return None
    values = [signed for sign, figures in _ONE.findall(listed) for signed in _signed(sign.strip(), int(figures))]
    return Congruence(named[1] if named else "", frozenset(value % modulus for value in values), modulus)


def remainder(cleaned: str) -> str | None:
    r"""The value of `17 \bmod 5`; None for any other text, including a residue class such as `2 \pmod 5`."""
    match = _REMAINDER.fullmatch(cleaned)
    return None if match is None else str(int(match[1]) % int(match[2]))


def same_classes(a: Congruence, b: Congruence) -> bool:
    """Whether two statements hold for the same whole numbers; if both name the unknown, the names must be equal."""
    if a.name and b.name and a.name != b.name:
        return False
    if a.modulus == b.modulus:
        return a.residues == b.residues
    common = lcm(a.modulus, b.modulus)
    return common <= _MAX_COMMON and _spread(a, common) == _spread(b, common)


def _spread(classes: Congruence, common: int) -> set[int]:
    return {residue + step for residue in classes.residues for step in range(0, common, classes.modulus)}


def _signed(sign: str, value: int) -> tuple[int, ...]:
    return (value, -value) if sign == "\\pm" else (-value,) if sign == "-" else (value,)
