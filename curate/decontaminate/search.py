"""Hold a batch of problems against the benchmarks: every method in turn, the strongest finding a row.

`LeakSearch` is built once from the benchmarks' items; `find` is a pure function of a batch's rows. A row's prompt is
held against the items' prompts, and each of its long texts (prompt, reference solution, long ground truth) against the
items' solutions and long ground truths; a solution or ground truth that holds an item's prompt counts as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
import polars as pl

from curate.decontaminate.gram_index import GramIndex, candidates, coverage, gram_index
from curate.decontaminate.pairs import Pair, Texts, texts_of
from curate.decontaminate.same_problem import (
    Fate,
    Thresholds,
    asks_otherwise,
    holds_solution,
    is_same_task,
    judge,
)
from curate.decontaminate.scores import GRAM, HeldGrams, PairScores, prompt_index
from curate.decontaminate.short_items import found_whole, short_items
from curate.text.spelling import tokens
from curate.text.views import MASKS, Counts, Flags, View, Views
from curate.text.word_kinds import Flag

MIN_TOKENS: Final = 8  # the least of an item for coverage; a shorter one must occur word for word
MIN_WORDS: Final = 3  # beside figures and operators
MIN_REFERENCE_TOKENS: Final = 30  # a shorter solution or ground truth belongs to many problems, unless it
MIN_REFERENCE_WORDS: Final = 8  # has at least this many content words
MIN_REFERENCE_CHARS: Final = 30  # of a row's text that may hold one
MAX_ITEM_CHARS: Final = 10_000  # of an item's text in the evidence
MIN_REFERENCE_COVERAGE: Final = 0.8
_REFERENCES: Final = ("solution", "ground_truth")
_FATES: Final = ("contaminated", "variant")

Field = Literal["prompt", "solution", "ground_truth"]


@dataclass(frozen=True)
class Finding:
    """What a row has in common with a benchmark's item.

    field: its field of the row. method: `exact`, `embedded_exact`, `coverage`, `renamed_coverage`,
    `renumbered_coverage`, `jaccard`, `solution_coverage`, `ground_truth_coverage`. score: share of the item's n-gram
    weight, or the Jaccard similarity, in [0, 1]. matched: the longest words in common. item_text: the item's prompt, so
    that the two can be read side by side.
    """

    fate: Fate
    benchmark: str
    item: str
    field: str
    method: str
    score: float
    matched: str
    item_text: str


@dataclass(frozen=True)
class _Match:
    """`of` is the item's field that was found."""

    fate: Fate
    item: int
    field: Field
    method: str
    score: float
    of: str = "prompt"

    def rank(self) -> tuple[int, bool, float, int]:
        """Contaminated before variant, the problem itself before a solution, the higher score, the earlier item."""
        return _FATES.index(self.fate), (self.field, self.of) != ("prompt", "prompt"), -self.score, self.item


@dataclass(frozen=True)
class _References:
    """The items' solutions and long ground truths: texts, their index, and of each its item and field."""

    texts: Texts
    index: GramIndex
    items: list[int]
    fields: list[str]


class _Strongest:
    """The strongest match of each row so far."""

    def __init__(self) -> None:
        self.of: dict[int, _Match] = {}

    def takes(self, row: int, match: _Match) -> bool:
        """Whether a match is stronger than what there is."""
        return row not in self.of or match.rank() < self.of[row].rank()

    def offer(self, row: int, match: _Match) -> None:
        """Take the match if it is stronger than what there is."""
        if self.takes(row, match):
            self.of[row] = match


