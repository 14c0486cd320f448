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


def mixed(shares: dict[str, tuple[int, int]], **settings: object) -> tuple[Curriculum, list[Visit]]:
    """A curriculum of sources, each with a number of problems and of undecided completions in a visit; all visits."""
    sources = [source for source, (num, _) in shares.items() for _ in range(num)]
    frame = pl.DataFrame({"key": [f"k{i}" for i in range(len(sources))], "source": sources})
    unclear = [shares[source][1] for source in sources]
    visits = [Visit(row, (GROUP - num) // 2, GROUP - num - (GROUP - num) // 2, num) for row, num in enumerate(unclear)]
    return Curriculum.create(frame, CurriculumConfig.model_validate(settings), {}), visits


@pytest.mark.parametrize("num_bad", [3, 12, 60])
def test_an_undecided_source_is_named_however_much_of_the_batch_it_is(num_bad: int) -> None:
    # five of eight undecided; the batch as a whole is over a half from twelve problems on
    curriculum, visits = mixed({"good": (8, 0), "fair": (2, 3), "bad": (num_bad, 5)})
    curriculum.observe(visits, step=1)
    assert outages(curriculum) == (["bad"] if num_bad > 3 else [])
    assert curriculum.stats.num_visits[:10].tolist() == [1] * 10
    assert curriculum.metrics()["disbelieved"] == (num_bad if num_bad > 3 else 0)


def test_a_small_source_takes_the_blame_for_a_batch_that_it_makes_undecided() -> None:
    curriculum, visits = mixed({"good": (2, 0), "bad": (3, 8)})
    curriculum.observe(visits, step=1)
    assert outages(curriculum) == ["bad"]


def test_a_source_that_stays_undecided_is_left_out_and_the_others_go_on_learning() -> None:
    curriculum, _ = mixed({"good": (30, 0), "bad": (70, 5)}, recheck_after=1000)
    for step in range(1, 30):
        rows = curriculum.draw(16, step=step)
        curriculum.observe([Visit(row, 4, 4, 0) if row < 30 else Visit(row, 1, 2, 5) for row in rows], step=step)
    (left_out,) = (event for event in curriculum.history.events if event["event"] == "left_out")
    assert (left_out["where"], left_out["num_problems"], left_out["step"]) == ("bad", 70, 3)
    assert outages(curriculum) == ["bad"] * 3
    assert curriculum.occupancy()["quarantined"] == 70
    assert (curriculum.stats.num_visits[:30] > 0).all()


def test_the_lines_for_the_terminal_name_the_source_and_the_evidence() -> None:
    curriculum, visits = mixed({"good": (30, 0), "bad": (70, 5)})
    for step in (1, 2, 3):
        curriculum.draw(1, step=step)
        curriculum.observe(visits, step=step)
    assert curriculum.notices() == [
        "outage of bad, visits discarded: 350 of 560 verdicts undecided",
        "source bad is left out, 70 problems quarantined: 350 of 560 verdicts undecided",
    ]
    curriculum.draw(1, step=4)
    curriculum.observe(visits[:30], step=4)
    assert curriculum.notices() == []


def test_a_source_that_was_left_out_returns_when_its_verdicts_do() -> None:
    curriculum, _ = mixed({"good": (30, 0), "bad": (10, 8)}, recheck_after=2, recheck_share=0.5, policy="uniform")
    for step in range(1, 400):
        rows = curriculum.draw(16, step=step)
        is_repaired = step > 100
        curriculum.observe(
            [Visit(row, 4, 4, 0) if row < 30 or is_repaired else Visit(row, 0, 0, 8) for row in rows], step=step
        )
        if step == 100:
            # re-checks that still cannot judge are no outage, and come at growing intervals
            assert len(outages(curriculum)) == 3
            assert curriculum.occupancy()["quarantined"] == 10
            assert curriculum.stats.check_interval[30:].min() > 2
    assert curriculum.occupancy()["quarantined"] == 0


def test_the_failures_of_one_source_are_its_own_also_if_it_is_most_of_the_batch() -> None:
    frame = pl.DataFrame(
        {
            "key": [f"k{i}" for i in range(40)], "num_correct": [4] * 40, "num_samples": [GROUP] * 40,
            "source": ["good"] * 2 + ["bad"] * 38,
        }
    )  # fmt: skip
    curriculum = Curriculum.create(frame, CurriculumConfig(), {})
    curriculum.observe([*batch(range(2), 4), *batch(range(2, 40), 0)], step=1)
    assert outages(curriculum) == ["bad"]
    assert curriculum.stats.num_visits.tolist() == [1] * 2 + [0] * 38


def test_batches_of_nothing_but_one_bad_source_do_not_stop_the_others() -> None:
    curriculum, visits = mixed({"good": (8, 0), "bad": (40, 5)})
    for step in range(1, 9):
        curriculum.observe(visits[8 + 4 * step - 4 : 8 + 4 * step], step=step)
    assert outages(curriculum)[:3] == ["bad"] * 3
    assert curriculum.occupancy()["quarantined"] == 40
    curriculum.observe([Visit(row, 0, 0, 8) for row in range(8)], step=9)
    assert outages(curriculum)[-1] == "all sources"


def test_all_sources_undecided_stop_training() -> None:
    curriculum, visits = mixed({"one": (8, 5), "other": (8, 6)})
    for step in (1, 2):
        curriculum.observe(visits, step=step)
    with pytest.raises(Outage, match="all sources: one: 40 of 64 verdicts undecided; other: 48 of 64"):
        curriculum.observe(visits, step=3)
