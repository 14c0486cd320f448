"""The gain between visits: it is estimated without bias, and makes forecasts accurate."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from curriculum import Curriculum, CurriculumConfig, Visit
from curriculum.forecast.drift import MAX_SHIFT, Forecast
from curriculum.forecast.prior import new_stats

BINDING = {"dataset": "d", "model": "m", "sampling": "s"}
GROUP = 8


class World:
    """Problems whose success rates rise by `gain` logits a step, visited or not."""

    def __init__(self, gain: float, num: int = 2000, seed: int = 0) -> None:
        self.rng, self.gain = np.random.default_rng(seed), gain
        rates = self.rng.beta(1, 1, num)
        self.logits = np.log(rates / (1 - rates))
        self.problems = pl.DataFrame(
            {
                "key": [f"{i:024x}" for i in range(num)],
                "num_correct": self.rng.binomial(8, rates),
                "num_samples": np.full(num, 8),
            }
        )

    def visits(self, rows: list[int], step: int) -> list[Visit]:
        rates = 1 / (1 + np.exp(-self.logits[rows] - self.gain * step))
        correct = self.rng.binomial(GROUP, rates)
        return [Visit(row, int(k), GROUP - int(k), 0) for row, k in zip(rows, correct, strict=True)]


def run(world: World, steps: range, **settings: object) -> tuple[Curriculum, list[dict[str, float]]]:
    config = CurriculumConfig.model_validate({"rule": "none", "outage_p": 0, **settings})
    return run_steps(Curriculum.create(world.problems, config, BINDING), world, steps)


def run_steps(curriculum: Curriculum, world: World, steps: range) -> tuple[Curriculum, list[dict[str, float]]]:
    figures = []
    for step in steps:
        rows = curriculum.draw(32, step=step)
        curriculum.observe(world.visits(rows, step), step=step)
        figures.append(curriculum.metrics())
    return curriculum, figures


@pytest.mark.parametrize("gain", [-0.01, 0.005, 0.015])
@pytest.mark.parametrize("policy", ["uniform", "learnability"])
def test_a_gain_is_estimated_under_every_policy(gain: float, policy: str) -> None:
    curriculum, _ = run(World(gain), range(1, 121), policy=policy)
    assert curriculum.forecast().rate == pytest.approx(gain, rel=0.3)


@pytest.mark.parametrize("policy", ["uniform", "learnability", "target"])
def test_the_gain_of_an_unchanged_model_is_zero(policy: str) -> None:
    curriculum, _ = run(World(0.0), range(1, 121), policy=policy)
    assert abs(curriculum.forecast().rate) < 0.001


def test_the_share_without_a_gradient_is_predicted_while_the_model_learns() -> None:
    def error(half_life: float) -> float:
        _, figures = run(World(0.015), range(1, 161), policy="learnability", gain_half_life=half_life)
        seen, predicted = (
            np.mean([line[name] for line in figures[80:]]) for name in ("zero_variance", "predicted_zero_variance")
        )
        return float(seen - predicted)

    assert abs(error(30)) < 0.03
    assert error(0) > 0.06


def test_a_gain_that_ends_is_forgotten() -> None:
    world = World(0.02)
    curriculum, _ = run(world, range(1, 61), policy="uniform", half_life_visits=1)
    before = curriculum.forecast().rate
    world.logits, world.gain = world.logits + world.gain * 60, 0.0
    curriculum, _ = run_steps(curriculum, world, range(61, 561))
    assert 0 <= curriculum.forecast().rate < before / 4


def test_without_a_half_life_rates_come_from_the_counts_alone() -> None:
    curriculum, _ = run(World(0.02), range(1, 41), gain_half_life=0)
    assert curriculum.forecast().rate == 0
    assert curriculum.forecast().posterior() == pytest.approx(np.stack(curriculum.stats.posterior()))


def test_a_forecast_keeps_the_evidence_of_the_counts_and_limits_the_shift() -> None:
    stats = new_stats(World(0.0, num=50).problems, CurriculumConfig())
    a, b = stats.posterior()
    for rate, step in ((0.01, 50), (-0.01, 50), (1.0, 10_000)):
        moved_a, moved_b = Forecast(stats, step, rate).posterior()
        shift = np.clip(rate * step, -MAX_SHIFT, MAX_SHIFT)
        assert moved_a + moved_b == pytest.approx(a + b)
        assert np.log(moved_a / moved_b) - np.log(a / b) == pytest.approx(shift)


def test_the_age_of_evidence_is_the_mean_age_of_its_completions() -> None:
    problems = pl.DataFrame({"key": ["a", "b"], "num_correct": [4, None], "num_samples": [8, None]})
    curriculum = Curriculum.create(problems, CurriculumConfig(half_life_visits=1, outage_p=0), BINDING)
    curriculum.observe([Visit(0, 2, 2, 4), Visit(1, 1, 0, 0)], step=30)
    # 8 measured at 0 have half weight, beside 4 judged at 30; b had no counts
    assert curriculum.stats.seen_at == pytest.approx([15, 30])
    curriculum.observe([Visit(0, 0, 0, 8)], step=50)
    assert curriculum.stats.seen_at == pytest.approx([15, 30])


def test_a_resumed_run_and_a_new_run_keep_the_gain_and_the_ages(tmp_path: Path) -> None:
    world = World(0.015)
    curriculum, _ = run(world, range(1, 61))
    curriculum.save(tmp_path)
    loaded = Curriculum.load(tmp_path, world.problems, curriculum.config, BINDING)
    assert loaded.forecast().posterior() == pytest.approx(np.stack(curriculum.forecast().posterior()))
    continued = Curriculum.continue_from(tmp_path, world.problems, curriculum.config, BINDING)
    assert continued.forecast().posterior() == pytest.approx(np.stack(curriculum.forecast().posterior()))
    joined = pl.concat([world.problems, pl.DataFrame({"key": ["new"], "num_correct": [4], "num_samples": [8]})])
    continued = Curriculum.continue_from(tmp_path, joined, curriculum.config, BINDING)
    assert continued.forecast().mean_rate(np.array([len(joined) - 1])) == pytest.approx([0.5])
