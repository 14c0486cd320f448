"""Pools: none is final, re-checks keep within their share, shortages are filled in a fixed order."""

import polars as pl
import pytest

from curate.errors import UserError
from curriculum import Curriculum, CurriculumConfig, PoolExhausted, Visit

GROUP = 8


def made(num: int, **settings: object) -> Curriculum:
    settings = {"outage_p": 0, "outage_undecided": 1.0, **settings}
    frame = pl.DataFrame({"key": [f"k{i}" for i in range(num)]})
    return Curriculum.create(frame, CurriculumConfig.model_validate(settings), {})


def observe(
    curriculum: Curriculum, step: int, correct: dict[int, int], undecided: dict[int, int] | None = None
) -> None:
    lost = undecided or {}
    visits = [
        Visit(row, k, GROUP - k - lost.get(row, 0), lost.get(row, 0), None, None, "timeout")
        for row, k in correct.items()
    ]
    curriculum.observe(visits, step=step)


def pool(curriculum: Curriculum, row: int) -> str:
    return next(name for name, count in _one(curriculum, row).items() if count)


def _one(curriculum: Curriculum, row: int) -> dict[str, int]:
    from curriculum.statistics.stats import STATUSES

    return {name: int(curriculum.stats.status[row] == place) for place, name in enumerate(STATUSES)}


def events(curriculum: Curriculum) -> list[tuple[str, str]]:
    return [(event["event"], event["key"]) for event in curriculum.history.events]


def retire(curriculum: Curriculum, rows: range, step: int = 0) -> None:
    """Perfect groups until the rule fires."""
    while any(pool(curriculum, row) == "active" for row in rows):
        observe(curriculum, step, dict.fromkeys((row for row in rows if pool(curriculum, row) == "active"), GROUP))


def test_a_retired_problem_is_checked_at_growing_intervals_and_reopened_when_forgotten() -> None:
    curriculum = made(40, recheck_after=5, recheck_growth=2, recheck_share=0.5)
    retire(curriculum, range(1))
    checked = []
    for step in range(1, 50):
        rows = curriculum.draw(4, step=step)
        observe(curriculum, step, {row: GROUP if row == 0 else 4 for row in rows})
        checked += [step] if 0 in rows else []
    assert checked == [5, 15, 35]
    later = next(step for step in range(50, 100) if 0 in curriculum.draw(4, step=step))
    observe(curriculum, later, {0: 3})
    assert later == 75
    assert pool(curriculum, 0) == "active"
    assert events(curriculum) == [("retired", "k0"), *[("checked", "k0")] * 3, ("reopened", "k0")]


def test_a_forgotten_problem_loses_its_old_counts_and_evidence() -> None:
    curriculum = made(2, recheck_after=1)
    retire(curriculum, range(1))
    observe(curriculum, 5, {0: 2})
    assert curriculum.stats.mean_rate()[0] == pytest.approx(3 / 10)
    observe(curriculum, 6, {0: GROUP})
    assert pool(curriculum, 0) == "active", "the retirement test restarts"


def test_an_undecided_recheck_neither_passes_nor_fails() -> None:
    curriculum = made(2, recheck_after=3)
    retire(curriculum, range(1))
    observe(curriculum, 4, {0: 0}, {0: GROUP})
    assert pool(curriculum, 0) == "retired"
    assert curriculum.stats.next_check[0] == 7
    assert curriculum.stats.check_interval[0] == 3


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_rechecks_keep_within_their_share_of_all_slots(share: float) -> None:
    curriculum = made(300, recheck_after=1, recheck_growth=1, recheck_share=share)
    retire(curriculum, range(100))
    rechecks = slots = 0
    for step in range(1, 200):
        rows = curriculum.draw(8, step=step)
        rechecks, slots = rechecks + sum(row < 100 for row in rows), slots + len(rows)
        assert rechecks <= share * slots
        observe(curriculum, step, {row: GROUP if row < 100 else 4 for row in rows})
    assert rechecks == pytest.approx(share * slots, abs=2), "a hundred are always due, so the share is used"


