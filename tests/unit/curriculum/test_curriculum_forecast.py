"""Forecasts: priors fitted to the pool, and progress that is neither luck nor another group's."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from curriculum import Curriculum, CurriculumConfig, Visit
from curriculum.forecast.grid import ABILITIES

BINDING = {"dataset": "d", "model": "m", "sampling": "s"}
GROUP = 8


class World:
    """Problems whose logits grow by the factor exp(polarise) and rise by `gain` each step, visited or not."""

    def __init__(
        self, gain: float = 0.0, polarise: float = 0.0, num: int = 2000, rates: np.ndarray | None = None, seed: int = 0
    ) -> None:
        self.rng, self.gain, self.polarise = np.random.default_rng(seed), gain, polarise
        rates = self.rng.beta(1, 1, num) if rates is None else rates
        self.logits = np.log(rates / (1 - rates))
        self.problems = pl.DataFrame(
            {
                "key": [f"{i:024x}" for i in range(len(rates))],
                "num_correct": self.rng.binomial(GROUP, rates),
                "num_samples": np.full(len(rates), GROUP),
            }
        )

    def rates(self, step: int) -> np.ndarray:
        return 1 / (1 + np.exp(-self.logits * np.exp(self.polarise * step) - self.gain * step))

    def visits(self, rows: list[int], step: int) -> list[Visit]:
        correct = self.rng.binomial(GROUP, self.rates(step)[rows])
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


def gap(figures: list[dict[str, float]]) -> float:
    seen, predicted = (
        np.mean([line[name] for line in figures]) for name in ("zero_variance", "predicted_zero_variance")
    )
    return float(seen - predicted)


@pytest.mark.parametrize("gain", [-0.01, 0.005, 0.015])
@pytest.mark.parametrize("policy", ["uniform", "learnability"])
def test_a_gain_is_estimated_under_every_policy(gain: float, policy: str) -> None:
    curriculum, _ = run(World(gain), range(1, 121), policy=policy)
    assert curriculum.forecaster.mean_progress()[1] == pytest.approx(gain * 120, abs=0.35)


@pytest.mark.parametrize("policy", ["uniform", "learnability", "target"])
def test_the_progress_of_an_unchanged_model_is_about_zero(policy: str) -> None:
    curriculum, _ = run(World(), range(1, 121), policy=policy)
    assert curriculum.forecaster.mean_progress() == pytest.approx((0, 0), abs=0.3)


def test_rates_that_polarise_are_recognised() -> None:
    curriculum, figures = run(World(polarise=0.008), range(1, 101), policy="learnability")
    assert curriculum.forecaster.mean_progress()[0] == pytest.approx(0.8, abs=0.3)
    assert abs(gap(figures[50:])) < 0.04


@pytest.mark.parametrize("policy", ["uniform", "learnability", "target"])
def test_regression_to_the_mean_is_not_progress(policy: str) -> None:
    # all problems are alike: those with the most and the fewest successes were lucky and unlucky
    curriculum, figures = run(World(rates=np.full(1000, 0.3)), range(1, 61), policy=policy)
    assert curriculum.forecaster.mean_progress()[1] == pytest.approx(0, abs=0.3)
    assert curriculum.forecast().mean_rate() == pytest.approx(0.3, abs=0.12)
    assert abs(gap(figures)) < 0.03


def test_the_share_without_a_gradient_is_predicted_while_the_model_learns() -> None:
    def error(half_life: float) -> float:
        _, figures = run(World(0.015), range(1, 161), policy="learnability", gain_half_life=half_life)
        return gap(figures[80:])

    assert abs(error(30)) < 0.03
    assert error(0) > 0.06


def test_a_gain_that_ends_is_followed() -> None:
    world = World(0.02)
    curriculum, _ = run(world, range(1, 61), policy="uniform")
    world.logits, world.gain = world.logits + world.gain * 60, 0.0
    before = curriculum.forecaster.mean_progress()[1]
    curriculum, _ = run_steps(curriculum, world, range(61, 161))
    assert curriculum.forecaster.mean_progress()[1] == pytest.approx(before, abs=0.4)


def two_groups(gain: float, hidden_rate: float) -> World:
    """Half of the problems at .4, half never solved in 8 samples, each half with a level of its own."""
    world = World(gain, rates=np.repeat([0.4, hidden_rate], 500))
    solved = np.where(np.arange(1000) < 500, world.problems["num_correct"].to_numpy(), 0)
    world.problems = world.problems.with_columns(
        num_correct=pl.Series(solved), extra=pl.Series(['{"level": 1}'] * 500 + ['{"level": 4}'] * 500)
    )
    return world


def test_what_was_never_solved_does_not_ride_on_the_gain_of_others() -> None:
    world = two_groups(0.03, 1e-6)
    curriculum, figures = run(world, range(1, 81), policy="target")
    forecast = curriculum.forecast()
    assert curriculum.forecaster.population.names == ["level=1", "level=4"]
    assert forecast.mean_rate(np.arange(500)).mean() > 0.8
    assert forecast.mean_rate(np.arange(500, 1000)).max() < 0.02
    assert abs(gap(figures)) < 0.05


def test_what_becomes_solvable_is_found_by_its_visits_and_raises_its_group() -> None:
    world = two_groups(0.0, 1e-6)
    curriculum, _ = run(world, range(1, 11), floor=0.2)
    before = curriculum.forecast().mean_rate(np.arange(500, 1000)).max()
    assert before < 0.02
    world.logits[500:] = 0.0
    curriculum, _ = run_steps(curriculum, world, range(11, 61))
    unseen = 500 + np.flatnonzero(curriculum.stats.num_visits[500:] == 0)
    seen = np.setdiff1d(np.arange(500, 1000), unseen)
    assert curriculum.forecast().mean_rate(seen).mean() > 0.3
    assert curriculum.forecast().mean_rate(unseen).mean() > 3 * before


def test_the_prior_is_that_of_the_pool() -> None:
    # three in five never, the rest about one half
    world = World(rates=np.repeat([1e-9, 0.5], [1200, 800]))
    curriculum = Curriculum.create(world.problems, CurriculumConfig(), BINDING)
    (prior,) = curriculum.forecaster.population.priors()
    hopeless = prior[-2] + prior[:-2][ABILITIES < -4].sum()
    assert hopeless == pytest.approx(0.6, abs=0.02)
    assert prior[:-2][np.abs(ABILITIES) < 1].sum() == pytest.approx(0.4, abs=0.05)
    never, all_of_eight = (int(np.argmax(world.problems["num_correct"] == k)) for k in (0, 7))
    assert curriculum.forecast().no_signal(np.array([never]), GROUP)[0] > 0.95
    assert curriculum.forecast().mean_rate(np.array([all_of_eight]))[0] < 0.65


def test_an_unmeasured_pool_has_a_uniform_prior_that_visits_refine() -> None:
    world = World(rates=np.full(400, 0.2))
    world.problems = world.problems.select("key")
    curriculum = Curriculum.create(world.problems, CurriculumConfig(outage_p=0, policy="uniform"), BINDING)
    forecast = curriculum.forecast()
    assert forecast.mean_rate() == pytest.approx(np.full(400, 0.5))
    # of Beta(1, 1), two of nine groups of eight have no signal; the atoms add their share
    assert forecast.no_signal(np.arange(3), GROUP) == pytest.approx(0.04 + 0.96 * 2 / 9, abs=0.01)
    curriculum, _ = run_steps(curriculum, world, range(1, 6))
    unseen = np.flatnonzero(curriculum.stats.num_visits == 0)
    assert curriculum.forecast().mean_rate(unseen) == pytest.approx(0.2, abs=0.04)
    assert curriculum.forecaster.population.shares.sum() == pytest.approx(400 - len(unseen))


def test_without_a_half_life_rates_are_constant_between_visits() -> None:
    curriculum, _ = run(World(0.02), range(1, 41), gain_half_life=0)
    assert curriculum.forecaster.mean_progress() == (0.0, 0.0)
    unseen = np.flatnonzero(curriculum.stats.num_visits == 0)
    rates = curriculum.forecast().mean_rate(unseen)
    curriculum.clock.step += 100
    assert (curriculum.forecast().mean_rate(unseen) == rates).all()


def test_a_thompson_draw_has_the_mean_of_the_forecast() -> None:
    curriculum, _ = run(World(0.01), range(1, 31))
    rows, forecast, rng = np.arange(50), curriculum.forecast(), np.random.default_rng(1)
    draws = np.array([forecast.sample(rows, rng) for _ in range(2000)])
    assert draws.mean(axis=0) == pytest.approx(forecast.mean_rate(rows), abs=0.03)
    assert len(np.unique(draws[0])) > 40


def test_the_chances_of_all_outcomes_sum_to_one() -> None:
    curriculum, _ = run(World(0.01), range(1, 11))
    rows, forecast, ones = np.arange(20), curriculum.forecast(), np.ones(20, np.int64)
    chances = [np.exp(forecast.log_chance(rows, k * ones, GROUP * ones)) for k in range(GROUP + 1)]
    assert np.sum(chances, axis=0) == pytest.approx(np.ones(20))
    assert chances[0] + chances[GROUP] == pytest.approx(forecast.no_signal(rows, GROUP))
    assert forecast.no_signal(rows, 1) == pytest.approx(np.ones(20))


def test_the_age_of_evidence_is_the_mean_age_of_its_completions() -> None:
    problems = pl.DataFrame({"key": ["a", "b"], "num_correct": [4, None], "num_samples": [8, None]})
    curriculum = Curriculum.create(problems, CurriculumConfig(half_life_visits=1, outage_p=0), BINDING)
    curriculum.observe([Visit(0, 2, 2, 4), Visit(1, 1, 0, 0)], step=30)
    # 8 measured at 0 have half weight, beside 4 judged at 30; b had no counts
    assert curriculum.stats.seen_at == pytest.approx([15, 30])
    shift = curriculum.forecaster.progress.mean[1]
    assert curriculum.forecaster.population.names == ["all", "all unmeasured"]
    assert curriculum.stats.shift_at == pytest.approx([shift[0] / 2, shift[1]])
    curriculum.observe([Visit(0, 0, 0, 8)], step=50)
    assert curriculum.stats.seen_at == pytest.approx([15, 30])


def test_a_resumed_run_and_a_new_run_keep_the_forecasts(tmp_path: Path) -> None:
    world = World(0.015)
    curriculum, _ = run(world, range(1, 61))
    curriculum.save(tmp_path)
    rates = curriculum.forecast().mean_rate()
    loaded = Curriculum.load(tmp_path, world.problems, curriculum.config, BINDING)
    assert (loaded.forecast().mean_rate() == rates).all()
    # a new run fits the priors again, to the counts as they now are
    continued = Curriculum.continue_from(tmp_path, world.problems, curriculum.config, BINDING)
    assert continued.forecast().mean_rate() == pytest.approx(rates, abs=0.08)
    assert np.abs(continued.forecast().mean_rate() - rates).mean() < 0.02
    assert continued.forecaster.mean_progress() == pytest.approx(curriculum.forecaster.mean_progress())
    joined = pl.concat([world.problems, pl.DataFrame({"key": ["new"], "num_correct": [4], "num_samples": [8]})])
    continued = Curriculum.continue_from(tmp_path, joined, curriculum.config, BINDING)
    assert continued.forecast().mean_rate(np.array([len(joined) - 1])) == pytest.approx([0.5], abs=0.1)


@pytest.mark.parametrize("early_stop", [False, True])
def test_a_pool_cut_to_a_band_is_not_taken_for_a_narrow_one(early_stop: bool) -> None:
    # 1..7 of 8 were kept; with early stopping sampling ended when one was right and one wrong
    world = World(rates=np.random.default_rng(1).beta(0.5, 0.5, 6000))
    samples = world.rng.random((6000, GROUP)) < world.rates(0)[:, None]
    kept = samples.any(axis=1) & ~samples.all(axis=1)
    num = np.full(6000, GROUP)
    if early_stop:
        num = np.maximum(samples.argmax(axis=1), (~samples).argmax(axis=1)) + 1
    correct = (samples & (np.arange(GROUP) < num[:, None])).sum(axis=1)
    world.logits = world.logits[kept]
    world.problems = pl.DataFrame({"key": [f"{i:024x}" for i in range(kept.sum())]}).with_columns(
        num_correct=pl.Series(correct[kept]), num_samples=pl.Series(num[kept])
    )
    curriculum = Curriculum.create(world.problems, CurriculumConfig(), BINDING)
    rates, forecast = world.rates(0), curriculum.forecast()
    lost = (rates**GROUP + (1 - rates) ** GROUP).mean()
    assert forecast.no_signal(np.arange(len(rates)), GROUP).mean() == pytest.approx(lost, abs=0.03)
    few = world.problems["num_correct"].to_numpy() == 1
    assert forecast.mean_rate()[few].mean() == pytest.approx(rates[few].mean(), abs=0.02)
