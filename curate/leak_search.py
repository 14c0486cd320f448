"""Hold a batch of problems against the benchmarks: every method in turn, the strongest finding a row.

`LeakSearch` is built once from the benchmarks' items; `find` is a pure function of a batch's rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl

from curate.benchmarks_index import GramIndex, candidates, coverage, gram_index
from curate.leaks import Fate, Pair, Scores, Texts, Thresholds, holds_solution, is_same_task, judge, texts_of
from curate.text import normalised, tokens
from curate.token_views import Counts, Flag, Flags, Hashes, View, Views, ngrams

GRAM: Final = 5
VARIANT_GRAM: Final = 8
MIN_TOKENS: Final = 8  # of an item that coverage can tell; a shorter one must stand there word for word
MIN_WORDS: Final = 3  # beside figures and operators
MIN_EXACT_TOKENS: Final = 4  # of an item that may be found inside a longer text
MIN_SOLUTION_TOKENS: Final = 30  # a shorter solution is said of many problems
MAX_ITEM_CHARS: Final = 10_000  # of an item's text in the evidence
MIN_SOLUTION_COVERAGE: Final = 0.8
SOLUTION: Final = "solution_coverage"
_FATES: Final = ("contaminated", "variant")

Field = Literal["prompt", "solution"]


@dataclass(frozen=True)
class Finding:
    """What a row has in common with a benchmark's item.

    field: where in the row it stands. method: `exact`, `embedded_exact`, `coverage`, `renamed_coverage`,
    `renumbered_coverage`, `solution_coverage`. score: share of the item's n-gram weight, in [0, 1]. matched: the
    longest words in common. item_text: the item's prompt, so that the two can be read side by side.
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
    fate: Fate
    item: int
    field: Field
    method: str
    score: float

    def rank(self) -> tuple[int, bool, float, int]:
        """Contaminated before variant, the problem itself before a solution, the higher score, the earlier item."""
        return _FATES.index(self.fate), self.field != "prompt" or self.method == SOLUTION, -self.score, self.item


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
        self._is_long = _is_long(of_prompts)
        self._by_hash = {int(value): place for place, value in reversed(list(enumerate(self._texts.exact)))}
        self._short = _short_items(of_prompts, ~self._is_long)
        self._solution_texts = texts_of(items, "solution")
        solutions = self._solution_texts.views.plain
        self._is_telling = solutions.lengths() >= MIN_SOLUTION_TOKENS
        self._solutions = gram_index(solutions, GRAM)

    def find(self, problems: pl.DataFrame) -> list[Finding | None]:
        """The strongest finding of each row, None where there is none."""
        matches: dict[int, _Match] = {}
        for row, match in self._matches(problems):
            if row not in matches or match.rank() < matches[row].rank():
                matches[row] = match
        words = self._matched_words(problems, matches)
        return [self._finding(matches[row], words[row]) if row in matches else None for row in range(problems.height)]

    def passes(self, texts: Views) -> dict[str, tuple[GramIndex, View]]:
        """The n-gram passes over a batch's texts: an index and the view it is looked up in, by name."""
        return {
            "coverage": (self._plain, texts.plain),
            "renamed": (self._renamed, texts.renamed),
            "renumbered": (self._renumbered, texts.renumbered),
        }

    def _matches(self, problems: pl.DataFrame) -> Iterator[tuple[int, _Match]]:
        prompts = texts_of(problems)
        yield from self._exact_matches(prompts)
        yield from self._embedded_matches(problems["prompt"], prompts.views)
        yield from self._judged(prompts, "prompt")
        yield from self._solution_matches(prompts, "prompt")
        if problems["solution"].null_count() < problems.height:
            solutions = texts_of(problems, "solution")
            yield from self._judged(solutions, "solution")
            yield from self._solution_matches(solutions, "solution")

    def _exact_matches(self, rows: Texts) -> Iterator[tuple[int, _Match]]:
        for row, value in enumerate(rows.exact.tolist()):
            if value and (item := self._by_hash.get(value)) is not None:
                is_same = is_same_task(Pair(self._texts, item, rows, row))
                yield row, _Match("contaminated" if is_same else "variant", item, "prompt", "exact", 1.0)

    def _embedded_matches(self, prompts: pl.Series, texts: Views) -> Iterator[tuple[int, _Match]]:
        """Short items that stand alone on a line or in a sentence of a longer text."""
        for size, (hashes, items) in self._short.items():
            grams, rows = ngrams(texts.exact, size)
            place = np.minimum(np.searchsorted(hashes, grams), len(hashes) - 1)
            for hit in np.flatnonzero(hashes[place] == grams).tolist():
                item, row = int(items[place[hit]]), int(rows[hit])
                if _stands_alone(self._items["prompt"][item], prompts[row]):
                    yield row, _Match("contaminated", item, "prompt", "embedded_exact", 1.0)

    def _judged(self, texts: Texts, field: Field) -> Iterator[tuple[int, _Match]]:
        least, held = self._least, _Held(texts.views)
        floors = (least.coverage, least.renamed, least.variant)
        passes = self.passes(texts.views).values()
        proposals = [candidates(index, view, floor) for (index, view), floor in zip(passes, floors, strict=True)]
        pairs = {pair for rows, items in proposals for pair in zip(rows.tolist(), items.tolist(), strict=True)}
        for row, item in sorted(pairs):
            if not self._is_long[item]:
                continue
            scores = Scores(
                coverage(self._plain, item, held.grams("plain", row, GRAM)),
                coverage(self._renamed, item, held.grams("renamed", row, GRAM)),
                coverage(self._renumbered, item, held.grams("renumbered", row, VARIANT_GRAM)),
            )
            verdict = judge(Pair(self._texts, item, texts, row), scores, least)
            # a solution works with other numbers all the time: only the item itself counts there
            if verdict is not None and (field == "prompt" or verdict[0] == "contaminated"):
                yield row, _Match(verdict[0], item, field, verdict[1], verdict[2])

    def _solution_matches(self, texts: Texts, field: Field) -> Iterator[tuple[int, _Match]]:
        held = _Held(texts.views)
        rows, items = candidates(self._solutions, texts.views.plain, MIN_SOLUTION_COVERAGE)
        for row, item in zip(rows.tolist(), items.tolist(), strict=True):
            score = coverage(self._solutions, item, held.grams("plain", row, GRAM))
            if self._is_telling[item] and score >= MIN_SOLUTION_COVERAGE:
                is_same = holds_solution(Pair(self._solution_texts, item, texts, row), score)
                yield row, _Match("contaminated" if is_same else "variant", item, field, SOLUTION, score)

    def _matched_words(self, problems: pl.DataFrame, matches: dict[int, _Match]) -> dict[int, str]:
        """The longest run of words that each matched row shares with its item."""
        if not matches:
            return {}
        rows = list(matches)
        theirs = [
            self._items["solution" if matches[row].method == SOLUTION else "prompt"][matches[row].item] for row in rows
        ]
        ours = [problems[matches[row].field][row] for row in rows]
        table = pl.DataFrame({"ours": ours, "theirs": theirs}, schema={"ours": pl.String, "theirs": pl.String})
        lists = table.select(tokens(pl.col("ours")), tokens(pl.col("theirs")))
        return {row: _longest_run(*pair) for row, pair in zip(rows, lists.iter_rows(), strict=True)}

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