def test_parking_needs_visits_in_a_row_and_one_success_returns() -> None:
    curriculum = made(3, park_after=3)
    for step, correct in enumerate((0, 0, 1, 0, 0)):
        observe(curriculum, step, {0: correct})
    assert pool(curriculum, 0) == "active"
    observe(curriculum, 6, {0: 0})
    assert pool(curriculum, 0) == "parked"
    observe(curriculum, 7, {0: 1})
    assert pool(curriculum, 0) == "active"
    assert events(curriculum) == [("parked", "k0"), ("returned", "k0")]


def test_parked_problems_are_still_drawn() -> None:
    curriculum = made(40, park_after=1, floor=0.1)
    observe(curriculum, 0, dict.fromkeys(range(20), 0))
    drawn = {row for step in range(1500) for row in curriculum.draw(4, step=step)}
    assert set(range(20)) <= drawn


def test_mostly_undecided_visits_in_a_row_quarantine_with_the_reason_and_a_clear_one_releases() -> None:
    curriculum = made(3, quarantine_after=2, recheck_after=4)
    observe(curriculum, 1, {0: 0}, {0: 7})
    observe(curriculum, 2, {0: 4}, {0: 4})
    observe(curriculum, 3, {0: 0}, {0: 8})
    assert pool(curriculum, 0) == "active", "half undecided is not most"
    observe(curriculum, 4, {0: 0}, {0: 8})
    assert pool(curriculum, 0) == "quarantined"
    assert "timeout" in curriculum.history.events[-1]["detail"]
    observe(curriculum, 8, {0: 0}, {0: 8})
    assert pool(curriculum, 0) == "quarantined"
    assert curriculum.stats.next_check[0] == 16
    observe(curriculum, 16, {0: 3})
    assert pool(curriculum, 0) == "active"


def test_undecided_verdicts_never_park() -> None:
    curriculum = made(2, park_after=2, quarantine_after=100)
    for step in range(20):
        observe(curriculum, step, {0: 0}, {0: GROUP})
    assert pool(curriculum, 0) == "active"


def test_a_shortage_is_filled_by_due_rechecks_then_parked_then_repeats() -> None:
    curriculum = made(10, park_after=1, recheck_after=1, recheck_share=0.01, floor=1e-9)
    retire(curriculum, range(4, 7))
    observe(curriculum, 0, dict.fromkeys(range(7, 10), 0))
    assert set(curriculum.draw(5, step=5)) >= {0, 1, 2, 3}
    seven = curriculum.draw(7, step=5)
    assert set(seven) == {0, 1, 2, 3, 4, 5, 6}
    assert set(curriculum.draw(10, step=5)) == set(range(10))
    assert curriculum.metrics()["repeats"] == 0
    twenty_five = curriculum.draw(25, step=5)
    assert {twenty_five.count(row) for row in range(10)} == {2, 3}
    assert curriculum.metrics()["repeats"] == 15


def test_a_refill_excludes_the_rows_of_the_batch() -> None:
    curriculum = made(20)
    first = curriculum.draw(8)
    second = curriculum.draw(8, exclude=first)
    assert not set(first) & set(second)
    assert set(curriculum.draw(8, exclude=range(20))) <= set(range(20)), "all excluded: repeats, not a crash"


def test_an_exhausted_pool_reports_the_pool_sizes() -> None:
    curriculum = made(5, park_after=1)
    retire(curriculum, range(3))
    observe(curriculum, 0, {3: 0, 4: 0})
    with pytest.raises(PoolExhausted, match=r"3 retired, 2 parked"):
        curriculum.draw(2)


def test_held_out_probes_are_never_drawn_and_depend_on_keys_only() -> None:
    curriculum = made(50, probe_size=10)
    probe = curriculum.probe_rows()
    assert len(probe) == 10
    assert not set(probe) & {row for step in range(100) for row in curriculum.draw(8, step=step)}
    turned = Curriculum.create(pl.DataFrame({"key": curriculum.keys.reverse()}), curriculum.config, {})
    assert {turned.keys[row] for row in turned.probe_rows()} == {curriculum.keys[row] for row in probe}


def test_a_probe_set_that_leaves_nothing_to_train_on_is_refused() -> None:
    with pytest.raises(UserError, match="probe_size 5 holds out all 5 problems"):
        made(5, probe_size=5)


def test_probes_may_be_trained_on_when_not_held_out() -> None:
    curriculum = made(20, probe_size=10, probe_held_out=False)
    drawn = {row for step in range(50) for row in curriculum.draw(8, step=step)}
    assert set(curriculum.probe_rows()) <= drawn
