"""Finds exact duplicates: the rows that are one problem, the row that is kept, and answers that disagree.

Works on keys and hashes (about 40 bytes per row), so that ten million rows fit in memory; texts are read again only for
groups whose answers or tests differ as strings. `verify` compares those: `1/2` and `0.5` do not conflict, nor do tests
that each other's reference solutions pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final

import polars as pl

from curate.runner.stage import decide
from curate.verify.conflicts import Program, are_in_conflict, tests_in_conflict

_GROUP: Final = ("high", "low")
SHOWN_ROWS: Final = 20
SHOWN_CHARS: Final = 200
Twin = dict[str, str | None]


@dataclass(frozen=True)
class Merge:
    """The rows to remove (`absorbed`: position), the rows that gain twins (`winners`) and each chunk's position.

    The place of its first row identifies a chunk.
    """

    absorbed: pl.DataFrame
    winners: pl.DataFrame
    starts: Mapping[tuple[str, int], int]

    def applied(self, rows: pl.DataFrame) -> pl.DataFrame:
        """A chunk without its absorbed rows, with `also_in` for its winners, and with conflicts decided."""
        source, source_row = rows.select("source", "source_row").row(0)
        start = self.starts[source, source_row]
        placed = rows.with_row_index("position", offset=start)
        placed = placed.with_columns(pl.col("position").cast(pl.UInt32))
        # only the rows of this chunk: a join scans every row of its input
        is_here = pl.col("position").is_between(start, start + rows.height, closed="left")
        absorbed, winners = self.absorbed.filter(is_here), self.winners.filter(is_here)
        placed = placed.join(absorbed, on="position", how="anti", maintain_order="left")
        placed = placed.drop("also_in").join(winners, on="position", how="left", maintain_order="left")
        reason = pl.coalesce(
            "drop_reason", pl.when(pl.col("conflict").is_not_null()).then(pl.lit("conflicting_answers"))
        )
        decided = decide(placed, reason, pl.coalesce("drop_detail", "conflict"))
        return decided.select(rows.columns)


def find_merges(shards: Sequence[Path]) -> Merge:
    """Compare all rows of the chunks by key; `shards` are Parquet files of `records.PROBLEM` and `DECISION`."""
    slim = [_slim(pl.scan_parquet(shard)).collect() for shard in shards]
    heights = [frame.height for frame in slim]
    starts = tuple(accumulate(heights[:-1], initial=0))
    places = [frame.select("source", "source_row").row(0) for frame in slim]
    rows = pl.concat(slim, rechunk=True).with_row_index("position").with_columns(pl.col("position").cast(pl.UInt32))
    del slim
    twins = rows.filter(pl.struct(_GROUP).is_duplicated() & pl.col("is_usable"))
    del rows
    order = ["has_truth", "has_solution", "position"]
    twins = twins.sort(*_GROUP, *order, descending=[False, False, True, True, False])
    place = pl.format("{}#{}", pl.col("source").cast(pl.String), "source_row")
    groups = twins.group_by(_GROUP, maintain_order=True).agg(
        position=pl.col("position").first(),
        also_in=place.slice(1),
        others=pl.col("position").slice(1),
        num_truths=pl.col("truth").drop_nulls().n_unique(),
    )
    absorbed = groups.select(pl.col("others").explode().alias("position")).drop_nulls()
    conflicts = _conflicts(shards, starts, groups.filter(pl.col("num_truths") > 1))
    winners = groups.select("position", "also_in").join(conflicts, on="position", how="left")
    return Merge(absorbed, winners, dict(zip(places, starts, strict=True)))


def _slim(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The columns that decide about a row, in 40 bytes: its key as two numbers, its place, hashes of its content."""
    half, truth, tests = pl.col("key").str.slice, pl.col("ground_truth").str.strip_chars(), pl.col("tests")
    return rows.select(
        high=half(0, 16).str.to_integer(base=16, dtype=pl.UInt64),
        low=half(16, 8).str.to_integer(base=16, dtype=pl.UInt32),
        source=pl.col("source").cast(pl.Categorical),
        source_row=pl.col("source_row").cast(pl.UInt32),
        is_usable=pl.col("drop_reason").is_null(),
        has_truth=pl.col("ground_truth").is_not_null() | pl.col("tests").is_not_null(),
        has_solution=pl.col("solution").is_not_null(),
        truth=pl.when(~(truth.is_null() & tests.is_null())).then(
            pl.concat_str(truth.fill_null(""), tests.fill_null(""), separator="\x1f").hash()
        ),
    )


def _conflicts(shards: Sequence[Path], starts: Sequence[int], groups: pl.DataFrame) -> pl.DataFrame:
    """(position, conflict) of the groups whose answers `verify` finds different; `conflict` has answers and places."""
    wanted = groups.select("position", member=pl.concat_list("position", "others")).explode("member")
    wanted = wanted.rename({"position": "group", "member": "position"})
    texts = pl.concat(
        [
            pl.scan_parquet(shard)
            .select("ground_truth", "tests", "solution", place=pl.format("{}#{}", "source", "source_row"))
            .with_row_index("position", offset=start)
            .with_columns(pl.col("position").cast(pl.UInt32))
            .join(wanted.lazy(), on="position", how="inner")
            .filter(pl.col("ground_truth").is_not_null() | pl.col("tests").is_not_null())
            .collect()
            for shard, start in zip(shards, starts, strict=True)
        ]
    )
    members = [
        (group, rows.to_dicts())
        for (group,), rows in texts.sort("group", "position").group_by("group", maintain_order=True)
    ]
    conflicting = _disagreeing([rows for _, rows in members])
    details = {group: _detail(rows) for (group, rows), disagree in zip(members, conflicting, strict=True) if disagree}
    return pl.DataFrame(
        {"position": list(details), "conflict": list(details.values())},
        schema={"position": pl.UInt32, "conflict": pl.String},
    )


def _detail(rows: Sequence[Twin]) -> str:
    """The places of a problem with their answers, shortened: enough to show the conflict."""
    values = [f"{row['place']}: {row['ground_truth'] or row['tests']}" for row in rows[:SHOWN_ROWS]]
    more = [f"and {len(rows) - SHOWN_ROWS} more"] if len(rows) > SHOWN_ROWS else []
    return "; ".join([*(text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…" for text in values), *more])


def _disagreeing(groups: Sequence[list[Twin]]) -> list[bool]:
    """Whether the answer or the tests of any row in each group contradict those of its first row."""
    pairs = [(number, rows[0], other) for number, rows in enumerate(groups) for other in rows[1:]]
    answers = [
        (number, (str(one["ground_truth"]), str(other["ground_truth"])))
        for number, one, other in pairs
        if one["ground_truth"] and other["ground_truth"]
    ]
    programs = [
        (number, (Program(one["tests"], one["solution"]), Program(other["tests"], other["solution"])))
        for number, one, other in pairs
        if one["tests"] and other["tests"]
    ]
    clashes = [
        *zip(answers, are_in_conflict([pair for _, pair in answers]), strict=True),
        *zip(programs, tests_in_conflict([pair for _, pair in programs]), strict=True),
    ]
    found = [False] * len(groups)
    for (number, _), clash in clashes:
        found[number] |= clash
    return found
