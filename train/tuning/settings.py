"""Settings that fine-tuning and distillation share."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field, PositiveInt

from train.runs.settings import TrainerConfig


class TuningConfig(TrainerConfig):
    """Settings of training on batches of examples or prompts."""

    panel: ClassVar[str] = "Training"

    batch_size: PositiveInt = Field(32, description="Examples per optimizer step, over all devices.")
    max_time_s: float | None = Field(None, gt=0, description="Time limit in seconds, if it ends before max_steps.")
