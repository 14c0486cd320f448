"""The preview of a plan: the detected column mapping, notes on it, and three sample rows of each layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from curate.ingest.builder import Builder, Problem, Unusable
from curate.ingest.columns import Record
from curate.ingest.layouts import Layout
from curate.ingest.mapping import unread_constants
from curate.ingest.plan import IngestConfig, Plan
from curate.records import RULED

NUM_SHOWN: Final = 3
_NUM_FILES: Final = 3
_NUM_LAYOUTS: Final = 8


def preview(plan: Plan, config: IngestConfig | None = None) -> str:
    """The detected column mapping with three sample rows, printed before anything is written."""
    builders = plan.builders(config or IngestConfig())
    lines = [plan.source.label()]
    shown = list(zip(plan.layouts, builders, strict=True))[:_NUM_LAYOUTS]
    for layout, builder in shown:
        lines += [f"  in {_files(layout.files)}:"] if len(plan.layouts) > 1 else []
        lines += [f"  {line}" for line in _mapping(layout)]
        lines += _samples(builder, layout.records)
    if len(plan.layouts) > len(shown):
        lines.append(f"  and {len(plan.layouts) - len(shown)} more groups of files with other columns")
    return "\n".join(lines)


def expected(plan: Plan, config: IngestConfig) -> str:
    """What happens to the first rows of a source: `first 200 rows = 190 problems + 10 dropped (no_prompt 10)`."""
    reasons: Counter[str] = Counter()
    for layout, builder in zip(plan.layouts, plan.builders(config), strict=True):
        reasons.update(reason for _, reason in _tried(builder, layout.records))
    num_rows, num_good = reasons.total(), reasons.pop("", 0)
    dropped = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
    return f"first {num_rows:,} rows = {num_good:,} problems + {num_rows - num_good:,} dropped" + (
        f" ({dropped})" if dropped else ""
    )


def _files(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NUM_FILES} more files" if len(names) > _NUM_FILES else ""
    return ", ".join(names[:_NUM_FILES]) + more


def _mapping(layout: Layout) -> list[str]:
    if layout.columns is None:
        return ["no column looks like the problem: these rows are dropped; name it with --map prompt=COLUMN"]
    constant = unread_constants(layout.columns, layout.records)
    return [
        *layout.columns.lines(),
        *(f"{name} has one text in all rows: not part of the problem" for name in constant),
        *([f"system text of all rows, sent but not compared: {_short(layout.system, 60)}"] if layout.system else []),
    ]


def _samples(builder: Builder, records: Sequence[Record]) -> list[str]:
    lines = []
    good = (problem for problem, _ in _tried(builder, records) if problem is not None)
    for number, sample in enumerate(islice(good, NUM_SHOWN), start=1):
        lines.append(f"  {number}. {_short(sample['prompt'], 88)}")
        shown = {**sample, "choices": " | ".join(sample["choices"] or ()) or None}
        fields = ("kind", "ground_truth") if sample["kind"] in RULED else ("ground_truth",)
        present = [field for field in (*fields, "choices", "tests") if shown[field]]
        lines += [f"     {field}: {_short(shown[field], 86 - len(field))}" for field in present]
    return lines


def _short(text: str | None, width: int) -> str:
    flat = " ".join((text or "none").split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def _tried(builder: Builder, records: Sequence[Record]) -> Iterator[tuple[Problem | None, str]]:
    """Each record's problem with an empty reason, or None with the reason why it is none."""
    for number, record in enumerate(records):
        try:
            yield builder.problem(record, number), ""
        except Unusable as unusable:
            yield None, unusable.reason
