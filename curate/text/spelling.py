r"""A problem's text as the comparing stages see it: what carries no meaning taken out, what carries meaning kept.

`tokens` cuts a prompt into words, numbers, Chinese characters, operators and brackets; `normalised` is the same as one
string. Both take a whole column of texts, so that millions of rows pass through them without a Python loop. They are
functions and no polars expressions: some rules look before they replace, and Python that calls polars from within
polars' own threads can deadlock.

Gone are LaTeX delimiters, sizes, spacing and fonts, tags of HTML and BBCode, letter case, punctuation, and the several
ways of writing one thing (`\dfrac12` and `\frac{1}{2}`, `\leq` and ≤, `x²` and `x^{2}`, `10{,}000` and 10000, π and
`\pi`, `ABC` and `A B C`, traditional and simplified Chinese). Kept are every operator, figure and bracket, and the code
of figures (`[asy]`): two problems that differ there are two problems.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import numpy as np
import polars as pl

from curate.text.chinese import simplified
from curate.text.layout import LAYOUT
from curate.text.letters import products, with_parted_points

_GREEK: Final = dict(
    zip(
        "αβγδεζηθικλμνξοπρστυφχψωΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩϕϵϑ",
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi "
        "chi psi omega alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma "
        "tau upsilon phi chi psi omega phi epsilon theta".split(),
        strict=True,
    )
)
_SYMBOL: Final = {
    "×": "times", "÷": "div", "·": "cdot", "⋅": "cdot", "∙": "cdot", "≤": "le", "⩽": "le", "≦": "le", "≥": "ge",
    "⩾": "ge", "≧": "ge", "≠": "ne", "≡": "equiv", "≈": "approx", "∼": "sim", "√": "sqrt", "°": "circ", "º": "circ",
    "∞": "infty", "∠": "angle", "△": "triangle", "∆": "triangle", "…": "dots", "⋯": "dots", "∈": "in", "∉": "notin",
    "∪": "cup", "∩": "cap", "⊂": "subset", "⊆": "subseteq", "∅": "emptyset", "∑": "sum", "∏": "prod", "∫": "int",
    "⊥": "perp", "∥": "parallel", "→": "to", "±": "pm", "∓": "mp", "∘": "circ", "ℝ": "r", "ℤ": "z", "ℕ": "n", "ℚ": "q",
}  # fmt: skip
_THIN: Final = "\x1f"  # a thin space, which may part the thousands of a number
# `000` and `050` are the end of a longer number even in brackets
_SIGNED: Final = r"[-+]?(?:[1-9]\d*|0)"
_OPEN, _CLOSE = r"([(\[{|]\s*|brace\s+)", r"(\s*[)\]}|]|\s+rbrace)"

# Read from the left, the first of the list that fits: `\\` comes before `\(`, `\\(` before `\\`.
_LITERAL: Final = {
    **LAYOUT,
    **{mark: f" {over}/{under} " for mark, over, under in zip("½⅓⅔¼¾⅕⅛", "1121311", "2334458", strict=True)},
    **{mark: f"^{digit}" for mark, digit in zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True)},
    **{letter: f" {name} " for letter, name in (_GREEK | _SYMBOL).items()},
    **dict.fromkeys("−‐‑–﹣", "-"),
    **dict.fromkeys("’′ʹ", "'"),
    "″": "''",
    **dict.fromkeys("\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", ""),
    **dict.fromkeys(("\\\\(", "\\\\)", "\\\\[", "\\\\]", "\\\\", "\\(", "\\)", "\\[", "\\]", "\\$", "$", "&"), " "),
    **dict.fromkeys(("\\;", "\\:", "\\>", "\\ ", "~", "&nbsp;", "—"), " "),
    "\\{": " lbrace ", "\\}": " rbrace ", "\\|": " vert ", "\\%": " % ", "\\#": " ",
    ",\\!": ",", "\\!": "", "{,}": ",", "\\,": _THIN, "...": " dots ", ". . .": " dots ", "‖": " vert ",
}  # fmt: skip

# In this order, after the literals, Unicode compatibility forms and lower case: what a text must hold, words or a
# pattern, and the rules for those that do. Most hold little of it, and looking is cheaper than replacing. Polars keeps
# 32 compiled patterns at hand: a pass that needs more compiles them all again for every batch. What few texts need is
# therefore left to Python's own patterns.
_RULES: Final[tuple[tuple[str | tuple[str, ...], tuple[tuple[str | re.Pattern[str], str], ...]], ...]] = (
    (("\\begin",), ((re.compile(r"\\begin\s*\{(?:array|tabular)\*?\}\s*(?:\{[^{}]*\})?"), " "),)),
    (("\\", "frac"), (
        ((r"\\(?:text(?:bf|it|rm|tt|sf|sc|sl|up|md|normal)?|math(?:rm|bf|it|sf|tt|up)|[mh]box|operatorname\*?|emph"
          r"|underline|boldsymbol|bm)\s*\{([^{}]*)\}"),
         " $1 "),
        (r"\\?\b[dtc]?frac\s*(?:\{\s*(\p{L}|\d+)\s*\}|(\d))\s*(?:\{\s*(\p{L}|\d+)\s*\}|(\d))", " $1$2/$3$4 "),
        (r"\\[dtc]?frac\s*(\d)|\\[dtc]frac\b", " frac $1 "),
        (r"\^\s*\{?\s*\\prime\s*\}?", "'"),
        (r"\\([a-z]+)", " $1 "),
    )),
    (("'",), ((r"\b(\p{L})''", "$1 prime prime "), (r"\b(\p{L})'", "$1 prime "))),
    (("circ", "degree"), ((r"\^\s*\{?\s*circ\b\s*\}?|\bdegrees?\b", " circ "),)),
    # in brackets, and beside a number of another length, a comma parts a list: [-500,500], (3,100), 5,120,7
    (rf"[0-9][,{_THIN}][-+]?[0-9]", (
        (rf"{_OPEN}({_SIGNED}),({_SIGNED}){_CLOSE}", "$1$2, $3$4"),
        (rf"{_OPEN}({_SIGNED}),({_SIGNED}),({_SIGNED}){_CLOSE}", "$1$2, $3, $4$5"),
        (r"\b(\d+),(\d+),(\d{1,2}|\d{4,})\b", "$1, $2, $3"),
        (rf"\b([1-9]\d{{0,2}})[,{_THIN}](\d{{3}})(?:[,{_THIN}](\d{{3}}))?(?:[,{_THIN}](\d{{3}}))?\b", "$1$2$3$4"),
    )),
    (r"\.\d", ((r"\b(\d+\.\d*?)0+\b", "$1"), (r"(^|[\s(\[{=+*/,<>-])\.(\d)", "${1}0.$2"))),
    (("-",), (
        (r"(\p{L}{3})-(\p{L}{4})", "$1 $2"),
        (r"((?:^|[^a-z])[a-z]|[0-9]) ?-([a-z]{4,}(?:[^a-z(]|$)|(?:gon|th|by)\b)", "$1 $2"),
    )),
    ((":",), ((r"(\d)\s*:\s*(\d)", "$1 ratio $2"),)),
    # the limits of sums and the like in one order
    (("}_", "^2_"), (
        (re.compile(r"\^\s*(\{[^{}]*\}|[a-z0-9])\s*_\s*(\{[^{}]*\}|[a-z0-9])"), r"_\2^\1"),
    )),
    (("{",), ((r"\{\s*([^{}\s]|\d+)\s*\}", " $1 "),)),
)  # fmt: skip

MARKS: Final = ("\x01", "\x02")  # what a caller may put before words, to find them again among the tokens

SIGNS: Final = "-+*/=<>^|!%(){}[]"  # those in ASCII
_PIECE: Final = (
    rf"\p{{Han}}|[\p{{L}}\p{{M}}&&[^\p{{Han}}]]+|\d+(?:\.\d+)?|[{re.escape(SIGNS)}]|[\p{{Sm}}&&[^+=<>|^~]]"  # ∀, ⊕, ↦
)

_UNITS: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
_ORDINALS: Final = "first third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
NUMBER_WORDS: Final[dict[str, str]] = {
    **{word: str(value) for value, word in enumerate(_UNITS)},
    **{word: str(value) for word, value in zip(_ORDINALS, (1, *range(3, 13)), strict=True)},
    **{word: str(10 * ten) for ten, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), 3)},
    **{word: str(value) for value, word in enumerate("零一二三四五六七八九十")},
    "once": "1", "twice": "2", "thrice": "3", "double": "2", "triple": "3", "quadruple": "4", "half": "1/2",
    "halves": "1/2", "halved": "1/2", "quarter": "1/4", "quarters": "1/4", "dozen": "12", "hundred": "100",
    "thousand": "1000", "million": "1000000", "billion": "1000000000", "second": "2", "两": "2", "半": "1/2",
    "百": "100", "千": "1000", "万": "10000", "亿": "100000000",
}  # fmt: skip


def tokens(texts: pl.Series) -> pl.Series:
    """The tokens of each text, list[str]: words in lower case, numbers, Chinese characters, operators, brackets."""
    return pieces(respelt(texts), with_marks=False)


def respelt(texts: pl.Series) -> pl.Series:
    """The texts with everything that is written in several ways written in one: what `pieces` are cut from."""
    literal = texts.str.replace_many(list(_LITERAL), list(_LITERAL.values()), leftmost=True)
    return _ruled(_compatible(with_parted_points(literal)).str.to_lowercase())


def pieces(texts: pl.Series, *, with_marks: bool) -> pl.Series:
    """The tokens of texts that are `respelt`; with `with_marks`, each of `MARKS` in a text is a token too."""
    lists = texts.str.extract_all(f"[{''.join(MARKS)}]|{_PIECE}" if with_marks else _PIECE)
    flat = lists.explode(empty_as_null=False, keep_nulls=False)
    short = flat.filter(flat.str.len_bytes().is_between(2, 3)).unique().to_list()
    found = [word for word in short if word in products()]
    return _with_parted(lists, flat, flat.is_in(found)) if found else lists


def _with_parted(lists: pl.Series, flat: pl.Series, is_product: pl.Series) -> pl.Series:
    """The lists of tokens with the letters of each product for themselves."""
    import pyarrow as pa

    words = flat.to_frame("piece").select(
        pl.when(is_product).then(pl.col("piece").str.split("")).otherwise(pl.concat_list("piece"))
    )
    sizes = pl.select(pl.when(is_product).then(flat.str.len_chars()).otherwise(1)).to_series()
    bounds = np.concatenate([[0], np.cumsum(sizes.to_numpy().astype(np.int64))])
    ends = np.concatenate([[0], np.cumsum(lists.list.len().fill_null(0).to_numpy().astype(np.int64))])
    letters = words.to_series().explode().to_arrow(compat_level=pl.CompatLevel.oldest())
    mask = pa.array(lists.is_null().to_numpy())
    found = pl.Series(pa.LargeListArray.from_arrays(pa.array(bounds[ends], pa.int64()), letters, mask=mask))
    return found.rename(lists.name)


def _compatible(texts: pl.Series) -> pl.Series:
    """Compatibility forms (NFKC), in simplified characters, of texts beyond ASCII: the others are theirs already."""
    is_plain = texts.str.len_bytes() == texts.str.len_chars()
    return _changed(texts, ~is_plain, lambda some: simplified(some.str.normalize("NFKC")))


def _ruled(texts: pl.Series) -> pl.Series:
    """The texts with the several ways of writing one thing made one."""
    for needed, rules in _RULES:
        # `contains` would compile a fixed string as a pattern
        holds = texts.str.contains(needed) if isinstance(needed, str) else texts.str.contains_any(list(needed))
        texts = _changed(texts, holds, partial(_replaced, rules))
    return _changed(texts, texts.str.contains_any(["!"]), _with_factorials)


def _with_factorials(texts: pl.Series) -> pl.Series:
    return pl.Series([_factorials(text) for text in texts], dtype=pl.String)


def _factorials(text: str) -> str:
    """A text without the marks that end a sentence: those behind a word, or behind no operand; n ! is n!."""
    whole, *parts = text.split("!")
    for part in parts:
        operand = whole.rstrip()
        end = operand[-1:]
        is_word = operand[-3:].isalpha() if len(operand) == len(whole) else operand[-2:].isalpha()
        is_one = end.isdigit() or end in ")]}|!" or (end.isalpha() and not (is_word and len(operand) > 1))
        is_one |= end.isalpha() and whole is operand and not operand[-3:].isalpha()
        whole = f"{operand if is_one else whole}{'!' if is_one and operand else ' '}{part}"
    return whole


def _changed(texts: pl.Series, is_chosen: pl.Series, change: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """The texts with the chosen ones changed: most are not, and looking is cheaper than changing."""
    num_chosen = is_chosen.sum()
    if not num_chosen:
        return texts
    if 2 * num_chosen > len(texts):
        return change(texts)
    place = is_chosen.fill_null(value=False).arg_true()
    return texts.clone().scatter(place, change(texts.gather(place)))


def _replaced(rules: Sequence[tuple[str | re.Pattern[str], str]], texts: pl.Series) -> pl.Series:
    for pattern, replacement in rules:
        if isinstance(pattern, str):
            texts = texts.str.replace_all(pattern, replacement)
        else:
            texts = pl.Series([pattern.sub(replacement, text) for text in texts], dtype=pl.String)
    return texts


def normalised(texts: pl.Series) -> pl.Series:
    """The tokens of each text joined by single spaces: equal where two texts differ only in how they are written."""
    return tokens(texts).list.join(" ")
