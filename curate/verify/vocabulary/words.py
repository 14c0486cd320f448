"""Compares answers that are words: names, yes and no, no solution, option letters, number words, Chinese."""

from __future__ import annotations

import re
from typing import Final

from curate.verify.vocabulary.phrases import without_lead
from curate.verify.vocabulary.spoken import number_in_words
from curate.verify.vocabulary.units import is_unit_word

_LETTER: Final = re.compile(r"[\\{(\[（\s]*(?P<letter>[A-J])[})\]）.\s:]*")
_LETTER_AND_CONTENT: Final = re.compile(
    r"[\\{(\[\s]*(?P<letter>[A-J])\s*[)\].:,、]+[})\s]*(?:[:=]\s*|-\s+(?=[A-Za-z]))?(?P<content>\S.*)", re.DOTALL
)
_CHOSEN: Final = re.compile(
    r"(?:option|choice|answer|the answer is|the correct (?:answer|option|choice) is|选项|答案是?|故选|选)"
    r"\s*[:：]?\s*[\\{(\[]*\s*([A-J])\s*[})\].]*",
    re.IGNORECASE,
)
_ANOTHER: Final = re.compile(
    r"^(?:or|not)\b|(?:^|[\s,(/]|\bor\b|\band\b)(?!(?:A|I) (?!or\b|and\b|nor\b)[a-z]{2,})[A-J](?:[\s,).]|$)"
)
_ENOUGH_WORDS: Final = 3
_SYNONYMS: Final = (
    (
        "nosolution",
        "nosolutions",
        "norealsolution",
        "norealsolutions",
        "nosolutionexists",
        "nosolutionsexist",
        "thereexistsnosolution",
        "therearenosolutions",
        "thereisnosolution",
        "emptyset",
        "theemptyset",
        "无解",
        "没有解",
        "方程无解",
        "无实数解",
        "无实数根",
        "noroots",
        "norealroots",
        "none",
        "nullset",
        "空集",
    ),
    (
        "doesnotexist",
        "dne",
        "不存在",
        "undefined",
        "notdefined",
        "limitdoesnotexist",
        "thelimitdoesnotexist",
        "itdoesnotexist",
        "nexists",
    ),
    ("diverges", "divergent", "itdiverges", "theseriesdiverges", "seriesdiverges", "发散"),
    ("converges", "convergent", "itconverges", "theseriesconverges", "seriesconverges", "收敛"),
    (
        "infinitelymany",
        "infinitelymanysolutions",
        "infinitesolutions",
        "infinitenumberofsolutions",
        "infinite",
        "infinitelymanyvalues",
        "无穷多解",
        "有无穷多解",
        "无数解",
        "有无数解",
        "有无数个解",
        "有无穷多个解",
        "无穷多个解",
    ),
    ("yes", "是", "是的"),
    ("no", "否", "不是"),
    ("true", "正确", "对"),
    ("false", "错误", "错", "不正确"),
    ("cannotbedetermined", "notenoughinformation", "insufficientinformation", "无法确定", "不能确定"),
    ("increasing", "递增", "增函数", "单调递增"),
    ("decreasing", "递减", "减函数", "单调递减"),
)
_CLASS: Final = {word: group[0] for group in _SYNONYMS for word in group}
_TEXT: Final = re.compile(r"\\text\{([^{}]*)\}")
_SETS: Final = {
    **dict.fromkeys(
        (
            "allrealnumbers",
            "allreals",
            "reals",
            "thereals",
            "realnumbers",
            "therealnumbers",
            "anyrealnumber",
            "setofallrealnumbers",
            "thesetofallrealnumbers",
            "thesetofrealnumbers",
            "r",
            "全体实数",
            "任意实数",
            "一切实数",
            "所有实数",
            "实数集",
        ),
        "R",
    ),
    **dict.fromkeys(("allintegers", "integers", "theintegers", "全体整数", "所有整数"), "Z"),
    **dict.fromkeys(("positiverealnumbers", "allpositiverealnumbers", "positivereals", "allpositivereals"), "R+"),
    **dict.fromkeys(("negativerealnumbers", "allnegativerealnumbers", "negativereals", "allnegativereals"), "R-"),
    **dict.fromkeys(("nonnegativerealnumbers", "allnonnegativerealnumbers", "nonnegativereals"), "R>=0"),
    **dict.fromkeys(("positiveintegers", "allpositiveintegers", "正整数", "全体正整数"), "N+"),
    **dict.fromkeys(_SYNONYMS[0], "empty"),
}
_NUMBERED: Final = re.compile(r"[A-Za-z]{3,}(?: [A-Za-z]+)* \d{1,4}(?:, \d{4})?")  # October 30, Team 5
_OPPOSITES: Final = frozenset(["yes", "no", "true", "false"])
_LEADING_WORD: Final = re.compile(r"(yes|no|true|false)[,.;:](.*)", re.IGNORECASE | re.DOTALL)
_REVOKED: Final = re.compile(r"\b(?:yes|no|true|false|or|but|maybe|unless)\b", re.IGNORECASE)
_SUBJECT: Final = re.compile(r"^(?:该|此|这个|原)?(?:不等式组?|方程组?)(?=无|没有)")
_MATHEMATICS: Final = re.compile(r"[\d=<>^_+*/|±%]|\\(?!emptyset)[a-z]|(?<![A-Za-z])-(?=\s*[A-Za-z(])")
_WORD: Final = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3,}")
_SYMBOLS: Final = re.compile(
    r"(?!(?i:no|ok|up|on|pi|ln)$)[A-Za-z]{2}|([A-Za-z])(?i:\1)(?:([A-Za-z])(?i:\2))*"
)  # CO, Aa, AaBb
_ARTICLE: Final = re.compile(r"^(?:the|a|an)\s+(?=\S)", re.IGNORECASE)


