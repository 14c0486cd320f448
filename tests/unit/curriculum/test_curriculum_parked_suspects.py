"""Suspects in a running curriculum: parked, drawn by the floor alone, cleared by evidence, the same after a resume."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from curriculum import Curriculum, CurriculumConfig, Visit
from curriculum.answers.bound import lower_bound
from curriculum.answers.find import Said, Tally, find_suspects
from curriculum.answers.watch import Answers
from curriculum.show.explain import explain
from curriculum.show.status import figures, status
from curriculum.statistics.stats import ACTIVE, PARKED

NUM, GROUP = 40, 8
WRONG = {3, 17}  # whose truths are wrong: the model answers otherwise, and meets the truth now and then


def problems(num: int = NUM) -> pl.DataFrame:
    return pl.DataFrame({"key": [f"{n:024x}" for n in range(num)]})


def made(**settings: Any) -> Curriculum:
    config = {"suspect_alpha": 0.05, "rule": "none", "park_after": 100, "policy": "uniform", "outage_p": 0, **settings}
    return Curriculum.create(problems(), CurriculumConfig.model_validate(config), {"dataset": "d"})


def visit(row: int, step: int) -> Visit:
    rng = np.random.default_rng([row, step])
    right = rng.random(GROUP) < (0.1 if row in WRONG else 0.5)
    said = tuple(
        (str(row) if good else "wrong" if row in WRONG else str(rng.integers(99)), bool(good)) for good in right
    )
    return Visit(row, int(right.sum()), int(GROUP - right.sum()), 0, answers=said)


def train(one: Curriculum, steps: range, num: int = 8) -> list[list[int]]:
    drawn = []
    for step in steps:
        rows = one.draw(num, step=step)
        one.observe([visit(row, step) for row in rows], step=step)
        drawn.append(rows)
    return drawn


def test_suspects_are_parked_and_get_the_floor_alone() -> None:
    one, plain = made(floor=0.05), made(floor=0.05, suspect_alpha=0.0)
    train(one, range(1, 41))
    assert {row for row in range(NUM) if one.stats.status[row] == PARKED} == WRONG
    later, drawn = train(one, range(41, 241)), train(plain, range(1, 41)) and train(plain, range(41, 241))
    slots, share = sum(map(len, later)), len(WRONG) / NUM
    assert sum(row in WRONG for rows in later for row in rows) <= 2 * 0.05 * share * slots
    assert sum(row in WRONG for rows in drawn for row in rows) > 0.5 * share * slots
    # they succeed at times, and neither return nor are parked again
    events = [event["event"] for event in one.history.events if event["key"] in {one.keys[row] for row in WRONG}]
    assert events == ["suspected"] * 2


def test_the_log_and_status_count_suspects_by_part(tmp_path: Path) -> None:
    frame = problems().with_columns(source=pl.Series(["even", "odd"] * (NUM // 2)))
    one = Curriculum.create(frame, made().config, {"dataset": "d"})
    train(one, range(1, 41))
    found = {name: value for name, value in one.metrics().items() if "suspects" in name}
    assert found == {"suspects": 2, "by_part/even/suspects": 0, "by_part/odd/suspects": 2}
    one.save(tmp_path)
    assert figures(tmp_path)["suspects"] == {"odd": 2}
    shown = {line.split()[0]: line.split()[-1] for line in status(tmp_path).splitlines() if line.startswith("    ")}
    assert (shown["even"], shown["odd"]) == ("0", "2")
    plain = made(suspect_alpha=0.0)
    train(plain, range(1, 3))
    assert not [name for name in plain.metrics() if "suspects" in name]


def test_a_suspect_whose_truth_proves_right_returns() -> None:
    one = made()
    agree = tuple(("7", False) for _ in range(12))
    one.draw(1, step=1)
    one.observe([Visit(0, 0, 12, 0, answers=agree)], step=1)
    assert one.stats.status[0] == PARKED
    assert one.history.events[-1]["detail"] == "12 of 12 say 7, 0 the truth"
    for step in range(2, 5):
        one.observe([Visit(0, 12, 0, 0, answers=tuple(("8", True) for _ in range(12)))], step=step)
    assert one.stats.status[0] == ACTIVE
    assert one.history.events[-1]["event"] == "returned"


def test_undecided_answers_and_visits_without_answers_accuse_nobody() -> None:
    one = made()
    one.observe([Visit(0, 0, 0, 12, answers=tuple((None, False) for _ in range(12)))], step=1)
    one.observe([Visit(1, 0, 40, 0)], step=1)
    assert one.stats.status[0] == one.stats.status[1] == ACTIVE


def test_a_visit_that_an_outage_discards_is_no_evidence() -> None:
    one = made(outage_undecided=0.5)
    agree = tuple(("7", False) for _ in range(8))
    doubtful = [Visit(row, 0, 8, 12, answers=agree * 2) for row in range(6)]
    one.observe(doubtful, step=1)
    assert one.answers.frame().is_empty()


def test_the_resumed_curriculum_goes_on_the_same(tmp_path: Path) -> None:
    whole = made()
    expected = train(whole, range(1, 31))
    whole.save(tmp_path / "whole")
    for stop in (1, 8, 29):
        first = made()
        drawn = train(first, range(1, stop + 1))
        first.save(tmp_path / str(stop))
        second = Curriculum.load(tmp_path / str(stop), problems(), first.config, {"dataset": "d"})
        assert drawn + train(second, range(stop + 1, 31)) == expected
        second.save(tmp_path / f"{stop}-end")
        for path in (tmp_path / "whole").iterdir():
            assert (tmp_path / f"{stop}-end" / path.name).read_bytes() == path.read_bytes()


def test_another_dataset_keeps_the_answers_of_its_problems(tmp_path: Path) -> None:
    one = made()
    train(one, range(1, 31))
    one.save(tmp_path)
    turned = problems().reverse()
    other = Curriculum.load(tmp_path, turned, one.config, {"dataset": "e"}, adopt_dataset=True)
    assert {NUM - 1 - row for row in other.answers.suspects(0.05)} == set(one.answers.suspects(0.05)) == WRONG
    assert "say wrong" in explain(tmp_path, one.keys[3])
    assert "next: returns on a success, once" in explain(tmp_path, one.keys[3])


def by_list(said: list[Said], alpha: float) -> str | None:
    """The suspected answer, from the list of completions as the rule is written."""
    first: dict[str, int] = {}
    for place, one in enumerate(said):
        if one.answer is not None and not one.is_right:
            first.setdefault(one.answer, place)
    for order, (answer, place) in enumerate(first.items(), start=1):
        later = said[place + 1 :]
        num = sum(one.answer == answer and not one.is_right for one in later)
        among = num + sum(one.is_right for one in later)
        if 2 * (num + 1) > len(said) and lower_bound(num, among, alpha / (order * (order + 1))) > 0.5:
            return answer
    return None


def test_a_tally_finds_what_the_list_of_completions_finds_at_every_time() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        weights = rng.dirichlet(np.full(5, 0.4))
        said = [
            Said("k", None if answer == 4 else str(answer), answer == 3)
            for answer in rng.choice(5, size=int(rng.integers(1, 40)), p=weights).tolist()
        ]
        tally = Tally()
        for number, one in enumerate(said, start=1):
            tally.add(one.answer, is_right=one.is_right)
            found = tally.suspect("k", 0.05)
            assert (found.answer if found else None) == by_list(said[:number], 0.05)
        assert [found] == (find_suspects(said, 0.05) or [None])
        stored = Answers({7: tally})
        assert Answers.from_frame(stored.frame()).suspects(0.05) == stored.suspects(0.05)


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_a_truth_as_likely_as_each_answer_is_ever_suspected_no_more_often_than_alpha(alpha: float) -> None:
    rng, num = np.random.default_rng(1), 400
    found = 0
    for _ in range(num):
        tally = Tally()
        for is_right in (rng.random(100) < 0.5).tolist():
            tally.add(None if is_right else "other", is_right=is_right)
            if tally.suspect("k", alpha):
                found += 1
                break
    # alpha is shared by all answers: the first has half of it
    assert found / num <= alpha / 2 + 3.5 * (alpha / num) ** 0.5
