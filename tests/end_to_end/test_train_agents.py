"""Training on episodes: which tokens count, in every objective, against the papers' equations; draws after a kill."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.boxes import box_works  # noqa: F401  # a fixture of every test
from support.model_pool import pool, problem
from support.places import ROOT
from support.training import reference
from support.training.generations import flat_gradient
from support.training.resuming import assert_same_run, copies_of

from curate.artifacts.trajectory import Trajectory, trajectory_of
from curate.tasks.folder import write_task
from demo.agent_toy import build_agent, toy_tasks, trace, write_traces
from train.grpo.command import grpo, grpo_training
from train.grpo.config import GrpoConfig
from train.grpo.loss.divisors import count_per_step
from train.grpo.objectives import objective_named
from train.runs.folder import RunFolder
from train.runs.frame import build_trainer
from train.runs.launch import FOLDER
from train.runs.trace import described
from train.tuning.sft import SftConfig, sft

GROUP, TOKENS = 4, 96
pytestmark = [pytest.mark.heavy, pytest.mark.timeout(400)]
AGENT = {"command_s": 20, "memory_mb": 512, "disk_mb": 16, "max_turns": 6}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agents")
    tasks = toy_tasks(4, seed=0)
    rng = random.Random(0)
    corpus = [json.dumps(list(trace(task, rng, 0.5))) for task in toy_tasks(40, seed=1)]
    build_agent(folder / "toy", corpus, hidden=32, layers=1)
    rows = []
    for at, task in enumerate(tasks):
        write_task(folder / "tasks", task)
        rows.append(problem(f"{task.instruction} {at}", None, kind="agent", tests=json.dumps(task.row())))
    pool(folder / "pool", rows)
    return folder


def config_of(place: Path, **given: Any) -> GrpoConfig:
    settings = {
        "objective": "grpo", "num_problems": 2, "group_size": GROUP, "max_steps": 1, "max_tokens": TOKENS,
        "logging_steps": 1, "tasks": place / "tasks", "agent": AGENT, "kl_coef": 0.0, "tau": 0, **given,
    }  # fmt: skip
    return GrpoConfig(**settings)


def trainer_of(place: Path, out: Path, config: GrpoConfig, objective: Any) -> Any:
    training = grpo_training(place / "pool", config, objective)
    out.mkdir(parents=True)
    return build_trainer(training, training.read().content, place / "toy", RunFolder(out, {}))


class Replies:
    """Scripted sampling in place of the model's: what each episode says, turn by turn, as tokens."""

    def __init__(self, trainer: Any, scripts: Sequence[Sequence[str]]) -> None:
        self._tokenizer, self._scripts = trainer.processing_class, scripts
        self._said: dict[int, int] = {}
        self.batches: list[int] = []

    def __call__(self, prompts: Any, *_: Any, **__: Any) -> Any:
        lines = self.lines()
        self.batches.append(len(prompts))
        replies = []
        for line in lines:
            number = self._said.get(id(line), 0)
            self._said[id(line)] = number + 1
            text = self._scripts[self.all.index(line) % len(self._scripts)][number]
            replies.append([*self._tokenizer.encode(text, add_special_tokens=False), self._tokenizer.eos_token_id])
        return replies, None

    def play(self, episodes: Any) -> None:
        self._episodes = episodes

    @property
    def all(self) -> list[Any]:
        return list(self._episodes._lines)

    def lines(self) -> list[Any]:
        return [line for line in self.all if line.episode.end is None]


