r"""What says how a text looks and not what it asks, as fixed strings: LaTeX's fonts, rows and brackets, HTML, BBCode.

`curate.text.spelling` replaces them from left to right; of strings that begin alike the first of the table counts, so a
longer one comes before its beginning. They cost the same whether the table is short or long.
"""

from __future__ import annotations

from string import ascii_uppercase, digits
from typing import Final

_TAGS: Final = "br br/ p b i u em strong div span li ul ol table tbody tr td th center small big pre code".split()
_SHUT_ONLY: Final = "sup sub font a h1 h2 h3 h4".split()
_BBCODE: Final = "[list] [list=1] [list=a] [*] [center] [hide] [quote] [tex] [math] [latex] [img] [url]".split()
_SHUT_BBCODE: Final = "[/b] [/i] [/u] [/s] [/list] [/center] [/hide] [/quote] [/tex] [/math] [/latex] [/size]".split()
_OPEN_MATRIX: Final = ("\\begin{pmatrix}", "\\begin{bmatrix}", "\\begin{psmallmatrix}", "\\begin{bsmallmatrix}")
# a backslash and n in place of a line break, where no command begins like that
_BEHIND_BREAK: Final = (*ascii_uppercase, *digits, " ", "$", "(", "[", "-", "*", "\n")

_ENVIRONMENTS: Final = (
    "align alignat equation eqnarray gather multline center displaymath flalign split itemize enumerate matrix "
    "smallmatrix aligned alignedat gathered math"
).split()
_SIZES: Final = [size + side for size in ("\\bigg", "\\Bigg", "\\big", "\\Big") for side in ("l", "r", "m", "")]
_DOTS: Final = "\\ldots \\cdots \\dotsc \\dotsb \\dotsm \\dotsi \\dotso \\dots \\vdots \\ddots".split()
_NO_LAYOUT: Final = (  # what only begins like a string of the table
    "\\leftarrow \\leftrightarrow \\lefth \\rightharp \\rightl \\bigc \\bigt \\bigo \\bigv \\bigw \\bigs "
    "\\bigp \\les \\lea \\get \\gen \\neg \\nex \\nea \\new \\overl \\overr \\overb \\overs \\overa \\overp "
    "\\ltimes \\items \\rmo"
).split()
_GONE: Final = (
    "\\left \\right \\displaystyle \\textstyle \\limits \\nolimits \\qquad \\quad \\rm \\bf \\it \\cal \\hfill "
    "\\noindent"
).split()

LAYOUT: Final[dict[str, str]] = {
    **{string: string for string in _NO_LAYOUT},
    **dict.fromkeys(("\\r\\n", "\\n\\n"), " "),
    **{f"\\n{behind}": f" {behind}" for behind in _BEHIND_BREAK},
    **{f"<{tag}>": " " for tag in (*_TAGS, *(tag.upper() for tag in _TAGS), "br /", "BR /")},
    **{f"</{tag}>": " " for tag in (*_TAGS, *_SHUT_ONLY, *(tag.upper() for tag in _TAGS))},
    **dict.fromkeys(("<sup>", "<SUP>"), "^"),
    "<sub>": " ",
    "&lt;": "<", "&gt;": ">", "&amp;": " ", "&le;": "\\le ", "&ge;": "\\ge ", "&ne;": "\\ne ", "&times;": "\\times ",
    "&minus;": "-", "&ndash;": "-", "&mdash;": " ", "&quot;": " ", "&apos;": "'", "&#39;": "'", "&deg;": "^\\circ ",
    "&pi;": "\\pi ", "&radic;": "\\sqrt ", "&sup2;": "^2", "&sup3;": "^3", "&frac12;": "1/2", "&middot;": "\\cdot ",
    "&rsquo;": "'", "&lsquo;": "'", "&ldquo;": " ", "&rdquo;": " ", "&hellip;": "\\dots ",
    **dict.fromkeys((*_BBCODE, *_SHUT_BBCODE), " "),
    **dict.fromkeys(("\\left[\\begin{array}", "\\left(\\begin{array}"), "(\\begin{array}"),
    **dict.fromkeys(("\\left[ \\begin{array}", "\\left( \\begin{array}"), "(\\begin{array}"),
    **dict.fromkeys(("\\end{array}\\right]", "\\end{array}\\right)"), ")"),
    **dict.fromkeys(("\\end{array} \\right]", "\\end{array} \\right)"), ")"),
    **dict.fromkeys(("\\left\\{\\begin{array}", "\\left\\{ \\begin{array}"), " cases \\begin{array}"),
    **dict.fromkeys(("\\end{array}\\right.", "\\end{array} \\right."), " "),
    **dict.fromkeys(_OPEN_MATRIX, "("),
    **dict.fromkeys((mark.replace("begin", "end") for mark in _OPEN_MATRIX), ")"),
    **dict.fromkeys(("\\begin{vmatrix}", "\\end{vmatrix}"), "|"),
    "\\begin{cases}": " cases ", "\\end{cases}": " ",
    **dict.fromkeys(("\\mathbb", "\\mathcal", "\\mathscr", "\\mathfrak", "\\mathds", "\\Bbb"), " "),
    **dict.fromkeys(("\\substack", "\\nonumber", "\\notag", "\\hline", "\\item", "\\bullet", "\\cr"), " "),
    "\\over": "/",
    "\\lt": "<", "\\gt": ">",
    "\\lor": " vee ", "\\land": " wedge ", "\\longrightarrow": " to ", "\\rightarrow": " to ", "\\colon": ":",
    **dict.fromkeys(("\\mid", "\\vert", "\\lvert", "\\rvert"), "|"),
    **dict.fromkeys(("\\Vert", "\\lVert", "\\rVert"), " vert "),
    "\\varphi": " phi ", "\\varepsilon": " epsilon ", "\\vartheta": " theta ", "\\varnothing": " emptyset ",
    "\\backslash": " setminus ", "\\ast": "*",
    **dict.fromkeys(("\\bmod", "\\pmod", "\\mod"), " mod "),
    "-$": "-", "\\text{-}": "-", "non-": "non", "Non-": "non", "co-prime": "coprime",
    **{f"\\{edge}{{{name}{star}}}": " " for edge in ("begin", "end") for name in _ENVIRONMENTS for star in ("", "*")},
    **dict.fromkeys(("\\end{array}", "\\end{tabular}"), " "),
    **dict.fromkeys(_SIZES, " "),
    **dict.fromkeys(_GONE, " "),
    **dict.fromkeys(_DOTS, " dots "),
    **dict.fromkeys(("\\dfrac", "\\tfrac", "\\cfrac"), "\\frac"),
    **dict.fromkeys(("\\dbinom", "\\tbinom"), "\\binom"),
    **dict.fromkeys(("\\leqslant", "\\leqq", "\\leq", "\\le"), " le "),
    **dict.fromkeys(("\\geqslant", "\\geqq", "\\geq", "\\ge"), " ge "),
    **dict.fromkeys(("\\neq", "\\ne", "\\not=", "\\not ="), " ne "),
}  # fmt: skip
