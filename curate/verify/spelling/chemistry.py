r"""Writes a chemical formula in one way: `\ce{H2O}`, `H_2O` and `\mathrm{H_{2}O}` are `H2O`.

Only formulas of real elements count, and only where the text shows chemistry: `\ce`, a charge, a nuclide, an electron
configuration, or at least two elements of which one has a number. A product of variables is none of these.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

ELEMENTS: Final = frozenset(
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb "
    "Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au "
    "Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm".split()
)
_CE: Final = re.compile(r"^\\ce\s*\{(.*)\}$", re.DOTALL)
_FONT: Final = re.compile(r"\\(?:mathrm|text|rm|textrm)\s*\{([^{}]*)\}")
_ORBITALS: Final = re.compile(r"(?:[1-7][spdf]\d{1,2})+")
_HYBRID: Final = re.compile(r"sp\d?")
_NUCLIDE: Final = re.compile(r"(?:\^\{?(\d+)\}?_\{?(\d+)\}?|_\{?(\d+)\}?\^\{?(\d+)\}?)([A-Z][a-z]?)")
_FORMULA: Final = re.compile(r"(?:\d*(?:[A-Z][a-z]?\d*|\((?:[A-Z][a-z]?\d*)+\)\d*)+)(?:\^?\d*[+-])?")
_SYMBOL: Final = re.compile(r"[A-Z][a-z]?")
_MAX_CHARS: Final = 80


def chemical(text: str) -> str | None:
    """The plain form of a chemical formula; None for any other text."""
    if len(text) > _MAX_CHARS or not any(mark in text for mark in ("_", "^", "\\ce", "sp", "s2")):
        return None
    bare = text.strip().strip("$").strip()
    inner = _CE.match(bare)
    plain = _FONT.sub(r"\1", inner[1] if inner else bare).replace("\\,", "")
    if (nuclide := _NUCLIDE.fullmatch(plain.replace("{}", "").replace(" ", ""))) and nuclide[5] in ELEMENTS:
        mass, charge = (nuclide[1], nuclide[2]) if nuclide[1] else (nuclide[4], nuclide[3])
        return f"nuclide {mass} {charge} {nuclide[5]}"
    orbitals = re.sub(r"[\s^{}]", "", plain)
    if _ORBITALS.fullmatch(orbitals) or _HYBRID.fullmatch(orbitals):
        return f"orbital {orbitals}"
    flat = re.sub(r"[\s_]", "", re.sub(r"_\s*\{(\d+)\}", r"\1", re.sub(r"\^\s*\{(\d*[+-])\}", r"^\1", plain)))
    if not _FORMULA.fullmatch(flat) or not all(symbol in ELEMENTS for symbol in _SYMBOL.findall(flat)):
        return None
    symbols = _SYMBOL.findall(flat)
    if any(first == second for first, second in pairwise(symbols)) and re.search(r"([A-Z][a-z]?)\1", flat):
        return None  # FF_{16} is a numeral
    has_charge = flat.endswith(("+", "-"))
    is_compound = len(symbols) > 1 and re.search(r"[A-Za-z)][2-9]|[A-Za-z)]1\d", flat) is not None
    # nobody writes a 1 in a formula: V_1V_2 is a product
    if inner is None and not has_charge and (not is_compound or re.search(r"[A-Za-z)]1(?!\d)", flat)):
        return None
    return f"formula {flat.replace('^', '')}"
