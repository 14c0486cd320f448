"""Two published rules to compare decontamination with: any 8 words in a row (open-r1), any 13 (GPT-3)."""

from __future__ import annotations

import string

import polars as pl


class AnyGram:
    """A published rule: contaminated when any `size` words in a row occur in a benchmark."""

    def __init__(self, items: pl.DataFrame, size: int, *, strips_punctuation: bool) -> None:
        self._size, self._strips = size, strips_punctuation
        self._known = {gram for prompt in items["prompt"] for gram in self._grams(prompt)}

    def flags(self, text: str) -> bool:
        """Whether the rule flags a row."""
        return not self._known.isdisjoint(self._grams(text))

    def _grams(self, text: str) -> list[tuple[str, ...]]:
        text = text.lower()
        if self._strips:
            text = text.translate(str.maketrans("", "", string.punctuation))
        words = text.split()
        return [tuple(words[place : place + self._size]) for place in range(len(words) - self._size + 1)]


def published_rules(items: pl.DataFrame) -> tuple[AnyGram, AnyGram]:
    """open-r1's any-8-gram rule and the any-13-gram rule, over a benchmark's items."""
    return AnyGram(items, 8, strips_punctuation=False), AnyGram(items, 13, strips_punctuation=True)
