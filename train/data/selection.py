"""Training examples from a model's samples: its right answers, its shortest right answers, or preference pairs.

The input is an artifact with samples, as `gradus curate difficulty` writes it. Kept and dropped problems both count:
one that a teacher always solves is a good example. A truncated completion is never an example.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from curate.artifacts.artifact import Artifact, open_artifact
from curate.errors import UserError
from curate.records import with_all_columns
from train.data.rows import Rows


def right_answers(folder: Path, per_problem: int) -> Rows:
    """`key`, `prompt`, `messages`, `completion`: up to `per_problem` right answers a problem, in sampling order."""
    artifact = open_artifact(folder)
    right = _finished(artifact).filter(pl.col("verdict") == "correct").sort("key", "index")
    return _rows(artifact, right.group_by("key", maintain_order=True).head(per_problem))


def shortest_right_answers(folder: Path, min_right: int) -> Rows:
    """`key`, `prompt`, `messages`, `completion`: the shortest right answer a problem, of at least `min_right` of them.

    Kimi k1.5 (2501.12599), sec. 2.4: shortest rejection sampling. With fewer right answers the shortest may be luck.
    """
    artifact = open_artifact(folder)
    right = _finished(artifact).filter(pl.col("verdict") == "correct")
    enough = right.filter(pl.len().over("key") >= min_right)
    return _rows(artifact, enough.sort("key", "num_tokens", "index").group_by("key", maintain_order=True).head(1))


def preference_pairs(folder: Path, ratio: float) -> Rows:
    """`key`, `prompt`, `messages`, `chosen`, `rejected`: the shortest right answer against longer answers.

    Rejected answers are longer wrong ones, and right ones at least `ratio` times as long: Kimi k1.5, sec. 2.4.
    """
    artifact = open_artifact(folder)
    samples = _finished(artifact).filter(pl.col("verdict") != "undecided")
    right = samples.filter(pl.col("verdict") == "correct").sort("key", "num_tokens", "index")
    best = right.group_by("key", maintain_order=True).first().select("key", best="num_tokens", chosen="text")
    limit = pl.when(pl.col("verdict") == "correct").then(pl.col("best") * ratio).otherwise(pl.col("best") + 1)
    longer = samples.join(best, on="key").filter(pl.col("num_tokens") >= limit).sort("key", "index")
    rows = _with_prompts(artifact, longer).select("key", "prompt", "messages", "chosen", rejected="text")
    return Rows(_some(rows, folder), artifact.manifest.digest)


def _finished(artifact: Artifact) -> pl.DataFrame:
    if not (artifact.folder / "samples").is_dir():
        raise UserError(
            f"{artifact.folder}: has no samples of a model; draw some with gradus curate difficulty {artifact.folder} "
            "--model MODEL --no-early-stop --out FOLDER"
        )
    return artifact.read("samples").filter(pl.col("finish_reason") == "stop")


def _rows(artifact: Artifact, samples: pl.DataFrame) -> Rows:
    rows = _with_prompts(artifact, samples).select("key", "prompt", "messages", completion="text")
    return Rows(_some(rows, artifact.folder), artifact.manifest.digest)


def _with_prompts(artifact: Artifact, samples: pl.DataFrame) -> pl.DataFrame:
    parts = [with_all_columns(artifact.read(part)) for part in ("kept", "dropped")]
    prompts = pl.concat([rows.select("key", "prompt", "messages") for rows in parts])
    return samples.join(prompts, on="key", how="inner", maintain_order="left")


def _some(rows: pl.DataFrame, folder: Path) -> pl.DataFrame:
    if rows.is_empty():
        raise UserError(f"{folder}: none of its samples is usable; sample more per problem, or use an easier pool")
    return rows
