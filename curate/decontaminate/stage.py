"""Finds problems that occur in a benchmark, so that a reported score does not measure memory.

The benchmarks are indexed, the pool streams past them: normalised exact match; rarity-weighted 5-gram coverage, as it
stands and with names and variables masked, and figure-masked 8-gram coverage (`gram_index`); Jaccard similarity by
MinHash bands (`bands`). What these propose, `same_problem` judges: the same problem is `contaminated`, a changed one a
`benchmark_variant`. A static embedding may point at paraphrases as well, for people to look at (`paraphrases`).

Reference solutions and long ground truths are held against the benchmarks' in the same way (`search`). A score
depends on the row and the benchmarks alone, never on the batch that the row came in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import polars as pl
from pydantic import Field

from curate.config import RUNTIME, Config
from curate.decontaminate.benchmarks import read_items, sources_against
from curate.decontaminate.paraphrases import Paraphrase, ParaphraseSearch, embedding_name
from curate.decontaminate.same_problem import Thresholds
from curate.decontaminate.search import Finding, LeakSearch
from curate.ingest.source_files import digest_of_source
from curate.records import ADDED
from curate.runner.stage import Run, Stage, Workspace, decide


class DecontaminateConfig(Config):
    """Drop problems that occur in a benchmark; report variants of a benchmark's problem.

    `--against` takes benchmark files (JSONL, JSON, CSV, Parquet), folders, artifacts and Hub ids, and may be given
    several times; `default` means the benchmarks that reasoning models are reported on, at fixed commits, and each
    of them for itself: math500, aime24, aime25, amc23, minerva, olympiadbench, gsm8k, gpqa, humaneval, mbpp,
    livecodebench (`gradus curate benchmarks` lists them). A row is contaminated when it holds an item's text and
    figures, or its solution; with other figures, operators or answers it is a variant. The evidence is in `drop_detail`
    and `benchmark_variant`: benchmark, item, method, score, matched words, the item's text. Paraphrases are only
    reported, in `benchmark_paraphrase`, for review.

    Example: gradus curate decontaminate runs/pool --against math500.jsonl --against aime24.jsonl --out runs/clean
    """

    against: tuple[str, ...] = Field((), description="Benchmark to hold the pool against.", json_schema_extra=RUNTIME)
    skip: tuple[str, ...] = Field(
        (), description="Benchmark of --against to leave out, by name, e.g. gpqa of default.", json_schema_extra=RUNTIME
    )
    drop_variants: bool = Field(False, description="Drop variants of benchmark problems too, as benchmark_variant.")
    min_coverage: float = Field(
        0.6, gt=0, le=1, description="Least weighted share of an item's 5-grams in a row that holds it."
    )
    min_renamed_coverage: float = Field(0.7, gt=0, le=1, description="The same with names and variables masked.")
    min_jaccard: float = Field(
        0.5, gt=0, le=1, description="Least Jaccard similarity of word triples between a row and an item."
    )
    min_variant_coverage: float = Field(
        0.75, gt=0, le=1, description="The same for a variant, also with figures masked (8-grams)."
    )
    paraphrases: bool = Field(
        False, description="Also report likely paraphrases of items, by a static embedding, for review."
    )
    min_similarity: float = Field(
        0.7, gt=0, le=1, description="Least cosine similarity of a row's and an item's embeddings for that."
    )


def stage(config: DecontaminateConfig) -> Stage:
    """The stage `decontaminate`: drops with reason `contaminated`, and `benchmark_variant` where that is asked for."""
    sources = sources_against(config.against, config.skip)
    embedding = {"embedding": embedding_name()} if config.paraphrases else {}

    @contextmanager
    def open_index(_: Workspace) -> Iterator[Run]:
        items = read_items(sources)
        search = LeakSearch(items, thresholds(config))
        paraphrases = ParaphraseSearch(items, config.min_similarity) if config.paraphrases else None
        yield lambda problems: _reported(run(problems, search, drop_variants=config.drop_variants), paraphrases)

    added = ("contaminated_by", "benchmark_variant", *(("benchmark_paraphrase",) if config.paraphrases else ()))
    return Stage(
        "decontaminate",
        6,
        "batch",
        config,
        open_index,
        adds={name: ADDED[name].dtype for name in added},
        inputs={f"benchmark {source.label()}": digest_of_source(source) for source in sources} | embedding,
        facts=_facts,
    )


def thresholds(config: DecontaminateConfig) -> Thresholds:
    """The thresholds of the methods, from the options."""
    return Thresholds(config.min_coverage, config.min_renamed_coverage, config.min_variant_coverage, config.min_jaccard)


def run(problems: pl.DataFrame, search: LeakSearch, *, drop_variants: bool) -> pl.DataFrame:
    """Add `contaminated_by`, `benchmark_variant` and the decision; evidence is JSON."""
    found = search.find(problems)
    leaks = [finding if finding and finding.fate == "contaminated" else None for finding in found]
    variants = [finding if finding and finding.fate == "variant" else None for finding in found]
    table = pl.DataFrame(
        {
            "contaminated_by": [f"{it.benchmark}/{it.item}" if it else None for it in leaks],
            "benchmark_variant": [_evidence(it) if it else None for it in variants],
            "evidence": [_evidence(it) if it else None for it in found],
        },
        schema=dict.fromkeys(("contaminated_by", "benchmark_variant", "evidence"), pl.String()),
    )
    is_variant = pl.col("benchmark_variant").is_not_null() & drop_variants
    reason = (
        pl.when(pl.col("contaminated_by").is_not_null())
        .then(pl.lit("contaminated"))
        .when(is_variant)
        .then(pl.lit("benchmark_variant"))
    )
    return decide(problems.hstack(table), reason, pl.col("evidence")).drop("evidence")


def _reported(decided: pl.DataFrame, search: ParaphraseSearch | None) -> pl.DataFrame:
    """With `benchmark_paraphrase` on the kept rows, where paraphrases are looked for; dropped rows need no hint."""
    if search is None:
        return decided
    is_kept = decided["drop_reason"].is_null()
    found = iter(search.find(decided.filter(is_kept)))
    hints = [hint if kept and (hint := next(found)) is not None else None for kept in is_kept]
    evidence = [_hint(hint) if hint else None for hint in hints]
    return decided.with_columns(pl.Series("benchmark_paraphrase", evidence, dtype=pl.String))


def _hint(hint: Paraphrase) -> str:
    fields = {**asdict(hint), "method": "embedding", "score": round(hint.score, 3)}
    return json.dumps(fields, ensure_ascii=False)


def _evidence(finding: Finding) -> str:
    fields: dict[str, Any] = {  # Any: JSON
        "benchmark": finding.benchmark,
        "item": finding.item,
        "field": finding.field,
        "method": finding.method,
        "score": round(finding.score, 3),
        "matched": finding.matched,
        "item_text": finding.item_text,
    }
    return json.dumps(fields, ensure_ascii=False)


def _facts(scan: Callable[[str], pl.LazyFrame]) -> dict[str, Any]:  # Any: see curate.artifacts.folder.Facts
    variants = scan("kept").select(pl.col("benchmark_variant").is_not_null().sum()).collect().item()
    by_benchmark = (
        scan("dropped")
        .filter(pl.col("drop_reason") == "contaminated")
        .select(pl.col("drop_detail").str.json_path_match("$.benchmark").alias("benchmark"))
        .group_by("benchmark")
        .len()
        .sort("benchmark")
        .collect()
    )
    counts = {f"contaminated by {name}": count for name, count in by_benchmark.iter_rows()}
    hints = {}
    if "benchmark_paraphrase" in scan("kept").collect_schema():
        is_hint = pl.col("benchmark_paraphrase").is_not_null()
        hints = {"likely paraphrases kept": scan("kept").select(is_hint.sum()).collect().item()}
    return {**counts, "benchmark variants kept": variants, **hints}
