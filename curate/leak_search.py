"""Hold a batch of problems against the benchmarks: every method in turn, the strongest finding a row.

`LeakSearch` is built once from the benchmarks' items; `find` is a pure function of a batch's rows. A row's prompt is
held against the items' prompts, and each of its long texts (prompt, reference solution, long ground truth) against the
items' solutions and long ground truths; a solution or ground truth that holds an item's prompt counts as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl

from curate.benchmarks_bands import alike, band_index, shingles_of, similarity
from curate.benchmarks_index import GramIndex, candidates, coverage, gram_index
from curate.leaks import Fate, Pair, Scores, Texts, Thresholds, holds_solution, is_same_task, judge, texts_of
from curate.minhash import U32
from curate.short_items import found_whole, short_items
from curate.text import tokens
from curate.token_views import MASKS, Counts, Flag, Flags, Hashes, View, Views, ngrams

GRAM: Final = 5
VARIANT_GRAM: Final = 8
MIN_TOKENS: Final = 8  # of an item that coverage can tell; a shorter one must stand there word for word
MIN_WORDS: Final = 3  # beside figures and operators
MIN_REFERENCE_TOKENS: Final = 30  # a shorter solution or ground truth is said of many problems, unless it
MIN_REFERENCE_WORDS: Final = 8  # has so many words that say something
MIN_REFERENCE_CHARS: Final = 30  # of a row's text that may hold one
MAX_ITEM_CHARS: Final = 10_000  # of an item's text in the evidence
MIN_REFERENCE_COVERAGE: Final = 0.8
_REFERENCES: Final = ("solution", "ground_truth")
_FATES: Final = ("contaminated", "variant")

Field = Literal["prompt", "solution", "ground_truth"]


@dataclass(frozen=True)
class Finding:
    """What a row has in common with a benchmark's item.

    field: where in the row it stands. method: `exact`, `embedded_exact`, `coverage`, `renamed_coverage`,
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
    is_telling: Flags


class LeakSearch:
    """The benchmarks' items, indexed in every view."""

    def __init__(self, items: pl.DataFrame, least: Thresholds) -> None:
        """`items` as `benchmarks.read_items` gives them."""
        self._items, self._least = items, least
        self._texts = texts_of(items)
        of_prompts = self._texts.views
        self._plain = gram_index(of_prompts.plain, GRAM)
        self._renamed = gram_index(of_prompts.renamed, GRAM)
        self._renumbered = gram_index(of_prompts.renumbered, VARIANT_GRAM)
        self._bands = band_index(of_prompts.plain, least.jaccard)
        self._is_long = _is_long(of_prompts)
        self._by_hash = {int(value): place for place, value in reversed(list(enumerate(self._texts.exact)))}
        self._short = short_items(items["prompt"], of_prompts, ~self._is_long)
        self._references = _references(items)

    def find(self, problems: pl.DataFrame) -> list[Finding | None]:
        """The strongest finding of each row, None where there is none."""
        matches: dict[int, _Match] = {}
        for row, match in self._matches(problems):
            if row not in matches or match.rank() < matches[row].rank():
                matches[row] = match
        words = self._matched_words(problems, matches)
        return [self._finding(matches[row], words[row]) if row in matches else None for row in range(problems.height)]

    def passes(self, texts: Views) -> dict[str, Callable[[], tuple[Counts, Counts]]]:
        """The passes over a batch's texts by name; each gives the pairs (text, item) that it proposes."""
        least = self._least
        return {
            "coverage": lambda: candidates(self._plain, texts.plain, least.coverage),
            "renamed": lambda: candidates(self._renamed, texts.renamed, least.renamed),
            "renumbered": lambda: candidates(self._renumbered, texts.renumbered, least.variant),
            "minhash": lambda: alike(self._bands, texts.plain, least.jaccard),
        }

    def _matches(self, problems: pl.DataFrame) -> Iterator[tuple[int, _Match]]:
        prompts = texts_of(problems)
        yield from self._exact_matches(prompts)
        for row, item in found_whole(self._short, problems["prompt"], prompts.views):
            yield row, _Match("contaminated", item, "prompt", "embedded_exact", 1.0)
        yield from self._judged(prompts, "prompt")
        yield from self._reference_matches(prompts, "prompt")
        numbered = problems.with_row_index("row")
        for field in _REFERENCES:
            rows = numbered.filter(pl.col(field).str.len_chars() >= MIN_REFERENCE_CHARS)
            if rows.height:
                texts = texts_of(rows, field)
                for row, match in (*self._judged(texts, field), *self._reference_matches(texts, field)):
                    yield rows["row"][row], match

    def _exact_matches(self, rows: Texts) -> Iterator[tuple[int, _Match]]:
        for row, value in enumerate(rows.exact.tolist()):
            if value and (item := self._by_hash.get(value)) is not None:
                is_same = is_same_task(Pair(self._texts, item, rows, row))
                yield row, _Match("contaminated" if is_same else "variant", item, "prompt", "exact", 1.0)

    def _judged(self, texts: Texts, field: Field) -> Iterator[tuple[int, _Match]]:
        held = _Held(texts.views)
        proposals = [propose() for propose in self.passes(texts.views).values()]
        pairs = {pair for rows, items in proposals for pair in zip(rows.tolist(), items.tolist(), strict=True)}
        for row, item in sorted(pairs):
            if not self._is_long[item]:
                continue
            scores = self._scores(held, row, item)
            verdict = judge(Pair(self._texts, item, texts, row), scores, self._least)
            # a solution works with other numbers all the time: only the item itself counts there
            if verdict is not None and (field == "prompt" or verdict[0] == "contaminated"):
                yield row, _Match(verdict[0], item, field, verdict[1], verdict[2])

    def _scores(self, held: _Held, row: int, item: int) -> Scores:
        return Scores(
            coverage(self._plain, item, held.grams("plain", row, GRAM)),
            coverage(self._renamed, item, held.grams("renamed", row, GRAM)),
            coverage(self._renumbered, item, held.grams("renumbered", row, VARIANT_GRAM)),
            similarity(self._bands, item, held.shingles(row)),
        )

    def _reference_matches(self, texts: Texts, field: Field) -> Iterator[tuple[int, _Match]]:
        held, known = _Held(texts.views), self._references
        rows, references = candidates(known.index, texts.views.plain, MIN_REFERENCE_COVERAGE)
        for row, reference in zip(rows.tolist(), references.tolist(), strict=True):
            score = coverage(known.index, reference, held.grams("plain", row, GRAM))
            if known.is_telling[reference] and score >= MIN_REFERENCE_COVERAGE:
                is_same = holds_solution(Pair(known.texts, reference, texts, row), score)
                item, of = known.items[reference], known.fields[reference]
                yield row, _Match("contaminated" if is_same else "variant", item, field, f"{of}_coverage", score, of)

    def _matched_words(self, problems: pl.DataFrame, matches: dict[int, _Match]) -> dict[int, str]:
        """The longest run of words that each matched row shares with its item."""
        if not matches:
            return {}
        rows = list(matches)
        theirs = [self._items[match.of][match.item] for match in matches.values()]
        ours = [problems[match.field][row] for row, match in matches.items()]
        lists = [tokens(pl.Series(texts, dtype=pl.String)).to_list() for texts in (ours, theirs)]
        return {row: _longest_run(*pair) for row, *pair in zip(rows, *lists, strict=True)}

    def _finding(self, match: _Match, words: str) -> Finding:
        benchmark, item = self._items["benchmark"][match.item], self._items["item"][match.item]
        text = self._items["prompt"][match.item][:MAX_ITEM_CHARS]
        return Finding(match.fate, benchmark, item, match.field, match.method, match.score, words, text)


