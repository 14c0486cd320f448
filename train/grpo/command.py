"""GRPO and its relatives with a curriculum: from the command line to a finished run.

Everything that can be refused is refused before a model is loaded. Prompts become messages exactly as when difficulty
was measured (`curate.engines.prompts`), and answers are judged by the same verifier (`curate.verify`).
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from curate.engines.prompts import template_switches
from curate.errors import UserError
from curriculum import PoolExhausted
from train.data.problems import read_problems
from train.data.prompts import end_ids, opening, to_rows
from train.data.rows import Rows
from train.environment import num_processes
from train.grpo.config import OWN, GrpoConfig
from train.grpo.generation import import_generation, prepare_generation
from train.grpo.objectives import Objective, objective_named
from train.grpo.run_curriculum import run_curriculum
from train.rewards.rewards import rewards_named
from train.runs.command_line import DataFile, Force, Model, Out
from train.runs.folder import RunFolder
from train.runs.running import identify, lora, train_and_save
from train.runs.settings import check_passthrough, check_split, shared_arguments
from train.runs.starting_model import find_model, load_tokenizer, settled


def grpo(model: Model, data: DataFile, out: Out, config: GrpoConfig, force: Force = False) -> None:
    """Train and leave the model in `out/model`."""
    objective = replace(objective_named(config.objective), tau=config.tau, refill_rounds=config.refill_rounds)
    rewards_named(config.rewards, config.setting())
    check_split(config, config.sequences_per_step)
    if config.refill_rounds and config.num_problems % num_processes():
        raise UserError(f"refill_rounds needs whole groups: --num-problems must be a multiple of {num_processes()}")
    if objective.resets_optimizer and os.environ.get("ACCELERATE_USE_DEEPSPEED") == "true":
        raise UserError(
            f"objective {config.objective} begins anew with its optimizer, DeepSpeed cannot; use ddp or fsdp"
        )
    folder = find_model(model, config, max_tokens=config.max_tokens)
    rows = read_problems(data)
    identity = identify("grpo", model, data, rows.digest, config)
    with RunFolder(out, identity, force=force, adopts_data=config.adopt_dataset) as run:
        if run.is_finished():
            typer.echo(f"{run.model} (reused: same settings, model and data)")
            return
        trainer = build_trainer(folder, rows, config, objective, run)
        metrics = train_and_save(trainer, run, ends=(PoolExhausted,))
        typer.echo(f"{run.model}  {metrics.get('train_runtime', 0):.0f} s")


def build_trainer(model: Path, rows: Rows, config: GrpoConfig, objective: Objective, run: RunFolder) -> Any:
    """The trainer, its curriculum new or as the last whole checkpoint left it."""
    from train.runs.quiet import quiet

    quiet()
    import_generation(uses_vllm=config.vllm)
    from trl import GRPOConfig

    from train.grpo.trainer import CurriculumGRPOTrainer
    from train.runs.logs import Reporter

    check_passthrough(config.trl, GRPOConfig, OWN)
    generation = prepare_generation(model, config.trl, uses_vllm=config.vllm)
    asked = settled(config, model)
    if asked.thinking == "off" and asked.no_think_by == "empty_think":
        raise UserError(f"{model}: has no switch to turn thinking off; leave --thinking at default")
    tokenizer = load_tokenizer(model)
    switches = template_switches(asked)
    opened = opening(tokenizer, switches) if config.prompt_format == "chat" else ""
    setting = config.setting(opened, end_ids(model, tokenizer))
    problems, curriculum = to_rows(rows.frame, config), run_curriculum(rows, config, model, run)
    probe = [problems[row] for row in curriculum.probe_rows()]
    arguments = {**_arguments(config, objective, run.folder), **generation, "chat_template_kwargs": switches}
    return CurriculumGRPOTrainer(
        problems=problems,
        curriculum=curriculum,
        saves_completions=config.save_completions,
        objective=objective,
        run=run,
        model=str(model),
        reward_funcs=rewards_named(config.rewards, setting),
        args=GRPOConfig(**arguments, **_probing(config, len(probe))),
        train_dataset=_slots(config),
        eval_dataset=_dataset(probe) if probe else None,
        processing_class=tokenizer,
        callbacks=[Reporter(run)],
        peft_config=lora(config),
    )


def _slots(config: GrpoConfig) -> Any:
    """A dataset with a row per group of the whole run: TRL counts by it, the trainer puts problems in its place."""
    from datasets import Dataset

    num_generations = -(-config.max_steps // config.updates_per_generation)
    return Dataset.from_dict({"prompt": [""] * (config.num_problems * num_generations)})


def _dataset(rows: list[dict[str, Any]]) -> Any:
    from datasets import Dataset

    return Dataset.from_list(rows)


def _probing(config: GrpoConfig, num_probed: int) -> dict[str, Any]:
    """TRL's evaluation arguments: the probe set in batches of whole groups."""
    if not num_probed:
        return {}
    per_device = max(1, config.sequences_per_step // num_processes() // config.probe_n) * config.probe_n
    return {
        "eval_strategy": "steps",
        "eval_steps": config.probe_steps,
        "eval_on_start": True,
        "num_generations_eval": config.probe_n,
        "per_device_eval_batch_size": min(per_device, num_probed * config.probe_n),
    }


def _arguments(config: GrpoConfig, objective: Objective, out: Path) -> dict[str, Any]:
    shared = shared_arguments(config, out, config.sequences_per_step)
    return {
        **shared,
        **objective.settings,
        **({} if config.kl_coef is None else {"beta": config.kl_coef}),
        "num_generations": config.group_size,
        "steps_per_generation": shared["gradient_accumulation_steps"] * config.updates_per_generation,
        "num_iterations": config.passes_per_generation,
        "max_completion_length": config.max_tokens,
        "temperature": config.temperature,
        "top_p": config.top_p,
        "top_k": config.top_k,
        "reward_weights": list(config.reward_weights) or None,
        # the curriculum draws, so TRL need neither shuffle slots nor skip them on resume
        "shuffle_dataset": False,
        "ignore_data_skip": True,
        **config.trl,
    }
