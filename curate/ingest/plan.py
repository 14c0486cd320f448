"""Plans how the rows of a source are read, by its first rows, and previews the plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from pydantic import Field

from curate.config import Config
from curate.ingest.builder import Builder, Problem, Unusable
from curate.ingest.choices import choices_of, first_index
from curate.ingest.columns import CellReader, ColumnMap, Record
from curate.ingest.mapping import guess
from curate.ingest.sources import Source, first_records, read_rows

NUM_GUESSED_FROM: Final = 200
NUM_SHOWN: Final = 3


class IngestConfig(Config):
    """Import raw pools: map their columns, drop unusable rows with their line, merge exact duplicates.

    SOURCE is a file or folder of JSONL, JSON, CSV, TSV, Parquet (also gzipped) or Arrow, or a Hub id. The detected
    column mapping is printed with three sample rows before anything is written.

    Example: gradus curate ingest gsm8k.jsonl pool/ --map prompt=question --out runs/first/ingest
    """

    max_prompt_bytes: int = Field(1_000_000, gt=0, description="Longer prompts are dropped as too_large")
    max_row_bytes: int = Field(64_000_000, gt=0, description="Longer lines are dropped as too_large, without parsing")


class Plan(NamedTuple):
    """A source and how its rows are read."""

    source: Source
    columns: ColumnMap
    first_index: int
    samples: list[Problem]

    def builder(self, config: IngestConfig) -> Builder:
        """The builder of problems from the source's records."""
        return Builder(self.columns, self.source.label(), config.max_prompt_bytes, self.first_index)


def plan(source: Source, config: IngestConfig) -> Plan:
    """Decide by the first rows of a source how to read it; raises `UserError` if no row or no prompt is found."""
    records = first_records(source, config.max_row_bytes, NUM_GUESSED_FROM)
    columns = guess(records, source.map, source.label())
    planned = Plan(source, columns, first_option(columns, records), [])
    samples = list(islice(_good(planned.builder(config), records), NUM_SHOWN))
    return planned._replace(samples=samples)


def read_problems(plan: Plan, config: IngestConfig) -> Iterator[tuple[Record, Problem]]:
    """Every record of a planned source that is a problem, with that problem; the others are skipped."""
    builder = plan.builder(config)
    for number, row in enumerate(read_rows(plan.source, config.max_row_bytes)):
        if row.record is None:
            continue
        try:
            yield row.record, builder.problem(row.record, number)
        except Unusable:
            continue


def first_option(columns: ColumnMap, records: Sequence[Record]) -> int:
    """The number of the first option in a source's answers: from a column `option1`, else from the answers."""
    if not columns.choices or not columns.ground_truth:
        return 0
    if len(columns.choices) > 1 and columns.choices[0][-1].isdecimal():
        return int(columns.choices[0][-1])
    cells = map(CellReader(columns).cells, records)
    return first_index((next(cell.truths), choices_of(cell.choices)) for cell in cells)


def preview(plan: Plan) -> str:
    """The detected column mapping with three sample rows, printed before anything is written."""
    lines = [f"{plan.source.label()}", *(f"  {line}" for line in plan.columns.lines())]
    for number, sample in enumerate(plan.samples, start=1):
        lines.append(f"  {number}. {_short(sample['prompt'], 88)}")
        shown = {**sample, "choices": " | ".join(sample["choices"] or ()) or None}
        present = [field for field in ("ground_truth", "choices", "tests") if shown[field]]
        lines += [f"     {field}: {_short(shown[field], 86 - len(field))}" for field in present]
    return "\n".join(lines)


def _short(text: str | None, width: int) -> str:
    flat = " ".join((text or "none").split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"


def _good(builder: Builder, records: Sequence[Record]) -> Iterator[Problem]:
    for number, record in enumerate(records):
        try:
            yield builder.problem(record, number)
        except Unusable:
            continue
