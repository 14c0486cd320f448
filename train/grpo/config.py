"""The settings of `gradus train grpo`, and what of them cannot go together."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from curate.config import RUNTIME
from curate.engines.prompts import PromptConfig
from curate.sampling.grading import GradingConfig
from curate.tables import AS_TEXT
from curriculum import CurriculumConfig
from train.grpo.objectives import OBJECTIVES, ONLY_TRLS
from train.rewards.rewards import REWARDS, Setting
from train.runs.settings import TAKEN, TrainerConfig

OWN: Final = TAKEN | {
    "num_generations", "steps_per_generation", "generation_batch_size", "num_iterations", "max_completion_length",
    "temperature", "top_p", "top_k", "beta", "shuffle_dataset", "reward_weights", "loss_type", "scale_rewards",
    "chat_template_kwargs", "use_vllm", "eval_strategy", "eval_steps", "eval_on_start", "num_generations_eval",
    "per_device_eval_batch_size",
}  # fmt: skip


class GrpoConfig(GradingConfig, PromptConfig, TrainerConfig):
    """Reinforcement learning on what a curriculum draws.

    Data is an artifact of `gradus curate`, or a file with problems and answers. Each generation asks the curriculum for
    problems, samples a group of completions for each, verifies them and learns from these rewards. Stopped, the same
    command goes on at its last checkpoint and draws what it would have drawn. The model is left in OUT/model.

    Example: gradus train grpo --model runs/sft/model --data runs/difficulty --out runs/grpo --objective dr_grpo
    """

    objective: str = Field("dr_grpo", description="Which objective; `gradus train explain` tells them apart.")
    learning_rate: float = Field(1e-6, gt=0, description="Peak learning rate of AdamW.")
    schedule: Literal["constant", "linear", "cosine"] = Field(
        "constant", description="How the learning rate goes on after the warm-up."
    )
    num_problems: PositiveInt = Field(32, description="Problems per generation.")
    group_size: int = Field(8, ge=2, description="Completions per problem.")
    updates_per_generation: PositiveInt = Field(
        1, description="Optimizer steps that share a generation, each on its own part of it."
    )
    passes_per_generation: PositiveInt = Field(1, description="How often a generation is gone through.")
    kl_coef: float | None = Field(None, ge=0, description="Weight of the KL to the start; the objective's, if not set.")
    refill_rounds: int = Field(
        0,
        ge=0,
        description="Rounds in which groups that teach nothing are replaced by others (DAPO's dynamic sampling).",
    )
    tau: float = Field(0.1, ge=0, description="Objective kimi: weight of the squared log-ratio.")
    rewards: tuple[str, ...] = Field(("accuracy",), description=f"Rewards that are added up: {', '.join(REWARDS)}.")
    reward_weights: tuple[float, ...] = Field((), description="A weight for each reward; 1, if not set.")
    length_warmup_steps: int = Field(0, ge=0, description="Reward kimi_length: steps before it begins.")
    overlong_cache: PositiveInt | None = Field(
        None, description="Reward overlong: tokens before max_tokens over which it grows; a fifth, if not set."
    )
    max_tokens: PositiveInt = Field(1024, description="Tokens at which a completion is cut off.")
    temperature: float = Field(1.0, gt=0, description="Sampling temperature.")
    top_p: float = Field(1.0, gt=0, le=1, description="Nucleus: share of probability that is sampled from.")
    top_k: int = Field(0, ge=0, description="Likeliest tokens that are sampled from; 0 means all.")
    probe_steps: PositiveInt = Field(
        50, description="The curriculum's probe set (curriculum.probe_size) is asked every so many steps."
    )
    probe_n: PositiveInt = Field(4, description="Completions per problem of the probe set.")
    curriculum_from: Path | None = Field(
        None, description="Run whose curriculum is taken over, by key; its settings may differ."
    )
    adopt_dataset: bool = Field(
        False,
        description="Go on with data that changed: known problems keep their statistics, new ones join.",
        json_schema_extra=RUNTIME,
    )
    save_completions: bool = Field(
        True, description="Keep every completion with its rewards, for train trace.", json_schema_extra=RUNTIME
    )
    vllm: bool = Field(False, description="Generate with vLLM inside the trainer; on a GPU it is several times faster.")
    curriculum: CurriculumConfig = Field(
        CurriculumConfig(),
        description="Which problem next, as YAML: '{policy: prioritized, p0: 0.9}'.",
        json_schema_extra=AS_TEXT,
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.reward_weights and len(self.reward_weights) != len(self.rewards):
            raise ValueError(
                f"{len(self.reward_weights)} reward_weights for {len(self.rewards)} rewards; give each one"
            )
        if self.rewards[:1] != ("accuracy",):
            raise ValueError(
                "rewards must begin with accuracy, from which the curriculum learns (a weight of 0 will do)"
            )
        row = OBJECTIVES.get(self.objective)
        if row is not None and row.loss != "trl":
            self._refuse_what_our_losses_ignore()
        if row is not None and row.baseline == "none":
            self._refuse_what_has_no_part_in_fine_tuning()
        num = self.num_problems * self.group_size
        if num % self.updates_per_generation:
            raise ValueError(
                f"{self.num_problems} problems x {self.group_size} completions cannot be split over "
                f"{self.updates_per_generation} updates_per_generation; use a divisor of {num}"
            )
        block = self.updates_per_generation * self.passes_per_generation
        if self.save_steps % block:
            raise ValueError(f"save_steps is {self.save_steps}; use a multiple of {block}, the updates of a generation")
        if self.objective == "kimi" and self.tau > 0 and block == 1:
            raise ValueError(
                "objective kimi is inert with one update per generation: its squared log-ratio is 0 there; "
                "set updates_per_generation or passes_per_generation to 2 or more, or tau to 0"
            )
        return self

    def _refuse_what_our_losses_ignore(self) -> None:
        if self.kl_coef or self.vllm:
            named = "KL to the start" if self.kl_coef else "correction for what vLLM samples"
            raise ValueError(f"objective {self.objective} has no {named}; use dr_grpo, or leave that option out")
        if ignored := sorted(ONLY_TRLS & set(self.trl)):
            raise ValueError(f"objective {self.objective} has no {ignored[0]}; use dr_grpo, or leave it out of trl")

    def _refuse_what_has_no_part_in_fine_tuning(self) -> None:
        if self.kl_coef:
            raise ValueError(f"objective {self.objective} has no KL to the start; use dr_grpo, or leave kl_coef out")
        only_accuracy = (1.0, *(0.0 for _ in self.rewards[1:]))
        if (self.reward_weights or (1.0,) * len(self.rewards)) != only_accuracy:
            raise ValueError(
                f"objective {self.objective} learns from correct answers, each of weight 1; set reward_weights to 1 "
                "for accuracy and 0 for others, which are then only logged"
            )

    @property
    def sequences_per_step(self) -> int:
        """Completions per optimizer step, over all devices."""
        return self.num_problems * self.group_size // self.updates_per_generation

    def setting(self, opening: str = "", ends: frozenset[int] = frozenset()) -> Setting:
        """What rewards need to know of the run."""
        return Setting(
            grading=self,
            max_tokens=self.max_tokens,
            opening=opening,
            end_ids=ends,
            group_size=self.group_size,
            overlong_cache=self.overlong_cache or max(1, self.max_tokens // 5),
            length_warmup_steps=self.length_warmup_steps,
        )
