"""The page of `pools_report.py`: tables of what each stage dropped, with examples by id, and the rulings on some."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import polars as pl

from curate.artifacts.artifact import Artifact

Artifacts = Mapping[str, Artifact]  # by stage
INTRO: Final = """# Public pools

What the stages without a model find in the pools and benchmarks beside the project, each with its default options.
`python benchmarks/pools_report.py` writes this page. Ids are `source#row`, counted from 0; the page holds no text of
the data.
"""
READ: Final = """Dropped rows that were read one by one with their evidence, long texts in part: at least fifty of each
reason at random, or all if there are fewer; of leaks only those whose text is not the item's letter for letter, of
multiple choice only those with the options in the prompt. A row is wrong if it should have been kept. The stages were
mended after this reading: `still dropped` counts the wrong rows that they still drop. `benchmarks/pools_read.jsonl`
holds the rulings.
"""
HEADS: Final = (
    "pool",
    "rows",
    "merged",
    "unusable",
    "conflicts",
    "near duplicates",
    "multiple choice",
    "unverifiable",
    "leaks",
    "variants",
    "clean",
)
NOTES: Final = """
Rows are merged if their text, kind and options are the same. A conflict is one text with two answers. Near duplicates,
multiple choice and unverifiable are dropped by dedup, multiple-choice and verifiable, each from the rows that the one
before it kept. Leaks and variants are sought among all imported rows, against every benchmark of the table except the
file itself; variants are kept. Clean rows pass all stages.
"""


def page(pools: Mapping[str, Artifacts], skipped: Mapping[str, str], rulings: Path) -> str:
    """The page as Markdown: of each pool its counts, its drop reasons and its leaks, and the rulings."""
    parts = [
        INTRO,
        _table(HEADS, [(name, *_counts(stages)) for name, stages in pools.items()]),
        NOTES,
        "## Drop reasons\n",
        _table(("reason", "stage", "rows", "examples"), list(_reasons(pools))),
        "## Leaks and variants by benchmark\n",
        _table(("pool", "benchmark", "leaks", "variants", "examples"), list(_leaks(pools))),
        "## Read by hand\n",
        READ,
        _table(("reason", "read", "wrong", "still dropped", "what was wrong"), list(_read(rulings, pools))),
        "## Left out\n",
        _table(("file", "reason"), sorted(skipped.items())),
    ]
    return "\n".join(parts)


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(_cell(cell) for cell in line) + " |\n" for line in lines)


def _cell(cell: object) -> str:
    return f"{cell:,}" if isinstance(cell, int) else str(cell).replace("|", "\\|")


def _counts(stages: Artifacts) -> tuple[int, ...]:
    reasons = {name: artifact.manifest.reasons for name, artifact in stages.items()}
    conflicts = sum(of.get("conflicting_answers", 0) for of in reasons.values())
    first = stages["ingest"].manifest
    dirty = _dropped(stages["decontaminate"]).select("key")
    clean = stages["verifiable"].scan("kept").join(dirty, on="key", how="anti").select(pl.len()).collect().item()
    return (
        first.num_in + _merged(stages["ingest"]),
        _merged(stages["ingest"]),
        first.num_dropped - reasons["ingest"].get("conflicting_answers", 0),
        conflicts,
        stages["dedup"].manifest.num_dropped - reasons["dedup"].get("conflicting_answers", 0),
        stages["multiple-choice"].manifest.num_dropped,
        stages["verifiable"].manifest.num_dropped,
        stages["decontaminate"].manifest.num_dropped,
        _variants(stages["decontaminate"]).select(pl.len()).collect().item(),
        clean,
    )


def _merged(artifact: Artifact) -> int:
    """Rows that were merged into kept rows or into conflicting ones."""
    parts = [part for part in ("kept", "dropped") if artifact.manifest.num_kept or part == "dropped"]
    counts = [artifact.scan(part).select(pl.col("also_in").list.len().sum()).collect().item() for part in parts]
    return sum(count or 0 for count in counts)


def _dropped(artifact: Artifact) -> pl.LazyFrame:
    return artifact.scan("dropped").with_columns(_ID)


_ID: Final = pl.concat_str("source", pl.lit("#"), pl.col("source_row").cast(pl.String)).alias("id")


def _variants(artifact: Artifact) -> pl.LazyFrame:
    return artifact.scan("kept").filter(pl.col("benchmark_variant").is_not_null()).with_columns(_ID)


def _reasons(pools: Mapping[str, Artifacts]) -> Iterator[tuple[str, str, int, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], list[str]] = {}
    for stages in pools.values():
        for name, artifact in stages.items():
            of_stage = _dropped(artifact).select("drop_reason", "id").collect()
            for (reason,), rows in of_stage.group_by("drop_reason", maintain_order=True):
                counts[name, str(reason)] += rows.height
                examples.setdefault((name, str(reason)), []).append(rows["id"][0])
                examples[name, str(reason)] += rows["id"][1:2].to_list()
    for (name, reason), count in sorted(counts.items()):
        yield f"`{reason}`", name, count, _some(examples[name, reason])


def _leaks(pools: Mapping[str, Artifacts]) -> Iterator[tuple[str, str, int, int, str]]:
    for name, stages in pools.items():
        found = pl.concat(
            table.select(
                "id",
                pl.col(evidence).str.json_path_match("$.benchmark").alias("benchmark"),
                pl.col(evidence).str.json_path_match("$.item").alias("item"),
                pl.lit(is_leak).alias("is_leak"),
            ).collect()
            for table, evidence, is_leak in (
                (_dropped(stages["decontaminate"]), "drop_detail", True),
                (_variants(stages["decontaminate"]), "benchmark_variant", False),
            )
        )
        for (benchmark,), rows in sorted(found.group_by("benchmark", maintain_order=True), key=lambda it: str(it[0])):
            num_leaks = int(rows["is_leak"].sum())
            pairs = [f"{row['id']} in {row['item']}" for row in rows.head(2).to_dicts()]
            yield name, str(benchmark), num_leaks, rows.height - num_leaks, _some(pairs)


def _some(examples: Sequence[str]) -> str:
    return ", ".join(examples[:2])


def _read(path: Path, pools: Mapping[str, Artifacts]) -> Iterator[tuple[str, int, int, int, str]]:
    """Counts of the rulings by reason; a line is `{id, reason, ruling, note}` with the ruling right or wrong."""
    rulings = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    dropped = {
        (place, reason)
        for stages in pools.values()
        for artifact in stages.values()
        for place, reason in _dropped(artifact).select("id", "drop_reason").collect().iter_rows()
    }
    for reason in sorted({ruling["reason"] for ruling in rulings}):
        of_reason = [ruling for ruling in rulings if ruling["reason"] == reason]
        wrong = [ruling for ruling in of_reason if ruling["ruling"] == "wrong"]
        still = sum((ruling["id"], reason) in dropped for ruling in wrong)
        notes = "; ".join(sorted({ruling["note"] for ruling in wrong}))
        yield f"`{reason}`", len(of_reason), len(wrong), still, notes
