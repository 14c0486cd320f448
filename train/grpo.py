"""GRPO and its relatives with a curriculum: from the command line to a finished run.

Everything that can be refused is refused before a model is loaded. Prompts become messages exactly as when difficulty
was measured (`curate.engines.prompts`), and answers are judged by the same verifier (`curate.verify`).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

import polars as pl
import typer
from pydantic import BeforeValidator, Field, PositiveInt, model_validator

from curate.config import RUNTIME
from curate.engines.model_files import model_digest
from curate.engines.prompts import PromptConfig, messages, open_think, template_switches
from curate.errors import UserError
from curate.grading import GradingConfig
from curate.manifest import canonical_json
from curriculum import Curriculum, CurriculumConfig, PoolExhausted
from curriculum.state import newest
from train.command_line import DataFile, Force, Model, Out
from train.data import Rows
from train.environment import num_processes
from train.objectives import OBJECTIVES, Objective, objective_named
from train.problems import read_problems
from train.rewards import Setting, rewards_named
from train.run_folder import RunFolder
from train.running import identify, lora, train_and_save
from train.settings import TAKEN, TrainerConfig, as_table, check_passthrough, check_split, shared_arguments
from train.starting_model import find_model, load_tokenizer, settled
from train.vllm_on_cpu import MEMORY_SHARE

OWN: Final = TAKEN | {
    "num_generations", "steps_per_generation", "generation_batch_size", "num_iterations", "max_completion_length",
    "temperature", "top_p", "top_k", "beta", "shuffle_dataset", "reward_weights", "loss_type", "scale_rewards",
    "chat_template_kwargs", "use_vllm", "eval_strategy", "eval_steps", "eval_on_start", "num_generations_eval",
    "per_device_eval_batch_size",
}  # fmt: skip


class GrpoConfig(GradingConfig, PromptConfig, TrainerConfig):
    """Reinforcement learning from verifiable rewards, on problems that a curriculum chooses.

    Data is an artifact of `gradus curate`, or a file with problems and answers. Each generation asks the curriculum for
    problems, samples a group of completions for each, judges them and learns. Stopped, the same command goes on at its
    last checkpoint and draws what it would have drawn. The model is left in OUT/model.

    Example: gradus train grpo --model runs/sft/model --data runs/difficulty --out runs/grpo --objective dr_grpo
    """

    objective: str = Field("dr_grpo", description="Which objective; `gradus train explain` tells them apart.")
    learning_rate: float = Field(1e-6, gt=0, description="Peak learning rate of AdamW.")
    schedule: Literal["constant", "linear", "cosine"] = Field(
        "constant", description="How the learning rate goes on after the warm-up."
    )
    num_problems: PositiveInt = Field(32, description="Problems per generation.")
    group_size: int = Field(8, ge=2, description="Completions per problem.")
    updates_per_generation: PositiveInt = Field(
        1, description="Optimizer steps that share a generation, each on its own part of it."
    )
    passes_per_generation: PositiveInt = Field(1, description="How often a generation is gone through.")
    kl_coef: float | None = Field(None, ge=0, description="Weight of the KL to the start; the objective's, if not set.")
    refill_rounds: int = Field(
        0,
        ge=0,
        description="Rounds in which groups that teach nothing are replaced by others (DAPO's dynamic sampling).",
    )
    tau: float = Field(0.1, ge=0, description="Objective kimi: weight of the squared log-ratio.")
    rewards: tuple[str, ...] = Field(("accuracy",), description="Rewards that are added up.")
    reward_weights: tuple[float, ...] = Field((), description="A weight for each reward; 1, if not set.")
    length_warmup_steps: int = Field(0, ge=0, description="Reward kimi_length: steps before it begins.")
    overlong_cache: PositiveInt | None = Field(
        None, description="Reward overlong: tokens before max_tokens over which it grows; a fifth, if not set."
    )
    max_tokens: PositiveInt = Field(1024, description="Tokens at which a completion is cut off.")
    temperature: float = Field(1.0, gt=0, description="Sampling temperature.")
    top_p: float = Field(1.0, gt=0, le=1, description="Nucleus: share of probability that is sampled from.")
    top_k: int = Field(0, ge=0, description="Likeliest tokens that are sampled from; 0 means all.")
    probe_steps: PositiveInt = Field(
        50, description="The curriculum's probe set (curriculum.probe_size) is asked every so many steps."
    )
    probe_n: PositiveInt = Field(4, description="Completions per problem of the probe set.")
    curriculum_from: Path | None = Field(
        None, description="Run whose curriculum is taken over, by key; its settings may differ."
    )
    save_completions: bool = Field(
        True, description="Keep every completion with its rewards, for train trace.", json_schema_extra=RUNTIME
    )
    vllm: bool = Field(False, description="Generate with vLLM inside the trainer; on a GPU it is several times faster.")
    curriculum: Annotated[CurriculumConfig, BeforeValidator(as_table)] = Field(
        CurriculumConfig(), description="Which problem next, as YAML: '{policy: prioritized, p0: 0.9}'."
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.reward_weights and len(self.reward_weights) != len(self.rewards):
            raise ValueError(
                f"{len(self.reward_weights)} reward_weights for {len(self.rewards)} rewards; give each one"
            )
        if self.rewards[:1] != ("accuracy",):
            raise ValueError(
                "rewards must begin with accuracy, from which the curriculum learns (a weight of 0 will do)"
            )
        row = OBJECTIVES.get(self.objective)
        if row is not None and row.loss != "trl" and (self.kl_coef or self.vllm):
            named = "KL to the start" if self.kl_coef else "correction for what vLLM samples"
            raise ValueError(f"objective {self.objective} has no {named}; use dr_grpo, or leave that option out")
        num = self.num_problems * self.group_size
        if num % self.updates_per_generation:
            raise ValueError(
                f"{self.num_problems} problems x {self.group_size} completions cannot be split over "
                f"{self.updates_per_generation} updates_per_generation; use a divisor of {num}"
            )
        block = self.updates_per_generation * self.passes_per_generation
        if self.save_steps % block:
            raise ValueError(f"save_steps is {self.save_steps}; use a multiple of {block}, the updates of a generation")
        if self.objective == "kimi" and self.tau > 0 and block == 1:
            raise ValueError(
                "objective kimi is inert with one update per generation: its squared log-ratio is 0 there; "
                "set updates_per_generation or passes_per_generation to 2 or more, or tau to 0"
            )
        return self

    @property
    def sequences_per_step(self) -> int:
        """Completions per optimizer step, over all devices."""
        return self.num_problems * self.group_size // self.updates_per_generation

    def setting(self, opening: str = "", ends: frozenset[int] = frozenset()) -> Setting:
        """What rewards need to know of the run."""
        return Setting(
            grading=self,
            max_tokens=self.max_tokens,
            opening=opening,
            end_ids=ends,
            group_size=self.group_size,
            overlong_cache=self.overlong_cache or max(1, self.max_tokens // 5),
            length_warmup_steps=self.length_warmup_steps,
        )


def grpo(model: Model, data: DataFile, out: Out, config: GrpoConfig, force: Force = False) -> None:
    """Train and leave the model in `out/model`."""
    objective = replace(objective_named(config.objective), tau=config.tau, refill_rounds=config.refill_rounds)
    rewards_named(config.rewards, config.setting())
    check_split(config, config.sequences_per_step)
    if config.refill_rounds and config.num_problems % num_processes():
        raise UserError(f"refill_rounds needs whole groups: --num-problems must be a multiple of {num_processes()}")
    folder = find_model(model, config, max_tokens=config.max_tokens)
    rows = read_problems(data)
    with RunFolder(out, identify("grpo", model, data, rows.digest, config), force=force) as run:
        if run.is_finished():
            typer.echo(f"{run.model} (reused: same settings, model and data)")
            return
        trainer = build_trainer(folder, rows, config, objective, run)
        metrics = train_and_save(trainer, run, ends=(PoolExhausted,))
        typer.echo(f"{run.model}  {metrics.get('train_runtime', 0):.0f} s")


def build_trainer(model: Path, rows: Rows, config: GrpoConfig, objective: Objective, run: RunFolder) -> Any:
    """The trainer, its curriculum new or as the last whole checkpoint left it."""
    from train.quiet import quiet

    quiet()
    from trl import GRPOConfig

    from train.logs import Reporter
    from train.trainer import CurriculumGRPOTrainer

    check_passthrough(config.trl, GRPOConfig, OWN)
    if config.vllm:
        _prepare_vllm()
    asked = settled(config, model)
    if asked.thinking == "off" and asked.no_think_by == "empty_think":
        raise UserError(f"{model}: has no switch to turn thinking off; leave --thinking at default")
    tokenizer = load_tokenizer(model)
    switches = template_switches(asked)
    opening = _opening(tokenizer, switches) if config.prompt_format == "chat" else ""
    setting = config.setting(opening, end_ids(model, tokenizer))
    problems, curriculum = to_rows(rows.frame, config), _curriculum(rows, config, model, run)
    probe = [problems[row] for row in curriculum.probe_rows()]
    return CurriculumGRPOTrainer(
        problems=problems,
        curriculum=curriculum,
        saves_completions=config.save_completions,
        objective=objective,
        run=run,
        model=str(model),
        reward_funcs=rewards_named(config.rewards, setting),
        args=GRPOConfig(**_arguments(config, objective, run.folder, switches), **_probing(config, len(probe))),
        train_dataset=_slots(config),
        eval_dataset=_dataset(probe) if probe else None,
        processing_class=tokenizer,
        callbacks=[Reporter(run)],
        peft_config=lora(config),
    )


def _prepare_vllm() -> None:
    import importlib.util

    import torch

    if importlib.util.find_spec("vllm") is None:
        raise UserError("--vllm: vLLM is not installed; pip install 'gradus-rlvr[vllm]', or leave --vllm out")
    if not torch.cuda.is_available():
        from train.vllm_on_cpu import adapt_vllm

        adapt_vllm()


def to_rows(problems: pl.DataFrame, config: PromptConfig) -> list[dict[str, Any]]:
    """What TRL sees of each problem: the prompt as conversation (chat) or text (raw), and what rewards need."""
    columns = problems.select("key", "prompt", "ground_truth", "kind", "tests").iter_rows(named=True)
    return [{**row, "question": row["prompt"], "prompt": _asked(row["prompt"], config)} for row in columns]


def end_ids(model: Path, tokenizer: Any) -> frozenset[int]:
    """Tokens that end a completion, by the model's generation config and its tokenizer."""
    from transformers import GenerationConfig

    try:
        found = GenerationConfig.from_pretrained(model).eos_token_id
    except OSError:
        found = None
    listed = found if isinstance(found, list) else [found]
    return frozenset(token for token in (*listed, tokenizer.eos_token_id, tokenizer.pad_token_id) if token is not None)


