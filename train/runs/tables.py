"""Tables of a trainer's settings: optimizer, compute, adapters, checkpoints and logging.

A field's path, such as `optimizer.learning_rate`, is its key in a file and its option; the trainer's config lists the
fields that also have a short form.
"""

from __future__ import annotations

from typing import ClassVar, Final, Literal

from pydantic import Field, PositiveInt, field_validator

from curate.config import RUNTIME, Config, nearest
from curate.parts import is_installed

# trackers that transformers reports to, with the libraries of which each needs one
TRACKERS: Final = {
    "wandb": ("wandb",), "trackio": ("trackio",), "tensorboard": ("tensorboard", "tensorboardX"), "mlflow": ("mlflow",),
    "swanlab": ("swanlab",), "comet_ml": ("comet_ml",), "clearml": ("clearml",), "neptune": ("neptune",),
    "dvclive": ("dvclive",), "codecarbon": ("codecarbon",),
}  # fmt: skip


class Optimizer(Config):
    """Optimizer and learning rate."""

    panel: ClassVar[str] = "Optimizer"

    learning_rate: float = Field(2e-5, gt=0, description="Peak learning rate of AdamW.")
    schedule: Literal["constant", "linear", "cosine"] = Field(
        "cosine", description="Learning rate schedule after the warm-up."
    )
    warmup_steps: int = Field(0, ge=0, description="Steps over which the learning rate rises from 0.")
    max_grad_norm: float = Field(1.0, gt=0, description="Maximum gradient norm; larger gradients are scaled down.")


class Compute(Config):
    """Computation of a step on the available devices."""

    panel: ClassVar[str] = "Compute"

    micro_batch_size: PositiveInt | None = Field(
        None,
        description="Sequences per device and forward pass; by default as many of a step as an estimate of its memory "
        "allows.",
        json_schema_extra=RUNTIME,
    )
    dtype: Literal["auto", "float32", "bfloat16"] = Field(
        "auto", description="Compute dtype; auto is bfloat16 on a GPU and float32 on a CPU."
    )
    gradient_checkpointing: bool | None = Field(
        None, description="Recompute activations to save memory; by default on a GPU.", json_schema_extra=RUNTIME
    )


class Lora(Config):
    """Low-rank adapters instead of all weights."""

    panel: ClassVar[str] = "Compute"

    rank: int = Field(0, ge=0, description="Rank of LoRA adapters on all linear layers; 0 trains all weights.")
    alpha: PositiveInt = Field(32, description="LoRA's scale is alpha / rank.")


class Saving(Config):
    """Checkpoints."""

    panel: ClassVar[str] = "Checkpoints and logs"

    steps: PositiveInt = Field(100, description="Steps between checkpoints.")
    keep_checkpoints: int = Field(
        2, ge=2, description="Checkpoints to keep; at least two, so that a kill while saving loses nothing."
    )


class Logging(Config):
    """Log lines and trackers."""

    panel: ClassVar[str] = "Checkpoints and logs"

    steps: PositiveInt = Field(
        10,
        description="Steps between log lines; the first and the last step always have one.",
        json_schema_extra=RUNTIME,
    )
    report_to: tuple[str, ...] = Field(
        (), description="Trackers that TRL also reports to: wandb, trackio, tensorboard.", json_schema_extra=RUNTIME
    )

    @field_validator("report_to")
    @classmethod
    def _can_report(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in TRACKERS:
                raise ValueError(f"{name} is no tracker; {nearest(name, list(TRACKERS))}")
            if not any(map(is_installed, TRACKERS[name])):
                raise ValueError(f"{name} is not installed; pip install {TRACKERS[name][0]}, or leave it out")
        return names
