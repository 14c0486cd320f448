"""A program: gradients of two updates on one generation, for every objective and each micro-batch size given.

    accelerate launch ... gradients_by_rank.py PLACE OUT MICRO...

PLACE holds the model `toy` and `problems.jsonl`. OUT becomes a file of tensors named `objective/micro/update`, and
OUT.json the number of processes that took part. Completions depend on their place in the draw alone, so that any number
of processes judges the same ones: of unequal lengths, some of them undecided.
"""

from __future__ import annotations

import json
import os
import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from transformers import TrainerCallback

from support.training.generations import GROUP, LENGTH, PROBLEMS, flat_gradient, grpo_trainer
from train.grpo.config import GrpoConfig
from train.grpo.objectives import OBJECTIVES, objective_named
from train.rewards.rewards import Accuracy
from train.runs.folder import RunFolder


class Catch(TrainerCallback):  # type: ignore[misc]  # transformers has no types
    """Keeps the gradient of every update."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def on_pre_optimizer_step(self, *_: Any, model: Any = None, **__: Any) -> None:
        """Called once all micro-batches and processes have added their part."""
        self.seen.append(flat_gradient(model).clone())


def judge(self: Accuracy, completion_ids: Any, **_: Any) -> list[float | None]:
    """By the first token: correct, wrong or undecided."""
    self.reasons = [""] * len(completion_ids)
    self.values = [(1.0, 0.0, None, 1.0, 0.0)[ids[0] % 5] for ids in completion_ids]
    return self.values


def made_up(trainer: Any, num: int) -> list[list[int]]:
    """The completions of this process, by their places among those of all."""
    first = trainer.accelerator.process_index * num
    chances = [random.Random(f"completion {first + place}") for place in range(num)]
    return [[chance.randrange(30, 60) for _ in range(chance.randint(1, LENGTH))] for chance in chances]


def gradients(place: Path, name: str, micro: int, out: Path) -> list[Any]:
    config = GrpoConfig(
        objective=name, num_problems=PROBLEMS, group_size=GROUP, max_steps=2, max_tokens=LENGTH, micro_batch_size=micro,
        passes_per_generation=2, learning_rate=0.3, save_steps=2, trl={"optim": "sgd"},
    )  # fmt: skip
    objective = replace(objective_named(name), tau=0.3, pass_k=2)
    trainer = grpo_trainer(place, config, objective, RunFolder(out, {}))
    trainer._generate_single_turn = lambda ids, *_, **__: (made_up(trainer, len(ids)), None)
    trainer.args.max_grad_norm, trainer.args.save_strategy = 1e9, "no"
    catch = Catch()
    trainer.add_callback(catch)
    trainer.train()
    return catch.seen


def main(place: Path, out: Path, micros: list[int]) -> None:
    Accuracy.__call__ = judge  # type: ignore[method-assign]  # this process does nothing else
    found = {}
    for name in OBJECTIVES:
        for micro in micros:
            folder = out.parent / f"{out.stem}-{name}-{micro}"
            folder.mkdir(exist_ok=True)
            seen = gradients(place, name, micro, folder)
            found |= {f"{name}/{micro}/{update}": value for update, value in enumerate(seen)}
    if os.environ.get("RANK", "0") == "0":
        save_file(found, out)
        out.with_suffix(".json").write_text(json.dumps(int(os.environ.get("WORLD_SIZE", "1"))))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), list(map(int, sys.argv[3:])))
