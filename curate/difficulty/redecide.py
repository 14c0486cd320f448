"""Decides an artifact of the difficulty stage again from its samples, with another band or verifier policy.

No model is started. The current verifier judges every sample again. A problem whose samples do not settle the new
decision is dropped as `undersampled`; `gradus curate difficulty --samples-from` draws the missing ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Literal

import polars as pl
from pydantic import Field

from curate.artifacts.artifact import Artifact
from curate.artifacts.folder import OutFolder
from curate.artifacts.samples import SampleLog
from curate.config import Config, parse
from curate.difficulty.stage import COLUMNS, DifficultyConfig, stage_with
from curate.engines.recorded import open_recorded
from curate.errors import UserError
from curate.progress import Progress
from curate.records import DECISION
from curate.runner.run import Outcome
from curate.runner.stage import Workspace


class RedecideConfig(Config):
    """Decide again which problems to keep, on the samples of a difficulty artifact; no model is started.

    Options that are not given keep their values from that artifact.

    Example: gradus curate redecide runs/difficulty --out runs/hard --keep 0..2
    """

    keep: str | None = Field(None, coerce_numbers_to_str=True, description="Fewest and most correct samples to keep.")
    keep_rate: str | None = Field(None, description="The band as rates instead, e.g. 0.1..0.9.")
    k: int | None = Field(None, ge=1, description="Judged samples that the band refers to.")
    max_undecided: int | None = Field(None, ge=0, description="Unjudgeable samples that a problem may have.")
    truncated: Literal["wrong", "undecided", "judged"] | None = Field(
        None, description="Verdict of a completion cut off at --max-tokens."
    )
    verify: str | None = Field(None, description="The verifier's policy, as YAML: '{boxes: last}'.")


def redecide(artifact: Artifact, config: RedecideConfig, out: Path, *, force: bool = False) -> Outcome:
    """Write the artifact `out`; `UserError` if `artifact` is not of the difficulty stage."""
    settings = _settings(artifact, config)
    inputs = {**artifact.manifest.inputs, "samples": artifact.manifest.digest}
    stage = stage_with(
        settings,
        inputs,
        str(artifact.manifest.facts.get("model")),
        partial(open_recorded, artifact.folder, {}, None),
    )
    identity = {**stage.identity(inputs["pool"]), "inputs": inputs}
    with OutFolder(out, identity, reads=[artifact.folder], force=force) as folder:
        if (complete := folder.complete()) is not None:
            return Outcome(complete, is_reused=True)
        with closing(SampleLog(out)) as samples, Progress("redecide", artifact.manifest.num_in) as progress:
            with stage.open(Workspace(samples, progress)) as run:
                for index, rows in enumerate(_pool(artifact, stage.batch_rows)):
                    folder.write_batch(index, run(rows))
            samples.seal()
        return Outcome(folder.finish(stage.facts, stage.plots), is_reused=False)


def _settings(artifact: Artifact, config: RedecideConfig) -> DifficultyConfig:
    if artifact.manifest.stage != "difficulty":
        raise UserError(
            f"{artifact.folder}: was made by {artifact.manifest.stage}; give the folder that difficulty wrote"
        )
    given: dict[str, Any] = config.model_dump(exclude_none=True)
    # one form of the band replaces the other
    band = {"keep": None, "keep_rate": None, "target_error": None} if {"keep", "keep_rate"} & set(given) else {}
    return parse(DifficultyConfig, {**artifact.manifest.config, **band, **given}, "--")


def _pool(artifact: Artifact, batch_rows: int) -> Iterator[pl.DataFrame]:
    """All rows of the artifact without the stage's columns, a batch at a time."""
    parts = [artifact.scan("kept"), artifact.scan("dropped").drop(*DECISION)]
    rows = pl.concat(parts, how="vertical").drop(*COLUMNS)
    for start in range(0, max(artifact.manifest.num_in, 1), batch_rows):
        yield rows.slice(start, batch_rows).collect()
