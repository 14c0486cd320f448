"""Evidence of a dropped row, parsed from `drop_detail`: the benchmark item or the problem that it matched.

Stages write evidence as plain text or as a JSON object. That of `decontaminate` names benchmark and item, and holds the
item's text or leaves it to a lookup in the benchmark.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from data_cards.dataset.tables import Tables

KEY: Final = re.compile(r"\b[0-9a-f]{24}\b")
Texts = Mapping[tuple[str, str], str]


@dataclass(frozen=True)
class Match:
    """The text that a row matched, and the name of its benchmark item or problem."""

    name: str
    text: str


def fields(detail: str | None) -> dict[str, Any]:
    """The fields of evidence that is a JSON object; empty for plain text."""
    if not detail or not detail.startswith("{"):
        return {}
    try:
        found = json.loads(detail)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def benchmark_of(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """Benchmark and item that a row matched; None if it matched none."""
    for detail in (row.get("drop_detail"), row.get("benchmark_variant")):
        evidence = fields(detail)
        if "benchmark" in evidence:
            return str(evidence["benchmark"]), str(evidence.get("item", ""))
    if row.get("contaminated_by"):
        benchmark, _, item = str(row["contaminated_by"]).partition("/")
        return benchmark, item
    return None


def benchmark_texts(against: Sequence[str]) -> dict[tuple[str, str], str]:
    """The prompts of benchmarks by (benchmark, item); `against` names them as `gradus curate decontaminate` does."""
    if not against:
        return {}
    from curate.decontaminate.benchmarks import read_items, sources_against

    items = read_items(sources_against(against)).select("benchmark", "item", "prompt")
    return {(benchmark, item): prompt for benchmark, item, prompt in items.iter_rows()}


def match(tables: Tables, row: Mapping[str, Any], texts: Texts) -> Match | None:
    """The match that a row's evidence names, with its text; None without a name or an available text."""
    if (place := benchmark_of(row)) is not None:
        evidence = fields(row.get("drop_detail")) or fields(row.get("benchmark_variant"))
        text = evidence.get("item_text") or texts.get(place)
        return Match("/".join(place), str(text)) if text else None
    named = KEY.search(f"{row.get('drop_detail') or ''} {row.get('variant_of') or ''}")
    if named is None or named.group() == row["key"]:
        return None
    for table in (tables.kept, tables.dropped):
        found = table.filter(pl.col("key") == named.group()).head(1).collect().to_dicts()
        if found:
            where = f"{found[0]['source']}, row {found[0]['source_row']}"
            return Match(f"problem {named.group()} ({where})", found[0]["prompt"] or "")
    return None