class _Held:
    """The sorted n-grams of single texts, made when first asked for."""

    def __init__(self, texts: Views) -> None:
        self._texts = texts
        self._made: dict[tuple[str, int], Hashes] = {}

    def grams(self, view: Literal["plain", "renamed", "renumbered"], text: int, size: int) -> Hashes:
        if (view, text) not in self._made:
            whole: View = {"plain": self._texts.plain, "renamed": self._texts.renamed}.get(view, self._texts.renumbered)
            alone = View(whole.of(text), np.array([0, len(whole.of(text))]))
            self._made[view, text] = np.sort(ngrams(alone, size)[0])
        return self._made[view, text]

    def shingles(self, text: int) -> U32:
        """The sorted distinct shingles of a text, as the bands see them."""
        return shingles_of(self._texts.plain.of(text))


def _references(items: pl.DataFrame) -> _References:
    """Every solution and ground truth of the items that is long enough to be nobody else's."""
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
    return _References(texts, gram_index(plain, GRAM), rows["number"].to_list(), rows["field"].to_list(), is_telling)


def _count(is_such: Flags, view: View) -> Counts:
    """How many of each text's tokens are such."""
    return np.diff(np.concatenate(([0], np.cumsum(is_such.astype(np.int64))))[view.starts])


def _is_long(texts: Views) -> Flags:
    """Which items coverage can tell: those of enough tokens, some of them words, or of very many."""
    num_words = _count((texts.flags & (Flag.FIGURE | Flag.OPERATOR)) == 0, texts.plain)
    lengths = texts.plain.lengths()
    is_long: Flags = (lengths >= MIN_TOKENS) & ((num_words >= MIN_WORDS) | (lengths >= 3 * MIN_TOKENS))
    return is_long


def _longest_run(ours: list[str], theirs: list[str]) -> str:
    from difflib import SequenceMatcher

    block = SequenceMatcher(None, theirs, ours, autojunk=False).find_longest_match()
    return " ".join(theirs[block.a : block.a + block.size])[:300]
