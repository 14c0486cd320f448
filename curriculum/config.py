"""Curriculum options: the name, type, default and help of each, defined once."""

from __future__ import annotations

from typing import ClassVar, Final, Literal, Self

from pydantic import Field, field_validator, model_validator

from curate.config import Config, nearest
from curate.errors import UserError
from curate.own_code import has_digest, is_own, load, with_digest

POLICY_NAMES: Final = ("uniform", "prioritized", "easy_to_hard", "learnability", "target")
POLICY_OPTION: Final = "curriculum.policy"


class CurriculumConfig(Config):
    """Settings of problem selection, retirement and re-checks. A step is a training step."""

    panel: ClassVar[str] = "Curriculum"

    policy: str = Field(
        "target",
        description=f"Policy that assigns slots to active problems: {', '.join(POLICY_NAMES)}; or FILE.py:FUNCTION.",
    )
    seed: int = Field(0, ge=0, description="Seed of all draws; draw d seeds a generator of its own with (seed, d).")
    half_life_visits: float = Field(
        3.0, gt=0, description="Visits after which an outcome's weight halves; very large values never forget."
    )
    gain_half_life: float = Field(
        30.0,
        ge=0,
        description="Steps over which the estimate of the model's progress is averaged; fewer follow a change sooner, "
        "with more noise; 0 keeps rates constant between visits.",
    )
    groups: tuple[str, ...] = Field(
        ("source", "level"),
        description="Columns, or fields of extra, whose values group problems that start alike and progress alike; "
        "those that the dataset lacks are ignored.",
    )
    prior_weight: float = Field(
        8.0, ge=0, description="Maximum number of measured samples that count as evidence of the pass rate."
    )
    floor: float = Field(
        0.05, gt=0, le=1, description="Share of slots drawn uniformly from all active and parked problems."
    )
    target: float = Field(0.5, gt=0, lt=1, description="Policy target: preferred success rate of drawn problems.")
    level: str | None = Field(
        None,
        description="Column, or field of extra, that ranks problems from easy to hard; default: measured pass rate.",
    )
    hard_from_step: int | None = Field(
        None, ge=0, description="First step from which only the hardest problems are drawn, under every policy."
    )
    hard_share: float = Field(0.5, gt=0, le=1, description="Share of the problems that counts as the hardest.")
    mix: dict[str, float] | Literal["adaptive", "recorded"] | None = Field(
        None,
        description="Share of each part in every batch, such as {math: 0.7, code: 0.3}; adaptive follows the signal; "
        "recorded takes the weights of the pipeline's sources.",
    )
    mix_by: str = Field("source", description="Column, or field of extra, whose values are the parts of a mixture.")
    mix_floor: float = Field(
        0.2,
        ge=0,
        le=1,
        description="Share of an adaptive mixture that all parts have alike; the rest follows the signal.",
    )
    rule: Literal["e_process", "threshold", "posterior", "none"] = Field(
        "e_process", description="Retirement rule; only e_process bounds false retirement."
    )
    p0: float = Field(0.8, gt=0, lt=1, description="Success rate above which a problem is mastered.")
    alpha: float = Field(0.05, gt=0, lt=1, description="Bound on the probability of ever retiring a problem below p0.")
    threshold: float = Field(
        1.0, gt=0, le=1, description="Rule threshold: success rate of one group that retires a problem."
    )
    recheck_after: int = Field(20, ge=1, description="Steps from retirement to the first re-check.")
    recheck_growth: float = Field(2.0, ge=1, description="Growth factor of the interval after each passed re-check.")
    recheck_share: float = Field(0.05, ge=0, le=1, description="Maximum share of all slots for re-checks.")
    park_after: int = Field(
        8, ge=1, description="Consecutive visits without a success after which a problem is parked."
    )
    quarantine_after: int = Field(
        3, ge=1, description="Consecutive mostly undecided visits after which a problem is quarantined."
    )
    quarantine_rate: float = Field(
        0.5, gt=0, lt=1, description="Share of undecided completions above which a visit is mostly undecided."
    )
    outage_p: float = Field(
        1e-6,
        ge=0,
        lt=1,
        description="Probability below which a batch with almost no success is an outage; 0 disables the check.",
    )
    outage_undecided: float = Field(
        0.5, gt=0, le=1, description="Share of undecided completions above which a batch or source is an outage."
    )
    outage_limit: int = Field(
        3, ge=1, description="Consecutive outages after which training stops, or an undecided source is left out."
    )
    suspect_alpha: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Problems on which completions agree on another answer than the truth are parked; bound on the "
        "probability for one whose truth is the likeliest answer, such as 0.05; 0 parks none.",
    )
    canaries: float = Field(
        0.0,
        ge=0,
        le=0.5,
        description="Share of slots for canaries: problems whose truths are wrong on purpose, never learned from.",
    )
    canary_alpha: float = Field(
        0.01, gt=0, lt=1, description="Bound on the probability of an alarm about canaries without cause."
    )
    probe_size: int = Field(0, ge=0, description="Number of problems in the fixed probe set.")
    probe_held_out: bool = Field(True, description="Exclude the probe set from all draws.")

    @field_validator("policy")
    @classmethod
    def _exists(cls, policy: str) -> str:
        """The policy; one of the user's own with the digest of its file, so that a changed one is another setting."""
        if policy in POLICY_NAMES:
            return policy
        if not is_own(policy):
            raise ValueError(f"{policy} is no policy; {nearest(policy, list(POLICY_NAMES))}, or FILE.py:FUNCTION")
        try:
            load(policy, POLICY_OPTION)
            return with_digest(policy, POLICY_OPTION)
        except UserError as error:
            if has_digest(policy):
                return policy  # of a saved state, which is read where the file is not
            raise ValueError(str(error).removeprefix(f"{POLICY_OPTION}: ")) from None

    @field_validator("mix")
    @classmethod
    def _adds_up(cls, mix: object) -> object:
        if isinstance(mix, dict) and (not mix or min(mix.values()) < 0 or sum(mix.values()) <= 0):
            raise ValueError("give each part a share of 0 or more, and one a share above 0")
        return mix

    @model_validator(mode="after")
    def _checks_retired(self) -> Self:
        if self.recheck_share == 0 and self.rule != "none":
            raise ValueError("recheck_share 0 would never re-check a retired problem; use at least 0.01")
        return self
