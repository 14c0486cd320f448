"""The tables of a trainer's settings: optimizer, compute, adapters, checkpoints and logging.

Each field's name inside its table is its key in a file and its option, `optimizer.learning_rate`; the trainer's config
says which may also stand outside.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveInt

from curate.config import RUNTIME, Config


class Optimizer(Config):
    """How weights are updated."""

    learning_rate: float = Field(2e-5, gt=0, description="Peak learning rate of AdamW.")
    schedule: Literal["constant", "linear", "cosine"] = Field(
        "cosine", description="Learning rate schedule after the warm-up."
    )
    warmup_steps: int = Field(0, ge=0, description="Steps over which the learning rate rises from 0.")
    max_grad_norm: float = Field(1.0, gt=0, description="Gradients are scaled down to this norm.")


class Compute(Config):
    """How a step is computed on the devices there are."""

    micro_batch_size: PositiveInt | None = Field(
        None, description="Completions per device and forward pass; as many as a step has, if not set."
    )
    dtype: Literal["auto", "float32", "bfloat16"] = Field(
        "auto", description="Compute type; auto is bfloat16 on a GPU and float32 on a CPU."
    )
    gradient_checkpointing: bool | None = Field(
        None, description="Recompute activations to save memory; on a GPU, if not set.", json_schema_extra=RUNTIME
    )


class Lora(Config):
    """Low-rank adapters instead of all weights."""

    rank: int = Field(0, ge=0, description="Rank of LoRA adapters on all linear layers; 0 trains all weights.")
    alpha: PositiveInt = Field(32, description="LoRA's scale is alpha / rank.")


class Saving(Config):
    """What is saved on the way."""

    steps: PositiveInt = Field(100, description="Steps between checkpoints.")
    keep_checkpoints: int = Field(
        2, ge=2, description="How many checkpoints stay; two, so that a kill while saving loses nothing."
    )


class Logging(Config):
    """What is logged, and where."""

    steps: PositiveInt = Field(10, description="Steps between log lines.")
    report_to: tuple[str, ...] = Field(
        (), description="Trackers that TRL also reports to: wandb, trackio, tensorboard.", json_schema_extra=RUNTIME
    )
