"""Normalises the spelling of an answer: Unicode, LaTeX spacing and sizes, full-width figures.

`clean` prepares a text for the lexer and is applied to ground truths and answers alike; `canonical` is the key by which
two answers are compared as strings. Nothing here changes a value: `32, 349` stays a list, `1 3/4` a mixed number.
"""

from __future__ import annotations

import html
import re
from typing import Final

from curate.verify.spelling.chemistry import chemical
from curate.verify.spelling.respell import respell
from curate.verify.spelling.side_by_side import separated
from curate.verify.spelling.signs import RULINGS, in_ascii
from curate.verify.spelling.slips import mended
from curate.verify.spelling.unit_products import with_unit_products
from curate.verify.spelling.unit_signs import with_units
from curate.verify.vocabulary.phrases import bare
from curate.verify.vocabulary.units import is_unit_word

_SHORT: Final = 24
_AROUND: Final = re.compile(r"\\(?:[a-z]+|.)|[\s${}()*.,]")
_POWER_FIRST: Final = re.compile(r"(?<![A-Za-z\\])([A-Za-z])\^(\d|\{\d+\})_([0-9A-Za-z]|\{[0-9A-Za-z]+\})(?![\^_])")
_ENTITY: Final = re.compile(r"&(?:[A-Za-z]+\d*|#\d+|#x[0-9a-fA-F]+);")
_PLAIN_FIGURE: Final = re.compile(r" ?-?[0-9]+(?:\.[0-9]+)?(?:/[0-9]+)? ?")
_BRACED_MARK: Final = re.compile(r"(?:\\(?:text|mathord|mathrel|mathbin)|(?<![A-Za-z])) ?\{ ?([,:.]) ?\}")
_BRACED_SIGN: Final = re.compile(
    r"\\(?:text|mathrm|mbox)\{ ?(\\\$|\\%|%|\\euro|\\pounds|\^\\circ) ?\}|(?<![A-Za-z_^])\{(\\[$%])\}"
)
_LONE_DOLLAR: Final = re.compile(r"(?<!\\)\$(?= ?\d)")
_OPEN_CASES: Final = re.compile(
    r"\\left ?\\\{ ?\\begin\{(array|aligned|matrix|gathered|split|align\*?)\}(?:\{[^{}]*\})?"
    r"(.*?)\\end\{\1\} ?\\right ?\.",
    re.DOTALL,
)
_SET: Final = re.compile(r"\\set ?\{([^{}]*)\}")
_NESTED_FONT: Final = re.compile(
    r"\\(?:mathrm|mathbf|boldsymbol|mathit|mathsf|operatorname|underline|ensuremath)\*? ?(?=\{)"
)
_CIRCLED: Final = re.compile(r"\\textcircled\s*\{\s*([1-9]|1\d|20)\s*\}")
_RENAMED: Final = re.compile(
    r"\\(?:(?P<frac>[dtc]frac|nicefrac|sfrac|xfrac)|(?P<binom>[dt]binom)|(?P<le>leqslant|leq)|(?P<ge>geqslant|geq)|(?P<lt>lt)|(?P<gt>gt)|(?P<ne>neq)|"
    r"(?P<to>rightarrow)|(?P<equiv>equiv)|(?P<empty>varnothing)|(?P<mid>mid)|(?P<setminus>backslash)|(?P<div>div)|"
    r"(?P<ldots>dots|cdots|dotsc|dotsb)|(?P<land>wedge)|(?P<degree>degree)|(?P<colon>colon)|"
    r"(?P<langle>langle)|(?P<rangle>rangle)|(?P<lbrace>lbrace)|(?P<rbrace>rbrace)|"
    r"(?P<cup>bigcup)|(?P<cap>bigcap)|(?P<lbrack>lbrack)|(?P<rbrack>rbrack)|(?P<cr>cr)|(?P<surd>surd)|(?P<ast>ast)|"
    r"(?P<tan>tg)|(?P<cot>ctg|cotg)|(?P<csc>cosec)|(?P<sinh>sh)|(?P<cosh>ch)|(?P<tanh>th)|(?P<arctan>arctg)|"
    r"(?P<R>R|reals|Reals)|(?P<Z>Z|integers)|(?P<N>N|naturals)|(?P<Q>Q)|(?P<C>C|Complex)|(?P<infty>infin|infinity)|"
    r"(?P<land2>and)|(?P<lor>or)|(?P<phi>varphi)|(?P<epsilon>varepsilon)|(?P<theta>vartheta))(?![A-Za-z])"
)
_PLAIN: Final = {
    "frac": "\\frac",
    "binom": "\\binom",
    "lt": "<",
    "gt": ">",
    "langle": "(",
    "rangle": ")",
    "lbrace": "\\{",
    "rbrace": "\\}",
    "colon": ":",
    "degree": "^\\circ ",
    "le": "\\le ",
    "ge": "\\ge ",
    "ne": "\\ne ",
    "to": "\\to ",
    "mid": "|",
    "empty": "\\emptyset ",
    "setminus": "\\setminus ",
    "div": "/",
    "ldots": "\\ldots ",
    "land": "\\land ",
    "cup": "\\cup ",
    "cap": "\\cap ",
    "lbrack": "[",
    "rbrack": "]",
    "cr": "\\\\",
    "surd": "\\sqrt ",
    "ast": "*",
    **{name: f"\\{name} " for name in ("tan", "cot", "csc", "sinh", "cosh", "tanh", "arctan", "infty", "lor")},
    **{name: f"\\mathbb{{{name}}}" for name in "RZNQC"},
    "land2": "\\land ",
    "equiv": "≡",
    "phi": "\\phi ",
    "epsilon": "\\epsilon ",
    "theta": "\\theta ",
}
_NOISE: Final = re.compile(
    r"\\(?:left|right|bigl|bigr|Bigl|Bigr|biggl|biggr|big|Big|bigg|Bigg|middle|displaystyle|textstyle|limits|nolimits|"
    r"scriptstyle|tiny|scriptsize|footnotesize|small|normalsize|large|Large|LARGE|huge|Huge|bfseries|"
    r"rm|bf|it|tt|sf|boldsymbol|mathstrut|strut)(?![A-Za-z])\.?|\\(?:label|tag)\{[^{}]*\}"
)
_SPACING: Final = re.compile(
    r"\\(?:quad|qquad|enspace|thinspace|space|hfill|newline)(?![A-Za-z])|(?<!\\)((?:\\\\)*)\\[,;:> \n]|~|"
    r"\\hspace\*?\{[^{}]*\}|\\[hv]?phantom(?:\{[^{}]*\})?"
)
_FONT: Final = re.compile(
    r"\\(?:mathrm|mathbf|mathit|mathsf|mathtt|mathcal|mathscr|operatorname|bm|pmb|boldsymbol)\*?\s*\{([^{}]*)\}"
)
_TEXT: Final = re.compile(r"\\(?:textbf|textit|textrm|textnormal|textsf|texttt|textup|textsc|mbox|hbox|text|emph)\s*\{")
_BOX: Final = re.compile(r"\\(?:boxed|fbox)\s*\{")
_MATH_MARKS: Final = re.compile(r"(?<!\\)\$+|\\[()\[\]](?!\s*[-+\d.]*\s*(?:pt|em|ex)\])")
_FACTORIAL: Final = re.compile(r"[\d)}a-zA-Z]!+$")
_RECURRING: Final = re.compile(r"(?<![\d.])(\d*\.\d*?)(\d{1,6}?)\2{2,} ?(?:\.{3,}|\\ldots(?![a-z]))(?=[\s}$*)\\,.]*$)")
_AND_SO_ON: Final = re.compile(r"(?<=,) ?\.{3,}(?=[\s}$*)\\]*$)")
_MAX_RECURRING: Final = 100
_SPACES: Final = re.compile(r"\s+")
_DROPPABLE_SPACE: Final = re.compile(
    r"(?<![0-9A-Za-z,]) | (?![0-9A-Za-z])|(?<![0-9]), (?=\S)|(?<=[a-zA-Z0-9]) (?=[^a-zA-Z0-9])"
)


