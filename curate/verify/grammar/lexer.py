"""Splits a cleaned answer into tokens: letters become variables, functions or words, figures become numbers.

A run of letters is a function name, a word (four letters or more, or a known unit), or a product of one-letter
variables. The lexer never fails on a word; it raises `UnreadableError` on an unknown sign.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, NamedTuple

from curate.verify.nodes import TooLargeError, UnreadableError
from curate.verify.spelling.normalise import matching_brace
from curate.verify.vocabulary.units import is_unit_word
from curate.verify.vocabulary.words import spoken_number

FUNCTIONS: Final = frozenset(
    "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan arccot asin acos atan ln lg log exp sqrt max min "
    "gcd lcm abs floor ceil det dim deg cis".split()
)
_NAMED: Final = {"pi": "pi", "inf": "infty", "infinity": "infty", "oo": "infty", "infty": "infty", "choose": "choose"}
_CONNECTORS: Final = {
    "or": "or",
    "and": "and",
    "或": "or",
    "或者": "or",
    "和": "and",
    "与": "and",
    "及": "and",
    "且": "and",
}
_LEADING_CONNECTOR: Final = re.compile(r"(or|and)\s+(.+)", re.IGNORECASE | re.DOTALL)
_TRAILING_CONNECTOR: Final = re.compile(r"([A-Za-z]+)[ ,]+(or|and)", re.IGNORECASE)
_TOKEN: Final = re.compile(
    r"(?P<sci>(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+(?![\w({^]))"
    r"|(?P<num>\d+(?:,\d{3})+(?![\d])(?:\.\d+)?(?!,\d)|\d+\.\d+|\d+\.(?!\d)|\.\d+|\d+)"
    r"|(?P<row>\\\\(?:\[[^\]]*\])?|\\(?=[-\d]))"
    r"|(?P<text>\\text\{)"
    r"|(?P<env>\\(?:begin|end)\{[a-zA-Z*]+\}(?:\{[clr|@ ]*\})?)"
    r"|(?P<blackboard>\\(?:mathbb|Bbb)\s*\{?\s*[A-Z]\s*\}?"
    r"(?:\s*[\^_]\s*(?:\{\s*(?:[-+*]|(?:>|<|\\ge ?|\\le ?)\s*0)\s*\}|[-+*](?![\w\\(])))?)"
    r"|(?P<cmd>\\[a-zA-Z]+)"
    r"|(?P<esc>\\[{}$%#&_|])"
    r"|(?P<word>[A-Za-z]+)"
    r"|(?P<cjk>[\u4e00-\u9fff①-⑳]+)"
    r"|(?P<ellipsis>\.\.\.+)"
    r"|(?P<op>\*\*|<=|>=|!=|==|->|[-+*/^_()\[\]{}|!,;:=<>%'&≡])"
    r"|(?P<space>\s+)"
)
_MAX_FIGURES: Final = 400
_MAX_EXPONENT_FIGURES: Final = 9
_FIGURES: Final = re.compile(r"\d[\d.,/]*")
_BASED: Final = re.compile(
    r"(?<![A-Za-z\\])(?P<digits>[A-Z]*[0-9][0-9A-Z]*)_(?:\{(?=\d+\}))?(?P<base>\d{1,2})\}?(?![\w{^.])"
)
_OP: Final = {"**": "^", "<=": "\\le", ">=": "\\ge", "!=": "\\ne", "==": "=", "\\$": "\\$", "\\%": "%", "\\|": "|"}


class Token(NamedTuple):
    """kind: num, sym, cmd, text, conn, op, env, row, set, end. is_spaced: white space precedes it."""

    kind: str
    text: str
    is_spaced: bool


END: Final = Token("end", "", False)


def tokenize(cleaned: str, max_digits: int) -> list[Token]:
    """Split a cleaned answer into tokens; raises `UnreadableError`, or `TooLargeError` beyond `max_digits`."""
    tokens: list[Token] = []
    index, is_spaced = 0, False
    while index < len(cleaned):
        if (numeral := _numeral(cleaned, index)) is not None:
            tokens.append(Token("based", f"{numeral['digits']}_{numeral['base']}", is_spaced))
            index, is_spaced = numeral.end(), False
            continue
        match = _TOKEN.match(cleaned, index)
        if match is None:
            raise UnreadableError(cleaned[index : index + 10])
        kind, text = match.lastgroup or "", match.group()
        index = match.end()
        if kind == "space":
            is_spaced = True
            continue
        if kind == "text":
            close = matching_brace(cleaned, index - 1)
            if close < 0:
                raise UnreadableError("open \\text")
            text, index = cleaned[index:close], close + 1
        if kind in ("num", "sci") and _num_digits(text) > max_digits:
            raise TooLargeError("a number with too many digits")
        tokens.extend(_tokens(kind, text, is_spaced, tokens))
        is_spaced = False
    return tokens


def _num_digits(text: str) -> int:
    """The number of digits of a figure written in full: 1e400003040 has 400 million."""
    mantissa, _, exponent = text.lower().partition("e")
    exponent = exponent.lstrip("+-0")
    return len(mantissa) + (int(exponent or 0) if len(exponent) < _MAX_EXPONENT_FIGURES else 10**_MAX_EXPONENT_FIGURES)


def _tokens(kind: str, text: str, is_spaced: bool, before: list[Token]) -> list[Token]:
    if kind in ("num", "sci"):
        return _figures(text, is_spaced, before)
    if kind == "word":
        return _word(text, is_spaced, before)
    if kind in ("text", "cjk"):
        return _text(text, is_spaced, before)
    if kind in ("cmd", "esc", "op"):
        return [_command(text, is_spaced)]
    if kind == "blackboard":
        return [Token("set", _number_set(text), is_spaced)]
    return [Token(kind, text, is_spaced)]


def _numeral(cleaned: str, index: int) -> re.Match[str] | None:
    """A numeral with its base at this index, if all its digits are valid in the base: 1011_2, 2F_{16}."""
    match = _BASED.match(cleaned, index) if cleaned[index].isalnum() else None
    if match is None or not 2 <= int(match["base"]) <= 36:
        return None
    return match if all(int(digit, 36) < int(match["base"]) for digit in match["digits"]) else None


def _number_set(text: str) -> str:
    """The name of a number set: R, Z, R+, R>=0, N+ ..."""
    name = re.sub(r"\\(?:mathbb|Bbb)|[{}\s^_]", "", text).replace("\\ge", ">=").replace("\\le", "<=")
    name = name.replace(">0", "+").replace("<0", "-") if "=" not in name else name
    return name.replace("*", "+") if name[0] in "NZ" else name


def _figures(text: str, is_spaced: bool, before: list[Token]) -> list[Token]:
    if "," not in text or not _is_listed(text, before):
        return [Token("num", text.replace(",", ""), is_spaced)]
    first, *others = text.split(",")
    out = [Token("num", first, is_spaced)]
    for part in others:
        out += [Token("op", ",", False), Token("num", part, False)]
    return out


def _is_listed(text: str, before: list[Token]) -> bool:
    """Whether commas in figures separate items: inside brackets, after another comma, or if they group no thousands."""
    depth = sum((t.text in _OPEN) - (t.text in _CLOSE) for t in before if t.kind == "op")
    first = text.partition(",")[0]
    is_item = bool(before) and before[-1].text in (",", ";")
    return depth > 0 or is_item or first.startswith("0") or len(first) > 3


_OPEN: Final = ("(", "[", "\\{")
_CLOSE: Final = (")", "]", "\\}")


def _word(text: str, is_spaced: bool, before: list[Token]) -> list[Token]:
    lower = text.lower()
    if (named := _NAMED.get(text) or (_NAMED.get(lower) if len(text) > 3 else None)) is not None:
        return [Token("cmd", f"\\{named}", is_spaced)]
    if lower in _CONNECTORS and (is_spaced or not before or before[-1].kind in ("num", "text", "op")):
        return [Token("conn", _CONNECTORS[lower], is_spaced)]
    if text in FUNCTIONS and not ((is_unit_word(text) or text == "deg") and _follows_value(before)):
        return [Token("cmd", f"\\{text}", is_spaced)]
    if text == "U" and before and before[-1].text in (")", "]"):
        return [Token("cmd", "\\cup", is_spaced)]
    if (number := spoken_number(text)) is not None:
        return [Token("num", number, is_spaced)]
    if _is_word(text, is_spaced, before):
        return [Token("text", text, is_spaced)]
    for name in ("sqrt", "sin", "cos", "tan", "log", "ln", "exp", "pi"):  # "2xsin" and "xpi" without a space
        if lower == text and name in text and len(text) <= len(name) + 2:
            left, _, right = text.partition(name)
            return [*_letters(left, is_spaced), Token("cmd", f"\\{name}", is_spaced), *_letters(right, False)]
    return _letters(text, is_spaced)


def _is_word(text: str, is_spaced: bool, before: list[Token]) -> bool:
    """Whether letters form a word. Two or three letters are variables unless they are a unit after a value."""
    if text.lower() == "no":
        return True
    if len(text) > 1 and (is_unit_word(text) or text == "deg") and _follows_value(before, text):
        return True
    if len(text) == 1:
        return text == "a" and is_spaced and bool(before) and before[-1].text == "of"
    if (text in _CURRENCIES and not before) or (text == "of" and is_spaced and _follows_value(before)):
        return True
    in_order = sorted(text) if len(text) <= _MAX_PRODUCT else text
    if text.isupper() or all(ord(b) - ord(a) in (0, 1) for a, b in pairwise(in_order)):
        return len(text) > 5  # a product such as abcd, or the name of a polygon
    return len(text) >= 4 or (
        len(text) == 3
        and (is_spaced or not before)
        and text.lower() not in _TRIPLES
        and any(v in text.lower() for v in "aeiou")
    )


def _follows_value(before: list[Token], text: str = "") -> bool:
    """Whether letters here follow a value, as its unit; after 18/ only if they cannot be a product."""
    if before and before[-1].text in ("{", "("):
        before = before[:-1]
    if len(before) > 1 and before[-1].text == "/" and before[-2].kind in ("text", "num"):
        return before[-2].kind == "text" or text in _PER
    return bool(before) and (before[-1].kind in ("num", "text") or before[-1].text in (")", "}", "\\pi", "%"))


_PER: Final = frozenset(["day", "hr", "min", "lb", "kg", "oz", "yr", "gal"])
_CURRENCIES: Final = frozenset(["USD", "EUR", "GBP", "CNY", "RMB", "INR", "JPY"])
_MAX_PRODUCT: Final = 4  # bca is a product, as abc is
_TRIPLES: Final = frozenset("abc xyz pqr mno abd ace ade bcd".split())


def _letters(text: str, is_spaced: bool) -> list[Token]:
    return [Token("sym", char, is_spaced and not i) for i, char in enumerate(text)]


def _text(text: str, is_spaced: bool, before: list[Token]) -> list[Token]:
    stripped = " ".join(text.split()).strip(" ,.;:")
    if stripped.lower() in _CONNECTORS:
        return [Token("conn", _CONNECTORS[stripped.lower()], is_spaced)]
    if match := _TRAILING_CONNECTOR.fullmatch(stripped):
        return [*_text(match[1], is_spaced, before), Token("conn", match[2].lower(), True)]
    if match := _LEADING_CONNECTOR.match(stripped):
        return [Token("conn", _CONNECTORS[match[1].lower()], is_spaced), *_text(match[2], True, before)]
    if stripped in FUNCTIONS and not _follows_value(before):
        return [Token("cmd", f"\\{stripped}", is_spaced)]
    if stripped in ("万", "亿") and before and before[-1].kind == "num":
        return [Token("text", stripped, True)]  # 700万: a scale
    if (number := spoken_number(stripped)) is not None:
        return [Token("num", number, is_spaced)]
    if _FIGURES.fullmatch(stripped):
        return tokenize(stripped, _MAX_FIGURES)
    separator = [Token("op", ",", False)] if text.rstrip().endswith(",") else []
    return [Token("text", stripped, True), *separator] if stripped else separator


def _command(text: str, is_spaced: bool) -> Token:
    text = _OP.get(text, text)
    if text in ("\\land", "\\lor"):
        return Token("conn", "and" if text == "\\land" else "or", is_spaced)
    if text in ("\\infin", "\\Infinity"):
        text = "\\infty"
    is_command = text.startswith("\\") and text[1:].isalpha()
    return Token("cmd" if is_command else "op", text, is_spaced)
