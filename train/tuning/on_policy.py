"""On-policy distillation: the student writes, the teacher says at every token how it would have gone on.

The loss is TRL's generalised Jensen-Shannon divergence over the whole vocabulary (Agarwal et al., arXiv 2306.13649);
Qwen3 (2505.09388, sec. 4.5) trains its small models so. Nothing is verified: a problem needs no right answer.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Final

import typer
from pydantic import Field

from curate.engines.model_files import model_digest
from curate.engines.prompts import template_switches
from curate.errors import UserError
from train.data.problems import read_problems
from train.data.prompts import asked
from train.data.rows import Rows
from train.grpo.generation import import_generation, prepare_generation
from train.runs.folder import RunFolder
from train.runs.running import identify, lora, train_and_save
from train.runs.settings import TAKEN, check_passthrough, check_split, shared_arguments
from train.runs.starting_model import find_model, load_tokenizer, settled
from train.tuning.sft import Job, SftConfig

OWN: Final = TAKEN | {
    "beta", "max_completion_length", "temperature", "chat_template_kwargs", "use_vllm", "shuffle_dataset",
    "teacher_model_name_or_path",
}  # fmt: skip


class OnPolicyConfig(SftConfig):
    """Settings of on-policy distillation."""

    teacher: str | None = Field(
        None, description="Model of the same vocabulary to learn from on-policy; data are then problems."
    )
    divergence: float = Field(
        1.0, ge=0, le=1, description="With a teacher: 1 is the reverse KL, 0 the forward KL, between them lie mixtures."
    )
    temperature: float = Field(1.0, gt=0, description="With a teacher: of sampling and of both distributions.")
    vllm: bool = Field(False, description="With a teacher: generate with vLLM inside the trainer.")


def learn_on_policy(job: Job, config: OnPolicyConfig) -> None:
    """Train the student on its own completions of the problems, and leave it in `out/model`."""
    check_split(config, config.batch_size)
    student = find_model(job.model, config, max_tokens=config.max_tokens)
    teacher = find_model(str(config.teacher), config, max_tokens=config.max_tokens)
    _refuse_other_vocabulary(student, teacher)
    rows = read_problems(job.data)
    identity = identify(job.command, job.model, job.data, rows.digest, config)
    identity["config"]["teacher_digest"] = model_digest(teacher)
    with RunFolder(job.out, identity, force=job.force) as run:
        if run.is_finished():
            typer.echo(f"{run.model} (reused: same settings, models and data)")
            return
        metrics = train_and_save(_trainer((student, teacher), rows, config, run), run)
        typer.echo(f"{run.model}  loss {metrics['train_loss']:.4f}  {metrics['train_runtime']:.0f} s")


def _refuse_other_vocabulary(student: Path, teacher: Path) -> None:
    """The distributions are compared token by token, so a token must mean the same to both."""
    first, second = _vocabulary(student), _vocabulary(teacher)
    if first != second:
        differing = "its tokens differ" if len(first) == len(second) else f"{len(second):,} tokens, not {len(first):,}"
        raise UserError(
            f"--teacher {teacher}: has another vocabulary than the student ({differing}); take a teacher of the same "
            "family, or distill from its samples"
        )


def _vocabulary(model: Path) -> dict[str, int]:
    tokenizer = load_tokenizer(model)
    size = json.loads((model / "config.json").read_text(encoding="utf-8")).get("vocab_size")
    return {**tokenizer.get_vocab(), "vocab_size": size}


def _trainer(models: tuple[Path, Path], rows: Rows, config: OnPolicyConfig, run: RunFolder) -> Any:
    from train.runs.quiet import quiet

    quiet()
    import_generation(uses_vllm=config.vllm)
    from datasets import Dataset
    from trl import DistillationConfig, DistillationTrainer

    from train.runs.logs import Reporter

    student, teacher = models
    prompts = [{"prompt": asked(text, config)} for text in rows.frame["prompt"]]
    check_passthrough(config.trl, DistillationConfig, OWN)
    arguments = {
        **shared_arguments(config, run.folder, config.batch_size),
        **prepare_generation(student, config.trl, uses_vllm=config.vllm),
        "max_completion_length": config.max_tokens,
        "temperature": config.temperature,
        "beta": config.divergence,
        "shuffle_dataset": False,  # TRL's sampler has one order for all epochs
        "chat_template_kwargs": template_switches(settled(config, student)),
    }
    return DistillationTrainer(
        model=str(student),
        teacher_model=str(teacher),
        args=DistillationConfig(**arguments),
        train_dataset=Dataset.from_list(prompts).select(schedule(len(prompts), config)),
        processing_class=load_tokenizer(student),
        callbacks=[Reporter(run, max_time_s=config.max_time_s)],
        peft_config=lora(config),
    )


def schedule(num_prompts: int, config: OnPolicyConfig) -> list[int]:
    """The prompts of the whole run in order: all of them, shuffled, again and again."""
    num = config.max_steps * config.batch_size
    epochs = range(-(-num // num_prompts))
    return [row for epoch in epochs for row in _shuffled(num_prompts, f"{config.seed}:{epoch}")][:num]


def _shuffled(num: int, seed: str) -> list[int]:
    return random.Random(seed).sample(range(num), num)