def clean(text: str) -> str:
    """The answer with its signs and commands in one spelling, with single spaces."""
    if _PLAIN_FIGURE.fullmatch(text):
        return text.strip()
    if len(text) < _SHORT and not text.isascii() and (ruling := RULINGS.get(_AROUND.sub("", text))) is not None:
        return ruling
    if "&" in text:
        text = _ENTITY.sub(lambda m: html.unescape(m[0]), text)
    text = in_ascii(text) if not text.isascii() else text
    text = mended(text)
    text = separated(with_unit_products(with_units(text)))
    if "^" in text:
        text = _POWER_FIRST.sub(r"\1_\3^\2", text)
    if "\\" in text or "$" in text or "{" in text or "~" in text:
        text = _latex(text)
    if len(text) < _MAX_RECURRING and ("..." in text or "\\ldots" in text):
        text = _AND_SO_ON.sub(r"\\ldots ", _RECURRING.sub(r"\1\\overline{\2}", text))
    text = _unwrap(_SPACES.sub(" ", text).strip())
    if (formula := chemical(text)) is not None:
        return formula
    spelled = respell(bare(text))
    return spelled if spelled == text else _unwrap(spelled)


def canonical(cleaned: str) -> str:
    """The key by which two cleaned answers are compared as strings, without spaces that separate nothing."""
    text = _TEXT.sub("{", cleaned)
    text = text.replace(", ", ",\x00") if re.search(r"\d, \d", text) else text
    text = re.sub(r"(?<=[0-9A-Za-z]) (?=[0-9A-Za-z])", "\x00", text).replace(" ", "")
    text = re.sub(r"\{([0-9A-Za-z])\}(?![0-9])", r"\1", text)
    return text.replace("\x00", " ")


