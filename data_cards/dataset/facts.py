"""Facts of a card, computed from the chain of manifests and the dataset's tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from curate.artifacts.manifest import Manifest
from data_cards.dataset.evidence import benchmark_of, fields
from data_cards.dataset.parts import scan_written

KNOWN_LICENCES: Final = (
    "apache-2.0", "mit", "bsd-2-clause", "bsd-3-clause", "cc0-1.0", "cc-by-2.0", "cc-by-3.0", "cc-by-4.0",
    "cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "cc-by-nd-4.0", "odc-by",
    "odbl", "gpl-3.0", "lgpl-3.0", "mpl-2.0", "unlicense", "cdla-permissive-2.0",
)  # fmt: skip
SIZES: Final = (
    (10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"),
    (10**8, "10M<n<100M"), (10**9, "100M<n<1B"),
)  # fmt: skip
UNSTATED: Final = ("", "unknown", "none")
BENCHMARK_INPUT: Final = "benchmark "  # prefix of benchmarks in the inputs of decontaminate
MATCH_REASONS: Final = ("contaminated", "benchmark_variant")


@dataclass(frozen=True)
class Source:
    """One source of problems: its recorded metadata, and its rows before and after the run.

    `content` is the SHA-256 of its files, or the commit of a Hub dataset.
    """

    name: str
    licence: str
    revision: str
    content: str
    num_rows: int
    num_kept: int


def sources(stages: Sequence[Manifest], dataset: Path) -> list[Source]:
    """The sources in order of rows kept, with licence and revision if recorded."""
    kept, dropped = _count_by_source(dataset, "kept"), _count_by_source(dataset, "dropped")
    recorded = {str(entry["name"]): entry for entry in stages[0].facts.get("sources", [])}
    names = sorted({*kept, *dropped, *recorded}, key=lambda name: (-kept.get(name, 0), name))
    return [
        Source(
            name=name,
            licence=str(recorded.get(name, {}).get("licence") or ""),
            revision=str(recorded.get(name, {}).get("revision") or ""),
            content=stages[0].inputs.get(name, ""),
            num_rows=recorded.get(name, {}).get("num_rows") or kept.get(name, 0) + dropped.get(name, 0),
            num_kept=kept.get(name, 0),
        )
        for name in names
    ]


def licence_ids(licences: Sequence[str]) -> list[str]:
    """The Hub's identifiers of the licences: the one that a text begins with, `other` for unknown ones."""
    found = set()
    for licence in licences:
        word = licence.lower().split("(")[0].strip().replace(" ", "-")
        found.add(word if word in KNOWN_LICENCES else "unknown" if licence.lower() in UNSTATED else "other")
    return sorted(found) or ["unknown"]


def size_category(num_rows: int) -> str:
    """The Hub's size category of a dataset of `num_rows` rows."""
    return next((name for limit, name in SIZES if num_rows < limit), "n>1B")


def languages(prompts: pl.LazyFrame) -> list[str]:
    """Languages by script, ISO 639-1: `zh` if 1% or more of the prompts hold Han characters, `en` for the others."""
    share = prompts.select(pl.col("prompt").str.contains(r"\p{Han}").mean()).collect().item() or 0.0
    return [*(["en"] if share < 0.99 else []), *(["zh"] if share >= 0.01 else [])]


def find_stage(stages: Sequence[Manifest], name: str) -> Manifest | None:
    """The last stage of this name, or None."""
    return next((stage for stage in reversed(stages) if stage.stage == name), None)


def model_name(stages: Sequence[Manifest]) -> str:
    """The model that the difficulty stage sampled, for which pass rates hold; empty without that stage."""
    stage = find_stage(stages, "difficulty")
    return str(stage.facts.get("model", "a model of unknown name")) if stage else ""


def samples_spared(stages: Sequence[Manifest]) -> float:
    """Share of the difficulty stage's samples that curtailed sampling saved; 0 if all were drawn."""
    stage = find_stage(stages, "difficulty")
    return float(stage.facts.get("samples_saved_rate", 0.0)) if stage else 0.0


@dataclass(frozen=True)
class Benchmark:
    """A benchmark that the pool was compared with, its digest or commit, and its matched rows by method."""

    name: str
    content: str
    num_dropped: int
    methods: dict[str, int]


def benchmarks(stages: Sequence[Manifest], dataset: Path | None = None) -> list[Benchmark]:
    """The benchmarks of the decontaminate stage, those with the most matches in `dataset` first."""
    stage = find_stage(stages, "decontaminate")
    contents = {
        name.removeprefix(BENCHMARK_INPUT): content
        for name, content in (stage.inputs if stage else {}).items()
        if name.startswith(BENCHMARK_INPUT)
    }
    methods: dict[str, Counter[str]] = {name: Counter() for name in contents}
    for row in _matched_rows(dataset):
        if (place := benchmark_of(row)) is not None:
            method = str(fields(row["drop_detail"]).get("method", "unnamed"))
            methods.setdefault(place[0], Counter())[method] += 1
    found = [
        Benchmark(name, contents.get(name, ""), counts.total(), dict(counts.most_common()))
        for name, counts in methods.items()
    ]
    return sorted(found, key=lambda benchmark: (-benchmark.num_dropped, benchmark.name))


def _matched_rows(dataset: Path | None) -> list[dict[str, Any]]:
    if dataset is None:
        return []
    is_matched = pl.col("drop_reason").is_in(MATCH_REASONS)
    matched = scan_written(dataset, "dropped").filter(is_matched)
    return matched.select("drop_detail", "drop_reason").collect().to_dicts()


def flatten(config: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """A nested config as dotted names: `{"a": {"b": 1}}` gives `{"a.b": 1}`."""
    flat: dict[str, Any] = {}
    for name, value in config.items():
        flat.update(flatten(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value})
    return flat


def _count_by_source(dataset: Path, part: str) -> dict[str, int]:
    counts = scan_written(dataset, part).group_by(pl.col("source").fill_null("(unknown)")).len().collect()
    return dict(counts.iter_rows())
