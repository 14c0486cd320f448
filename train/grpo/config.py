"""Settings of `gradus train grpo`, with the checks of combinations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Final, Self

from pydantic import Field, model_validator

from curate.agent.config import AgentOptions
from curate.agent.engine import store_of
from curate.config import RUNTIME
from curate.sampling.grading import GradingConfig, policies
from curate.tables import AS_TEXT, short
from curriculum import CurriculumConfig
from curriculum.canaries.problems import MAX_TOLERANCE
from train.grpo.objectives import OBJECTIVES, ONLY_TRLS, Objective
from train.grpo.support import refuse_other_support
from train.grpo.tables import (
    CompletionSampling,
    Evaluation,
    Generation,
    Probe,
    Rewards,
    RlOptimizer,
    RlSaving,
    StopWhen,
)
from train.memory.estimate import Case, Load
from train.memory.vllm_share import vllm_share
from train.rewards.rewards import Setting
from train.runs.settings import OPTIMIZER, TAKEN, TrainerConfig

OWN: Final = TAKEN | {
    "num_generations", "steps_per_generation", "generation_batch_size", "num_iterations", "max_completion_length",
    "temperature", "top_p", "top_k", "beta", "shuffle_dataset", "reward_weights", "loss_type", "scale_rewards",
    "chat_template_kwargs", "use_vllm", "eval_strategy", "eval_steps", "eval_on_start", "num_generations_eval",
    "per_device_eval_batch_size",
}  # fmt: skip

# objectives with one advantage for all tokens of a completion
WHOLE: Final = ("vespo", "gmpo")
AGGREGATION: Final = "multi_objective_aggregation"


class GrpoConfig(AgentOptions, GradingConfig, TrainerConfig):
    """Reinforcement learning on problems that a curriculum draws.

    Data is an artifact of `gradus curate`, or a file with problems and answers. Each generation draws problems from the
    curriculum, samples a group of completions for each, verifies them and learns from these rewards. After a stop, the
    same command resumes from its last checkpoint with the same draws. The model is written to OUT/model.

    Example: gradus train grpo --model runs/sft/model --data runs/difficulty --out runs/grpo --objective dr_grpo
    """

    panel: ClassVar[str] = "Objective"

    objective: str = Field("dr_grpo", description="Objective; `gradus train explain` describes each.")
    kl_coef: float | None = Field(
        None, ge=0, description="KL coefficient against the initial model; by default the objective's."
    )
    tau: float = Field(0.1, ge=0, description="Objective kimi: weight of the squared log-ratio.")
    pass_k: int = Field(4, ge=1, description="Objective pass_at_k: its k.")
    unfinished_penalty: float = Field(
        0.0, ge=0, description="Subtracted from the reward of an agent's episode that ran out of turns, tokens or time."
    )
    malformed_penalty: float = Field(
        0.0, ge=0, description="Subtracted from the advantage of an agent's malformed call, on its own tokens."
    )
    generation: Generation = Field(
        Generation(),
        description="Completions between two draws, and the steps on them.",
        json_schema_extra=short(
            "num_problems",
            "group_size",
            "refill_rounds",
            "screen",
            updates_per_generation="updates",
            passes_per_generation="passes",
        ),
    )
    sampling: CompletionSampling = Field(
        CompletionSampling(),
        description="Sampling of completions.",
        json_schema_extra=short("max_tokens", "temperature", "vllm"),
    )
    rewards: Rewards = Field(
        Rewards(),
        description="Rewards of a completion.",
        json_schema_extra=short("length_warmup_steps", "overlong_cache", rewards="names", reward_weights="weights"),
    )
    optimizer: RlOptimizer = Field(
        RlOptimizer(), description="Optimizer and learning rate.", json_schema_extra=OPTIMIZER
    )
    probe: Probe = Field(
        Probe(), description="Evaluation of the probe set.", json_schema_extra=short(probe_steps="steps")
    )
    evaluation: Evaluation = Field(
        Evaluation(),
        description="Benchmarks while training.",
        json_schema_extra=RUNTIME | short(eval_data="data", eval_steps="steps", eval_n="n"),
    )
    stop_when: StopWhen = Field(
        StopWhen(),
        description="What ends the run early, as YAML: '{decline: 0.05, entropy_below: 0.05}'.",
        json_schema_extra=RUNTIME | AS_TEXT,
    )
    saving: RlSaving = Field(
        RlSaving(),
        description="Checkpoints and completions.",
        json_schema_extra=RUNTIME | short(save_steps="steps", save_completions="completions"),
    )
    curriculum: CurriculumConfig = Field(
        CurriculumConfig(),
        description="Curriculum settings as YAML: '{policy: prioritized, p0: 0.9}'.",
        json_schema_extra=AS_TEXT,
    )
    curriculum_from: Path | None = Field(
        None,
        description="Run whose curriculum statistics are carried over, by key; its settings may differ.",
        json_schema_extra={"panel": "Curriculum"},
    )
    adopt_dataset: bool = Field(
        False,
        description="Resume with changed data: known problems keep their statistics, new ones join.",
        json_schema_extra=RUNTIME | {"panel": "Curriculum"},
    )

    @model_validator(mode="after")
    def _evaluates_between_generations(self) -> Self:
        block = self.generation.num_updates
        if self.evaluation.data and self.evaluation.steps % block:
            raise ValueError(
                f"eval_steps is {self.evaluation.steps}; use a multiple of {block}, the updates of a generation"
            )
        return self

    @model_validator(mode="after")
    def _has_subsets(self) -> Self:
        if self.objective == "pass_at_k" and self.pass_k > self.generation.group_size:
            size = self.generation.group_size
            raise ValueError(f"pass_k is {self.pass_k}, over the group's {size} completions; lower it")
        return self

    @model_validator(mode="after")
    def _can_test(self) -> Self:
        if not self.evaluation.data and (self.stop_when.decline or self.stop_when.plateau):
            raise ValueError("stop_when decline and plateau are tested on benchmarks; name them with eval_data")
        return self

    @model_validator(mode="after")
    def _weighs_completions(self) -> Self:
        mode = str(self.trl.get("vllm_importance_sampling_mode", "sequence"))
        if self.objective == "gmpo" and not mode.startswith("sequence"):
            raise ValueError(f"objective gmpo weighs whole completions; {mode} does not, use sequence_mask")
        return self

    @model_validator(mode="after")
    def _tells_canaries_apart(self) -> Self:
        for policy in (self.verify, *policies(self).values()) if self.curriculum.canaries else ():
            if policy.rel_tol >= MAX_TOLERANCE or policy.sig_figs == 1:
                raise ValueError(
                    f"curriculum.canaries have wrong truths a quarter apart; lower rel_tol below {MAX_TOLERANCE:g}, "
                    "set sig_figs to 2 or more, or canaries to 0"
                )
        return self

    @model_validator(mode="after")
    def _screens(self) -> Self:
        generation = self.generation
        if not generation.screen:
            return self
        if not 2 <= generation.screen < generation.group_size:
            raise ValueError(
                f"screen is {generation.screen}; use 2 to {generation.group_size - 1}, below the group's "
                f"{generation.group_size} completions, or 0"
            )
        if not generation.refill_rounds:
            raise ValueError("screen needs refill_rounds, in which other problems are drawn; use 1 or more")
        return self

    @model_validator(mode="after")
    def _fits(self) -> Self:
        names, weights, generation = self.rewards.names, self.rewards.weights, self.generation
        if weights and len(weights) != len(names):
            raise ValueError(f"{len(weights)} reward_weights for {len(names)} rewards; give one for each")
        if names[:1] != ("accuracy",):
            raise ValueError("rewards must begin with accuracy, from which the curriculum learns (its weight may be 0)")
        refuse_other_support(self.sampling, self.trl)
        row = OBJECTIVES.get(self.objective)
        if row is not None and row.loss != "trl":
            self._refuse_options_of_trls_losses()
        if row is not None and row.baseline in ("none", "relative", "pass_at_k"):
            self._refuse_options_of_baselines()
        if row is not None and row.baseline != "mean" and self.trl.get(AGGREGATION) == "normalize_then_sum":
            raise ValueError(
                f"objective {self.objective} has no {AGGREGATION} normalize_then_sum, which normalises each reward by "
                "its mean and deviation; use an objective with the group's mean as baseline, or leave it out of trl"
            )
        if row is not None and self.trl.get("sync_ref_model"):
            self._refuse_unsynced(row)
        num = generation.num_problems * generation.group_size
        if num % generation.updates:
            raise ValueError(
                f"{generation.num_problems} problems x {generation.group_size} completions cannot be split over "
                f"{generation.updates} updates_per_generation; use a divisor of {num}"
            )
        block = generation.num_updates
        if self.saving.steps % block:
            raise ValueError(
                f"save_steps is {self.saving.steps}; use a multiple of {block}, the updates of a generation"
            )
        if self.objective == "kimi" and self.tau > 0 and block == 1:
            raise ValueError(
                "objective kimi is inert with one update per generation: its squared log-ratio is 0 there; "
                "set updates_per_generation or passes_per_generation to 2 or more, or tau to 0"
            )
        return self

    @model_validator(mode="after")
    def _punishes(self) -> Self:
        row = OBJECTIVES.get(self.objective)
        if row is None:
            return self
        if self.malformed_penalty and (row.baseline == "none" or self.objective in WHOLE):
            raise ValueError(f"objective {self.objective} weighs whole completions; leave malformed_penalty out")
        if self.unfinished_penalty and row.baseline in ("none", "relative", "pass_at_k"):
            raise ValueError(f"objective {self.objective} learns from correct answers; leave unfinished_penalty out")
        return self

    def _refuse_options_of_trls_losses(self) -> None:
        if self.kl_coef:
            raise ValueError(
                f"objective {self.objective} has no KL to the initial model; use dr_grpo, or leave kl_coef out"
            )
        if ignored := sorted(ONLY_TRLS & set(self.trl)):
            raise ValueError(f"objective {self.objective} has no {ignored[0]}; use dr_grpo, or leave it out of trl")

    def _refuse_unsynced(self, row: Objective) -> None:
        beta = row.settings.get("beta", 0.0) if self.kl_coef is None else self.kl_coef
        if beta == 0:
            raise ValueError("sync_ref_model needs a KL to the reference; set kl_coef, or leave it out of trl")
        if self.lora.rank:
            raise ValueError(
                "sync_ref_model needs a reference model of its own, which adapters lack; set lora_rank to 0, or leave "
                "it out of trl"
            )

    def _refuse_options_of_baselines(self) -> None:
        if self.kl_coef and self.objective == "raft":
            raise ValueError("objective raft has no KL to the initial model; use dr_grpo, or leave kl_coef out")
        names = self.rewards.names
        only_accuracy = (1.0, *(0.0 for _ in names[1:]))
        if (self.rewards.weights or (1.0,) * len(names)) != only_accuracy:
            raise ValueError(
                f"objective {self.objective} learns from correct answers, each of weight 1; set reward_weights to 1 "
                "for accuracy and 0 for others, which are then only logged"
            )

    @property
    def reward_names(self) -> tuple[str, ...]:
        """The rewards, with that of unfinished episodes where it is punished."""
        return (*self.rewards.names, *(("unfinished",) if self.unfinished_penalty else ()))

    @property
    def reward_weights(self) -> list[float] | None:
        """A weight for each of `reward_names`; None where all are 1."""
        own = list(self.rewards.weights)
        if not self.unfinished_penalty:
            return own or None
        return [*(own or [1.0] * len(self.rewards.names)), self.unfinished_penalty]

    @property
    def sequences_per_step(self) -> int:
        """Completions per optimizer step, over all devices."""
        return self.generation.num_problems * self.generation.group_size // self.generation.updates

    def load(self, case: Case) -> Load:
        """See `TrainerConfig`: the trainer samples a whole generation at once, unless vLLM does."""
        row = OBJECTIVES.get(self.objective)
        beta = row.settings.get("beta", 0.0) if self.kl_coef is None and row is not None else self.kl_coef
        has_reference = bool(beta) and not self.lora.rank
        most = self.sampling.max_tokens
        return replace(
            self.shared_load(case, case.num_prompt_tokens + most, most),
            num_generated=0 if self.sampling.vllm else case.num_generated,
            vllm_share=vllm_share(self.trl, case, uses_vllm=self.sampling.vllm),
            num_frozen=int(has_reference),
        )

    def setting(self, opening: str = "", ends: frozenset[int] = frozenset()) -> Setting:
        """Settings of the run that rewards need."""
        return Setting(
            grading=self,
            max_tokens=self.sampling.max_tokens,
            opening=opening,
            end_ids=ends,
            group_size=self.generation.group_size,
            overlong_cache=self.rewards.overlong_cache or max(1, self.sampling.max_tokens // 5),
            length_warmup_steps=self.rewards.length_warmup_steps,
            timeout_s=self.rewards.timeout_s,
            agent=self.agent,
            store=store_of(self),
        )