def _latex(text: str) -> str:
    text = text.replace("\\!", "").replace("\\textdollar", "\\$")
    if "{" in text:
        text = _BRACED_SIGN.sub(lambda m: m[1] or m[2], _BRACED_MARK.sub(r"\1", text))
    if "$" in text and len(re.findall(r"(?<!\\)\$", text)) == 1:
        text = _LONE_DOLLAR.sub(r"\\$", text)
    if "\\begin" in text:
        text = _OPEN_CASES.sub(r"\\begin{cases}\2\\end{cases}", text)
    if "\\set" in text:
        text = _SET.sub(r"\\{\1\\}", text)
    if "circled" in text:
        text = _CIRCLED.sub(lambda m: chr(0x245F + int(m[1])), text)
    text = _NOISE.sub("", text)
    text = _SPACING.sub(lambda m: f"{m[1] or ''} ", text)
    text = _RENAMED.sub(lambda m: _PLAIN[m.lastgroup or ""], text)
    text = _FONT.sub(lambda m: f"\\text{{{m[1]}}}" if len(m[1].strip()) > 1 else f" {m[1].strip()} ", text)
    text = _TEXT.sub(r"\\text{", _without_nested_fonts(text))
    text = _inner_box(text) if "box" in text else text
    return _MATH_MARKS.sub(" ", text) if "$" in text or "\\(" in text or "\\[" in text else text


def _without_nested_fonts(text: str) -> str:
    """Replace a font around nested braces: a unit with powers becomes a text, anything else loses the font."""
    index = 0
    while (match := _NESTED_FONT.search(text, index)) is not None:
        close = matching_brace(text, match.end())
        if close < 0:
            break
        inner = text[match.end() + 1 : close]
        plain = re.sub(r"[{}]", "", inner.replace("\\cdot", " "))
        words = re.findall(r"[A-Za-z]+", plain)
        is_unit = bool(words) and all(is_unit_word(word) for word in words)
        new = f"\\text{{{plain}}}" if is_unit else f"{{{inner}}}"
        text = text[: match.start()] + new + text[close + 1 :]
        index = match.start() + 1
    return text


def _inner_box(text: str) -> str:
    r"""Replace a single box within an answer, as in `n = \boxed{7}`, by its content."""
    return _BOX.sub("{", text) if len(_BOX.findall(text)) == 1 else text


def _unwrap(text: str) -> str:
    """Remove what surrounds an answer: markdown bold, a box, outer braces, a full stop."""
    for _ in range(8):
        before = text
        text = text.strip().rstrip(".,;:").strip()
        text = text if _FACTORIAL.search(text) else text.rstrip("!").strip()
        if text.endswith("\\"):
            text = text.rstrip("\\ ")
        for mark in ("**", "__", "`", '"'):
            if (
                len(text) > 2 * len(mark)
                and text.startswith(mark)
                and text.endswith(mark)
                and mark not in text[len(mark) : -len(mark)]
            ):
                text = text[len(mark) : -len(mark)]
        if (box := _BOX.match(text)) and matching_brace(text, box.end() - 1) == len(text) - 1:
            text = text[box.end() : -1]
        elif (inner := _TEXT.match(text)) and matching_brace(text, inner.end() - 1) == len(text) - 1:
            text = text[inner.end() : -1]
        elif text.startswith("{") and matching_brace(text, 0) == len(text) - 1:
            text = text[1:-1]
        if text == before:
            break
    return text


def matching_brace(text: str, start: int) -> int:
    """Index of the brace that closes the one at `start`, or -1; escaped braces don't count."""
    depth, index = 0, start
    while index < len(text):
        char = text[index]
        if char == "\\":
            index += 2
            continue
        depth += (char == "{") - (char == "}")
        if depth == 0:
            return index
        index += 1
    return -1
