"""Outage detection: nearly impossible outcomes are discarded, merely bad ones are learned from."""

import numpy as np
import polars as pl
import pytest

from curriculum import Curriculum, CurriculumConfig, Outage, Visit
from curriculum.pools.outage import log_chance

GROUP = 8


def made(num: int = 40, num_correct: int = 4, **settings: object) -> Curriculum:
    frame = pl.DataFrame(
        {
            "key": [f"k{i}" for i in range(num)],
            "num_correct": [num_correct] * num,
            "num_samples": [GROUP] * num,
            "source": ["maths", "code"] * (num // 2),
        }
    )
    return Curriculum.create(frame, CurriculumConfig.model_validate(settings), {})


def batch(rows: range | list[int], correct: int, undecided: int = 0) -> list[Visit]:
    return [Visit(row, correct, GROUP - correct - undecided, undecided) for row in rows]


def figures(curriculum: Curriculum) -> list[bytes]:
    return [array.tobytes() for array in vars(curriculum.stats).values()]


def outages(curriculum: Curriculum) -> list[str]:
    return [event["where"] for event in curriculum.history.events if event["event"] == "outage"]


@pytest.mark.parametrize("visits", [batch(range(16), 0), batch(range(16), 1, 6)], ids=["all zero", "mostly undecided"])
def test_an_outage_changes_no_statistic_and_is_logged(visits: list[Visit]) -> None:
    curriculum = made()
    before = figures(curriculum)
    curriculum.observe(visits, step=3)
    assert figures(curriculum) == before
    assert outages(curriculum) == ["all sources"]
    assert curriculum.metrics()["disbelieved"] == 16


def test_three_outages_in_a_row_stop_training_with_one_line() -> None:
    curriculum = made()
    for step in (1, 2):
        curriculum.observe(batch(range(16), 0), step=step)
    with pytest.raises(Outage, match="step 3: 3 batches in a row") as stop:
        curriculum.observe(batch(range(16), 0), step=3)
    assert "\n" not in str(stop.value)


def test_a_good_batch_between_two_outages_restarts_the_count() -> None:
    curriculum = made()
    for step in range(9):
        curriculum.observe(batch(range(16), 0 if step % 3 < 2 else 4), step=step)
    assert len(outages(curriculum)) == 6


def test_the_outage_of_one_source_spares_the_others() -> None:
    curriculum = made()
    visits = [Visit(row, 0 if row % 2 else 4, GROUP if row % 2 else 4, 0) for row in range(20)]
    curriculum.observe(visits, step=1)
    assert outages(curriculum) == ["code"]
    assert curriculum.stats.num_visits[:20].tolist() == [1, 0] * 10


def test_an_outage_of_a_source_parks_none_of_its_problems() -> None:
    curriculum = made(park_after=2, outage_limit=100)
    for step in range(30):
        rows = curriculum.draw(16, step=step)
        curriculum.observe([Visit(row, 0 if row % 2 else 4, 8 if row % 2 else 4, 0) for row in rows], step=step)
    assert curriculum.occupancy()["parked"] == 0


def test_a_hopeless_pool_is_no_outage() -> None:
    curriculum = made(num_correct=0)
    for step in range(5):
        curriculum.observe(batch(range(40), 0), step=step)
    assert outages(curriculum) == []
    unmeasured = Curriculum.create(pl.DataFrame({"key": ["a", "b", "c"]}), CurriculumConfig(), {})
    unmeasured.observe(batch(range(3), 0), step=1)
    assert outages(unmeasured) == []


def test_a_model_that_got_much_worse_is_learned_from() -> None:
    curriculum = made(num_correct=8)
    curriculum.observe(batch(range(16), 1), step=1)
    assert outages(curriculum) == []
    assert curriculum.stats.num_visits[:16].tolist() == [1] * 16


def test_one_problem_with_a_broken_verifier_is_quarantined_without_an_outage() -> None:
    curriculum = made(quarantine_after=1)
    curriculum.observe(batch([3], 0, 8), step=1)
    assert outages(curriculum) == []
    assert curriculum.occupancy()["quarantined"] == 1


def test_the_chance_of_a_total_is_exact() -> None:
    rng = np.random.default_rng(0)
    s, f, n = np.array([4.0, 6.0, 2.0]), np.array([2.0, 1.0, 6.0]), np.array([2, 1, 3])
    totals = rng.binomial(n, rng.beta(s - 1, f + 1, (400_000, 3))).sum(axis=1)
    chance = log_chance(0, s, f, n)
    assert chance is not None
    assert np.exp(chance) == pytest.approx((totals == 0).mean(), rel=0.02)


def test_an_outage_too_small_to_show_in_one_batch_is_found_over_several() -> None:
    curriculum = made()
    for step in range(8):
        # two problems of code a batch, always different ones
        code = list(range(1, 40, 2))[2 * step : 2 * step + 2]
        curriculum.observe([*batch(code, 0), *batch(range(0, 20, 2), 4)], step=step)
        if outages(curriculum):
            break
    assert set(outages(curriculum)) == {"code"}
    assert 1 <= step <= 4


def test_one_success_resets_the_doubts() -> None:
    curriculum = made()
    for step in range(12):
        code = list(range(1, 40, 2))[step : step + 2]
        curriculum.observe([*batch(code, 0 if step % 2 else 3), *batch(range(0, 20, 2), 4)], step=step)
    assert outages(curriculum) == []


def test_problems_that_succeeded_once_by_luck_are_no_outage_when_they_fail() -> None:
    # a hard source, measured once: the luckiest of its problems are drawn, and fail
    curriculum = made(num_correct=1)
    for step in range(10):
        curriculum.observe(batch(range(4 * step, 4 * step + 4), 0), step=step)
    assert outages(curriculum) == []


def test_an_empty_batch_is_no_outage() -> None:
    curriculum = made()
    curriculum.observe([], step=1)
    assert outages(curriculum) == []
