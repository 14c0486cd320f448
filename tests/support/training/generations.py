"""One generation of a tiny model under an objective, judged by a rule of tokens, and the gradient that it gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from train.grpo.command import grpo_training
from train.grpo.config import GrpoConfig
from train.grpo.objectives import Objective, objective_named
from train.rewards import rewards
from train.runs.folder import RunFolder
from train.runs.frame import build_trainer

GROUP = 4
LENGTH = 12
PROBLEMS = 3

Judge = Callable[..., list[float | None]]


def _judge(rule: Callable[[Sequence[int]], float]) -> Judge:
    def judge(self: rewards.Accuracy, completion_ids: Sequence[Sequence[int]], **_: Any) -> list[float | None]:
        self.reasons = [""] * len(completion_ids)
        self.values = [rule(ids) for ids in completion_ids]
        return self.values

    return judge


# an untrained model gets some right and some wrong
odd_length = _judge(lambda ids: float(len(ids) % 2))
# about half of them in every group
odd_start = _judge(lambda ids: float(ids[0] % 2))
always = _judge(lambda _: 1.0)
never = _judge(lambda _: 0.0)


def half(self: rewards.Accuracy, completion_ids: Sequence[Sequence[int]], **_: Any) -> list[float | None]:
    """Cannot judge the second completion of each pair."""
    known = odd_start(self, completion_ids)
    self.values = [None if place % 2 else value for place, value in enumerate(known)]
    return self.values


def grpo_trainer(place: Path, config: GrpoConfig, objective: Objective, run: RunFolder) -> Any:
    """The command's trainer of the model `toy` on `problems.jsonl`, both in `place`."""
    training = grpo_training(place / "problems.jsonl", config, objective)
    return build_trainer(training, training.read().content, place / "toy", run)


class Generating:
    """Called with (objective, judge, changes of the row), gives the trainer and its scored generation.

    place: a folder with the model `toy` and `problems.jsonl`.
    """

    def __init__(self, place: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._place, self._out, self._monkeypatch = place, out, monkeypatch

    def __call__(self, name: str, judge: Judge = odd_length, **changes: Any) -> tuple[Any, dict[str, Any]]:
        # the method, not the class: who imports the class meanwhile would keep a changed one for good
        self._monkeypatch.setattr(rewards.Accuracy, "__call__", judge)
        config = GrpoConfig(
            objective=name, num_problems=PROBLEMS, group_size=GROUP, max_steps=1, max_tokens=LENGTH, kl_coef=0.0, tau=0,
            updates_per_generation=1, temperature=1.0, logging_steps=1,
        )  # fmt: skip
        (self._out / name).mkdir(exist_ok=True)
        run = RunFolder(self._out / name, {})
        row = replace(objective_named(name), tau=0.0, **changes)
        trainer = grpo_trainer(self._place, config, row, run)
        trainer.model.train()
        trainer.current_gradient_accumulation_steps = 1
        scored = trainer._generate_and_score_completions([{"prompt": ""}] * (PROBLEMS * GROUP))
        from train.grpo.loss.divisors import count_per_step

        count_per_step([scored], 1, trainer._total, only_correct=row.baseline == "none")
        return trainer, scored


def gradient(trainer: Any, scored: dict[str, Any], only: int | None = None) -> Any:
    """The gradient of the loss as one vector; `only` leaves the advantage of one completion and zeroes the others."""
    import torch

    advantages = scored["advantages"].clone()
    if only is not None:
        advantages[torch.arange(len(advantages)) != only] = 0
    trainer.model.zero_grad()
    trainer._compute_loss(trainer.model, {**scored, "advantages": advantages}).backward()
    return flat_gradient(trainer.model)


def flat_gradient(model: Any) -> Any:
    """The gradients that a model's parameters hold, as one vector."""
    import torch

    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
