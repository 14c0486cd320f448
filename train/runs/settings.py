"""Settings that every trainer shares, and their translation to a TRL config.

Each trainer's config derives from `TrainerConfig`. Fields that Gradus does not name can be set through `trl` under
TRL's names, which are checked against TRL's config class before any model is loaded.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, NamedTuple

import yaml
from pydantic import BeforeValidator, Field, PositiveInt

from curate.config import RUNTIME, Config, nearest
from curate.engines.prompts import PromptConfig
from curate.errors import UserError
from curate.tables import short
from train.environment import check_sharding, num_processes, number_no_cpu
from train.memory.estimate import Case, Load
from train.runs.tables import Compute, Logging, Lora, Optimizer, Saving

# short forms of the optimizer's settings, also for trainers with other defaults
OPTIMIZER: Final = short("learning_rate", "schedule", "warmup_steps")


def as_table(value: Any) -> Any:
    """Parse a mapping given as text on the command line (YAML, so JSON too); return other values unchanged."""
    return yaml.safe_load(value) if isinstance(value, str) else value


Table = Annotated[dict[str, Any], BeforeValidator(as_table)]  # Any: values of TRL's own fields


class TrainerConfig(Config):
    """Settings of every trainer."""

    panel: ClassVar[str] = "Training"

    max_steps: PositiveInt = Field(500, description="Optimizer steps.")
    prompt: PromptConfig = Field(
        PromptConfig(),
        description="Form of the prompt for a problem.",
        json_schema_extra=short("prompt_format", "system", "template", "thinking", "no_think_by"),
    )
    optimizer: Optimizer = Field(Optimizer(), description="Optimizer and learning rate.", json_schema_extra=OPTIMIZER)
    compute: Compute = Field(
        Compute(),
        description="Computation of a step.",
        json_schema_extra=short("micro_batch_size", "dtype", "gradient_checkpointing"),
    )
    lora: Lora = Field(
        Lora(), description="Low-rank adapters instead of all weights.", json_schema_extra=short(lora_rank="rank")
    )
    saving: Saving = Field(Saving(), description="Checkpoints.", json_schema_extra=RUNTIME | short(save_steps="steps"))
    logging: Logging = Field(
        Logging(), description="Log lines and trackers.", json_schema_extra=short(logging_steps="steps")
    )
    seed: int = Field(0, ge=0, description="Seed of data order, draws and sampling.")
    trl: Table = Field(
        default_factory=dict, description="Other fields of TRL's config by their name, e.g. '{adam_beta2: 0.99}'."
    )

    def load(self, case: Case) -> Load | None:  # noqa: ARG002  # each trainer's own
        """What a step asks of a device; None where that is not estimated."""
        return None

    def shared_load(self, case: Case, num_tokens: int, num_scored: int) -> Load:
        """A load of the settings that every trainer has."""
        recomputes = self.compute.gradient_checkpointing
        return Load(
            num_tokens,
            num_scored,
            lora_rank=self.lora.rank,
            is_half=case.is_gpu if self.compute.dtype == "auto" else self.compute.dtype == "bfloat16",
            recomputes=case.is_gpu if recomputes is None else recomputes,
        )


def shared_arguments(config: TrainerConfig, out: Path, split: Split) -> dict[str, Any]:
    """Arguments of a TRL config that every trainer sets, for the available device.

    split: a step on one device.
    """
    import torch

    check_sharding()
    has_gpu = torch.cuda.is_available()
    if not has_gpu:
        number_no_cpu()
    compute = config.compute
    return {
        "output_dir": str(out),
        "max_steps": config.max_steps,
        "learning_rate": config.optimizer.learning_rate,
        "lr_scheduler_type": config.optimizer.schedule,
        "warmup_steps": config.optimizer.warmup_steps,
        "max_grad_norm": config.optimizer.max_grad_norm,
        "per_device_train_batch_size": split.micro,
        "gradient_accumulation_steps": split.num_passes,
        "bf16": has_gpu if compute.dtype == "auto" else compute.dtype == "bfloat16",
        "use_cpu": not has_gpu,
        "gradient_checkpointing": has_gpu if compute.gradient_checkpointing is None else compute.gradient_checkpointing,
        "model_init_kwargs": {"dtype": "float32"},  # master weights; bf16 is autocast, as in TRL's default
        "seed": config.seed,
        "data_seed": config.seed,
        "save_steps": config.saving.steps,
        "logging_steps": config.logging.steps,
        "logging_first_step": True,
        "report_to": list(config.logging.report_to),
        "disable_tqdm": True,
        "dataloader_num_workers": 0,
        "dataloader_pin_memory": has_gpu,
    }


class Split(NamedTuple):
    """A step on one device: sequences per forward pass, and forward passes."""

    micro: int
    num_passes: int


def split_step(config: TrainerConfig, sequences_per_step: int) -> Split:
    """Split a step evenly over processes and forward passes; `UserError` where that is impossible."""
    if sequences_per_step % num_processes():
        raise UserError(
            f"{sequences_per_step} sequences per step cannot be split over {num_processes()} processes; "
            "use a multiple of the number of processes"
        )
    per_device = sequences_per_step // num_processes()
    micro = config.compute.micro_batch_size or per_device
    if per_device % micro:
        raise UserError(
            f"--micro-batch-size is {micro}; use a divisor of {per_device}, the sequences per step on one device"
        )
    return Split(micro, per_device // micro)


def check_passthrough(given: dict[str, Any], trl_config: type, taken: frozenset[str]) -> None:
    """Refuse a `trl` field that TRL's config class lacks, or that Gradus sets through its own settings."""
    known = [field.name for field in dataclasses.fields(trl_config)]
    for name in given:
        if name not in known:
            raise UserError(f"trl: {name} is not a field of TRL's {trl_config.__name__}; {nearest(name, known)}")
        if name in taken:
            raise UserError(f"trl: {name} is controlled by Gradus; use the command's own option for it")


# fields that the run folder, resume and late draws depend on
TAKEN = frozenset(
    {
        "output_dir", "max_steps", "seed", "data_seed", "save_steps", "save_total_limit", "save_strategy",
        "per_device_train_batch_size", "gradient_accumulation_steps", "ignore_data_skip", "dataloader_num_workers",
        "num_train_epochs", "save_only_model", "report_to", "disable_tqdm", "logging_steps", "logging_first_step",
    }
)  # fmt: skip
