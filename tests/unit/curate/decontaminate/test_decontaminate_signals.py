"""The further signals of decontamination: likeness as a whole, leaked answers and solutions, paraphrases."""

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curate.artifacts.artifact import open_artifact
from curate.decontaminate.bands import _promising, alike, band_index, shingles_of, similarity
from curate.decontaminate.benchmarks import DEFAULT, sources_against
from curate.decontaminate.paraphrases import ParaphraseSearch, figures_of
from curate.decontaminate.search import Finding, LeakSearch
from curate.decontaminate.stage import DecontaminateConfig, stage, thresholds
from curate.records import PROBLEM, problem_key, schema
from curate.review.queue import QueueConfig, build_queue
from curate.runner.run import run_stage
from curate.text.views import View, views

STORY = (
    "A merchant brings 24 bolts of silk and 36 bolts of linen to the harbour market. Every bolt of silk sells for 15 "
    "silver coins and every bolt of linen sells for 7. After paying 30 coins for the stall, how many coins remain?"
)
PROOF = (
    "Every such sequence is eventually periodic because only finitely many remainders can occur, hence two of the "
    "partial sums leave the same remainder and their difference is divisible by the modulus."
)
OTHER = "Find the number of ways to seat 5 guests around a table with 7 chairs."


def frame(prompts: list[str], answers: list[str | None], **columns: list) -> pl.DataFrame:
    rows = [
        dict.fromkeys(PROBLEM) | {"key": problem_key(p), "prompt": p, "ground_truth": a, "kind": "math"}
        for p, a in zip(prompts, answers, strict=True)
    ]
    return pl.DataFrame(rows, schema=schema(PROBLEM)).with_columns(
        *(pl.Series(name, values, dtype=PROBLEM[name].dtype) for name, values in columns.items())
    )


def items(prompts: list[str], answers: list[str | None], **columns: list) -> pl.DataFrame:
    number = pl.int_range(pl.len()).cast(pl.String)
    return frame(prompts, answers, **columns).with_columns(benchmark=pl.lit("bench"), item=number)


def search_in(*arguments: list, **columns: list) -> LeakSearch:
    return LeakSearch(items(*arguments, **columns), thresholds(DecontaminateConfig()))


def found(search: LeakSearch, prompt: str, answer: str | None, **columns: list) -> Finding | None:
    return search.find(frame([prompt], [answer], **columns))[0]


