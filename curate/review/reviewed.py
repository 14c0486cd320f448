"""Applies people's rulings to an artifact: drops rows, corrects answers, and restores rows dropped by mistake.

Kept rows are dropped as `review_rejected` or get the right answer; a dropped row that reviewers keep or correct is
restored. Agreement of reviewers and the error rate of every automatic reason go into the manifest's facts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import Field

from curate.artifacts.artifact import Artifact
from curate.artifacts.folder import Scan
from curate.artifacts.manifest import sha256_of
from curate.config import RUNTIME, Config
from curate.records import DECISION
from curate.review.agreement import Rate, agreements, error_rates
from curate.review.log import Ruling, read_rulings, settled, split_keys
from curate.runner.stage import Stage, bound, decide


class ReviewedConfig(Config):
    """Apply the rulings of `gradus curate review` to the artifact that was reviewed.

    The last ruling of each reviewer counts, and the majority decides; without a majority, the automatic decision
    remains. Problems dropped by the artifact's stage are restored if people keep them or correct their answer.

    Example: gradus curate reviewed runs/clean --verdicts runs/clean.verdicts.jsonl --out runs/reviewed
    """

    verdicts: Path = Field(description="JSONL file of rulings.", json_schema_extra=RUNTIME)


def stage(config: ReviewedConfig) -> Stage:
    """The stage `reviewed`: drops with reason `review_rejected`."""
    rulings = read_rulings(config.verdicts)
    decided = settled(rulings)
    return Stage(
        "reviewed",
        2,
        "batch",
        config,
        bound(lambda problems, _: run(problems, decided), config),
        inputs={"verdicts": sha256_of(config.verdicts)},
        facts=lambda scan: facts(rulings) | _applied(decided, scan),
        widen=lambda pool: restored(pool, decided),
    )


def run(problems: pl.DataFrame, decided: Mapping[str, Ruling]) -> pl.DataFrame:
    """Decide each row as people did; a corrected row keeps its original answer in `extra.reviewed`."""
    mended = _mended(problems, {key: ruling for key, ruling in decided.items() if ruling.decision == "fix"})
    rejected = [decided.get(key) for key in problems["key"]]
    is_rejected = [ruling is not None and ruling.decision == "drop" for ruling in rejected]
    details = [
        json.dumps({"reviewer": it.reviewer, "reason": it.reason}, ensure_ascii=False) if it is not None else None
        for it in rejected
    ]
    reason = pl.when(pl.Series(is_rejected, dtype=pl.Boolean)).then(pl.lit("review_rejected"))
    return decide(mended, reason, pl.lit(pl.Series(details, dtype=pl.String)))


def _mended(problems: pl.DataFrame, fixes: Mapping[str, Ruling]) -> pl.DataFrame:
    truths, extras = problems["ground_truth"].to_list(), problems["extra"].to_list()
    for place, key in enumerate(problems["key"]):
        if (fix := fixes.get(key)) is not None:
            extra = json.loads(extras[place] or "{}")
            extra["reviewed"] = {"ground_truth": truths[place], "reviewer": fix.reviewer, "reason": fix.reason}
            truths[place], extras[place] = fix.ground_truth, json.dumps(extra, ensure_ascii=False)
    columns = {"ground_truth": truths, "extra": extras}
    return problems.with_columns(pl.Series(name, values, dtype=pl.String) for name, values in columns.items())


@dataclass(frozen=True)
class Restored(Artifact):
    """An artifact with some of its dropped rows after its kept ones."""

    back: pl.DataFrame

    def scan(self, part: str = "kept") -> pl.LazyFrame:
        """See `Artifact.scan`; `kept` ends with the restored rows."""
        rows = super().scan(part)
        return pl.concat([rows, self.back.lazy()]) if part == "kept" else rows

    def rows(self, start: int, num_rows: int) -> pl.DataFrame:
        """Up to `num_rows` kept and restored rows from row `start`."""
        num_kept = self.manifest.num_kept - self.back.height
        kept = super().rows(start, min(num_rows, max(num_kept - start, 0)))
        return pl.concat([kept, self.back.slice(max(start - num_kept, 0), num_rows - kept.height)])


def restored(pool: Artifact, decided: Mapping[str, Ruling]) -> Artifact:
    """The pool with the dropped rows that people keep or correct."""
    wanted = [key for key, ruling in decided.items() if ruling.decision != "drop"]
    columns = pool.scan("kept").collect_schema()
    dropped = pool.scan("dropped").filter(pl.col("key").is_in(wanted)).drop(*DECISION)
    back = dropped.select(pl.col(name).cast(dtype) for name, dtype in columns.items()).collect()
    manifest = pool.manifest.model_copy(update={"num_kept": pool.manifest.num_kept + back.height})
    return Restored(pool.folder, manifest, back)


def facts(rulings: Sequence[Ruling]) -> dict[str, Any]:  # Any: JSON
    """The review's figures on the card: counts, agreement of reviewers, error rate of each automatic reason."""
    kappas = {
        f"kappa {one}/{other}": f"{kappa:.2f} on {count} problems"
        for (one, other), (kappa, count) in agreements(rulings).items()
    }
    errors = {f"error rate of {reason}": _in_words(rate) for reason, rate in sorted(error_rates(rulings).items())}
    num_problems = len({ruling.key for ruling in rulings})
    return {"problems reviewed": num_problems, "reviewers split on": len(split_keys(rulings)), **kappas, **errors}


def _applied(decided: Mapping[str, Ruling], scan: Scan) -> dict[str, int]:
    """The effects of the rulings: answers corrected, rows restored by their drop reason, and rulings without effect.

    A ruling without effect is on a problem that was dropped before this artifact, or that is in another one.
    """
    kept, dropped = (set(scan(part).select("key").collect()["key"]) for part in ("kept", "dropped"))
    applied = [ruling for key, ruling in decided.items() if key in kept]
    mended = sum(ruling.decision == "fix" for ruling in applied)
    back = Counter(ruling.drop_reason for ruling in applied if ruling.drop_reason is not None)
    wanted = {key for key, ruling in decided.items() if ruling.decision != "drop" or ruling.drop_reason is None}
    without = {"rulings on problems of other artifacts": len(wanted - kept - dropped)}
    found = {"answers mended": mended, **{f"brought back from {reason}": back[reason] for reason in sorted(back)}}
    return {name: count for name, count in (found | without).items() if count}


def _in_words(it: Rate) -> str:
    return f"{it.rate:.1%} ({it.low:.1%} to {it.high:.1%}; {it.num_errors:g} of {it.num_reviewed})"
