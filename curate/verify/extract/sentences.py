"""The value that a sentence states: "The largest $n$ is 34", "There are 34 such integers"."""

from __future__ import annotations

import re
from typing import Final

_MATH: Final = re.compile(r"\$[^$]*\$|\\\(.*?\\\)|\\text\s*\{([^{}]*)\}")
_TEXT: Final = re.compile(r"\\text\s*\{([^{}]*)\}")
_SAYS: Final = re.compile(
    r"(?:\b(?:is|are|was|were|equals?|becomes?)|(?<=[\s}$])=|是|为|等于)(?![A-Za-z])[\s:：]*", re.IGNORECASE
)
_UNSURE: Final = re.compile(
    r"\b(?:not|no|never|neither|nor|or|if|unless|either|maybe|perhaps|could have|might|may|depends|less|more|greater|"
    r"fewer|least|most|over|under|between|than|except|about|approximately|around|roughly|both|and|minus|plus|times|"
    r"percent|half|twice|per)\b|n['’]t\b|不|或|且|至少|至多",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_NUMBER: Final = re.compile(r"[-−]?\\?[$£€¥]?\d(?:[\d,]*\d)?(?:\.\d+)?(?:/\d+)?(?:\s?\\?%)?(?![\d^/])")
_VERB_BEFORE: Final = re.compile(
    r"\b(?:are|is|was|were|has|have|had|needs?|gets?|got|takes?|took|makes?|made|costs?|pays?|paid|earns?|earned|spends?|"
    r"spent|sells?|sold|gives?|contains?|equals?|will be|must be|receives?|saves?|uses?|buys?|bought|eats?|ate|reads?)"
    r"(?: a total of| only| exactly| in total| still)?\s+$|(?:共有|共|有|需要|得到|剩下|是|为)\s*$",
    re.IGNORECASE,
)
_MAX_CHARS: Final = 300
_MAX_WORDS_BEHIND: Final = 3


def stated(text: str) -> str | None:
    """The value at the end of a sentence, or its only number with the word behind it; None if neither is clear."""
    sentence = " ".join(_TEXT.sub(r" \1 ", text).split()).rstrip(".。!")
    if len(sentence) > _MAX_CHARS:
        return None
    verbs = list(_SAYS.finditer(_without_formulas(sentence)))
    if len(verbs) == 1:
        subject, value = sentence[: verbs[0].start()], sentence[verbs[0].end() :].strip()
        is_value = len(_WORD.findall(_MATH.sub(" ", value))) <= _MAX_WORDS_BEHIND and re.search(r"\d|\$|\\", value)
        if is_value and _WORD.search(subject) and not _UNSURE.search(_without_formulas(subject + " " + value)):
            return value
    return _only_number(sentence)


def _without_formulas(text: str) -> str:
    """The text with the characters of its formulas replaced, so that positions stay."""
    return _MATH.sub(lambda found: "#" * len(found[0]), text)


def _only_number(sentence: str) -> str | None:
    if _UNSURE.search(sentence) or _MATH.search(sentence) or "\\" in sentence.replace("\\$", "").replace("\\%", ""):
        return None
    numbers = list(_NUMBER.finditer(sentence))
    num_figures = len(re.findall(r"\d+(?:[.,/]\d+)*", sentence))
    if len(numbers) != 1 or num_figures != 1 or not _VERB_BEFORE.search(sentence[: numbers[0].start()]):
        return None
    unit = re.match(r"\s?[^\W\d_]+", sentence[numbers[0].end() :])
    return numbers[0][0] + (unit[0] if unit else "")