class LeakSearch:
    """The benchmarks' items, indexed in every view."""

    def __init__(self, items: pl.DataFrame, least: Thresholds) -> None:
        """`items` as `benchmarks.read_items` gives them."""
        self._items, self._least = items, least
        self._texts = texts_of(items)
        self._is_long = _is_long(self._texts.views)
        self._index = prompt_index(self._texts.views, least, self._is_long)
        self._by_hash = {int(value): place for place, value in reversed(list(enumerate(self._texts.exact)))}
        self._short = short_items(self._texts.prompts, self._texts.views, ~self._is_long)
        self._references = _references(items)

    def find(self, problems: pl.DataFrame) -> list[Finding | None]:
        """The strongest finding of each row, None where there is none."""
        found = _Strongest()
        self._search(problems, found)
        words = self._matched_words(problems, found.of)
        return [self._finding(found.of[row], words[row]) if row in words else None for row in range(len(problems))]

    def passes(self, texts: Texts) -> dict[str, Callable[[], tuple[Counts, Counts]]]:
        """The passes over a batch's texts by name; each gives the pairs (text, item) that it proposes."""
        return {"exact": lambda: self._equal(texts), **self._index.passes(texts.views)}

    def _search(self, problems: pl.DataFrame, found: _Strongest) -> None:
        rows = list(range(len(problems)))
        prompts = texts_of(problems)
        self._find_equal(prompts, found)
        for row, item in found_whole(self._short, prompts.prompts, prompts.views):
            found.offer(row, _Match("contaminated", item, "prompt", "embedded_exact", 1.0))
        self._find_alike(prompts, "prompt", rows, found)
        self._find_references(prompts, "prompt", prompts, rows, found)
        for field in _REFERENCES:
            rows = (problems[field].str.len_chars() >= MIN_REFERENCE_CHARS).arg_true().to_list()
            if rows:
                texts = texts_of(problems[rows], field)
                self._find_alike(texts, field, rows, found)
                self._find_references(texts, field, prompts, rows, found)

    def _equal(self, texts: Texts) -> tuple[Counts, Counts]:
        """The pairs (text, item) that are the same token for token, drawings and all; an empty text matches none."""
        found = [
            (text, self._by_hash[value])
            for text, value in enumerate(texts.exact.tolist())
            if value and value in self._by_hash
        ]
        places, items = np.array(found, np.int64).reshape(-1, 2).T
        return places, items

    def _find_equal(self, texts: Texts, found: _Strongest) -> None:
        for row, item in zip(*(side.tolist() for side in self._equal(texts)), strict=True):
            is_same = is_same_task(Pair(self._texts, item, texts, row))
            found.offer(row, _Match("contaminated" if is_same else "variant", item, "prompt", "exact", 1.0))

    def _find_alike(self, texts: Texts, field: Field, rows: list[int], found: _Strongest) -> None:
        held = HeldGrams(texts.views)
        proposals = [propose() for propose in self._index.passes(texts.views).values()]
        pairs = {pair for places, items in proposals for pair in zip(places.tolist(), items.tolist(), strict=True)}
        for text, item in sorted(pairs):
            if not self._is_long[item] or not found.takes(rows[text], _Match("contaminated", item, field, "", 1.0)):
                continue
            scores = PairScores(self._index, held, text, item)
            verdict = judge(Pair(self._texts, item, texts, text), scores, self._least)
            # a solution works with other numbers all the time: only the item itself counts there
            if verdict is not None and (field == "prompt" or verdict[0] == "contaminated"):
                found.offer(rows[text], _Match(verdict[0], item, field, verdict[1], verdict[2]))

    def _find_references(self, texts: Texts, field: Field, prompts: Texts, rows: list[int], found: _Strongest) -> None:
        held, known = HeldGrams(texts.views), self._references
        proposed = candidates(known.index, texts.views.plain)
        for text, reference in zip(*(side.tolist() for side in proposed), strict=True):
            of = known.fields[reference]
            match = _Match("contaminated", known.items[reference], field, f"{of}_coverage", 1.0, of)
            if not found.takes(rows[text], match):
                continue
            score = coverage(known.index, reference, held.grams("plain", text, GRAM))
            if score >= MIN_REFERENCE_COVERAGE:
                is_same = holds_solution(Pair(known.texts, reference, texts, text), score) and not (
                    field == of == "solution" and asks_otherwise(Pair(self._texts, match.item, prompts, rows[text]))
                )
                found.offer(rows[text], replace(match, fate="contaminated" if is_same else "variant", score=score))

    def _matched_words(self, problems: pl.DataFrame, matches: dict[int, _Match]) -> dict[int, str]:
        """The longest run of words that each matched row shares with its item."""
        if not matches:
            return {}
        theirs = [self._items[match.of][match.item] for match in matches.values()]
        ours = [problems[match.field][row] for row, match in matches.items()]
        lists = tokens(pl.Series(ours + theirs, dtype=pl.String)).to_list()
        pairs = zip(lists[: len(ours)], lists[len(ours) :], strict=True)
        return {row: _longest_run(*pair) for row, pair in zip(matches, pairs, strict=True)}

    def _finding(self, match: _Match, words: str) -> Finding:
        benchmark, item = self._items["benchmark"][match.item], self._items["item"][match.item]
        text = self._items["prompt"][match.item][:MAX_ITEM_CHARS]
        return Finding(match.fate, benchmark, item, match.field, match.method, match.score, words, text)


def _references(items: pl.DataFrame) -> _References:
    """Every solution and ground truth of the items that is long enough to identify its item."""
    numbered = items.with_row_index("number")
    parts = [
        numbered.filter(pl.col(field).str.len_chars() >= MIN_REFERENCE_CHARS).with_columns(
            text=pl.col(field), field=pl.lit(field)
        )
        for field in _REFERENCES
    ]
    rows = pl.concat(parts)
    texts = texts_of(rows, "text")
    plain = texts.views.plain
    says_something = (texts.views.flags & (Flag.FIGURE | Flag.OPERATOR | Flag.FUNCTION)) == 0
    num_words = _count(says_something & (texts.views.renamed.hashes != MASKS[1]), plain)
    is_telling = (plain.lengths() >= MIN_REFERENCE_TOKENS) | (num_words >= MIN_REFERENCE_WORDS)
    index = gram_index(plain, GRAM, MIN_REFERENCE_COVERAGE, is_telling)
    return _References(texts, index, rows["number"].to_list(), rows["field"].to_list())


def _count(is_such: Flags, view: View) -> Counts:
    """How many of each text's tokens are such."""
    return np.diff(np.concatenate(([0], np.cumsum(is_such.astype(np.int64))))[view.starts])


def _is_long(texts: Views) -> Flags:
    """The items that coverage can identify: those of enough tokens, some of them words, or of very many."""
    num_words = _count((texts.flags & (Flag.FIGURE | Flag.OPERATOR)) == 0, texts.plain)
    lengths = texts.plain.lengths()
    is_long: Flags = (lengths >= MIN_TOKENS) & ((num_words >= MIN_WORDS) | (lengths >= 3 * MIN_TOKENS))
    return is_long


def _longest_run(ours: list[str], theirs: list[str]) -> str:
    from difflib import SequenceMatcher

    block = SequenceMatcher(None, theirs, ours, autojunk=False).find_longest_match()
    return " ".join(theirs[block.a : block.a + block.size])[:300]
