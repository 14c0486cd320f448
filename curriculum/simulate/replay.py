"""`gradus curriculum replay`: the forecasts of a finished run, made again from its visits under any settings.

A run's state has every visit; its dataset has the counts from before. The curriculum is made anew and shown the visits
in their order, and each one's outcome is scored against the forecast from before it. No model is needed, and the draws
stay those of the run: a replay judges forecasts, not policies.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
import yaml

from curate.artifacts.artifact import open_artifact
from curate.config import parse, read_yaml
from curate.errors import UserError
from curriculum.config import CurriculumConfig
from curriculum.curriculum import Curriculum
from curriculum.simulate.scores import Scored, Scores, scores
from curriculum.state.files import Saved, newest, read
from curriculum.statistics.visits import Floats, Visit

RUN_CONFIG: Final = "config.yaml"


def replay(run: Path, data: Path | None = None, settings: Path | None = None) -> Scores:
    """Scores of the forecasts over a run's visits; `data` and `settings` default to those of the run."""
    saved = read(newest(run))
    chosen = read_yaml(settings) if settings else {}
    config = parse(CurriculumConfig, {**saved.config, **chosen}, str(settings or saved.folder))
    return scores(rescore(saved, dataset_of(run, saved, data), config))


def rescore(saved: Saved, problems: pl.DataFrame, config: CurriculumConfig) -> Scored:
    """Every judged visit with its forecast; `problems` has the rows of the saved state, in its order."""
    # visits that an outage discarded are not in the history
    quiet = {"outage_p": 0.0, "outage_undecided": 1.0, "probe_size": 0, "canaries": 0.0}
    curriculum = Curriculum.create(problems, config.model_copy(update=quiet), {})
    parts = [_observed(curriculum, batch) for batch in _batches(saved.history.visits)]
    if not sum(part.shape[1] for part in parts):
        raise UserError(f"{saved.folder}: no judged visit in this run's history, so there is no forecast to score")
    return Scored(*np.concatenate(parts, axis=1))


def dataset_of(run: Path, saved: Saved, data: Path | None) -> pl.DataFrame:
    """The problems of a run with their counts from before it, in the order of its state."""
    place = data or data_of(run)
    problems = open_artifact(place).read("kept")
    found = pl.DataFrame({"key": saved.keys}).join(problems, on="key", how="left", maintain_order="left")
    missing = saved.keys.filter(~saved.keys.is_in(problems["key"].implode()))
    if len(missing):
        raise UserError(f"{place}: lacks {len(missing):,} problems of {run}, {missing[0]} among them; give --data")
    return found


def data_of(run: Path) -> Path:
    """The dataset that a run's config names; `UserError` if it is no folder here."""
    for folder in (run, run.parent):
        if (folder / RUN_CONFIG).is_file():
            named = yaml.safe_load((folder / RUN_CONFIG).read_text(encoding="utf-8")).get("data")
            if isinstance(named, str) and Path(named).is_dir():
                return Path(named)
            raise UserError(f"{folder / RUN_CONFIG}: data {named!r} is no artifact folder here; give --data FOLDER")
    raise UserError(f"{run}: has no {RUN_CONFIG} that names its dataset; give --data FOLDER")


def _batches(visits: pl.DataFrame) -> Iterator[pl.DataFrame]:
    for _, batch in visits.group_by("draw", "step", maintain_order=True):
        yield batch


def _observed(curriculum: Curriculum, batch: pl.DataFrame) -> Floats:
    """The six figures of `Scored` for a batch, which the curriculum then learns from."""
    step = int(batch["step"][0])
    curriculum.clock.step = step
    names = ("row", "num_correct", "num_wrong", "num_undecided")
    row, correct, wrong, undecided = (batch[name].to_numpy().astype(np.int64) for name in names)
    judged, forecast = correct + wrong, curriculum.forecast()
    is_judged = judged > 0
    rows, correct_j, judged_j = row[is_judged], correct[is_judged], judged[is_judged]
    log_chance, lost = forecast.log_chance(rows, correct_j, judged_j), np.zeros(len(rows))
    for size in np.unique(judged_j):
        lost[judged_j == size] = forecast.no_signal(rows[judged_j == size], int(size))
    figures = (np.full(len(rows), step), forecast.mean_rate(rows), lost, log_chance, correct_j, judged_j)
    visits = zip(row.tolist(), correct.tolist(), wrong.tolist(), undecided.tolist(), strict=True)
    curriculum.observe([Visit(*visit) for visit in visits], step=step)
    return np.array(figures, np.float64)
