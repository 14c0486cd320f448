"""Rules for mathematical notations: binomials, indexes of families, bases, foreign intervals."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

Rewrite = str | Callable[[re.Match[str]], str]
# the string that must occur in the text for the pattern to be tried, the pattern, the replacement
Rule = tuple[str, re.Pattern[str], Rewrite]

_INTEGER_INDEX: Final = re.compile(
    r",? ?(?:where |for |with |and )?(?:any |all |every |some )?(?<![A-Za-z\\])([a-zA-Z]) "
    r"(?:is|are) (?:an |any )?integers?\.?$"
)
_INTEGERS: Final = re.compile(r",? ?(?:for|where|with) (?:any |all |every |some |an )?integers? ([a-zA-Z])$")
_QUANTIFIER: Final = re.compile(
    r",? ?(?:\\forall ?|(?:\\text\{ ?)?(?:for|where|with|and)(?: all| any| every| each| some)? ?\}? ?)"
    r"(?=[a-zA-Z](?:, ?[a-zA-Z])? ?\\in(?![a-z]))"
)
_OTHERWISE: Final = re.compile(r"^.+(?:otherwise|elsewhere)$")
_FUNCTION: Final = re.compile(r"^[A-Za-z](?:_\{?\w+\}?)? ?\([a-z]\) ?= ?")
_CONDITION: Final = re.compile(r",? (?:for|if|when) ")
_NEXT_CASE: Final = re.compile(r",? and |[,;] ")
_NAMED_BASE: Final = {
    name: str(value)
    for value, names in (
        (2, "two binary"),
        (3, "three"),
        (4, "four"),
        (5, "five"),
        (6, "six"),
        (7, "seven"),
        (8, "eight octal"),
        (9, "nine"),
        (10, "ten decimal"),
        (11, "eleven"),
        (12, "twelve"),
        (16, "sixteen hex hexadecimal"),
    )
    for name in names.split()
}
_SPACED_ROW: Final = re.compile(r"-?\d+(?:[./]\d+)?(?: -?\d+(?:[./]\d+)?)+")
_PREFIXED: Final = re.compile(r"^0(?:(b)([01]+)|(x)([0-9A-Fa-f]+)|(o)([0-7]+))$")
_MAX_PREFIXED: Final = 200
_MAX_ITEMS: Final = 1000


def _rows(match: re.Match[str]) -> str:
    """Rows between semicolons as lists, [1, 2; 3, 4] and [1 2; 3 4]; unchanged if their lengths differ."""
    rows = [_row(row.strip()) for row in match[1].split(";")]
    is_even = len({len(row) for row in rows}) == 1
    if not is_even or len(rows[0]) < 2 or not all(all(row) for row in rows):
        return match[0]
    listed = [f"[{','.join(row)}]" for row in rows]
    return f"[{','.join(listed)}]" if len(rows) > 1 else listed[0]


def _row(text: str) -> list[str]:
    return [entry.strip() for entry in (text.split(" ") if _SPACED_ROW.fullmatch(text) else text.split(","))]


def _permutations(match: re.Match[str], top: int, bottom: int) -> str:
    """The number of ordered choices as a quotient of factorials; unchanged if the numbers do not fit."""
    n, k = ((match[i] or match[i + 1] if len(match.groups()) > 2 else match[i]) for i in (top, bottom))
    if len(n) > 4 or int(k) > int(n) or int(n) > _MAX_ITEMS:
        return match[0]
    return rf"\frac{{{n}!}}{{{int(n) - int(k)}!}}"


def _by_cases(text: str) -> str:
    """Two cases in words, `1/4 for 0<y<2 and 0 otherwise`, as an environment; other texts unchanged."""
    name = _FUNCTION.match(text)
    body = text[name.end() if name else 0 :].removesuffix("otherwise").removesuffix("elsewhere").rstrip(" ,")
    parts = _CONDITION.split(body)
    breaks = list(_NEXT_CASE.finditer(parts[-1]))
    if len(parts) != 1 + 1 or not breaks or "&" in body or "\\\\" in body:
        return text
    condition, value = parts[1][: breaks[-1].start()], parts[1][breaks[-1].end() :]
    cases = rf"\begin{{cases}}{parts[0]}&{condition}\\{value}&\text{{otherwise}}\end{{cases}}"
    return f"{name[0] if name else ''}{cases}"


def programmed(text: str) -> str | None:
    """The decimal figures of a number with a programmer's prefix, 0xFF; None for any other text."""
    match = _PREFIXED.fullmatch(text.strip().strip("$").strip())
    return str(int(match[0], 0)) if match and len(match[0]) < _MAX_PREFIXED else None


