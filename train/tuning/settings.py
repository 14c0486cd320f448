"""The settings that fine-tuning and distillation share."""

from __future__ import annotations

from pydantic import Field, PositiveInt

from train.runs.settings import TrainerConfig


class TuningConfig(TrainerConfig):
    """Settings of every training on examples or prompts in batches."""

    batch_size: PositiveInt = Field(32, description="Examples per optimizer step, over all devices.")
    max_time_s: float | None = Field(None, gt=0, description="Seconds after which training stops before max_steps.")