def option_letter(cleaned: str) -> str | None:
    """The letter of a choice: B, (B), option B, "B. 12"; None unless the text is one choice."""
    text = _TEXT.sub(r"\1", cleaned).strip()
    if match := _LETTER.fullmatch(text):
        return match["letter"]
    if match := _CHOSEN.fullmatch(text):
        return match[1].upper()
    match = _LETTER_AND_CONTENT.fullmatch(text)
    if match is None or _names_more(match["content"]) or (_lists(match) and not is_prose(match["content"])):
        return None
    return match["letter"]


def option_and_content(cleaned: str) -> tuple[str, str] | None:
    """(letter, content) of a ground truth such as (D) 12; None unless it has both."""
    match = _LETTER_AND_CONTENT.fullmatch(_TEXT.sub(r"\1", cleaned).strip())
    if match is None or _names_more(match["content"]) or _lists(match):
        return None
    return match["letter"], match["content"]


def starts_with_words(text: str, beginning: str) -> bool:
    """Whether a text of words starts with another of three words or more: an option of which the end is left out."""
    words, first = (re.findall(r"[a-z]+", t.casefold()) for t in (text, beginning))
    is_all_words = all(re.fullmatch(r"[A-Za-z ,.'-]+", t) for t in (text, beginning))
    return is_all_words and len(first) >= _ENOUGH_WORDS and words[: len(first)] == first


def _lists(match: re.Match[str]) -> bool:
    """Whether a comma separates a letter from its content: (H), 7 is a list."""
    return "," in match[0][: match.start("content") - match.start()]


def is_letter_alone(cleaned: str) -> bool:
    """Whether a ground truth is an option letter and nothing else."""
    return _LETTER.fullmatch(_TEXT.sub(r"\1", cleaned).strip()) is not None


def _names_more(content: str) -> bool:
    """Whether the content of an option names another one; "A score" and "I am" are words."""
    return _ANOTHER.search(content) is not None


