"""Suspects in training: what completions answer reaches the curriculum, of all processes and also of dropped groups."""

import json
from pathlib import Path

import pytest
from support.training.generations import never
from support.training.toy_runs import copying_problems, small_toy

from train.grpo.command import grpo
from train.grpo.config import GrpoConfig
from train.rewards import rewards

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(300)]


@pytest.mark.parametrize("screen", [0, 10], ids=["whole groups", "dropped by screening"])
def test_problems_whose_completions_agree_on_another_answer_are_parked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, screen: int
) -> None:
    monkeypatch.setattr(rewards.Accuracy, "__call__", never)
    monkeypatch.setattr(rewards.Accuracy, "text", lambda *_: r"It is \boxed{70}.")
    small_toy(tmp_path / "toy")
    copying_problems(tmp_path / "problems.jsonl")
    asked = {
        "num_problems": 2, "group_size": 12, "max_steps": 1, "max_tokens": 4, "save_steps": 1, "screen": screen,
        "refill_rounds": int(screen > 0), "curriculum": {"suspect_alpha": 0.05, "outage_p": 0},
    }  # fmt: skip
    grpo(str(tmp_path / "toy"), tmp_path / "problems.jsonl", tmp_path / "run", GrpoConfig.model_validate(asked))
    lines = (tmp_path / "run" / "checkpoint-1" / "curriculum-events.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    drawn = json.loads((tmp_path / "run" / "draws.jsonl").read_text().splitlines()[0])["keys"]
    assert {event["key"] for event in events if event["event"] == "suspected"} == set(drawn)
    wanted = {f"{num} of {num} say 70, 0 the truth" for num in ((10, 12) if screen else (12,))}
    assert {event["detail"] for event in events if event["event"] == "suspected"} == wanted
