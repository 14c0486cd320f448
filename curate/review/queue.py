"""The problems that people should review, and why: the doubtful ones of each kind, and some drawn at random.

suspect_truth        completions of a training run agree on another answer than the truth (`--suspects`)
suspect_answer       dropped because sampled answers contradict the ground truth
conflicting_answers  duplicates whose answers differ
near_threshold       contaminated or a benchmark variant, but not an exact copy; those nearest to a threshold first
paraphrase           kept, and close in meaning to a benchmark's item
reference_solution   kept problems with a reference chain of thought, drawn at random
audit                drawn at random from the kept rows and from each drop reason, to estimate error rates
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl
from pydantic import Field

from curate.artifacts.artifact import Artifact
from curate.config import Config
from curate.errors import UserError
from curate.review.suspects import read_suspects

QUEUES: Final = (
    "suspect_truth", "suspect_answer", "conflicting_answers", "near_threshold", "paraphrase", "reference_solution",
    "audit",
)  # fmt: skip
SUSPECT: Final = ("suspect_answer",)
CONFLICTING: Final = ("conflicting_answers",)
CERTAIN_SCORE: Final = 0.999  # an exact copy needs no review
# by method of a match, the setting of its threshold; `min_coverage` for all others
LEAST: Final = {
    "jaccard": "min_jaccard", "renamed_coverage": "min_renamed_coverage", "renumbered_coverage": "min_variant_coverage",
}  # fmt: skip


class QueueConfig(Config):
    """The number of problems of each kind."""

    num_audit: int = Field(30, ge=0, description="Problems drawn at random from the kept rows and from each reason.")
    num_each: int = Field(200, ge=0, description="Most problems of each doubtful kind.")
    seed: int = Field(0, description="Seed of the draw: the same seed shows every reviewer the same problems.")
    suspects: Path | None = Field(
        None, description="Suspects of a training run, from gradus curriculum suspects RUN --json; shown first."
    )


@dataclass(frozen=True)
class Entry:
    """One problem to review: its artifact and part, why it is shown, and its row."""

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
    suspects = read_suspects(config.suspects) if config.suspects else None
    gone = pl.concat([artifact.scan("dropped").select("key") for artifact in artifacts])
    # a problem in several artifacts of a run is shown as in the last one: dropped, or kept with all findings
    entries = [entry for artifact in reversed(artifacts) for entry in _entries(artifact, gone, suspects, config)]
    by_key: dict[str, Entry] = {}
    for entry in entries:
        by_key.setdefault(entry.key, entry)
    if suspects is not None:
        _refuse_strangers(suspects, set(by_key), config)
    if not by_key:
        is_empty = not any(artifact.manifest.num_in for artifact in artifacts)
        why = "have no rows" if is_empty else "hold no doubtful rows, and --num-audit is 0"
        raise UserError(f"nothing to review: the artifacts {why}; name others or raise --num-audit")
    return sorted(by_key.values(), key=lambda entry: QUEUES.index(entry.queue))


def _refuse_strangers(suspects: pl.DataFrame, shown: set[str], config: QueueConfig) -> None:
    """Raise `UserError` where no suspect is among the problems shown: the artifacts are others than the run's."""
    if suspects.height and config.num_each and not shown & set(suspects["key"]):
        raise UserError(
            f"--suspects {config.suspects}: none of its {suspects.height:,} problems is in these artifacts; name the "
            "dataset of the run"
        )


def _entries(artifact: Artifact, gone: pl.LazyFrame, suspects: pl.DataFrame | None, config: QueueConfig) -> list[Entry]:
    kept, dropped = artifact.scan("kept").join(gone, on="key", how="anti"), artifact.scan("dropped")
    audit = pl.concat([kept.with_columns(drop_reason=pl.lit("")), dropped], how="diagonal_relaxed")
    reasons = ["", *artifact.manifest.reasons]
    # audited rows before doubtful ones, which must not take away random draws; suspects were asked for
    draws = [] if suspects is None else [("suspect_truth", kept.join(suspects.lazy(), on="key"), config.num_each)]
    draws += [("audit", audit.filter(pl.col("drop_reason") == reason), config.num_audit) for reason in reasons]
    draws += [
        (name, rows, config.num_each) for name, rows in _doubtful(kept, dropped, artifact.manifest.config).items()
    ]
    solved = kept.filter(pl.col("solution").is_not_null())
    draws.append(("reference_solution", solved, config.num_audit))
    return [entry for name, rows, count in draws for entry in _drawn(artifact, name, rows, count, config.seed)]


def _margin(column: str, config: Mapping[str, Any]) -> pl.Expr:  # Any: the stage's settings
    """Distance of a match from the threshold of its method; null if it is exact."""
    evidence = pl.col(column).str
    score, method = evidence.json_path_match("$.score").cast(pl.Float64), evidence.json_path_match("$.method")
    least = {name: float(config.get(field, 0.0)) for name, field in LEAST.items()}
    threshold = method.replace_strict(least, default=float(config.get("min_coverage", 0.0)), return_dtype=pl.Float64)
    return pl.when(score < CERTAIN_SCORE).then((score - threshold).abs())


def _doubtful(
    kept: pl.LazyFrame,
    dropped: pl.LazyFrame,
    config: Mapping[str, Any],  # Any: the stage's settings
) -> dict[str, pl.LazyFrame]:
    """The rows of each doubtful kind."""
    reason = pl.col("drop_reason")
    near = dropped.filter(reason.is_in(("contaminated", "benchmark_variant"))).with_columns(
        margin=_margin("drop_detail", config)
    )
    if "benchmark_variant" in kept.collect_schema():
        variants = kept.filter(pl.col("benchmark_variant").is_not_null())
        variants = variants.with_columns(margin=_margin("benchmark_variant", config))
        near = pl.concat([near, variants], how="diagonal_relaxed")
    near = near.filter(pl.col("margin").is_not_null())
    is_hint = pl.col("benchmark_paraphrase").is_not_null()
    has_hints = "benchmark_paraphrase" in kept.collect_schema()
    return {
        "suspect_answer": dropped.filter(reason.is_in(SUSPECT)),
        "conflicting_answers": dropped.filter(reason.is_in(CONFLICTING)),
        "near_threshold": near,
        **({"paraphrase": kept.filter(is_hint)} if has_hints else {}),
    }


def _drawn(artifact: Artifact, queue: str, rows: pl.LazyFrame, count: int, seed: int) -> list[Entry]:
    """`count` rows by ascending margin, and then in an order that depends only on seed, queue and key."""
    margin = pl.col("margin") if "margin" in rows.collect_schema() else pl.lit(0.0).alias("margin")
    margins = dict(rows.select("key", margin).collect().iter_rows())
    lots = {key: hashlib.sha256(f"{seed}:{queue}:{key}".encode()).digest() for key in margins}
    chosen = sorted(margins, key=lambda key: (margins[key], lots[key]))[:count]
    found = rows.filter(pl.col("key").is_in(chosen)).drop("margin", strict=False).collect()
    by_key = {row["key"]: row for row in found.to_dicts()}
    folder = str(artifact.folder)
    return [
        Entry(key, queue, "dropped" if by_key[key].get("drop_reason") else "kept", folder, by_key[key])
        for key in chosen
    ]
