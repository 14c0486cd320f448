"""Mutations that change or drop a part of an answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Final

_UNITS: Final = tuple("cm m km mm g kg s min h N J W mW MW Pa L mL ft in".split())
_WORDS: Final = (("maximum", "minimum"), ("increasing", "decreasing"), ("odd", "even"), ("and", "or"), ("less", "more"))
_FUNCTIONS: Final = (("sin", "cos"), ("ln", "log"), ("sqrt", "pi"), ("cup", "cap"), ("tan", "cot"), ("max", "min"))


def _replaced(text: str, source: Random, pattern: str, change: Callable[[str], str]) -> str:
    """One match of a pattern, changed."""
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    match = source.choice(found)
    return text[: match.start()] + change(match[0]) + text[match.end() :]


def _digit(text: str, source: Random) -> str:
    return _replaced(text, source, r"\d", lambda old: source.choice([d for d in "0123456789" if d != old]))


def _digit_dropped(text: str, source: Random) -> str:
    return _replaced(text, source, r"\d", lambda _: "")


def _digit_doubled(text: str, source: Random) -> str:
    return _replaced(text, source, r"[1-9]", lambda old: old + old)


def _sign_dropped(text: str, source: Random) -> str:
    return _replaced(text, source, r"-|\\pm|\\mp", lambda _: "")


def _sign_added(text: str, source: Random) -> str:
    return _replaced(text, source, r"(?<![\w.^_{-])\d", lambda old: f"-{old}")


def _sign_swapped(text: str, source: Random) -> str:
    return _replaced(text, source, r"(?<=[\w)}] )?[+-]", lambda old: "-" if old == "+" else "+")


def _relation(text: str, source: Random) -> str:
    signs = ("<", ">", r"\le ", r"\ge ", "=", r"\ne ")
    pattern = r"\\(?:leq?|geq?|neq?)(?![a-z]) ?|[<>=]"
    return _replaced(text, source, pattern, lambda old: source.choice([s for s in signs if s.strip() != old.strip()]))


def _bracket(text: str, source: Random) -> str:
    return _replaced(text, source, r"(?<!\\)[\[\]()]", lambda old: {"[": "(", "(": "[", "]": ")", ")": "]"}[old])


def _operator(text: str, source: Random) -> str:
    pattern = r"\\cdot|\\times|[+*/]"
    return _replaced(text, source, pattern, lambda old: source.choice([s for s in "+-*/" if s != old]))


def _letter(text: str, source: Random) -> str:
    pattern = r"(?<![A-Za-z\\])[a-z](?![A-Za-z])"
    return _replaced(text, source, pattern, lambda old: source.choice([c for c in "abknxyzt" if c != old]))


def _case(text: str, source: Random) -> str:
    return _replaced(text, source, r"(?<![A-Za-z\\])[A-Za-z]{1,2}(?![A-Za-z{])", str.swapcase)


def _exponent(text: str, source: Random) -> str:
    return _replaced(text, source, r"\^\{?\d", lambda old: old[:-1] + str((int(old[-1]) + 1) % 10))


def _unit(text: str, source: Random) -> str:
    pattern = rf"(?<![A-Za-z\\])(?:{'|'.join(_UNITS)})(?![A-Za-z])"
    return _replaced(text, source, pattern, lambda old: source.choice([u for u in _UNITS if u != old]))


def _word(text: str, source: Random) -> str:
    pairs = [pair for pair in (*_WORDS, *_FUNCTIONS) if pair[0] in text or pair[1] in text]
    if not pairs:
        return text
    one, other = source.choice(pairs)
    return text.replace(one, other, 1) if one in text else text.replace(other, one, 1)


def _word_dropped(text: str, source: Random) -> str:
    return _replaced(text, source, r"(?<![A-Za-z\\])[A-Za-z]{3,}(?![A-Za-z{])", lambda _: "")


def _item_dropped(text: str, source: Random) -> str:
    parts = re.split(r"(,|;|\bor\b|\band\b|\\cup|\\\\|&)", text)
    if len(parts) < 3:
        return text
    index = source.randrange(0, len(parts), 2)
    return "".join(parts[: max(index - 1, 0)] + parts[index + (1 if index else 2) :])


def _side_dropped(text: str, source: Random) -> str:
    return _replaced(text, source, r"^[^=<>]*[=<>]|[=<>][^=<>]*$", lambda _: "")


def _mark_dropped(text: str, source: Random) -> str:
    return _replaced(text, source, r"\\pi|\\circ|\\%|%|!|\^\{?\d\}?|\\sqrt|'|i(?![a-z])|\\infty", lambda _: "")


def _command_dropped(text: str, source: Random) -> str:
    return _replaced(text, source, r"\\[a-z]+", lambda _: "")


def _char_dropped(text: str, source: Random) -> str:
    index = source.randrange(len(text))
    return text[:index] + text[index + 1 :]


def _chars_swapped(text: str, source: Random) -> str:
    if len(text) < 2:
        return text
    index = source.randrange(len(text) - 1)
    return text[:index] + text[index + 1] + text[index] + text[index + 2 :]


def _tail_dropped(text: str, source: Random) -> str:
    return text[: source.randrange(1, len(text))] if len(text) > 1 else text


CHANGES: Final[dict[str, Callable[[str, Random], str]]] = {
    "digit": _digit,
    "digit dropped": _digit_dropped,
    "digit doubled": _digit_doubled,
    "sign dropped": _sign_dropped,
    "sign added": _sign_added,
    "sign swapped": _sign_swapped,
    "relation": _relation,
    "bracket": _bracket,
    "operator": _operator,
    "letter": _letter,
    "case": _case,
    "exponent": _exponent,
    "unit": _unit,
    "word": _word,
    "word dropped": _word_dropped,
    "item dropped": _item_dropped,
    "side dropped": _side_dropped,
    "mark dropped": _mark_dropped,
    "command dropped": _command_dropped,
    "character dropped": _char_dropped,
    "characters swapped": _chars_swapped,
    "tail dropped": _tail_dropped,
}
