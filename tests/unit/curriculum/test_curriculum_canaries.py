"""Canaries: exact shares, wrong truths, nothing learned, an alarm at its stated rate, and the same after a resume."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchmarks.canaries import false_alarms, visits_until_alarm
from curate.errors import UserError
from curate.verify import Item
from curate.verify.check import verify_many
from curriculum import Curriculum, CurriculumConfig, Visit
from curriculum.canaries.problems import LUCK, TRUTHS, as_canary, can_be_canary
from curriculum.show.explain import explain
from curriculum.show.status import status
from curriculum.statistics.stats import CANARY

STDIO = {"style": "stdio", "tests": [{"input": "1 2\n", "output": "3\n"}, {"input": "4 5\n", "output": "9\n"}]}
CALL = {"style": "call", "entry_point": "add", "tests": [{"args": [1, 2], "output": 3}], "checker": "def check(*_): 1"}
ASSERT = {"style": "assert", "tests": ["assert add(1, 2) == 3"]}


def problems(num: int = 200) -> pl.DataFrame:
    truths = [str(number) for number in range(num)]
    return pl.DataFrame({"key": [f"{n:024x}" for n in range(num)], "kind": "math", "ground_truth": truths})


def made(**settings: Any) -> Curriculum:
    config = CurriculumConfig.model_validate({"canaries": 0.05, "rule": "none", **settings})
    return Curriculum.create(problems(), config, {"dataset": "d"})


def train(one: Curriculum, steps: range, *, hacked_from: int = 10**9, num: int = 16) -> list[list[int]]:
    drawn = []
    for step in steps:
        rows = one.draw(num, step=step)
        right = {row: 8 * (step >= hacked_from) if one.is_canary(row) else 4 for row in rows}
        one.observe([Visit(row, right[row], 8 - right[row], 0) for row in rows], step=step)
        drawn.append(rows)
    return drawn


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("num", [3, 16])
def test_canaries_have_their_share_up_to_one_slot_after_any_number_of_batches(share: float, num: int) -> None:
    one, total = made(canaries=share), 0
    for number, rows in enumerate(train(one, range(1, 60), num=num), start=1):
        assert len(set(rows)) == num
        total += sum(map(one.is_canary, rows))
        assert abs(total - share * num * number) < 1.0
    visited = Counter(one.history.visits["row"].to_list())
    assert not any(one.is_canary(row) for row in visited)


def test_canaries_are_drawn_in_turn_and_never_fill_a_batch() -> None:
    one = made(canaries=0.5)
    seen = Counter(row for rows in train(one, range(1, 101), num=4) for row in rows if one.is_canary(row))
    assert max(seen.values()) - min(seen.values()) <= 1
    for step in range(101, 120):
        assert not one.is_canary(one.draw(1, step=step)[0])
    rows = one.draw(4, step=130)
    canaries = [row for row in range(200) if one.is_canary(row)]
    assert not any(one.is_canary(row) for row in one.draw(8, step=130, exclude=[*rows, *canaries]))


def test_without_canaries_the_draws_are_those_of_before() -> None:
    plain, other = made(canaries=0.0), made(canaries=0.0, canary_alpha=0.5)
    assert train(plain, range(1, 5)) == train(other, range(1, 5))
    assert plain.occupancy()["canary"] == 0
    assert not [name for name in plain.metrics() if name.startswith("canary_")]


def test_outcomes_of_canaries_change_no_statistic() -> None:
    quiet, hacked = made(canaries=0.2), made(canaries=0.2)
    assert train(quiet, range(1, 30)) == train(hacked, range(1, 30), hacked_from=1)
    for name, values in vars(quiet.stats).items():
        np.testing.assert_array_equal(values, getattr(hacked.stats, name), err_msg=name)
    assert quiet.forecaster.to_json() == hacked.forecaster.to_json()
    assert quiet.history.visits.equals(hacked.history.visits)
    assert quiet.clock.canaries.alarm_step is None
    assert hacked.clock.canaries.alarm_step in (1, 2)


def test_a_hack_raises_the_alarm_once_and_everybody_says_so(tmp_path: Path) -> None:
    one, told = made(), []
    for step in range(1, 60):
        train(one, range(step, step + 1), hacked_from=30)
        told += one.notices()
    assert len([line for line in told if line.startswith("ALARM: ")]) == 1
    one.save(tmp_path)
    assert f"ALARM since step {one.clock.canaries.alarm_step}" in status(tmp_path)
    events = [json.loads(line) for line in (tmp_path / "curriculum-events.jsonl").read_text().splitlines()]
    assert {event["event"] for event in events} == {"canary", "alarm"}
    hit = next(event for event in events if event["event"] == "canary")
    assert "canary" in explain(tmp_path, hit["key"])
    assert "8 of 8 judged correct" in explain(tmp_path, hit["key"])
    assert one.metrics()["canary_evidence"] > 100


def test_the_resumed_curriculum_goes_on_the_same(tmp_path: Path) -> None:
    whole = made()
    expected = train(whole, range(1, 41), hacked_from=20)
    for stop in (1, 19, 21, 39):
        first = made()
        drawn = train(first, range(1, stop + 1), hacked_from=20)
        first.save(tmp_path / str(stop))
        second = Curriculum.load(tmp_path / str(stop), problems(), first.config, {"dataset": "d"})
        assert drawn + train(second, range(stop + 1, 41), hacked_from=20) == expected
        assert second.clock == whole.clock
        assert second.history.events == whole.history.events


def test_a_new_run_sets_aside_anew_and_an_older_state_has_none(tmp_path: Path) -> None:
    one = made()
    train(one, range(1, 20), hacked_from=1)
    one.save(tmp_path)
    plain = Curriculum.continue_from(tmp_path, problems(), CurriculumConfig(rule="none"), {"dataset": "d"})
    assert plain.occupancy()["canary"] == 0
    again = Curriculum.continue_from(tmp_path, problems(), one.config, {"dataset": "d"})
    assert again.occupancy()["canary"] == 10
    assert again.clock.canaries.alarm_step is None
    header = json.loads((tmp_path / "curriculum.json").read_text())
    del header["clock"]["canaries"]
    (tmp_path / "curriculum.json").write_text(json.dumps(header))
    assert Curriculum.load(tmp_path, problems(), one.config, {"dataset": "d"}).clock.canaries.num_visits == 0


def test_canaries_and_probes_are_apart_and_depend_on_keys_only() -> None:
    one = made(probe_size=30)
    assert not set(one.probe_rows()) & set(np.flatnonzero(one.stats.status == CANARY))
    turned = Curriculum.create(problems().reverse(), one.config, {})
    keys = [{other.keys[int(row)] for row in np.flatnonzero(other.stats.status == CANARY)} for other in (one, turned)]
    assert keys[0] == keys[1]


@pytest.mark.parametrize("alike", [False, True])
def test_false_alarms_are_no_more_frequent_than_stated(alike: bool) -> None:
    alpha, num = 0.05, 400
    # 3.5 standard errors above the bound
    assert false_alarms(alpha, alike=alike, num_runs=num) <= alpha + 3.5 * (alpha * (1 - alpha) / num) ** 0.5


def test_the_test_has_power_also_late() -> None:
    assert visits_until_alarm(1.0, 0, num_runs=20) <= 2
    assert visits_until_alarm(0.25, 100, num_runs=20) <= 10


def test_no_two_truths_are_near_and_each_is_chosen_alike() -> None:
    for one, other in pairwise(TRUTHS):
        assert one * 1.1 < other * 0.9
    problem = {"key": "k", "kind": "math", "ground_truth": "29"}
    found = Counter(as_canary(problem, 0, step)["ground_truth"] for step in range(20_000))
    assert len(found) == round(1 / LUCK)
    assert "29" not in found
    assert max(found.values()) < 2 * 20_000 * LUCK


def test_an_honest_answer_is_wrong_and_the_wrong_truth_is_correct() -> None:
    math = {"key": "k", "kind": "math", "ground_truth": "3"}
    fake = as_canary(math, 0, 1)
    items = [Item(rf"\boxed{{{answer}}}", fake["ground_truth"]) for answer in ("3", fake["ground_truth"])]
    for tests in (STDIO, CALL):
        fake = as_canary({"key": "k", "kind": "code", "ground_truth": None, "tests": json.dumps(tests)}, 0, 1)
        truth = fake["ground_truth"]
        honest, hack = ("a + b", truth) if tests is CALL else ("sum(map(int, input().split()))", truth)
        for value in (honest, hack):
            body = f"def add(a, b):\n    return {value}" if tests is CALL else f"print({value})"
            items.append(Item(f"```python\n{body}\n```", "", "code", "Add.", fake["tests"]))
    assert [verdict.verdict for verdict in verify_many(items)] == ["wrong", "correct"] * 3


@pytest.mark.parametrize(
    ("problem", "can"),
    [
        ({"kind": "math", "ground_truth": "x+1"}, True),
        ({"kind": "math", "ground_truth": "A", "choices": '["1", "2"]'}, False),
        ({"kind": "math", "ground_truth": None}, False),
        ({"kind": "code", "ground_truth": None, "tests": json.dumps(STDIO)}, True),
        ({"kind": "code", "ground_truth": None, "tests": json.dumps(ASSERT)}, False),
        ({"kind": "code", "ground_truth": None, "tests": "{"}, False),
        ({"kind": "agent", "ground_truth": None, "tests": None}, False),
    ],
)
def test_only_what_can_have_a_wrong_truth_is_a_canary(problem: dict[str, Any], can: bool) -> None:
    assert can_be_canary(problem) is can


def test_a_dataset_without_such_problems_is_refused_in_one_line() -> None:
    choices = problems(10).with_columns(choices=pl.lit('["1"]'))
    config = CurriculumConfig(canaries=0.1)
    for frame, message in (
        (choices, "0 of 10 problems can have a wrong truth"),
        (problems(1), "1 of 1 problems"),
        (problems().drop("kind"), "no column kind"),
    ):
        with pytest.raises(UserError, match=message):
            Curriculum.create(frame, config, {})
