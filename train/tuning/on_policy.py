"""On-policy distillation: a student learns a teacher's next-token distributions on its own completions.

The loss is TRL's generalised Jensen-Shannon divergence over the whole vocabulary (Agarwal et al., arXiv 2306.13649);
Qwen3 (2505.09388, sec. 4.5) trains its small models this way. Completions are not verified.
"""

from __future__ import annotations

import json
import random
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl
from pydantic import Field, PositiveInt

from curate.engines.model_files import model_digest, model_folder
from curate.engines.prompts import template_switches
from curate.errors import UserError
from curate.records import with_all_columns
from train.data.lengths import Prompt, Room
from train.data.problems import read_problems
from train.data.prompts import trl_prompt
from train.grpo.rollout.generation import import_generation, prepare_generation
from train.runs.command_line import DataFile, Force, Model, Out
from train.runs.fitting import which_fit
from train.runs.frame import Classes, Job, Material, Parts, Start, Training, run_training
from train.runs.settings import TAKEN
from train.runs.starting_model import find_model, load_tokenizer, room_of, settled
from train.tuning.settings import TuningConfig

OWN: Final = TAKEN | {
    "beta", "max_completion_length", "temperature", "chat_template_kwargs", "use_vllm", "shuffle_dataset",
    "teacher_model_name_or_path",
}  # fmt: skip


class OnPolicyConfig(TuningConfig):
    """Learn a teacher's distribution on the student's own completions.

    Data are problems: the student answers them, and learns the teacher's distribution at each of its own tokens
    (on-policy distillation). Completions are not verified. Teacher and student need the same vocabulary. After a stop,
    the same command resumes from its last checkpoint. The model is written to OUT/model.

    Example: gradus train distill-on-policy --model student --teacher teacher --data runs/dedup --out runs/on_policy
    """

    teacher: str = Field(description="Teacher model with the same vocabulary: a folder or a Hub name.")
    divergence: float = Field(
        1.0, ge=0, le=1, description="1 is the reverse KL, 0 the forward KL; values between mix them."
    )
    max_tokens: PositiveInt = Field(1024, description="Maximum tokens of a completion, which is cut off there.")
    temperature: float = Field(1.0, gt=0, description="Temperature of sampling and of both distributions.")
    vllm: bool = Field(False, description="Generate with vLLM inside the trainer.")


class Lesson(NamedTuple):
    """The teacher's folder, and the problems that the student answers, each with its prompt and messages."""

    teacher: Path
    problems: list[dict[str, str | None]]


def distill_on_policy(model: Model, data: DataFile, out: Out, config: OnPolicyConfig, force: Force = False) -> None:
    """Train the student on its own completions of the problems, and write it to `out/model`."""
    job = Job("distill-on-policy", model, data, out, force)
    run_training(
        job,
        Training(
            config=config,
            sequences_per_step=config.batch_size,
            read=partial(_read, job, config),
            classes=partial(_classes, config),
            parts=partial(_parts, config),
            own=OWN,
            max_tokens=config.max_tokens,
            max_time_s=config.max_time_s,
        ),
    )


def _read(job: Job, config: OnPolicyConfig) -> Material[Lesson]:
    teacher = find_model(config.teacher, config.prompt, max_tokens=config.max_tokens)
    _refuse_other_vocabulary(model_folder(job.model), teacher)
    rows = read_problems(job.data)
    lesson = Lesson(teacher, with_all_columns(rows.frame).select("key", "prompt", "messages").to_dicts())
    return Material(lesson, rows.digest, {"teacher_digest": model_digest(teacher)})


def _refuse_other_vocabulary(student: Path, teacher: Path) -> None:
    """The distributions are compared token by token, so a token must mean the same to both."""
    first, second = _vocabulary(student), _vocabulary(teacher)
    if first != second:
        differing = "its tokens differ" if len(first) == len(second) else f"{len(second):,} tokens, not {len(first):,}"
        raise UserError(
            f"--teacher {teacher}: has another vocabulary than the student ({differing}); use a teacher of the same "
            "family, or distill from its samples"
        )


def _vocabulary(model: Path) -> dict[str, int]:
    tokenizer = load_tokenizer(model)
    size = json.loads((model / "config.json").read_text(encoding="utf-8")).get("vocab_size")
    return {**tokenizer.get_vocab(), "vocab_size": size}


def _classes(config: OnPolicyConfig) -> Classes:
    import_generation(uses_vllm=config.vllm)
    from trl import DistillationConfig, DistillationTrainer

    return Classes(DistillationTrainer, DistillationConfig)


def _parts(config: OnPolicyConfig, lesson: Lesson, start: Start) -> Parts:
    from datasets import Dataset

    switches = template_switches(settled(config.prompt, start.model))
    prompts = [{"prompt": prompt} for prompt in _that_fit(lesson, config, switches, start)]
    arguments = {
        **prepare_generation(start.model, config.trl, uses_vllm=config.vllm),
        "max_completion_length": config.max_tokens,
        "temperature": config.temperature,
        "beta": config.divergence,
        "shuffle_dataset": False,  # TRL's sampler has one order for all epochs
        "chat_template_kwargs": switches,
    }
    dataset = Dataset.from_list(prompts).select(schedule(len(prompts), config))
    return Parts(arguments, dataset, {"teacher_model": str(lesson.teacher)})


def _that_fit(lesson: Lesson, config: OnPolicyConfig, switches: dict[str, bool], start: Start) -> list[Prompt]:
    """The prompts that leave room for a completion in both models."""
    prompts = [trl_prompt(problem["prompt"] or "", config.prompt, problem["messages"]) for problem in lesson.problems]
    contexts = [room_of(model, config.trl, config.max_tokens).context for model in (start.model, lesson.teacher)]
    room = Room(min((context for context in contexts if context), default=None), config.max_tokens)
    keys = pl.Series([problem["key"] for problem in lesson.problems], dtype=pl.String)
    return list(compress(prompts, which_fit(keys, prompts, room, start, switches)))


def schedule(num_prompts: int, config: OnPolicyConfig) -> list[int]:
    """Indices of the prompts of the whole run, in order: one shuffled pass after another."""
    num = config.max_steps * config.batch_size
    epochs = range(-(-num // num_prompts))
    return [row for epoch in epochs for row in _shuffled(num_prompts, f"{config.seed}:{epoch}")][:num]


def _shuffled(num: int, seed: str) -> list[int]:
    return random.Random(seed).sample(range(num), num)
