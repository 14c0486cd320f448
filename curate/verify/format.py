"""Is a completion well formed: its think marks, the language of its reasoning, its repetitions. Pure functions of text.

These feed format rewards and the filters of rejection sampling; none of them says whether an answer is right.
"""

from __future__ import annotations

import re
import zlib
from typing import Final, Literal

Language = Literal["en", "zh"]

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"
_CODE: Final = re.compile(r"```.*?(?:```|$)|`[^`\n]*`", re.DOTALL)
_MATH: Final = re.compile(
    r"\$\$.*?(?:\$\$|$)|\$[^$\n]*\$|\\\[.*?(?:\\\]|$)|\\\(.*?(?:\\\)|$)|"
    r"\\begin\{(\w+\*?)\}.*?(?:\\end\{\1\}|$)|\\[a-zA-Z]+",
    re.DOTALL,
)
_HAN: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_WORD: Final = re.compile(r"[^\W\d_]{2,}|[aAI](?![^\W\d_])")
_LATIN: Final = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_UNITS: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]|\w+")


def has_think_format(completion: str) -> bool:
    """Exactly one `<think>` and one `</think>`, reasoning and answer both there, nothing before the reasoning.

    The usual pattern `^<think>.*?</think>.*$` also takes an empty block, or two (DeepSeek-R1, 2501.12948, sec. 2.2.2).
    """
    if completion.count(_OPEN) != 1 or completion.count(_CLOSE) != 1:
        return False
    before, _, rest = completion.partition(_OPEN)
    reasoning, mark, answer = rest.partition(_CLOSE)
    return not before.strip() and bool(mark) and bool(reasoning.strip()) and bool(answer.strip())


def reasoning_of(completion: str) -> str:
    """The text between the think marks: to the end where it is not closed, everything where there are no marks."""
    inside = completion.rpartition(_OPEN)[2] if _OPEN in completion else completion
    return inside.partition(_CLOSE)[0]


def prompt_language(prompt: str) -> Language:
    """`zh` where Chinese characters are at least as many as Latin words, else `en`; mathematics, code left out."""
    num_han, num_latin = _count(prompt)
    return "zh" if num_han and num_han >= num_latin else "en"


def language_share(reasoning: str, language: Language) -> float:
    """Share of the words of a chain of thought that are in a language (DeepSeek-R1, 2501.12948, section 2.3.2).

    A Chinese character counts as a word, as does a run of letters of another script. Code, mathematics, figures and
    symbols are stripped first. 1.0 where no word is left: there is nothing in the wrong language.
    """
    num_han, num_latin = _count(reasoning)
    num_other = sum(1 for word in _WORD.findall(_stripped(reasoning)) if not (_LATIN.match(word) or _HAN.match(word)))
    total = num_han + num_latin + num_other
    return 1.0 if total == 0 else (num_han if language == "zh" else num_latin) / total


def repetition_rate(text: str, n: int = 20) -> float:
    """Share of a text's n-grams that repeat an earlier one, in words (Chinese: characters); 0 where it is too short.

    Prose stays near 0; a model caught in a loop goes towards 1.
    """
    units = _UNITS.findall(text)
    num_grams = len(units) - n + 1
    if num_grams < 2:
        return 0.0
    return 1.0 - len({tuple(units[i : i + n]) for i in range(num_grams)}) / num_grams


def compression_rate(text: str) -> float:
    """Compressed size over size (zlib): loops of any period, and of single characters, fall below 0.1."""
    raw = text.encode()
    return len(zlib.compress(raw, 6)) / len(raw) if raw else 1.0


def _stripped(text: str) -> str:
    return _MATH.sub(" ", _CODE.sub(" ", text))


def _count(text: str) -> tuple[int, int]:
    """(Chinese characters, Latin words) outside code and mathematics."""
    plain = _stripped(text)
    num_latin = sum(1 for word in _LATIN.findall(plain) if len(word) > 1 or word in ("a", "A", "I"))
    return len(_HAN.findall(plain)), num_latin