def call(name: str, **arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def scripts() -> list[list[str]]:
    """Episodes of three, two, three (one of them malformed) and one turns."""
    return [
        [call("bash", command="python3 check.py"), call("bash", command="cp right.py x; echo did"), call("submit")],
        [call("bash", command="echo much output of a tool; ls"), call("submit")],
        ["<tool_call>{oops", call("bash", command="echo x >> tool.py"), call("submit")],
        ["Done."],
    ]  # fmt: skip


def generation(place: Path, out: Path, name: str, **given: Any) -> tuple[Any, dict[str, Any], Any]:
    config = config_of(place, objective=name, **given)
    objective = replace(
        objective_named(name), tau=0.0, malformed_penalty=config.malformed_penalty, pass_k=config.pass_k
    )  # fmt: skip
    trainer = trainer_of(place, out, config, objective)
    replies = Replies(trainer, scripts())
    replies.play(trainer._episodes)
    trainer._generate_single_turn = replies
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 1
    # the right answer depends on the completion's place alone
    trainer._accuracy._remember = lambda judged: _odd(trainer._accuracy, judged)
    scored = trainer._generate_and_score_completions([{"prompt": ""}] * (2 * GROUP))
    count_per_step([scored], 1, trainer._total, only_correct=objective.baseline == "none")
    return trainer, scored, replies


def _odd(accuracy: Any, judged: Sequence[Any]) -> list[float | None]:
    accuracy.reasons = [reason for _, reason in judged]
    accuracy.values = [float(place % 3 == 0) for place in range(len(judged))]
    return list(accuracy.values)


# one of each way to mask and divide; with the others the test passes too
@pytest.mark.parametrize("name", ["dapo", "dr_grpo", "gmpo", "gspo", "kimi", "luspo", "raft", "reinforce"])
def test_only_the_models_own_tokens_are_in_the_loss(name: str, place: Path, tmp_path: Path) -> None:
    trainer, scored, _ = generation(place, tmp_path / name, name)
    trainer.model.zero_grad()
    trainer._compute_loss(trainer.model, scored).backward()
    found = flat_gradient(trainer.model).clone()
    update = []
    for row in range(2 * GROUP):
        prompt = scored["prompt_ids"][row][scored["prompt_mask"][row].bool()]
        is_real = scored["completion_mask"][row].bool()
        own = scored["tool_mask"][row][is_real].bool()
        logps = reference.token_logps(trainer.model, prompt, scored["completion_ids"][row][is_real])[own]
        assert len(logps) == len(trainer._episodes._lines[row].mask) - trainer._episodes._lines[row].mask.count(0)
        still = logps.detach()
        update.append(reference.Sampled(logps, still, still, float(scored["advantages"][row])))
    trainer.model.zero_grad()
    reference.loss(name, update, reference.Constants(TOKENS)).backward()
    expected = flat_gradient(trainer.model)
    assert found.norm() > 0
    assert (found - expected).norm() < 1e-3 * expected.norm()


def test_lengths_rewards_and_logs_count_the_models_tokens(place: Path, tmp_path: Path) -> None:
    trainer, scored, replies = generation(place, tmp_path / "run", "dapo", save_completions=True)
    lines = trainer._episodes._lines
    own = [sum(line.mask) for line in lines]
    assert all(len(line.ids) == len(line.mask) for line in lines)
    assert sum(own) < sum(len(line.ids) for line in lines)
    assert int(scored["num_items_in_batch"]) == sum(own)
    metrics = trainer._metrics["train"]
    assert metrics["completions/mean_length"][-1] == pytest.approx(sum(own) / len(own))
    correct = [tokens for place, tokens in enumerate(own) if place % 3 == 0]
    assert metrics["completions/mean_length_correct"][-1] == pytest.approx(sum(correct) / len(correct))
    # four episodes a problem: 3, 2, 3 and 1 turns, in step
    assert replies.batches == [8, 6, 4]
    assert metrics["agent/turns"][-1] == pytest.approx(9 / 4)
    assert metrics["agent/stopped"][-1] == pytest.approx(1 / 4)
    written = next((tmp_path / "run" / "completions").glob("*.parquet"))
    kept = pl.read_parquet(written)
    told = [trajectory_of(text) for text in kept["text"]]
    assert all(isinstance(one, Trajectory) for one in told)
    assert kept["num_tokens"].to_list() == own
    shown = "\n".join(described("k", {}, kept.head(3), 80))
    assert "call   bash(command='python3 check.py')" in shown
    assert "malformed call" in shown


def test_a_malformed_call_is_punished_on_its_own_tokens(place: Path, tmp_path: Path) -> None:
    trainer, scored, _ = generation(place, tmp_path / "run", "dr_grpo", malformed_penalty=0.5)
    lines, advantages = trainer._episodes._lines, scored["advantages"]
    assert advantages.shape == scored["completion_ids"].shape
    for row, line in enumerate(lines):
        spans = line.spans
        assert bool(spans) == (row % 4 == 2)
        plain = advantages[row, len(line.ids) - 1]
        for at in range(len(line.ids)):
            is_in = any(start <= at < end for start, end in spans)
            assert advantages[row, at] == pytest.approx(float(plain) - 0.5 * is_in)
    text = trainer.processing_class.decode(lines[2].ids[slice(*lines[2].spans[0])])
    assert text.startswith("<tool_call>{oops")


def test_unfinished_episodes_lose_the_penalty(place: Path, tmp_path: Path) -> None:
    agent = {**AGENT, "max_turns": 2}
    trainer, _, _ = generation(place, tmp_path / "run", "grpo", unfinished_penalty=0.25, agent=agent)
    assert trainer.reward_func_names == ["accuracy", "unfinished"]
    assert trainer.reward_weights.tolist() == [1.0, 0.25]
    # of four episodes, those of three turns
    assert trainer._metrics["train"]["rewards/unfinished/mean"][-1] == pytest.approx(-0.5)


def test_refill_replaces_masks_and_token_advantages_with_their_rows() -> None:
    import torch

    from train.grpo.rollout.refill import dead_groups, replace_groups

    def scored(fill: int, width: int, alive: bool) -> dict[str, Any]:
        return {
            "completion_ids": torch.full((2, width), fill),
            "completion_mask": torch.ones(2, width, dtype=torch.long),
            "tool_mask": torch.full((2, width), fill % 2),
            "advantages": torch.full((2, width), float(alive)),
        }

    old, new = scored(4, 3, alive=False), scored(5, 5, alive=True)
    assert dead_groups(old, 2) == [0]
    done = replace_groups(old, new, 2, pad_id=0)
    assert done["tool_mask"].tolist() == [[1] * 5] * 2
    assert done["completion_ids"].tolist() == [[5] * 5] * 2
    assert done["advantages"].tolist() == [[1.0] * 5] * 2


@pytest.fixture(scope="module")
def imitator(place: Path) -> Path:
    """A model that has seen a few episodes, so that it makes some calls."""
    tasks = toy_tasks(8, seed=3)
    data = write_traces(place / "traces.jsonl", tasks, 0.5, seed=0)
    given = {"batch_size": 8, "learning_rate": 1e-2, "save_steps": 60, "logging_steps": 60}
    sft(str(place / "toy"), data, place / "sft", SftConfig(max_steps=60, **given))
    return place / "sft" / "model"


def test_a_killed_run_draws_and_learns_as_if_it_had_not_been(
    imitator: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def by_text(_: Any, episodes: Sequence[Trajectory], __: Any) -> list[tuple[str, str]]:
        return [("correct" if len(told.text()) % 2 else "wrong", "") for told in episodes]

    # the toy solves nothing yet; any other reward moves it as well
    monkeypatch.setattr("train.rewards.rewards.judge_all", by_text)
    config = config_of(place, max_steps=4, save_steps=2, learning_rate=1e-3, save_completions=True)
    run, copies = tmp_path / "run", tmp_path / "copies"
    with copies_of(run, copies) as made:
        grpo(str(imitator), place / "pool", run, config)
    told = [trajectory_of(text) for text in pl.read_parquet(sorted((run / "completions").glob("*")))["text"]]
    assert any(one is not None and one.turns > 1 and one.changes == [] for one in told)
    for copy in (made[2], next(one for one in made if one.name.endswith("saved"))):
        grpo(str(imitator), place / "pool", copy, config)
        assert_same_run(copy, run)


def test_two_processes_with_other_numbers_of_turns_go_in_step(imitator: Path, place: Path, tmp_path: Path) -> None:
    """Each generation gathers from both; a process whose episodes are over must not leave the other waiting."""
    scripts, out = Path(sys.executable).parent, tmp_path / "run"
    command = [
        "accelerate", "launch", "--config_file", FOLDER / "cpu.yaml", "--no_python", scripts / "gradus", "train",
        "grpo", "--model", imitator, "--data", place / "pool", "--tasks", place / "tasks", "--out", out,
        "--max-tokens", 200, "--num-problems", 2, "--group-size", 4, "--max-steps", 2, "--save-steps", 2,
        "--save-completions", "--agent", json.dumps({**AGENT, "max_turns": 20, "malformed_calls": 2}),
    ]  # fmt: skip
    path = f"{scripts}:{os.environ['PATH']}"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PATH": path, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=200, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len((out / "draws.jsonl").read_text().splitlines()) == 2
    turns = []
    for shard in sorted((out / "completions").glob("*")):
        told = [trajectory_of(text) for text in pl.read_parquet(shard)["text"]]
        number = [one.turns for one in told if one is not None]
        turns += [max(number[:4]) - max(number[4:])]
    assert any(turns)
