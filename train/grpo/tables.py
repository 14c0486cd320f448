"""The tables of GRPO's settings: generation, sampling, rewards and the probe set, and its own form of shared ones."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PositiveInt

from curate.config import Config
from train.rewards.rewards import REWARDS
from train.runs.tables import Optimizer, Saving


class RlOptimizer(Optimizer):
    """How weights are updated in reinforcement learning."""

    learning_rate: float = Field(1e-6, gt=0, description="Peak learning rate of AdamW.")
    schedule: Literal["constant", "linear", "cosine"] = Field(
        "constant", description="Learning rate schedule after the warm-up."
    )


class Generation(Config):
    """What is generated and trained on between two draws of the curriculum."""

    num_problems: PositiveInt = Field(32, description="Problems per generation.")
    group_size: int = Field(8, ge=2, description="Completions per problem.")
    updates: PositiveInt = Field(1, description="Optimizer steps that share a generation, each on its own part of it.")
    passes: PositiveInt = Field(1, description="How often a generation is gone through.")
    refill_rounds: int = Field(
        0,
        ge=0,
        description="Rounds in which groups that teach nothing are replaced by others (DAPO's dynamic sampling).",
    )

    @property
    def num_updates(self) -> int:
        """Optimizer steps between two draws."""
        return self.updates * self.passes


class Sampling(Config):
    """How tokens are sampled."""

    temperature: float = Field(1.0, gt=0, description="Sampling temperature.")
    top_p: float = Field(1.0, gt=0, le=1, description="Nucleus: share of probability that is sampled from.")
    top_k: int = Field(0, ge=0, description="Likeliest tokens that are sampled from; 0 means all.")


class CompletionSampling(Sampling):
    """How completions are sampled, and by which backend."""

    max_tokens: PositiveInt = Field(1024, description="Tokens at which a completion is cut off.")
    vllm: bool = Field(False, description="Generate with vLLM inside the trainer; on a GPU it is several times faster.")


class Rewards(Config):
    """What a completion is worth."""

    names: tuple[str, ...] = Field(("accuracy",), description=f"Rewards that are added up: {', '.join(REWARDS)}.")
    weights: tuple[float, ...] = Field((), description="A weight for each reward; 1, if not set.")
    length_warmup_steps: int = Field(0, ge=0, description="Reward kimi_length: steps before it begins.")
    overlong_cache: PositiveInt | None = Field(
        None, description="Reward overlong: tokens before max_tokens over which it grows; a fifth, if not set."
    )


class Probe(Config):
    """When and how the curriculum's probe set (curriculum.probe_size) is asked."""

    steps: PositiveInt = Field(
        50, description="Steps between samplings of the curriculum's probe set (curriculum.probe_size)."
    )
    n: PositiveInt = Field(4, description="Completions per problem of the probe set.")


class RlSaving(Saving):
    """What is saved on the way."""

    completions: bool = Field(True, description="Keep every completion with its rewards, for train trace.")
