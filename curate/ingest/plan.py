"""Plans how the rows of a source are read, by its first rows, and reads them as problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from pydantic import Field, PositiveInt

from curate.config import Config
from curate.ingest.builder import Builder, Problem, Unusable
from curate.ingest.columns import ColumnMap, Record
from curate.ingest.formats.rows import Row
from curate.ingest.layouts import Layout, Watch, extended, layouts_of
from curate.ingest.reading import first_records, streams
from curate.ingest.sources import Source

NUM_GUESSED_FROM: Final = 200


class IngestConfig(Config):
    """Import raw pools: map their columns, drop unusable rows with their line, merge exact duplicates.

    SOURCE is a file, a folder or an archive of JSONL, JSON, CSV, TSV, Parquet, Arrow, XLSX, XML or YAML, also
    compressed (.gz, .bz2, .xz, .zst), a Hub id, or - for standard input. The detected column mapping is printed with
    three sample rows before anything is written; --dry-run stops there.

    Example: gradus curate ingest gsm8k.jsonl pool/ --map 'prompt=problem or question' --out runs/first/ingest
    """

    max_prompt_bytes: int = Field(1_000_000, gt=0, description="Longer prompts are dropped as too_large")
    max_row_bytes: int = Field(64_000_000, gt=0, description="Longer lines are dropped as too_large, without parsing")
    limit: PositiveInt | None = Field(None, description="Number of rows to read of each source; all by default.")


class Plan(NamedTuple):
    """A source and how its rows are read: one layout, or one for each group of files with unlike columns."""

    source: Source
    layouts: tuple[Layout, ...]

    @property
    def columns(self) -> ColumnMap:
        """The column map of the first layout that has one."""
        return next(one.columns for one in self.layouts if one.columns is not None)

    def builders(self, config: IngestConfig) -> list[Builder]:
        """A builder for each layout."""
        return [one.builder(self.source.label(), config.max_prompt_bytes) for one in self.layouts]


class Replanned(Exception):  # noqa: N818  # not an error: the rows must be read again, by another plan
    """A row has a value in a column that the first rows lack, and `plan` reads it."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan


def plan(source: Source, config: IngestConfig) -> Plan:
    """Decide by the first rows of a source how to read it; raises `UserError` if no row or no prompt is found."""
    samples = first_records(source, config.max_row_bytes, NUM_GUESSED_FROM)
    return Plan(source, layouts_of(samples, source.map, source.label()))


def numbered_rows(plan: Plan, config: IngestConfig) -> Iterator[tuple[int, int, Row]]:
    """The rows of a source: number, number of the layout, row. Raises `Replanned` where the plan must change."""
    return islice(_numbered(plan, config), config.limit)


def _numbered(plan: Plan, config: IngestConfig) -> Iterator[tuple[int, int, Row]]:
    of_file = {file: at for at, one in enumerate(plan.layouts) for file in one.files}
    watches = [Watch(one.records) for one in plan.layouts]
    number = 0
    for file, rows in streams(plan.source, config.max_row_bytes):
        at = of_file.get(file, 0)
        for row in rows:
            if row.record is None or not watches[at].sees(row.record):
                yield number, at, row
                number += 1
                continue
            seen = [row, *islice(rows, NUM_GUESSED_FROM)]
            plan = _with(plan, at, seen, watches[at], number)
            watches[at] = Watch(plan.layouts[at].records)
            for one in seen:
                yield number, at, one
                number += 1


def _with(plan: Plan, at: int, rows: Sequence[Row], watch: Watch, number: int) -> Plan:
    """The plan with rows that have new columns, from row `number` on; raises `Replanned` if it reads rows otherwise."""
    found = [row.record for row in rows if row.record is not None and watch.sees(row.record)]
    new = extended(plan.layouts[at], found, number, plan.source)
    changed = Plan(plan.source, (*plan.layouts[:at], new, *plan.layouts[at + 1 :]))
    if not new.reads_like(plan.layouts[at]):
        raise Replanned(changed)
    return changed


def read_problems(plan: Plan, config: IngestConfig) -> Iterator[tuple[Record, Problem]]:
    """Every record of a planned source that is a problem, with that problem; the others are skipped."""
    while True:
        try:
            found = list(_problems(plan, config))
        except Replanned as again:
            plan = again.plan
        else:
            yield from found
            return


def _problems(plan: Plan, config: IngestConfig) -> Iterator[tuple[Record, Problem]]:
    builders = plan.builders(config)
    for number, at, row in numbered_rows(plan, config):
        if row.record is None:
            continue
        try:
            yield row.record, builders[at].problem(row.record, number)
        except Unusable:
            continue
