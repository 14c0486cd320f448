"""Cost of a training, before it runs: rollouts, tokens, and GPU hours under stated assumptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from curate.config import Config
from curate.difficulty.stage import DifficultyConfig
from train.grpo.config import GrpoConfig
from train.tuning.on_policy import OnPolicyConfig
from train.tuning.sft import SftConfig

FLOPS: Final = 989e12  # H100 SXM, bfloat16, dense: NVIDIA's data sheet
TRAIN_USE: Final = 0.35
GENERATE_USE: Final = 0.05
MEAN_LENGTH: Final = 0.5


@dataclass(frozen=True)
class Cost:
    """Completions sampled, tokens generated and trained on, and hours of one GPU where they are known."""

    ASSUMED: ClassVar[str] = (
        f"assumed: completions of {MEAN_LENGTH:.0%} of max_tokens, an H100 at {TRAIN_USE:.0%} of its peak in training "
        f"(6 x parameters per token) and {GENERATE_USE:.0%} in generation (2 x parameters per token)"
    )

    rollouts: int = 0
    generated: int = 0
    trained: int = 0
    gpu_hours: float | None = 0.0

    def __add__(self, other: Cost) -> Cost:
        hours = None if self.gpu_hours is None or other.gpu_hours is None else self.gpu_hours + other.gpu_hours
        return Cost(
            self.rollouts + other.rollouts, self.generated + other.generated, self.trained + other.trained, hours
        )

    def line(self) -> str:
        """One line for a terminal."""
        hours = (
            "unknown without the model's files" if self.gpu_hours is None else f"about {self.gpu_hours:,.1f} GPU hours"
        )
        return f"{self.rollouts:,} rollouts, {self.generated:,} tokens generated, {self.trained:,} trained on, {hours}"


def cost_of(config: Config, parameters: int | None, pool_size: int) -> Cost:
    """Cost of a stage with this config, for a model of `parameters` weights and a pool of `pool_size` problems."""
    rollouts = generated = trained = 0
    if isinstance(config, GrpoConfig):
        num = config.sequences_per_step * config.max_steps
        rollouts = num // config.generation.passes
        generated = int(rollouts * config.sampling.max_tokens * MEAN_LENGTH)
        trained = int(num * config.sampling.max_tokens * MEAN_LENGTH)
    elif isinstance(config, SftConfig):
        trained = int(config.batch_size * config.max_steps * config.max_tokens * MEAN_LENGTH)
    elif isinstance(config, OnPolicyConfig):
        rollouts = config.batch_size * config.max_steps
        generated = trained = int(rollouts * config.max_tokens * MEAN_LENGTH)
    elif isinstance(config, DifficultyConfig):
        rollouts = config.k * pool_size
        generated = int(rollouts * config.max_tokens * MEAN_LENGTH)
    hours = None
    if parameters is not None:
        work = 6 * parameters * trained / TRAIN_USE + 2 * parameters * generated / GENERATE_USE
        hours = work / FLOPS / 3600
    return Cost(rollouts, generated, trained, hours)
