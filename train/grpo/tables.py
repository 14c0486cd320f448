"""Tables of GRPO's settings: generation, sampling, rewards, probe set, and its variants of the shared tables."""

from __future__ import annotations

from typing import ClassVar, Final, Literal

from pydantic import Field, PositiveFloat, PositiveInt

from curate.config import RUNTIME, Config
from train.rewards.rewards import REWARDS
from train.runs.tables import Optimizer, Saving

STOP_RULES: Final = ("decline", "plateau", "entropy_below", "length_below", "no_signal_above")


class RlOptimizer(Optimizer):
    """Optimizer and learning rate of reinforcement learning."""

    learning_rate: float = Field(1e-6, gt=0, description="Peak learning rate of AdamW.")
    schedule: Literal["constant", "linear", "cosine"] = Field(
        "constant", description="Learning rate schedule after the warm-up."
    )


class Generation(Config):
    """Completions between two draws of the curriculum, and the optimizer steps on them."""

    panel: ClassVar[str] = "Generation"

    num_problems: PositiveInt = Field(32, description="Problems per generation.")
    group_size: int = Field(8, ge=2, description="Completions per problem.")
    updates: PositiveInt = Field(1, description="Optimizer steps that share a generation, each on its own part of it.")
    passes: PositiveInt = Field(1, description="Passes over each generation.")
    refill_rounds: int = Field(
        0,
        ge=0,
        description="Rounds in which groups without signal are replaced by others (DAPO's dynamic sampling).",
    )
    screen: int = Field(
        0,
        ge=0,
        description="Completions of a problem that are sampled first; the rest follows only where they are not all "
        "right or all wrong, and refill_rounds draws other problems (SPEED-RL); 0 samples whole groups.",
    )

    @property
    def num_updates(self) -> int:
        """Optimizer steps between two draws."""
        return self.updates * self.passes


class Sampling(Config):
    """Sampling of tokens."""

    panel: ClassVar[str] = "Sampling"

    temperature: float = Field(1.0, gt=0, description="Sampling temperature.")
    top_p: float = Field(1.0, gt=0, le=1, description="Nucleus sampling: share of the probability to sample from.")
    top_k: int = Field(0, ge=0, description="Number of likeliest tokens to sample from; 0 means all.")


class CompletionSampling(Sampling):
    """Sampling of completions, and its backend."""

    max_tokens: PositiveInt = Field(1024, description="Maximum tokens of a completion, which is cut off there.")
    vllm: bool = Field(False, description="Generate with vLLM inside the trainer; on a GPU it is several times faster.")


class Rewards(Config):
    """Rewards of a completion."""

    panel: ClassVar[str] = "Rewards"

    names: tuple[str, ...] = Field(
        ("accuracy",),
        description=f"Rewards to add up: {', '.join(REWARDS)}; or FILE.py:FUNCTION, MODULE:FUNCTION.",
    )
    weights: tuple[float, ...] = Field((), description="Weight of each reward; 1 by default.")
    timeout_s: PositiveFloat = Field(
        60.0, description="Seconds of a reward of your own for a batch.", json_schema_extra=RUNTIME
    )
    length_warmup_steps: int = Field(0, ge=0, description="Reward kimi_length: steps before it begins.")
    overlong_cache: PositiveInt | None = Field(
        None, description="Reward overlong: tokens before max_tokens over which it grows; by default a fifth."
    )


class Probe(Config):
    """Evaluation of the curriculum's probe set (curriculum.probe_size)."""

    panel: ClassVar[str] = "Evaluation while training"

    steps: PositiveInt = Field(
        50, description="Steps between evaluations of the curriculum's probe set (curriculum.probe_size)."
    )
    n: PositiveInt = Field(4, description="Completions per problem of the probe set.")


class Evaluation(Config):
    """Benchmarks that are sampled while training."""

    panel: ClassVar[str] = "Evaluation while training"

    data: tuple[str, ...] = Field(
        (), description="Benchmarks to sample while training: artifacts, files, Hub ids, or names; repeatable."
    )
    steps: PositiveInt = Field(50, description="Steps between their evaluations; with them, also of the probe set.")
    n: PositiveInt = Field(4, description="Completions per problem of a benchmark.")


class StopWhen(Config):
    """What ends a run before its last step: a checkpoint is saved, and the model is that of the step."""

    panel: ClassVar[str] = "Evaluation while training"

    decline: float | None = Field(
        None, gt=0, lt=1, description="Error rate at which a benchmark of eval_data is shown to be below its start."
    )
    plateau: float | None = Field(
        None, gt=0, lt=1, description="Error rate at which a benchmark is shown to have gained less than plateau_gain."
    )
    plateau_gain: float = Field(0.02, gt=0, lt=1, description="Gain of the success rate that is still progress.")
    plateau_evals: PositiveInt = Field(5, description="Evaluations over which that gain is expected.")
    entropy_below: float | None = Field(None, gt=0, description="Lowest entropy of the tokens, in nats.")
    length_below: float | None = Field(None, gt=0, description="Lowest mean length of a completion, in tokens.")
    no_signal_above: float | None = Field(None, gt=0, lt=1, description="Highest share of groups without a signal.")
    window: PositiveInt = Field(10, description="Log lines over which these three are averaged.")

    @property
    def is_on(self) -> bool:
        """Whether a rule is set."""
        return any(getattr(self, name) is not None for name in STOP_RULES)


class RlSaving(Saving):
    """Checkpoints and completions."""

    completions: bool = Field(True, description="Save every completion with its rewards, for train trace.")
