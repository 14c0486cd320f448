"""Screening: groups whose first completions agree cost no more than these, and the others train as whole groups."""

import json
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import ValidationError
from support.training.generations import odd_start
from support.training.toy_runs import copying_problems, small_toy

from train.grpo.config import GrpoConfig
from train.grpo.objectives import objective_named
from train.grpo.rollout.groups import Group
from train.grpo.rollout.screen import Candidate, Sampled, choose, merged

NAN: Final = float("nan")
DR_GRPO: Final = objective_named("dr_grpo")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def candidate(row: int, *correctness: float) -> Candidate:
    num = len(correctness)
    return Candidate(Group(row, correctness, (3,) * num, ("",) * num), (Sampled([row], None),) * num, 5)


def test_only_right_and_wrong_together_disagree() -> None:
    assert candidate(0, 1.0, 0.0).is_mixed(DR_GRPO)
    for agreeing in ((1.0, 1.0), (0.0, 0.0), (1.0, NAN), (0.0, NAN), (NAN, NAN)):
        assert not candidate(0, *agreeing).is_mixed(DR_GRPO)
    raft = objective_named("raft")
    assert candidate(0, 1.0, 1.0).is_mixed(raft)
    assert not candidate(0, 0.0, NAN).is_mixed(raft)


def test_the_batch_is_full_and_no_candidate_is_lost_or_doubled() -> None:
    found = [candidate(row, *pair) for row, pair in enumerate([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])]
    for num in range(1, 5):
        screening = choose(found, num, DR_GRPO)
        assert len(screening.rows) == num
        assert sorted((*screening.rows, *(group.row for group in screening.dropped_groups()))) == [0, 1, 2, 3]
        assert set(screening.rows[:2]) <= {1, 3}
    # the last of the others fills
    assert choose(found, 3, DR_GRPO).rows == (1, 3, 2)
    kept = choose(found, 2, DR_GRPO).kept(4)
    assert kept == [Sampled([1], None)] * 2 + [None] * 2 + [Sampled([3], None)] * 2 + [None] * 2
    whole = merged(kept, [Sampled([n], None) for n in (10, 11, 12, 13)])
    assert [one.ids[0] for one in whole] == [1, 1, 10, 11, 3, 3, 12, 13]


def test_a_candidate_counts_the_tokens_of_its_prompts_and_completions() -> None:
    assert candidate(0, 1.0, 0.0).num_tokens == 2 * 3 + 2 * 5


@pytest.mark.parametrize("weights", [(0.5, 0.2, 0.3), (0.05, 0.05, 0.9), (0.3, 0.6, 0.1)])
def test_the_expected_gradient_of_a_problem_keeps_its_direction(weights: tuple[float, ...]) -> None:
    # a policy over three answers, the first two right; scores are d log pi / d logits
    first, size = 2, 4
    plain, screened = [0.0] * 3, [0.0] * 3
    for group in product(range(3), repeat=size):
        chance = 1.0
        for answer in group:
            chance *= weights[answer]
        rewards = [float(answer < 2) for answer in group]
        mean = sum(rewards) / size
        gradient = [
            sum((reward - mean) * ((answer == to) - weights[to]) for answer, reward in zip(group, rewards, strict=True))
            for to in range(3)
        ]
        chosen = choose([candidate(0, *rewards[:first])], 1, DR_GRPO).chosen[0].is_mixed(DR_GRPO)
        for to in range(3):
            plain[to] += chance * gradient[to]
            screened[to] += chance * gradient[to] * chosen
    ratios = [one / other for one, other in zip(screened, plain, strict=True)]
    assert max(ratios) - min(ratios) < 1e-12
    assert 0 < ratios[0] < 1


@pytest.mark.parametrize(
    ("generation", "message"),
    [
        ({"screen": 4, "group_size": 4, "refill_rounds": 1}, "screen is 4; use 2 to 3"),
        ({"screen": 1, "refill_rounds": 1}, "screen is 1; use 2 to 7"),
        ({"screen": 2}, "screen needs refill_rounds"),
    ],
)
def test_settings_that_cannot_screen_are_refused(generation: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        GrpoConfig.model_validate({"generation": generation})


@pytest.mark.heavy
def test_dropped_problems_cost_their_first_completions_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from train.grpo.command import grpo
    from train.rewards import rewards

    monkeypatch.setattr(rewards.Accuracy, "__call__", odd_start)
    small_toy(tmp_path / "toy")
    copying_problems(tmp_path / "problems.jsonl", 12)
    short = {"num_problems": 2, "group_size": 6, "screen": 2, "refill_rounds": 2, "max_tokens": 6, "max_steps": 4}
    config = GrpoConfig.model_validate({**short, "save_steps": 4, "logging_steps": 1, "learning_rate": 1e-2})
    grpo(str(tmp_path / "toy"), tmp_path / "problems.jsonl", tmp_path / "run", config)
    draws = lines(tmp_path / "run/draws.jsonl")
    log = [line for line in lines(tmp_path / "run/log.jsonl") if "screen/candidates" in line]
    assert len(draws) == len(log) == 4
    dropped = 0
    for draw, line in zip(draws, log, strict=True):
        sizes = [right + wrong for right, wrong in zip(draw["num_correct"], draw["num_wrong"], strict=True)]
        assert line["screen/candidates"] == len(sizes)
        assert sizes == [2] * int(line["screen/dropped"]) + [6] * 2
        # the first completions agreed, and the forecast was held against these
        agreeing = [draw["num_correct"][place] in (0, 2) for place in range(len(sizes) - 2)]
        assert all(agreeing)
        assert line["curriculum/zero_variance"] * len(sizes) >= len(agreeing) - 1e-9
        dropped += len(agreeing)
    assert dropped > 0