def named_set(text: str) -> str | None:
    """R, Z, "empty" and the like for words that name a set of numbers; else None."""
    return _SETS.get("".join(re.findall(r"[^\W_]", text)).lower())


def spoken_number(cleaned: str) -> str | None:
    """Figures for a number in words, such as seven, forty-two, 七, 二十五; else None."""
    return number_in_words(_TEXT.sub(r"\1", cleaned))


def is_prose(cleaned: str) -> bool:
    """Whether a text is words rather than mathematics: letters or Chinese, and no figure, sign or command."""
    text = _TEXT.sub(r" \1 ", cleaned)
    if re.search(r"[\d=<>^_\\+*/|]", text) and not re.search(r"[\u4e00-\u9fff]{3}", text):
        words = re.findall(r"[A-Za-z]{3,}", text)
        return len(words) >= 4 and not re.search(r"\\[a-z]", text)
    return re.search(r"[A-Za-z]{2,}|[\u4e00-\u9fff①-⑳]", text) is not None


def is_phrase(cleaned: str) -> bool:
    """Whether a text is words, or words and a number (no solution, October 30), but no list and no unit."""
    words = _TEXT.sub(r" \1 ", cleaned).split()
    if _NUMBERED.fullmatch(" ".join(words)):
        return not is_unit_word(words[0])
    if len(words) < 2 or not all(word.isalpha() and word.isascii() for word in words):
        return False
    return max(map(len, words)) >= 4 and not {"or", "and"} & set(words) and number_in_words(words[0]) is None


def means_infinitely_many(text: str) -> bool:
    """Whether a text means "infinitely many"."""
    return _key(text, is_case_sensitive=False) == "infinitelymany"


def is_yes_or_no(text: str) -> bool:
    """Whether a truth is yes, no, true or false; text after that word in an answer is then only its reason."""
    return _key(text, is_case_sensitive=False) in _OPPOSITES


def num_words(cleaned: str) -> int:
    """The number of words of three letters or more in a text, without commands."""
    return len(re.findall(r"(?<![\\A-Za-z])[A-Za-z]{3,}", cleaned))


def differ_in_case(a: str, b: str) -> bool:
    """Whether two symbols of letters differ in their case alone: CO and Co, Aa and aa."""
    is_case = a != b and a.casefold() == b.casefold()
    return is_case and _SYMBOLS.fullmatch(a) is not None and _SYMBOLS.fullmatch(b) is not None


def same_words(a: str, b: str, *, is_case_sensitive: bool = False) -> bool:
    """Whether two answers are the same words, up to case, articles, punctuation and a few synonyms."""
    key_a, key_b = (_key(text, is_case_sensitive=is_case_sensitive) for text in (a, b))
    if key_a in _OPPOSITES:  # No, it is not. Yes, because ...
        match = _LEADING_WORD.match(b.strip())
        key_b = _CLASS.get(match[1].casefold(), "") if match and not _REVOKED.search(match[2]) else key_b
    return bool(key_a) and key_a == key_b


def _key(cleaned: str, *, is_case_sensitive: bool) -> str:
    """The letters and figures of words; of words with mathematics every sign, and the case of its letters too."""
    text = _ARTICLE.sub("", without_lead(" ".join(_TEXT.sub(r" \1 ", cleaned).split())))
    if _MATHEMATICS.search(text):
        text = text if is_case_sensitive else _WORD.sub(lambda match: match[0].casefold(), text)
        return re.sub(r"\s|[.,;:]+(?=\s|$)", "", text)
    is_case_sensitive = is_case_sensitive or _SYMBOLS.fullmatch(text) is not None
    text = "".join(re.findall(r"[^\W_]|[①-⑳]|\\emptyset", text))
    text = text if is_case_sensitive else text.casefold()
    if circled := re.findall("[①-⑳]", text):
        text = "".join(sorted(circled)) if not re.sub("[①-⑳和与及]", "", text) else text
    text = _SUBJECT.sub("", text)
    return _CLASS.get(text.removeprefix("\\"), text)
