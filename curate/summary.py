"""What a finished stage prints: how its rows add up, what its columns or samples suggest to change, what comes next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import polars as pl

from curate.artifacts.artifact import scan_part
from curate.ingest.hints import hints
from curate.runner.run import Outcome
from curate.sampling.breakdown import cautions, described, no_answer_rate, reasons_of
from curate.stages import FIRST

_NEXT: Final = {
    "ingest": "curate dedup {out} --out {beside}/dedup",
    "dedup": "curate multiple-choice {out} --out {beside}/multiple-choice",
    "multiple-choice": "curate verifiable {out} --out {beside}/verifiable",
    "verifiable": "curate decontaminate {out} --against default --out {beside}/decontaminate",
    "decontaminate": "curate difficulty {out} --model MODEL{template} --out {beside}/difficulty",
    "reviewed": "curate difficulty {out} --model MODEL{template} --out {beside}/difficulty",
    "no-think": "curate difficulty {out} --model MODEL{template} --out {beside}/difficulty",
    "difficulty": "train grpo --model MODEL --data {out} --out {beside}/grpo",
}
_ADDED_UP: Final = ("num_rows", "num_merged")


def summary(outcome: Outcome, out: Path) -> str:
    """The printed summary of a finished stage whose artifact is `out`."""
    manifest = outcome.manifest
    facts = {name: value for name, value in manifest.facts.items() if not isinstance(value, list | dict)}
    width = max((len(f"{count:,}") for count in manifest.reasons.values()), default=0)
    lines = [
        manifest.stage + (" (reused: same configuration and input)" if outcome.is_reused else ""),
        f"  {_sum(outcome)}",
        *(f"  {count:>{width},} dropped: {reason}" for reason, count in sorted(manifest.reasons.items())),
        *(f"  {name}: {value}" for name, value in facts.items() if name not in _ADDED_UP),
        *(f"  {line}" for line in (hints(out, manifest) if manifest.stage == FIRST else ())),
        *(f"  {line}" for line in _why_not_correct(out)),
    ]
    return "\n".join(lines)


def next_command(outcome: Outcome, out: Path) -> Iterator[str]:
    """The command that usually follows a stage, as one line; none for a stage that kept nothing."""
    wanted = _NEXT.get(outcome.manifest.stage)
    if wanted is not None and outcome.manifest.num_kept:
        template = _template(out) if "{template}" in wanted else ""
        yield "next: gradus " + wanted.format(out=out, beside=out.parent, template=template)


def _template(out: Path) -> str:
    """The option that tells a model how to answer problems of one kind; none for a pool of several kinds."""
    kinds = scan_part(out, "kept").select(pl.col("kind").unique()).collect()["kind"].to_list()
    return {"math": " --template boxed", "code": " --template code"}.get(kinds[0], "") if len(kinds) == 1 else ""


def figures(outcome: Outcome, out: Path) -> dict[str, Any]:  # Any: a manifest's facts
    """The figures of a finished stage, for `--json`."""
    manifest = outcome.manifest
    return {
        "stage": manifest.stage,
        "out": str(out),
        "is_reused": outcome.is_reused,
        **manifest.model_dump(include={"num_in", "num_kept", "num_dropped", "reasons", "digest"}),
        "facts": {name: value for name, value in manifest.facts.items() if name != "chain"},
        "next": next(next_command(outcome, out), None),
    }


def _why_not_correct(out: Path) -> list[str]:
    """Where the stage sampled a model: why completions were not correct, and warnings about limit and format."""
    if not any((out / "samples").glob("*.parquet")):
        return []
    samples = scan_part(out, "samples").select("verdict", "verdict_reason", "finish_reason").collect()
    reasons = reasons_of(samples.select("verdict", "verdict_reason").iter_rows())
    if not reasons:
        return []
    cut_off = samples.filter(pl.col("finish_reason") == "length").height / samples.height
    found = cautions(cut_off, no_answer_rate(reasons, samples.height))
    return [described(reasons, samples.height), *found.values()]


def _sum(outcome: Outcome) -> str:
    """`297 read = 226 kept + 24 merged + 47 dropped`."""
    manifest = outcome.manifest
    kept, dropped = f"{manifest.num_kept:,} kept", f"{manifest.num_dropped:,} dropped"
    if manifest.stage != FIRST:
        return f"{manifest.num_in:,} in = {kept} + {dropped}"
    return f"{manifest.facts['num_rows']:,} read = {kept} + {manifest.facts['num_merged']:,} merged + {dropped}"
