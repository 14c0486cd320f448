"""Replay: a run's own forecasts are found again, and better ones score better."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from curate.errors import UserError
from curriculum import Curriculum, CurriculumConfig, Visit
from curriculum.simulate.replay import rescore
from curriculum.simulate.scores import Scored, scores
from curriculum.state.files import Saved, read

GROUP = 8
Trained = tuple[Curriculum, pl.DataFrame, Saved]


def pool(num: int = 400) -> tuple[pl.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    rates = np.where(rng.random(num) < 0.5, 1e-9, 0.4)
    counts = {"num_correct": rng.binomial(GROUP, rates), "num_samples": np.full(num, GROUP)}
    return pl.DataFrame({"key": [f"{i:04}" for i in range(num)], **counts}), rates


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """A run of 35 steps, some visits of which could not be judged."""
    problems, rates = pool()
    curriculum = Curriculum.create(problems, CurriculumConfig(outage_p=0, policy="uniform"), {})
    rng = np.random.default_rng(1)
    for step in range(1, 36):
        rows = curriculum.draw(16, step=step)
        right = rng.binomial(GROUP, rates[rows])
        undecided = [GROUP if row % 50 == 0 else 0 for row in rows]
        visits = [
            Visit(row, 0 if u else int(k), 0 if u else GROUP - int(k), u)
            for row, k, u in zip(rows, right, undecided, strict=True)
        ]
        curriculum.observe(visits, step=step)
    folder = tmp_path_factory.mktemp("run")
    curriculum.save(folder)
    return curriculum, problems, read(folder)


def test_a_replay_with_the_runs_settings_repeats_its_forecasts(trained: Trained) -> None:
    curriculum, problems, saved = trained
    found = rescore(saved, problems, curriculum.config)
    predicted = [line["predicted_zero_variance"] for line in curriculum.history.batches]
    again = [found.no_signal[found.step == step].mean() for step in range(1, 36)]
    assert again == pytest.approx(predicted, rel=1e-12)
    windows = scores(found).windows
    assert [(line.first, line.last) for line in windows] == [(1, 10), (11, 20), (21, 30), (31, 35)]
    seen = [line["zero_variance"] for line in curriculum.history.batches]
    sizes = [np.sum(found.step == step) for step in range(1, 11)]
    assert windows[0].seen == pytest.approx(np.average(seen[:10], weights=sizes))


def test_a_better_forecast_scores_better(trained: Trained) -> None:
    _, problems, saved = trained
    blind = problems.with_columns(num_correct=0, num_samples=0)
    config = CurriculumConfig(outage_p=0)
    measured, unmeasured = (scores(rescore(saved, table, config)) for table in (problems, blind))
    assert measured.log_loss < unmeasured.log_loss - 0.3
    assert measured.signal_log_loss < unmeasured.signal_log_loss - 0.2
    assert measured.max_gap < 0.1


def test_the_scores_are_those_of_the_definitions() -> None:
    parts = {"step": [1, 1, 12], "rate": [0.5, 0.55, 0.95], "no_signal": [0.1, 0.2, 0.9], "correct": [4, 8, 8]}
    arrays = {name: np.array(values, float) for name, values in parts.items()}
    found = scores(Scored(**arrays, log_chance=np.log([0.2, 0.1, 0.5]), judged=np.full(3, 8.0)))
    assert found.log_loss == pytest.approx(-np.log([0.2, 0.1, 0.5]).mean())
    assert found.signal_log_loss == pytest.approx(-np.log([0.9, 0.2, 0.9]).mean())
    assert [(line.predicted, line.seen) for line in found.windows] == [(pytest.approx(0.15), 0.5), (0.9, 1.0)]
    assert found.max_gap == pytest.approx(0.35)
    # two groups at .525 with a mean outcome of .75, one at .95 with 1
    assert found.calibration_error == pytest.approx((2 * 0.225 + 0.05) / 3)
    assert sum(line.num_groups for line in found.deciles) == 3


def test_a_run_without_visits_has_nothing_to_score(tmp_path: Path) -> None:
    problems, _ = pool(10)
    Curriculum.create(problems, CurriculumConfig(), {}).save(tmp_path)
    with pytest.raises(UserError, match="no judged visit"):
        rescore(read(tmp_path), problems, CurriculumConfig())
