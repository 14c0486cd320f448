"""Stage `ingest`: reads raw sources into one pool, merges exact duplicates, drops unusable rows with their line.

Two passes over the data bound the memory for a pool of any size. The first converts rows to problems, a chunk at a
time, in files that the runner keeps. `curate.ingest.merge` then decides by keys and hashes which rows are one problem.
The second writes the chunks, each winner with the places of its twins. Keys come from `records.problem_key`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

import polars as pl

from curate.artifacts.artifact import write_shard
from curate.artifacts.folder import Scan
from curate.errors import UserError
from curate.ingest.builder import Builder, Problem, Unusable
from curate.ingest.formats.rows import Row
from curate.ingest.merge import find_merges
from curate.ingest.plan import IngestConfig, Plan, Replanned, numbered_rows
from curate.ingest.source_files import digest_of_source
from curate.progress import Progress
from curate.records import DECISION, PROBLEM, problem_key, schema
from curate.runner.stage import Run, Sources, Stage, Workspace

VERSION: Final = 7
CHUNK_ROWS: Final = 20_000


class _Imported(IngestConfig):
    """The settings that decide an import: the limits and the description of each source."""

    sources: tuple[dict[str, Any], ...]  # Any: JSON


def stage(config: IngestConfig, plans: Sequence[Plan]) -> Stage:
    """The stage `ingest` over planned sources; raises `UserError` if two of them have the same name."""
    labels = [plan.source.label() for plan in plans]
    if doubled := sorted({label for label in labels if labels.count(label) > 1}):
        raise UserError(
            f"{doubled[0]}: two sources have this name; give each its own (--name, or `name` in a pipeline)"
        )
    plans = list(plans)  # replaced where later rows change how a source is read
    described = tuple(plan.source.described() for plan in plans)
    reads = [plan.source.path for plan in plans if plan.source.path is not None]
    return Stage(
        "ingest",
        VERSION,
        "corpus",
        _Imported(**config.model_dump(), sources=described),
        _open,
        inputs={plan.source.label(): digest_of_source(plan.source) for plan in plans},
        facts=partial(_facts, plans),
        sources=Sources(reads, partial(_write, plans, config)),
        batch_rows=CHUNK_ROWS,
    )


@contextmanager
def _open(workspace: Workspace) -> Iterator[Run]:
    """Find the twins among all rows; the run then removes the absorbed rows from each batch."""
    yield find_merges(workspace.shards).applied


def _write(plans: list[Plan], config: IngestConfig, folder: Path, batch_rows: int, progress: Progress) -> list[Path]:
    """Write every row of every source to numbered chunks; existing chunks are kept.

    Where a later row changes how a source is read, its plan in `plans` is replaced and its rows are read again.
    """
    shards: list[Path] = []
    for at in range(len(plans)):
        start = len(shards)
        while True:
            try:
                for chunk in _chunks(plans[at], config, batch_rows):
                    # the plan is in the name: a chunk of another one is not kept
                    shards.append(folder / f"part-{len(shards):05d}-{_mark(plans[at])}.parquet")
                    if not shards[-1].exists():
                        write_shard(shards[-1], _frame(plans[at], config, chunk))
                    progress.tick(len(chunk))
                break
            except Replanned as again:
                plans[at] = again.plan
                del shards[start:]
    return shards


def _chunks(plan: Plan, config: IngestConfig, batch_rows: int) -> Iterator[list[tuple[int, int, Row]]]:
    rows = numbered_rows(plan, config)
    while chunk := list(islice(rows, batch_rows)):
        yield chunk


def _mark(plan: Plan) -> str:
    """Eight hex digits of how a plan reads rows."""
    how = [(one.files, *one.decisions()) for one in plan.layouts]
    return hashlib.sha256(repr(how).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _frame(plan: Plan, config: IngestConfig, rows: Sequence[tuple[int, int, Row]]) -> pl.DataFrame:
    builders, source = plan.builders(config), plan.source.label()
    problems = [_problem_or_drop(builders[at], source, number, row) for number, at, row in rows]
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
        # a row that is no problem is identified by its place
        "key": problem_key(f"{source}#{number}", "dropped"),
        "source": source,
        "source_row": number,
        "drop_reason": reason,
        "drop_detail": f"{row.place}: {detail}",
    }


def _facts(plans: Sequence[Plan], scan: Scan) -> dict[str, Any]:
    """Numbers of rows read and merged; per source its rows, its columns and what the user stated."""
    rows = pl.concat([scan(part).select("source", "also_in") for part in ("kept", "dropped")])
    twins = rows.select(place=pl.col("also_in").explode()).drop_nulls()
    twins = twins.select(source=pl.col("place").str.replace(r"#\d+$", ""))
    stayed, merged = (_counts(of) for of in (rows.select("source"), twins))
    sources = [
        {
            "name": name,
            "hub": plan.source.hub,
            "num_rows": stayed.get(name, 0) + merged.get(name, 0),
            "num_merged": merged.get(name, 0),
            "weight": plan.source.weight,
            "licence": plan.source.licence,
            "revision": plan.source.revision,
            "map": plan.columns.fields(),
            **_layouts(plan),
        }
        for plan in plans
        for name in [plan.source.label()]
    ]
    num_merged = sum(merged.values())
    return {"num_rows": sum(stayed.values()) + num_merged, "num_merged": num_merged, "sources": sources}


def _layouts(plan: Plan) -> dict[str, Any]:
    """What the map alone does not say: those of further files, and the row that changed it."""
    found: dict[str, Any] = {}
    if len(plan.layouts) > 1:
        found["maps"] = [
            {"files": list(one.files), "map": one.columns.fields() if one.columns else {}} for one in plan.layouts
        ]
    if changes := [one.decided_at for one in plan.layouts if one.decided_at is not None]:
        found["map_changed_at_row"] = max(changes)
    return found


def _counts(sources: pl.LazyFrame) -> dict[str, int]:
    return dict(sources.group_by("source").len().collect(engine="streaming").iter_rows())
