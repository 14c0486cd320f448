"""Find problems that stand in a benchmark, so that a reported score measures more than memory.

The benchmarks are indexed (`benchmarks_index`), the pool streams past them: normalised exact match; rarity-weighted
5-gram coverage, as it stands and with names and variables masked; figure-masked 8-gram coverage. What the n-grams
propose, `leaks` judges: the same problem is `contaminated`, a changed one a `benchmark_variant`. Because the index is
small, its Jaccard similarity with a row is not estimated by MinHash: coverage is computed exactly on shared n-grams.

Reference solutions are held against the benchmarks' prompts and solutions in the same way. A score depends on the row
and the benchmarks alone, never on the batch that the row came in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import polars as pl
from pydantic import Field

from curate.benchmarks import read_items, sources_against
from curate.config import RUNTIME, Config
from curate.leak_search import Finding, LeakSearch
from curate.leaks import Thresholds
from curate.records import ADDED
from curate.sources import Source, digest_of_source
from curate.stage import Run, Stage, Workspace, decide


class DecontaminateConfig(Config):
    """Drop problems that stand in a benchmark; report those that are variants of a benchmark's problem.

    `--against` takes benchmark files (JSONL, JSON, CSV, Parquet), folders, artifacts and Hub ids, and may be given
    several times; `default` stands for the benchmarks that reasoning models are reported on. A row is contaminated when
    it holds an item's text and figures; with other figures, operators or answers it is a variant. The evidence is in
    `drop_detail` and `benchmark_variant`: benchmark, item, method, score, matched words, the item's text.

    Example: gradus curate decontaminate runs/pool --against math500.jsonl --against aime24.jsonl --out runs/clean
    """

    against: tuple[str, ...] = Field((), description="Benchmark to hold the pool against.", json_schema_extra=RUNTIME)
    drop_variants: bool = Field(False, description="Drop variants of benchmark problems too, as benchmark_variant.")
    min_coverage: float = Field(
        0.6, gt=0, le=1, description="Least weighted share of an item's 5-grams in a row that holds it."
    )
    min_renamed_coverage: float = Field(0.7, gt=0, le=1, description="The same with names and variables masked.")
    min_variant_coverage: float = Field(
        0.75, gt=0, le=1, description="The same for a variant, also with figures masked (8-grams)."
    )


def stage(config: DecontaminateConfig) -> Stage:
    """The stage `decontaminate`: drops with reason `contaminated`, and `benchmark_variant` where that is asked for."""
    sources = sources_against(config.against)

    @contextmanager
    def open_index(_: Workspace) -> Iterator[Run]:
        search = leak_search(sources, config)
        yield lambda problems: run(problems, search, drop_variants=config.drop_variants)

    return Stage(
        "decontaminate",
        1,
        "batch",
        config,
        open_index,
        adds={name: ADDED[name].dtype for name in ("contaminated_by", "benchmark_variant")},
        inputs={f"benchmark {source.label()}": digest_of_source(source) for source in sources},
        facts=_facts,
    )


def leak_search(sources: list[Source], config: DecontaminateConfig) -> LeakSearch:
    """The benchmarks of `sources`, indexed."""
    least = Thresholds(config.min_coverage, config.min_renamed_coverage, config.min_variant_coverage)
    return LeakSearch(read_items(sources), least)


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


def _facts(scan: Callable[[str], pl.LazyFrame]) -> dict[str, Any]:  # Any: see curate.out_folder.Facts
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
    return {**counts, "benchmark variants kept": variants}