def test_words_changed_here_and_there_are_seen_by_likeness_where_long_ngrams_break() -> None:
    changed = STORY
    for old, new in (("merchant", "trader"), ("harbour", "seaside"), ("stall", "booth"), ("remain", "remains")):
        changed = changed.replace(old, new)
    search = search_in([STORY, OTHER], ["582", "2520"])
    finding = found(search, changed, "582")
    assert finding is not None
    assert (finding.fate, finding.item) == ("contaminated", "0")
    cut = "".join(
        f"{word[::-1]} " if n % 9 == 4 and word.isalpha() else f"{word} " for n, word in enumerate(STORY.split())
    )
    finding = found(search, cut, "582")
    assert finding is not None
    assert (finding.fate, finding.method) == ("contaminated", "jaccard")
    assert found(search, cut, "601") is not None
    assert found(search, cut, "601").fate == "variant"


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=12), min_size=2, max_size=6))
def test_likeness_is_the_exact_share_of_common_triples(texts: list[list[str]]) -> None:
    view = views(pl.Series([" ".join(f"word{word}" for word in text) for text in texts])).plain
    index = band_index(view, 0.6)
    pairs = set(zip(*(side.tolist() for side in alike(index, view, 0.6)), strict=True))
    for row, text in enumerate(texts):
        for item, other in enumerate(texts):
            one, two = (
                {tuple([*words, "", ""][at : at + 3]) for at in range(max(1, len(words) - 2))}
                for words in (text, other)
            )
            expected = len(one & two) / len(one | two)
            assert similarity(index, item, shingles_of(view.of(row))) == pytest.approx(expected)
            # bands may miss a pair, they never invent one
            assert (row, item) not in pairs or expected >= 0.6
        assert (row, row) in pairs


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abcd"), max_size=9), min_size=1, max_size=12),
    st.lists(st.sampled_from("abcd"), max_size=9),
    st.sampled_from([0.1, 0.3, 0.5, 0.8, 1.0]),
)
def test_no_text_is_passed_over_that_resembles_an_item(items: list[list[str]], text: list[str], least: float) -> None:
    def seen(texts: list[list[str]]) -> View:
        return views(pl.Series([" ".join(f"w{word}" for word in words) for words in texts])).plain

    long = ["abcd"[(n * n + n // 7) % 4] for n in range(400)]
    bench, rows = seen([*items, long]), seen([text, text * 60, long + text, *(item + text for item in items)])
    index = band_index(bench, least)
    promising = set(_promising(index, rows, least).tolist())
    for row in range(len(rows.starts) - 1):
        shingles = shingles_of(rows.of(row))
        likeness = [similarity(index, item, shingles) for item in range(len(items) + 1)] if len(shingles) else [0.0]
        assert row in promising or max(likeness) < least


@pytest.mark.parametrize("column", ["solution", "ground_truth"])
@pytest.mark.parametrize("field", ["solution", "ground_truth"])
def test_a_long_answer_of_a_benchmark_counts_wherever_a_row_has_it(column: str, field: str) -> None:
    bench = {"solution": [None, None], column: [PROOF, None]}
    answers = bench.pop("ground_truth", ["7", "2520"])
    search = search_in([STORY, OTHER], answers, **bench)
    row = {"solution": [None], field: [PROOF]}
    finding = found(search, "Another question about sequences?", row.pop("ground_truth", [None])[0], **row)
    assert finding is not None
    assert (finding.fate, finding.field, finding.method) == ("contaminated", field, f"{column}_coverage")
    assert "eventually periodic" in finding.matched


def test_a_short_answer_that_two_problems_share_is_no_leak() -> None:
    sets = r"(-\infty, -2) \cup (-2, 3) \cup (3, 5) \cup (5, \infty)"
    search = search_in([STORY, OTHER], [sets, "there are infinitely many solutions"])
    assert found(search, "Where is f continuous?", sets) is None
    assert found(search, "How many are there?", "there are infinitely many solutions") is None


REWORDED = (
    "At the harbour a merchant sells all of his cloth: 24 bolts of silk at 15 silver coins each and 36 bolts of linen "
    "at 7 coins each. His stall at the market costs him 30 coins. With how many coins does the merchant go home?"
)


def test_a_paraphrase_is_reported_and_dropped_by_nothing(tmp_path: Path) -> None:
    bench, pool = tmp_path / "bench.jsonl", tmp_path / "pool"
    pl.DataFrame({"problem": [STORY, OTHER], "answer": ["582", "2520"]}).write_ndjson(bench)
    from support.small_run import write_pool

    rows = frame([REWORDED, REWORDED.replace("24", "25"), "What is 3 + 4?"], ["582", None, "7"])
    write_pool(pool, rows.with_columns(source=pl.lit("made_up"), source_row=pl.int_range(pl.len()).cast(pl.Int64)))
    config = DecontaminateConfig(against=(str(bench),), paraphrases=True)
    run_stage(stage(config), open_artifact(pool), tmp_path / "out")
    out = open_artifact(tmp_path / "out")
    kept = out.read()
    hints = [json.loads(hint) if hint else None for hint in kept["benchmark_paraphrase"]]
    assert kept.height == 3
    assert hints[1:] == [None, None]
    assert (hints[0]["benchmark"], hints[0]["item_text"], hints[0]["method"]) == ("bench", STORY, "embedding")
    assert out.manifest.facts["likely paraphrases kept"] == 1
    queue = build_queue([out], QueueConfig(num_audit=0))
    assert [(entry.queue, entry.key) for entry in queue] == [("paraphrase", kept["key"][0])]


@pytest.mark.shared
def test_most_paraphrases_that_ngrams_miss_are_reported_and_few_other_rows(shared: Path) -> None:
    def prompts(path: str, column: str) -> list[str]:
        lines = (shared / "data" / path).read_text(encoding="utf-8").split("\n")
        return [json.loads(line)[column].split("Answer:")[0] for line in lines if line][:400]

    bench, reworded = prompts("gsm8k/test.jsonl", "question"), prompts("rephrased/rephrase_gsm8k.jsonl", "text")
    clean = prompts("gsm8k/train.jsonl", "question")
    search = ParaphraseSearch(items(bench, [None] * len(bench)), DecontaminateConfig().min_similarity)
    hints = search.find(frame(reworded, [None] * len(reworded)))
    right = [hint is not None and hint.item == str(number) for number, hint in enumerate(hints)]
    assert sum(right) >= 0.8 * len(right)
    wrong = [hint for hint in search.find(frame(clean, [None] * len(clean))) if hint]
    assert len(wrong) <= 0.003 * len(clean)


@pytest.mark.parametrize(
    ("one", "other", "fits"),
    [
        ("5 cows and 1,200 hens", "five cows, 1200 hens", True),
        ("45 men", "forty-five men", True),
        ("a shop sells one cake at $8.50, 12 in all", "each cake is $8.5, a dozen", True),
        ("3 cows", "3 cows and 4 hens", False),
        ("24 cows", "25 cows", False),
        ("1,2,3 and 4", "1, 2, 3 and 4", True),
        ("有 15 个苹果", "有十五个苹果", True),
        ("no numbers", "none here", True),
    ],
)
def test_figures_and_numbers_in_words_are_one(one: str, other: str, fits: bool) -> None:
    assert figures_of(one).fits(figures_of(other)) is fits
    assert figures_of(other).fits(figures_of(one)) is fits


def test_every_benchmark_of_the_bundle_is_pinned_to_a_commit_and_has_a_name() -> None:
    assert all(len(source.revision or "") == 40 for source in DEFAULT)
    assert len({source.name for source in DEFAULT}) == len(DEFAULT)


def test_a_file_goes_before_a_name_of_the_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("math500").mkdir()
    assert [source.path for source in sources_against(["math500"])] == [Path("math500")]