def _asked(prompt: str, config: PromptConfig) -> list[dict[str, str]] | str:
    asked = messages(prompt, config)
    return asked if config.prompt_format == "chat" else asked[-1]["content"]


def _opening(tokenizer: Any, switches: dict[str, bool]) -> str:
    rendered = tokenizer.apply_chat_template(
        [{"role": "user", "content": "1+1"}], tokenize=False, add_generation_prompt=True, **switches
    )
    return open_think(rendered)


def _curriculum(rows: Rows, config: GrpoConfig, model: Path, run: RunFolder) -> Curriculum:
    sampling = config.model_dump(mode="json", include={"max_tokens", "temperature", "top_p", "top_k", "group_size"})
    prompt = config.model_dump(mode="json", include=set(PromptConfig.model_fields))
    binding = {
        "dataset": rows.digest,
        "model": model_digest(model),
        "sampling": canonical_json(sampling),
        "prompt": canonical_json(prompt),
    }
    if (checkpoint := run.checkpoint()) is not None:
        return Curriculum.load(checkpoint, rows.frame, config.curriculum, binding)
    if config.curriculum_from is not None:
        return Curriculum.continue_from(newest(config.curriculum_from), rows.frame, config.curriculum, binding)
    return Curriculum.create(rows.frame, config.curriculum, binding)


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


def _vllm_arguments(config: GrpoConfig, is_on_cpu: bool) -> dict[str, Any]:
    if not config.vllm:
        return {"use_vllm": False}
    # a CPU's share is small: what it takes it does not give back to the trainer
    return {"use_vllm": True, **({"vllm_gpu_memory_utilization": MEMORY_SHARE} if is_on_cpu else {})}


def _arguments(config: GrpoConfig, objective: Objective, out: Path, switches: dict[str, bool]) -> dict[str, Any]:
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
        "chat_template_kwargs": switches,
        **_vllm_arguments(config, shared["use_cpu"]),
        # the curriculum draws, so TRL need neither shuffle slots nor skip them on resume
        "shuffle_dataset": False,
        "ignore_data_skip": True,
        **config.trl,
    }
