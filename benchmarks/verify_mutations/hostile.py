"""Mutations that make an answer costly: huge exponents, towers, repetition, nesting, random pieces."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Final

_BOMBS: Final = tuple(
    r"1e-3000000;1E999999999;9^{9^{9^{9}}};((((9!)!)!)!);20000!;2^{400000};x^{9999};\binom{99999}{500};km^{99999999};"
    r"\sqrt[9999]{7};10^{-10^{9}};\exp(\exp(99));\gcd(2^{9999},3^{9999});(-1)^k\pi;\pm 1\pm 2\pm 3;\overline{142857};"
    r"\sin(10^{60});(x+1/3)!;C_1+C_2+C_3;k\pi, k\in\mathbb{Z}".split(";")
)
_REPEATED: Final = (", ", " + ", " or ", "\\cup ", " ", "\\quad ", "^", ":", "=", "<", "/", " and ", "\\\\", "")
_NESTED: Final = (
    "({})",
    "\\sqrt{{{}}}",
    "|{}|",
    "\\{{{}\\}}",
    "\\sin({})",
    "-{}",
    "\\frac{{1}}{{{}}}",
    "({})^2",
    "{}!",
)


def _exponent(text: str, source: Random) -> str:
    return re.sub(r"\d+", lambda m: f"{m[0]}e{source.choice(['-', ''])}{source.randrange(10**9)}", text, count=1)


def _bomb(text: str, source: Random) -> str:
    places = [match.start() for match in re.finditer(r"[\d(]|(?<=[\d)}])", text)] or [0]
    place = source.choice(places)
    return text[:place] + source.choice(_BOMBS) + text[place:]


def _repeated(text: str, source: Random) -> str:
    joint = source.choice(_REPEATED)
    return joint.join([text] * min(source.choice([3, 20, 300]), 1990 // (len(text) + len(joint)) + 1))


def _bombs(_: str, source: Random) -> str:
    joint, bomb = source.choice(_REPEATED), source.choice(_BOMBS)
    return joint.join([bomb] * (1900 // (len(bomb) + len(joint))))


def _nested(text: str, source: Random) -> str:
    form = source.choice(_NESTED)
    for _ in range(source.choice([5, 20, 60])):
        text = form.format(text)
    return text[:3000]


def _pieces(text: str, source: Random) -> str:
    tokens = re.findall(r"\\[A-Za-z]+|\d+|.", text) + list("(){}[]^_=,<>|!%") + ["\\frac", "\\sqrt", "\\text{", "\\in "]
    return "".join(source.choice(tokens) for _ in range(source.choice([8, 40, 400])))


HOSTILE: Final[dict[str, Callable[[str, Random], str]]] = {
    "hostile: exponent": _exponent,
    "hostile: bomb": _bomb,
    "hostile: bombs": _bombs,
    "hostile: repeated": _repeated,
    "hostile: nested": _nested,
    "hostile: pieces": _pieces,
}
