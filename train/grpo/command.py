"""GRPO and related objectives with a curriculum: from the command line to a finished run.

Mistakes in settings are refused before a model is loaded. Prompts become messages exactly as in measuring difficulty
(`curate.engines.prompts`), and the same verifier judges answers (`curate.verify`).
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from curate.engines.prompts import template_switches
from curate.errors import UserError
from curate.own_code import is_own, with_digest
from curate.parts import require
from curate.records import KINDS
from curriculum import PoolExhausted
from train.data.problems import read_problems
from train.data.prompts import end_ids, opening, to_rows
from train.data.rows import Rows
from train.environment import is_main_process, num_processes
from train.grpo.config import OWN, GrpoConfig
from train.grpo.episodes import episodes_of, plays
from train.grpo.evaluation import Evaluation, benchmark_rows, best_line
from train.grpo.measured import as_measured, with_recorded_mix
from train.grpo.objectives import Objective, objective_named
from train.grpo.rollout.generation import import_generation, prepare_generation
from train.grpo.run_curriculum import print_small_pool, run_curriculum
from train.rewards.own import OPTION, TRIED, OwnReward, try_out
from train.rewards.rewards import rewards_named
from train.runs.command_line import DataFile, Force, Model, Out
from train.runs.fitting import which_fit
from train.runs.folder import PROBE, RunFolder
from train.runs.frame import Classes, Job, Material, Parts, Start, Training, run_training
from train.runs.settings import Split
from train.runs.starting_model import room_of, settled

if TYPE_CHECKING:
    from train.grpo.stop_when import StopRules

ALSO: Final = ("solution", "extra")  # columns that only the user's own rewards read


def grpo(model: Model, data: DataFile, out: Out, config: GrpoConfig, force: Force = False) -> None:
    """Train and write the model to `out/model`."""
    train_job(Job("grpo", model, data, out, force), config)


def train_job(job: Job, config: GrpoConfig) -> None:
    """Train and write the model to the job's `out/model`."""
    data, out = job.data, job.out
    config, lines = as_measured(with_recorded_mix(config, data), data)
    if is_main_process():
        for line in lines:
            print(line, flush=True)
    objective = replace(
        objective_named(config.objective),
        tau=config.tau,
        pass_k=config.pass_k,
        refill_rounds=config.generation.refill_rounds,
        screen=config.generation.screen,
        malformed_penalty=config.malformed_penalty,
    )
    config = _with_own_rewards(config, data)
    if config.generation.refill_rounds and config.generation.num_problems % num_processes():
        raise UserError(f"refill_rounds needs whole groups: --num-problems must be a multiple of {num_processes()}")
    if os.environ.get("ACCELERATE_USE_DEEPSPEED") == "true":
        _refuse_deepspeed(config, objective)
    run_training(job, grpo_training(data, config, objective))
    if config.evaluation.data and is_main_process() and (best := best_line(out)) is not None:
        print(best, flush=True)


def _with_own_rewards(config: GrpoConfig, data: Path) -> GrpoConfig:
    """The settings with digests of the user's reward functions, which are tried on made completions."""
    own = [reward for reward in rewards_named(config.rewards.names, config.setting()) if isinstance(reward, OwnReward)]
    if not own:
        return config
    lines = try_out(own, to_rows(read_problems(data).frame.head(TRIED), config.prompt, ALSO))
    if is_main_process():
        print("\n".join(lines), flush=True)
    names = tuple(with_digest(name, OPTION) if is_own(name) else name for name in config.rewards.names)
    return config.model_copy(update={"rewards": config.rewards.model_copy(update={"names": names})})


def _refuse_deepspeed(config: GrpoConfig, objective: Objective) -> None:
    if objective.resets_optimizer:
        raise UserError(
            f"objective {config.objective} resets its optimizer, which DeepSpeed cannot do; use ddp or fsdp"
        )
    if config.trl.get("sync_ref_model"):
        raise UserError(
            "trl: sync_ref_model needs its reference in the checkpoint, which DeepSpeed does not give; use ddp or fsdp"
        )


def grpo_training(data: Path, config: GrpoConfig, objective: Objective) -> Training[Rows]:
    """The training of GRPO with an objective, for `run_training`."""
    return Training(
        config=config,
        sequences_per_step=config.sequences_per_step,
        read=partial(_read, data, config),
        classes=partial(_classes, config),
        parts=partial(_parts, config, objective),
        own=OWN,
        max_tokens=config.sampling.max_tokens,
        sequences_per_generation=config.sequences_per_step * config.generation.updates,
        prompt_bytes=lambda rows: int(str(rows.frame["prompt"].str.len_bytes().max() or 0)),
        steps_per_draw=config.generation.num_updates,
        adopts_data=config.adopt_dataset,
        ends=(PoolExhausted,),
        closing=lambda metrics: f"{metrics.get('train_runtime', 0):.0f} s",
    )


def _read(data: Path, config: GrpoConfig) -> Material[Rows]:
    rows = read_problems(data)
    known = (*KINDS, *config.verify.own_kinds)
    if unknown := sorted(set(rows.frame["kind"].drop_nulls().unique()) - {*known}):
        num = rows.frame.filter(pl.col("kind") == unknown[0]).height
        raise UserError(
            f"{data}: {num:,} problems of kind {unknown[0]}, which has no verifier; give "
            f"--verifier {unknown[0]}=FILE.py:FUNCTION"
        )
    if rows.frame.filter(pl.col("kind") == "puzzle").height:
        require("kind puzzle", "reasoning_gym")
    return Material(rows, rows.digest)


