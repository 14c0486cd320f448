"""`gradus curriculum suspects`: what a run's completions say about the truths of its problems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import polars as pl

from curate.artifacts.artifact import open_artifact
from curate.errors import UserError
from curriculum.answers.find import Said, Suspect, find_suspects
from curriculum.answers.spelling import answer_of
from curriculum.simulate.replay import data_of

COMPLETIONS: Final = "completions"
CANARY: Final = "canary"
SAMPLES: Final = "samples"
WIDTH: Final = 80


def suspects(run: Path, data: Path | None, alpha: float) -> list[dict[str, Any]]:  # Any: JSON values
    """The suspects of a run with their prompts and truths; `data` defaults to the run's own dataset."""
    if not 0.0 < alpha < 1.0:
        raise UserError(f"--alpha {alpha:g}: a probability between 0 and 1, for example 0.05")
    artifact = open_artifact(data or data_of(run))
    problems = {row["key"]: row for row in artifact.read("kept").iter_rows(named=True)}
    has_samples = (artifact.folder / SAMPLES).is_dir()
    measured = [artifact.read(SAMPLES)] if has_samples else []
    found = find_suspects(said_by([*measured, completions(run)], set(problems)), alpha)
    return [_shown(suspect, problems[suspect.key]) for suspect in found]


def completions(run: Path) -> pl.DataFrame:
    """All completions of a run, in order of time, but those on canaries, whose truths were wrong on purpose."""
    files = sorted((run / COMPLETIONS).glob("draw-*.parquet"))
    if not files:
        raise UserError(f"{run}: kept no completions; give the folder of a run with --save-completions")
    found = pl.scan_parquet(files)
    if CANARY in found.collect_schema():
        found = found.filter(pl.col(CANARY).is_null())
    return found.select("key", "text", "accuracy").collect()


def said_by(tables: list[pl.DataFrame], keys: set[str]) -> Iterator[Said]:
    """The answers of completions, table after table; verdicts are those that were given."""
    for table in tables:
        has_verdict = "verdict" in table.columns
        right = table["verdict"] == "correct" if has_verdict else table["accuracy"] == 1.0
        for key, text, is_right in zip(table["key"], table["text"], right, strict=True):
            if key in keys:
                yield Said(key, answer_of(text), bool(is_right))


def _shown(suspect: Suspect, problem: dict[str, Any]) -> dict[str, Any]:
    figures = {**asdict(suspect), "share": suspect.share}
    truth = {"truth": problem.get("ground_truth"), "prompt": problem.get("prompt"), "source": problem.get("source")}
    return {**figures, **truth}


def table(found: list[dict[str, Any]], alpha: float) -> str:
    """The suspects as lines for a terminal."""
    if not found:
        return (
            f"no suspects: on no problem do most completions agree on another answer than the truth (alpha {alpha:g})"
        )
    head = f"{len(found)} suspects; a problem whose truth is the likeliest answer is listed with probability {alpha:g}"
    return "\n".join([head, *map(_line, found)])


def _line(row: dict[str, Any]) -> str:
    said = f"{row['num']} of {row['total']} say {row['answer']} (share {row['share']:.2f}, at least {row['bound']:.2f})"
    truth = f"{row['num_right']} the truth {row['truth']}"
    return f"{row['key']}  {said}, {truth}: {' '.join(str(row['prompt']).split())[:WIDTH]}"
