"""Paraphrases of benchmark items, by a static embedding: reworded problems that share few words with the original.

A text is the mean of its tokens' vectors (WordLlama's, which its package ships, so nothing is fetched). A row whose
text lies close to an item's, where every figure of the one stands in the other too, in figures or in words, and no
answer differs, may say the same in other words. That is a hint and no proof: it drops nothing, and people look at it
(`curate review`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from curate.decontaminate.pairs import Pair, texts_of
from curate.parts import require
from curate.verify.vocabulary.spoken import number_in_words

PACKAGE: Final = "wordllama"
WEIGHTS: Final = "weights/l2_supercat_256.safetensors"
TOKENIZER: Final = "tokenizers/l2_supercat_tokenizer_config.json"
BLOCK_ROWS: Final = 2_000
WRITTEN: Final = re.compile(r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?")
_WORD: Final = (
    "(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|"
    "(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million|dozen|single|once|twice|thrice|double|triple)"
)
SAID: Final = re.compile(rf"(?i)\b{_WORD}(?:[ -]{_WORD})*\b|[零〇两一二三四五六七八九十百千万亿]+")
COUNTS: Final = {
    "dozen": "12", "single": "1", "once": "1", "twice": "2", "double": "2", "thrice": "3", "triple": "3",
    "hundred": "100", "thousand": "1000", "million": "1000000",
}  # fmt: skip

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Paraphrase:
    """A row's nearest item: its position, and the cosine similarity of the two."""

    benchmark: str
    item: str
    score: float
    item_text: str


class Figures(NamedTuple):
    """The numbers of a text: those that it writes in figures, and those in words, `one` and `twice` among them."""

    written: frozenset[str]
    said: frozenset[str]

    def fits(self, other: Figures) -> bool:
        """Whether each text has all that the other writes in figures: a reworded text may say five for 5."""
        return self.written <= other.written | other.said and other.written <= self.written | self.said


def figures_of(text: str) -> Figures:
    """The numbers of a text."""
    written = {_plain(found) for found in WRITTEN.findall(text)}
    said = {number for found in SAID.findall(text) for number in _numbers(found.lower())}
    return Figures(frozenset(written), frozenset(said))


def _plain(figures: str) -> str:
    bare = figures.replace(",", "")
    return bare.rstrip("0").rstrip(".") if "." in bare else bare


def _numbers(words: str) -> list[str]:
    """The number that the words name together, or the numbers that they name one by one."""
    whole = COUNTS.get(words) or number_in_words(words)
    parts = [COUNTS.get(word) or number_in_words(word) for word in re.split(r"[\s-]+", words)] if not whole else [whole]
    return [part for part in parts if part is not None]


class ParaphraseSearch:
    """The benchmarks' items as vectors."""

    def __init__(self, items: pl.DataFrame, min_similarity: float) -> None:
        """`items` as `benchmarks.read_items` gives them; raises `UserError` where the embedding is not installed."""
        self._items, self._least = items, min_similarity
        self._embedding = StaticEmbedding()
        self._texts = texts_of(items)
        self._figures = [figures_of(text) for text in items["prompt"].fill_null("")]
        self._vectors = self._embedding.of(items["prompt"])

    def find(self, problems: pl.DataFrame) -> list[Paraphrase | None]:
        """The nearest item of each row that it may be a paraphrase of; None for most."""
        texts = texts_of(problems)
        figures = lru_cache(BLOCK_ROWS)(lambda row: figures_of(problems["prompt"][row] or ""))
        found: list[Paraphrase | None] = [None] * problems.height
        best = dict.fromkeys(range(problems.height), 0.0)
        for row, item, score in self._near(problems["prompt"]):
            is_near = score > best[row] and self._figures[item].fits(figures(row))
            if is_near and Pair(self._texts, item, texts, row).answers() != "different":
                best[row], found[row] = score, self._paraphrase(item, score)
        return found

    def _near(self, prompts: pl.Series) -> Iterator[tuple[int, int, float]]:
        """The pairs (row, item) that lie close to each other, and how close."""
        for start in range(0, len(prompts), BLOCK_ROWS):
            similarity = self._embedding.of(prompts.slice(start, BLOCK_ROWS)) @ self._vectors.T
            for row, item in np.argwhere(similarity >= self._least).tolist():
                yield start + row, item, float(similarity[row, item])

    def _paraphrase(self, item: int, score: float) -> Paraphrase:
        benchmark, name, prompt = (self._items[column][item] for column in ("benchmark", "item", "prompt"))
        return Paraphrase(benchmark, name, score, prompt)


def embedding_name() -> str:
    """Package and version, which decide the vectors; raises `UserError` where it is not installed."""
    _folder()
    return f"{PACKAGE} {version(PACKAGE)}"


class StaticEmbedding:
    """A vector for each token of a vocabulary; a text's is their mean, of length 1."""

    def __init__(self) -> None:
        """Reads the package's files; its own loader would look for them on the Hub."""
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        folder = _folder()
        self._tokenizer: Any = Tokenizer.from_file(str(folder / TOKENIZER))  # Any: not typed
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._table: Vectors = load_file(folder / WEIGHTS)["embedding.weight"].astype(np.float32)

    def of(self, texts: pl.Series) -> Vectors:
        """The vectors `[texts, dimensions]`; a text without tokens is all zeros."""
        encoded = self._tokenizer.encode_batch(texts.fill_null("").to_list(), add_special_tokens=False)
        means: Vectors = np.stack(
            [self._table[text.ids].sum(axis=0) for text in encoded] or [np.zeros(self._table.shape[1], np.float32)]
        )
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        unit: Vectors = means / np.maximum(lengths, np.finfo(np.float32).tiny)
        return unit[: len(encoded)]


def _folder() -> Path:
    require("--paraphrases", PACKAGE, "safetensors", "tokenizers")
    # not by its import, which would set up logging and an HTTP client
    return Path(str(distribution(PACKAGE).locate_file(PACKAGE)))