def _classes(config: GrpoConfig) -> Classes:
    import_generation(uses_vllm=config.sampling.vllm)
    from trl import GRPOConfig

    from train.grpo.trainer import CurriculumGRPOTrainer

    return Classes(CurriculumGRPOTrainer, GRPOConfig)


def _parts(config: GrpoConfig, objective: Objective, rows: Rows, start: Start) -> Parts:
    """Arguments of TRL's config and trainer, with the curriculum, new or from the last whole checkpoint."""
    generation = prepare_generation(start.model, config.trl, uses_vllm=config.sampling.vllm)
    asked = settled(config.prompt, start.model)
    if asked.thinking == "off" and asked.no_think_by == "empty_think":
        raise UserError(f"{start.model}: has no switch to turn thinking off; leave --thinking at default")
    switches = template_switches(asked)
    opened = opening(start.tokenizer, switches) if config.prompt.prompt_format == "chat" else ""
    setting = config.setting(opened, end_ids(start.model, start.tokenizer))
    has_agents = plays(rows.frame, config)
    has_own = any(map(is_own, config.rewards.names))
    problems = to_rows(rows.frame, config.prompt, ALSO if has_own else ())
    # an episode ends where the context does; a prompt needs room for a reply
    room = room_of(start.model, config.trl, 1 if has_agents else config.sampling.max_tokens)
    fits = which_fit(rows.frame["key"], [row["prompt"] for row in problems], room, start, switches)
    rows, problems = rows._replace(frame=rows.frame.filter(fits)), list(compress(problems, fits))
    curriculum = run_curriculum(rows, config, start.model, start.run)
    print_small_pool(curriculum, config.generation.num_problems, "--num-problems")
    probe = [problems[row] for row in curriculum.probe_rows()]
    benchmarks = benchmark_rows(config.evaluation.data, config.prompt)
    arguments = {**_arguments(config, objective, start.split), **generation, "chat_template_kwargs": switches}
    trainer = {
        "problems": problems,
        "curriculum": curriculum,
        "saves_completions": config.saving.completions,
        "objective": objective,
        "run": start.run,
        "reward_funcs": rewards_named(config.reward_names, setting),
        "eval_dataset": _evaluated(probe, benchmarks),
        "evaluation": Evaluation(start.run, config.evaluation.n) if benchmarks else None,
        "episodes": episodes_of(config, asked, setting, room.context) if has_agents else None,
        "stop": _stop_rules(config, start.run, len(benchmarks)),
    }
    num_evaluated = sum(map(len, (probe, *benchmarks.values())))
    is_new = start.run.checkpoint() is None
    return Parts({**arguments, **_evaluating(config, num_evaluated, is_new=is_new)}, _slots(config), trainer)


def _stop_rules(config: GrpoConfig, run: RunFolder, num_benchmarks: int) -> StopRules | None:
    if not config.stop_when.is_on:
        return None
    from train.grpo.stop_when import StopRules

    num_tests = -(-config.max_steps // config.evaluation.steps) * num_benchmarks
    return StopRules(config.stop_when, run, num_tests=num_tests, steps_per_draw=config.generation.num_updates)


def _evaluated(probe: list[dict[str, Any]], benchmarks: dict[str, list[dict[str, Any]]]) -> Any:
    """What TRL evaluates: the probe set alone, or with the benchmarks by name; None if there is neither."""
    if not benchmarks:
        return _dataset(probe) if probe else None
    named = {PROBE: probe, **benchmarks} if probe else benchmarks
    return {name: _dataset(rows) for name, rows in named.items()}


def _slots(config: GrpoConfig) -> Any:
    """A dataset of empty rows, one per group of the run: TRL counts them, the trainer replaces them by problems."""
    from datasets import Dataset

    num_generations = -(-config.max_steps // config.generation.updates)
    return Dataset.from_dict({"prompt": [""] * (config.generation.num_problems * num_generations)})


def _dataset(rows: list[dict[str, Any]]) -> Any:
    from datasets import Dataset

    return Dataset.from_list(rows)


def _evaluating(config: GrpoConfig, num_problems: int, *, is_new: bool) -> dict[str, Any]:
    """TRL's evaluation arguments: batches of whole groups; a resumed run has its start in the log."""
    if not num_problems:
        return {}
    chosen = config.evaluation if config.evaluation.data else config.probe
    n = chosen.n
    per_device = max(1, config.sequences_per_step // num_processes() // n) * n
    return {
        "eval_strategy": "steps",
        "eval_steps": chosen.steps,
        "eval_on_start": is_new,
        "num_generations_eval": n,
        "per_device_eval_batch_size": min(per_device, num_problems * n),
    }


def _arguments(config: GrpoConfig, objective: Objective, split: Split) -> dict[str, Any]:
    return {
        **objective.settings,
        **({} if config.kl_coef is None else {"beta": config.kl_coef}),
        "num_generations": config.generation.group_size,
        "steps_per_generation": split.num_passes * config.generation.updates,
        "num_iterations": config.generation.passes,
        "max_completion_length": config.sampling.max_tokens,
        "temperature": config.sampling.temperature,
        "top_p": config.sampling.top_p,
        "top_k": config.sampling.top_k,
        "reward_weights": config.reward_weights,
        # the curriculum draws, so TRL needs neither to shuffle slots nor to skip them on resume
        "shuffle_dataset": False,
        "ignore_data_skip": True,
    }