def _prefixed(match: re.Match[str]) -> str:
    """A numeral with a programmer's prefix: 0b1011, 0x2F."""
    base = {"b": 2, "x": 16, "o": 8}[match[1] or match[3] or match[5]]
    return f"{(match[2] or match[4] or match[6]).upper()}_{{{base}}}"


def _binomial(match: re.Match[str], order: int) -> str:
    """C with a lower and an upper index, unless the lower is the smaller: then it is a constant with a power."""
    first, second = (match[1] or match[2]), (match[3] or match[4])
    top, bottom = (first, second) if order == 1 else (second, first)
    is_binomial = len(top) < 7 and int(top) >= int(bottom[:7])
    return rf"\binom{{{top}}}{{{bottom}}}" if is_binomial else match[0]


NOTATIONS: Final[tuple[Rule, ...]] = (
    # colours; reasons after an answer, and "is the answer"; x in R as a side condition
    ("color", re.compile(r"\\(?:text)?color ?\{[A-Za-z0-9!]+\} ?"), ""),
    ("text", re.compile(r" ?\\text\{ ?\( ?(?:since|because|as) [^{}]*\}[^\n]*\)$"), ""),
    ("answer", re.compile(r" ?\\text\{ ?(?:is|are) (?:the|our|my) (?:final |correct )?answers?\.? ?\}$"), ""),
    (
        "\\mathbb{R}",
        re.compile(r"(?<=\S)(?:, ?(?:\\forall ?)?x ?\\in ?\\mathbb\{R\}| ?\( ?x ?\\in ?\\mathbb\{R\} ?\))$"),
        "",
    ),
    # 0.(3): a repeating decimal
    (".", re.compile(r"(?<![\d.])(\d+\.\d*)\((\d+)\)$"), r"\1\\overline{\2}"),
    # .\overline{45}
    (".\\", re.compile(r"(?<!\d)\.(?=\\(?:overline|dot|bar))"), "0."),
    # <3, -1, 2>: a vector
    ("<", re.compile(r"^<([^<>=,]+,[^<>=]+)>$"), r"(\1)"),
    # ^5/_6
    ("/", re.compile(r"^\^ ?\{?(\d+)\}? ?/ ?_ ?\{?(\d+)\}?$"), r"\\frac{\1}{\2}"),
    # plus-minus typed on a keyboard
    ("/", re.compile(r"\+ ?/ ?-"), r"\\pm "),
    # 6.02 x 10^23
    ("10", re.compile(r"(?<=\d) ?[xX] ?(?=10 ?\^)"), r"\\times "),
    # roots
    ("\\root", re.compile(r"\\root ?\{?(\d+)\}? ?\\of ?"), r"\\sqrt[\1]"),
    ("cbrt", re.compile(r"\\?cbrt(?=[({])"), r"\\sqrt[3]"),
    # functions and sets: f: x \mapsto x^2; real numbers except 2; conditions in words
    ("\\mapsto", re.compile(r"^([a-zA-Z]) ?: ?([a-zA-Z]) ?\\mapsto ?"), r"\1(\2)="),
    (
        "except",
        re.compile(
            r"^(?:\\text\{ ?)?(?:all )?(?:the )?(?:real numbers|reals)(?: [a-z])? except (?:for )?\}? ?"
            r"(?:x ?= ?)?([^{}]+)$"
        ),
        r"\\mathbb{R}\\setminus\\{\1\\}",
    ),
    ("\\text", re.compile(r"\\text\{ ?(?:if|when|for) (?=[a-z] ?(?:[<>=]|\\[lgn]e))([^{}]*)\}"), r"\1"),
    # a function by cases in words: 1/4 for 0<y<2 and 0 otherwise
    ("wise", _OTHERWISE, lambda m: _by_cases(m[0])),
    ("elsewhere", _OTHERWISE, lambda m: _by_cases(m[0])),
    # f(0): a value at zero, not a product
    ("(0)", re.compile(r"(?<![A-Za-z\\])([A-Za-z])\(0\)"), r"\1_{(0)}"),
    # binomials: {}_{10}C_3, ^{10}C_3, C_{10}^3, C^3_{10}, C(10,3)
    ("C", re.compile(r"(?:\{\})? ?[_^]\{?(\d+)\}? ?C ?_ ?\{?(\d+)\}?"), r"\\binom{\1}{\2}"),
    ("C", re.compile(r"(?<![A-Za-z\\])C ?_ ?(?:\{(\d+)\}|(\d)) ?\^ ?(?:\{(\d+)\}|(\d))"), lambda m: _binomial(m, 1)),
    ("C", re.compile(r"(?<![A-Za-z\\])C ?\^ ?(?:\{(\d+)\}|(\d)) ?_ ?(?:\{(\d+)\}|(\d))"), lambda m: _binomial(m, -1)),
    ("C", re.compile(r"(?<![A-Za-z\\])C ?\((\d+|\d*[nm]), ?(\d+|[nkmr])\)"), r"\\binom{\1}{\2}"),
    # permutations: {}_{10}P_3, A_{10}^3
    ("P", re.compile(r"(?:\{\})? ?[_^]\{?(\d+)\}? ?P ?_ ?\{?(\d+)\}?"), lambda m: _permutations(m, 1, 2)),
    (
        "_",
        re.compile(r"(?<![A-Za-z\\])[AP] ?_ ?(?:\{(\d+)\}|(\d)) ?\^ ?(?:\{(\d+)\}|(\d))"),
        lambda m: _permutations(m, 1, 3),
    ),
    # more binomials: nCr(8,3), 8C3, 8 choose 3, C_{2n}^n
    ("nCr", re.compile(r"nCr ?\((\d+), ?(\d+)\)"), r"\\binom{\1}{\2}"),
    ("C", re.compile(r"^(\d+) ?C ?(\d+)$"), r"\\binom{\1}{\2}"),
    ("\\text{C", re.compile(r"\\text\{C\} ?\((\d+), ?(\d+)\)"), r"\\binom{\1}{\2}"),
    ("choose", re.compile(r"(\d+) ?(?:\\text\{ ?choose ?\}|choose) ?(\d+)"), r"\\binom{\1}{\2}"),
    ("C", re.compile(r"(?<![A-Za-z\\])C ?_ ?\{(\d*n)\} ?\^ ?\{?(\d*[nkmr]|\d)\}?(?![A-Za-z\d])"), r"\\binom{\1}{\2}"),
    # the index of a family: (k \in Z), "where k is an integer", "for any integer k"
    ("\\in", re.compile(r" ?\((?=[a-zA-Z](?:, ?[a-zA-Z])? ?\\in)([^()]*)\)"), r", \1"),
    ("\\in", _QUANTIFIER, ", "),
    ("integer", re.compile(r"\\text\{([^{}]*)\}"), r" \1 "),
    ("integer", re.compile(r" {2,}"), " "),
    ("integer", re.compile(r" (?=,|\.$|$)"), ""),
    ("integer", _INTEGER_INDEX, r", \1\\in\\mathbb{Z}"),
    ("integer", _INTEGERS, r", \1\\in\\mathbb{Z}"),
    # numerals with their base: \text{A5}_{11}, (1011)_2, 1011_{(2)}, 1011_{two}, 1011 base 2, 0b1011, 2f_{16}
    ("_", re.compile(r"\\text\{([0-9A-Z]+)\}(?= ?_)"), r"\1"),
    ("_", re.compile(r"(?<![A-Za-z\\])\(([0-9A-Za-z]+)\) ?(?=_ ?\{?\d)"), r"\1"),
    ("_", re.compile(r"(?<=[0-9A-F]) ?_ ?\{ ?\\text\{ ?\(?(?:base ?)?(\d{1,2})\)? ?\} ?\}"), r"_{\1}"),
    ("_", re.compile(r"(?<=[0-9A-F]) ?_ ?\{ ?\(? ?(?:\\text\{ ?base ?\} ?)?(\d{1,2}) ?\)? ?\}"), r"_{\1}"),
    (
        "_",
        re.compile(
            r"(?<=[0-9A-F]) ?_ ?\{?(?:\\text\{)? ?"
            r"(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|sixteen) ?\}{0,2}"
        ),
        lambda m: rf"_{{{_NAMED_BASE[m[1]]}}}",
    ),
    ("base", re.compile(r"^([0-9A-Z]+) ?\(?(?:\\text\{ ?\(?)?(?:in )?base[- ](\d{1,2})\)? ?\}?\)?$"), r"\1_{\2}"),
    ("0", _PREFIXED, _prefixed),
    ("_{16}", re.compile(r"(?<![A-Za-z\\])([0-9a-f]+)(?=_\{16\})"), lambda m: m[1].upper()),
    # matrices on one line: [1, 2; 3, 4], [1 2; 3 4], [[1 2] [3 4]]
    (";", re.compile(r"\[([^\[\]]*;[^\[\]]*)\]"), _rows),
    ("[", re.compile(rf"\[ ?({_SPACED_ROW.pattern}) ?\]"), _rows),
    ("] [", re.compile(r"(?<=\]) (?=\[)"), ","),
    # French open intervals: ]0,1[ and [0,1[
    ("[", re.compile(r"^\]([^\[\]()]+,[^\[\]()]+)\[$"), r"(\1)"),
    ("[", re.compile(r"^\[([^\[\]()]+,[^\[\]()]+)\[$"), r"[\1)"),
    ("]", re.compile(r"^\]([^\[\]()]+,[^\[\]()]+)\]$"), r"(\1]"),
)