def _is_long(texts: Views) -> Flags:
    """Which items coverage can tell: those of enough tokens, some of them words, or of very many."""
    is_word = ((texts.flags & (Flag.FIGURE | Flag.OPERATOR)) == 0).astype(np.int64)
    num_words = np.diff(np.concatenate(([0], np.cumsum(is_word)))[texts.plain.starts])
    lengths = texts.plain.lengths()
    is_long: Flags = (lengths >= MIN_TOKENS) & ((num_words >= MIN_WORDS) | (lengths >= 3 * MIN_TOKENS))
    return is_long


def _short_items(texts: Views, is_short: Flags) -> dict[int, tuple[Hashes, Counts]]:
    """By length, the sorted hashes of the short items of that many tokens, and the items; only those with a figure."""
    lengths = texts.exact.lengths()
    has_figure = np.array([(texts.flags_of(text) & Flag.FIGURE).any() for text in range(len(lengths))], bool)
    short: dict[int, tuple[Hashes, Counts]] = {}
    for size in sorted({int(length) for length in lengths[is_short & has_figure] if length >= MIN_EXACT_TOKENS}):
        grams, items = ngrams(texts.exact, size)
        chosen = (is_short & has_figure)[items] & (lengths[items] == size)
        order = np.argsort(grams[chosen], kind="stable")
        short[size] = grams[chosen][order], items[chosen][order]
    return short


_BREAK = re.compile(r"\n+|(?<=[.?!:。？！：])\s*")


def _stands_alone(item: str, text: str) -> bool:
    """Whether consecutive lines or sentences of a text are the item, and the rest does not speak of its variables."""
    parts = [part for part in _BREAK.split(text) if part.strip()]
    num_parts = len([part for part in _BREAK.split(item) if part.strip()])
    starts = range(max(len(parts) - num_parts + 1, 0))
    spans = [" ".join(parts[start : start + num_parts]) for start in starts]
    rests = [" ".join(parts[:start] + parts[start + num_parts :]) for start in starts]
    table = pl.DataFrame({"text": [item, *spans, *rests]}, schema={"text": pl.String})
    wanted, *others = table.select(normalised(pl.col("text"))).to_series().to_list()
    variables = set(re.findall(r"\b[b-z]\b", wanted))
    return any(
        span == wanted and variables.isdisjoint(re.findall(r"\b[b-z]\b", rest))
        for span, rest in zip(others[: len(spans)], others[len(spans) :], strict=True)
    )


def _longest_run(ours: list[str], theirs: list[str]) -> str:
    from difflib import SequenceMatcher

    block = SequenceMatcher(None, theirs, ours, autojunk=False).find_longest_match()
    return " ".join(theirs[block.a : block.a + block.size])[:300]
