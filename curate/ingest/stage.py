"""Ingest: raw sources become one pool of problems, exact duplicates merged, unusable rows dropped with their line.

Two passes over the data, so that a pool of any size streams through little memory. The first turns rows into problems,
a chunk at a time, in `rows.tmp`; `curate.ingest.merge` then decides from keys and hashes alone which rows are one
problem; the second writes the chunks out, each winner with the places of its twins. Keys are `records.problem_key`'s.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl
from pydantic import Field

from curate.artifacts.artifact import write_shard
from curate.artifacts.folder import OutFolder
from curate.config import Config
from curate.errors import UserError
from curate.ingest.builder import Builder, Problem, Unusable
from curate.ingest.choices import first_index
from curate.ingest.mapping import ColumnMap, Record, cell, guess
from curate.ingest.merge import Merge, find_merges
from curate.ingest.rows import Row
from curate.ingest.sources import Source, digest_of_source, first_records, read_rows
from curate.progress import Progress
from curate.records import DECISION, PROBLEM, problem_key, schema
from curate.runner.run import Outcome

VERSION: Final = 3
CHUNK_ROWS: Final = 20_000
NUM_GUESSED_FROM: Final = 200
SPILL: Final = "rows.tmp"


class IngestConfig(Config):
    """Import raw pools: map their columns, drop unusable rows with their line, merge exact duplicates.

    SOURCE is a file or folder of JSONL, JSON, CSV, TSV, Parquet (also gzipped) or Arrow, or a Hub id. What each column
    was taken for is printed with three sample rows before anything is written.

    Example: gradus curate ingest gsm8k.jsonl pool/ --map prompt=question --out runs/first/ingest
    """

    max_prompt_bytes: int = Field(1_000_000, gt=0, description="Longer prompts are dropped as too_large")
    max_row_bytes: int = Field(64_000_000, gt=0, description="Longer lines are skipped unread, dropped as too_large")


class Plan(NamedTuple):
    """A source and how its rows will be read."""

    source: Source
    columns: ColumnMap
    first_index: int
    samples: list[Problem]


def plan(source: Source, config: IngestConfig) -> Plan:
    """Look at the first rows of a source and decide how to read it; raises `UserError` where that cannot be told."""
    records = first_records(source, config.max_row_bytes, NUM_GUESSED_FROM)
    columns = guess(records, source.map, source.label())
    start = first_option(columns, records)
    builder = Builder(columns, source.label(), config.max_prompt_bytes, start)
    samples = list(islice(_good(builder, records), 3))
    return Plan(source, columns, start, samples)


def first_option(columns: ColumnMap, records: Sequence[Record]) -> int:
    """The number that a source's answers give the first option: told by `option1`, else by the answers themselves."""
    if not columns.choices or not columns.ground_truth:
        return 0
    if len(columns.choices) > 1 and columns.choices[0][-1].isdecimal():
        return int(columns.choices[0][-1])
    reader = Builder(columns, "", 1)
    return first_index((cell(record, columns.ground_truth[0]), reader.choices(record)) for record in records)


def ingest(plans: Sequence[Plan], config: IngestConfig, out: Path, *, force: bool = False) -> Outcome:
    """Import the planned sources into the artifact `out`; goes on where an interrupted run stopped."""
    reads = [plan.source.path for plan in plans if plan.source.path is not None]
    with OutFolder(out, identity(plans, config), reads=reads, force=force) as folder:
        spill = out / SPILL
        if (complete := folder.complete()) is not None:
            shutil.rmtree(spill, ignore_errors=True)
            return Outcome(complete, is_reused=True)
        num_chunks = _spill(plans, config, spill)
        shards = [_shard(spill, index) for index in range(num_chunks)]
        merges = find_merges(shards)
        for index, shard in enumerate(shards):
            if not folder.has_batch(index):
                folder.write_batch(index, merges.applied(index, pl.read_parquet(shard)))
        manifest = folder.finish(lambda _: _facts(plans, merges))
        shutil.rmtree(spill)
        return Outcome(manifest, is_reused=False)


def preview(plan: Plan) -> str:
    """What was taken for what, with three sample rows: printed before anything is written."""
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


def identity(plans: Sequence[Plan], config: IngestConfig) -> dict[str, Any]:
    """What the fingerprint is made from; raises `UserError` where two sources have one name."""
    labels = [plan.source.label() for plan in plans]
    if doubled := sorted({label for label in labels if labels.count(label) > 1}):
        raise UserError(
            f"{doubled[0]}: two sources have this name; give each its own (--name, or `name` in a pipeline)"
        )
    return {
        "stage": "ingest",
        "version": VERSION,
        "config": {**config.fingerprinted(), "sources": [plan.source.described() for plan in plans]},
        "inputs": {plan.source.label(): digest_of_source(plan.source) for plan in plans},
    }


def _good(builder: Builder, records: Sequence[Record]) -> Iterator[Problem]:
    for number, record in enumerate(records):
        try:
            yield builder.problem(record, number)
        except Unusable:
            continue


def _spill(plans: Sequence[Plan], config: IngestConfig, spill: Path) -> int:
    """Write every row of every source to numbered chunks, keeping those already there; how many there are."""
    index = 0
    with Progress("ingest", None) as progress:
        for plan in plans:
            builder = Builder(plan.columns, plan.source.label(), config.max_prompt_bytes, plan.first_index)
            rows = enumerate(read_rows(plan.source, config.max_row_bytes))
            while chunk := list(islice(rows, CHUNK_ROWS)):
                if not _shard(spill, index).exists():
                    write_shard(_shard(spill, index), _frame(builder, plan.source.label(), chunk))
                index += 1
                progress.tick(len(chunk))
    return index


def _shard(spill: Path, index: int) -> Path:
    return spill / f"part-{index:05d}.parquet"


def _frame(builder: Builder, source: str, rows: Sequence[tuple[int, Row]]) -> pl.DataFrame:
    problems = [_problem_or_drop(builder, source, number, row) for number, row in rows]
    return pl.DataFrame(problems, schema=schema(PROBLEM | DECISION), orient="row")


def _problem_or_drop(builder: Builder, source: str, number: int, row: Row) -> Problem:
    reason, detail = row.reason, row.detail
    if row.record is not None:
        try:
            return builder.problem(row.record, number)
        except Unusable as unusable:
            reason, detail = unusable.reason, unusable.detail
    return {
        **dict.fromkeys(PROBLEM),
        # no problem, no content: the place is its identity
        "key": problem_key(f"{source}#{number}", "dropped"),
        "source": source,
        "source_row": number,
        "drop_reason": reason,
        "drop_detail": f"{row.place}: {detail}",
    }


def _facts(plans: Sequence[Plan], merges: Merge) -> dict[str, Any]:
    counts: Mapping[str, int] = merges.num_rows
    sources = [
        {
            "name": plan.source.label(),
            "hub": plan.source.hub,
            "num_rows": counts.get(plan.source.label(), 0),
            "weight": plan.source.weight,
            "licence": plan.source.licence,
            "revision": plan.source.revision,
            "map": {name: value for name, value in plan.columns.model_dump(mode="json").items() if value},
        }
        for plan in plans
    ]
    return {"num_rows": sum(counts.values()), "num_merged": merges.num_merged, "sources": sources}
