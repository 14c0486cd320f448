"""Dedup: of problems that say the same in other words, one stays.

Candidates come from MinHash bands (`curate.minhash`), their similarity is computed exactly, and guards spare what only
looks alike: other numbers, operators, answers, a rare or telling word (`curate.pairs`). What the guards spare, and what
differs in its numbers alone, is a variant: reported in `variant_of`, dropped only by `max_variants`.

A corpus stage: `open` passes over the whole pool and decides, the run function then joins the decisions to the batches.
Which of several twins stays: one with a ground truth, then with a solution, then the earliest.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from pydantic import Field

from curate.config import Config
from curate.fingerprints import read_pool
from curate.minhash import bands_for
from curate.progress import Progress
from curate.records import ADDED
from curate.stage import Run, Stage, Workspace, decide
from curate.twins import Pool, Twins, families

VERSION: Final = 2


class DedupConfig(Config):
    """Drop near duplicates: problems that say the same in other words.

    Rows are alike at a Jaccard similarity of word triples of at least --threshold, and the same problem only where no
    number, operator, answer or telling word differs; such variants are reported, and kept unless --max-variants.

    Example: gradus curate dedup runs/first/ingest --out runs/first/dedup --max-variants 3
    """

    threshold: float = Field(0.7, gt=0, le=1, description="Jaccard similarity of word triples that makes rows alike")
    max_variants: int | None = Field(None, ge=1, description="Keep at most this many variants of a problem")
    rare_count: int = Field(10, ge=0, description="Words that occur at most this often tell two problems apart")


def stage(config: DedupConfig) -> Stage:
    """The dedup stage."""

    @contextmanager
    def open_pool(workspace: Workspace) -> Iterator[Run]:
        decisions = find_duplicates(workspace.pool, config)
        yield lambda problems: _decided(problems, decisions)

    return Stage(
        name="dedup",
        version=VERSION,
        scope="corpus",
        config=config,
        open=open_pool,
        adds={"variant_of": ADDED["variant_of"].dtype},
    )


def find_duplicates(pool: Pool, config: DedupConfig) -> pl.DataFrame:
    """(key, drop_reason, drop_detail, variant_of) of the rows that are dropped or a variant of another row."""
    with tempfile.TemporaryDirectory(prefix="gradus-dedup-") as scratch, Progress("dedup", None) as progress:
        prints = read_pool(_counted(pool(), progress), Path(scratch), bands_for(config.threshold))
        position = np.argsort(prints.priority, kind="stable")
        twins = Twins(prints, position, config.threshold, config.rare_count)
        twins.search(progress)
        conflicts = twins.settle(pool)
        twin = twins.roots()
        staying = np.flatnonzero(twin == np.arange(len(twin)))
        family = families(prints, position, staying, config.threshold)
    rows = pl.DataFrame({"key": prints.keys.gather(position), "twin": twin, "family": family}).with_row_index("rank")
    rows = rows.with_columns(pl.col("rank").cast(pl.Int64)).join(
        conflicts, on="rank", how="left", maintain_order="left"
    )
    return _decisions(rows, config.max_variants)


def _counted(batches: Iterator[pl.DataFrame], progress: Progress) -> Iterator[pl.DataFrame]:
    for batch in batches:
        yield batch
        progress.tick(batch.height, "read")


def _decisions(rows: pl.DataFrame, max_variants: int | None) -> pl.DataFrame:
    """What is dropped for which other row. `rows` are by rank, with the rank of their twin, family and conflict."""
    is_twin = pl.col("twin") != pl.col("rank")
    is_variant = ~is_twin & (pl.col("family") != pl.col("rank"))
    is_conflict = ~is_twin & pl.col("against").is_not_null()
    place = pl.col("rank").cum_count().over(is_twin | is_conflict, "family")
    is_surplus = is_variant & ~is_conflict & (place > max_variants) if max_variants else pl.lit(value=False)

    def key_of(rank: str) -> pl.Expr:
        return pl.col("key").gather(pl.col(rank))

    conflict = pl.format("{} here, {} in {}", "answer", "other_answer", key_of("against"))
    decided = rows.select(
        "key",
        drop_reason=pl.when(is_twin)
        .then(pl.lit("near_duplicate_of"))
        .when(is_conflict)
        .then(pl.lit("conflicting_answers"))
        .when(is_surplus)
        .then(pl.lit("variant_of")),
        drop_detail=pl.when(is_twin).then(key_of("twin")).when(is_conflict).then(conflict).otherwise(key_of("family")),
        variant_of=pl.when(is_variant).then(key_of("family")),
    )
    return decided.filter(pl.col("drop_reason").is_not_null() | pl.col("variant_of").is_not_null())


def _decided(problems: pl.DataFrame, decisions: pl.DataFrame) -> pl.DataFrame:
    joined = problems.join(decisions, on="key", how="left", maintain_order="left")
    return decide(joined, pl.col("drop_reason"), pl.col("drop_detail"))
