"""Canaries in training: no objective learns from them, and what they do is told apart from the problems' figures."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.training.generations import GROUP, LENGTH, PROBLEMS, flat_gradient, grpo_trainer, odd_start
from support.training.toy_runs import copying_problems, small_toy

from train.grpo.command import grpo
from train.grpo.config import GrpoConfig
from train.grpo.objectives import objective_named
from train.rewards import rewards
from train.runs.folder import RunFolder
from train.runs.trace import trace

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(300)]

KEPT: dict[str, dict[str, Any]] = {
    "grpo": {"kl_coef": 0.1},
    "dapo": {},
    "raft": {},
    "reinforce_pp": {},
    "kimi": {"updates_per_generation": 2, "num_problems": 4},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("canaries")
    small_toy(folder / "toy")
    copying_problems(folder / "problems.jsonl")
    return folder


def config(**settings: Any) -> GrpoConfig:
    asked = {
        "num_problems": PROBLEMS, "group_size": GROUP, "max_steps": 2, "max_tokens": LENGTH, "save_steps": 2,
        "logging_steps": 1, "curriculum": {"canaries": 0.4}, **settings,
    }  # fmt: skip
    return GrpoConfig.model_validate(asked)


@pytest.mark.parametrize("name", KEPT)
def test_the_gradient_does_not_depend_on_the_completions_of_a_canary(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    import torch

    monkeypatch.setattr(rewards.Accuracy, "__call__", odd_start)
    asked = config(objective=name, **KEPT[name])
    trainer = grpo_trainer(place, asked, objective_named(name), RunFolder(tmp_path, {}))
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 1
    num = asked.generation.num_problems
    scored = trainer._generate_and_score_completions([{"prompt": ""}] * (num * GROUP))
    is_canary = trainer._are_canaries(trainer._draw)
    assert is_canary.sum() == GROUP
    assert not scored["advantages"][is_canary].any()
    assert scored["advantages"][~is_canary].any()
    assert not scored["completion_mask"][is_canary].any()
    assert scored["completion_mask"][~is_canary].any()
    given = {**scored, "num_items_in_batch": torch.tensor(100.0)}

    def gradient(ids: torch.Tensor) -> torch.Tensor:
        trainer.model.zero_grad()
        trainer._compute_loss(trainer.model, {**given, "completion_ids": ids}).backward()
        return flat_gradient(trainer.model)

    ids = scored["completion_ids"]
    before = gradient(ids)
    assert before.abs().max() > 0
    torch.testing.assert_close(gradient(torch.where(is_canary[:, None], (ids + 1) % 50, ids)), before)
    assert (gradient(torch.where(is_canary[:, None], ids, (ids + 1) % 50)) - before).abs().max() > 0


def test_a_run_keeps_canaries_out_of_its_figures_and_shows_their_truths(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def reads_the_truth(self: rewards.Accuracy, ground_truth: list[str], **_: Any) -> list[float | None]:
        # a verifier that leaks on every problem whose truth is none of 0 to 9
        self.reasons = ["equal"] * len(ground_truth)
        self.values = [float(len(truth) > 1) for truth in ground_truth]
        return self.values

    monkeypatch.setattr(rewards.Accuracy, "__call__", reads_the_truth)
    run = tmp_path / "run"
    grpo(str(place / "toy"), place / "problems.jsonl", run, config(save_completions=True, screen=2, refill_rounds=1))
    assert "ALARM: " in capsys.readouterr().out
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    steps = [line for line in lines if "accuracy" in line]
    assert {line["accuracy"] for line in steps} == {0.0}
    assert {line["curriculum/canary_correct"] for line in steps if "curriculum/canary_correct" in line} == {1.0}
    draws = [json.loads(line) for line in (run / "draws.jsonl").read_text().splitlines()]
    canaries = {key for draw in draws for key in draw.get("canaries", [])}
    assert canaries
    assert not canaries & {key for draw in draws for key in draw["keys"]}
    written = pl.concat([pl.read_parquet(path) for path in (run / "completions").iterdir()])
    assert set(written.filter(pl.col("canary").is_not_null())["key"]) <= canaries
    trace(run, 2)


@pytest.mark.parametrize("verify", [{"rel_tol": 0.2}, {"sig_figs": 1}])
def test_a_tolerance_that_matches_two_truths_is_refused(verify: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a quarter apart"):
        config(verify=verify)
