"""Converts Unicode signs to LaTeX: full-width figures, superscripts, Greek, arrows, currencies, vulgar fractions."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import Final

_SUPER: Final = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ", "0123456789-+n", strict=True))
_SUB: Final = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
_VULGAR: Final = {
    c: f"\\frac{{{unicodedata.normalize('NFKC', c).replace(chr(0x2044), '}{')}}}" for c in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⅑⅒"
}
_GREEK: Final = {
    chr(code): f"\\{name} "
    for code, name in zip(
        range(0x3B1, 0x3CA),
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau "
        "upsilon phi chi psi omega".split(),
        strict=True,
    )
}
_SIGNS: Final = {
    **_VULGAR,
    **_GREEK,
    **dict.fromkeys("−–—‐‑﹣", "-"),
    **dict.fromkeys("\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", ""),
    "×": "\\times ",
    "÷": "\\div ",
    "·": "\\cdot ",
    "⋅": "\\cdot ",
    "∙": "\\cdot ",
    "∗": "*",
    "⁄": "/",
    "∕": "/",
    "∞": "\\infty ",
    "√": "\\sqrt ",
    "≤": "\\le ",
    "≥": "\\ge ",
    "≠": "\\ne ",
    "≈": "\\approx ",
    "±": "\\pm ",
    "⩽": "\\le ",
    "⩾": "\\ge ",
    "∓": "\\mp ",
    "∪": "\\cup ",
    "∩": "\\cap ",
    "∈": "\\in ",
    "∅": "\\emptyset ",
    "ℝ": "\\mathbb{R}",
    "ℤ": "\\mathbb{Z}",
    "ℕ": "\\mathbb{N}",
    "ℚ": "\\mathbb{Q}",
    "°": "^\\circ ",
    "º": "^\\circ ",
    "∶": ":",
    "、": ",",
    "；": ";",
    "。": ".",
    "′": "'",
    "’": "'",
    "‘": "'",
    "“": '"',
    "”": '"',
    "…": "\\ldots ",
    "⌊": "\\lfloor ",
    "⌋": "\\rfloor ",
    "⌈": "\\lceil ",
    "⌉": "\\rceil ",
    "∠": "\\angle ",
    "△": "\\triangle ",
    "\u3000": " ",
    "\u00a0": " ",
    "€": "\\euro ",
    "£": "\\pounds ",
    "¥": "\\yen ",
    "￥": "\\yen ",
    "¢": " cents",
    "＄": "\\$",
    "₹": "\\rupee ",
    "₩": "\\won ",
    "₽": "\\ruble ",
    **dict.fromkeys("₱₫₦₺₴₪฿", "\\$"),
    "µ": "\\mu ",
    **dict.fromkeys(("\u00c5", "\u212b"), "\\AA "),
    "Ω": "\\Omega ",
    "∛": "\\sqrt[3] ",
    "∜": "\\sqrt[4] ",
    "∀": "\\forall ",
    "∃": "\\exists ",
    "∄": "\\nexists ",
    "∧": "\\land ",
    "∨": "\\lor ",
    "「": '"',
    "」": '"',
    "『": '"',
    "』": '"',
    "【": "(",
    "】": ")",
    "〈": "(",
    "〉": ")",
    "⟨": "(",
    "⟩": ")",
    "∣": "|",
    "∖": "\\setminus ",
    "←": "\\leftarrow ",
    "→": "\\to ",
    "⇒": "\\Rightarrow ",
    "ⅰ": "i",
    "ℯ": "e",
    "ⅇ": "e",
    "ⅈ": "i",
    "𝑖": "i",
}
RULINGS: Final = {**dict.fromkeys("√✓✔☑", "正确"), **dict.fromkeys("×✗✘❌", "错误")}
_CHINESE_FRACTION: Final = re.compile(r"(\d+)分之(\d+)")


def in_ascii(text: str) -> str:
    """The text with its Unicode signs spelled in LaTeX."""
    out: list[str] = []
    for char in text:
        if char in _SUPER:
            out.append(f"^{{{_SUPER[char]}}}")
        elif char in _SUB:
            out.append(f"_{{{_SUB[char]}}}")
        elif (sign := _SIGNS.get(char)) is not None:
            out.append(sign)
        elif "①" <= char <= "⑳":
            out.append(char)
        else:
            out.extend(_SIGNS.get(plain, plain) for plain in unicodedata.normalize("NFKC", char))
    out = [_CHINESE_FRACTION.sub(r"\\frac{\2}{\1}", "".join(out).replace("根号", "\\sqrt "))]
    return "".join(out).replace("}^{", "").replace("}_{", "") if _stacked(text) else "".join(out)


def _stacked(text: str) -> bool:
    """Whether two superscript or subscript characters are adjacent and form one exponent."""
    return any((a in _SUPER and b in _SUPER) or (a in _SUB and b in _SUB) for a, b in pairwise(text))
