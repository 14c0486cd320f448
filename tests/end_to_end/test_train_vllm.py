"""vLLM inside the trainer on a CPU: it generates from the weights as they are now, and a resume repeats its samples.

vLLM and TRL leave a process changed, so what they do runs in one of its own: this file, called as a program.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.places import ROOT

from curate.errors import UserError

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]
STEPS = 4
PROMPT = "Say 3."
# not 1: both sides must scale their logits by it
TEMPERATURE = 1.3
# each mode with the largest weight it allows: many reach .8 whatever was sampled, and a mask has to leave some
MODES = {"sequence_mask": 3.0, "sequence_truncate": 0.8, "token_mask": 0.8, "token_truncate": 0.8}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process with vLLM in it did and saw."""
    folder = tmp_path_factory.mktemp("vllm")
    tests = ROOT / "tests"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": f"{tests}:{tests.parent}"}
    program = [sys.executable, __file__, str(folder)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=500, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads((folder / "seen.json").read_text())
    return found


def test_after_updates_vllm_writes_what_transformers_writes_from_the_same_weights(seen: dict[str, Any]) -> None:
    assert seen["vllm"] == seen["transformers"]
    assert seen["vllm"] != seen["start"]


def test_vllm_and_the_trainer_agree_on_the_probability_of_every_sampled_token(seen: dict[str, Any]) -> None:
    assert len(seen["logp_gaps"]) == STEPS
    assert 0 < max(seen["logp_gaps"]) < 1e-4


@pytest.mark.parametrize("mode", MODES)
def test_every_objective_without_clip_corrects_for_vllm_as_the_equation_says(seen: dict[str, Any], mode: str) -> None:
    found = seen["corrected"][mode]
    # the trainer's weights moved away from vLLM's: there is something to correct
    assert found["furthest_from_1"] > 0.05
    assert found["norm"] > 0
    for name in ("dr_grpo", "reinforce", "kimi", "rloo"):
        assert found[name] < 1e-4, name


def test_a_resumed_run_samples_what_an_undisturbed_one_does(seen: dict[str, Any]) -> None:
    assert seen["resumed_draws"] == seen["draws"]
    assert seen["resumed_weights_equal"]


def test_the_completions_of_a_group_are_not_copies_of_one(seen: dict[str, Any]) -> None:
    assert seen["num_distinct_completions"] > 1


def test_heads_that_vllm_does_not_know_are_refused_before_it_starts(seen: dict[str, Any]) -> None:
    assert "small have 8; leave --vllm out" in seen["refusal"]


def _look(folder: Path) -> dict[str, Any]:
    from support.training.toy_runs import copying_problems, train_copier

    from demo.toy import build_toy

    # heads of 32: vLLM knows no smaller ones
    toy = train_copier(folder, hidden=128, max_steps=24, learning_rate=2e-3)
    problems = copying_problems(folder / "problems.jsonl")
    run, again = folder / "run", folder / "again"
    trainer = _train(toy, problems, run)
    weights = run / "model" / "model.safetensors"
    ids = trainer.processing_class.apply_chat_template(
        [{"role": "user", "content": PROMPT}], add_generation_prompt=True, return_dict=False
    )
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    found = {
        "vllm": _by_vllm(trainer, ids),
        "transformers": _by_transformers(run / "model", ids),
        "start": _by_transformers(toy, ids),
        "logp_gaps": [line[name] for line in lines if (name := "sampling/sampling_logp_difference/max") in line],
        "draws": (run / "draws.jsonl").read_text(),
        "num_distinct_completions": _num_distinct(run),
    }
    found["corrected"] = {mode: _corrected(trainer, mode) for mode in MODES}
    found["refusal"] = _refusal(build_toy(folder / "small", hidden=32, layers=1))
    shutil.copytree(run, again)
    for name in ("model", f"checkpoint-{STEPS}"):
        shutil.rmtree(again / name)
    _train(toy, problems, again)
    found["resumed_draws"] = (again / "draws.jsonl").read_text()
    found["resumed_weights_equal"] = (again / "model" / "model.safetensors").read_bytes() == weights.read_bytes()
    return found


def _train(toy: Path, problems: Path, run: Path) -> Any:
    """Train by the command's own parts, and keep the trainer."""
    from train.grpo.command import grpo_training
    from train.grpo.config import GrpoConfig
    from train.grpo.objectives import objective_named
    from train.runs.frame import Job, build_trainer, claimed
    from train.runs.running import train_and_save

    config = GrpoConfig(
        vllm=True, num_problems=2, group_size=4, max_steps=STEPS, max_tokens=12, learning_rate=1e-2, save_steps=2,
        logging_steps=1, temperature=TEMPERATURE,
        trl={"vllm_gpu_memory_utilization": 0.02},
    )  # fmt: skip
    training = grpo_training(problems, config, objective_named("dr_grpo"))
    material = training.read()
    with claimed(Job("grpo", str(toy), problems, run), material, config) as folder:
        assert folder is not None
        trainer = build_trainer(training, material.content, toy, folder)
        train_and_save(trainer, folder)
    return trainer


def _corrected(trainer: Any, mode: str) -> dict[str, float]:
    """Relative differences between each objective's gradient and the equation's, where vLLM's weights are older."""
    import torch
    from support.training.generations import gradient, odd_start

    from train.grpo.objectives import objective_named
    from train.rewards.rewards import Accuracy

    start = {name: value.clone() for name, value in trainer.model.state_dict().items()}
    trainer.vllm_generation.sync_weights()
    trainer._last_loaded_step = trainer.state.global_step
    noise = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in trainer.model.parameters():
            parameter.add_(0.02 * torch.randn(parameter.shape, generator=noise))
    judged, Accuracy.__call__ = Accuracy.__call__, odd_start  # type: ignore[method-assign]  # more signal than the copier
    trainer.model.train()
    trainer.vllm_importance_sampling_mode, trainer.current_gradient_accumulation_steps = mode, 1
    trainer.vllm_generation.temperature = TEMPERATURE
    largest, trainer.vllm_importance_sampling_clip_max = trainer.vllm_importance_sampling_clip_max, MODES[mode]
    scored = trainer._generate_and_score_completions([{"prompt": ""}] * 8)
    wanted = _by_the_equation(trainer, scored, mode)
    furthest = (scored["importance_sampling_ratio"] - 1).abs().max().item()
    found = {"furthest_from_1": furthest, "norm": wanted.norm().item()}
    for name in ("dr_grpo", "reinforce", "kimi", "rloo"):
        trainer._objective = objective_named(name)
        found[name] = ((gradient(trainer, scored) - wanted).norm() / wanted.norm()).item()
    Accuracy.__call__ = judged  # type: ignore[method-assign]
    trainer.vllm_importance_sampling_clip_max = largest
    trainer._objective = objective_named("dr_grpo")
    trainer.model.load_state_dict(start)
    return found


def _by_the_equation(trainer: Any, scored: dict[str, Any], mode: str) -> Any:
    """Gradient of -mean_i A_i sum_t w_it log pi(o_it) / L, w from vLLM's own log-probabilities, bounded."""
    import torch
    from support.training.generations import flat_gradient

    mask = scored["completion_mask"]
    ids = torch.cat([scored["prompt_ids"], scored["completion_ids"]], 1)
    attended = torch.cat([scored["prompt_mask"], mask], 1)
    trainer.model.zero_grad()
    logits = trainer.model(input_ids=ids, attention_mask=attended).logits[:, -mask.size(1) - 1 : -1] / TEMPERATURE
    logps = logits.log_softmax(-1).gather(-1, scored["completion_ids"].unsqueeze(-1)).squeeze(-1)
    log_weights = (logps.detach() - scored["sampling_per_token_logps"]) * mask
    weights = (log_weights.sum(1, keepdim=True) if mode.startswith("sequence") else log_weights).exp()
    weights = _bounded(weights, mode)
    (-(scored["advantages"].unsqueeze(1) * weights * logps * mask).sum(1).mean() / 12).backward()
    return flat_gradient(trainer.model)


def _bounded(weights: Any, mode: str) -> Any:
    if mode.endswith("truncate"):
        return weights.clamp(max=MODES[mode])
    return weights.masked_fill(weights > MODES[mode], 0)


def _by_vllm(trainer: Any, ids: list[int]) -> list[int]:
    trainer.vllm_generation.sync_weights()
    trainer.vllm_generation.temperature = 0.0
    written: list[int] = list(trainer.vllm_generation.generate([ids], None, 1)[1][0])
    return written


def _by_transformers(model: Path, ids: list[int]) -> list[int]:
    import torch
    from transformers import AutoModelForCausalLM

    loaded = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    written: list[int] = loaded.generate(torch.tensor([ids]), do_sample=False, max_new_tokens=12)[
        0, len(ids) :
    ].tolist()
    return written


def _refusal(model: Path) -> str:
    from train.grpo.rollout.generation import prepare_generation

    try:
        prepare_generation(model, {}, uses_vllm=True)
    except UserError as refusal:
        return str(refusal)
    return ""


def _num_distinct(run: Path) -> int:
    import polars as pl

    first = pl.read_parquet(run / "completions" / "draw-000001.parquet").filter(pl.col("key") == pl.col("key").first())
    return first["text"].n_unique()


if __name__ == "__main__":
    place = Path(sys.argv[1])
    (place / "seen.json").write_text(json.dumps(_look(place)))
