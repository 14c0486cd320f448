"""Share of a text in a given language, for the language consistency reward.

Words are split by script first, since models mostly mix scripts (English in Chinese reasoning); a library identifies
the language of stretches of one script that are long enough. Formulas have no language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

# a word is a run of letters; scripts without spaces are counted by characters
_WORD: Final = re.compile(r"[^\W\d_]+")
_MATH: Final = re.compile(r"\$[^$]*\$|\\\[.*?\\\]|\\\(.*?\\\)|\\[a-zA-Z]+", re.DOTALL)
_UNSPACED: Final = frozenset({"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"})
# Japanese mixes these with CJK
_JAPANESE: Final = frozenset({"HIRAGANA", "KATAKANA"})
# below this, "Wait, let me check" is identified as French
_MIN_WORDS: Final = 10
_WINDOW: Final = 40


class Stretch(NamedTuple):
    """Consecutive words of one script, and their number of words."""

    script: str
    text: str
    num_words: int


def share_in_language(text: str, language: str, script: str) -> float | None:
    """Share of the words of `text` that are in `language`, written in `script`; None where it has no words.

    A stretch in another script counts as another language, a short one in the same script as `language`.
    """
    total = matching = 0
    for stretch in stretches(text):
        total += stretch.num_words
        if stretch.script == script and (stretch.num_words < _MIN_WORDS or identify(stretch.text) == language):
            matching += stretch.num_words
    return matching / total if total else None


def language_of(text: str) -> tuple[str, str] | None:
    """Language and script of a text, by its commonest script; None where it has too few words."""
    found = list(stretches(text))
    if not found:
        return None
    scripts = {stretch.script for stretch in found}
    script = max(sorted(scripts), key=lambda name: sum(s.num_words for s in found if s.script == name))
    words = " ".join(stretch.text for stretch in found if stretch.script == script)
    return (identify(words), script) if sum(s.num_words for s in found) > 1 else None


def stretches(text: str) -> Iterator[Stretch]:
    """The words of a text without its formulas, in stretches of one script of at most `_WINDOW` words."""
    words = [word for word in _WORD.findall(_MATH.sub(" ", text)) if len(word) > 1 or script_of(word) in _UNSPACED]
    for script, run in groupby(words, key=script_of):
        here = list(run)
        for start in range(0, len(here), _WINDOW):
            part = here[start : start + _WINDOW]
            num = sum(map(len, part)) if script in _UNSPACED else len(part)
            yield Stretch(script, " ".join(part), num)


@lru_cache(maxsize=65_536)
def script_of(word: str) -> str:
    """The script of a word's first letter, as Unicode names it; kana and Chinese characters are one script."""
    name = unicodedata.name(word[0], "UNKNOWN").split(" ", 1)[0]
    return "CJK" if name in _JAPANESE else name


@lru_cache(maxsize=65_536)
def identify(text: str) -> str:
    """ISO code of the likeliest language of a text."""
    from py3langid import classify

    return str(classify(text)[0])
