"""Known failures of public systems, each as a property that excludes it."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from curriculum import Curriculum, CurriculumConfig, PoolExhausted, Visit
from curriculum.draw.policies import POLICIES

GROUP = 8


def frame(num: int, **columns: object) -> pl.DataFrame:
    return pl.DataFrame({"key": [f"k{i:03}" for i in range(num)], **columns})


def made(problems: pl.DataFrame, **settings: object) -> Curriculum:
    return Curriculum.create(problems, CurriculumConfig.model_validate(settings), {})


@pytest.mark.parametrize("policy", POLICIES)
def test_no_pool_is_one_way_and_the_active_one_does_not_drain(policy: str) -> None:
    # half of the pool is mastered, and all of it forgotten at step 150; a few never succeeded before step 150
    curriculum = made(frame(60), policy=policy, recheck_after=3, recheck_share=0.3, outage_p=0, floor=0.2)
    rng, active = np.random.default_rng(0), []
    for step in range(400):
        early = {row: 0.98 if row < 30 else 0.0 if row < 36 else 0.4 for row in range(60)}
        rates = early if step < 150 else dict.fromkeys(range(60), 0.4)
        visits = [(row, int(rng.binomial(GROUP, rates[row]))) for row in curriculum.draw(16, step=step)]
        curriculum.observe([Visit(row, correct, GROUP - correct, 0) for row, correct in visits], step=step)
        active.append(curriculum.occupancy()["active"])
    assert active[149] < 35, "the mastered half had left"
    assert active[-1] > 55, "and came back"


def test_an_outage_does_not_park_a_source() -> None:
    sources = ["code" if i % 4 == 0 else "maths" for i in range(80)]
    problems = frame(80, source=sources, num_correct=[4] * 80, num_samples=[8] * 80)
    curriculum = made(problems, park_after=2, outage_limit=10**6)
    for step in range(60):
        rows = curriculum.draw(32, step=step)
        is_down = 10 <= step < 50
        visits = [
            Visit(r, 0 if is_down and sources[r] == "code" else 4, 8 if is_down and sources[r] == "code" else 4, 0)
            for r in rows
        ]
        curriculum.observe(visits, step=step)
    code = np.array([source == "code" for source in sources])
    # a batch holds too few code problems to prove an outage only now and then
    assert (curriculum.stats.status[code] == 0).mean() > 0.9
    drawn = [row for step in range(60, 90) for row in curriculum.draw(32, step=step)]
    assert np.mean([sources[row] == "code" for row in drawn]) > 0.15


def test_resume_skips_no_problem_of_a_pass(tmp_path: Path) -> None:
    config = {"policy": "easy_to_hard", "floor": 1e-9}
    curriculum = made(frame(64), **config)
    seen: list[int] = []
    for step in range(8):
        rows = curriculum.draw(8, step=step)
        curriculum.observe([Visit(row, 4, 4, 0) for row in rows], step=step)
        seen += rows
        curriculum.save(tmp_path / str(step))
        curriculum = Curriculum.load(tmp_path / str(step), frame(64), curriculum.config, {})
    assert sorted(seen) == list(range(64))


@pytest.mark.parametrize("policy", POLICIES)
def test_resume_at_the_end_of_a_pass_continues(policy: str, tmp_path: Path) -> None:
    curriculum = made(frame(16), policy=policy)
    for step in range(4):
        curriculum.observe([Visit(row, 4, 4, 0) for row in curriculum.draw(4, step=step)], step=step)
    curriculum.save(tmp_path)
    resumed = Curriculum.load(tmp_path, frame(16), curriculum.config, {})
    assert len(resumed.draw(4, step=4)) == 4
    assert len(resumed.draw(4, step=5)) == 4


@pytest.mark.parametrize("steps_per_draw", [1, 4])
def test_schedules_count_training_steps_not_generations(steps_per_draw: int) -> None:
    problems = frame(100, num_correct=[8 - i % 9 for i in range(100)], num_samples=[8] * 100)
    curriculum = made(problems, policy="uniform", hard_from_step=24, hard_share=0.3, floor=1e-9, rule="none")
    cut = np.quantile(curriculum.stats.difficulty, 0.7)
    for step in range(0, 48, steps_per_draw):
        rows = curriculum.draw(20, step=step)
        is_hard_only = bool((curriculum.stats.difficulty[rows] >= cut).all())
        assert is_hard_only == (step >= 24)
        curriculum.observe([Visit(row, 4, 4, 0) for row in rows], step=step)


def test_rechecks_are_due_by_training_steps_not_by_generations() -> None:
    curriculum = made(frame(30), recheck_after=40, recheck_share=0.5)
    for _ in range(8):
        if curriculum.stats.status[0] == 0:
            curriculum.observe([Visit(0, 8, 0, 0)], step=0)
    due = [step for step in range(0, 80, 8) if 0 in curriculum.draw(4, step=step)]
    assert due[0] == 40


@pytest.mark.parametrize("policy", POLICIES)
def test_an_all_retired_pool_ends_cleanly_with_a_message(policy: str) -> None:
    curriculum = made(frame(6), policy=policy, recheck_after=10**6)
    step = 0
    while curriculum.occupancy()["active"]:
        curriculum.observe([Visit(row, 8, 0, 0) for row in curriculum.draw(3, step=step)], step=step)
        step += 1
    with pytest.raises(PoolExhausted, match=r"no active problem is left \(6 retired\)"):
        curriculum.draw(3, step=step)


@pytest.mark.parametrize("policy", POLICIES)
def test_an_all_parked_pool_ends_cleanly_with_a_message(policy: str) -> None:
    curriculum = made(frame(6), policy=policy)
    step = 0
    while curriculum.occupancy()["active"]:
        curriculum.observe([Visit(row, 0, 8, 0) for row in curriculum.draw(3, step=step)], step=step)
        step += 1
    with pytest.raises(PoolExhausted, match="6 parked"):
        curriculum.draw(3, step=step)


@pytest.mark.parametrize("policy", ["learnability", "target"])
def test_missing_pass_rates_are_not_zero(policy: str) -> None:
    # half of the pool is measured hopeless, half is not measured: the unknown half must be tried
    problems = frame(200, num_correct=[0, None] * 100, num_samples=[64, None] * 100)
    curriculum = made(problems, policy=policy, prior_weight=64, floor=1e-9)
    rows = [row for _ in range(20) for row in curriculum.draw(10)]
    assert np.mean([row % 2 for row in rows]) > 0.85


def test_easy_to_hard_trains_from_easy_to_hard() -> None:
    order = np.random.default_rng(1).permutation(60)
    problems = frame(60, level=[int(level) for level in order])
    curriculum = made(problems, policy="easy_to_hard", level="level", floor=1e-9, rule="none")
    means = []
    for step in range(6):
        rows = curriculum.draw(10, step=step)
        means.append(np.mean([order[row] for row in rows]))
        curriculum.observe([Visit(row, 4, 4, 0) for row in rows], step=step)
    assert means == [4.5, 14.5, 24.5, 34.5, 44.5, 54.5]


def test_rechecks_are_spread_over_the_slices_of_all_ranks() -> None:
    # groups are laid out rank by rank; re-checks and floor slots must not all fall to the first rank
    curriculum = made(frame(200), recheck_after=1, recheck_growth=1, recheck_share=0.25)
    for _ in range(6):
        live = [row for row in range(50) if curriculum.stats.status[row] == 0]
        curriculum.observe([Visit(row, 8, 0, 0) for row in live], step=0)
    first = second = 0
    for step in range(5, 205):
        rows = curriculum.draw(8, step=step)
        first, second = first + sum(row < 50 for row in rows[:4]), second + sum(row < 50 for row in rows[4:])
    assert first > 100
    assert second > 100
    assert abs(first - second) < 0.3 * (first + second)


def test_a_group_of_one_is_counted_predicted_and_retired() -> None:
    curriculum = made(frame(30))
    rng = np.random.default_rng(0)
    for step in range(400):
        rows = curriculum.draw(10, step=step)
        curriculum.observe([Visit(row, k, 1 - k, 0) for row in rows for k in [int(rng.random() < 0.99)]], step=step)
        assert curriculum.metrics()["zero_variance"] == curriculum.metrics()["predicted_zero_variance"] == 1
        if curriculum.occupancy()["active"] == 0:
            break
    assert curriculum.occupancy()["retired"] == 30
