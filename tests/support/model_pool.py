"""Small pools and scripts for tests of the stages that sample a model."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from curate.artifacts.artifact import Artifact, open_artifact
from curate.artifacts.folder import OutFolder
from curate.records import PROBLEM, problem_key, schema


def problem(prompt: str, ground_truth: str | None, **fields: Any) -> dict[str, Any]:
    """One row as ingest would leave it."""
    key = problem_key(prompt, fields.get("kind", "math"), fields.get("choices"))
    given = {"key": key, "prompt": prompt, "ground_truth": ground_truth, "kind": "math", "source": "made"}
    return {**given, "source_row": 0, "also_in": [], "extra": "{}", **fields}


def pool(folder: Path, rows: Sequence[Mapping[str, Any]]) -> Artifact:
    """An artifact of these rows, as the stage before would leave it."""
    frame = pl.DataFrame(rows, schema=schema(PROBLEM))
    nothing = pl.lit(None, pl.String)
    with OutFolder(folder, {"stage": "ingest", "version": 1, "config": {}, "inputs": {}}) as out:
        out.write_batch(0, frame.with_columns(drop_reason=nothing, drop_detail=nothing))
        out.finish()
    return open_artifact(folder)


def script(path: Path, answers: Mapping[str, Any]) -> Path:
    """A file of scripted answers."""
    path.write_text(json.dumps(answers))
    return path


def says(verdicts: str) -> list[str]:
    """Completions for the ground truth 7 by verdict: `c` correct, `w` wrong, in order of the samples."""
    return [{"c": "\\boxed{7}", "w": "\\boxed{8}"}[verdict] for verdict in verdicts]


def sums(num: int) -> list[dict[str, Any]]:
    """Problems whose ground truth is 7."""
    return [problem(f"{number} + {7 - number} = ?", "7", source_row=number) for number in range(num)]
