"""Removes words without content around an answer: "the value of n is 7", "exactly 7", "共12个", "for all x".

Words that negate or hedge are never removed.
"""

from __future__ import annotations

import re
from typing import Final

from curate.verify.vocabulary.spoken import CHINESE, number_in_words

_NOUNS: Final = (
    "answer|value|result|solution|solutions|ratio|total|sum|product|difference|quotient|remainder|area|perimeter|volume|length|"
    "width|height|distance|speed|probability|number|cost|price|average|mean|median|mode|slope|angle|measure|radius|"
    "diameter|circumference|expression|equation|function|domain|range|maximum|minimum|limit|integral|derivative|"
    "determinant|coordinates|point|time|day|year|age|percentage|interval|set"
)
_NAMED: Final = re.compile(
    rf"^(?:(?:so|thus|hence|therefore|then|clearly),? )?(?:(?:the|our|its|my) )?(?:[a-z]+ ){{0,2}}(?:{_NOUNS})"
    r"(?: (?:of|for|to|from|in|between) (?:[A-Za-z0-9]+ ){0,4}?[A-Za-z0-9]+)?"
    r"(?: (?:is|are|equals|was|would be|=)(?: equal to| therefore| thus| simply| just)?:?|:) (?=\S)",
    re.IGNORECASE,
)
_NEGATED: Final = re.compile(
    r"\b(?:not|no|never|wrong|incorrect|false|other|first|initial|if|unless|or)\b", re.IGNORECASE
)
_LETTER_IS: Final = re.compile(r"^\$?(?:([a-z])\$? ?: ?|([a-zA-Z])\$? (?:is|equals)(?: equal to)? )(?=[-\d\\(])")
_IT_IS: Final = re.compile(
    r"^(?:it is|it's|it was|this is|that is|they are|there (?:is|are|exists?)|on|in|at) (?=[A-Za-z\\])", re.IGNORECASE
)
_ONLY: Final = re.compile(
    r"^(?:exactly|only|just|a total of|total of|precisely|altogether) (?=[\d\\$-])", re.IGNORECASE
)
_FOR_ALL: Final = re.compile(
    r"[, ]*(?:\\text\{ ?)?\bfor (?:all|any|every|each) "
    r"(?:real |positive |integers? |numbers? |values? of |constants? )*\}? ?\$?[a-z]\$?\}?$"
)
_CHINESE_LEAD: Final = re.compile(r"^(?:一共|总共|共计|合计|共有|共|有|为|是|等于|应为|应填|填)(?=[\d\\$-])")
_COUNTERS: Final = (
    "个只人元倍种次天年岁米厘件本张条块支台辆名位朵棵颗枝根头匹页题分秒时周月吨升度平立千公毫小道"  # one string,
    "排间层包箱袋瓶杯套组段双对"  # used as a set of characters
)
_CHINESE_NUMBER: Final = re.compile(rf"^([{CHINESE}]+)(?!分之)(?=[{_COUNTERS}][\u4e00-\u9fff]{{0,3}}$)")
_RESTATED: Final = re.compile(r"^(?P<figures>-?[\d,.]+) ?\((?P<words>[A-Za-z][A-Za-z -]*)\)$")
_NEGATIVE: Final = re.compile(r"^(?:(?:negative|minus) |负 ?)(?=\S)", re.IGNORECASE)
_MAX_WORDS: Final = 10
_QUOTED: Final = re.compile(r"^'([^']+)'$|^\*([A-Za-z0-9 ]+)\*$")


def bare(text: str) -> str:
    """The answer without words that have no content; the text itself if there are none."""
    if text[:1].isdigit() or text[:1] == "-":
        return _after_figures(text)
    if match := _QUOTED.match(text):
        text = match[1] or match[2]
    text = _NEGATIVE.sub("-", _CHINESE_LEAD.sub("", text))
    if (match := _CHINESE_NUMBER.match(text)) and (figures := number_in_words(match[1])):
        text = figures + text[match.end() :]
    text = f"-{number_in_words(text[1:]) or text[1:]}" if text[:1] == "-" else text
    if not re.match(r"[A-Za-z$\\]", text):
        return _FOR_ALL.sub("", text) if text[:1] in "([" else text
    text = _LETTER_IS.sub(r"\1\2=", _in_figures(_ONLY.sub("", text)))
    plain = re.sub(r"\\text\{([^{}]*)\}", r" \1 ", text) if text.startswith("\\text{") else text
    plain = " ".join(plain.split())
    if (match := _NAMED.match(plain)) and not _NEGATED.search(match[0]):
        text = plain[match.end() :]
    return _FOR_ALL.sub("", text) if " for " in text or "{for " in text else text


def _in_figures(text: str) -> str:
    """The text with leading number words of several parts as figures: twenty-five percent, two hundred and five km."""
    words = text.split(" ")
    if number_in_words(words[0].partition("-")[0]) is None:
        return text
    for end in range(min(len(words), _MAX_WORDS), 0, -1):
        if (end > 1 or "-" in words[0]) and (figures := number_in_words(" ".join(words[:end]))) is not None:
            return " ".join([figures, *words[end:]])
    return text


def _after_figures(text: str) -> str:
    match = _RESTATED.match(text) if "(" in text else None
    is_same = match is not None and number_in_words(match["words"]) == match["figures"].replace(",", "")
    return match["figures"] if match is not None and is_same else text


def without_lead(text: str) -> str:
    """The text without a leading "it is", "on" and the like."""
    return _IT_IS.sub("", text)
