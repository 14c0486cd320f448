"""One self-contained HTML page about a run or a dataset: funnel, reasons with examples, matches side by side, lengths.

The page loads and runs nothing: images are embedded, a content security policy forbids the rest, and every text is
escaped inside a box of its own, so that no problem text can change the page.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from curate.artifacts.funnel import step_of
from curate.artifacts.manifest import write_atomic
from curate.errors import UserError
from data_cards.card import plots
from data_cards.card.figures import pictures
from data_cards.dataset.evidence import Texts, fields, match
from data_cards.dataset.facts import MATCH_REASONS
from data_cards.dataset.tables import Tables
from data_cards.show.side_by_side import compare
from data_cards.show.trace import clipped, visible

TEMPLATES: Final = Path(__file__).parent / "templates"
NUM_EXAMPLES: Final = 3
MAX_PAIRS: Final = 30
MAX_CHARS: Final = 2_000
# shown beside the row instead
NOT_LISTED: Final = ("item_text",)


def report(tables: Tables, out: Path, title: str, texts: Texts) -> None:
    """Write the page to `out`; `texts` are the benchmarks' items, for side-by-side matches."""
    page = {
        "title": title,
        "steps": [step_of(stage) for stage in tables.stages],
        "stages": [{"name": stage.stage, "config": stage.config, "inputs": stage.inputs} for stage in tables.stages],
        "reasons": _reasons(tables),
        "pairs": _pairs(tables, texts),
        "num_matched": _matched(tables).select(pl.len()).collect().item(),
        "max_pairs": MAX_PAIRS,
        "kept": [_shown(row) for row in tables.kept.head(NUM_EXAMPLES).collect().to_dicts()],
        "samples": _samples(tables),
        "pictures": _pictures(tables),
    }
    text = _environment().get_template("report.html.j2").render(page)
    try:
        write_atomic(out, text.encode())
    except OSError as error:
        raise UserError(f"{out}: cannot write here ({error.strerror}); choose another --out") from None


def _environment() -> Any:  # Any: jinja2's Environment, imported only when a page is made
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["text"] = lambda text: visible(clipped("" if text is None else str(text), MAX_CHARS))
    return environment


def _reasons(tables: Tables) -> list[dict[str, Any]]:
    """Per stage and reason: the number of rows, and the first few."""
    counts = tables.dropped.group_by("stage", "drop_reason", maintain_order=True).len().collect()
    return [
        {
            "stage": stage,
            "reason": reason,
            "num_rows": number,
            "examples": [
                _shown(row)
                for row in tables.dropped.filter((pl.col("stage") == stage) & (pl.col("drop_reason") == reason))
                .head(NUM_EXAMPLES)
                .collect()
                .to_dicts()
            ],
        }
        for stage, reason, number in counts.iter_rows()
    ]


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a row shown on the page; JSON evidence as separate fields."""
    evidence = {name: value for name, value in fields(row.get("drop_detail")).items() if name not in NOT_LISTED}
    return {
        "key": row["key"],
        "place": f"{row['source']}, row {row['source_row']}",
        "prompt": row["prompt"],
        "ground_truth": row["ground_truth"],
        "choices": row.get("choices") or [],
        "rate": _rate(row),
        "evidence": evidence or {"evidence": row.get("drop_detail")},
    }


def _rate(row: Mapping[str, Any]) -> str:
    if row.get("pass_rate") is None:
        return ""
    return f"pass rate {row['pass_rate']:.2f} ({row['num_correct']} of {row['num_samples']})"


def _matched(tables: Tables) -> pl.LazyFrame:
    return tables.dropped.filter(pl.col("drop_reason").is_in(MATCH_REASONS))


def _pairs(tables: Tables, texts: Texts) -> list[dict[str, Any]]:
    """Rows that matched a benchmark, beside the matched text if it is available."""
    pairs = []
    for row in _matched(tables).head(MAX_PAIRS).collect().to_dicts():
        found = match(tables, row, texts)
        sides = compare(*(clipped(text, MAX_CHARS) for text in (row["prompt"] or "", found.text))) if found else None
        pairs.append({"row": _shown(row), "name": found.name if found else "", "sides": sides})
    return pairs


def _samples(tables: Tables) -> list[dict[str, Any]]:
    """The first few completions of each stage and verdict, with their prompts."""
    first = tables.samples.group_by("stage", "verdict", maintain_order=True).head(NUM_EXAMPLES)
    prompts = pl.concat([tables.kept.select("key", "prompt"), tables.dropped.select("key", "prompt")])
    return (
        first.join(prompts, on="key", how="left", maintain_order="left").collect().sort("stage", "verdict").to_dicts()
    )


def _pictures(tables: Tables) -> list[dict[str, str]]:
    drawn = pictures(tables.stages, tables.kept, tables.dropped, tables.samples)
    return [{"alt": p.alt, "data": base64.b64encode(plots.png(p.figure)).decode()} for p in drawn]
