"""Which problems people should see, and why: the doubtful ones of each kind, and some drawn at random.

suspect_answer       dropped because sampled answers speak against the ground truth
conflicting_answers  duplicates whose answers differ
near_threshold       contaminated or a benchmark variant, but not to the letter
paraphrase           kept, and close in meaning to a benchmark's item
reference_solution   kept problems with a reference chain of thought, drawn at random
audit                drawn at random from the kept rows and from each drop reason: what error rates rest on
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl
from pydantic import Field

from curate.artifact import Artifact
from curate.config import Config
from curate.errors import UserError

QUEUES: Final = ("suspect_answer", "conflicting_answers", "near_threshold", "paraphrase", "reference_solution", "audit")
SUSPECT: Final = ("suspect_answer",)
CONFLICTING: Final = ("conflicting_answers",)
CERTAIN_SCORE: Final = 0.999  # an exact copy needs no second look


class QueueConfig(Config):
    """How many problems of each kind are shown."""

    num_audit: int = Field(30, ge=0, description="Problems drawn at random from the kept rows and from each reason.")
    num_each: int = Field(200, ge=0, description="Most problems of each doubtful kind.")
    seed: int = Field(0, description="Seed of the draw: the same seed shows every reviewer the same problems.")


@dataclass(frozen=True)
class Entry:
    """One problem to look at: where it stands, why it is shown, and its row."""

    key: str
    queue: str
    part: str
    artifact: str
    row: dict[str, Any]  # Any: the artifact's columns

    @property
    def drop_reason(self) -> str | None:
        """The automatic decision under review."""
        reason: str | None = self.row.get("drop_reason")
        return reason or None


def build_queue(artifacts: Sequence[Artifact], config: QueueConfig) -> list[Entry]:
    """The problems to review, doubtful ones first, each once; the same for every reviewer."""
    gone = pl.concat([artifact.scan("dropped").select("key") for artifact in artifacts])
    # of several artifacts of a run, a problem is shown as the last one has it: dropped, or kept with all that was found
    entries = [entry for artifact in reversed(artifacts) for entry in _entries(artifact, gone, config)]
    by_key: dict[str, Entry] = {}
    for entry in entries:
        by_key.setdefault(entry.key, entry)
    if not by_key:
        is_empty = not any(artifact.manifest.num_in for artifact in artifacts)
        why = "have no rows" if is_empty else "hold no doubtful rows, and --num-audit is 0"
        raise UserError(f"nothing to review: the artifacts {why}; name others or raise --num-audit")
    return sorted(by_key.values(), key=lambda entry: QUEUES.index(entry.queue))


def _entries(artifact: Artifact, gone: pl.LazyFrame, config: QueueConfig) -> list[Entry]:
    kept, dropped = artifact.scan("kept").join(gone, on="key", how="anti"), artifact.scan("dropped")
    audit = pl.concat([kept.with_columns(drop_reason=pl.lit("")), dropped], how="diagonal_relaxed")
    reasons = ["", *artifact.manifest.reasons]
    # audited rows come first of all: those drawn must not be taken away by a queue that looks for doubtful ones
    draws = [("audit", audit.filter(pl.col("drop_reason") == reason), config.num_audit) for reason in reasons]
    draws += [(name, rows, config.num_each) for name, rows in _doubtful(kept, dropped).items()]
    solved = kept.filter(pl.col("solution").is_not_null())
    draws.append(("reference_solution", solved, config.num_audit))
    return [entry for name, rows, count in draws for entry in _drawn(artifact, name, rows, count, config.seed)]


def _doubtful(kept: pl.LazyFrame, dropped: pl.LazyFrame) -> dict[str, pl.LazyFrame]:
    """The rows of each doubtful kind."""
    reason, score = pl.col("drop_reason"), pl.col("drop_detail").str.json_path_match("$.score").cast(pl.Float64)
    near = dropped.filter(reason.is_in(("contaminated", "benchmark_variant")) & (score < CERTAIN_SCORE))
    if "benchmark_variant" in kept.collect_schema():
        near = pl.concat([near, kept.filter(pl.col("benchmark_variant").is_not_null())], how="diagonal_relaxed")
    is_hint = pl.col("benchmark_paraphrase").is_not_null()
    has_hints = "benchmark_paraphrase" in kept.collect_schema()
    return {
        "suspect_answer": dropped.filter(reason.is_in(SUSPECT)),
        "conflicting_answers": dropped.filter(reason.is_in(CONFLICTING)),
        "near_threshold": near,
        **({"paraphrase": kept.filter(is_hint)} if has_hints else {}),
    }


def _drawn(artifact: Artifact, queue: str, rows: pl.LazyFrame, count: int, seed: int) -> list[Entry]:
    """`count` rows in an order that depends on seed and key alone."""
    keys = rows.select("key").collect()["key"].to_list()
    chosen = sorted(keys, key=lambda key: hashlib.sha256(f"{seed}:{queue}:{key}".encode()).digest())[:count]
    by_key = {row["key"]: row for row in rows.filter(pl.col("key").is_in(chosen)).collect().to_dicts()}
    folder = str(artifact.folder)
    return [
        Entry(key, queue, "dropped" if by_key[key].get("drop_reason") else "kept", folder, by_key[key])
        for key in chosen
    ]
