"""Dedup: keeps one of the problems that differ only in wording.

Candidates come from MinHash bands (`curate.text.minhash`), their similarity is computed exactly, and guards spare what
only looks alike: other numbers, operators, answers, a rare or telling word (`curate.dedup.pairs`). What the guards
spare, and what differs in its numbers alone, is a variant: reported in `variant_of`, dropped only by `max_variants`.

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
from curate.dedup.fingerprints import read_pool
from curate.dedup.twins import Pool, Twins, families
from curate.progress import Progress
from curate.records import ADDED
from curate.runner.stage import Run, Stage, Workspace, decide
from curate.text.minhash import I64, bands_for, ranges

VERSION: Final = 5
_REASONS: Final = {0: "near_duplicate_of", 1: "conflicting_answers", 2: "variant_of"}


class DedupConfig(Config):
    """Drop near duplicates: problems that differ only in wording.

    Rows are alike at a Jaccard similarity of word triples of at least --threshold, and the same problem only where no
    number, operator, answer or telling word differs; such variants are reported, and kept unless --max-variants.

    Example: gradus curate dedup runs/first/ingest --out runs/first/dedup --max-variants 3
    """

    threshold: float = Field(0.7, gt=0, le=1, description="Jaccard similarity of word triples that makes rows alike")
    max_variants: int | None = Field(None, ge=1, description="Keep at most this many variants of a problem")
    rare_count: int = Field(10, ge=0, description="Words that occur at most this often separate two problems")


def stage(config: DedupConfig) -> Stage:
    """The dedup stage."""

    @contextmanager
    def open_pool(workspace: Workspace) -> Iterator[Run]:
        decisions = _ByKey(find_duplicates(workspace.pool, config, workspace.scratch))
        yield lambda problems: _decided(problems, decisions)

    return Stage(
        name="dedup",
        version=VERSION,
        scope="corpus",
        config=config,
        open=open_pool,
        adds={"variant_of": ADDED["variant_of"].dtype},
    )


def find_duplicates(pool: Pool, config: DedupConfig, scratch: Path | None = None) -> pl.DataFrame:
    """(key, drop_reason, drop_detail, variant_of) of the rows that are dropped or a variant of another row.

    scratch: folder to spill into, about 270 bytes a row and 4 a token; default, that of temporary files.
    """
    with tempfile.TemporaryDirectory(prefix="gradus-dedup-", dir=scratch) as spill, Progress("dedup", None) as progress:
        prints = read_pool(_counted(pool(), progress), Path(spill), bands_for(config.threshold))
        position = np.argsort(prints.priority, kind="stable")
        twins = Twins(prints, position, config.threshold, config.rare_count)
        twins.search(progress)
        conflicts = twins.settle(pool)
        twin = twins.roots()
        del twins
        staying = np.flatnonzero(twin == np.arange(len(twin)))
        family = families(prints, position, staying, config.threshold)
        keys = prints.keys
        del prints
    decided = _decisions(pl.DataFrame({"twin": twin, "family": family}), conflicts, config.max_variants)
    return _named(decided, keys, position)


def _counted(batches: Iterator[pl.DataFrame], progress: Progress) -> Iterator[pl.DataFrame]:
    for batch in batches:
        yield batch
        progress.tick(batch.height, "read")


def _decisions(rows: pl.DataFrame, conflicts: pl.DataFrame, max_variants: int | None) -> pl.DataFrame:
    """The rows that are dropped or a variant, by rank: why, the rank of the row behind it, and of the family's first.

    `rows` are by rank, with the ranks of their twin and of the first of their family; `conflicts` as `Twins.settle`
    gives them. All are numbers until few rows are left.
    """
    rows = rows.with_row_index("rank").with_columns(pl.col("rank").cast(pl.Int64))
    is_twin = pl.col("twin") != pl.col("rank")
    is_variant = ~is_twin & (pl.col("family") != pl.col("rank"))
    is_conflict = ~is_twin & pl.col("rank").is_in(conflicts["rank"].implode())
    place = pl.col("rank").cum_count().over(is_twin | is_conflict, "family")
    is_surplus = is_variant & ~is_conflict & (place > max_variants) if max_variants else pl.lit(value=False)
    reason = pl.when(is_twin).then(0).when(is_conflict).then(1).when(is_surplus).then(2)
    found = rows.select("rank", "twin", "family", reason=reason.cast(pl.Int8), is_variant=is_variant)
    found = found.filter(pl.col("reason").is_not_null() | pl.col("is_variant"))
    found = found.join(conflicts, on="rank", how="left", maintain_order="left")
    behind = pl.when(is_twin).then("twin").otherwise(pl.coalesce("against", "family"))
    return found.with_columns(behind=behind, drop_reason=pl.col("reason").replace_strict(_REASONS))


def _named(decided: pl.DataFrame, keys: pl.Series, position: I64) -> pl.DataFrame:
    """The decisions with keys in the place of ranks; `keys` are in the pool's order, `position` is by rank."""
    ranks = ("rank", "behind", "family")
    named = decided.with_columns(keys.gather(position[decided[name].to_numpy()]).alias(name) for name in ranks)
    is_conflict = pl.col("drop_reason") == "conflicting_answers"
    conflict = pl.format("{} here, {} in {}", "answer", "other_answer", "behind")
    return named.select(
        "drop_reason",
        key="rank",
        drop_detail=pl.when(is_conflict).then(conflict).otherwise("behind"),
        variant_of=pl.when("is_variant").then("family"),
    )


class _ByKey:
    """Decisions to look up: a join of each batch with all of them would go through all of them each time."""

    def __init__(self, decisions: pl.DataFrame) -> None:
        hashes = decisions["key"].hash().to_numpy()
        order = np.argsort(hashes)
        self._hashes, self._decisions = hashes[order], decisions[order]

    def of(self, keys: pl.Series) -> pl.DataFrame:
        """The decisions on these keys, and by chance on another."""
        wanted = np.sort(keys.hash().to_numpy())
        first, last = (np.searchsorted(self._hashes, wanted, side=side) for side in ("left", "right"))
        return self._decisions[np.unique(ranges(first, last))]


def _decided(problems: pl.DataFrame, decisions: _ByKey) -> pl.DataFrame:
    joined = problems.join(decisions.of(problems["key"]), on="key", how="left", maintain_order="left")
    return decide(joined, pl.col("drop_reason"), pl.col("drop_detail"))
